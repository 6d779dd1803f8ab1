"""Utility-optimised randomized response (URR)."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array
from fldp.data.values import Values
from fldp.numerics.kernels import U64
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.symbol_reports import add_symbols, symbol_counts, symbols
from fldp.oracles.plain.grr import respond
from fldp.oracles.unequal.utility import SENSITIVE, UTILITY_PARAMS, NamingSupports, SensitiveValues, least_share
from fldp.randomness.coins import BITS, SymbolCoin
from fldp.randomness.stream import Words

_SCALE = 1 << BITS


@dataclass(frozen=True, eq=False)
class SymbolSupportsByKind(NamingSupports):
    """Supports of reports that support one value each."""

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        """Symbols exclude each other in a report: the covariance of two is minus the product of their probabilities."""
        del options
        gap, q = float(self.revealed), float(self.kinds[SENSITIVE][1])
        hidden = members & (self.kind_of == SENSITIVE)
        size = int(hidden.sum())
        pairs = size * (size - 1) * q * q  # of a user who holds none of the members
        own = 2 * gap * q
        inside, special = float(counts[members].sum()), float(counts[hidden].sum())
        return -(n * pairs + inside * own * size - special * own) / gap**2

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        """With the same probability for all values a report is the value itself; else it is a uniform sensitive one."""
        state, hidden = (
            generator.binomial(counts, float(self.revealed)),
            np.flatnonzero(self.kind_of == SENSITIVE),
        )
        rest = int(counts.sum() - state.sum())
        state[hidden] += generator.multinomial(rest, np.full(len(hidden), 1 / len(hidden)))
        return np.asarray(state)


@dataclass(frozen=True, repr=False)
class URR(FrequencyOracle):
    """Utility-optimised randomized response: sensitive values are mixed, others are often reported unchanged.

    With ``s`` sensitive values, a report of one of them is itself with probability ``e^eps/(e^eps+s-1)`` and each other
    sensitive one with ``q = 1/(e^eps+s-1)``. A report of any other value is each sensitive one with ``q``, too, and
    otherwise the value itself, which reveals it. So a report that names a sensitive value is at most ``e^eps`` times as
    likely under one value as under another, and only values that are not sensitive are revealed: eps-ULDP.

    Murakami, Kawamoto: Utility-optimized local differential privacy mechanisms for distribution estimation, USENIX
    Security 2019.

    Report: one value | 10 | eps-ULDP: only the values named sensitive are protected
    Fields: the symbol: the bits of ``d - 1``
    Words: 1 | a coin as for GRR among the sensitive values; for another value, below ``keep - other`` itself, else
      a sensitive one
    Best fake: a target; ``s`` of them are sensitive | ``(1 - s q) / (p - q)``

    >>> oracle = URR(epsilon=1.0, domain_size=100, sensitive=[3, 7])
    >>> round(float(oracle._revealed), 3), oracle.eta
    (0.462, Fraction(537, 1000))
    >>> oracle.privatize([0, 3, 50])
    <3 reports of URR(epsilon=1.0, domain_size=100, sensitive=[3, 7])>
    """

    sensitive: tuple[int, ...] = field(kw_only=True)

    examples = (
        {"epsilon": 1.0, "domain_size": 5, "sensitive": (1, 4)},
        {"epsilon": 0.5, "domain_size": 300, "sensitive": (7,)},
        {"epsilon": 3.0, "domain_size": 1000, "sensitive": range(0, 1000, 9)},
    )
    name = "urr"
    params = UTILITY_PARAMS
    anonymity = 1
    words = 1

    @cached_property
    def _places(self) -> SensitiveValues:
        """The sensitive values, and the others."""
        return SensitiveValues.of(self, self.sensitive)

    def _settle_parameters(self) -> None:
        _ = self._places

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin among the sensitive values."""
        return SymbolCoin.build(self.title, self.epsilon, len(self.sensitive))

    @property
    def _shown(self) -> int:
        """Number of 64-bit words for which a non-sensitive value is reported unchanged."""
        return self.coin.keep - self.coin.other

    @property
    def _revealed(self) -> Fraction:
        """The probability that a report of a non-sensitive value reveals it."""
        return Fraction(self._shown, _SCALE)

    @property
    def eta(self) -> Fraction:
        return least_share(self._revealed, Fraction(len(self.sensitive), len(self.sensitive) + 1))

    @cached_property
    def report_format(self) -> ReportFormat:
        return symbols(self.domain_size)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return symbol_counts(self.domain_size)

    @cached_property
    def estimator(self) -> SymbolSupportsByKind:
        return SymbolSupportsByKind(
            self.domain_size,
            ((self.coin.p, self.coin.q), (self._revealed, Fraction(0))),
            self._places.kind_of,
            revealed=self._revealed,
        )

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        """A coin below ``keep`` (``shown`` if not sensitive) gives the value itself, any other a sensitive one."""
        # Constant time: both cases are computed for every value, and one is selected.
        coins, sensitive = np.ascontiguousarray(words[:, 0]), np.array(self.sensitive)
        hidden, places = self._places.places(values)
        last, shown, other = len(sensitive) - 1, U64(self._shown), U64(self.coin.other)
        drawn = np.zeros(len(values), np.int64)
        if last:  # a single sensitive value is always kept
            respond.over(len(values))(np.minimum(places, last), coins, U64(self.coin.keep), other, drawn)
        rank = (np.maximum(coins, shown) - shown) // other
        named = np.where(coins < shown, values, sensitive[np.minimum(rank, U64(last)).astype(np.int64)])
        out[:] = np.where(hidden, sensitive[drawn], named)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_symbols.for_work(data.size)(np.ascontiguousarray(data), state)
