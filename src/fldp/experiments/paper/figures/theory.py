"""Theoretical variances of a series: of an estimated count per user, on average over all values."""

from fldp.errors import ParameterError
from fldp.experiments.runner.specification import Specification


def variance(specification: Specification, series: str, size: int, epsilon: float) -> float:
    """Return the mean variance of a count per user, for a series of an experiment.

    >>> from fldp.experiments import EXTENDED
    >>> round(variance(EXTENDED, "FHR, paper", 1023, 1.0), 3)
    2.343
    """
    every = {each.series(name): (each, name) for each in specification.oracles for name in each.decoders}
    contender, decoder = every[series]
    oracle = contender.oracle(epsilon, size)
    return float(oracle.variance(1, 1 / size, **({"decoder": decoder} if oracle.estimator.decoders else {})))


def line(
    specification: Specification, series: str, size: int, epsilons: tuple[float, ...]
) -> tuple[list[float], list[float]]:
    """Return the epsilons that the oracle takes, and the variance at each."""
    variances = {}
    for epsilon in epsilons:
        try:
            variances[epsilon] = variance(specification, series, size, epsilon)
        except ParameterError:
            continue
    return list(variances), list(variances.values())
