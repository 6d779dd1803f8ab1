"""Hadamard response (HR): report a position where the value's row of a Hadamard matrix is probably +1."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Evidence, Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.numerics.count_laws import CountLaw, Observed, ScoreLaw, support_law
from fldp.numerics.kernels import ONE, U64, Kernel
from fldp.numerics.types import Counts, Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard, xor_pairs
from fldp.numerics.word_kernels import parity
from fldp.oracles.base.estimator import Estimator
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.symbol_reports import add_symbols, symbol_counts, symbols
from fldp.oracles.plain.grr import respond
from fldp.randomness.coins import SymbolCoin
from fldp.randomness.stream import Words
from fldp.responder.symbol_responses import MAX_BLOCKS as MAX_BLOCKS
from fldp.responder.symbol_responses import power_of_two
from fldp.support.validation import Described, fail


@Kernel
def draw_positions(values: Any, words: Any, halves: Any, shift: Any, bits: Any, out: Any) -> None:
    """Draw for each value a uniform symbol of its half.

    Word 0 holds a position. Half ``2 j`` is where the row of the value is +1 in block ``j``, half ``2 j + 1`` where it
    is -1.
    """
    mask = (ONE << bits) - ONE
    for k in range(len(values)):
        row = (U64(values[k]) >> shift) + ONE
        position = words[2 * k] & mask
        half = U64(halves[k])
        wrong = parity(position & row) ^ (half & ONE)
        # Flipping the lowest set bit of the row number flips the sign of a position. Doing so where the sign is wrong
        # maps two positions to one, so the result is uniform over the half. ``~wrong + 1`` is all ones or zero.
        out[k] = (half >> ONE) << bits | (position ^ (row & (~row + ONE) & (~wrong + ONE)))


@dataclass(frozen=True, eq=False)
class RowSigns(Estimator):
    """Estimates from the signs of the rows: value ``v`` has row ``v // blocks + 1`` of block ``v mod blocks``."""

    blocks: int
    order: int
    p: Fraction
    q: Fraction

    def to_rows(self, marks: NDArray[np.integer | np.bool_]) -> NDArray[np.int64]:
        """Scatter a number for each value to its row, one line per block."""
        rows = np.zeros((self.blocks, self.order), np.int64)
        values = np.arange(self.size)
        rows[values & (self.blocks - 1), values // self.blocks + 1] = marks
        return rows

    def from_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Gather a number for each value from its row: the inverse of ``to_rows``."""
        return np.asarray(rows[:, 1:].T.reshape(-1)[: self.size])

    def decode(self, tally: Tally, **options: Option) -> Floats:
        """The transform gives +1 reports minus -1 reports in each row; the mean for the own value is ``p - q``."""
        del options
        signs = walsh_hadamard(tally.state.reshape(self.blocks, -1))
        return np.asarray(self.from_rows(signs) / float(self.p - self.q), np.float64)

    def variances(self, counts: Floats, totals: tuple[int, ...], **options: Option) -> Floats:
        """Return the variances of all estimates; they depend on how many users the block of a value has."""
        blocks = np.arange(self.size) & (self.blocks - 1)
        own = np.clip(counts, 0, totals[0])
        if "reports" in options:  # each is 1 or -1 for every value of its block: the sum of squares is known
            reports = np.asarray(options["reports"], np.float64)[blocks]
            return np.asarray(np.maximum(reports / float(self.p - self.q) ** 2 - own, own * self._least))
        inside = np.bincount(blocks, counts) if self.blocks > 1 else np.array([totals[0]], np.float64)
        return np.asarray(self._variance(totals[0], own, np.clip(inside, 0, totals[0])[blocks]))

    @property
    def _least(self) -> float:
        """The least variance that a report adds to the estimate of its own value."""
        return float((self.p + self.q) / (self.p - self.q) ** 2 - 1)

    def context(self, tally: Tally) -> Mapping[str, Option]:
        """How many reports are in each block, which the tally knows exactly."""
        return {"reports": self._reports(tally)} if self.blocks > 1 else {}

    def _reports(self, tally: Tally) -> NDArray[np.int64]:
        return np.asarray(tally.state.reshape(self.blocks, -1).sum(axis=1))

    def evidence(self, tally: Tally, counts: Floats, **options: Option) -> tuple[Evidence, ...]:
        """Given the reports of a block, the signs of values that nobody holds are +1 or -1 with equal probability."""
        del options
        p, q, gap = float(self.p), float(self.q), float(self.p - self.q)
        if self.blocks == 1:
            plus = np.rint((counts * gap + tally.n) / 2)
            return (Observed.of(support_law(p, 0.5), plus, tally.n, tally.n),)
        reports = self._reports(tally).astype(np.float64)[np.arange(self.size) & (self.blocks - 1)]
        own = ScoreLaw.of((1.0, p), (-1.0, q), (0.0, 1 - p - q))
        law = CountLaw(own, ScoreLaw.of((1.0, 0.5), (-1.0, 0.5)), step=2.0, absorbed=p + q)
        return (Observed.of(law, np.rint(counts * gap), reports, tally.n),)

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        counts = np.asarray(count, np.float64)
        if counts.shape == (self.size,):
            return self.variances(counts, (n,), **options)
        return self._variance(n, count, n)

    def _variance(self, n: int, count: Counts, inside: Counts) -> float | Floats:
        """Return the variance for a value that ``count`` users hold, with ``inside`` users in its block."""
        p, q = self.p, self.q
        near, far = float((p + q) / (p - q) ** 2), float(2 * q / (p - q) ** 2)
        most: float | Floats = np.maximum(inside, count)
        return most * (near - far) + n * far - count

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        """Estimates of rows s and t of one block have covariance 1/(p-q) times the count of its row s^t.

        The product of two rows is the row s^t, and the mean of that sign is ``p - q`` for its own value, else 0. A
        report is in one block, so estimates in different ones have none.
        """
        del n, options
        pairs = xor_pairs(self.to_rows(members))
        return float(self.from_rows(pairs) @ counts) / float(self.p - self.q)


@dataclass(frozen=True, repr=False)
class HR(FrequencyOracle):
    """Hadamard response: a symbol from the half of the value's block where its row is +1, or from another half.

    Value ``v`` is in block ``v mod blocks``, and has there row ``v // blocks + 1`` of the matrix
    ``H[i][j] = (-1)^popcount(i & j)``, whose order is the least power of two above these rows. A row splits every block
    into two halves of one size. The report is uniform over the own half with probability ``p``, and over each other one
    with ``q``, ``p/q = e^eps``. So a symbol is at most ``e^eps`` times as likely under one value as under another, and
    it is eps-LDP.

    With one block the variance is ``((e^eps+1)/(e^eps-1))^2`` per user, which is best for a small eps; for a large one,
    take about ``e^eps`` blocks. Each report of a value in another block adds ``2q/(p-q)^2``, of another value in the
    same block ``(p+q)/(p-q)^2``, of its own ``(p+q)/(p-q)^2 - 1``. Of a single count, ``variance`` does not know the
    block: it is the largest that it can be, with all users in one block. A transform for each block decodes all values.

    Acharya, Sun, Zhang: Hadamard response: estimating distributions privately, efficiently, and with little
    communication, AISTATS 2019.

    Report: one position
    Fields: the symbol: the bits of ``ceil(d / blocks)``, and as many more as ``blocks`` is a power of two
    Words: 2 | position in bits 0..; a coin as for GRR that chooses the half of a block
    Best fake: the symbol that agrees with most targets of its block, by one transform | ``(most agreeing less
      disagreeing) / (p - q)``

    >>> oracle = HR(epsilon=1.0, domain_size=1023)
    >>> oracle._symbols, oracle.report_format.bits
    (1024, 10)
    >>> oracle.privatize([1, 2, 3])
    <3 reports of HR(epsilon=1.0, domain_size=1023)>
    >>> even = np.full(1024, 1 / 1024)
    >>> [round(float(HR(5.0, 1024, blocks=k).variance(1, even)[0]), 3) for k in (1, 128)]
    [1.026, 0.058]
    """

    blocks: int = 1

    examples = ((1.0, 5), (0.1, 2), (3.0, 255), (0.5, 1024), (3.0, 300, 16))
    name = "hr"
    words = 2
    params = {  # noqa: RUF012
        **FrequencyOracle.params,
        "blocks": Described(power_of_two, "1 (the default), 2, 4, ... near e^epsilon"),
    }

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin that chooses the half."""
        return SymbolCoin.build(self.title, self.epsilon, 2 * self.blocks)

    def _settle_parameters(self) -> None:
        if self.blocks > self.domain_size:
            raise fail(self.title, "blocks", f"at most domain_size, {self.domain_size}", self.blocks)

    @property
    def _shift(self) -> int:
        """The binary logarithm of the number of blocks."""
        return self.blocks.bit_length() - 1

    @property
    def _bits(self) -> int:
        """The binary logarithm of the order of the matrix."""
        return (-(-self.domain_size // self.blocks)).bit_length()

    @property
    def _order(self) -> int:
        """The order of the matrix: the number of symbols of a block."""
        return 1 << self._bits

    @property
    def _symbols(self) -> int:
        """The number of symbols."""
        return self.blocks << self._bits

    @cached_property
    def report_format(self) -> ReportFormat:
        return symbols(self._symbols)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return symbol_counts(self._symbols)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        halves = np.empty(len(values), np.int64)
        own = (values & (self.blocks - 1)) << 1
        respond.over(len(values))(own, words[:, 1], U64(self.coin.keep), U64(self.coin.other), halves)
        draw_positions.over(len(values))(values, words.reshape(-1), halves, U64(self._shift), U64(self._bits), out)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_symbols.for_work(data.size)(np.ascontiguousarray(data), state)

    @cached_property
    def estimator(self) -> RowSigns:
        return RowSigns(self.domain_size, self.blocks, self._order, self.coin.p, self.coin.q)
