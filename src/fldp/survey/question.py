"""A question without a survey: an oracle, and the labels that give its values their meaning."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.fingerprints import utf8
from fldp.data.reports import Reports, Tally
from fldp.data.values import numbered
from fldp.errors import DomainError
from fldp.oracles.base.oracle import Oracle
from fldp.search.rounds import Round


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

    @property
    def domain_size(self) -> int | None:
        """The number of values; None where they are strings."""
        return getattr(self.oracle, "domain_size", None)  # not by the analysis, which a device need not load

    @property
    def value_type(self) -> type[object]:
        """The type of an array of values; one of texts would drop zeros at their ends."""
        return object if self.domain_size is None else np.int64

    @cached_property
    def _values(self) -> dict[str, int]:
        return {label: value for value, label in enumerate(self.labels or ())}

    def value(self, label: str) -> int | str | None:
        """Return the value of a label, or None if there is no such label; a string is its own value."""
        if self.labels is not None:
            return self._values.get(label)
        if self.domain_size is None or self.search is not None:
            return self._string(label)
        return numbered(label, self.domain_size)

    def _string(self, label: str) -> int | str | None:
        data = utf8(label)
        return data if data is None else self.search.value(data) if self.search is not None else label

    def encode(self, labels: Iterable[str], who: str | None = None) -> NDArray[np.int64 | np.object_]:
        """Turn labels into values; an unknown one is an error."""
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
        return str(value) if self.labels is None else self.labels[int(value)]

    def estimate(self, tally: Tally | Reports, **options: object) -> Estimate:
        """Estimate how many participants hold each label; where answers are strings, each of ``candidates``."""
        estimate = self.oracle.estimate(tally, **options)
        labels: Sequence[str] | None = self.labels if self.search is None else self.search.labels
        return estimate if labels is None else replace(estimate, labels=labels)
