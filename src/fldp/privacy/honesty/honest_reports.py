"""Integrity tests by oracle: properties of honest reports whatever the data, on a tally and on the reports.

An oracle registers a function with ``of_tally`` or ``of_reports``; one without is not tested, and ``blind`` says so.
"""

import math
from collections.abc import Iterator
from functools import singledispatch
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.projective_geometry import hyperplane_sums
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles import FHR, FWR, HR, IDUE, OLH, PGR, URAPPOR, Grouped
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.support_counts import PureOracle, UnevenOracle
from fldp.oracles.plain.unary import UnaryOracle
from fldp.oracles.strings.count_mean_sketch import SketchOracle
from fldp.oracles.strings.rappor import RAPPOR
from fldp.oracles.unequal.utility import OTHER, UtilityOracle
from fldp.privacy.honesty.binomial_tests import IntegrityFinding, judge, judge_sum, judge_total

SUPPORTS = "every value is supported at least as often as by noise alone, and at most as often as if all held it"
UNUSED = "what stands for no value gets nothing but noise"


@singledispatch
def of_tally(oracle: Oracle, tally: Tally) -> Iterator[IntegrityFinding]:
    """Yield the findings of a tally."""
    del oracle, tally
    yield from ()


@singledispatch
def of_reports(oracle: Oracle, data: Array) -> Iterator[IntegrityFinding]:
    """Yield the findings of reports beyond those of their tally."""
    del oracle, data
    yield from ()


# --------------------------------------------------------------------------------------------- supports with p and q


@of_tally.register(PureOracle)
def _pure(oracle: PureOracle, tally: Tally) -> Iterator[IntegrityFinding]:
    """Pure LDP protocols: every support count has bounds."""
    if tally.state.shape == (oracle.domain_size,):
        yield _supports(tally.state, tally.n, float(oracle.q), float(oracle.p))


@of_tally.register(UnevenOracle)
def _uneven(oracle: UnevenOracle, tally: Tally) -> Iterator[IntegrityFinding]:
    """Every support count has bounds of its own."""
    high, low, _ = oracle.chances
    yield _supports(tally.state, tally.n, low, high)


@of_tally.register(UtilityOracle)
def _naming(oracle: UtilityOracle, tally: Tally) -> Iterator[IntegrityFinding]:
    """A report names at most one non-sensitive value, and only if its sender holds it."""
    yield from _uneven(oracle, tally)
    named = np.array([tally.state[oracle.kind_of == OTHER].sum()])
    claim = "no more reports name a value that is not sensitive than if nobody held a sensitive one"
    yield judge("names", claim, named, tally.n, 0.0, float(oracle.revealed), lambda _: "in all")


@of_tally.register(IDUE)
def _levels(oracle: IDUE, tally: Tally) -> Iterator[IntegrityFinding]:
    yield from _uneven(oracle, tally)
    yield _sum(oracle, tally)


@of_tally.register(URAPPOR)
def _bits_and_names(oracle: URAPPOR, tally: Tally) -> Iterator[IntegrityFinding]:
    yield from _naming(oracle, tally)
    yield _sum(oracle, tally)


def _sum(oracle: UnevenOracle, tally: Tally) -> IntegrityFinding:
    """Judge the sum over all estimates: a report adds 1 on average. Given the value, supports are independent."""
    p, q, gap = oracle.chances
    noise, held = q * (1 - q) / gap**2, p * (1 - p) / gap**2
    variance = float(noise.sum() + (held - noise).max())
    most = float(((1 - q) / gap).sum()) - 1, float((q / gap).sum()) + 1
    claim = "the estimates of all values add up to the number of reports"
    return judge_sum("total", claim, float(oracle.decode(tally).sum()), tally.n, variance, most)


def _supports(counts: NDArray[np.int64], n: int, low: float | Floats, high: float | Floats) -> IntegrityFinding:
    return judge("supports", SUPPORTS, counts, n, low, high)


@of_tally.register(UnaryOracle)
@of_tally.register(OLH)
def _independent(oracle: PureOracle, tally: Tally) -> Iterator[IntegrityFinding]:
    """Supports of one report are independent, so their number has a known law (OLH: with an ideal hash)."""
    p, q = float(oracle.p), float(oracle.q)
    yield _supports(tally.state, tally.n, q, p)
    claim = "all values together are supported as often as one true and many others are"
    yield judge_total("total", claim, int(tally.state.sum()), [(tally.n, p), (tally.n * (oracle.domain_size - 1), q)])


@of_reports.register(UnaryOracle)
def _weights(oracle: UnaryOracle, data: Array) -> Iterator[IntegrityFinding]:
    counts = np.bincount(np.bitwise_count(data).sum(axis=1), minlength=oracle.domain_size + 1)
    law = weight_law(oracle.domain_size, float(oracle.p), float(oracle.q))
    yield judge("weights", "reports have as many set bits as noise gives them", counts, len(data), law, law, _weight)


def _weight(bits: int) -> str:
    return f"{bits} set bits"


