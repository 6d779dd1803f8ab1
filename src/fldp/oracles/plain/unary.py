"""Unary encodings (SUE, OUE): one bit per value, each randomized independently."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array
from fldp.data.values import Values
from fldp.numerics.kernels import ONE, U64, ZERO, Kernel, pays
from fldp.oracles.base.bit_reports import LANES, add_bits, bit_rows, padding_mask
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Sampler
from fldp.oracles.base.support_counts import Supports
from fldp.oracles.base.symbol_reports import support_counts
from fldp.oracles.plain.corrected_coins import BLOCK_BYTES, CorrectedCoins
from fldp.oracles.plain.eight_coins import EightCoins
from fldp.randomness.coins import UnaryCoins
from fldp.randomness.stream import Stream, Words

_SIX, _SIXTY_THREE = U64(6), U64(63)
_THREE, _SEVEN, _BYTE = U64(3), U64(7), U64(255)
_ALL = U64(2**64 - 1)


@Kernel
def settle_bit(row: Any, value: Any, is_one: Any, out: Any) -> None:
    """Set or clear the bit of the true value in a row of words, and write the row as bytes."""
    place = value & _SIXTY_THREE
    row[value >> _SIX] = row[value >> _SIX] & ~(ONE << place) | (U64(is_one) << place)
    for j in range(len(out)):
        byte = U64(j)
        out[j] = (row[byte >> _THREE] >> ((byte & _SEVEN) << _THREE)) & _BYTE


@Kernel
def below(words: Any, planes: Any, threshold: Any, row: Any) -> None:
    """Compare the 64 numbers of every block with a threshold, all 64 at a time.

    Word ``k * blocks + b`` is bit plane ``k`` of block ``b``: bit ``k`` of each of its 64 numbers.
    """
    # From the lowest plane up, a number is below the threshold if its bit is smaller, or equal and the number was below
    # so far. Where the threshold's bit is 1 that is ``row | ~plane``, where it is 0 it is ``row & ~plane``.
    blocks = len(row)
    row[:] = ZERO
    for k in range(planes):
        plane = words[k * blocks : (k + 1) * blocks]
        if (threshold >> U64(k)) & ONE:
            for b in range(blocks):
                row[b] |= ~plane[b]
        else:
            for b in range(blocks):
                row[b] &= ~plane[b]


@Kernel
def throw(values: Any, words: Any, planes: Any, true: Any, other: Any, last: Any, out: Any) -> None:
    """Randomize every bit by bit planes, 64 at a time, then the true bit by word 0.

    A bit is 1 where its number is below ``other``; ``last`` masks the padding of the last block.
    """
    blocks = (words.shape[1] - 1) // planes
    row = np.empty(blocks, np.uint64)
    for i in range(len(values)):
        below(words[i, 1:], planes, other, row)
        row[blocks - 1] &= last
        settle_bit(row, U64(values[i]), words[i, 0] < true, out[i])


@Kernel
def settle_bits(values: Any, words: Any, true: Any, padding: Any, out: Any) -> None:
    """Write the bit of each true value by its word into a row of random bits, and clear the padding of the row."""
    if padding:
        for i in range(len(values)):
            out[i, -1] = U64(out[i, -1]) & ~padding
    for i in range(len(values)):
        byte, place = values[i] >> 3, U64(values[i]) & _SEVEN
        out[i, byte] = U64(out[i, byte]) & ~(ONE << place) | (U64(words[i] < true) << place)


@settle_bits.by_numpy
def _settle_all(values: Any, words: Any, true: Any, padding: Any, out: Any) -> None:
    out[:, -1] &= ~np.uint8(padding)
    places, bits = (np.arange(len(values)), values >> 3), np.uint8(1) << (values & 7).astype(np.uint8)
    out[places] = out[places] & ~bits | bits * (words < true)


@Kernel
def throw_each(values: Any, words: Any, masks: Any, true: Any, out: Any) -> None:
    """Randomize every bit with a threshold of its own, 64 at a time, then the true bit by word 0.

    Like ``throw``, but bit ``j`` of ``masks[k, b]`` is bit ``k`` of the threshold of number ``j`` in block ``b``.
    """
    planes, blocks = masks.shape
    row = np.empty(blocks, np.uint64)
    for i in range(len(values)):
        row[:] = ZERO
        for k in range(planes):
            for b in range(blocks):
                low = ~words[i, 1 + k * blocks + b]
                # Majority of (bit is 0, below so far, threshold's bit is 1): the step of ``below`` for both cases.
                row[b] = (low & (row[b] | masks[k, b])) | (row[b] & masks[k, b])
        settle_bit(row, U64(values[i]), words[i, 0] < true[values[i]], out[i])


@dataclass(frozen=True, eq=False)
class UnaryBits:
    """A bit for each value, by one coin for the true bit and one for every other: the mechanism of SUE and OUE."""

    size: int
    coins: UnaryCoins

    @property
    def words(self) -> int:
        """The word of the true bit, and the bit planes of all."""
        return 1 + self.coins.planes * -(-self.size // 64)

    @cached_property
    def report_format(self) -> ReportFormat:
        """Packed bits."""
        return bit_rows(self.size)

    @cached_property
    def tally_format(self) -> TallyFormat:
        """How often each bit is set."""
        return support_counts(self.size)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        """Throw the bits of every value."""
        coins, last = self.coins, _ALL >> U64(-self.size % 64)
        throw.over(len(values))(
            values, words, coins.planes, U64(coins.true_threshold), U64(coins.other_threshold), last, out
        )

    def sampler(self, users: int) -> Sampler:
        """Return what draws reports with the same law from a tenth of the words: all bits at first, then the true ones.

        It is called with parts of all users, for which it uses the same memory.
        """
        size = -(-self.size // 8)
        if users * size < BLOCK_BYTES or not pays(users * size):
            return self.sample_few
        return partial(self.sample_many, self._corrected.memory(users, size))

    def sample_many(self, memory: Words, values: Values, stream: Stream, out: Array) -> None:
        """Draw all bits from a few random bits each, then correct some of them."""
        true, padding = U64(self.coins.true_threshold), U64(padding_mask(self.size))
        for part, words in self._corrected.fill(stream, memory, out):
            settle_bits.compiled(values[part], words, true, padding, out[part])

    def sample_few(self, values: Values, stream: Stream, out: Array) -> None:
        """Draw all bits eight at a time."""
        true, padding = U64(self.coins.true_threshold), U64(padding_mask(self.size))
        for part, words in stream.chunks(len(values), 1 + -(-out.shape[1] // 4)):
            self._others.fill(words[:, 1:], stream, out[part])
            settle_bits.for_work(out[part].size)(values[part], words[:, 0], true, padding, out[part])

    @cached_property
    def _others(self) -> EightCoins:
        return EightCoins(self.coins.planes, self.coins.other_threshold)

    @cached_property
    def _corrected(self) -> CorrectedCoins:
        return CorrectedCoins.best(self.coins.q)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        """Add the bits up."""
        add_bits.for_work(8 * data.size)(np.ascontiguousarray(data), LANES, state)

    @cached_property
    def estimator(self) -> Supports:
        """Bits are supports, and independent of each other."""
        return Supports(self.size, self.coins.p, self.coins.q, independent=True)


@dataclass(frozen=True, repr=False)
class SUE(FrequencyOracle):
    """Symmetric unary encoding, the core of basic RAPPOR: every bit is flipped alike.

    ``p = e^(eps/2)/(e^(eps/2)+1)``, ``q = 1 - p``. Two values differ in two bits, so the ratio of a report's
    probabilities is at most ``p (1-q) / (q (1-p)) = e^eps``.

    Erlingsson, Pihur, Korolova: RAPPOR, CCS 2014.

    Report: a bit per value
    Fields: ``d`` bits, value 0 first
    Words: 1 + planes x ceil(d/64) | word 0 throws the true bit; then plane by plane, lowest first, one word per 64
      values
    Best fake: the bits of all targets, filled up with others to an honest number of bits | ``r (1 - q) / (p - q)``

    >>> SUE(epsilon=1.0, domain_size=1024).privatize([0, 1]).nbytes
    256
    """

    examples = ((1.0, 5), (2.0, 65))
    name = "sue"

    @cached_property
    def coins(self) -> UnaryCoins:
        """The realised coins."""
        return UnaryCoins.build(self.title, self.epsilon, symmetric=True)

    @cached_property
    def _mechanism(self) -> UnaryBits:
        return UnaryBits(self.domain_size, self.coins)

    def _sampler(self, users: int) -> Sampler:
        return self._mechanism.sampler(users)

    @property
    def estimator(self) -> Supports:
        return self._mechanism.estimator


@dataclass(frozen=True, repr=False)
class OUE(FrequencyOracle):
    """Optimised unary encoding: the true bit is a fair coin, and the others are rarely 1.

    ``p = 1/2``, ``q = 1/(e^eps+1)``: of all pairs with ``p (1-q) / (q (1-p)) = e^eps`` the one with the least
    variance for rare values, ``4 e^eps/(e^eps-1)^2`` per user.

    Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation, USENIX Security 2017.

    Report: a bit per value
    Fields: ``d`` bits, value 0 first
    Words: 1 + planes x ceil(d/64) | word 0 throws the true bit; then plane by plane, lowest first, one word per 64
      values
    Best fake: the bits of all targets, filled up with others to an honest number of bits | ``r (1 - q) / (p - q)``

    >>> OUE(epsilon=1.0, domain_size=1024).privatize([0, 1]).nbytes
    256
    """

    examples = ((1.0, 5), (1.0, 64), (8.0, 9))
    name = "oue"

    @cached_property
    def coins(self) -> UnaryCoins:
        """The realised coins."""
        return UnaryCoins.build(self.title, self.epsilon, symmetric=False)

    @cached_property
    def _mechanism(self) -> UnaryBits:
        return UnaryBits(self.domain_size, self.coins)

    def _sampler(self, users: int) -> Sampler:
        return self._mechanism.sampler(users)

    @property
    def estimator(self) -> Supports:
        return self._mechanism.estimator
