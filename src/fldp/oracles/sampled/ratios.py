"""Ratios of shares, such as shares among a part of the people, with intervals by Fieller's method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fldp.data.comparison import z_score
from fldp.data.dataframes import Columns, Framed
from fldp.numerics.bounded_laws import Steps
from fldp.numerics.types import Floats
from fldp.support.display import Displayed

if TYPE_CHECKING:
    from fldp.oracles.sampled.tables import Tables

Labels = tuple[str, ...] | None
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Ratios(Framed, Displayed):
    """Estimated ratios of shares, each with the two ends of its interval, cut to what is possible.

    ``shares``, ``low`` and ``high`` have the shape of the table. An interval of 0 to 1 says that the reports tell
    nothing about a ratio.
    """

    shares: Floats
    low: Floats
    high: Floats
    level: float
    labels: tuple[Labels, ...] = ()

    def _columns(self) -> Columns:
        places = np.indices(self.shares.shape).reshape(self.shares.ndim, -1)
        named: dict[str, Sequence[object]] = {}
        for axis, part in enumerate(places.tolist()):
            labels = self.labels[axis] if axis < len(self.labels) else None
            name = ("row", "column")[axis] if self.shares.ndim > 1 else "value"
            named[name] = part if labels is None else [labels[place] for place in part]
        ends = {"share": self.shares, "low": self.low, "high": self.high}
        return {**named, **{name: part.reshape(-1) for name, part in ends.items()}}

    def __repr__(self) -> str:
        return f"<{self.shares.size} ratios with {self.level:.0%} intervals>"


def ratios(
    tables: "Tables",
    questions: tuple[int, ...],
    pairs: Floats,
    level: float,
    shape: tuple[int, ...],
    labels: tuple[Labels, ...],
) -> Ratios:
    """Return ratios of linear combinations of a table's cells: ``pairs[k]`` has those above and below the line."""
    values, z = tables.shares(questions), z_score(level)
    above, below = pairs.reshape(*pairs.shape[:2], -1).transpose(1, 0, 2) @ values.reshape(-1)
    covariances = np.array([tables.larger_covariance(questions, pair) for pair in pairs])
    whole, part, rest = (
        tables.steps(questions, rows) for rows in (pairs[:, 1], pairs[:, 0], pairs[:, 0] - pairs[:, 1])
    )
    low, high = Gap(above, below, covariances, (part, rest)).ends(z)
    least, _ = whole.ends(z, below, np.sqrt(np.maximum(covariances[:, 1, 1], 0.0)))
    low, high = np.where(least > 0, low, 0.0), np.where(least > 0, high, 1.0)  # perhaps nobody is below the line
    shares = np.clip(np.divide(above, below, out=np.zeros_like(above), where=below != 0), 0, 1)
    return Ratios(shares.reshape(shape), low.reshape(shape), high.reshape(shape), level, labels)


@dataclass(frozen=True, eq=False)
class Gap:
    """``above - r below`` of some ratios: 0 at the true ``r``. ``steps`` are the gap's at ``r = 0`` and at ``r = 1``.

    A ratio is possible where 0 is in the interval of its gap (Fieller). Between 0 and 1, steps are interpolated. Most
    exact ones are smaller; some are larger, and tests count that misses stay rare.

    >>> gap = Gap(np.array([0.3]), np.array([0.6]), np.array([[[0.0004, 0.0002], [0.0002, 0.0004]]]))
    >>> [end.round(3).tolist() for end in gap.ends(1.96)]
    [[0.443], [0.557]]
    """

    above: Floats
    below: Floats
    covariances: Floats  # of both, a matrix each
    steps: tuple[Steps, Steps] = (Steps(), Steps())

    def ends(self, z: float) -> tuple[Floats, Floats]:
        """Return the least and the largest ratio that is possible, from 0 to 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = np.clip(np.nan_to_num(self.above / self.below), 0.0, 1.0)
        return self._end(0.0, middle, z), self._end(1.0, middle, z)

    def _end(self, limit: float, middle: Floats, z: float) -> Floats:
        """Return the limit where it is possible; else halve the way from it to the middle, again and again."""
        outside, inside = np.full(len(middle), limit), middle
        done = self._is_possible(outside, z)
        for _ in range(_HALVINGS):
            between = (outside + inside) / 2
            possible = self._is_possible(between, z)
            outside, inside = np.where(possible, outside, between), np.where(possible, between, inside)
        return np.where(done, limit, inside)

    def _is_possible(self, r: Floats, z: float) -> NDArray[np.bool_]:
        weights = np.stack([np.ones(len(r)), -r], axis=1)
        variance = np.einsum("ka,kab,kb->k", weights, self.covariances, weights)
        steps = Steps(
            *((1 - r) * np.asarray(first) + r * np.asarray(last) for first, last in zip(*self.steps, strict=True))
        )
        low, high = steps.ends(z, self.above - r * self.below, np.sqrt(np.maximum(variance, 0.0)))
        return (low <= 0) & (high >= 0)
