"""The exponential mechanism (Exponential): report a value that is probably near the true one."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.numerics.kernels import Kernel
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.linear_decoding import LinearDecoding
from fldp.oracles.base.symbol_reports import add_symbols, symbol_counts, symbols
from fldp.oracles.base.treatment import DISTANCES, distance_name
from fldp.randomness.coins import BITS, LOSS, degenerate, exp_lower
from fldp.randomness.stream import Words
from fldp.support.validation import Described, integer, positive

_SCALE, _FINE = 1 << BITS, 1 << 128
_MIN_REPORTS = 4  # with fewer, a normal 95 % interval would cover a count less than 90 % of the time
_MAX_CONDITION = 1e9  # beyond it, rounding shows in the estimates
MAX_NEAR = 512  # values: the channel is a matrix of their pairs, and it is inverted


@Kernel
def choose(values: Any, coins: Any, ends: Any, out: Any) -> None:
    """Choose the first symbol whose end, in the row of the value, lies above the coin; the last one has no end."""
    # Constant time: a branchless binary search with the same number of steps for every value and coin.
    size, first = ends.shape[1], 1
    while 2 * first <= size:
        first *= 2
    for i in range(len(values)):
        row, place, step = ends[values[i]], 0, first
        while step > 0:
            end = place + step
            place += step * int((end <= size) & (row[min(end, size) - 1] <= coins[i]))
            step //= 2
        out[i] = place


@dataclass(frozen=True, eq=False)
class Channel(LinearDecoding):
    """Estimates by the inverse of a channel, which has the probability of every symbol, a row for each value."""

    channel: Floats

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of the channel: row ``s`` is what a report of symbol ``s`` adds to the estimates."""
        return np.asarray(np.linalg.inv(self.channel), np.float64)

    @property
    def condition(self) -> float:
        """The condition number of the channel in the 1-norm: how much decoding can amplify rounding errors."""
        try:
            return float(np.linalg.norm(self.channel, 1) * np.linalg.norm(self.inverse, 1))
        except np.linalg.LinAlgError:
            return float("inf")

    @cached_property
    def spreads(self) -> Floats:
        """The variance that a report of each value (row) adds to the estimate of each value (column)."""
        return self.channel @ self.inverse**2 - np.eye(self.size)

    @cached_property
    def least_variances(self) -> Floats:
        """The variance of four reports: where few are near a value, its estimate would seem to have none."""
        return _MIN_REPORTS * self.jumps**2

    def decode(self, tally: Tally, **options: Option) -> Floats:
        del options
        return np.asarray(tally.state @ self.inverse)

    def worths(self, weights: Floats) -> Floats:
        return np.asarray(self.inverse @ weights)

    def expected(self, scores: Floats) -> Floats:
        return np.asarray(self.channel @ scores)

    def expected_state(self, counts: Floats) -> Floats:
        return np.asarray(counts @ self.channel)

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        return np.asarray(generator.multinomial(counts, self.channel).sum(axis=0))


