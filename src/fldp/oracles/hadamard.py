"""Hadamard response: report a position where the value's row of a Hadamard matrix is probably +1."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.kernels import ONE, U64, Kernel, parity, walsh_hadamard, xor_pairs
from fldp.oracle import Floats, Law, symbol_dtype
from fldp.oracles.pure import PureOracle
from fldp.profile import Band, Profile
from fldp.reports import Array, Tally
from fldp.stream import Words
from fldp.thresholds import SymbolCoin
from fldp.values import Values


@Kernel
def draw_positions(values: Any, words: Any, mask: Any, keep: Any, out: Any) -> None:
    """Draw for each value a position where its row is +1 if the coin is below ``keep``, and else one where it is -1.

    Word 0 holds a position, word 1 the coin. Where the position has the wrong sign, the lowest bit of the row's number
    is flipped in it, which gives it the right one: a two-to-one map, so it is uniform over its half.
    """
    for k in range(len(values)):
        row = U64(values[k]) + ONE
        position = words[2 * k] & mask
        wrong = parity(position & row) ^ U64(words[2 * k + 1] >= keep)
        out[k] = position ^ (row & (~row + ONE) & (~wrong + ONE))


@dataclass(frozen=True, repr=False)
class HR(PureOracle):
    """Hadamard response: a symbol of ``K``, from the half where the value's row is +1 with probability ``p``.

    ``K`` is the least power of two above ``d``, ``H[i][j] = (-1)^popcount(i & j)``, and value ``v`` has row ``v + 1``.
    ``p = e^eps/(e^eps+1)``. Both halves have ``K/2`` symbols, so a symbol is ``e^eps`` times as likely in one as in
    the other, and it is eps-LDP. Two different rows agree in half of the places, both where the first is +1 and where
    it is -1, so ``q = 1/2`` exactly. The variance of a rare value is ``((e^eps+1)/(e^eps-1))^2`` per user, which is
    best for a small eps. One transform decodes all values.

    Acharya, Sun, Zhang: Hadamard response: estimating distributions privately, efficiently, and with little
    communication, AISTATS 2019 (the form for high privacy).

    >>> oracle = HR(epsilon=1.0, domain_size=1023)
    >>> oracle.symbols, oracle.report_bits
    (1024, 10)
    >>> oracle.privatize([1, 2, 3])
    <3 reports of HR(epsilon=1.0, domain_size=1023)>
    """

    name = "hr"

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin that chooses the half."""
        return SymbolCoin.build(self.title, self.epsilon, 2)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.coin  # refuse a degenerate epsilon now

    @property
    def symbols(self) -> int:
        """The number ``K`` of symbols."""
        return 1 << self.domain_size.bit_length()

    @property
    def p(self) -> Fraction:
        return self.coin.p

    @property
    def q(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def words(self) -> int:
        return 2

    @property
    def report_dtype(self) -> Any:
        return symbol_dtype(self.symbols)

    @property
    def server_work(self) -> str:
        return "O(n + d log d)"

    @property
    def field_bits(self) -> tuple[int, ...]:
        return (self.domain_size.bit_length(),)

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return (self.symbols,)

    @property
    def outcomes(self) -> int:
        return self.symbols

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        mask, keep = U64(self.symbols - 1), U64(self.coin.keep)
        draw_positions.over(len(values))(values, words.reshape(-1), mask, keep, out)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        state += np.bincount(data, minlength=self.symbols)

    def check(self, data: Array) -> NDArray[np.bool_]:
        return np.asarray(data < self.symbols)

    def check_state(self, state: NDArray[np.int64], n: int) -> bool:
        return super().check_state(state, n) and int(state.sum()) == n

    def decode(self, tally: Tally, **options: Any) -> Floats:
        """A value's supports less its other reports are what the transform gives; ``2p - 1`` for each of its own."""
        del options
        signs = walsh_hadamard(tally.state)[1 : self.domain_size + 1]
        return np.asarray(signs / float(2 * self.p - 1), np.float64)

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Any) -> float:
        """Estimates of rows s and t have covariance c = 1/(2p-1) times the count of row s^t.

        The product of two rows is the row s^t, and the mean of that sign is ``2p - 1`` for its own value, else 0.
        """
        del n, options
        marks = np.zeros(self.symbols, np.int64)
        marks[1 : self.domain_size + 1] = members
        pairs = xor_pairs(marks)[1 : self.domain_size + 1]
        return float(pairs @ counts) / float(2 * self.p - 1)

    def profile(self) -> Profile:
        """Any two rows have every pair of signs in a quarter of the positions."""
        half = self.coin.p / 2, self.coin.q / 2
        return Profile.of((Band(self.symbols // 4, a, b) for a in half for b in half), self.symbols)

    def likelihoods(self, data: Array) -> Floats:
        rows = np.arange(1, self.domain_size + 1, dtype=data.dtype)
        return np.where(np.bitwise_count(data[:, None] & rows) & 1, float(self.coin.q / self.coin.p), 1.0)

    def law(self, value: int, public: Any = None) -> Law:
        del public
        self.check_enumerable(value)
        plus, minus = self.coin.p * 2 / self.symbols, self.coin.q * 2 / self.symbols
        return {symbol: minus if ((value + 1) & symbol).bit_count() & 1 else plus for symbol in range(self.symbols)}

    def outcome(self, report: Any) -> tuple[Any, Any]:
        return None, int(report)

    def report(self, outcome: Any, public: Any = None) -> Array:
        del public
        return np.array(outcome, self.report_dtype)
