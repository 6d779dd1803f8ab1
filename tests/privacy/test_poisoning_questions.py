"""Fakes among reports about several questions: what one counts for, by trying every report there is."""

import json
from collections import Counter
from itertools import product

import numpy as np
import pytest

import fldp
from fldp.errors import FldpError
from fldp.estimation.number_planner import mean_width
from fldp.oracles.kit import Tally, analysis
from fldp.privacy import leverage, poison
from fldp.privacy.honesty.record_attack_study import record_outcomes
from support.serving import shell

CELLS = ({0: 1}, {1: [1]}, {0: [0, 2]}, {0: 1, 1: 0}, {0: [0, 1], 1: 1})
SMALL = {
    **{
        base: fldp.Sampled(epsilon=1.0, answers=(3, 2), views=((0,), (1,), (0, 1)), weights=(3, 2, 1), base=base)
        for base in ("ss", "grr", "oue", "pgr", "hrr", "fwr")
    },
    "wave": fldp.Sampled(epsilon=1.0, answers=(4, 2), views=((0,), ("wave", 0, 2), ("cells", 0, 2), (1,), (0, 1))),
    "three": fldp.Sampled(epsilon=2.0, answers=(3, 2, 2), views=2),
}
each_small = pytest.mark.parametrize("oracle", SMALL.values(), ids=SMALL)


def reports_of(oracle):
    """All reports of every view, for each public part of its own."""
    for view, member in enumerate(oracle.members):
        about, form = analysis(member), member.report_format
        assert about.publics_are_all
        for public in about.publics():
            outcomes = {seen for value in range(member.domain_size) for seen in about.law(value, public)}
            data = np.array([form.report(seen, public) for seen in sorted(outcomes)])
            yield view, public, oracle._tagged.join(view, data)


def crowd_of(oracle):
    """A tally of very many people whose answers are uniform: every report as often as its law says, without noise."""
    state, n = oracle.tally_format.zeros(), 0
    for view, (member, weight) in enumerate(zip(oracle.members, oracle.design.weights, strict=True)):
        about, form = analysis(member), member.report_format
        each = Counter()
        for public, value in product(about.publics(), range(member.domain_size)):
            for seen, share in about.law(value, public).items():
                each[public, seen] += share / (len(list(about.publics())) * member.domain_size)
        for (public, seen), share in each.items():
            times = round(share * weight * 10**9)
            report = oracle._tagged.join(view, form.report(seen, public)[None])
            state, n = state + times * oracle.tally(fldp.Reports(oracle, report)).state, n + times
    return Tally(oracle, state, n)


def worths(oracle, crowd, data, cells):
    """What one report more adds to the estimated number of people in the cells: the estimator's own word."""
    table = np.zeros([oracle.answers[a] for a in sorted(cells)])
    table[np.ix_(*(np.atleast_1d(cells[a]) for a in sorted(cells)))] = 1
    count = lambda tally: tally.n * float((oracle.estimate(tally).shares(sorted(cells)) * table).sum())  # noqa: E731
    before = count(crowd)
    return np.array([count(crowd + oracle.tally(fldp.Reports(oracle, row[None]))) - before for row in data])


@each_small
def test_no_report_achieves_more_and_the_fakes_achieve_it(oracle):
    crowd, views = crowd_of(oracle), analysis(oracle).public_view_shares()
    for cells in CELLS if oracle.base != "fwr" else CELLS[::3]:
        worth = [(view, worths(oracle, crowd, data, cells).max()) for view, _, data in reports_of(oracle)]
        best = [[most for view, most in worth if view == each] for each in range(len(views))]
        assert leverage(oracle, cells) == pytest.approx(max(most for _, most in worth), rel=1e-4)
        fake = poison(oracle, cells, 4, rng=1)
        assert worths(oracle, crowd, fake.data, cells) == pytest.approx([leverage(oracle, cells)] * 4, rel=1e-4)
        mean = np.mean if oracle.report_format.public_words > 1 else np.max  # masks are the ticket's, or the fake's
        expected = sum(float(share) * mean(most) for share, most in zip(views, best, strict=True))
        assert leverage(oracle, cells, tickets=True) == pytest.approx(expected, rel=1e-4)


@each_small
def test_with_tickets_views_stay_and_the_best_of_each_is_sent(oracle):
    crowd, cells = crowd_of(oracle), CELLS[3]
    fake = poison(oracle, cells, 24, tickets=True, rng=3)
    honest = oracle.privatize(np.zeros(24, np.int64), rng=3)
    assert {int(tag) for tag in oracle._tagged.tags(fake.data)} <= set(range(len(oracle.members)))
    best = {}
    for view, public, data in reports_of(oracle):
        key = (view, public if oracle.report_format.public_words > 1 else None)
        best[key] = max(best.get(key, -np.inf), worths(oracle, crowd, data, cells).max())
    for row, worth in zip(fake.data, worths(oracle, crowd, fake.data, cells), strict=True):
        view, public, _ = oracle._tagged.outcome(row)
        assert worth == pytest.approx(best[view, public if oracle.report_format.public_words > 1 else None], rel=1e-4)
    assert len(honest) == len(fake)


