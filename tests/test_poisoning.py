"""Fake users: what they achieve is the most that any report achieves, and the formulas are what happens."""

from functools import cache
from itertools import product

import numpy as np
import pytest

import fldp
from defects import Subset
from fldp.errors import FldpError
from fldp.privacy import gain, leverage, poison
from fldp.privacy.poisoning import ATTACKS
from fldp.privacy.poisoning.crafting import best_given
from fldp.privacy.poisoning.leverage import fullest
from fldp.privacy.poisoning.measure import oracles_for, outcomes

SMALL = [
    fldp.RR(1.0),
    fldp.GRR(0.5, 5),
    fldp.SUE(1.0, 5),
    fldp.OUE(2.0, 5),
    fldp.SS(0.5, 7),
    fldp.HR(1.0, 6),
    fldp.HR(2.0, 7, 2),
    fldp.PGR(1.0, 6),
    fldp.HRR(1.0, 6),
    fldp.FWR(1.0, 5),
    fldp.FWR(2.0, 7, 0.5, 1),
    fldp.FWR(1.0, 4, 0.25, 1, allow_exposure=True),
    fldp.FHR(1.0, 7),
    fldp.FHR(0.5, 5),
    fldp.Grouped(1.0, base="hrr", groups=[3, 4]),
    fldp.Grouped(1.0, base="oue", groups=[1, 2, 3], allow_exposure=True),
]
named = pytest.mark.parametrize("oracle", SMALL, ids=map(repr, SMALL))
FAKES = 500


def targets_of(oracle):
    """A target alone, two, and three that are not independent where items are numbers."""
    sets = ([1], [0, 1], [1, 2, 3], [0, 2, 4])
    return [targets for targets in sets if max(targets) < oracle.domain_size]


@cache
def every_report(oracle):
    """All reports that some value can produce, for each public part, and what each adds to every estimate."""
    made = []
    for public in oracle.publics():
        found = {outcome for value in range(oracle.domain_size) for outcome in oracle.law(value, public)}
        data = np.array([oracle.report(outcome, public) for outcome in sorted(found)])
        made.append((data, added_by(oracle, data)))
    return made


def added_by(oracle, data):
    """What each report adds to every estimate: the decoder's own word."""
    return np.array([oracle.decode(oracle.tally(data[k : k + 1])) for k in range(len(data))])


def worth(oracle, data, targets):
    return added_by(oracle, data)[:, targets].sum(axis=1)


@named
def test_no_report_achieves_more_and_the_fakes_achieve_it(oracle):
    for targets in targets_of(oracle):
        most = max(added[:, targets].sum(axis=1).max() for _, added in every_report(oracle))
        assert leverage(oracle, targets) == pytest.approx(most, abs=1e-9)
        fake = poison(oracle, targets, 20, rng=1)
        assert worth(oracle, fake.data, targets) == pytest.approx(np.full(20, most), abs=1e-9)


