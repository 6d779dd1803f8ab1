"""Tests of integrity that hold at every look: for people who watch reports come in and may stop at any time.

Each test is a bet against honest reports that cannot win on average: a supermartingale that begins at 1, so it ever
exceeds 1/a with probability at most ``a`` (Ville). Its inverse is a p-value for all looks together. A bet is a mean of
bets on excesses of 16 sizes, since nobody knows how large one would be. It needs counts alone, so tallies do.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fldp.numerics.types import Floats
from fldp.oracles.base.claims import CellClaim, ChanceClaim, Claim, SumClaim, SumsClaim, TotalClaim
from fldp.privacy.honesty.binomial_tests import IntegrityFinding, expected, plain, worst_sum

SIZES = np.geomspace(1e-3, 1.0, 16)  # of excesses, in standard errors of a trial
_MAX_LOG = 700.0


def log_bets(counts: Floats, trials: Floats, low: Floats, high: Floats) -> Floats:
    """Return the logarithms of the bets on counts above ``high`` and below ``low``, two rows with a column per cell.

    >>> log_bets(*(np.array([part]) for part in (590.0, 1000.0, 0.4, 0.5))).round(1).ravel()
    array([13.4, -2.1])
    """
    above = _bets(counts, trials, high)
    below = _bets(trials - counts, trials, 1 - low)
    impossible = (counts < 0) | (counts > trials)
    return np.where(impossible, np.inf, np.stack([above, below]))


def _bets(counts: Floats, trials: Floats, most: Floats) -> Floats:
    """Bet on probabilities above ``most``, at most half the way to 1: beyond, every stream would win."""
    with np.errstate(divide="ignore", invalid="ignore"):
        size = SIZES[:, None] * np.sqrt(most * (1 - most))
        theta = np.minimum(most + size, (1 + most) / 2)
        won = counts * np.log(theta / most) + (trials - counts) * np.log((1 - theta) / (1 - most))
    return np.where((most > 0) & (most < 1), _mean(won), np.where((most <= 0) & (counts > 0), np.inf, 0.0))


def _mean(logs: Floats) -> Floats:
    """Return the logarithm of the mean over the first axis."""
    most = np.max(logs, axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(most + np.log(np.mean(np.exp(logs - most), axis=0)))


def sum_bets(excess: ArrayLike, trials: int, variance: float | Floats, most: float | Floats) -> Floats:
    """Return the logarithm of the bet that independent terms of mean 0 add up to more (Bennett)."""
    more, spread = np.asarray(excess, np.float64), np.asarray(variance, np.float64)
    rate = np.minimum(SIZES.reshape(-1, *[1] * more.ndim) / np.sqrt(spread), 1 / most)
    return _mean(rate * more - trials * spread / most**2 * (np.expm1(rate * most) - rate * most))


def chance(log_bet: float, tests: float) -> float:
    """Return the p-value of the best of this many bets."""
    return min(1.0, tests * math.exp(-min(log_bet, _MAX_LOG)))


def judge_cells(claim: CellClaim) -> IntegrityFinding:
    """Return the finding of the cell that fits worst; every cell has two bets."""
    counts, trials, low, high = np.broadcast_arrays(
        *(np.asarray(part, np.float64) for part in (claim.counts, claim.trials, claim.low, claim.high))
    )
    bets = log_bets(counts.ravel(), trials.ravel(), low.ravel(), high.ravel()).max(axis=0)
    cell = int(np.argmax(bets))
    seen = int(counts.flat[cell]), int(trials.flat[cell])
    what, about = (f"value {cell}", (cell,)) if claim.name is None else (claim.name(cell), ())
    worst = f"{what}: {seen[0]:,} of {seen[1]:,}, {expected(*seen, float(low.flat[cell]), float(high.flat[cell]))}"
    return IntegrityFinding(claim.test, claim.claim, worst, chance(float(bets[cell]), 2 * bets.size), about)


def judge_total(claim: TotalClaim) -> IntegrityFinding:
    """Bet on the number of successes among independent trials of known probabilities."""
    shares = np.array([share for _, share in claim.parts])
    trials = np.array([float(count) for count, _ in claim.parts])
    deviation = math.sqrt(float(trials @ (shares * (1 - shares))) / max(trials[0], 1.0))
    rates = np.concatenate([SIZES, -SIZES]) / max(deviation, 1e-300)
    won = rates * claim.total - np.log1p(shares * np.expm1(rates)[:, None]) @ trials
    bet = float(_mean(won.reshape(2, -1).T).max())
    worst = f"in all: {claim.total:,}, {plain(float(trials @ shares))} expected"
    return IntegrityFinding(claim.test, claim.claim, worst, chance(bet, 2))


def judge_sum(claim: SumClaim) -> IntegrityFinding:
    """Bet on a sum of independent terms of mean 1."""
    excess = claim.total - claim.n
    bets = [
        sum_bets(side * excess, claim.n, claim.variance, most) for side, most in zip((1, -1), claim.most, strict=True)
    ]
    worst = f"in all: {plain(claim.total)}, {plain(claim.n)} expected"
    return IntegrityFinding(claim.test, claim.claim, worst, chance(float(np.max(bets)), 2))


def judge_sums(claim: SumsClaim) -> IntegrityFinding:
    """Bet on many sums of independent terms of mean 0; each has two bets."""
    sides = zip((1, -1), claim.most, strict=True)
    bets = np.max([sum_bets(side * claim.sums, claim.n, claim.squares, most) for side, most in sides], axis=0)
    return worst_sum(claim, int(np.argmax(bets)), chance(float(bets.max()), 2 * len(bets)))


def judge_chance(claim: ChanceClaim, n: int) -> IntegrityFinding:
    """Take the p-value of something that repeats for the first power of two of reports from ``n`` on.

    What repeats ``k`` times among ``n`` reports of 64 random bits does so with at most ``n^k 2^(-64 (k-1))`` chances,
    from which ``k`` follows; twice the reports have ``2^k`` times that. The powers share the error.
    """
    power = max(1, (n - 1).bit_length())
    if claim.p_value >= 1 or power >= 63:
        return IntegrityFinding(*claim)
    repeats = (64 - math.log2(max(claim.p_value, 1e-300))) / (64 - power)
    return IntegrityFinding(*claim[:3], min(1.0, claim.p_value * 2**repeats * power * (power + 1)))


def judged_anytime(claim: Claim, n: int) -> IntegrityFinding:
    """Return the finding of a claim about honest reports, for every look."""
    if isinstance(claim, ChanceClaim):
        return judge_chance(claim, n)
    judge: Callable[..., IntegrityFinding] = _JUDGES[type(claim)]
    return judge(claim)


_JUDGES: dict[type, Callable[..., IntegrityFinding]] = {
    CellClaim: judge_cells,
    TotalClaim: judge_total,
    SumClaim: judge_sum,
    SumsClaim: judge_sums,
}
