"""Findings of integrity tests, with p-values that hold whatever the data.

Nearly every test is a list of *cells*. A cell counts in how many of its trials something happened, which in each of
them has a probability between ``low`` and ``high``, whatever value its sender holds. So the count lies between two
binomial variables, and both tails are exact. A test over many cells multiplies the least p-value by how many tails it
looked at.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fldp.numerics.binomial_bounds import incomplete_beta
from fldp.numerics.types import Floats
from fldp.oracles.base.claims import CellClaim, ChanceClaim, Claim, SumClaim, SumsClaim, TotalClaim

_STEPS = 200  # steps of a bisection


@dataclass(frozen=True)
class IntegrityFinding:
    """The worst cell of one test: the claim about honest reports, the observation, and its p-value.

    ``p_value`` covers the whole test: how often honest reports, of whatever values, look as odd as this anywhere in
    it, at most. ``values`` are those that it is about, if it is about any.

    >>> finding = judge("symbols", "each has a share of 0.1 to 0.5", [100, 900], 1000, 0.1, 0.5, "symbol {}".format)
    >>> finding.worst, finding.p_value < 1e-9
    ('symbol 1: 900 of 1,000, at most 500 expected', True)
    """

    test: str
    claim: str
    worst: str
    p_value: float
    values: tuple[int, ...] = ()


def judged(claim: Claim) -> IntegrityFinding:
    """Return the finding of a claim about honest reports."""
    return _JUDGES[type(claim)](*claim)


def judge(
    test: str,
    claim: str,
    counts: ArrayLike,
    trials: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    name: Callable[[int], str] | None = None,
) -> IntegrityFinding:
    """Return the finding of the cell that fits worst; ``low`` and ``high`` bound the probability of each trial.

    Cells without a name are values.
    """
    hits, n, lows, highs = np.broadcast_arrays(
        np.asarray(counts, np.int64), np.asarray(trials, np.int64), np.asarray(low, np.float64), np.asarray(high)
    )
    cell = int(np.argmin(log_bounds(hits, n, lows, highs)))
    count, of, least, most = int(hits[cell]), int(n[cell]), float(lows[cell]), float(highs[cell])
    p_value = min(1.0, 2 * hits.size * tail(count, of, least, most))  # each cell has two tails
    what, about = (f"value {cell}", (cell,)) if name is None else (name(cell), ())
    return IntegrityFinding(
        test, claim, f"{what}: {count:,} of {of:,}, {expected(count, of, least, most)}", p_value, about
    )


def expected(count: int, trials: int, low: float, high: float) -> str:
    """Say how many were expected of this many trials, at least or at most."""
    low, high = trials * low, trials * high
    if low == high:
        return f"{plain(low)} expected"
    return f"at least {plain(low)} expected" if count < low else f"at most {plain(high)} expected"


def plain(number: float) -> str:
    """Write a number of reports."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def log_bounds(counts: NDArray[np.int64], trials: NDArray[np.int64], low: Floats, high: Floats) -> Floats:
    """Return the logarithms of Chernoff bounds of the tails, to select the cell to examine.

    A count that is none, below 0 or above the trials, comes from a tally that no reports have: its chance is 0.

    >>> log_bounds(np.array([50, 90]), np.array([100, 100]), np.array([0.4, 0.4]), np.array([0.6, 0.6])).round(1)
    array([ -0. , -22.6])
    """
    possible = (counts >= 0) & (counts <= trials)
    share = np.divide(counts, trials, out=np.zeros(np.shape(counts)), where=possible & (trials > 0))
    nearest = np.clip(share, low, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        yes = np.where(share > 0, share * np.log(share / nearest), 0.0)
        no = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - nearest)), 0.0)
    return np.where(possible, -trials * (yes + no), -np.inf)


def tail(count: int, trials: int, low: float, high: float) -> float:
    """Return the exact binomial tail: an upper bound on the probability of a count as far outside as this one.

    >>> round(tail(0, 10, 0.5, 0.5) * 2**10, 9), tail(5, 10, 0.4, 0.6)
    (1.0, 1.0)
    """
    if not 0 <= count <= trials:
        return 0.0
    if count < trials * low:
        return incomplete_beta(1 - low, trials - count, count + 1)
    return incomplete_beta(high, count, trials - count + 1) if count > trials * high else 1.0


