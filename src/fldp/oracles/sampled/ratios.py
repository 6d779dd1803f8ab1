"""Ratios of shares, such as shares among a part of the people, with intervals by Fieller's method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fldp.data.comparison import z_score
from fldp.data.dataframes import Columns, Framed
from fldp.numerics.types import Floats
from fldp.support.display import Displayed

if TYPE_CHECKING:
    from fldp.oracles.sampled.tables import Tables

Labels = tuple[str, ...] | None


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
    values = tables.shares(questions)
    parts = []
    for pair in pairs:
        above, below = (float((values * weights).sum()) for weights in pair)
        covariance = tables.larger_covariance(questions, pair)
        parts.append((above / below if below else np.nan, *fieller(above, below, covariance, z_score(level))))
    share, low, high = np.array(parts).T.reshape(3, *shape)
    return Ratios(np.clip(np.nan_to_num(share, nan=0.0), 0, 1), low, high, level, labels)


def fieller(above: float, below: float, covariance: Floats, z: float) -> tuple[float, float]:
    """Return what ratios of two normal variables are possible, cut to 0 to 1.

    The ratio ``r`` is possible where ``above - r below`` is within ``z`` standard errors of 0: a quadratic inequality.

    >>> low, high = fieller(0.3, 0.6, np.array([[0.0004, 0.0002], [0.0002, 0.0004]]), 1.96)
    >>> round(low, 3), round(high, 3)
    (0.443, 0.557)
    >>> fieller(0.3, 0.01, np.eye(2), 1.96)
    (0.0, 1.0)
    """
    (v_above, both), (_, v_below) = covariance
    a, b, c = below**2 - z**2 * v_below, above * below - z**2 * both, above**2 - z**2 * v_above
    inner = b**2 - a * c
    if a <= 0 or inner < 0:
        return 0.0, 1.0
    ends = np.clip([(b - np.sqrt(inner)) / a, (b + np.sqrt(inner)) / a], 0.0, 1.0)
    return float(ends[0]), float(ends[1])
