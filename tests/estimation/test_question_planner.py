"""The planner of several questions: its numbers, and that it plans the same everywhere."""

from math import prod, sqrt

import pytest

import fldp
from fldp.estimation.question_planner import (
    ViewDesign,
    Wanted,
    covering,
    plan_questions,
    planned,
    sigma_squared,
    subsets,
    weighed,
)
from fldp.oracles.sampled.views import base_oracle

MIXED = (2, 2, 3, 4, 5, 8, 12, 20)


@pytest.mark.parametrize(("size", "pair", "single"), [(4, 94.2, 52.0), (2, 38.2, 13.9), (8, 129, 127)])
def test_all_pairs_of_ten_questions(size, pair, single):
    plan = planned(fldp.Sampled(epsilon=1.0, answers=[size] * 10, views=2), 1000)
    assert plan.design.error((0, 1)) <= pair
    assert plan.design.error((0,)) <= single


@pytest.mark.parametrize(
    ("epsilon", "count", "size", "together", "most"),
    [(1.0, 10, 2, 3, 35.3), (2.0, 10, 4, 2, 18.6), (4.0, 10, 2, 4, 1.34), (1.0, 20, 4, 2, 383)],
)
def test_the_choice_of_blocks(epsilon, count, size, together, most):
    plan = plan_questions([size] * count, epsilon, 1000, "all")
    assert {len(view.questions) for view in plan.oracle.design.views} == {together}
    assert plan.design.error((0, 1)) <= most


def bound(wanted, epsilon):
    """The least that any eps-LDP report can have, times the number of people."""
    power = 2.718281828459045**epsilon
    total = 0.0
    for effect, constant in wanted.constants.items():
        dimensions = prod(wanted.answers[a] - 1 for a in effect)
        total += dimensions * sqrt(constant / dimensions)
    return 4 * power / (power - 1) ** 2 * total**2


def test_weights_of_mixed_sizes():
    plan = plan_questions(MIXED, 1.0, 1000, "all", base="ss")
    tables = len(plan.design.wanted.tables)
    assert plan.design.score / tables <= 56.4
    assert plan.design.score <= 1.035 * bound(plan.design.wanted, 1.0)
    kept = planned(plan.oracle, 1000).design
    assert sum(kept.error(table) for table, _ in plan.design.wanted.tables) / tables <= 56.4


def test_two_chosen_crosses():
    plan = plan_questions(MIXED, 1.0, 1000, [[0, 1], [3, 5]], base="ss")
    assert plan.design.score / len(plan.design.wanted.tables) <= 18.7
    assert plan.oracle.design.entries[-2:] == [[0, 1], [3, 5]]


def test_singles_at_epsilon_1():
    assert plan_questions([4] * 10, 1.0, 1000, "none", base="ss").design.error((0,)) <= 20.8


def test_the_formula_is_the_mean_variance_of_all_cells():
    """Beside the exact variance of the tables at uniform shares, from the covariances of the views."""
    import numpy as np

    oracle = fldp.Sampled(epsilon=1.0, answers=[3, 2, 4], views=[[0], [0, 1], [0, 2], [1, 2]], weights=[1, 2, 3, 4])
    n = 10_000
    people = tuple(n * weight // 10 for weight in (1, 2, 3, 4))
    uniform = tuple(np.full(view.size, 1 / view.size) for view in oracle.design.views)
    asked = oracle.estimate(oracle.privatize(oracle._sample_records() * 0, rng=0)).questions
    tables = fldp.Tables(oracle, n, people, uniform, asked)
    for table in ((0,), (2,), (0, 1), (1, 2)):
        expected = planned(oracle, n).design.error(table)
        assert tables.variances(table, people="population").mean() * n == pytest.approx(expected, rel=1e-9)


def test_weights_are_a_minimum():
    """No small step from one view to another is better."""
    wanted = Wanted((2, 3, 5), (((0,), 1.0), ((1,), 2.0), ((2,), 1.0), ((0, 1), 1.0), ((0, 2), 1.0), ((1, 2), 1.0)))
    blocks = [*covering(3, 1), *covering(3, 2)]
    sigmas = [sigma_squared(base_oracle("ss", 1.0, prod(wanted.answers[a] for a in block))) for block in blocks]
    best = weighed(wanted, blocks, sigmas)
    for gains in range(len(blocks)):
        for loses in range(len(blocks)):
            if gains != loses and best.shares[loses] > 0.02:
                shares = list(best.shares)
                shares[gains], shares[loses] = shares[gains] + 0.01, shares[loses] - 0.01
                moved = ViewDesign(wanted, best.blocks, best.sigmas, tuple(shares))
                assert moved.score > best.score * (1 - 1e-4)


def test_blocks_cover_all_pairs():
    for together in (3, 4, 5):
        blocks = covering(12, together)
        pairs = {pair for block in blocks for pair in subsets(block) if len(pair) == 2}
        assert len(pairs) == 66
        assert all(list(block) == sorted(set(block)) for block in blocks)


def test_importance_moves_weight():
    plain = fldp.questions([4, 4, 4], 1.0)
    heavy = fldp.questions([4, 4, 4], 1.0, importance=[9, 1, 1])
    assert plain.weights == ()
    assert heavy.weights[0] == pytest.approx(3 * heavy.weights[1], rel=0.01)


def test_eta_needs_fwr():
    oracle = fldp.questions([8, 8], 1.0, eta=0.5)
    assert (oracle.base, float(oracle.eta)) == ("fwr", 0.5)


@pytest.mark.parametrize("cross", [[[0, 0]], [[0]], [[0, 9]], [[0, 1], [1, 0]], "some", 3])
def test_bad_crosses(cross):
    with pytest.raises(fldp.ParameterError):
        fldp.questions([2, 2, 2], 1.0, cross)


def test_the_smallest_association_is_found_in_four_of_five_surveys():
    """200 surveys of two yes/no questions with that association; 80 % within 4 standard errors, 69 to 91 %."""
    import numpy as np

    plan = plan_questions([2, 2], 1.0, 4000, "all", base="ss")
    v, rng, rejected = plan.smallest((0, 1)), np.random.default_rng(1), 0
    joint = np.array([1 + v, 1 - v, 1 - v, 1 + v]) / 4
    for run in range(200):
        records = rng.choice(4, 4000, p=joint)
        tables = plan.oracle.estimate(plan.oracle.privatize(records, rng=run))
        rejected += tables.cross(0, 1).independence().p_value <= 0.05
    assert 0.69 <= rejected / 200 <= 0.91


def test_a_plan_as_a_frame():
    plan = plan_questions((3, 2), 1.0, 1000, "all")
    frame = plan.to_pandas()
    assert frame["questions"].tolist() == ["0", "1", "0 x 1"]
    assert frame["stderr"].tolist() == [plan.stderr(table) for table in plan.tables]
    assert frame["smallest"].tolist()[2] == plan.smallest((0, 1))
    assert frame["smallest"].isna().tolist() == [True, True, False]
    assert repr(plan) == f"<plan of 2 questions for 1000 users: {plan.oracle!r}>"


def test_questions_that_no_oracle_can_ask():
    with pytest.raises(fldp.ParameterError, match=r"no oracle can ask these questions at epsilon 1e-30; ask fewer"):
        fldp.questions((3, 2), epsilon=1e-30)
    with pytest.raises(fldp.ParameterError, match="importance must be 2 numbers, got 1"):
        fldp.questions((3, 2), epsilon=1.0, importance=[1.0])
