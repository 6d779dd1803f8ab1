"""Optimised local hashing (OLH): hash the value to a few symbols, then apply randomized response to those."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array
from fldp.data.values import Values
from fldp.numerics.kernels import U64, Kernel
from fldp.numerics.word_kernels import keyed_hash, multiply_high
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.support_counts import Supports
from fldp.oracles.base.symbol_reports import support_counts, symbol_dtype
from fldp.oracles.plain.grr import respond
from fldp.randomness.coins import SymbolCoin
from fldp.randomness.stream import Words
from fldp.responder.symbol_responses import best_symbols

_CHUNK = 1 << 16


@Kernel
def hash_symbols(values: Any, seeds: Any, symbols: Any, out: Any) -> None:
    """Hash each value under its own seed to a number below ``symbols``."""
    for i in range(len(values)):
        out[i] = multiply_high(keyed_hash(seeds[i], U64(values[i])), symbols)


@Kernel
def add_supports(seeds: Any, lows: Any, widths: Any, state: Any) -> None:
    """Count for every value the reports whose symbol it hashes to: ``low <= hash < low + width``."""
    for i in range(len(seeds)):
        seed, low, width = seeds[i], lows[i], widths[i]
        for v in range(len(state)):
            # Unsigned wrap-around makes one comparison of two, and the loop free of branches.
            state[v] += np.int64(keyed_hash(seed, U64(v)) - low < width)


@dataclass(frozen=True, repr=False)
class OLH(FrequencyOracle):
    """Optimised local hashing: a public random hash to ``g`` symbols, then randomized response among those.

    ``p = e^eps/(e^eps+g-1)``, ``q = 1/g``. Given the seed, which says nothing about the value, the report is
    randomized response, so it is eps-LDP whatever the hash. The hash (``fldp.numerics.word_kernels.keyed_hash``,
    mapped to a symbol by multiply-high) matters for accuracy only.

    Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation, USENIX Security 2017.

    Report: a hash seed and a symbol
    Fields: the seed: 64; the symbol: the bits of ``g - 1``
    Words: 2 | word 0 is the seed. The value is hashed to ``h``, the symbol ``floor(h g / 2^64)`` goes through the
      coin among ``g`` symbols with word 1
    Best fake: a seed under which all targets have one symbol, found by trying, and that symbol | ``r (1 - q) / (p -
      q)``

    >>> oracle = OLH(epsilon=1.0, domain_size=1000)
    >>> oracle._symbols
    4
    >>> oracle.privatize([1, 2, 3])
    <3 reports of OLH(epsilon=1.0, domain_size=1000)>
    """

    examples = ((1.0, 100), (4.0, 7))
    name = "olh"
    words = 2

    @cached_property
    def _symbols(self) -> int:
        """The size ``g`` of the hashed domain."""
        return best_symbols(min(self.epsilon, 64.0))

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin."""
        return SymbolCoin.build(self.title, self.epsilon, self._symbols)

    @cached_property
    def report_format(self) -> ReportFormat:
        dtype = np.dtype([("seed", np.uint64), ("symbol", symbol_dtype(self._symbols))])
        return ReportFormat(
            dtype,
            ((64, 1), ((self._symbols - 1).bit_length(), 1)),
            check=lambda data: data["symbol"] < self._symbols,
            outcome=lambda row: (int(row["seed"]), int(row["symbol"])),
            report=lambda outcome, public: np.array((public, outcome), dtype),
            public_words=1,
        )

    @cached_property
    def estimator(self) -> Supports:
        """Under ideal hashing a report supports other values independently of each other and of its own.

        ``q`` is the share of seeds under which another value hashes to the reported symbol, within 2^-64.
        """
        return Supports(self.domain_size, self.coin.p, Fraction(1, self._symbols), independent=True)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return support_counts(self.domain_size)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        seeds, hashed = np.ascontiguousarray(words[:, 0]), np.empty(len(values), np.uint64)
        hash_symbols.over(len(values))(values, seeds, U64(self._symbols), hashed)
        respond.over(len(values))(hashed, words[:, 1], U64(self.coin.keep), U64(self.coin.other), hashed)
        out["seed"], out["symbol"] = seeds, hashed

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        for start in range(0, len(data), _CHUNK):
            part = data[start : start + _CHUNK]
            symbol = part["symbol"].astype(np.uint64)
            low = self._least_hash(symbol)
            width = self._least_hash(symbol + U64(1)) - low
            add_supports.compiled(np.ascontiguousarray(part["seed"]), low, width, state)

    def _least_hash(self, symbol: Words) -> Words:
        """Return ``ceil(symbol * 2^64 / g)`` modulo ``2^64``, the least hash that multiply-high makes this symbol."""
        whole, rest = divmod(2**64, self._symbols)
        return symbol * U64(whole) + (symbol * U64(rest) + U64(self._symbols - 1)) // U64(self._symbols)
