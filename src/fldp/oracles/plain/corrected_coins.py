"""CorrectedCoins: many independent coins at once, by few random bits each and corrections at random places; exact.

Words of random bits, one and-ed or or-ed with the next, are 64 coins at a time with a probability ``r`` of few binary
digits, at most the wanted ``q``. Each coin becomes 1 by another coin, too, with ``c = (q - r)/(1 - r)``; then it is 1
with ``r + (1 - r) c``, which is ``q``. Few of those others are 1, so their places are drawn, a block of ``2^16`` coins
at a time: first how many there are, as the sum of exact numbers for 512 coins each; then random places, as numbers of
16 bits, until that many differ. Given their number, they are uniform, because no place differs from another.

Where that takes less, the same is done for zeros instead of ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import comb, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import ONE, U64, ZERO, Kernel
from fldp.numerics.word_kernels import ones
from fldp.oracles.plain.weighted_draws import WeightedDraws
from fldp.randomness.stream import Stream, Words

BLOCK = 1 << 16  # coins, as many as there are numbers of 16 bits
BLOCK_BYTES, BLOCK_WORDS = BLOCK // 8, BLOCK // 64
COUNTED = 512  # coins whose corrections are counted at once: for more, their law takes long to compute
MAX_PLANES = 12
_SIX, _SIXTY_THREE = U64(6), U64(63)
_CORRECTION = 0.7  # words that could be drawn in the time of a correction
_AT_ONCE = 1 << 18  # words, 2 MiB
_COUNTED_BLOCKS = 1 << 12  # blocks whose corrections are counted at once

Bytes = NDArray[np.uint8]
Counts = NDArray[np.int64]


def _bytes(array: NDArray[Any]) -> memoryview:
    return memoryview(array.view(np.uint8))  # type: ignore[arg-type]


@Kernel
def mark_all(marks: Any, numbers: Any) -> Any:
    """Set the bits of numbers where none is set yet; return how many differ, counted at the end, in half the time."""
    for i in range(len(numbers)):
        marks[U64(numbers[i]) >> _SIX] |= ONE << (U64(numbers[i]) & _SIXTY_THREE)
    count = ZERO
    for b in range(len(marks)):
        count += ones(marks[b])
    return np.int64(count)


@Kernel
def mark(marks: Any, left: Any, numbers: Any, used: Any) -> Any:
    """Set the bits of numbers until ``left`` more are set, or numbers run out; return what is left and used then."""
    while left > 0 and used < len(numbers):
        block, bit = U64(numbers[used]) >> _SIX, ONE << (U64(numbers[used]) & _SIXTY_THREE)
        left -= np.int64(marks[block] & bit == ZERO)
        marks[block] |= bit
        used += 1
    return left, used


@Kernel
def add_up(numbers: Any, table: Any, limit: Any, missing: Any, totals: Any) -> int:
    """Add the outcomes of every row of numbers up, and list the rows of numbers from ``limit`` on, which have none.

    Returns how many rows are listed.
    """
    count = 0
    for i in range(len(numbers)):
        total = ZERO
        for j in range(numbers.shape[1]):
            number = numbers[i, j]
            total += U64(table[number]) * U64(number < limit)
            if number >= limit:
                missing[count] = i
                count += 1
        totals[i] = total
    return count


@Kernel
def throw_blocks(planes: Any, ors: Any, flip: Any, counts: Any, numbers: Any, marks: Any, at: Any, out: Any) -> Any:
    """Finish ``out``, which has a plane of random bits, block by block, from where ``at`` says.

    Returns where the numbers ran out, or the end: a block and what is left to mark there, or -1 if nothing was done of
    it, which is also how to begin. Plane ``k`` is or-ed where ``ors`` has ones, else and-ed. ``marks`` have a bit for
    each coin of a block, none of them set at first.
    """
    first, left = at
    corrections = marks.view(np.uint8)
    used, size, last = 0, len(corrections), len(planes) - 1
    for block in range(first, len(counts)):
        if left < 0:
            tried = numbers[used : used + counts[block]]
            left = counts[block] - mark_all(marks, tried)
            used += len(tried)
        left, used = mark(marks, left, numbers, used)
        if left > 0:
            return block, left
        left = -1
        start = block * size
        row = out[start : start + size]
        for k in range(last):
            plane, invert = planes[k, start : start + size], ors[k]
            for j in range(len(row)):
                row[j] = (row[j] ^ invert) & (plane[j] ^ invert) ^ invert
        plane, invert = planes[last, start : start + size], ors[last]
        for j in range(len(row)):
            row[j] = ((row[j] ^ invert) & (plane[j] ^ invert) ^ invert | corrections[j]) ^ flip
        marks[:] = ZERO
    return len(counts), left


@dataclass(frozen=True)
class CountOf(WeightedDraws):
    """Draws of how many of 512 coins are 1, each with the probability ``chance``."""

    chance: Fraction

    @cached_property
    def weights(self) -> list[int]:
        """The binomial law, times the denominator's power."""
        one, zero = self.chance.numerator, self.chance.denominator - self.chance.numerator
        ones, zeros = ([1, *accumulate([number] * COUNTED, int.__mul__)] for number in (one, zero))
        return [comb(COUNTED, count) * ones[count] * zeros[COUNTED - count] for count in range(COUNTED + 1)]

    def add(self, numbers: NDArray[np.uint16], stream: Stream, totals: Counts) -> None:
        """Overwrite totals with the sum of a draw for each number of a row, some by more words of the stream."""
        missing = np.empty(numbers.size, np.intp)
        count = add_up.compiled(numbers, self._table, self._limit, missing, totals)
        np.add.at(totals, missing[:count], self._more_draws(count, stream))


