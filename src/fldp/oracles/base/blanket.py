"""The privacy blanket: the part of a report's law that does not depend on the value, and hides others in a crowd.

Every report ``o`` has at least the probability ``m(o)``, the least over all values. So a report is, with probability
``gamma``, the sum of all ``m``, drawn from the blanket, whatever its sender holds (Balle, Bell, Gascon, Nissim, CRYPTO
2019). A smaller blanket is a blanket, too, and gives a larger bound.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np

from fldp.numerics.excess_of_sum import mean_excess


class BlanketClass(NamedTuple):
    """Reports that are alike: their mass in the blanket, and how many times that two given values have."""

    mass: Fraction
    own: Fraction
    other: Fraction


@dataclass(frozen=True)
class Blanket:
    """The blanket in classes by how likely its reports are under two values, the worst of all pairs.

    >>> two_levels(Fraction(3), Fraction(1, 2), Fraction(0)).gamma  # randomized response with 3 to 1
    Fraction(1, 2)
    """

    classes: tuple[BlanketClass, ...]

    @property
    def gamma(self) -> Fraction:
        """The probability that a report says nothing about its sender."""
        return sum((each.mass for each in self.classes), Fraction(0))

    @property
    def spread(self) -> Fraction:
        """The variance of the privacy loss that hides in the crowd: ``sum of (P - Q)^2 / m``."""
        return sum((each.mass * (each.own - each.other) ** 2 for each in self.classes), Fraction(0))

    def delta(self, ratio: float, n: int) -> float:
        """Bound the delta at ``ratio = e^epsilon`` among ``n`` people, of whom all but one are known to the attacker.

        >>> response = two_levels(Fraction(3), Fraction(1, 2), Fraction(0))
        >>> round(response.delta(1.0, 1), 3), round(response.delta(1.2, 1000), 9)
        (0.5, 2.61e-07)
        """
        masses, own, other = (np.array([float(part) for part in column]) for column in zip(*self.classes, strict=True))
        return mean_excess(masses, own - other - (ratio - 1) * other, float(np.abs(own - other).max()), n)


def two_levels(ratio: Fraction, share: Fraction, both: Fraction) -> Blanket:
    """Return the blanket of an oracle whose reports are ``ratio`` times as likely for the values that they support.

    ``share`` of the blanket supports a value, and ``both`` two given ones, the smallest of all pairs. That pair is the
    worst: less of ``both`` moves mass from reports for which the two are alike to those that tell them apart, and keeps
    the mean.
    """
    gamma = 1 / (share * ratio + 1 - share)
    apart, one = gamma * (share - both), Fraction(1)
    return Blanket(
        (
            BlanketClass(apart, ratio, one),
            BlanketClass(apart, one, ratio),
            BlanketClass(gamma * both, ratio, ratio),
            BlanketClass(gamma * (1 - 2 * share + both), one, one),
        )
    )


def two_levels_of(ratio: Fraction, p: Fraction, q: Fraction) -> Blanket:
    """Return the same from how likely a report supports its own value, ``p``, and another, ``q``.

    >>> response = two_levels(Fraction(3), Fraction(1, 2), Fraction(0))
    >>> two_levels_of(Fraction(3), Fraction(3, 4), Fraction(1, 4)) == response
    True
    """
    share = p / (ratio - p * (ratio - 1))
    gamma = 1 / (share * ratio + 1 - share)
    return two_levels(ratio, share, (q / gamma - share) / (ratio - 1) if ratio > 1 else share**2)


def by_bits(bits: int, set_bit: Fraction, clear_bit: Fraction) -> Blanket:
    """Return the blanket of a report of bits, of which a value sets some: ``bits`` at most, no two values the same.

    ``set_bit`` and ``clear_bit`` are how likely they are reported as 1. Fewer bits, or shared ones, only help.
    """
    gamma = ((1 - set_bit) / (1 - clear_bit)) ** bits
    odds = set_bit * (1 - clear_bit) / (clear_bit * (1 - set_bit))
    law = [comb(bits, k) * clear_bit**k * (1 - clear_bit) ** (bits - k) for k in range(bits + 1)]
    pairs = product(range(bits + 1), range(bits + 1))
    return Blanket(tuple(BlanketClass(gamma * law[a] * law[b], odds**a, odds**b) for a, b in pairs))
