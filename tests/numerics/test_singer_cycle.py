"""Cycles of the points of projective spaces: every set of opposite points is a turn of the same places."""

import numpy as np
import pytest

from fldp.numerics.projective_geometry import digits_of, opposite
from fldp.numerics.projective_space import Space, is_prime
from fldp.numerics.singer_cycle import number_of, raise_root, singer_cycle

SMALL = [
    Space(order, dimension)
    for order in range(2, 100)
    if is_prime(order)
    for dimension in range(2, 9)
    if Space(order, dimension).size < 400
]
LARGE = [Space(2, 11), Space(3, 7), Space(2, 12), Space(1031, 2), Space(61, 3), Space(3, 8)]


def check_turns(space, values):
    cycle, everything = singer_cycle(space), np.arange(space.size)
    assert np.array_equal(np.sort(cycle.points), everything)
    places = np.flatnonzero(cycle.own)
    turned = cycle.points[(places + cycle.turns[values][:, None]) % space.size]
    expected = opposite(values, everything, space)
    marked = np.zeros_like(expected)
    np.put_along_axis(marked, turned, np.True_, axis=1)
    assert np.array_equal(marked, expected)


@pytest.mark.parametrize("space", SMALL, ids=str)
def test_sets_of_opposite_points_are_turns_of_one(space):
    check_turns(space, np.arange(space.size))


@pytest.mark.parametrize("space", LARGE, ids=str)
def test_sets_of_some_points_of_large_spaces_are_turns(space):
    some = np.random.default_rng(1).integers(0, space.size, 30)
    check_turns(space, np.unique([0, 1, space.size - 1, *some]))


@pytest.mark.parametrize("space", [Space(2, 5), Space(5, 3), Space(31, 2)], ids=str)
def test_numbers_of_multiples_of_points(space):
    everything = np.arange(space.size)
    digits = digits_of(everything, space).astype(np.int64)
    for factor in range(1, space.order):
        assert np.array_equal(number_of(digits * factor % space.order, space), everything)


@pytest.mark.parametrize("kernel", [raise_root, raise_root.compiled], ids=["Python", "compiled"])
@pytest.mark.parametrize(
    ("coefficients", "is_cycle"),
    [((1, 1, 0), True), ((1, 0, 1), True), ((1, 0, 0), False), ((1, 1, 1), False)],
)
def test_a_root_with_a_short_cycle_is_refused(kernel, coefficients, is_cycle):
    """x^3 = x + 1 and x^3 = x^2 + 1 over two elements, and two polynomials that have factors."""
    powers = np.empty((10, 3), np.int64)
    assert kernel(np.array(coefficients), 2, 7, powers) is is_cycle
    if is_cycle:
        assert len({tuple(row) for row in powers[:7].tolist()}) == 7
        assert powers[7].tolist() == [1, 0, 0]


def test_there_is_no_cycle_for_an_order_that_is_not_prime():
    with pytest.raises((AssertionError, ValueError)):
        singer_cycle(Space(4, 2))
