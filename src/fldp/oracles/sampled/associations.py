"""Independence and association of two questions, corrected for the noise of the reports.

``r``, the table less the product of its margins, is 0 where two answers are independent. The margins come from all
views. The covariance of ``r`` has a first-order part, each view's covariance at independence through the linear map of
``r``, and a second-order part, from the product of the two margins' errors. Without them, the chi-square test of
estimated counts calls independent questions associated nearly always.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fldp.data.comparison import POPULATION, holm, z_score
from fldp.data.dataframes import Columns, Framed, by_column
from fldp.data.projections import METHODS
from fldp.numerics.chi_square import chi_square_tail, noncentrality_with
from fldp.numerics.types import Floats
from fldp.support.display import Displayed
from fldp.support.validation import fraction

if TYPE_CHECKING:
    from fldp.oracles.sampled.tables import Tables

Pair = tuple[int, int]
_norm_sub = METHODS["norm-sub"]
_LEAST = 1e-6  # of a share in place of 0 below the line


class Independence(NamedTuple):
    """A test of independence: the statistic, its degrees of freedom, and how often chance alone exceeds it."""

    statistic: float
    df: int
    p_value: float


class Association(NamedTuple):
    """Cramer's V, from 0 (independent) to 1, and its interval, which for more than two answers each is approximate."""

    v: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Associations(Framed, Displayed):
    """The tests and associations of all pairs of questions; ``adjusted`` p-values hold for all pairs at once (Holm)."""

    names: tuple[tuple[str, str], ...]
    tests: tuple[Independence, ...]
    found: tuple[Association, ...]
    adjusted: Floats
    level: float

    @property
    def significant(self) -> list[tuple[str, str]]:
        """The pairs that go together; with the probability ``level``, none is named that does not."""
        pairs = zip(self.names, self.adjusted, strict=True)
        return [names for names, p_value in pairs if p_value <= 1 - self.level]

    def __iter__(self) -> Iterator[tuple[tuple[str, str], Independence, Association, float]]:
        return iter(zip(self.names, self.tests, self.found, self.adjusted.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.names)

    def _columns(self) -> Columns:
        keys = ("first", "second", "statistic", "df", "p_value", "adjusted", "v", "low", "high")
        rows = [dict(zip(keys, (*names, *test, adjusted, *one), strict=True)) for names, test, one, adjusted in self]
        return by_column(keys, rows)

    def __repr__(self) -> str:
        return f"<associations of {len(self)} pairs of questions, {len(self.significant)} significant>"


@dataclass(frozen=True, eq=False)
class Residual:
    """``r`` in contrasts of the two questions, with its covariance, and the quadratic form of Cramer's V."""

    shape: tuple[int, int]
    contrasts: Floats  # from cells to (d_a - 1)(d_b - 1) coordinates
    r: Floats  # in these
    covariance: Floats
    form: Floats

    @property
    def df(self) -> int:
        """The degrees of freedom."""
        return len(self.r)


def residual(tables: "Tables", pair: Pair) -> Residual:
    """Return the deviation from independence, and its covariance over the population at independence."""
    shares = tables.shares(pair)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    g, h = (np.maximum(_norm_sub(margin, 1.0), _LEAST) for margin in (rows, columns))
    g, h = g / g.sum(), h / h.sum()
    contrasts = np.asarray(np.kron(_contrasts(len(g)), _contrasts(len(h))), np.float64)
    maps = contrasts @ _deviation(g, h)
    first = tables.covariance(pair, maps.reshape(-1, *shares.shape), people=POPULATION, held={pair: np.outer(g, h)})
    margins = [tables.covariance((question,), people=POPULATION) for question in pair]
    second = contrasts @ np.kron(*margins) @ contrasts.T
    # An answer that hardly anybody gave would decide the association, and by its noise alone.
    usual = [np.maximum(margin, np.sqrt(np.diag(noise))) for margin, noise in zip((g, h), margins, strict=True)]
    form = contrasts @ np.diag(1 / np.outer(*usual).reshape(-1)) @ contrasts.T / (min(shares.shape) - 1)
    r = contrasts @ (shares - np.outer(rows, columns)).reshape(-1)
    return Residual((len(g), len(h)), contrasts, r, first + second, form)


def _deviation(g: Floats, h: Floats) -> Floats:
    """Return the linear map from a table to its deviation from independence, near these margins."""
    rows, columns = (np.eye(len(margin)) - np.outer(margin, np.ones(len(margin))) for margin in (g, h))
    return np.asarray(np.kron(rows, columns), np.float64)


def _contrasts(size: int) -> Floats:
    """Return orthonormal rows that add up to 0 each (Helmert).

    >>> bool(np.allclose(_contrasts(4) @ _contrasts(4).T, np.eye(3))), bool(np.allclose(_contrasts(4).sum(axis=1), 0))
    (True, True)
    """
    rows = np.zeros((size - 1, size))
    for k in range(1, size):
        rows[k - 1, :k], rows[k - 1, k] = 1.0, -k
        rows[k - 1] /= sqrt(k * (k + 1))
    return rows


def independence(tables: "Tables", pair: Pair) -> Independence:
    """Test the independence of two questions."""
    return _tested(residual(tables, pair))


def _tested(residual: Residual) -> Independence:
    statistic = float(residual.r @ np.linalg.solve(residual.covariance, residual.r))
    return Independence(statistic, residual.df, chi_square_tail(statistic, residual.df))


def association(tables: "Tables", pair: Pair, level: float = 0.95) -> Association:
    """Return Cramer's V without the part that is noise, and an interval.

    With two answers each the interval inverts the noncentral chi-square law of the test. Otherwise it is the hull of
    that and of the normal interval of V squared: each alone fails somewhere.
    """
    return _measured(residual(tables, pair), fraction("association", "level", level))


def _measured(residual: Residual, level: float) -> Association:
    noise = residual.form @ residual.covariance
    squared = float(residual.r @ residual.form @ residual.r) - float(np.trace(noise))
    statistic, scale = _tested(residual).statistic, float(np.trace(noise)) / residual.df
    low, high = (
        scale * noncentrality_with(tail, statistic, residual.df) for tail in ((1 - level) / 2, (1 + level) / 2)
    )
    if residual.df > 1:
        slope = residual.form @ residual.r
        variance = 4 * float(slope @ residual.covariance @ slope) + 2 * float(np.trace(noise @ noise))
        reach = z_score(level) * sqrt(variance)
        low, high = min(low, squared - reach), max(high, squared + reach)
    v, low, high = (sqrt(min(1.0, max(0.0, part))) for part in (squared, low, high))
    return Association(v, low, high)


def all_associations(tables: "Tables", level: float) -> Associations:
    """Return the associations of all pairs that some view has and people reported about."""
    pairs = [(a, b) for a, b in tables.crosses if tables.has((a, b))]
    residuals = [residual(tables, pair) for pair in pairs]
    tests = tuple(map(_tested, residuals))
    miss = fraction("associations", "level", level)
    measured = tuple(_measured(each, miss) for each in residuals)
    adjusted = holm(np.array([test.p_value for test in tests])) if tests else np.zeros(0)
    return Associations(tuple((tables.names[a], tables.names[b]) for a, b in pairs), tests, measured, adjusted, miss)


def deviations(tables: "Tables", pair: Pair) -> tuple[Floats, Floats]:
    """Return how far each cell is from the product of its margins, and in errors, with a term for one report."""
    shares = tables.shares(pair)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    g, h = (_norm_sub(margin, 1.0) for margin in (rows, columns))
    maps = _deviation(g, h).reshape(-1, *shares.shape)
    first = tables.variances(pair, maps, people=POPULATION)
    margins = [np.diag(tables.covariance((question,), people=POPULATION)) for question in pair]
    second = np.outer(*margins).reshape(-1)
    difference = (shares - np.outer(rows, columns)).reshape(-1)
    errors = tables.steps(pair, maps, people=POPULATION).errors_to(difference, np.sqrt(first + second))
    return difference.reshape(shares.shape), errors
