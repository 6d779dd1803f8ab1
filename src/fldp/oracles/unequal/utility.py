"""Utility-optimised oracles (URR, URAPPOR): sensitive values are protected, the others may be revealed."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.values import Values
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.support_counts import SupportsByKind, UnevenOracle
from fldp.oracles.base.treatment import sensitive_values
from fldp.support.validation import Described, fail, whole_numbers

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


@dataclass(frozen=True, repr=False)
class UtilityOracle(UnevenOracle):
    """An oracle that protects the sensitive values alone: eps-ULDP.

    A report of a non-sensitive value reveals it with probability ``revealed``; otherwise it is one that every value can
    produce. A report of a sensitive value is always one of the latter. As FLDP, eta is the probability of not being
    revealed, or the share of reports that reveal nothing, whichever is smaller.
    """

    sensitive: tuple[int, ...] = field(kw_only=True)

    params = {  # noqa: RUF012
        **FrequencyOracle.params,
        "sensitive": Described(sensitive_values, "values such as 0,3", read=whole_numbers),
    }

    def _settle_parameters(self) -> None:
        if not len(self.sensitive) < self.domain_size or self.sensitive[-1] >= self.domain_size:
            rule = f"some of the {self.domain_size} values, not all"
            raise fail(self.title, "sensitive", rule, list(self.sensitive))

    @property
    @abstractmethod
    def revealed(self) -> Fraction:
        """The probability that a report of a non-sensitive value reveals it."""

    @property
    @abstractmethod
    def share_of_common(self) -> Fraction:
        """The share of the possible reports of a non-sensitive value that every value can produce."""

    @property
    def promise(self) -> tuple[Any, ...]:
        return "ULDP", self.epsilon, self.sensitive

    @property
    def plain_values(self) -> Sequence[int] | None:
        return self.sensitive if len(self.sensitive) > 1 else None

    @property
    def unprotected(self) -> str:
        most = 100 * float(self.revealed)
        return (
            f"Only {len(self.sensitive):,} of the {self.domain_size:,} answers are sensitive. Any other answer is "
            f"named for certain by {most:.3g} % of its reports."
        )

    @property
    def eta(self) -> Fraction:
        return three_digits(min(1 - self.revealed, self.share_of_common))

    @property
    def anonymity(self) -> int:
        return 1

    def leaves(self) -> Iterable[Collection[int]]:
        """Yield all values, then each non-sensitive value alone."""
        yield range(self.domain_size)
        for value in np.flatnonzero(self.kind_of == OTHER).tolist():
            yield (value,)

    def overlaps(self) -> dict[Fraction, Fraction]:
        share = Fraction(len(self.sensitive), self.domain_size)
        return {Fraction(1): share, 1 - self.revealed: 1 - share}

    @cached_property
    def kind_of(self) -> NDArray[np.intp]:
        kinds = np.full(self.domain_size, OTHER, np.intp)
        kinds[list(self.sensitive)] = SENSITIVE
        return kinds

    def places(self, values: Values) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return whether each value is sensitive, and its rank among the values of its kind.

        It does not build an array of the whole domain: a client has one value.
        """
        sensitive = np.array(self.sensitive)
        before = np.searchsorted(sensitive, values)
        hidden = sensitive[np.minimum(before, len(sensitive) - 1)] == values
        return hidden, np.where(hidden, before, values - before)

    def resized(self, domain_size: int) -> "UtilityOracle":
        """Return the oracle on fewer values, half of them sensitive where there are enough of both kinds."""
        few = min(len(self.sensitive), max(1, domain_size // 2))
        others = min(self.domain_size - len(self.sensitive), max(1, domain_size - few))
        if few + others == self.domain_size:
            return self
        return replace(self, domain_size=few + others, sensitive=tuple(range(few)))
