"""The numbers that several questions must reach, at full size: ``make acceptance``. Random ones have fixed seeds.

``tests/oracles/test_sampled.py``, ``tests/oracles/test_sampled_errors.py`` and
``tests/estimation/test_question_planner.py`` have the same checks, reduced.
"""

from collections import Counter

import numpy as np
import pytest

import fldp
from fldp.estimation.question_planner import plan_questions
from support.latent_records import latent, square_error
from support.promises import most_broken

SHARES = np.array([0.6, 0.2, 0.1, 0.05, 0.05, 0.0, 0.0, 0.0])


def test_pair_cells_of_ten_questions_and_their_repair():
    """K = 10, d = 4, epsilon 1, 10^5 people, 4 seeds: mean square error x n, 94 +- 8; repaired at most 0.70 of it."""
    oracle, n = fldp.questions([4] * 10, 1.0, "all"), 100_000
    errors, repaired = [], []
    for seed in range(4):
        rows = latent(n, 10, 4, seed)
        tables = oracle.estimate(oracle.privatize(rows, rng=seed))
        fixed = fldp.postprocess(tables, "consistent")
        errors.append(square_error(tables, rows, 4))
        repaired.append(square_error(fixed, rows, 4))
    assert abs(np.mean(errors) - 94) < 8
    assert np.mean(repaired) <= 0.70 * np.mean(errors)


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("people", [200, 2000])
def test_independent_questions_are_called_associated_as_often_as_promised(size, people):
    """5 % alarms in 2.5 to 7.5 % of 1,500 runs, with about so many people in the view of the pair."""
    questions, runs = 4, 1500
    oracle = fldp.questions([size] * questions, 1.0, "all", base="ss")
    pairs = len(oracle.design.views)
    alarms = 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        rows = rng.integers(0, size, (people * pairs, questions))
        tables = oracle.estimate(oracle.privatize(rows, rng=run))
        alarms += tables.cross(0, 1).independence().p_value <= 0.05
    assert 0.025 <= alarms / runs <= 0.075


@pytest.mark.parametrize("people", [30, 100, 1000])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize(
    "margins",
    [
        ((0.5, 0.5), (0.5, 0.5)),
        ((0.9, 0.1), (0.8, 0.2)),
        ((0.8, 0.15, 0.05), (0.7, 0.2, 0.1)),
        ((0.7, 0.2, 0.07, 0.03), (0.6, 0.3, 0.1, 0)),
        ((0.5, 0.2, 0.1, 0.1, 0.05, 0.05, 0, 0), (0.9, 0.1, 0)),
    ],
    ids=len,
)
def test_independent_questions_of_few_people(margins, epsilon, people):
    """600 surveys: the test, single cells that stand out, and V above 0; more than 5 % show in one of 10^6 tests."""
    oracle, chance = fldp.Sampled(epsilon, answers=[len(each) for each in margins], views=2), np.random.default_rng(5)
    alarms = np.zeros(3, np.int64)
    for run in range(600):
        rows = np.stack([chance.choice(len(each), people, p=each) for each in margins], axis=1)
        cross = oracle.estimate(oracle.privatize(rows, rng=run)).cross(0, 1)
        alarms += [cross.independence().p_value <= 0.05, bool(cross.excess().any()), cross.association().low > 0]
    print(f"{margins}, epsilon {epsilon:g}, {people} people:", (alarms / 600).round(3).tolist())
    assert alarms.max() < most_broken(600, 0.05, 1e-6)


@pytest.mark.parametrize("people", [30, 100, 1000])
@pytest.mark.parametrize("epsilon", [1.0, 4.0, 8.0])
@pytest.mark.parametrize("population", [False, True])
def test_comparisons_of_a_question_find_nothing(epsilon, people, population):
    """300 pairs of surveys of the same shares, for those who reported and for a population drawn anew."""
    oracle, chance = fldp.Sampled(epsilon, answers=[8, 3], views=1), np.random.default_rng(7)
    fixed = np.resize(np.repeat(np.arange(8), np.rint(SHARES * 20).astype(int)), people)
    alarms = missed = 0
    for run in range(300):
        pair = []
        for side in range(2):
            held = chance.choice(8, people, p=SHARES) if population else fixed
            rows = np.stack([held, chance.integers(0, 3, people)], axis=1)
            pair.append(oracle.estimate(oracle.privatize(rows, rng=2 * run + side))[0])
        change = pair[0].compare(pair[1], people="population" if population else "respondents")
        low, high = change.interval(simultaneous=True).T
        alarms += change.significant().any()
        missed += ((low > 1e-9) | (high < -1e-9)).any()
    print(f"epsilon {epsilon:g}, {people} people: {alarms / 300:.3f} / {missed / 300:.3f}")
    assert max(alarms, missed) < most_broken(300, 0.05, 1e-6)


def test_variance_of_those_who_reported():
    """n = 400, fixed numbers of people in the views, 12,000 runs: ratio 1 +- 0.04, bias below 4 standard errors."""
    answers, people, runs = (3, 2, 2), (140, 130, 130), 12_000
    oracle = fldp.Sampled(epsilon=1.0, answers=answers, views=2)
    rng, n = np.random.default_rng(3), sum(people)
    rows = np.stack([rng.choice(size, n, p=rng.dirichlet(np.ones(size))) for size in answers], axis=1)
    ends, estimates = np.cumsum([0, *people]), []
    asked = oracle.estimate(oracle.privatize(rows, rng=0)).questions
    for run in range(runs):
        order, decoded = rng.permutation(n), []
        for k, (view, member) in enumerate(zip(oracle.design.views, oracle.members, strict=True)):
            values = view.values(rows[order[ends[k] : ends[k + 1]]])
            decoded.append(member.estimator.decode(member.tally(member.privatize(values, rng=3 * run + k))) / people[k])
        tables = fldp.Tables(oracle, n, people, tuple(decoded), asked)
        estimates.append(tables.shares((0, 1)))
    truth = {}
    for questions in ((0, 1), (0, 2), (1, 2)):
        counts = Counter(map(tuple, rows[:, list(questions)].tolist()))
        cells = np.ndindex(*(answers[a] for a in questions))
        truth[questions] = np.array([counts[cell] / n for cell in cells]).reshape([answers[a] for a in questions])
    known = Known(oracle, n, people, tuple(decoded), asked)
    object.__setattr__(known, "truth", truth)
    variances = known.variances((0, 1)).reshape(3, 2)
    assert abs(np.var(estimates, axis=0, ddof=1) / variances - 1).max() < 0.04 * 1.6
    assert abs((np.var(estimates, axis=0, ddof=1) / variances).mean() - 1) < 0.04
    assert abs((np.mean(estimates, axis=0) - truth[0, 1]) / np.sqrt(variances / runs)).max() < 4


class Known(fldp.Tables):
    """Tables with the true shares in place of estimated ones."""

    def plausible(self, questions):
        return self.truth[questions]


def test_single_questions_beside_sampled_oue():
    """Epsilon 1, K = 10, d = 4: at most 20.8 with the planner's oracle, 41.2 with a tenth of the people under OUE."""
    assert plan_questions([4] * 10, 1.0, 1000, "none", base="ss").design.error((0,)) <= 20.8
    oue = fldp.OUE(epsilon=1.0, domain_size=4)
    noise = oue.variance(1, 0.25) + 0.25 * 0.75
    assert abs(10 * noise - 0.25 * 0.75 - 41.2) < 3
