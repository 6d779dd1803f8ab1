"""Utility-optimised oracles (URR, URAPPOR): sensitive values are protected, the others may be revealed."""

from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fldp.data.values import Values
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.support_counts import SupportsByKind
from fldp.oracles.base.treatment import sensitive_values
from fldp.support.validation import Constraint, Described, fail, whole_numbers

_THREE_DIGITS, _MANY = Context(prec=3, rounding=ROUND_FLOOR), Context(prec=60, rounding=ROUND_FLOOR)

SENSITIVE, OTHER = 0, 1  # the two kinds of values
_MIN_NAMED = 4  # reports: with fewer, a normal 95 % interval would cover the count less than 90 % of the time


def three_digits(share: Fraction) -> Fraction:
    """Return a share rounded down to three significant digits, for people to read.

    >>> three_digits(Fraction(1, 3)), three_digits(Fraction(1, 2))
    (Fraction(333, 1000), Fraction(1, 2))
    """
    exact = _MANY.divide(Decimal(share.numerator), Decimal(share.denominator))
    return Fraction(_THREE_DIGITS.plus(exact))


@dataclass(frozen=True, eq=False)
class NamingSupports(SupportsByKind):
    """Supports of reports that reveal a non-sensitive value with probability ``revealed``."""

    revealed: Fraction = field(kw_only=True)

    @cached_property
    def least_variances(self) -> Floats:
        """The variance at four naming reports: a non-sensitive value that nobody names would seem to have none."""
        return np.where(self.kind_of == OTHER, float(_MIN_NAMED * (1 - self.revealed) / self.revealed**2), 0.0)


UTILITY_PARAMS: dict[str, Constraint] = {
    **FrequencyOracle.params,
    "sensitive": Described(sensitive_values, "values such as 0,3", read=whole_numbers),
}


@dataclass(frozen=True, eq=False)
class SensitiveValues:
    """The sensitive values of a domain, sorted, and the others.

    An oracle that protects the sensitive values alone is eps-ULDP. A report of a non-sensitive value reveals it with a
    certain probability; otherwise it is one that every value can produce. A report of a sensitive value is always one
    of the latter.
    """

    domain_size: int
    values: tuple[int, ...]

    @classmethod
    def of(cls, oracle: FrequencyOracle, values: tuple[int, ...]) -> "SensitiveValues":
        """Check the sensitive values of an oracle."""
        if not len(values) < oracle.domain_size or values[-1] >= oracle.domain_size:
            raise fail(oracle.title, "sensitive", f"some of the {oracle.domain_size} values, not all", list(values))
        return cls(oracle.domain_size, values)

    @cached_property
    def kind_of(self) -> NDArray[np.intp]:
        """The kind of every value."""
        kinds = np.full(self.domain_size, OTHER, np.intp)
        kinds[list(self.values)] = SENSITIVE
        return kinds

    def places(self, values: Values) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return whether each value is sensitive, and its rank among the values of its kind.

        It does not build an array of the whole domain: a client has one value.
        """
        sensitive = np.array(self.values)
        before = np.searchsorted(sensitive, values)
        hidden = sensitive[np.minimum(before, len(sensitive) - 1)] == values
        return hidden, np.where(hidden, before, values - before)


def least_share(revealed: Fraction, common: Fraction) -> Fraction:
    """Return eta: the probability of not being revealed, or the share of reports that reveal nothing, if smaller."""
    return three_digits(min(1 - revealed, common))
