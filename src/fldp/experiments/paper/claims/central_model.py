"""What a published count of FHR, decoded as in the paper, tells about one user: the central view of Lemma 2."""

from functools import cache
from math import exp

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.randomness.stream import Stream


def steps(oracle: FrequencyOracle) -> tuple[Floats, Floats]:
    """Return how likely a report adds -1, 0 or 1 to the sum behind the count of value 0: from holders, from others.

    >>> import fldp
    >>> [row.round(3).tolist() for row in steps(fldp.FHR(epsilon=1.0, domain_size=7))]
    [[0.269, 0.0, 0.731], [0.25, 0.5, 0.25]]
    """
    sums = {report: _sum(oracle, report) for value in (0, 1) for report in analysis(oracle).law(value)}
    shares = np.zeros((2, 3))
    for value in (0, 1):
        for report, share in analysis(oracle).law(value).items():
            shares[value, sums[report] + 1] += float(share)
    return shares[0], shares[1]


def _sum(oracle: FrequencyOracle, report: object) -> int:
    estimate = oracle.estimate(oracle.tally(oracle.report_format.report(report)[None]), decoder="paper")
    return round(float(estimate.counts[0]) * _scale(oracle))


@cache
def _scale(oracle: FrequencyOracle) -> float:
    """Return by what the decoder divides the sum: 2p - 1, from the law."""
    law = analysis(oracle).law(0)
    p = float(max(law.values()))
    q = float(min(law.values()))
    return (p - q) / (p + q)


def delta(oracle: FrequencyOracle, *, users: int, holders: int, epsilon: float) -> float:
    """Return the least delta of central (epsilon, delta)-DP for the published count of a value.

    One of ``holders`` of the value, out of all ``users``, changes to another value.

    >>> import fldp
    >>> round(delta(fldp.FHR(epsilon=1.0, domain_size=7), users=50, holders=50, epsilon=3.0), 6)
    0.5
    """
    own, other = steps(oracle)
    before = _law(own, holders, other, users - holders)
    after = _law(own, holders - 1, other, users - holders + 1)
    return max(_excess(before, after, epsilon), _excess(after, before, epsilon))


def _excess(one: Floats, other: Floats, epsilon: float) -> float:
    return float(np.maximum(one - exp(epsilon) * other, 0).sum())


def _law(own: Floats, holders: int, other: Floats, others: int) -> Floats:
    """Return the law of the sum over all users, from -users to users: a product of as many polynomials.

    What the transform leaves of an exact zero is cut off; so is what is less likely than one in 1e14.
    """
    size = 2 * (holders + others) + 1
    powers = np.fft.rfft(own, size) ** holders * np.fft.rfft(other, size) ** others
    law = np.fft.irfft(powers, size)
    return np.where(law < 1e-14, 0.0, law)


def parity_seen(oracle: FrequencyOracle, users: int, trials: int, stream: Stream) -> tuple[float, float]:
    """Return how often a wrong parity of the sum shows that one of ``users`` changed, and how often it errs.

    Real reports, real decoder: all but perhaps one user hold value 0.
    """
    same, changed = np.zeros(users, np.int64), np.zeros(users, np.int64)
    changed[0] = 1
    odd = [[_odd(oracle, values, stream) for _ in range(trials)] for values in (changed, same)]
    seen, false = (float(np.mean([parity != users % 2 for parity in row])) for row in odd)
    return seen, false


def _odd(oracle: FrequencyOracle, values: NDArray[np.int64], stream: Stream) -> int:
    tally = oracle.tally(oracle.privatize(values, rng=stream))
    return round(float(oracle.estimate(tally, decoder="paper").counts[0]) * _scale(oracle)) % 2
