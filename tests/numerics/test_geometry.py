import numpy as np
import pytest

from fldp.numerics.projective_geometry import Space, best_space, hyperplane_sums, opposite
from support import naive

SPACES = [(2, 2), (2, 3), (2, 9), (3, 2), (3, 3), (3, 6), (5, 4), (7, 3), (11, 3), (31, 2), (211, 2)]


def matrix(order, digits):
    """Which points are opposite, from all products of all vectors."""
    vectors = np.array(naive.points(order, digits))
    return vectors[:, ::-1] @ vectors.T % order == 0


@pytest.mark.parametrize(("order", "digits"), SPACES)
def test_sizes(order, digits):
    truth, space = matrix(order, digits), Space(order, digits)
    assert truth.shape == (space.size, space.size)
    assert set(truth.sum(axis=1).tolist()) == {space.set_size}
    assert set((~truth).sum(axis=1).tolist()) == {space.rest_size}
    meets = truth.astype(int) @ truth.T
    assert set(meets[~np.eye(space.size, dtype=bool)].tolist()) == {space.meet_size}
    assert np.array_equal(truth, truth.T)


@pytest.mark.parametrize(("order", "digits"), SPACES)
def test_which_are_opposite(order, digits):
    """For the first others of every number, and for some in any order."""
    truth, space = matrix(order, digits), Space(order, digits)
    points = np.arange(space.size)
    assert opposite(points, points[:0], space).shape == (space.size, 0)
    for last in {0, 1, order, order + 1, space.size // 2, space.size - 2, space.size - 1}:
        assert np.array_equal(opposite(points, points[: last + 1], space), truth[:, : last + 1])
    some = np.random.default_rng(1).permutation(points)[:20]
    assert np.array_equal(opposite(some, some[::-1], space), truth[np.ix_(some, some[::-1])])


@pytest.mark.parametrize(("order", "digits"), SPACES)
def test_sums_are_exact(order, digits):
    truth, space = matrix(order, digits), Space(order, digits)
    weights = np.random.default_rng(order).integers(-(2**50), 2**50, space.size)
    kept = weights.copy()
    assert np.array_equal(hyperplane_sums(weights, space), truth.astype(np.int64) @ weights)
    assert np.array_equal(weights, kept)
    np.testing.assert_allclose(hyperplane_sums(weights / 3, space), truth @ (weights / 3), rtol=1e-9)


@pytest.mark.parametrize("least", [2, 3, 4, 14, 100, 200])
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 0.44, 1.0, 1.7, 3.0, 4.5, 6.0, 9.0, 40.0])
@pytest.mark.long
def test_the_choice_is_the_best_of_all(epsilon, least):
    space = best_space(epsilon, least)
    assert (space.order, space.dimension) == naive.projective_space(epsilon, least)
    assert least <= space.size <= 64 * least + 64


def test_the_largest_domain_has_a_space():
    assert 2**31 - 1 <= best_space(8.0, 2**31 - 1).size < 2**32
