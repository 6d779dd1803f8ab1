"""A question without a survey: an oracle, and the labels that give its values their meaning."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.fingerprints import utf8
from fldp.data.reports import Reports, Tally
from fldp.data.scale import REFUSE, Scale, number_of
from fldp.data.values import numbered
from fldp.errors import DomainError
from fldp.estimation.number_shares import as_number
from fldp.oracles.base.frequency_oracle import domain_size_of
from fldp.oracles.base.oracle import Oracle
from fldp.randomness.stream import Stream
from fldp.search.rounds import Round
from fldp.support.validation import is_number

_SHOWN = 8


@dataclass(frozen=True)
class Question:
    """An oracle with the labels of its values, or the round of a search; without either, values are numbers or strings.

    >>> import fldp
    >>> question = Question(fldp.RR(epsilon=1.0), ("no", "yes"))
    >>> question.value("yes"), question.label(0), question.encode(["yes", "no"])
    (1, 'no', array([1, 0]))
    """

    oracle: Oracle
    labels: tuple[str, ...] | None = None
    search: Round | None = None
    number: Scale | None = None

    @property
    def domain_size(self) -> int | None:
        """The number of values; None where they are strings."""
        if self.number is not None:
            return self.number.size
        return domain_size_of(self.oracle)  # not by the analysis, which a device need not load

    @property
    def value_type(self) -> type[object]:
        """The type of an array of values; one of texts would drop zeros at their ends."""
        return object if self.domain_size is None else np.int64

    @cached_property
    def _values(self) -> dict[str, int]:
        return {label: value for value, label in enumerate(self.labels or ())}

    def value(self, label: str, *, clamp: bool = False) -> int | str | None:
        """Return the value of a label, or None if there is no such label; a string is its own value.

        A number outside its range counts as the nearest end, with ``clamp`` also where the survey refuses it.
        """
        if self.labels is not None:
            return self._values.get(label)
        if self.number is not None:
            return cell_of(self.number, number_of(label), clamp)
        if self.domain_size is None or self.search is not None:
            return self._string(label)
        return numbered(label, self.domain_size)

    def _string(self, label: str) -> int | str | None:
        data = utf8(label)
        return data if data is None else self.search.value(data) if self.search is not None else label

    @property
    def choices(self) -> str:
        """What may be answered, in words.

        >>> import fldp
        >>> Question(fldp.RR(epsilon=1.0), ("no", "yes")).choices, Question(fldp.GRR(1.0, 4)).choices
        ('one of the labels no, yes', 'a whole number from 0 to 3')
        """
        if self.labels is not None:
            rest = len(self.labels) - _SHOWN
            shown = ", ".join(self.labels[:_SHOWN])
            return f"one of the labels {shown}" + (f", and {rest:,} more" if rest > 0 else "")
        if self.number is not None:
            return f"a number from {self.number.low:g} to {self.number.written(self.number.high)}"
        if self.domain_size is None or self.search is not None:
            return "a string of 1 to 1,024 bytes"
        return f"a whole number from 0 to {self.domain_size - 1:,}"

    def encode(
        self, labels: Iterable[str | float], who: str | None = None, rng: int | Stream | None = None
    ) -> NDArray[np.int64 | np.object_]:
        """Turn labels, or numbers where one is asked for, into values; an unknown one is an error."""
        if self.number is not None:
            return self.number.encode(_as_numbers(labels, who or self.oracle.title), rng)
        if isinstance(labels, str):
            labels = [labels]
        values = []
        for position, label in enumerate(labels):
            value = self.value(label) if isinstance(label, str) else None
            if value is None:
                subject = f"{who or self.oracle.title}: unknown label at position {position}"
                raise DomainError(f"{subject} (not shown, to protect the answer)")
            values.append(value)
        return np.array(values, self.value_type)

    def label(self, value: int | str) -> str:
        """Return the label of a value."""
        if self.search is not None:
            return self.search.label(int(value))
        if self.number is not None:
            return self.number.label(int(value))
        return str(value) if self.labels is None else self.labels[int(value)]

    def estimate(self, tally: Tally | Reports, **options: object) -> Estimate:
        """Estimate how many participants hold each label; where answers are strings, each of ``candidates``."""
        if self.number is not None:
            chosen = {name: value for name, value in options.items() if (name, value) != ("method", "linear")}
            return as_number(self.oracle.estimate(tally, **chosen), self.number)
        estimate = self.oracle.estimate(tally, **options)
        labels: Sequence[str] | None = self.labels if self.search is None else self.search.labels
        return estimate if labels is None else replace(estimate, labels=labels)


def cell_of(scale: Scale, number: float | None, clamp: bool) -> int | None:
    """Return the cell of a number, if it is one that may be answered."""
    if number is None or (scale.outside == REFUSE and not clamp and not scale.low <= number <= scale.high):
        return None
    return scale.cell(number)


def _as_numbers(labels: object, who: str) -> Sequence[float] | NDArray[np.float64]:
    """Return numbers, or texts that write numbers, as numbers."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iuf":
        return labels
    listed = [labels] if isinstance(labels, str | float | int) else list(labels)  # type: ignore[call-overload]
    numbers = [_as_number(label) for label in listed]
    if None in numbers:
        where = f"no number at position {numbers.index(None)}"
        raise DomainError(f"{who}: {where} (not shown, to protect the answer)")
    return [number for number in numbers if number is not None]


def _as_number(label: object) -> float | None:
    if isinstance(label, str):
        return number_of(label)
    return float(label) if is_number(label) else None
