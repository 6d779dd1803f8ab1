"""Choice of the event to test: the one that certifies the largest epsilon on the learning half."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import exp, inf, log, nextafter

import numpy as np

from fldp.numerics.binomial_bounds import wilson
from fldp.numerics.types import Floats
from fldp.privacy.auditor.events import Counts, Event, EventFamily, event

_MAX_EXPONENT = 700.0  # beyond which a float cannot hold the power of e


@dataclass(frozen=True)
class AuditedClaim:
    """The claim under test: ``P(S) - e^epsilon P'(S) <= 1 - eta`` for every event S and every two values.

    >>> claim = AuditedClaim(1.0, 0.5)
    >>> round(claim.excess(0.9, 0.1), 3), round(claim.certified(0.9, 0.1), 3)
    (0.128, 1.386)
    """

    epsilon: float
    eta: float = 1.0

    @property
    def slack(self) -> float:
        """The probability mass of one value that another value need not share."""
        return 1 - self.eta

    def excess(self, low: float, high: float) -> float:
        """Return the excess of a lower bound of P(S) over the claim, given an upper bound of P'(S); above 0 breaks it.

        The power of e and the sum are rounded so that they never break it by themselves.
        """
        return low - high * nextafter(exp(min(self.epsilon, _MAX_EXPONENT)), inf) - self.slack - 1e-12

    def certified(self, low: float, high: float) -> float:
        """Return the largest epsilon that the bounds refute at this eta; 0 if they refute none."""
        left = low - self.slack - 1e-12
        return max(0.0, log(left / high)) if left > 0 else 0.0

    def ratios(self, low: Floats, high: Floats) -> Floats:
        """Return the certified ``e^epsilon`` of many events; negative where the bounds certify nothing."""
        return (low - self.slack) / np.maximum(high, 1e-300)


@dataclass(frozen=True)
class EventChoice:
    """An event, the positions of the two values to test it on, and the ratio it certified on the learning half."""

    ratio: float
    value: int
    other: int
    event: Event


def best(choices: Iterable[EventChoice]) -> EventChoice | None:
    """Return the choice with the largest certified ratio; None if there is none."""
    return max(choices, key=lambda choice: choice.ratio, default=None)


def from_parts(
    parts: Sequence[EventFamily], counts: Sequence[Counts], trials: int, claim: AuditedClaim, z: float
) -> Iterator[EventChoice]:
    """Yield for every part and every two values the best event; ``counts`` has a row for each value."""
    for part, table in zip(parts, counts, strict=True):
        low, high = wilson(table, trials, z)
        for value, other in permutations(range(len(table)), 2):
            plain, opposite = claim.ratios(low[value], high[other]), claim.ratios(1 - high[value], 1 - low[other])
            for negated, ratios in ((False, plain), (True, opposite - 1e-9)):  # ties go to the plain event
                k = int(np.argmax(ratios))
                yield EventChoice(float(ratios[k]), value, other, event(part, k, negated))


def cut(own: Floats, others: Floats, claim: AuditedClaim, z: float) -> tuple[float, float]:
    """Return what scores of at least ``c`` certify, and the best ``c``.

    >>> ratio, c = cut(np.repeat([0.0, 1.0], [20, 80]), np.repeat([0.0, 1.0], [80, 20]), AuditedClaim(1.0), 0.0)
    >>> round(ratio, 3), c
    (4.0, 1.0)
    """
    cuts = np.unique(np.concatenate([own, others]))
    above = [len(scores) - np.searchsorted(np.sort(scores), cuts) for scores in (own, others)]
    ratios = claim.ratios(wilson(above[0], len(own), z)[0], wilson(above[1], len(others), z)[1])
    k = int(np.argmax(ratios))
    return float(ratios[k]), float(cuts[k])