class Scratch(NamedTuple):
    """Words that are drawn at once, as bytes, and parts of them.

    ``planes`` are bytes of all planes but the first, or zeros if there are no others; ``numbers`` become places;
    ``spare`` has a word for each row.
    """

    drawn: memoryview
    planes: Bytes
    numbers: NDArray[np.uint16]
    spare: Words
    marks: Words


@dataclass(frozen=True)
class CorrectedCoins:
    """Draws of coins that are 1 with probability ``chance``, by ``planes`` random bits each; ``flipped``, of zeros.

    >>> coins = CorrectedCoins.best(Fraction(269, 1000))
    >>> coins.planes, coins.base, coins.flipped
    (2, Fraction(1, 4), False)
    >>> drawn = np.empty((100, 1000), np.uint8)
    >>> [part for part, words in coins.fill(Stream(1), coins.memory(100, 1000), drawn)]
    [slice(0, 100, None)]
    >>> abs(float(np.unpackbits(drawn).mean()) - 0.269) < 0.005
    True
    """

    chance: Fraction
    planes: int
    flipped: bool = False

    @classmethod
    def best(cls, chance: Fraction) -> "CorrectedCoins":
        """Return the coins that take the least time."""
        every = (cls(chance, planes, flipped) for planes in range(MAX_PLANES + 1) for flipped in (False, True))
        return min((coins for coins in every if coins._is_reduced), key=lambda coins: coins.cost)

    @property
    def wanted(self) -> Fraction:
        """The probability of a 1 before bits are flipped."""
        return 1 - self.chance if self.flipped else self.chance

    @cached_property
    def _threshold(self) -> int:
        return int(self.wanted * (1 << self.planes))

    @property
    def _is_reduced(self) -> bool:
        """Whether fewer planes do not give the same."""
        return self._threshold % 2 == 1 or self.planes == 0

    @property
    def base(self) -> Fraction:
        """The probability of a 1 by the planes alone."""
        return Fraction(self._threshold, 1 << self.planes)

    @cached_property
    def correction(self) -> Fraction:
        """The probability of a correction."""
        return (self.wanted - self.base) / (1 - self.base)

    @property
    def cost(self) -> float:
        """The time that 64 coins take, in words that could be drawn instead."""
        return self.planes + 64 * _CORRECTION * float(self.correction)

    @cached_property
    def ors(self) -> Bytes:
        """Ones for a plane after the first that is or-ed: its binary digit of ``base`` is 1, from the last but one on.

        Without others, zeros are or-ed.
        """
        return np.array([255 * (self._threshold >> k & 1) for k in range(1, self.planes)] or [255], np.uint8)

    @cached_property
    def counts(self) -> CountOf:
        """How many corrections there are."""
        return CountOf(self.correction)

    def numbers(self, blocks: int) -> int:
        """Return how many numbers these blocks almost never take more of; a multiple of four."""
        mean = blocks * BLOCK * float(self.correction)
        repeated = mean * float(self.correction)  # twice of what is expected
        return 4 * int((mean + repeated + 6 * sqrt(mean)) / 4 + 4)

    def rows_at_once(self, size: int) -> int:
        """Return how many rows of ``size`` bytes are drawn at once."""
        blocks = int(_AT_ONCE / (self.planes * BLOCK_WORDS + self.numbers(1) / 4))
        return max(1, blocks * BLOCK_BYTES // size)

    def memory(self, rows: int, size: int) -> Words:
        """Return memory for as many of the rows as are drawn at once."""
        return np.empty(sum(self._sizes(min(rows, self.rows_at_once(size)), size)), np.uint64)

    def _sizes(self, rows: int, size: int) -> tuple[int, int, int]:
        """Return how many words the planes, the numbers and the rows take."""
        blocks = -(-rows * size // BLOCK_BYTES)
        return max(0, self.planes - 1) * blocks * BLOCK_WORDS, self.numbers(blocks) // 4, rows

    def _scratch(self, memory: Words, rows: int, size: int) -> Scratch:
        sizes, blocks = self._sizes(rows, size), -(-rows * size // BLOCK_BYTES)
        words = memory[: sum(sizes)]
        planes, numbers, spare = words[: sizes[0]], words[sizes[0] : -rows], words[-rows:]
        if not len(planes):
            planes = np.zeros(blocks * BLOCK_WORDS, np.uint64)
        by_plane, marks = planes.view(np.uint8).reshape(-1, blocks * BLOCK_BYTES), np.zeros(BLOCK_WORDS, np.uint64)
        return Scratch(_bytes(words), by_plane, numbers.view(np.uint16), spare, marks)

    def fill(self, stream: Stream, memory: Words, out: Bytes) -> Iterator[tuple[slice, Words]]:
        """Overwrite rows of bytes, each with eight coins, part by part; yield which rows are done, and a word for each.

        The parts are equal, except for the last. The array of words is used again and overwritten.
        """
        parts = -(-len(out) // self.rows_at_once(out.shape[1]))
        rows = -(-len(out) // parts)
        scratch = self._scratch(memory, rows, out.shape[1])
        counts = self._count(stream, parts * scratch.planes.shape[1] // BLOCK_BYTES).reshape(parts, -1)
        for i in range(parts):
            part = slice(i * rows, min((i + 1) * rows, len(out)))
            stream.fill_bytes(scratch.drawn)
            first = out[part].reshape(-1)
            self._fill_first(stream, first)
            self._throw(stream, scratch, counts[i], first)
            yield part, scratch.spare[: part.stop - part.start]

    def _fill_first(self, stream: Stream, out: Bytes) -> None:
        """Overwrite bytes with the first plane, drawn in place; without planes, with zeros."""
        if self.planes:
            stream.fill_bytes(_bytes(out))
        else:
            out[:] = 0

    def _count(self, stream: Stream, blocks: int) -> Counts:
        """Return for each block how many corrections it has."""
        totals = np.empty(blocks, np.int64)
        for start in range(0, blocks, _COUNTED_BLOCKS):
            part = totals[start : start + _COUNTED_BLOCKS]
            words = stream.words(len(part) * BLOCK // COUNTED // 4)
            self.counts.add(words.view(np.uint16).reshape(len(part), -1), stream, part)
        return totals

    def _throw(self, stream: Stream, scratch: Scratch, counts: Counts, out: Bytes) -> None:
        """Finish bytes of the first plane by the words of the scratch, and by more numbers if these do not do."""
        at, used = (0, -1), counts[: -(-len(out) // BLOCK_BYTES)]
        flip = np.uint8(255 * self.flipped)
        while True:
            at = throw_blocks.compiled(scratch.planes, self.ors, flip, used, scratch.numbers, scratch.marks, at, out)
            if at[0] == len(used):
                return
            stream.fill_bytes(_bytes(scratch.numbers))
