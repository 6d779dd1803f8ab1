"""What a single report does to an estimate, by enumeration: the exact mean and variance of a decoder."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle

EXACT = 1e-9  # what rounding alone explains


@dataclass(frozen=True)
class Moments:
    """Of the estimates from one report: row ``t`` for a user who holds ``t``, column ``s`` the estimate of ``s``."""

    mean: Floats
    variance: Floats

    @property
    def bias(self) -> float:
        """The largest difference between the mean and what it should be: 1 for the user's own value, 0 for others."""
        return float(np.abs(self.mean - np.eye(len(self.mean))).max())

    def difference(self, own: float, other: float) -> float:
        """Return the largest difference between a variance and what a formula says, relative to the formula."""
        expected = np.where(np.eye(len(self.variance)) > 0, own, other)
        return float(np.abs(self.variance / expected - 1).max())


def moments(oracle: FrequencyOracle, **options: str) -> Moments:
    """Go through all reports of all values, decode each by itself, and weigh it by its exact probability.

    >>> import fldp
    >>> exact = moments(fldp.FHR(epsilon=1.0, domain_size=7), decoder="paper")
    >>> exact.bias < 1e-12, exact.variance[0, 1].round(3)
    (True, np.float64(2.341))
    """
    laws = [analysis(oracle).law(value) for value in range(oracle.domain_size)]
    reports = list(dict.fromkeys(report for law in laws for report in law))
    decoded = np.array([_decoded(oracle, report, options) for report in reports])
    shares = np.array([[float(law.get(report, 0)) for report in reports] for law in laws])
    mean = shares @ decoded
    return Moments(mean, shares @ decoded**2 - mean**2)


def _decoded(oracle: FrequencyOracle, report: Any, options: dict[str, str]) -> Floats:
    return oracle.estimate(oracle.tally(oracle.report_format.report(report)[None]), **options).counts


def tiny(number: float) -> str:
    """Return a number that should be 0 except for rounding; its digits would differ between machines.

    >>> tiny(3e-16), tiny(0.25)
    ('below 1e-9', '0.25')
    """
    return "below 1e-9" if number < EXACT else f"{number:.3g}"
