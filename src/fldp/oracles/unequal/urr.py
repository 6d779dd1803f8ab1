"""Utility-optimised randomized response (URR)."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array
from fldp.data.values import Values
from fldp.numerics.kernels import U64
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import Law
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.support_counts import Chances
from fldp.oracles.base.symbol_reports import add_symbols, symbol_counts, symbols
from fldp.oracles.plain.grr import respond
from fldp.oracles.unequal.utility import SENSITIVE, NamingSupports, UtilityOracle
from fldp.randomness.coins import BITS, SymbolCoin
from fldp.randomness.stream import Words

_SCALE = 1 << BITS


@dataclass(frozen=True, eq=False)
class SymbolSupportsByKind(NamingSupports):
    """Supports of reports that support one value each."""

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Any) -> float:
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
        state, hidden = generator.binomial(counts, float(self.revealed)), np.flatnonzero(self.kind_of == SENSITIVE)
        rest = int(counts.sum() - state.sum())
        state[hidden] += generator.multinomial(rest, np.full(len(hidden), 1 / len(hidden)))
        return np.asarray(state)


@dataclass(frozen=True, repr=False)
class URR(UtilityOracle):
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
    >>> round(float(oracle.revealed), 3), oracle.eta
    (0.462, Fraction(537, 1000))
    >>> oracle.privatize([0, 3, 50])
    <3 reports of URR(epsilon=1.0, domain_size=100, sensitive=[3, 7])>
    """

    examples = (
        {"epsilon": 1.0, "domain_size": 5, "sensitive": (1, 4)},
        {"epsilon": 0.5, "domain_size": 300, "sensitive": (7,)},
        {"epsilon": 3.0, "domain_size": 1000, "sensitive": range(0, 1000, 9)},
    )
    name = "urr"
    words = 1
    server_work = "O(n + d)"

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin among the sensitive values."""
        return SymbolCoin.build(self.title, self.epsilon, len(self.sensitive))

    @property
    def shown(self) -> int:
        """Number of 64-bit words for which a non-sensitive value is reported unchanged."""
        return self.coin.keep - self.coin.other

    @property
    def revealed(self) -> Fraction:
        return Fraction(self.shown, _SCALE)

    @property
    def share_of_common(self) -> Fraction:
        return Fraction(len(self.sensitive), len(self.sensitive) + 1)

    @property
    def kinds(self) -> tuple[Chances, ...]:
        return (self.coin.p, self.coin.q), (self.revealed, Fraction(0))

    @cached_property
    def report_format(self) -> ReportFormat:
        return symbols(self.domain_size)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return symbol_counts(self.domain_size)

    @cached_property
    def estimator(self) -> SymbolSupportsByKind:
        return SymbolSupportsByKind(self.domain_size, self.kinds, self.kind_of, revealed=self.revealed)

    @property
    def outcomes(self) -> int:
        return self.domain_size

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        """A coin below ``keep`` (``shown`` if not sensitive) gives the value itself, any other a sensitive one."""
        # Constant time: both cases are computed for every value, and one is selected.
        coins, sensitive = np.ascontiguousarray(words[:, 0]), np.array(self.sensitive)
        hidden, places = self.places(values)
        last, shown, other = len(sensitive) - 1, U64(self.shown), U64(self.coin.other)
        drawn = np.zeros(len(values), np.int64)
        if last:  # a single sensitive value is always kept
            respond.over(len(values))(np.minimum(places, last), coins, U64(self.coin.keep), other, drawn)
        rank = (np.maximum(coins, shown) - shown) // other
        named = np.where(coins < shown, values, sensitive[np.minimum(rank, U64(last)).astype(np.int64)])
        out[:] = np.where(hidden, sensitive[drawn], named)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_symbols.compiled(np.ascontiguousarray(data), state)

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        law, other_law = self.law_of(value), self.law_of(other)
        own = {value, other}
        rest = len(set(self.sensitive) - own)
        bands = [Band(1, law(symbol), other_law(symbol)) for symbol in own if law(symbol)]
        few = len(self.sensitive)
        return Profile.of([*bands, Band(rest, rest * self.coin.q, rest * self.coin.q)], few + int(self.kind_of[other]))

    def law_of(self, value: int) -> Any:
        """Return the probability of every symbol under a value, as a function."""
        hidden = set(self.sensitive)

        def chance(symbol: int) -> Fraction:
            return (self.revealed if symbol == value else Fraction(0)) + (self.coin.q if symbol in hidden else 0)

        return chance

    def likelihoods(self, data: Array) -> Floats:
        named, values = data[:, None] == np.arange(self.domain_size), self.kind_of[data][:, None]
        return np.where(named, 1.0, np.where(values == SENSITIVE, float(self.coin.q / self.coin.p), 0.0))

    def law(self, value: int, public: Any = None) -> Law:
        del public
        self.check_enumerable(value)
        return {symbol: self.law_of(value)(symbol) for symbol in sorted({*self.sensitive, value})}
