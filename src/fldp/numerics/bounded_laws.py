"""Laws that are known by a variance, and by the most that one report moves an estimate: tails and intervals.

Tails have Bernstein's form, and an interval has the error that the estimate would have at its end (Wilson). Where the
whole law of an estimate is known, ``fldp.numerics.count_laws`` has it.
"""

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.types import Floats


def normal_tail(z: Floats) -> Floats:
    """Return the probability that a standard normal variable exceeds ``z``.

    >>> normal_tail(np.array([0.0, 1.959964])).round(4).tolist()
    [0.5, 0.025]
    """
    flat = np.asarray(z, np.float64).ravel()
    return np.array([math.erfc(each / math.sqrt(2)) / 2 for each in flat.tolist()]).reshape(np.shape(z))


def bent(z: Floats | float, stderr: Floats | float, jump: Floats | float, slope: Floats | float = 0.0) -> Floats:
    """Return how far ``z`` standard errors reach where one report moves an estimate by ``jump``: Bernstein's form.

    The variance grows by ``slope`` for each unit on the way (Wilson): the error is the one ``s`` that the end has,
    ``s^2 = stderr^2 + slope z s``.

    >>> float(bent(3.0, 1.0, 0.2)), float(bent(2.0, 0.0, 0.0, 0.5))
    (3.3, 2.0)
    """
    half = z * np.asarray(slope, np.float64) / 2
    error = half + np.sqrt(half**2 + np.asarray(stderr, np.float64) ** 2)
    return np.asarray(z * error + z * z * np.asarray(jump) / 6)


def unbent(distance: Floats, stderr: Floats | float, jump: Floats | float, slope: Floats | float = 0.0) -> Floats:
    """Return how many standard errors reach this far: the inverse of ``bent``; 0 where there is no distance.

    >>> float(unbent(bent(3.0, 1.0, 0.2, 0.5), 1.0, 0.2, 0.5))
    3.0
    """
    steep, variance = np.asarray(slope, np.float64), np.asarray(stderr, np.float64) ** 2
    linear = 2 * distance * (steep / 2 + np.asarray(jump) / 6)
    root = np.sqrt(variance**2 + 2 * linear * variance + (distance * steep) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = 2 * np.asarray(distance, np.float64) ** 2 / (linear + variance + root)
    return np.sqrt(np.where(distance == 0, 0.0, squared))


class Steps(NamedTuple):
    """What an interval must know of an estimate beside its error.

    ``jump`` is how much one report moves it. ``rise`` and ``fall`` are by how much its variance grows for each unit
    that the truth is above it, or below: where nobody was asked who holds an answer, many may hold it.

    >>> [float(end) for end in Steps(rise=1.0).ends(2.0, 5.0, 0.0)]
    [5.0, 9.0]
    """

    jump: Floats | float = 0.0
    rise: Floats | float = 0.0
    fall: Floats | float = 0.0

    def ends(self, z: float, value: Floats | float, stderr: Floats | float) -> tuple[Floats, Floats]:
        """Return both ends of an interval that reaches ``z`` errors in either direction."""
        below, above = (bent(z, stderr, self.jump, slope) for slope in (self.fall, self.rise))
        return np.asarray(value - below), np.asarray(value + above)

    def errors_to(self, value: Floats, stderr: Floats | float) -> Floats:
        """Return how many errors lie between an estimate and 0."""
        return unbent(np.abs(value), stderr, self.jump, np.where(value > 0, self.fall, self.rise))

    def times(self, n: float) -> "Steps":
        """Return the steps of the estimate times ``n``: of a count, given those of a share."""
        return Steps(*(n * np.asarray(part) for part in self))

    def padded(self) -> "Steps":
        """Return the same with an entry before and one after, of estimates that are known exactly."""
        return Steps(*(np.pad(part, 1) if np.ndim(part) else part for part in self))


@dataclass(frozen=True, eq=False)
class Bounded:
    """Estimates whose law is known by its variance, and by ``jump``, the most that one report adds.

    Tails have Bernstein's form: what is ``z stderr + z^2 jump / 6`` away is ``z`` errors away. ``null`` is the error
    of a value that nobody holds; a test takes the larger one, and so does the lower end of an interval. ``slope`` is
    what a holder adds to the variance: the upper end is where the count would have to be, with the error that it would
    have there. ``fall`` is what somebody who holds another value adds, for the lower end.
    """

    values: NDArray[np.intp]
    counts: Floats
    null: Floats
    jump: Floats | float = 0.0
    slope: Floats | float = 0.0
    fall: Floats | float = 0.0

    @classmethod
    def of(cls, counts: Floats, null: Floats | float, jump: Floats | float = 0.0) -> "Bounded":
        """Return the estimates of all values."""
        return cls(np.arange(len(counts)), counts, np.broadcast_to(np.asarray(null, np.float64), counts.shape), jump)

    def moved(self, start: int) -> "Bounded":
        """Return the same of values that begin at ``start``."""
        return replace(self, values=self.values + start)

    def p_values(self, stderr: Floats) -> Floats:
        """Return how likely an estimate as large is for a value that nobody holds."""
        error = np.maximum(stderr, self.null)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(self.counts > 0, unbent(np.maximum(self.counts, 0.0), error, self.jump), self.counts / error)
        return normal_tail(np.nan_to_num(z, nan=0.0, posinf=np.inf, neginf=-np.inf))

    def interval(self, miss: float, counts: Floats, stderr: Floats) -> tuple[Floats, Floats]:
        """Return both ends."""
        return self.ends(NormalDist().inv_cdf(1 - miss / 2), counts, stderr)

    def ends(self, z: Floats | float, counts: Floats, stderr: Floats) -> tuple[Floats, Floats]:
        """Return both ends of an interval that reaches ``z`` errors in either direction."""
        low = counts - bent(z, np.maximum(stderr, self.null), self.jump, self.fall)
        return low, counts + bent(z, stderr, self.jump, self.slope)
