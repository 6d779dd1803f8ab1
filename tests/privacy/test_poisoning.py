"""Fake users: what they achieve is the most that any report achieves, and the formulas are what happens."""

import json
from collections import Counter
from functools import cache
from itertools import product
from math import comb

import numpy as np
import pytest

import fldp
from fldp.errors import FldpError
from fldp.oracles.base.bit_strategy import BitStrategy
from fldp.oracles.kit import analysis
from fldp.oracles.plain.olh_analysis import fullest
from fldp.privacy import gain, leverage, poison
from fldp.privacy.honesty.attack_study import oracles_for, outcomes
from fldp.privacy.poisoning import ATTACKS
from support import naive
from support.cases import FAMILIES, STRING_FAMILIES
from support.defects import Subset
from support.serving import shell
from support.small_oracles import SMALL

ROWS = {**FAMILIES, **STRING_FAMILIES}
OTHERS = {  # rows of the one table with a size and an epsilon of their own; of other oracles, the smallest of the row
    "ss": (7, 2.0),  # sets that are too small for all targets
    "urr": (9, 1.0),
    "urappor": (9, 2.0),
    "idue": (8, 2.0),
    "exponential-line": (9, 4.0),
    "exponential-ring": (4, 0.5),
    "wave": (9, 4.0),
    "wave-wide": (8, 0.5),
    "lwr-1": (5, 1.0),
    "rappor-4-1-4": (4, 1.0),
    "rappor-8-2-4": (5, 2.0),
    "cms-1-2": (9, 1.0),
    "cms-4-8": (5, 1.0),
    "hcms-1-2": (2, 1.0),
    "hcms-4-16": (33, 0.5),
}
CHOSEN = {**{repr(one): one for one in SMALL}, **{row: ROWS[row].make(e, size) for row, (size, e) in OTHERS.items()}}
NAMED = {one.name for one in CHOSEN.values()} | {"olh"}  # whose hash seeds cannot all be tried
SMALLEST = {name: row.make(1.0, row.sizes[0]) for name, row in ROWS.items()}
EVERY = {**CHOSEN, **{name: one for name, one in SMALLEST.items() if one.name not in NAMED}}
every = pytest.mark.parametrize("oracle", EVERY.values(), ids=EVERY)
FAKES = 500


def test_no_oracle_of_the_table_is_left_out():
    assert {one.name for one in SMALLEST.values()} == {one.name for one in EVERY.values()} | {"olh"}


def targets_of(oracle):
    """A target alone, two, and three that are not independent where items are numbers; sensitive ones, others, both."""
    sets = ([1], [0, 1], [3, 4], [1, 2, 3], [0, 2, 4])
    return [targets for targets in sets if max(targets) < oracle.domain_size]


@cache
def every_report(oracle):
    """All reports that some value can produce, for each public part, and what each adds to every estimate."""
    assert analysis(oracle).publics_are_all
    reports = []
    for public in analysis(oracle).publics():
        possible = {outcome for value in range(oracle.domain_size) for outcome in analysis(oracle).law(value, public)}
        data = np.array([oracle.report_format.report(outcome, public) for outcome in sorted(possible)])
        reports.append((data, added_by(oracle, data)))
    return reports


def added_by(oracle, data):
    """What each report adds to every estimate: the decoder's own word."""
    return np.array([oracle.estimator.decode(oracle.tally(data[k : k + 1])) for k in range(len(data))])


def worth(oracle, data, targets):
    return added_by(oracle, data)[:, targets].sum(axis=1)


def naive_worth(oracle, data, targets):
    """The same by the loops, in rational numbers."""
    return np.array(
        [sum(naive.estimate(oracle, [oracle.report_format.outcome(report)])[t] for t in targets) for report in data]
    )


@every
def test_no_report_achieves_more_and_the_fakes_achieve_it(oracle):
    for targets in targets_of(oracle):
        most = max(added[:, targets].sum(axis=1).max() for _, added in every_report(oracle))
        assert leverage(oracle, targets) == pytest.approx(most, abs=1e-9)
        fake = poison(oracle, targets, 20, rng=1)
        assert worth(oracle, fake.data, targets) == pytest.approx(np.full(20, most), abs=1e-9)


