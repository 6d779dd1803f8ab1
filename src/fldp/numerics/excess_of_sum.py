"""An upper bound on how far a sum of independent steps exceeds zero on average, from its characteristic function.

Every step is split into its two neighbours on a lattice, in the proportion that keeps its mean. That is a
mean-preserving spread, so the mean of ``max(0, sum)`` can only grow: whatever the lattice, the result is an upper
bound. The law of the sum modulo the length of a window follows from powers of the characteristic function. What lies
outside the window has a probability below ``e^-46`` by Bernstein's inequality, and is added.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.types import Floats

_OUTSIDE = 46.0  # minus the logarithm of the probability outside the window
_NEGLIGIBLE = 80.0  # minus the logarithm of a power that no sum shows
_SPREAD = 0.002  # of the variance: what the lattice may add to it
_MAX_FREQUENCIES, _MAX_FINENESS = 1 << 16, 1 << 20
_PART = 1 << 14  # frequencies at once


def mean_excess(chances: Floats, steps: Floats, unit: float, n: int) -> float:
    """Bound ``E[max(0, S)] / n``, with ``S`` the sum of ``n`` draws of ``steps`` by these chances, 0 with the rest.

    The mean of a step must not be positive. ``unit`` is a length that many steps are near to multiples of.

    >>> half = np.array([0.5, 0.5])
    >>> exact = 30 * math.comb(60, 30) / 2**60 / 60  # a fair walk of 60 steps
    >>> round(mean_excess(half, np.array([1.0, -1.0]), 1.0, 60) / exact, 9)
    1.0
    """
    lattice = _lattice(chances, steps, unit, n)
    far = float(np.maximum(steps, 0).max(initial=0.0)) * math.exp(-_OUTSIDE) * 2
    if lattice is None:
        return float(chances @ np.maximum(steps, 0))  # the excess of every step by itself
    return lattice.excess(n) * lattice.step / n + far


@dataclass(frozen=True, eq=False)
class Lattice:
    """Moves on a lattice with their chances, and the window of points that their sum stays in."""

    step: float
    moves: NDArray[np.int64]
    chances: Floats
    low: int
    points: int
    frequencies: int  # that matter

    def excess(self, n: int) -> float:
        """Return the mean of ``max(0, sum)`` in steps of the lattice."""
        top, total = self.low + self.points - 1, 0.0
        for start in range(0, self.frequencies if top > 0 else 0, _PART):
            turns = np.arange(start, min(self.frequencies, start + _PART))
            places = (turns[:, None] * (self.moves % self.points)[None]) % self.points
            angles = places.astype(np.float64) * (2 * math.pi / self.points)
            powers = np.exp(n * np.log1p(_less_one(angles, self.chances)))
            twice = np.where((turns == 0) | (2 * turns == self.points), 1.0, 2.0)  # the spectrum is symmetric
            total += float((twice * (powers * _ramp(turns, top, self.points)).real).sum())
        return max(0.0, total / self.points)


def _lattice(chances: Floats, steps: Floats, unit: float, n: int) -> Lattice | None:
    """Return the coarsest lattice that adds little variance, or the finest that is affordable; None if none is."""
    variance = float(chances @ steps**2) - float(chances @ steps) ** 2
    coarser, fineness = None, 1
    while fineness <= _MAX_FINENESS and variance > 0:
        finer = _on_lattice(chances, steps, unit / fineness, n)
        if finer.frequencies > _MAX_FREQUENCIES:
            break
        coarser = finer
        if _added(chances, steps / coarser.step) * coarser.step**2 <= _SPREAD * variance:
            break
        fineness *= 2
    return coarser


def _on_lattice(chances: Floats, steps: Floats, step: float, n: int) -> Lattice:
    moves, weights = _split(chances, steps, step)
    low, points = _window(moves, weights, n)
    return Lattice(step, moves, weights, low, points, _frequencies(moves, weights, n, points))


def _added(chances: Floats, places: Floats) -> float:
    """Return the variance that splitting adds, in units of the lattice."""
    above = places - np.floor(places)
    return float(chances @ (above * (1 - above)))


def _length(variance: float, most: float, n: int) -> float:
    """Return the half-width of a window that the sum leaves with probability at most ``2 e^-46`` (Bernstein)."""
    linear = 2 * most * _OUTSIDE / 3
    return linear + math.sqrt(linear**2 + 2 * _OUTSIDE * n * variance)


def _split(chances: Floats, steps: Floats, step: float) -> tuple[NDArray[np.int64], Floats]:
    """Return the moves on the lattice and their chances; standing still, which has the rest, is left out."""
    below = np.floor(steps / step)
    above = steps / step - below
    moves = np.concatenate([below, below + 1]).astype(np.int64)
    weights = np.concatenate([chances * (1 - above), chances * above])
    kept = (weights > 0) & (moves != 0)
    distinct, places = np.unique(moves[kept], return_inverse=True)
    return distinct, np.bincount(places, weights[kept], minlength=len(distinct)).astype(np.float64)


def _window(moves: NDArray[np.int64], weights: Floats, n: int) -> tuple[int, int]:
    """Return the lowest point of the window, and the number of its points."""
    mean = float(weights @ moves)
    length = _length(float(weights @ moves.astype(np.float64) ** 2) - mean**2, float(np.abs(moves).max()) + 1, n)
    low = math.floor(n * mean - length)
    return low, math.ceil(n * mean + length) + 1 - low


def _frequencies(moves: NDArray[np.int64], weights: Floats, n: int, points: int) -> int:
    """Return how many frequencies, from 0 on, have a power that may matter.

    Two neighbouring moves with chances u and v make the characteristic function at angle t at most the root of
    ``1 - 2uv(1 - cos t)``.
    """
    chance = dict(zip(moves.tolist(), weights.tolist(), strict=True))
    chance[0] = max(0.0, 1 - float(weights.sum()))
    pair = max(chance[move] * chance.get(move + 1, 0.0) for move in chance)
    needed = -math.expm1(-2 * _NEGLIGIBLE / n) / (2 * pair) if pair else 2.0  # of 1 - cos t
    share = math.acos(1 - needed) / (2 * math.pi) if needed < 2 else 0.5
    return min(points // 2, math.ceil(points * share)) + 1


def _less_one(angles: Floats, weights: Floats) -> NDArray[np.complex128]:
    """Return the characteristic function less 1, without cancellation."""
    return np.asarray(-2 * np.sin(angles / 2) ** 2 @ weights + 1j * (np.sin(angles) @ weights))


def _ramp(turns: NDArray[np.int64], top: int, points: int) -> NDArray[np.complex128]:
    """Return ``sum of t z^t`` for t from 1 to ``top``, ``z = e^(-i angle)`` of each frequency."""
    turn = 2 * math.pi / points
    z, last = np.exp(-1j * turn * turns), np.exp(-1j * turn * (turns * top % points))
    gap = 2 * np.sin(turn * turns / 2) * 1j * np.exp(-0.5j * turn * turns)  # 1 - z
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = z * (1 - last - top * last * gap) / gap**2
    return np.where(turns == 0, top * (top + 1) / 2, sums)
