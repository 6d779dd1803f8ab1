"""Measured variances of the main experiment, beside what theory says."""

from dataclasses import dataclass
from math import sqrt

from fldp.experiments.paper.evidence import Evidence


@dataclass(frozen=True)
class Measured:
    """The variance of an estimated count divided by the users, the mean over all values: measured, and by theory.

    ``error`` is the relative standard error of the measurement: a run has a squared error for every value but one,
    nearly normal and nearly uncorrelated.
    """

    dataset: str
    series: str
    epsilon: float
    value: float
    theory: float
    error: float
    runs: int


def measured(evidence: Evidence, series: str) -> list[Measured]:
    """Return what was measured of a series of the main experiment, at every epsilon on every dataset."""
    ways = {
        contender.series(decoder): (contender.name, dict(contender.parameters), decoder)
        for contender in evidence.evaluation.main.oracles
        for decoder in contender.decoders
    }
    name, parameters, decoder = ways[series]
    rows = []
    for each in evidence.main.where(metric="mse", series=series).summary("dataset", "epsilon", "n", "domain_size"):
        dataset, epsilon, n, size = each.key
        oracle = evidence.oracle(name, size, epsilon, **parameters)
        options = {"decoder": decoder} if oracle.estimator.decoders else {}
        theory = float(oracle.variance(n, n / size, **options)) / n
        error = sqrt(2 / (each.runs * (size - 1)))
        rows.append(Measured(dataset, series, epsilon, each.mean * n, theory, error, each.runs))
    return rows


@dataclass(frozen=True)
class Agreement:
    """Measured variances divided by theory, on average: the ratio, its standard error, and from how many tallies."""

    ratio: float
    error: float
    tallies: int

    @property
    def good(self) -> bool:
        """Whether the ratio is 1 within five standard errors; by chance it is not in one case of a million."""
        return abs(self.ratio - 1) < 5 * self.error

    def __str__(self) -> str:
        return f"{self.ratio:.4f} +- {self.error:.4f} of {self.tallies:,} tallies"


def agreement(rows: list[Measured]) -> Agreement:
    """Return the mean of measured divided by theory, each weighed by how exact it is.

    >>> print(agreement([Measured("x", "OUE", 1.0, 3.6, 3.5, 0.1, 10), Measured("x", "OUE", 2.0, 0.7, 0.7, 0.1, 10)]))
    1.0143 +- 0.0707 of 20 tallies
    """
    weights = [1 / row.error**2 for row in rows]
    ratio = sum(w * row.value / row.theory for w, row in zip(weights, rows, strict=True)) / sum(weights)
    return Agreement(ratio, 1 / sqrt(sum(weights)), sum(row.runs for row in rows))
