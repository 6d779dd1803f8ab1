"""Single: the trivial oracle on a domain of one value, for groups of one value in Grouped."""
# ruff: noqa: ARG002, ARG005 (with one value, no argument matters)

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.numerics.types import Counts, Floats
from fldp.oracles.base.estimator import Estimator
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.randomness.stream import Words
from fldp.support.validation import integer, positive


@dataclass(frozen=True, eq=False)
class EverybodyHolds(Estimator):
    """The only value is held by everybody."""

    def decode(self, tally: Tally, **options: Option) -> Floats:
        return np.array([tally.n], np.float64)

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        return 0.0 * count

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        return counts[:0]


@dataclass(frozen=True, repr=False)
class Single(FrequencyOracle):
    """The oracle on one value: nothing to report, nothing to estimate. It is not in the registry."""

    name = "single"
    params = {"epsilon": positive, "domain_size": integer(1, 1)}  # noqa: RUF012
    report_format = ReportFormat(
        np.dtype(np.uint8),
        (),
        check=lambda data: np.ones(len(data), np.bool_),
        outcome=lambda row: (None, 0),
        report=lambda outcome, public=None: np.empty(0, np.uint8),
        shape=(0,),
    )
    tally_format = TallyFormat((0,))
    words = 0

    def perturb(self, values: Values, words: Words, out: Array) -> None: ...

    def count(self, data: Array, state: NDArray[np.int64]) -> None: ...

    @cached_property
    def estimator(self) -> EverybodyHolds:
        return EverybodyHolds(1)