@every
def test_the_loops_know_no_better_report(oracle):
    """All reports where they are few, else some; an estimator written from the paper is the judge."""
    reports = np.concatenate([data for data, _ in every_report(oracle)])
    some = reports if len(reports) <= 64 else reports[:: len(reports) // 16]
    targets = targets_of(oracle)[-1]
    assert naive_worth(oracle, some, targets).max() <= leverage(oracle, targets) + 1e-9
    fake = poison(oracle, targets, 3, rng=2)
    assert naive_worth(oracle, fake.data, targets) == pytest.approx(np.full(3, leverage(oracle, targets)))


@every
def test_the_honest_report_of_a_target_adds_what_is_said(oracle):
    """Exactly, by the law of every report: 1 where estimates are unbiased, collisions included where they are not."""
    publics = list(analysis(oracle).publics())
    for targets in targets_of(oracle):
        mean = 0.0
        for public, (data, added) in zip(publics, every_report(oracle), strict=True):
            sums = dict(
                zip(
                    (oracle.report_format.outcome(report)[1] for report in data),
                    added[:, targets].sum(axis=1),
                    strict=True,
                )
            )
            mean += sum(
                float(share) * sums[seen] for t in targets for seen, share in analysis(oracle).law(t, public).items()
            )
        mean /= len(publics) * len(targets)
        assert leverage(oracle, targets, attack="random-item") == pytest.approx(mean, abs=1e-9)
        assert mean == pytest.approx(1) or oracle.name in ("cms", "hcms")


TICKETS = {name: one for name, one in EVERY.items() if one.report_format.public_words}


@pytest.mark.parametrize("oracle", TICKETS.values(), ids=TICKETS)
def test_with_tickets_the_best_is_the_best_for_each_public_part(oracle):
    for targets in targets_of(oracle):
        most = [(added[:, targets].sum(axis=1).max(), data[:1]) for data, added in every_report(oracle)]
        assert leverage(oracle, targets, tickets=True) == pytest.approx(np.mean([one for one, _ in most]), abs=1e-9)
        for best, data in most[:: max(1, len(most) // 20)]:
            fakes = analysis(oracle).fakes(np.array(targets)).best_given(data)
            assert oracle.report_format.outcome(fakes[0])[0] == oracle.report_format.outcome(data[0])[0]
            assert worth(oracle, fakes, targets)[0] == pytest.approx(best, abs=1e-9)
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
    fakes = poison(oracle, targets, FAKES, tickets=True, rng=3)
    added = worth(oracle, fakes.data, targets)
    miss = added.mean() - leverage(oracle, targets, tickets=True)
    assert abs(miss) < 5 * added.std() / FAKES**0.5  # false alarm: 6e-7


@every
def test_a_report_drawn_uniformly_adds_the_mean_of_all(oracle):
    """The public part first, masks or a group, and then all else that can be."""
    for targets in targets_of(oracle):
        leverages = {}
        for public, (data, added) in zip(analysis(oracle).publics(), every_report(oracle), strict=True):
            for report, one in zip(data, added[:, targets].sum(axis=1), strict=True):
                part = oracle.report_format.outcome(report)[1][0] if oracle.name == "grouped" else public
                leverages.setdefault(part, []).append(one)
        mean = np.mean([np.mean(part) for part in leverages.values()])
        assert leverage(oracle, targets, attack="random-report") == pytest.approx(mean, abs=1e-9)


def part_of(oracle, report, few):
    """What is drawn uniformly: the whole report where they are few, else its public part, or its group."""
    public, outcome = oracle.report_format.outcome(report)
    return outcome[0] if oracle.name == "grouped" else (public, outcome) if few else public


@every
def test_no_report_is_drawn_more_often_than_others(oracle):
    """Chi square, its tail bounded as by Laurent and Massart with x = 14. False alarm: e^-14 for each of 28."""
    data = np.concatenate([data for data, _ in every_report(oracle)])
    few = len(data) <= 64 and oracle.eta == 1
    parts = {part_of(oracle, report, few) for report in data}
    drawn = Counter(part_of(oracle, report, few) for report in poison(oracle, [0], 1500, attack=ATTACKS[2], rng=8).data)
    assert drawn.keys() <= parts
    freedom, each = len(parts) - 1, 1500 / len(parts)
    square = sum((drawn[part] - each) ** 2 / each for part in parts)
    assert square < freedom + 2 * (14 * freedom) ** 0.5 + 28


@pytest.mark.parametrize("attack", ["random-item", "random-report"])
@pytest.mark.parametrize("oracle", [*EVERY.values(), fldp.OLH(1.0, 9)], ids=[*EVERY, "olh"])
def test_what_fakes_add_that_do_not_choose(oracle, attack):
    """False alarm: 2e-9 for each of 56 cases, and 1e-6 if the spread of 63 reports is a fifth too small."""
    targets = targets_of(oracle)[-1]
    fake = poison(oracle, targets, FAKES, attack=attack, rng=5)
    mean = oracle.estimator.decode(oracle.tally(fake))[targets].sum() / FAKES
    spread = worth(oracle, fake.data[::8], targets).std()
    assert abs(mean - leverage(oracle, targets, attack=attack)) <= 6 * spread / FAKES**0.5 + 1e-9


MEASURED = oracles_for(1.0, 33)[0]


@pytest.mark.parametrize("oracle", MEASURED, ids=map(repr, MEASURED))
def test_the_gain_is_what_the_leverage_says(oracle):
    """Three or four attacks on each oracle. False alarm: 6e-7 for each of about 60."""
    for outcome in outcomes(oracle, np.array([5, 20, 31]), users=3000, share=0.1):
        assert abs(outcome.measured - outcome.expected) < 5 * outcome.stderr
        assert outcome.expected == pytest.approx(gain(0.1, outcome.leverage, outcome.leverage - outcome.expected / 0.1))
        if outcome.attack == "random-item":
            assert not outcome.in_reports
        assert set(outcome.in_tally) <= set(outcome.in_reports)


def test_the_gain_grows_with_the_share_alone():
    assert gain(0, 9.0) == 0
    assert gain(0.2, 5.0, held=1.0) == pytest.approx(0.8)
    with pytest.raises(FldpError, match="gain: share must be a share of all users, from 0 to 1, got 2"):
        gain(2, 1.0)


def test_a_domain_that_some_oracles_refuse():
    contenders, refused = oracles_for(1.0, 5000)
    assert [why.partition(":")[0] for why in refused] == ["Exponential", "RAPPOR"]
    assert len(contenders) + len(refused) == len(MEASURED)
    for share in (0.01, 0.99):
        with pytest.raises(FldpError, match="share must be one of some fakes and some others among 10 users"):
            list(outcomes(contenders[0], np.array([1]), users=10, share=share))


def test_bits_that_are_worth_nothing_are_those_of_an_honest_row():
    """Bits of every kind of weight; the number of bits is within 5 of its standard errors, false alarm: 6e-7."""
    weights, true, noise = np.array([2.0, 0, -1, 0, 0.5, 0, 0]), np.full(7, 0.9), np.full(7, 0.4)
    plan = BitStrategy(weights, -0.3, true, noise)
    rows = np.unpackbits(plan.craft(4000, np.random.default_rng(1)), axis=1, count=7, bitorder="little")
    assert plan.best() == pytest.approx(max(weights @ bits for bits in product((0, 1), repeat=7)) - 0.3)
    assert rows @ weights - 0.3 == pytest.approx(np.full(4000, plan.best()))
    size = np.convolve([0.1, 0.9], [comb(6, k) * 0.4**k * 0.6 ** (6 - k) for k in range(7)])
    expected = sum(chance * min(max(k, 2), 6) for k, chance in enumerate(size))
    assert abs(rows.sum(axis=1).mean() - expected) < 5 * rows.sum(axis=1).std() / 4000**0.5
    assert len(np.unique(rows[:, [1, 3, 5, 6]], axis=0)) == 16


WORDS = ["firefox", "chrome", "safari"]


@pytest.mark.parametrize(
    "oracle", [fldp.CMS(1.0, 4, 8), fldp.HCMS(1.0, 4, 8), fldp.RAPPOR(1.0, 2.0, 8, 1, 4)], ids=lambda one: one.name
)
def test_targets_are_strings_among_candidates(oracle):
    known = oracle.among(WORDS)
    named, numbered = (poison(known, targets, 50, rng=3) for targets in (["safari", "chrome"], [1, 2]))
    assert (named.data == numbered.data).all()
    assert leverage(known, "safari") == leverage(known, 2)
    assert fldp.integrity(named).findings == fldp.integrity(fldp.Reports(oracle, named.data)).findings != ()
    assert fldp.integrity(known.tally(named)).findings == fldp.integrity(oracle.tally(named.data)).findings
    with pytest.raises(FldpError, match=r"poison: targets must be some of the candidates, got 'edge' \(str\)"):
        poison(known, ["safari", "edge"], 3)
    with pytest.raises(FldpError, match=r"poison: \w+ is for strings, so name candidates"):
        poison(oracle, ["safari"], 3)


def test_under_no_hash_function_of_a_sketch_is_a_fake_of_bits_worth_less():
    """So a ticket that decides the hash function of CMS would take nothing from an attacker."""
    plan = analysis(fldp.CMS(1.0, 16, 8).among(WORDS)).fakes(np.array([0, 1, 2]))
    assert [part.best() for part in plan.parts] == pytest.approx([plan.parts[0].best()] * 16)
    assert len({len({*row}) for row in plan.buckets.tolist()}) > 1  # some collide, and it makes no difference


def test_bad_requests():
    oracle = fldp.GRR(1.0, 5)
    for targets, rule in (([5], "0 to 4"), ([], "poison: name at least one target")):
        with pytest.raises(FldpError, match=rule):
            poison(oracle, targets, 3)
    stranger = Subset(1.0, 4)
    for attack in (ATTACKS[0], ATTACKS[2]):
        for work in (lambda a: poison(stranger, [1], 3, attack=a), lambda a: leverage(stranger, [1], attack=a)):
            with pytest.raises(
                FldpError, match="poison: no strategy is registered for Subset: its best fake reports are not known"
            ):
                work(attack)
    with pytest.raises(FldpError, match="attack must be one of"):
        leverage(oracle, [1], attack="kindness")
    assert len(poison(oracle, 2, 0)) == 0
    assert ATTACKS == ("maximal-gain", "random-item", "random-report")


# -------------------------------------------------------------------------------------------------------- the shell


def test_the_shell_measures_attacks(tmp_path):
    picture = tmp_path / "gains.png"
    options = ("--domain", 9, "--targets", 2, "--users", 400)
    printed = json.loads(shell("poisoning", *options, "--json", "--plot", picture)[0])
    assert len(printed["targets"]) == 2
    assert {row["attack"] for row in printed["attacks"]} == set(ATTACKS)
    assert sum(row["tickets"] for row in printed["attacks"]) == 4
    without = {"lwr", "rr", "sampled", "wave"}  # they ask for more than epsilon and a size, or for numbers
    assert {row["oracle"]["name"] for row in printed["attacks"]} == {*fldp.oracles.names()} - without
    assert picture.stat().st_size > 10_000


def test_the_shell_measures_attacks_on_one_oracle(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("firefox\nchrome\nsafari\n")
    hcms = ("poisoning", "--oracle", "hcms", "--epsilon", 1, "--hashes", 4, "--width", 16, "--users", 400)
    listed = (*hcms, "--candidates", words)
    picture = tmp_path / "one.svg"
    printed = json.loads(shell(*listed, "--target", "safari", "--target", "chrome", "--json", "--plot", picture)[0])
    assert printed["targets"] == ["chrome", "safari"]
    assert [row["attack"] for row in printed["attacks"]] == [ATTACKS[0], *ATTACKS]  # the first one with tickets, too
    assert "HCMS" in picture.read_text()
    few = ("poisoning", "--oracle", "grr", "--epsilon", 1, "--domain", 5, "--users", 40)
    assert len(json.loads(shell(*few, "--json")[0])["targets"]) == 2  # of all five, fakes would gain nothing
    table, _ = shell("poisoning", "--oracle", "rr", "--epsilon", 1, "--users", 40)
    assert "Targets: 1." in table
    for mistake, said in (
        (hcms, "HCMS is for strings, so name candidates"),
        ((*listed, "--target", "edge"), "--target 'edge' is not one of the values"),
        ((*listed, "--targets", 4), "--targets must be an integer from 1 to 3, got 4"),
        ((*listed, "--targets", 1, "--target", "safari"), "give --targets or --target, not both"),
        (("poisoning", "--candidates", words), "--candidates needs --survey or --oracle"),
        (("poisoning", "--hashes", 4), "--hashes needs --oracle"),
    ):
        assert said in shell(*mistake, code=2)[1]
