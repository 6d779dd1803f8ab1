"""WeightedDraws: outcomes with given integer weights, by looking up 16 random bits in a table; exact.

Of the ``2^16`` numbers, each outcome has as many as its probability allows, rounded down. What is left over is a second
draw: of the ``2^64`` words each outcome has what it lacks, rounded down. What is left over there, less than once in
``2^52`` for up to 4,096 outcomes, is a third, by integers of any length. So the law is the weights' and nothing else.
"""

import secrets
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import Kernel
from fldp.randomness.stream import Stream, Words

NUMBERS, WORDS = 1 << 16, 1 << 64

Outcomes = NDArray[np.unsignedinteger]
Places = NDArray[np.intp]


@Kernel
def look_up(numbers: Any, table: Any, limit: Any, missing: Any, out: Any) -> int:
    """Look up the outcome of every number, and list the places of the numbers from ``limit`` on, which have none.

    Rows of numbers may be longer than those of outcomes. Returns how many places are listed.
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


class WeightedDraws(ABC):
    """Draws of numbers, from 0 on, whose probabilities are proportional to ``weights``."""

    @property
    @abstractmethod
    def weights(self) -> Sequence[int]:
        """The probability of every outcome, times the sum of all weights."""

    @cached_property
    def _total(self) -> int:
        return sum(self.weights)

    @cached_property
    def shares(self) -> list[int]:
        """How many of the ``2^16`` numbers each outcome has."""
        return [weight * NUMBERS // self._total for weight in self.weights]

    @cached_property
    def lacking(self) -> list[int]:
        """What each outcome lacks then, in parts of what all lack together, which is ``sum(lacking)``."""
        each = zip(self.weights, self.shares, strict=True)
        return [weight * NUMBERS - share * self._total for weight, share in each]

    @cached_property
    def more_shares(self) -> list[int]:
        """How many of the ``2^64`` words of a second draw each outcome has."""
        every = sum(self.lacking) or 1
        return [lack * WORDS // every for lack in self.lacking]

    @cached_property
    def _more_limit(self) -> int:
        return sum(self.more_shares)

    @cached_property
    def still_lacking(self) -> list[int]:
        """What each outcome lacks even then."""
        every = sum(self.lacking)
        return [lack * WORDS - share * every for lack, share in zip(self.lacking, self.more_shares, strict=True)]

    @cached_property
    def _kind(self) -> np.dtype[np.unsignedinteger]:
        return np.min_scalar_type(len(self.weights) - 1)

    @cached_property
    def _table(self) -> Outcomes:
        table = np.zeros(NUMBERS, self._kind)
        table[: sum(self.shares)] = np.repeat(np.arange(len(self.shares), dtype=self._kind), self.shares)
        return table

    @cached_property
    def _limit(self) -> np.uint32:
        return np.uint32(sum(self.shares))

    @cached_property
    def _more(self) -> tuple[Outcomes, Words]:
        """The outcomes that have words of the second draw, and where the words of each end except for the last."""
        some = np.flatnonzero(np.array(self.more_shares, object)).astype(self._kind)
        return some, np.array([*accumulate(self.more_shares[outcome] for outcome in some)][:-1], np.uint64)

    def fill(self, words: Words, stream: Stream, out: Outcomes) -> None:
        """Overwrite rows of outcomes, four of them by each word, and by more words of the stream where it takes them.

        Rows of words may be longer than those of outcomes.
        """
        missing = np.empty(out.size, np.intp)
        count = look_up.for_work(out.size)(words.view(np.uint16), self._table, self._limit, missing, out)
        out.reshape(-1)[missing[:count]] = self._more_draws(count, stream)

    def _more_draws(self, count: int, stream: Stream) -> Outcomes:
        """Return second draws."""
        some, ends = self._more
        words = stream.words(count)
        drawn = some[np.searchsorted(ends, words, side="right")]
        limit = self._more_limit
        for place in np.flatnonzero(words >= np.uint64(limit)) if limit < WORDS else ():
            drawn[place] = self._draw_once_more()
        return drawn

    def _draw_once_more(self) -> int:
        ends = list(accumulate(self.still_lacking))
        return bisect_right(ends, secrets.randbelow(ends[-1]))
