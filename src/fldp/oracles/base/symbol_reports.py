"""Oracles whose report is one symbol, a value of the domain, and whose tally counts each symbol."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.kernels import Kernel
from fldp.oracles.base.frequency_oracle import FrequencyOracle, symbol_dtype


@Kernel
def add_symbols(symbols: Any, state: Any) -> None:
    """Count each symbol, in time that does not depend on the domain."""
    for i in range(len(symbols)):
        state[symbols[i]] += 1


class SymbolOracle(FrequencyOracle):
    """Report and tally format of oracles that answer with one value, however they draw it.

    >>> from fldp import GRR
    >>> GRR(epsilon=1.0, domain_size=5).report_bits, issubclass(GRR, SymbolOracle)
    (3, True)
    """

    @property
    def words(self) -> int:
        return 1

    @property
    def report_dtype(self) -> Any:
        return symbol_dtype(self.domain_size)

    @property
    def field_bits(self) -> tuple[int, ...]:
        return ((self.domain_size - 1).bit_length(),)

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return (self.domain_size,)

    @property
    def server_work(self) -> str:
        return "O(n + d)"

    @property
    def outcomes(self) -> int:
        return self.domain_size

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_symbols.compiled(np.ascontiguousarray(data), state)

    def check(self, data: Array) -> NDArray[np.bool_]:
        return np.asarray(data < self.domain_size)

    def check_state(self, state: NDArray[np.int64], n: int) -> bool:
        return bool(((state >= 0) & (state <= n)).all()) and int(state.sum()) == n

    def outcome(self, report: Any) -> tuple[Any, Any]:
        return None, int(report)

    def report(self, outcome: Any, public: Any = None) -> Array:
        del public
        return np.array(outcome, self.report_dtype)
