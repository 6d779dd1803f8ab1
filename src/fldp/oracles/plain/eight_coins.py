"""EightCoins: eight independent coins at once, by looking 16 random bits up in a table; exact.

A coin is 1 for ``threshold`` of ``2^planes`` numbers, so a byte of eight has a probability of ``weight/2^(8 planes)``.
Of the ``2^16`` numbers, each byte has as many as its probability allows, rounded down. What is left over, a few in
a thousand, is a second draw: of the ``2^64`` words each byte has what it lacks, rounded down. What is left over
there, less than once in ``2^56``, is a third, by integers of any length. So the law is the law of the thresholds and
nothing else, for two random bits a coin.
"""

import secrets
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import Kernel
from fldp.randomness.stream import Stream, Words

NUMBERS, WORDS = 1 << 16, 1 << 64
_BYTES = range(256)

Bytes = NDArray[np.uint8]
Places = NDArray[np.intp]


@Kernel
def look_up(numbers: Any, table: Any, limit: Any, missing: Any, out: Any) -> int:
    """Look the byte of every number up, and list the places of the numbers from ``limit`` on, which have none.

    Rows of numbers may be longer than rows of bytes. Returns how many places are listed.
    """
    count, size = 0, out.shape[1]
    for i in range(len(out)):
        for j in range(size):
            number = numbers[i, j]
            out[i, j] = table[number]
            if number >= limit:
                missing[count] = i * size + j
                count += 1
    return count


@look_up.by_numpy
def _take(numbers: Any, table: Any, limit: Any, missing: Any, out: Any) -> int:
    used = numbers[:, : out.shape[1]]
    np.take(table, used, out=out, mode="wrap")
    places = np.flatnonzero(used >= limit)
    missing[: len(places)] = places
    return len(places)


@dataclass(frozen=True)
class EightCoins:
    """Draws of bytes whose bits are independent coins, each 1 for ``threshold`` of ``2^planes`` numbers.

    >>> stream, drawn = Stream(1), np.empty((1, 100_000), np.uint8)
    >>> EightCoins(planes=20, threshold=1 << 18).fill(stream.words(25_000).reshape(1, -1), stream, drawn)
    >>> abs(float(np.unpackbits(drawn).mean()) - 0.25) < 0.01
    True
    """

    planes: int
    threshold: int

    @cached_property
    def weights(self) -> list[int]:
        """The probability of every byte, times ``2^(8 planes)``."""
        zero = (1 << self.planes) - self.threshold
        return [self.threshold ** byte.bit_count() * zero ** (8 - byte.bit_count()) for byte in _BYTES]

    @cached_property
    def shares(self) -> list[int]:
        """How many of the ``2^16`` numbers each byte has."""
        return [weight * NUMBERS >> 8 * self.planes for weight in self.weights]

    @cached_property
    def lacking(self) -> list[int]:
        """What each byte lacks then, in parts of what all lack together, which is ``sum(lacking)``."""
        each = zip(self.weights, self.shares, strict=True)
        return [weight * NUMBERS - (share << 8 * self.planes) for weight, share in each]

    @cached_property
    def more_shares(self) -> list[int]:
        """How many of the ``2^64`` words of a second draw each byte has."""
        every = sum(self.lacking) or 1
        return [lack * WORDS // every for lack in self.lacking]

    @cached_property
    def still_lacking(self) -> list[int]:
        """What each byte lacks even then."""
        every = sum(self.lacking)
        return [lack * WORDS - share * every for lack, share in zip(self.lacking, self.more_shares, strict=True)]

    @cached_property
    def _table(self) -> Bytes:
        table = np.zeros(NUMBERS, np.uint8)
        table[: sum(self.shares)] = np.repeat(np.arange(256, dtype=np.uint8), self.shares)
        return table

    @cached_property
    def _more(self) -> tuple[Bytes, NDArray[np.uint64]]:
        """The bytes that have words of the second draw, and where the words of each end but for the last."""
        some = np.flatnonzero(np.array(self.more_shares, object)).astype(np.uint8)
        return some, np.array([*accumulate(self.more_shares[byte] for byte in some)][:-1], np.uint64)

    def fill(self, words: Words, stream: Stream, out: Bytes) -> None:
        """Overwrite rows of bytes, four of them by each word, and by more words of the stream where those do not do."""
        missing, limit = np.empty(out.size, np.intp), np.uint32(sum(self.shares))
        count = look_up.for_work(out.size)(words.view(np.uint16), self._table, limit, missing, out)
        self._draw_again(missing[:count], stream, out.reshape(-1))

    def _draw_again(self, places: Places, stream: Stream, out: Bytes) -> None:
        some, ends = self._more
        words = stream.words(len(places))
        out[places] = some[np.searchsorted(ends, words, side="right")]
        last = sum(self.more_shares)
        for place in places[words >= np.uint64(last)] if last < WORDS else ():
            out[place] = self._draw_once_more()

    def _draw_once_more(self) -> int:
        ends = list(accumulate(self.still_lacking))
        return bisect_right(ends, secrets.randbelow(ends[-1]))
