"""AmongRecords: an oracle over records among a few of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.errors import ParameterError
from fldp.numerics.types import Counts, Floats
from fldp.oracles.base.estimator import Estimator
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.record_oracle import RecordOracle
from fldp.randomness.stream import Words
from fldp.support.canonical_json import Json
from fldp.support.validation import Constraint, fail, integer, positive

MAX_RECORDS = 1 << 20


def _of_records(owner: str, name: str, value: object) -> RecordOracle:
    if not isinstance(value, RecordOracle):
        raise fail(owner, name, "an oracle over records", value)
    return value


def _chosen(owner: str, name: str, value: object) -> tuple[int, ...]:
    if not isinstance(value, tuple) or not 1 <= len(value) <= MAX_RECORDS or len(set(value)) < len(value):
        raise fail(owner, name, f"1 to {MAX_RECORDS:,} different records", value)
    return value


@dataclass(frozen=True, eq=False)
class RecordsAreNotCounted(Estimator):
    """No count of a record can be estimated, since a report is about a view of it; tallies can be drawn."""

    oracle: RecordOracle
    records: NDArray[np.int64]

    runs = ()

    def _refuse(self) -> ParameterError:
        return ParameterError(f"{self.oracle.title}: single records are not counted; estimate tables instead")

    def decode(self, tally: Tally, **options: Option) -> Floats:
        del tally, options
        raise self._refuse()

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        del n, count, options
        raise self._refuse()

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        return self.oracle.estimator.draw_state(self.records, counts, generator)


@dataclass(frozen=True, repr=False)
class AmongRecords(FrequencyOracle):
    """An oracle over records among a few of them: value ``v`` is record number ``v``. It is not offered by name."""

    domain_size: int = 0  # set to the number of records
    base: RecordOracle = field(kw_only=True)
    chosen: tuple[int, ...] = field(kw_only=True)

    params: ClassVar[Mapping[str, Constraint]] = {
        "epsilon": positive,
        "domain_size": integer(0, MAX_RECORDS),
        "base": _of_records,
        "chosen": _chosen,
    }

    def _settle_parameters(self) -> None:
        object.__setattr__(self, "domain_size", len(self.chosen))

    @cached_property
    def records(self) -> NDArray[np.int64]:
        """The records that the values stand for."""
        return np.array(self.chosen, np.int64)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The identifier of the oracle over records."""
        return self.base.name

    @property
    def title(self) -> str:
        return self.base.title

    @property
    def parameters(self) -> dict[str, Json]:
        return self.base.parameters

    def __repr__(self) -> str:
        return f"{self.base!r}.among({self.domain_size} records)"

    @property
    def eta(self) -> Fraction:
        return self.base.eta

    @property
    def anonymity(self) -> int:
        """Among a few records, a report may rule out all but one where it rules out any."""
        return self.domain_size if self.eta == 1 else 1

    @property
    def _mechanism(self) -> RecordOracle:
        return self.base

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        self.base.perturb(self.records[values], words, out)

    @cached_property
    def estimator(self) -> RecordsAreNotCounted:
        return RecordsAreNotCounted(self.domain_size, self.base, self.records)
