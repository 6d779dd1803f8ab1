"""Single: the trivial oracle on a domain of one value, for groups of one value in Grouped."""
# ruff: noqa: ARG002, ARG005 (with one value, no argument matters)

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle, Law
from fldp.oracles.base.profile import Band, Profile
from fldp.randomness.stream import Words
from fldp.support.validation import integer, positive


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
    outcomes = 1
    server_work = "O(n)"

    def perturb(self, values: Values, words: Words, out: Array) -> None: ...

    def count(self, data: Array, state: NDArray[np.int64]) -> None: ...

    def decode(self, tally: Tally, **options: Any) -> Floats:
        return np.array([tally.n], np.float64)

    def variance(self, n: int, count: Any, **options: Any) -> Any:
        return 0.0 * count

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        return counts[:0]

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        return Profile.of([Band(1, Fraction(1), Fraction(1))], 1)

    def likelihoods(self, data: Array) -> Floats:
        return np.ones((len(data), 1))

    def law(self, value: int, public: Any = None) -> Law:
        return {0: Fraction(1)}
