"""Wave: of values in order, a report that is probably near the true one; the discrete square wave."""

from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.projections import METHODS
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.errors import ParameterError
from fldp.numerics.kernels import ONE, U64, Kernel
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.linear_decoding import COLUMNS, LinearDecoding
from fldp.oracles.base.symbol_reports import add_symbols, symbol_counts, symbols
from fldp.randomness.coins import SetCoin
from fldp.randomness.stream import Words
from fldp.support.validation import Described, fail, integer, positive

MIN_CELLS, MAX_CELLS = 3, 4096  # values: estimates invert a matrix of their pairs


@Kernel
def draw_outputs(values: Any, words: Any, own: Any, other: Any, keep: Any, inside: Any, out: Any) -> None:
    """Draw an output for each value: each of the ``inside`` ones from the value on has ``own`` words, others less."""
    # Constant time: both cases are worked out, and one is multiplied by 0.
    for i in range(len(values)):
        value, near = U64(values[i]), U64(words[i] < keep)
        rank = (ONE - near) * (words[i] - keep) // other
        far = rank + inside * U64(rank >= value)
        out[i] = near * (value + near * words[i] // own) + (ONE - near) * far


@dataclass(frozen=True, eq=False)
class WaveScores(LinearDecoding):
    """Least squares on the outputs, weighted for values that are equally frequent.

    ``W`` has a 1 where an output lies in the window of a value, ``h`` counts the windows of each output, and an output
    has the mean probability ``m``. A report of value ``x`` is output ``y`` with probability ``q + gap W[y, x]``. So
    what a report tells about the shares, over the shares that are equal, is ``gap^2`` times ``R``, and estimates are
    ``n/B + R^- (W - h/B)' ((c - n m)/m) / gap`` for the counts ``c`` of the outputs.
    """

    width: int
    coin: SetCoin

    @property
    def gap(self) -> float:
        """The probability of an output inside the window minus the probability of one outside, rounded once."""
        return float(self.coin.p - self.coin.q)

    @cached_property
    def windows(self) -> Floats:
        """The number of values whose window holds each output."""
        first, end = self._reach
        return (end - first).astype(np.float64)

    @cached_property
    def mean(self) -> Floats:
        """The probability of each output if all values are equally frequent."""
        return float(self.coin.q) + self.gap * self.windows / self.size

    @property
    def _reach(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first value whose window holds each output, and the end of these values."""
        outputs = np.arange(self.size + 2 * self.width)
        return np.maximum(outputs - 2 * self.width, 0), np.minimum(outputs + 1, self.size)

    def _over_values(self, table: Floats) -> Floats:
        """Add up, for each output, the rows of the values in whose windows it lies."""
        first, end = self._reach
        sums = _sums(table)
        return np.asarray(sums[end] - sums[first])

    def _over_outputs(self, table: Floats) -> Floats:
        """Add up, for each value, the rows of the outputs in its window."""
        sums, first = _sums(table), np.arange(self.size)
        return np.asarray(sums[first + 2 * self.width + 1] - sums[first])

    @cached_property
    def pattern(self) -> Floats:
        """``R``, which with the square of the gap is the information of one report about the shares."""
        sums, values = _sums(1 / self.mean), np.arange(self.size)
        end = np.minimum.outer(values, values) + 2 * self.width + 1
        start = np.minimum(np.maximum.outer(values, values), end)
        part = self.windows / self.size
        once = self._over_outputs(part / self.mean)
        return np.asarray(sums[end] - sums[start] - once[:, None] - once + float(part @ (part / self.mean)))

    @property
    def information(self) -> Floats:
        """What one report tells about the shares of all values, where these are near equal: its rows add up to 0."""
        return self.gap**2 * self.pattern

    @cached_property
    def _solution(self) -> Floats:
        """The inverse of ``R`` among weights whose sum is 0; on equal weights it is 0."""
        level = float(np.trace(self.pattern)) / self.size**2  # as large as the rest, so that nothing is lost
        inverse = np.linalg.inv(self.pattern + level)
        return np.asarray(inverse - inverse.mean(axis=0) - inverse.mean(axis=1)[:, None] + inverse.mean())

    def scores(self, state: NDArray[np.int64], n: int) -> Floats:
        """Return what these outputs say about every value, on average 0 if all are equally frequent."""
        over = (state - n * self.mean) / self.mean
        return np.asarray(self.gap * (self._over_outputs(over) - float(self.windows @ over) / self.size))

    def decode(self, tally: Tally, **options: Option) -> Floats:
        del options
        return np.asarray(tally.n / self.size + self._solution @ self.scores(tally.state, tally.n) / self.gap**2)

    def worths(self, weights: Floats) -> Floats:
        level = weights.mean(axis=0)
        mixed = self._solution @ (weights - level)
        shape = (-1,) + (1,) * (weights.ndim - 1)
        level_of = self.windows.reshape(shape) * mixed.sum(axis=0) / self.size
        return np.asarray(level + (self._over_values(mixed) - level_of) / (self.gap * self.mean.reshape(shape)))

    def expected(self, scores: Floats) -> Floats:
        return np.asarray(float(self.coin.q) * scores.sum(axis=0) + self.gap * self._over_outputs(scores))

    def expected_state(self, counts: Floats) -> Floats:
        return np.asarray(float(self.coin.q) * counts.sum() + self.gap * self._over_values(counts))

    @cached_property
    def spreads(self) -> Floats:
        every = np.eye(self.size)
        parts = (slice(start, start + COLUMNS) for start in range(0, self.size, COLUMNS))
        return np.concatenate([self.expected(self.worths(every[:, part]) ** 2) for part in parts], axis=1) - every

    def variances(self, counts: Floats, totals: tuple[int, ...], **options: Option) -> Floats:
        """Return the variances at these counts, not below those at repaired ones: few reports may seem to have none."""
        return np.maximum(
            super().variances(counts, totals, **options), self._repaired(counts, totals[0]) @ self.spreads
        )

    @staticmethod
    def _repaired(counts: Floats, total: int) -> Floats:
        return METHODS["norm-sub"](counts, float(total)) if total else counts

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        """Draw who sends any output at all, and spread the others over the windows of their values."""
        inside, every = 2 * self.width + 1, self.size + 2 * self.width
        lost = generator.binomial(counts, float(every * self.coin.q))
        state = generator.multinomial(int(lost.sum()), np.full(every, 1 / every))
        for value in np.flatnonzero(counts > lost):
            state[value : value + inside] += generator.multinomial(
                counts[value] - lost[value], np.full(inside, 1 / inside)
            )
        return np.asarray(state)


def _sums(table: Floats) -> Floats:
    """Return the sums of the first 0, 1, 2, ... rows."""
    return np.concatenate([np.zeros((1, *table.shape[1:])), np.cumsum(table, axis=0)])


@dataclass(frozen=True, repr=False)
class Wave(FrequencyOracle):
    """The discrete square wave, for values in order: an output from ``x`` to ``x + 2 width`` is ``e^eps`` as likely.

    There are ``d + 2 width`` outputs. Every value has ``2 width + 1`` of them in its window, each with probability
    ``own/2^64``, and every other output has ``other/2^64``. It is eps-LDP because each output has one of the same two
    probabilities under every value, and these are at most ``e^eps`` to 1. A narrow wave is for distributions, besides
    reports of the value itself; a wide one is for means: with ``width = d/2`` it says whether the value lies above a
    random threshold. ``2 width + 1`` and ``d - 1`` have no common factor, so that no word is left over.

    Estimates are least squares on the outputs, and unbiased. Of a single count, ``variance`` is the largest that it can
    be, whoever holds the other values. Neighbours have large errors of opposite signs: read sums of them.

    Li, Wang, Lopuhaä-Zwakenberg, Li, Škoric: Estimating numerical distributions under local differential privacy,
    SIGMOD 2020, whose square wave is continuous.

    Report: an output near the value | 11 | eps-LDP
    Fields: the output: the bits of ``d + 2 width - 1``
    Words: 1 | coin ``u``: below ``keep`` the output ``x + u // own``, else number ``(u - keep) // other`` of those
      outside the window
    Best fake: the output that adds most to the targets | that sum

    >>> oracle = Wave(epsilon=1.0, domain_size=32, width=5)
    >>> oracle._outputs, oracle.report_format.bits
    (42, 6)
    >>> oracle.privatize([0, 16, 31])
    <3 reports of Wave(epsilon=1.0, domain_size=32, width=5)>
    """

    width: int = field(kw_only=True)

    examples = (
        {"epsilon": 1.0, "domain_size": 5, "width": 1},
        {"epsilon": 1.0, "domain_size": 32, "width": 5},
        {"epsilon": 2.0, "domain_size": 256, "width": 63},
        {"epsilon": 0.5, "domain_size": 11, "width": 5},
        {"epsilon": 4.0, "domain_size": 100, "width": 3},
    )
    name = "wave"
    words = 1
    params = {  # noqa: RUF012
        "epsilon": positive,
        "domain_size": integer(MIN_CELLS, MAX_CELLS),
        "width": Described(integer(1, MAX_CELLS), "how far a report is near its value, to each side"),
    }

    def _settle_parameters(self) -> None:
        if self.width > self.domain_size:
            raise fail(self.title, "width", f"at most domain_size, {self.domain_size}", self.width)
        if not _fits(self.width, self.domain_size):
            good = " and ".join(map(str, nearest_widths(self.width, self.domain_size)))
            rule = f"have 2 width + 1 without a common factor with domain_size - 1, got {self.width}"
            raise ParameterError(
                f"{self.title}: width must {rule} for {self.domain_size} ({good} {'do' if ' ' in good else 'does'})"
            )

    @cached_property
    def coin(self) -> SetCoin:
        """The realised coin."""
        return SetCoin.build(self.title, self.epsilon, 2 * self.width + 1, self.domain_size - 1)

    @property
    def _outputs(self) -> int:
        """The number of different reports."""
        return self.domain_size + 2 * self.width

    @cached_property
    def report_format(self) -> ReportFormat:
        return symbols(self._outputs)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return symbol_counts(self._outputs)

    @cached_property
    def estimator(self) -> WaveScores:
        return WaveScores(self.domain_size, self.width, self.coin)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        own, other, keep = U64(self.coin.own), U64(self.coin.other), U64(self.coin.keep)
        draw_outputs.over(len(values))(values, words[:, 0], own, other, keep, U64(self.coin.inside), out)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_symbols.compiled(np.ascontiguousarray(data), state)


def _fits(width: int, domain_size: int) -> bool:
    return 1 <= width <= domain_size and gcd(2 * width + 1, domain_size - 1) == 1


def nearest_widths(near: float, domain_size: int) -> list[int]:
    """Return the good widths that are nearest below and above a number.

    >>> nearest_widths(7, 16), nearest_widths(0.2, 32)
    ([6, 8], [1])
    """
    below = next((width for width in range(min(int(near), domain_size), 0, -1) if _fits(width, domain_size)), None)
    above = next((width for width in range(max(1, int(near) + 1), domain_size + 1) if _fits(width, domain_size)), None)
    return [width for width in (below, above) if width is not None]
