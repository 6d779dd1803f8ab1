"""SingerCycle: the points of a projective space in an order in which all sets of opposite points are turns of one.

In the field of ``q^t`` elements, the powers ``1, x, x^2, ...`` of a suitable element are all points, each once, before
one of them is a multiple of 1 again. Orthogonality to a point is a linear condition on the powers, and multiplying by
``x`` turns one such condition into the next. So the points opposite to any point are at the same places of this cycle,
turned by a number of steps that belongs to that point.

Singer: A theorem in finite projective geometry and some applications to number theory, Trans. AMS 1938.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import Kernel
from fldp.numerics.projective_space import Space

Integers = NDArray[np.int64]


@Kernel
def raise_root(coefficients: Any, order: Any, period: Any, powers: Any) -> bool:
    """Write the powers of the root of ``x^t - sum of coefficients[k] x^k``, each as its ``t`` digits.

    Returns whether none of those between the first and number ``period`` is a multiple of the first.
    """
    size = len(coefficients)
    powers[0, :] = 0
    powers[0, 0] = 1
    for i in range(1, len(powers)):
        top, rest = powers[i - 1, size - 1], 0
        powers[i, 0] = top * coefficients[0] % order
        for k in range(1, size):
            powers[i, k] = (powers[i - 1, k - 1] + top * coefficients[k]) % order
            rest |= powers[i, k]
        if rest == 0 and i < period:
            return False
    return True


class SingerCycle(NamedTuple):
    """The number of the point at every place of the cycle, whether it belongs to the set, and how far sets turn.

    The points opposite to point ``v`` are at the places ``(place + turns[v]) % size`` for every place that is ``own``.

    >>> cycle = singer_cycle(Space(order=3, dimension=2))
    >>> cycle.points.tolist(), cycle.own.tolist(), cycle.turns.tolist()
    ([1, 0, 2, 3], [True, False, False, False], [1, 0, 3, 2])
    """

    points: Integers
    own: NDArray[np.bool_]
    turns: Integers


def singer_cycle(space: Space) -> SingerCycle:
    """Find a cycle, in time proportional to the size of the space for each polynomial that is tried."""
    powers = _powers(space)
    # The last digit is a linear condition; its values at ``t`` powers in a row are the point that has the condition.
    last = powers[:, -1]
    conditions = np.lib.stride_tricks.sliding_window_view(last, space.dimension)[: space.size, ::-1]
    turns = np.empty(space.size, np.int64)
    turns[number_of(conditions, space)] = -np.arange(space.size) % space.size
    return SingerCycle(number_of(powers[: space.size], space), last[: space.size] == 0, turns)


def _powers(space: Space) -> Integers:
    powers = np.empty((space.size + space.dimension, space.dimension), np.int64)
    for coefficients in _polynomials(space):
        if raise_root.compiled(np.array(coefficients, np.int64), space.order, space.size, powers):
            return powers
    raise AssertionError(f"no field of {space.order}^{space.dimension} elements: {space.order} must be prime")


def _polynomials(space: Space) -> Iterator[tuple[int, ...]]:
    """Yield the coefficients of all polynomials without the root 0, those of few terms first."""
    tails = product(range(space.order), repeat=space.dimension - 1)
    yield from ((first, *reversed(tail)) for tail in tails for first in range(1, space.order))


def number_of(digits: Integers, space: Space) -> Integers:
    """Return the numbers of the points that rows of digits are multiples of.

    >>> number_of(np.array([[0, 2], [1, 2], [2, 1], [2, 0]]), Space(order=3, dimension=2)).tolist()
    [0, 3, 3, 1]
    """
    inverses = np.array([0, *(pow(digit, -1, space.order) for digit in range(1, space.order))])
    lead = (digits != 0).argmax(axis=1)
    scaled = digits * inverses[digits[np.arange(len(digits)), lead]][:, None] % space.order
    places = np.array([space.order ** (space.dimension - 1 - k) for k in range(space.dimension)])
    before = np.array([space.points(space.dimension - 1 - k) for k in range(space.dimension)])
    return np.asarray(scaled @ places - places[lead] + before[lead])