def weight_law(size: int, p: float, q: float) -> Floats:
    """Return the distribution of the number of set bits: one true bit, and all others.

    >>> weight_law(3, 0.5, 0.25).round(3)
    array([0.281, 0.469, 0.219, 0.031])
    """
    others = size - 1
    counts = range(size)
    logs = [math.lgamma(size) - math.lgamma(k + 1) - math.lgamma(size - k) for k in counts]
    noise = np.exp([log + k * math.log(q) + (others - k) * math.log1p(-q) for k, log in zip(counts, logs, strict=True)])
    return np.asarray(np.append(noise * (1 - p), 0.0) + np.append(0.0, noise * p))


# ----------------------------------------------------------------------------------------------------- public parts


@of_reports.register(OLH)
def _seeds(oracle: OLH, data: Array) -> Iterator[IntegrityFinding]:
    octets = np.ascontiguousarray(data["seed"]).astype("<u8").view(np.uint8).reshape(-1, 8)
    counts = np.concatenate([np.bincount(column, minlength=256) for column in octets.T])
    place = lambda cell: f"byte {cell // 256} is {cell % 256}"  # noqa: E731
    yield judge("seeds", "hash seeds are uniform", counts, len(data), 1 / 256, 1 / 256, place)
    yield _repeated(data["seed"])
    symbols = np.bincount(data["symbol"], minlength=oracle.symbols)
    share = 1 / oracle.symbols
    yield judge("symbols", "all symbols are equally frequent", symbols, len(data), share, share, "symbol {}".format)


def _repeated(seeds: Array) -> IntegrityFinding:
    """Judge the most frequent seed: ``k`` of ``n`` being the same has at most ``comb(n, k) 2^(-64 (k-1))`` chances."""
    distinct, counts = np.unique(seeds, return_counts=True)
    most, n = int(counts.max(initial=0)), len(seeds)
    chance = math.lgamma(n + 1) - math.lgamma(most + 1) - math.lgamma(n - most + 1) - 64 * (most - 1) * math.log(2)
    worst = f"seed {distinct[counts.argmax()]:#018x}: {most:,} of {n:,}" if most > 1 else f"none of {n:,}"
    p_value = math.exp(min(0.0, chance)) if most > 1 else 1.0
    return IntegrityFinding("repeats", "no hash seed comes twice", worst, p_value)


@of_tally.register(FWR)
def _agreements(oracle: FWR, tally: Tally) -> Iterator[IntegrityFinding]:
    """Count the reports that every item, used or not, agrees with: in the leak, and also in the symbol."""
    K, g, n = 1 << oracle.leaks, 1 << oracle.bits, tally.n
    used = np.zeros(oracle.rows, np.bool_)
    used[oracle.items] = True
    leak = np.full(oracle.rows, n) if K == 1 else _whole(walsh_hadamard(tally.state[0]) + n, K)
    full = _whole(walsh_hadamard(tally.state[-1]) + K * leak, K * g)
    if K > 1:
        yield from _rows("leak", leak, np.full(oracle.rows, n), used, (1 / K, 1.0))
    yield from _rows("supports", full, leak, used, (1 / g, float(oracle.coin.p)))


