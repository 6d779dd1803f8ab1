"""Randomized response (RR, GRR): report the value itself, or another one."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array
from fldp.data.values import Values
from fldp.numerics.kernels import ONE, U64, Kernel
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.support_counts import Supports
from fldp.oracles.base.symbol_reports import add_symbols, symbol_counts, symbols
from fldp.randomness.coins import SymbolCoin
from fldp.randomness.stream import Words
from fldp.responder.symbol_responses import two_values
from fldp.support.validation import positive


@Kernel
def respond(symbols: Any, coins: Any, keep: Any, other: Any, out: Any) -> None:
    """Keep each symbol where its coin is below ``keep``; each other symbol has ``other`` of the remaining coins."""
    # Constant time: both cases take the same steps, and the one that does not apply is multiplied by 0.
    for i in range(len(symbols)):
        symbol, changed = U64(symbols[i]), U64(coins[i] >= keep)
        another = changed * (coins[i] - keep) // other
        # Other symbols are numbered without the true one, so those from it on move up by 1.
        out[i] = (ONE - changed) * symbol + changed * (another + U64(another >= symbol))


@dataclass(frozen=True, eq=False)
class SymbolSupports(Supports):
    """Supports of reports that support one value each."""

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        """Symbols exclude each other in a report, so two supports have covariance -pq or -q^2."""
        del options
        p, q, size = self.p, self.q, int(members.sum())
        inside = float(counts[members].sum())
        held = inside * float(2 * (size - 1) * p * q + (size - 1) * (size - 2) * q * q)
        unheld = (n - inside) * float(size * (size - 1) * q * q)
        return -(held + unheld) / float((p - q) ** 2)

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        """With probability p - q a report is the value itself, else it is uniform over all values."""
        true = generator.binomial(counts, float(self.p - self.q))
        rest = int(counts.sum() - true.sum())
        return np.asarray(true + generator.multinomial(rest, np.full(self.size, 1 / self.size)))


@dataclass(frozen=True, eq=False)
class SymbolResponse:
    """Randomized response among symbols: the mechanism of GRR and RR."""

    size: int
    coin: SymbolCoin

    words = 1

    @cached_property
    def report_format(self) -> ReportFormat:
        """One symbol."""
        return symbols(self.size)

    @cached_property
    def tally_format(self) -> TallyFormat:
        """How often each symbol is reported."""
        return symbol_counts(self.size)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        """Apply the coin to every value."""
        respond.over(len(values))(values, words[:, 0], U64(self.coin.keep), U64(self.coin.other), out)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        """Add the symbols up."""
        add_symbols.for_work(data.size)(np.ascontiguousarray(data), state)

    @cached_property
    def estimator(self) -> SymbolSupports:
        """A report supports its symbol alone."""
        return SymbolSupports(self.size, self.coin.p, self.coin.q)


@dataclass(frozen=True, repr=False)
class GRR(FrequencyOracle):
    """Generalised randomized response: the true value with probability ``p``, each other one with ``q``.

    ``p = e^eps/(e^eps+d-1)``, ``q = 1/(e^eps+d-1)``. It is eps-LDP because ``p/q = e^eps``. Best where the domain is
    small against ``e^eps``.

    Kairouz, Bonawitz, Ramage: Discrete distribution estimation under local privacy, ICML 2016.

    Report: one value
    Fields: the symbol: the bits of ``d - 1``
    Words: 1 | the coin among ``d`` symbols, applied to the value
    Best fake: a target | ``(1 - r q) / (p - q)``

    >>> oracle = GRR(epsilon=1.0, domain_size=5)
    >>> oracle.estimate(oracle.tally(oracle.privatize([0] * 900 + [3] * 100, rng=7))).counts.round()
    array([...])
    """

    examples = ((1.0, 5), (3.0, 256), (0.5, 1000))
    name = "grr"

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin."""
        return SymbolCoin.build(self.title, self.epsilon, self.domain_size)

    @cached_property
    def _mechanism(self) -> SymbolResponse:
        return SymbolResponse(self.domain_size, self.coin)

    @property
    def estimator(self) -> SymbolSupports:
        return self._mechanism.estimator


@dataclass(frozen=True, repr=False)
class RR(FrequencyOracle):
    """Randomized response on two values: the true one with ``p = e^eps/(e^eps+1)``, else the *opposite* one.

    Warner: Randomized response, JASA 1965.

    Report: one of two values | 1 (d = 2)
    Fields: the symbol: 1
    Words: 1 | the coin among ``d`` symbols, applied to the value
    Best fake: a target | ``(1 - r q) / (p - q)``

    >>> RR(epsilon=1.0).privatize([0, 1, 1])
    <3 reports of RR(epsilon=1.0)>
    """

    domain_size: int = 2

    examples = ((1.0,), (0.1,))
    name = "rr"
    params = {"epsilon": positive, "domain_size": two_values}  # noqa: RUF012

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin."""
        return SymbolCoin.build(self.title, self.epsilon, 2)

    @cached_property
    def _mechanism(self) -> SymbolResponse:
        return SymbolResponse(self.domain_size, self.coin)

    @property
    def estimator(self) -> SymbolSupports:
        return self._mechanism.estimator
