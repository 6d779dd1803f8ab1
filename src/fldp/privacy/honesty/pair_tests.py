"""Pair tests: reports that support two values at once reveal fakes that support a set of targets together.

For two values v and w there is a score of a report whose mean is 0 whatever value its sender holds: nobody holds both.
A fake report that supports all of its targets has a score of 1 for every pair of them. So the sum of the scores over
all reports is the number of such fakes, plus noise of a known variance.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.kernels import U64
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.numerics.word_kernels import keyed_hash, multiply_high
from fldp.oracles import FHR, FWR, IDUE, OLH, SS, URAPPOR
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.support_counts import PureOracle, UnevenOracle
from fldp.oracles.plain.unary import UnaryOracle
from fldp.privacy.honesty.binomial_tests import IntegrityFinding, bennett

MAX_VALUES = 128  # with the largest estimates; p-values are corrected for all pairs of all values
_CELLS = 1 << 22
_NO_NOISE = 1e-9  # variance where two values cannot be supported together


@dataclass(frozen=True, eq=False)
class Scores:
    """Sums of the scores of all pairs of some values, and bounds on one score: its variance and its maximum."""

    values: NDArray[np.int64]
    sums: Floats
    variance: Floats
    most: float


@singledispatch
def pair_scores(oracle: Oracle, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
    """Return the scores of the pairs of these values, from reports or a tally; None if the oracle has none."""
    del oracle, tally, data, values
    return None


def judge_pairs(oracle: Oracle, tally: Tally, data: Array | None) -> Iterator[IntegrityFinding]:
    """Yield the finding of the worst pair, if the oracle has scores."""
    if not isinstance(oracle, FrequencyOracle) or pair_scores.dispatch(type(oracle)) is pair_scores.dispatch(Oracle):
        return
    scores = pair_scores(oracle, tally, data, most_supported(oracle, tally))
    if scores is None:
        return
    chances = log_chances(oracle, scores, tally.n)
    place = int(np.argmin(chances))
    one, two = scores.values[place // len(chances)], scores.values[place % len(chances)]
    excess = float(scores.sums.flat[place])
    yield IntegrityFinding(
        "pairs",
        "no two values are supported together more often than by chance",
        f"values {one} and {two}: {excess:,.0f} more than by chance",
        float(np.exp(chances.flat[place])),
        (int(one), int(two)),
    )


def log_chances(oracle: FrequencyOracle, scores: Scores, n: int) -> Floats:
    """Return the logarithm of the p-value of every pair, corrected for all pairs of all values."""
    pairs = oracle.domain_size * (oracle.domain_size - 1) / 2
    chances = bennett(scores.sums, n, scores.variance, scores.most) + np.log(pairs)
    np.fill_diagonal(chances, 0.0)
    return np.asarray(np.minimum(chances, 0.0))


def most_supported(oracle: FrequencyOracle, tally: Tally) -> NDArray[np.int64]:
    """Return the values with the largest estimates: targets, if any, are among them."""
    counts = oracle.decode(tally)
    return np.sort(np.argsort(-counts, kind="stable")[:MAX_VALUES])


@pair_scores.register(UnaryOracle)
@pair_scores.register(IDUE)
def _unary(oracle: UnaryOracle | IDUE, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
    def supported(part: Array) -> NDArray[Any]:
        return np.unpackbits(part, axis=1, count=oracle.domain_size, bitorder="little")[:, values]

    return _independent(oracle, tally, data, values, supported)


@pair_scores.register(URAPPOR)
def _named(oracle: URAPPOR, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
    return _independent(oracle, tally, data, values, lambda part: oracle.supported(part)[:, values])


@pair_scores.register(OLH)
def _hashed(oracle: OLH, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
    def supported(part: Array) -> NDArray[Any]:
        hashes = keyed_hash(part["seed"][:, None], values.astype(np.uint64))
        return np.asarray(multiply_high(hashes, U64(oracle.symbols)) == part["symbol"][:, None])

    return _independent(oracle, tally, data, values, supported)


def _independent(
    oracle: PureOracle | UnevenOracle, tally: Tally, data: Array | None, values: NDArray[np.int64], supported: Any
) -> Scores | None:
    """Score supports that are independent given the value, by the product of their excesses over the noise.

    Each factor is divided by the most that it can be. Its mean is 0 unless the value is held, and nobody holds both.
    """
    if data is None:
        return None
    p, q = (each[values] for each in oracle.chances[:2])
    both = _counted(oracle, data, values, supported)
    alone, scale = np.outer(np.diag(both), q), np.outer(1 - q, 1 - q)
    sums = (both - alone - alone.T + tally.n * np.outer(q, q)) / scale
    noise, held = q * (1 - q), p * (1 - p) + (p - q) ** 2
    most = np.maximum(np.outer(noise, noise), np.maximum(np.outer(held, noise), np.outer(noise, held)))
    return Scores(values, sums, np.maximum(most / scale**2, _NO_NOISE), max(1.0, float((np.outer(q, q) / scale).max())))


@pair_scores.register(SS)
def _subset(oracle: SS, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
    def supported(part: Array) -> NDArray[Any]:
        supports = np.zeros((len(part), oracle.domain_size), np.uint8)
        np.put_along_axis(supports, part.astype(np.int64), 1, axis=1)
        return supports[:, values]

    if oracle.size < 2:
        return None
    own = float(oracle.p) * (oracle.size - 1) / (oracle.domain_size - 1)
    return _together(oracle, tally, data, values, supported, (float(oracle.both_others()), own))


def _together(
    oracle: PureOracle, tally: Tally, data: Array | None, values: NDArray[np.int64], supported: Any, joint: Any
) -> Scores | None:
    """Score the supports: 1 for both, minus terms that make the mean 0 for holders of one or neither of the two.

    ``joint`` is how likely both are supported if neither is held, and if one is.
    """
    if data is None:
        return None
    both = _counted(oracle, data, values, supported)
    p, q, (neither, one) = float(oracle.p), float(oracle.q), joint
    slope = (one - neither) / (p - q)
    level = neither - 2 * slope * q
    alone = np.diag(both)
    scale = 1 - level - 2 * slope
    sums = (both - level * tally.n - slope * (alone[:, None] + alone)) / scale
    scores = np.array([1.0, -level - slope, -level - slope, -level]) / [1, scale, scale, scale]
    laws = ((neither, q - neither, q - neither, 1 - 2 * q + neither), (one, p - one, q - one, 1 - p - q + one))
    variance = max(float(np.dot(law, scores**2)) for law in laws)
    return Scores(values, sums, np.full(sums.shape, variance), float(scores.max()))


def _counted(oracle: FrequencyOracle, data: Array, values: NDArray[np.int64], supported: Any) -> Floats:
    """Count for every two values the reports that support both; on the diagonal, the supports of each."""
    both = np.zeros((len(values), len(values)))
    step = max(1, _CELLS // oracle.domain_size)
    for start in range(0, len(data), step):
        marks = supported(data[start : start + step]).astype(np.float32)
        both += marks.T @ marks
    return both


@pair_scores.register(FWR)
def _masks(oracle: FWR, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
    """The sign of a mask at the XOR of two items, a fair coin for honest masks; the mean over the masks."""
    del tally
    if data is None:
        return None
    signs = sum(walsh_hadamard(np.bincount(data[f"mask{j}"], minlength=oracle.rows)) for j in range(oracle.masks))
    items = oracle.items[values].astype(np.int64)
    sums = np.asarray(signs)[items[:, None] ^ items] / oracle.masks
    return Scores(values, sums, np.full(sums.shape, 1 / oracle.masks), 1.0)


@pair_scores.register(FHR)
def _pairs(oracle: FHR, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
    """A fake that is odd for two items is even for their difference, and has positions of one sign there.

    Where the difference stands for no value, the mask is a fair coin. Where it does, the two estimates of its count
    must agree: that from the masks is one too small for each fake, that from the signs is not.
    """
    del data
    signs, masks = walsh_hadamard(tally.state)
    c, items = float(1 / (2 * oracle.coin.p - 1)), oracle.value_items.astype(np.int64)
    used = np.isin(np.arange(oracle.walsh_order), items)
    apart = np.where(used, signs * (c / 2), 0.0) - masks
    variance = np.where(used, max(c * c / 2 + 1, c * c - 1), 1.0)
    differences = items[values, None] ^ items[values]
    return Scores(values, apart[differences], variance[differences], max(c - 1, 1.0))
