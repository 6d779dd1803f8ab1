"""What theory says of a series: the variance of an estimated count for one user, in the mean over all values."""

from fldp.errors import ParameterError
from fldp.experiments.runner.specification import Specification


def variance(specification: Specification, series: str, size: int, epsilon: float) -> float:
    """Return it for a series of an experiment.

    >>> from fldp.experiments import EXTENDED
    >>> round(variance(EXTENDED, "FHR, paper", 1023, 1.0), 3)
    2.343
    """
    every = {one.series(way): (one, way) for one in specification.oracles for way in one.decoders}
    contender, decoder = every[series]
    oracle = contender.oracle(epsilon, size)
    return float(oracle.variance(1, 1 / size, **({"decoder": decoder} if oracle.decoders else {})))


def line(
    specification: Specification, series: str, size: int, epsilons: tuple[float, ...]
) -> tuple[list[float], list[float]]:
    """Return the epsilons that the oracle takes, and the variance at each."""
    made = {}
    for epsilon in epsilons:
        try:
            made[epsilon] = variance(specification, series, size, epsilon)
        except ParameterError:
            continue
    return list(made), list(made.values())