def test_people_who_hold_a_target_count_once_and_random_reports_for_what_is_said():
    oracle, cells = SMALL["three"], {0: 1, 2: 0}
    crowd = crowd_of(oracle)
    held = poison(oracle, cells, 6000, attack="random-item", rng=1)
    assert leverage(oracle, cells, attack="random-item") == 1
    rows, counts = np.unique(held.data, axis=0, return_counts=True)
    added = worths(oracle, crowd, rows, cells)
    mean, error = added @ counts / 6000, np.sqrt((added**2 @ counts / 6000) / 6000)
    assert abs(mean - 1) < 4 * error  # false once in 10,000 seeds
    blind = poison(oracle, cells, 6000, attack="random-report", rng=1)
    rows, counts = np.unique(blind.data, axis=0, return_counts=True)
    added = worths(oracle, crowd, rows, cells)
    error = np.sqrt((added**2 @ counts / 6000) / 6000)
    assert abs(added @ counts / 6000 - leverage(oracle, cells, attack="random-report")) < 4 * error


@pytest.mark.parametrize(("base", "tickets"), list(product(("ss", "oue"), (False, True))))
def test_a_fake_in_the_rarest_view_gains_its_leverage(base, tickets):
    """The same honest people with and without fakes, so that the noise of these is not measured: one part in ten."""
    views = ((0,), (1,), (2,), (0, 1))
    oracle = fldp.Sampled(epsilon=1.0, answers=(4, 4, 4), views=views, weights=(40, 40, 40, 5), base=base)
    cells, people, fakes = {0: 1, 1: 2}, 1_600_000, 16_000 if tickets else 1600  # tickets put a part into the view
    honest = fldp.simulate(oracle, np.full(oracle.answers, people // 64), rng=5)
    fake = oracle.tally(poison(oracle, cells, fakes, tickets=tickets, rng=5))
    before, after = (oracle.estimate(tally).shares((0, 1))[1, 2] for tally in (honest, honest + fake))
    n = honest.n + fakes
    lever = leverage(oracle, cells, tickets=tickets)
    assert (after - before) * n / fakes == pytest.approx(lever - 1 / 16, rel=0.1)
    assert lever > 25 * 3 if not tickets else lever < 10


def test_the_gain_is_what_estimates_without_noise_show():
    """All attacks, fakes that crowd into a view included; within four standard errors, once wrong in 1,000 seeds."""
    oracle = fldp.Sampled(epsilon=2.0, answers=(3, 3, 2), views=2, weights=(1, 8, 8))
    for share in (0.002, 0.1):
        for one in record_outcomes(oracle, {0: [1], 1: [2]}, users=40_000, share=share):
            assert abs(one.measured - one.expected) < 4 * one.stderr
            if share < 0.01 and one.attack == "maximal-gain" and not one.tickets:
                assert one.expected == pytest.approx(share * one.leverage, rel=0.1)


@pytest.mark.parametrize(("epsilon", "most"), [(1.0, 3.2), (2.0, 2.2), (4.0, 1.4)])
def test_the_largest_score_of_a_mean(epsilon, most):
    """In half-ranges: what one fake adds to the sum of all numbers on [-1, 1]."""
    oracle = fldp.Wave(epsilon=epsilon, domain_size=256, width=mean_width(epsilon))
    plan = analysis(oracle).fakes_weighing(np.linspace(-1, 1, 256))
    assert plan.best() == pytest.approx(most, abs=0.05)


def test_bad_targets():
    oracle = SMALL["three"]
    for targets, said in (
        (3, "targets are answers by question, such as"),
        ({}, "targets are answers by question"),
        ({3: 0}, "a question must be an integer from 0 to 2"),
        ({0: 7}, "7"),
        ({0: []}, "poison"),
    ):
        with pytest.raises(FldpError, match=said):
            leverage(oracle, targets)
    singles = fldp.Sampled(epsilon=1.0, answers=(3, 2), views=1)
    with pytest.raises(FldpError, match="questions 0 and 1 are not asked together"):
        poison(singles, {0: 1, 1: 1}, 3)
    large = fldp.Sampled(epsilon=2.0, answers=(600, 2), views=1, base="fwr")
    with pytest.raises(FldpError, match="best fake reports are not known"):
        leverage(large, {0: 1})


SURVEY = """name = "desk"
[[questions]]
name = "os"
question = "Which system?"
labels = ["linux", "mac", "windows"]
[[questions]]
name = "plan"
question = "Do you plan to move?"
labels = ["yes", "no"]
[tables]
cross = "all"
[oracle]
epsilon = 1.0
"""


def test_the_shell_attacks_cells(tmp_path):
    survey = tmp_path / "desk.toml"
    survey.write_text(SURVEY)
    attack = ("poisoning", "--survey", survey, "--users", 2000)
    named = json.loads(shell(*attack, "--target", "os=mac", "--target", "plan=no", "--json")[0])
    assert named["targets"] == ["os=mac", "plan=no"]
    assert [row["tickets"] for row in named["attacks"]] == [False, True, False, False]
    picture = tmp_path / "cells.svg"
    assert "Targets: plan=yes." in shell(*attack, "--plot", picture)[0]
    assert "cells of a table" in picture.read_text()
    assert "--target must be NAME=ANSWER of the questions os, plan" in shell(*attack, "--target", "os=amiga", code=2)[1]
    assert "name a cell" in shell(*attack, "--targets", 2, code=2)[1]
    number = tmp_path / "load.toml"
    number.write_text(
        'name = "load"\nquestion = "Seconds?"\nnumber = { low = 0, high = 30, bins = 16 }\n[oracle]\nepsilon = 1.0\n'
    )
    printed = json.loads(shell("poisoning", "--survey", number, "--users", 2000, "--target", "3.5", "--json")[0])
    assert len(printed["targets"]) == 1
    assert printed["attacks"][0]["leverage"] > printed["attacks"][1]["leverage"] > 1
