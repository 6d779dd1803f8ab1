"""Projective spaces over a prime field: how many points they have, and which space fits an epsilon.

What points are, ``fldp.numerics.projective_geometry`` says. This part needs no arrays.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import count
from math import isqrt

from fldp.randomness.coins import exp_lower

MAX_POINTS = 2**32 - 1


@dataclass(frozen=True)
class Space:
    """The projective space of vectors of ``dimension`` digits modulo the prime ``order``.

    Every point is opposite to the same number of points, its *set*; any two sets *meet* in the same number of points.

    >>> space = Space(order=3, dimension=3)
    >>> space.size, space.set_size, space.meet_size
    (13, 4, 1)
    """

    order: int
    dimension: int

    @classmethod
    def over(cls, order: int, least: int) -> "Space":
        """Return the space of this order with the least dimension that has at least ``least`` points.

        >>> Space.over(3, 1000)
        Space(order=3, dimension=7)
        """
        return next(space for space in (cls(order, dimension) for dimension in count(2)) if space.size >= least)

    def points(self, digits: int) -> int:
        """Return the number of points with nonzero digits among the last ``digits`` only; they come first in order."""
        return int((self.order**digits - 1) // (self.order - 1))

    @property
    def size(self) -> int:
        """The number of points."""
        return self.points(self.dimension)

    @property
    def set_size(self) -> int:
        """The number of points opposite to one."""
        return self.points(self.dimension - 1)

    @property
    def rest_size(self) -> int:
        """The number of all other points."""
        return int(self.order ** (self.dimension - 1))

    @property
    def meet_size(self) -> int:
        """The number of points opposite to both of two."""
        return self.points(self.dimension - 2)

    def rare_variance(self, E: Fraction) -> Fraction:
        """Return ``(E-1)^2`` times the variance per user of the count of a rare value, where points are ``E`` to 1."""
        total = E * self.set_size + self.rest_size
        hit = (E - 1) * self.meet_size + self.set_size
        return hit * (total - hit) / (self.set_size - self.meet_size) ** 2


@lru_cache(maxsize=256)
def best_space(epsilon: float, least: int) -> Space:
    """Return the space with at least ``least`` points in which a rare value has the least variance.

    It is one of the spaces ``over`` any prime order that have at most ``64 * least + 64`` points, and fewer than 2^32.
    In two dimensions the variance grows with the order, so only the least such order has to be tried. Where the number
    of points allows it, the order is near ``e^epsilon + 1``.

    >>> best_space(1.0, 1024), best_space(0.1, 1024), best_space(8.0, 1024)
    (Space(order=3, dimension=7), Space(order=2, dimension=11), Space(order=1031, dimension=2))
    """
    E, limit = exp_lower(epsilon), min(64 * least + 64, MAX_POINTS)
    line = next(order for order in count(max(2, least - 1)) if is_prime(order))
    orders = [order for order in range(2, isqrt(limit) + 1) if is_prime(order)]
    spaces = [Space.over(order, least) for order in (*orders, line)]
    return min((space for space in spaces if space.size <= limit), key=lambda s: (s.rare_variance(E), s.order))


def is_prime(number: int) -> bool:
    """Return whether a number of at least 2 is prime.

    >>> [number for number in range(2, 20) if is_prime(number)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return all(number % divisor for divisor in range(2, isqrt(number) + 1))
