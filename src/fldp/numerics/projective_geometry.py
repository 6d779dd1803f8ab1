"""Projective geometry over a prime field: points, orthogonality, and sums over all hyperplanes.

A point is a vector of ``t`` digits modulo ``q``, not all zero, whose first digit other than zero is 1. Points are
numbered in lexicographic order: point 0 is ``(0, ..., 0, 1)``, and point ``1 + q j + l`` is point ``j`` with its first
digit, a zero, taken away and the digit ``l`` appended.

Points ``u`` and ``v`` are *opposite* if ``v`` is orthogonal to ``u`` read backwards. That goes both ways. Reading
backwards makes the last digit other than zero a 1, so that no client needs an inverse.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import Kernel
from fldp.numerics.projective_space import MAX_POINTS as MAX_POINTS
from fldp.numerics.projective_space import Space
from fldp.numerics.projective_space import best_space as best_space

Number = TypeVar("Number", np.int64, np.float64)


def digits_of(points: NDArray[np.integer], space: Space) -> NDArray[np.uint64]:
    """Return the digits of points, a row for each.

    >>> digits_of(np.arange(4), Space(order=3, dimension=2)).tolist()
    [[0, 1], [1, 0], [1, 1], [1, 2]]
    """
    left, digits = points.astype(np.int64), np.zeros((len(points), space.dimension), np.uint64)
    for place in reversed(range(space.dimension)):
        digits[:, place] = np.where(left > 0, (left - 1) % space.order, left == 0)
        left = np.where(left > 0, (left - 1) // space.order, -1)  # -1: the leading 1 is done, zeros remain
    return digits


def opposite(points: NDArray[np.integer], others: NDArray[np.integer], space: Space) -> NDArray[np.bool_]:
    """Return which points (rows) are opposite to which others (columns), in time linear in the largest of the others.

    Pre-condition: ``2 * order^2 < 2^64``, as in the best space of any domain.

    >>> opposite(np.array([0, 2]), np.arange(4), Space(order=3, dimension=2))
    array([[ True, False, False, False],
           [False, False, False,  True]])
    """
    if len(others) == 0:
        return np.zeros((len(points), 0), np.bool_)
    parts = _sums_in_order(digits_of(points, space), int(others.max()) + 1, space)
    return np.asarray(np.concatenate([part == 0 for part in parts], axis=1)[:, others])


def _sums_in_order(digits: NDArray[np.uint64], wanted: int, space: Space) -> Iterator[NDArray[np.unsignedinteger]]:
    """Yield the inner products, modulo the order, of digits with the points below ``wanted``, in their order.

    Points come in runs: a 1, then all numbers of ``length`` digits. The inner products of these numbers follow from
    numbers of one digit less by adding a multiple of one digit, so each takes one addition instead of ``length``.
    """
    order, done, kind = np.uint64(space.order), 0, np.min_scalar_type(2 * space.order)
    tails = np.zeros((len(digits), 1), kind)
    for length in range(space.dimension):
        own = digits[:, length, None]  # the digit that meets the one in front of the tails
        part = _modulo(own.astype(kind) + tails[:, : wanted - done], space.order)
        done += part.shape[1]
        yield part
        if done == wanted:
            return
        fronts = np.arange(min(space.order, -(-(wanted - done) // tails.shape[1])), dtype=np.uint64)
        first = (own * fronts % order).astype(kind)
        tails = _modulo(first[:, :, None] + tails[:, None], space.order).reshape(len(digits), -1)


def _modulo(sums: NDArray[np.unsignedinteger], order: int) -> NDArray[np.unsignedinteger]:
    """Return sums of two numbers below the order modulo the order: what wraps around below 0 is larger."""
    return np.asarray(np.minimum(sums, sums - sums.dtype.type(order)))


@Kernel
def slide(weights: Any, order: Any, done: Any, out: Any) -> None:
    """Do one digit of a sum over lines: ``out[r, u, w, s] = sum over y of weights[y, r, w, (s + u y) mod order]``.

    ``w`` runs over the digits that were done before.
    """
    rest = len(weights) // (order * order * done)
    for r in range(rest):
        for u in range(order):
            for y in range(order):
                shift = (order - u * y % order) % order
                for w in range(done):
                    source = weights[((y * rest + r) * done + w) * order :]
                    target = out[((r * order + u) * done + w) * order :]
                    # The cyclic shift as two plain loops over contiguous memory, which vectorise.
                    for s in range(order - shift):
                        target[s + shift] += source[s]
                    for s in range(order - shift, order):
                        target[s + shift - order] += source[s]


def hyperplane_sums(weights: NDArray[Number], space: Space) -> NDArray[Number]:
    """Return for every point the sum of the weights of the points opposite to it, in ``O(size * order * dimension)``.

    A point with ``free`` digits after its first 1 meets only the first ``free + 1`` digits of others. So the loop sums
    up weights that differ in later digits only, and points with later digits only count for all. Exact for integers.

    >>> hyperplane_sums(np.array([1, 10, 100, 1000]), Space(order=3, dimension=2))
    array([   1,   10, 1000,  100])
    """
    sums = np.empty_like(weights)
    later = weights.dtype.type(0)
    for free in reversed(range(space.dimension)):
        sums[space.points(free) : space.points(free + 1)] = later + _graph_sums(weights, space, free)
        later += weights[0]
        weights = weights[1:].reshape(-1, space.order).sum(axis=1)
    return sums


def _graph_sums(weights: NDArray[Any], space: Space, free: int) -> NDArray[Any]:
    """Return, for each vector of ``free`` digits, the sum over the points whose last digit is minus its inner product.

    Points whose leading 1 is further to the right meet fewer digits of the vector.
    """
    sums = np.zeros(1, weights.dtype)
    for digits in range(1, free + 1):
        block = weights[space.points(digits) : space.points(digits + 1)]
        sums = np.repeat(sums, space.order) + _line_sums(block, space.order)
    return sums


def _line_sums(block: NDArray[Any], order: int) -> NDArray[Any]:
    """Return the sums over the points whose leading 1 is in one place: digit by digit, the last one negated."""
    sums = np.ascontiguousarray(block.reshape(-1, order)[:, -np.arange(order) % order]).reshape(-1)
    done = 1
    while done * order < len(sums):
        weights, sums = sums, np.zeros_like(sums)
        slide.compiled(weights, order, done, sums)
        done *= order
    return sums