def _whole(sums: NDArray[np.int64], each: int) -> NDArray[np.int64]:
    """Divide sums exactly by a factor; -1, which is no number of reports, where they do not divide."""
    return np.where(sums % each, -1, sums // each)


def _rows(
    test: str,
    counts: NDArray[np.int64],
    trials: NDArray[np.int64],
    used: NDArray[np.bool_],
    bounds: tuple[float, float],
) -> Iterator[IntegrityFinding]:
    """Judge the items of values by both bounds, and unused items by the bound of noise alone."""
    low, high = bounds
    name = "item {}".format
    places, idle = np.flatnonzero(used), np.flatnonzero(~used)
    yield judge(test, SUPPORTS, counts[places], trials[places], low, high, lambda cell: name(places[cell]))
    if idle.size:
        yield judge(f"unused {test}", UNUSED, counts[idle], trials[idle], low, low, lambda cell: name(idle[cell]))


@of_reports.register(FWR)
def _masks(oracle: FWR, data: Array) -> Iterator[IntegrityFinding]:
    """Masks and XORs of two masks are uniform: each value, and each parity of its bits."""
    columns = {f"mask {j}": data[f"mask{j}"] for j in range(oracle.masks)}
    both = {f"{a} ^ {b}": columns[a] ^ columns[b] for a, b in combinations(columns, 2)}
    names = list(columns | both)
    tables = np.array([np.bincount(column, minlength=oracle.rows) for column in (columns | both).values()])
    D, n = oracle.rows, len(data)
    place = lambda cell: f"{names[cell // D]} is {cell % D}"  # noqa: E731
    yield judge("masks", "all masks are equally frequent", tables.ravel(), n, 1 / D, 1 / D, place)
    even = (n + walsh_hadamard(tables)[:, 1:]) // 2
    place = lambda cell: f"{names[cell // (D - 1)]} is even in the bits of {cell % (D - 1) + 1}"  # noqa: E731
    yield judge("parities", "every parity of a mask is a fair coin", even.ravel(), n, 0.5, 0.5, place)


# ----------------------------------------------------------------------------------------------------- positions


@of_tally.register(FHR)
def _masks_and_orders(oracle: FHR, tally: Tally) -> Iterator[IntegrityFinding]:
    """A mask is odd for its item and a fair coin for others; the order of the two positions is a coin, too."""
    D, n = oracle.rows.rows, tally.n
    used = np.arange(D) >= oracle.rows.first
    used[oracle.rows.first + oracle.domain_size :] = False
    signs, masks = tally.state
    claim = "no mask is more frequent than if all held a value that can have it"
    yield judge("masks", claim, -masks[1:], n, 0.0, 2 / D, lambda cell: f"mask {cell + 1}")
    odd = _whole(n + walsh_hadamard(masks), 2)
    first = _whole(2 * odd + walsh_hadamard(signs), 4)
    rest = np.arange(1, D)  # row 0 is constant
    yield from _rows("parities", odd[rest], np.full(D - 1, n), used[rest], (0.5, 1.0))
    yield from _rows("orders", first[rest], odd[rest], used[rest], (0.5, float(oracle.coin.p)))


@of_reports.register(FHR)
def _positions(oracle: FHR, data: Array) -> Iterator[IntegrityFinding]:
    D = oracle.rows.rows
    counts = np.concatenate([np.bincount(data[end], minlength=D) for end in ("plus", "minus")])
    low, high = (2 * float(share) / D for share in (oracle.coin.q, oracle.coin.p))
    claim = "every position is as frequent as for some value"
    place = lambda cell: f"position {cell % D}"  # noqa: E731
    yield judge("positions", claim, counts, len(data), low, high, place)


@of_tally.register(HR)
def _halves(oracle: HR, tally: Tally) -> Iterator[IntegrityFinding]:
    """Every symbol, and every half of a block where a row is +1, used or not, is as frequent as some value allows."""
    p, q = float(oracle.coin.p), float(oracle.coin.q)
    half = oracle.order // 2
    claim = "every symbol is as frequent as for some value"
    yield judge("symbols", claim, tally.state, tally.n, q / half, p / half, "symbol {}".format)
    lines = tally.state.reshape(oracle.blocks, -1)
    plus = (lines.sum(axis=1, keepdims=True) + walsh_hadamard(lines)) // 2
    values, near = oracle.from_rows(plus), (p + q) / 2
    low = q if oracle.blocks > 1 else near  # with one block, every other row halves every report
    yield _supports(values, tally.n, low, p)
    idle = plus[:, 1:].T.reshape(-1)[oracle.domain_size :]
    if idle.size:
        yield judge("unused rows", UNUSED, idle, tally.n, low, near, lambda cell: f"row {cell + oracle.domain_size}")


@of_tally.register(PGR)
def _points(oracle: PGR, tally: Tally) -> Iterator[IntegrityFinding]:
    p, q = float(oracle.coin.p), float(oracle.coin.q)
    claim = "every point is as frequent as for some value"
    yield judge("points", claim, tally.state, tally.n, q, p, "point {}".format)
    sums = hyperplane_sums(tally.state, oracle.space)
    yield _supports(sums[: oracle.domain_size], tally.n, float(oracle.q), float(oracle.p))
    idle, noise, name = sums[oracle.domain_size :], float(oracle.q), lambda cell: f"point {cell + oracle.domain_size}"
    if idle.size:
        yield judge("unused points", UNUSED, idle, tally.n, noise, noise, name)


@of_tally.register(RAPPOR)
def _filters(oracle: RAPPOR, tally: Tally) -> Iterator[IntegrityFinding]:
    """Given the permanent responses, every bit is a coin with p or q, even if the same people report every day."""
    low, high = sorted((float(oracle.coins.p), float(oracle.coins.q)))
    people, bits = np.repeat(tally.state[:, 0], oracle.bits), tally.state[:, 1:].ravel()
    claim = "every bit is set at least as often as by noise alone, and at most as often as if it were true for all"
    place = lambda cell: f"bit {cell % oracle.bits} of cohort {cell // oracle.bits}"  # noqa: E731
    yield judge("bits", claim, bits, people, low, high, place)


def judge_hashes(oracle: SketchOracle, tally: Tally) -> IntegrityFinding:
    """Judge whether all hash functions are equally frequent."""
    claim, share = "all hash functions are equally frequent", 1 / oracle.hashes
    return judge("hashes", claim, tally.state[:, 0], tally.n, share, share, "hash function {}".format)


def pooled(oracle: SketchOracle, tally: Tally, data: Array | None) -> tuple[Tally, Array | None]:
    """Return the tally and the reports over the buckets, pooled over hash functions: honest if the originals are."""
    state = tally.state[:, 1:].sum(axis=0).reshape(oracle.response.tally_format.shape)
    return Tally(oracle.response, state, tally.n), None if data is None else oracle.split(data)[1]


def parts_of(oracle: Grouped, tally: Tally, data: Array | None) -> Iterator[tuple[int, Tally, Array | None]]:
    """Yield the group, the tally and the reports of every non-empty group."""
    for group, inside in enumerate(oracle.split(tally)):
        if inside.n:
            yield group, inside, None if data is None else oracle.reports_in(group, data)