def judge_total(test: str, claim: str, total: int, parts: list[tuple[int, float]]) -> IntegrityFinding:
    """Judge the number of successes among independent trials of known probabilities, given as (trials, probability).

    The tail of such a sum has no short formula; Chernoff's bound is used instead, which is never too small.

    >>> judge_total("bits", "a known number", 560, [(1000, 0.5)]).worst
    'in all: 560, 500 expected'
    """
    mean = sum(trials * share for trials, share in parts)
    p_value = min(1.0, 2 * math.exp(_log_tail(total, parts, 1.0 if total > mean else -1.0)))
    return IntegrityFinding(test, claim, f"in all: {total:,}, {plain(mean)} expected", p_value)


def judge_sum(
    test: str, claim: str, total: float, n: int, variance: float, most: tuple[float, float]
) -> IntegrityFinding:
    """Judge a sum of ``n`` independent terms of mean 1, each of at most this variance.

    ``most`` is how far a term can be above its mean, and how far below it.

    >>> judge_sum("total", "a term is 1", 1300.0, 1000, 1.0, (3.0, 3.0)).worst
    'in all: 1,300, 1,000 expected'
    """
    above = total > n
    p_value = min(1.0, 2 * math.exp(float(bennett(abs(total - n), n, variance, most[0] if above else most[1]))))
    return IntegrityFinding(test, claim, f"in all: {plain(total)}, {plain(n)} expected", p_value)


def judge_sums(claim: SumsClaim) -> IntegrityFinding:
    """Judge many sums of independent terms of mean 0; each has two tails, by the bound of Bennett."""
    tails = [
        bennett(side * claim.sums, claim.n, claim.squares, most) for side, most in zip((1, -1), claim.most, strict=True)
    ]
    logs = np.minimum(*tails)
    return worst_sum(claim, int(np.argmin(logs)), 2 * len(logs) * math.exp(float(logs.min())))


def worst_sum(claim: SumsClaim, cell: int, p_value: float) -> IntegrityFinding:
    """Return the finding of the sum that fits worst, in words."""
    worst = f"{claim.name(cell)}: {claim.sums[cell] / claim.n:+.3f} of all reports, 0 expected"
    return IntegrityFinding(claim.test, claim.claim, worst, min(1.0, p_value))


def _log_tail(total: int, parts: list[tuple[int, float]], side: float) -> float:
    """Minimise the convex ``log E exp(s X) - s total`` over ``s`` of one sign, by bisection of its slope."""
    low, high = 0.0, 50.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        power = math.exp(side * middle)
        slope = side * (sum(n * p * power / (1 + p * (power - 1)) for n, p in parts) - total)
        low, high = (middle, high) if slope < 0 else (low, middle)
    s = side * low
    return sum(n * math.log1p(p * math.expm1(s)) for n, p in parts) - s * total


def bennett(excess: ArrayLike, trials: int, variance: float | Floats, most: float | Floats) -> Floats:
    """Return the log of Bennett's bound on the probability that independent terms of mean 0 sum to ``excess`` or more.

    Each term has at most this variance, and is at most ``most``.

    >>> bennett([0.0, 50.0, 100.0], 1000, 1.0, 1.0).round(1)
    array([-0. , -1.2, -4.8])
    """
    spread = trials * variance
    ratio = np.maximum(np.asarray(excess, np.float64), 0.0) * most / spread
    return np.asarray(-(spread / most**2) * ((1 + ratio) * np.log1p(ratio) - ratio))


_JUDGES: dict[type[Claim], Callable[..., IntegrityFinding]] = {
    CellClaim: judge,
    TotalClaim: judge_total,
    SumClaim: judge_sum,
    SumsClaim: lambda *parts: judge_sums(SumsClaim(*parts)),
    ChanceClaim: IntegrityFinding,
}