@dataclass(frozen=True, repr=False)
class Exponential(FrequencyOracle):
    """The exponential mechanism on a line or a ring of values: the nearer to the true value, the more likely.

    A report is the value at distance ``k`` with a probability proportional to ``e^(-alpha k/2)``. The weights of two
    values at distance ``k`` differ by at most ``e^(alpha k/2)``, and so do the sums of all their weights: alpha-CLDP,
    near values are protected more than far ones. On a ring the sums are equal, and the weights are ``e^(-alpha k)``.

    ``epsilon`` protects any two values: it is ``alpha`` times the largest distance, which is ``d - 1`` on a line and
    ``d // 2`` on a ring. Estimates come from the inverse of the channel, the matrix of all these probabilities, and
    are unbiased. Of a single count, ``variance`` is the largest that it can be, whoever holds the other values.

    Gursoy, Tamersoy, Truex, Wei, Liu: Secure and utility-aware data collection with condensed local differential
    privacy, TDSC 2019.

    Report: one value | 10 | CLDP: near values are protected more than far ones
    Fields: the symbol: the bits of ``d - 1``
    Words: 1 | the symbols follow each other in ``[0, 2^64)``, each with its words in the row of the value
    Best fake: the symbol whose row of the inverse channel has the largest sum over the targets | that sum

    >>> oracle = Exponential(epsilon=4.0, domain_size=9, distance="line")
    >>> oracle.alpha, oracle._channel[4].round(2).tolist()
    (0.5, [0.07, 0.09, 0.11, 0.14, 0.18, 0.14, 0.11, 0.09, 0.07])
    >>> oracle.privatize([0, 4, 8])
    <3 reports of Exponential(epsilon=4.0, domain_size=9, distance='line')>
    """

    distance: str = field(kw_only=True)

    examples = (
        {"epsilon": 1.0, "domain_size": 5, "distance": "line"},
        {"epsilon": 4.0, "domain_size": 12, "distance": "ring"},
        {"epsilon": 8.0, "domain_size": 100, "distance": "line"},
    )
    name = "exponential"
    words = 1
    params = {  # noqa: RUF012
        "epsilon": positive,
        "domain_size": integer(2, MAX_NEAR),
        "distance": Described(distance_name, "line or ring"),
    }

    def _settle_parameters(self) -> None:
        if not self.epsilon < BITS or not self.estimator.condition <= _MAX_CONDITION:
            raise degenerate(self.title, self.epsilon)

    @property
    def alpha(self) -> float:
        """The epsilon between neighbours."""
        return self.epsilon / DISTANCES[self.distance].most(self.domain_size)

    @cached_property
    def _shares(self) -> tuple[tuple[int, ...], ...]:
        """For each value, the number of the ``2^64`` words that give each symbol.

        Rounded down; the words left over go to the value itself. The ratio from one distance to the next is reduced by
        1/2048 of its excess over 1, so that rounding does not break the promise, which is checked.
        """
        between = DISTANCES[self.distance].between
        weights = self._weights()
        rows = []
        for value in range(self.domain_size):
            near = [weights[between(value, symbol, self.domain_size)] for symbol in range(self.domain_size)]
            total = sum(near)
            row = [_SCALE * weight // total for weight in near]
            row[value] += _SCALE - sum(row)
            rows.append(tuple(row))
        if not self._is_kept(rows):
            raise degenerate(self.title, self.epsilon)
        return tuple(rows)

    def _weights(self) -> list[int]:
        """Return the weights of all distances; distance 0 has weight ``2^128``."""
        distance = DISTANCES[self.distance]
        power = int(exp_lower(self.alpha if distance.is_even else self.alpha / 2) * _FINE)
        step = power - (power - _FINE) // 2048
        weights = [_FINE]
        for _ in range(distance.most(self.domain_size)):
            weights.append(weights[-1] * _FINE // step)
        return weights

    def _is_kept(self, rows: list[tuple[int, ...]]) -> bool:
        """Whether neighbours are within ``e^alpha`` and still differ; all other pairs follow from neighbours."""
        power, weights = int(exp_lower(self.alpha) * _FINE), self._weights()
        least = 1 + (1 - LOSS) * (Fraction(weights[0], weights[1]) - 1)
        around = range(-1, self.domain_size - 1) if self.distance == "ring" else range(self.domain_size - 1)
        for value in around:
            row, after = rows[value], rows[value + 1]
            if any(a * _FINE > power * b or b * _FINE > power * a for a, b in zip(row, after, strict=True)):
                return False
            if not 0 < row[value + 1] * least <= row[value] or least == 1:
                return False
        return True

    @cached_property
    def _channel(self) -> Floats:
        """The probability of every symbol, a row for each value."""
        return np.array([[share / _SCALE for share in row] for row in self._shares])

    @cached_property
    def _ends(self) -> NDArray[np.uint64]:
        """Where in ``[0, 2^64)`` the words of each symbol end, except the last."""
        sums = [np.cumsum(np.array(row[:-1], np.uint64), dtype=np.uint64) for row in self._shares]
        return np.array(sums, np.uint64)

    @cached_property
    def estimator(self) -> Channel:
        return Channel(self.domain_size, self._channel)

    @property
    def _inverse(self) -> Floats:
        """The inverse of the channel: row ``s`` is what a report of symbol ``s`` adds to the estimates."""
        return self.estimator.inverse

    @cached_property
    def report_format(self) -> ReportFormat:
        return symbols(self.domain_size)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return symbol_counts(self.domain_size)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        choose.over(len(values))(values, words[:, 0], self._ends, out)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_symbols.for_work(data.size)(np.ascontiguousarray(data), state)
