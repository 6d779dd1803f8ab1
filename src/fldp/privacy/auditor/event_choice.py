"""Which event to test: the one that certifies the largest epsilon on the learning half."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import exp, inf, log, nextafter

import numpy as np

from fldp.numerics.binomial_bounds import wilson
from fldp.numerics.types import Floats
from fldp.privacy.auditor.events import Counts, Event, EventFamily, event


@dataclass(frozen=True)
class AuditedClaim:
    """What is tested: ``P(S) - e^epsilon P'(S) <= 1 - eta`` for every event S and every two values.

    >>> claim = AuditedClaim(1.0, 0.5)
    >>> round(claim.excess(0.9, 0.1), 3), round(claim.certified(0.9, 0.1), 3)
    (0.128, 1.386)
    """

    epsilon: float
    eta: float = 1.0

    @property
    def slack(self) -> float:
        """How much of one value's probability another value need not share."""
        return 1 - self.eta

    def excess(self, low: float, high: float) -> float:
        """Return by how much a lower bound of P(S) and an upper bound of P'(S) break the claim, if it is above zero.

        The power of e and the sum are rounded so that they never break it by themselves.
        """
        return low - high * nextafter(exp(self.epsilon), inf) - self.slack - 1e-12

    def certified(self, low: float, high: float) -> float:
        """Return the largest epsilon that the bounds leave impossible at this eta; 0 if they leave all possible."""
        left = low - self.slack - 1e-12
        return max(0.0, log(left / high)) if left > 0 else 0.0

    def ratios(self, low: Floats, high: Floats) -> Floats:
        """Return ``e^epsilon`` as the bounds certify it, for many events; negative where they say nothing."""
        return (low - self.slack) / np.maximum(high, 1e-300)


@dataclass(frozen=True)
class EventChoice:
    """An event, the two values to test it on, by their place, and what it certified on the learning half."""

    ratio: float
    value: int
    other: int
    event: Event


def best(choices: Iterable[EventChoice]) -> EventChoice | None:
    """Return the choice that certified the most; None if there is none."""
    return max(choices, key=lambda choice: choice.ratio, default=None)


def from_parts(
    parts: Sequence[EventFamily], counts: Sequence[Counts], trials: int, claim: AuditedClaim, z: float
) -> Iterator[EventChoice]:
    """Yield for every part and every two values the best event; ``counts`` has a row for each value."""
    for part, found in zip(parts, counts, strict=True):
        low, high = wilson(found, trials, z)
        for one, two in permutations(range(len(found)), 2):
            plain, opposite = claim.ratios(low[one], high[two]), claim.ratios(1 - high[one], 1 - low[two])
            for negated, ratios in ((False, plain), (True, opposite - 1e-9)):  # of equals, the plain one
                k = int(np.argmax(ratios))
                yield EventChoice(float(ratios[k]), one, two, event(part, k, negated))


def cut(mine: Floats, theirs: Floats, claim: AuditedClaim, z: float) -> tuple[float, float]:
    """Return what scores of at least ``c`` certify, and the best ``c``.

    >>> ratio, c = cut(np.repeat([0.0, 1.0], [20, 80]), np.repeat([0.0, 1.0], [80, 20]), AuditedClaim(1.0), 0.0)
    >>> round(ratio, 3), c
    (4.0, 1.0)
    """
    cuts = np.unique(np.concatenate([mine, theirs]))
    above = [len(scores) - np.searchsorted(np.sort(scores), cuts) for scores in (mine, theirs)]
    ratios = claim.ratios(wilson(above[0], len(mine), z)[0], wilson(above[1], len(theirs), z)[1])
    k = int(np.argmax(ratios))
    return float(ratios[k]), float(cuts[k])