@pytest.mark.parametrize("oracle", [one for one in SMALL if one.public_words], ids=repr)
def test_with_tickets_the_best_is_the_best_for_each_public_part(oracle):
    for targets in targets_of(oracle):
        most = [(added[:, targets].sum(axis=1).max(), data[:1]) for data, added in every_report(oracle)]
        assert leverage(oracle, targets, tickets=True) == pytest.approx(np.mean([one for one, _ in most]), abs=1e-9)
        for best, data in most[:: max(1, len(most) // 20)]:
            made = best_given(oracle, np.array(targets), data)
            assert oracle.outcome(made[0])[0] == oracle.outcome(data[0])[0]
            assert worth(oracle, made, targets)[0] == pytest.approx(best, abs=1e-9)
        assert leverage(oracle, targets, tickets=True) <= leverage(oracle, targets) + 1e-9


def test_the_fullest_urn():
    for balls, urns in ((1, 3), (4, 2), (5, 4), (3, 7)):
        counts = [max(np.bincount(drawn, minlength=urns)) for drawn in product(range(urns), repeat=balls)]
        assert fullest(balls, urns) == pytest.approx(np.mean(counts))


def test_seeds_are_searched_for_and_with_tickets_they_are_not():
    oracle, targets = fldp.OLH(1.0, 50), [3, 14, 15, 9]
    fake = poison(oracle, targets, FAKES, rng=3)
    assert worth(oracle, fake.data[:20], targets) == pytest.approx(np.full(20, leverage(oracle, targets)))
    assert len(np.unique(fake.data["seed"])) == FAKES
    given = poison(oracle, targets, FAKES, tickets=True, rng=3)
    added = worth(oracle, given.data, targets)
    miss = added.mean() - leverage(oracle, targets, tickets=True)
    assert abs(miss) < 5 * added.std() / FAKES**0.5  # false alarm: 6e-7


@pytest.mark.parametrize("oracle", [one for one in SMALL if one.eta == 1 or one.name == "fhr"], ids=repr)
def test_a_report_drawn_uniformly_adds_the_mean_of_all(oracle):
    every = np.concatenate([added for _, added in every_report(oracle)])
    for targets in targets_of(oracle):
        mean = every[:, targets].sum(axis=1).mean()
        assert leverage(oracle, targets, attack="random-report") == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("attack", ["random-item", "random-report"])
@pytest.mark.parametrize("oracle", [*SMALL, fldp.OLH(1.0, 9)], ids=repr)
def test_what_fakes_add_that_do_not_choose(oracle, attack):
    """False alarm: 2e-9 for each of 34 cases, and 1e-6 if the spread of 63 reports is a fifth too small."""
    targets = targets_of(oracle)[-1]
    fake = poison(oracle, targets, FAKES, attack=attack, rng=5)
    mean = oracle.decode(oracle.tally(fake))[targets].sum() / FAKES
    spread = worth(oracle, fake.data[::8], targets).std()
    assert abs(mean - leverage(oracle, targets, attack=attack)) <= 6 * spread / FAKES**0.5 + 1e-9


@pytest.mark.parametrize("oracle", oracles_for(1.0, 33), ids=repr)
def test_the_gain_is_what_the_leverage_says(oracle):
    """Three or four attacks on each oracle. False alarm: 6e-7 for each of about 36."""
    for found in outcomes(oracle, np.array([5, 20, 31]), users=3000, share=0.1):
        assert abs(found.measured - found.expected) < 5 * found.stderr
        assert found.expected == pytest.approx(gain(0.1, found.leverage, found.leverage - found.expected / 0.1))
        if found.attack == "random-item":
            assert not found.in_reports
        assert set(found.in_tally) <= set(found.in_reports)


def test_the_gain_grows_with_the_share_alone():
    assert gain(0, 9.0) == 0
    assert gain(0.2, 5.0, held=1.0) == pytest.approx(0.8)
    with pytest.raises(FldpError, match="gain: share must be a share of all users, from 0 to 1, got 2"):
        gain(2, 1.0)


def test_bad_requests():
    oracle = fldp.GRR(1.0, 5)
    for targets, rule in (([5], "0 to 4"), ([], "at least one value")):
        with pytest.raises(FldpError, match=rule):
            poison(oracle, targets, 3)
    stranger = Subset(1.0, 4)
    for attack in (ATTACKS[0], ATTACKS[2]):
        for work in (lambda a: poison(stranger, [1], 3, attack=a), lambda a: leverage(stranger, [1], attack=a)):
            with pytest.raises(FldpError, match=r"the oracle must be one whose .* known, got Subset"):
                work(attack)
    with pytest.raises(FldpError, match="attack must be one of"):
        leverage(oracle, [1], attack="kindness")
    assert len(poison(oracle, 2, 0)) == 0
    assert ATTACKS == ("maximal-gain", "random-item", "random-report")
