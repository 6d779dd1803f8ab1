"""Shares of the population that people were drawn from: noise, sampling, and weights of groups."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fldp.data.comparison import sampling_variance, z_score
from fldp.data.dataframes import Columns, FramedAtLevel
from fldp.data.estimate import Estimate
from fldp.data.values import as_list
from fldp.errors import MergeError, ParameterError
from fldp.estimation.combine import Alike
from fldp.numerics.types import Floats
from fldp.support.display import Displayed
from fldp.support.validation import fail, fraction, integer, positive

MAX_SIZE = 2**53


@dataclass(frozen=True, eq=False)
class PopulationShares(FramedAtLevel, Displayed):
    """Estimated shares of a population, with the two parts of their variance: the noise, and the sampling.

    ``n`` has the number of people of each group, ``weights`` the share of the population that each stands for.
    ``print`` shows the table of ``fldp population``.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=2.0, domain_size=3)
    >>> estimate = oracle.estimate(fldp.Tally(oracle, [500, 300, 200], 1000))
    >>> shares = fldp.population(estimate)
    >>> shares.shares.round(3), shares.stderr.round(3)
    (array([0.578, 0.284, 0.137]), array([0.023, 0.021, 0.019]))
    """

    shares: Floats
    noise: Floats
    sampling: Floats
    n: tuple[int, ...]
    weights: tuple[float, ...]
    labels: Sequence[str] | None = None
    eta: float = 1.0
    groups: tuple[Estimate, ...] = ()
    common: Floats | float = 0.0  # of the noise, what is the same in all groups: collisions of sketches

    @property
    def stderr(self) -> Floats:
        """The standard errors of the shares."""
        return np.sqrt(self.noise + self.sampling)

    @property
    def design_effect(self) -> float:
        """Kish's design effect: the factor by which the weights increase the sampling variance; 1 for equal weights."""
        sizes, weights = np.array(self.n, float), np.array(self.weights)
        return float(sizes.sum() * (weights**2 / sizes).sum())

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Floats:
        """Return intervals of the shares, one row of two ends per value; ``simultaneous``: of all at once.

        Each end adds the square of how far the noise reaches in each group, by the law of its estimate, and of how far
        the sampling does.
        """
        miss = 1 - fraction("population", "level", level)
        z = z_score(1 - miss / len(self.shares) if simultaneous else level)
        reach = self._reach_of_noise(level, simultaneous=simultaneous)
        low, high = np.sqrt(reach**2 + z**2 * (self.sampling + self.common))
        return np.stack([self.shares - low, self.shares + high], axis=1)

    def _reach_of_noise(self, level: float, *, simultaneous: bool) -> Floats:
        """Return how far the noise alone reaches below the shares, and above them."""
        squares = np.zeros((2, len(self.shares)))
        for group, weight in zip(self.groups, self.weights, strict=True):
            ends = group.interval(level, simultaneous=simultaneous).T / group.n
            squares += (weight * (ends - group.frequencies)) ** 2
        return np.sqrt(squares)

    def _columns(self, level: float) -> Columns:
        low, high = self.interval(level).T
        labels = {} if self.labels is None else {"label": list(self.labels)}
        values = {"value": np.arange(len(self.shares)), **labels}
        return {**values, "share": self.shares, "stderr": self.stderr, "low": low, "high": high}

    def __repr__(self) -> str:
        groups = f"{len(self.n)} groups" if len(self.n) > 1 else "one group"
        return f"<shares of {len(self.shares)} values in a population, from {sum(self.n)} people in {groups}>"


def population(
    estimates: Estimate | Sequence[Estimate], *, weights: Sequence[float] | None = None, size: int | None = None
) -> PopulationShares:
    """Estimate shares of the population that people were drawn from at random.

    With several estimates, one for each group of people, ``weights`` are how many people of the population are in each
    group, or their shares: then groups that answered more often than others do not count more (post-stratification).
    Who is in which group is known in the clear, so it must not be what is to be protected. ``size`` is the number of
    people in the population, where a large part of them was asked.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=2.0, domain_size=2)
    >>> young = oracle.estimate(fldp.Tally(oracle, [800, 200], 1000))
    >>> old = oracle.estimate(fldp.Tally(oracle, [150, 350], 500))
    >>> fldp.population([young, old], weights=[30, 70]).shares.round(2)
    array([0.43, 0.57])
    """
    groups = [estimates] if isinstance(estimates, Estimate) else _listed(estimates)
    plain = [group.original or group for group in groups]
    shares = _weights(len(plain), weights)
    _check_alike(plain)
    left = 1.0 if size is None else 1 - sum(each.n for each in plain) / _size(plain, size)
    noise = sum(share**2 * (each.stderr / each.n) ** 2 for share, each in zip(shares, plain, strict=True))
    common = Alike.of(tuple(plain)).added(np.array(shares) / [each.n for each in plain])
    drawn = sum(share**2 * sampling_variance(each.counts, each.n) for share, each in zip(shares, plain, strict=True))
    mean = sum(share * each.frequencies for share, each in zip(shares, plain, strict=True))
    return PopulationShares(
        np.asarray(mean),
        np.asarray(noise + common),
        np.asarray(drawn) * left,
        tuple(each.n for each in plain),
        shares,
        plain[0].labels,
        min(float(each.oracle.eta) for each in plain),
        tuple(plain),
        common,
    )


def _listed(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the estimates of several groups; refuse anything else."""
    groups = as_list(estimates)
    for group in groups:
        if not isinstance(group, Estimate):
            raise fail("population", "each group", "an estimate, as oracle.estimate(tally) returns it", group)
    return groups


def _weights(groups: int, weights: Sequence[float] | None) -> tuple[float, ...]:
    if weights is None:
        if groups != 1:
            raise ParameterError(
                "population: several groups need weights: how many people of the population are in each"
            )
        return (1.0,)
    positive_weights = [positive("population", "every weight", weight) for weight in weights]
    if len(positive_weights) != groups:
        raise fail("population", "weights", f"one for each of {groups} groups", len(positive_weights))
    return tuple(weight / sum(positive_weights) for weight in positive_weights)


def _size(groups: list[Estimate], size: int) -> int:
    respondents = sum(each.n for each in groups)
    return int(integer(max(respondents, 1), MAX_SIZE)("population", "size", size))


def _check_alike(groups: list[Estimate]) -> None:
    if not groups or any(len(each.counts) != len(groups[0].counts) for each in groups):
        raise MergeError("population: all groups must have estimates of the same values")
    if any(each.labels != groups[0].labels for each in groups):
        raise MergeError("population: all groups must have estimates of the same labels, in the same order")
