"""RandomSets: the reports of SS where nobody gives the words, by random members whose number is then corrected.

As in plain Python (``fldp.responder.set_responses``), the sets of either kind are exactly uniform. For a batch there
are ``d - 1`` places. Every place is a member by a coin of its own, 64 at a time, with a probability that takes few bit
planes. Given how many members there are, they are uniform, because no place differs from another. Random members are
taken out, or random others added, until there are ``w - 1``: they stay uniform. One more random place is drawn, and
the last member is the true value if its coin says so, else that place. Place ``j`` stands for the value ``j``, and the
place of the true value for the last value.

A place is drawn by trying numbers of 32 bits, of which each place has as many as any other. Tries are drawn for many
sets together. If they run out, what is done of a set is thrown away: how many tries a set takes is independent of which
set it becomes, of the value and of the coin, so that changes no law.

For a single value, NumPy draws members from all values, some of them twice, and corrects their number likewise. The
true value is left out of it, so no place stands for another.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import erf, exp, log1p, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from fldp.data.formats import Array
from fldp.data.values import Values
from fldp.numerics.kernels import ONE, U64, ZERO, Kernel
from fldp.numerics.word_kernels import ones
from fldp.oracles.plain.unary import below
from fldp.randomness.stream import Stream
from fldp.randomness.word_pool import SECURE, WordSource
from fldp.responder.set_responses import places_below

_SIX, _SIXTY_THREE, _BLOCK = U64(6), U64(63), U64(64)
_HALF, _LOW_HALF = U64(32), U64(0xFFFFFFFF)
_SEQUENCE, _UPPER = U64(0x03F79D71B4CB0A89), U64(58)  # a de Bruijn sequence: every six bits in a row differ
_PLACE_OF = np.argsort([(int(_SEQUENCE) << place & 2**64 - 1) >> 58 for place in range(64)]).astype(np.uint8)
_MAX_PLANES = 12
_SCRATCH = 1 << 16  # words that are drawn at once, 512 KiB
_SPARE = 24  # numbers for corrections of a single set: most need fewer
_NEXT = (1).__add__
_TRY = 4.0  # words that could be drawn in the time of a try


@Kernel
def pick(row: Any, member: Any, tries: Any, used: Any, places: Any, uneven: Any) -> Any:
    """Return the first of the tried places that is a member, or that is none, and how many tries are used then.

    A try is a number of 32 bits, which stands for the upper half of its product with ``places``, unless the lower half
    is below ``uneven``, which is ``2^32`` modulo ``places``. If tries run out, the place is ``places``, which is none.
    """
    while used < len(tries):
        product = U64(tries[used]) * places
        place = product >> _HALF
        used += 1
        if product & _LOW_HALF >= uneven and (row[place >> _SIX] >> (place & _SIXTY_THREE)) & ONE == member:
            return place, used
    return places, used


@Kernel
def resize(row: Any, size: Any, tries: Any, used: Any, places: Any, uneven: Any) -> Any:
    """Take random members out of a row of bits, or add random others, until it has ``size``; return the used tries."""
    count = ZERO
    for b in range(len(row)):
        count += ones(row[b])
    member = U64(count > size)
    for _ in range(max(count, size) - min(count, size)):
        place, used = pick(row, member, tries, used, places, uneven)
        row[place >> _SIX] ^= ONE << (place & _SIXTY_THREE)
    return used


@Kernel
def write_members(row: Any, place_of: Any, out: Any) -> None:
    """Write the places of all bits of a row in order.

    Multiplied by ``_SEQUENCE``, each of the 64 single bits has another number in the upper six bits; ``place_of`` knows
    whose it is.
    """
    end, base = ZERO, ZERO
    for b in range(len(row)):
        word = row[b]
        while word:
            lowest = word & (~word + ONE)
            out[end] = place_of[(lowest * _SEQUENCE) >> _UPPER] + base
            end += ONE
            word ^= lowest
        base += _BLOCK


@Kernel
def draw_sets(values: Any, words: Any, tries: Any, coins: Any, keep: Any, places: Any, place_of: Any, out: Any) -> int:
    """Draw a set for each value, until the tries run out; return how many sets were drawn.

    Word 0 of a value is its coin, then come the bit planes; ``coins`` has their number, the threshold, a mask for the
    last block, and ``2^32`` modulo ``places``.
    """
    planes, threshold, last, uneven = coins
    row = np.empty((places >> _SIX) + ONE, np.uint64)
    used, others = 0, U64(out.shape[1] - 1)
    for i in range(len(values)):
        below(words[i, 1:], planes, threshold, row)
        row[len(row) - 1] &= last
        used = resize(row, others, tries, used, places, uneven)
        another, used = pick(row, ZERO, tries, used, places, uneven)
        if another == places:
            return i
        # Constant time: the same steps for every value and both sides of the coin.
        value, named = U64(values[i]), U64(words[i, 0] < keep)
        hit = (row[value >> _SIX] >> (value & _SIXTY_THREE)) & ONE
        row[value >> _SIX] &= ~(ONE << (value & _SIXTY_THREE))
        row[places >> _SIX] |= hit << (places & _SIXTY_THREE)
        another += U64(another == value) * (places - another)
        member = named * value + (ONE - named) * another
        row[member >> _SIX] |= ONE << (member & _SIXTY_THREE)
        write_members(row, place_of, out[i])
    return len(values)


def draws_for(domain_size: int, size: int, cells: int) -> int:
    """Return how many draws from the cells hit a few values less than ``size``: to add some takes fewer tries.

    >>> draws_for(1024, 275, 1024), draws_for(100, 1, 128)
    (314, 0)
    """
    aim = max(0.0, size - 1 - sqrt(domain_size) / 8)
    return round(log1p(-aim / (domain_size - 1)) / log1p(-1 / cells))


def correct(flags: bytearray, surplus: int, places: Iterator[int]) -> None:
    r"""Take random members out, or add random others, until the surplus is gone.

    >>> flags = bytearray(b"\1\1\0\2")
    >>> correct(flags, -1, iter([1, 3, 2]))
    >>> flags
    bytearray(b'\x01\x01\x01\x02')
    """
    left, member = abs(surplus), surplus > 0
    for place in places if left else ():
        if flags[place] == member:
            flags[place] = not member
            left -= 1
            if not left:
                break


class PlaceCoins(NamedTuple):
    """How places become members at first: each for ``threshold`` of ``2^planes`` numbers; and the tries to expect."""

    planes: int
    threshold: int
    tries: float
    spread: float


def expected_tries(places: int, size: int, planes: int, threshold: int) -> tuple[float, float]:
    """Return about how many tries it takes to correct the number of members, and their standard deviation."""
    chance = threshold / (1 << planes)
    spread, lack = sqrt(places * chance * (1 - chance)), size - places * chance
    z = lack / spread if spread else 0.0
    added = lack * (1 + erf(z / sqrt(2))) / 2 + spread * exp(-z * z / 2) / sqrt(2 * pi) if spread else lack
    add, remove = places / (places - size), places / max(size, 1)
    mean = (added + 1) * add + (added - lack) * remove
    return mean, sqrt(mean * max(add, remove)) + spread * max(add, remove)


def place_coins(places: int, size: int) -> PlaceCoins:
    """Return the coins that make a set of ``size`` members soonest.

    >>> place_coins(1023, 274)[:2], place_coins(1023, 0)[:2]
    ((2, 1), (0, 0))
    """
    near = [(planes, (size << planes) // places + more) for planes in range(_MAX_PLANES + 1) for more in (0, 1)]
    possible = [(planes, threshold) for planes, threshold in near if threshold < 1 << planes]
    each = [PlaceCoins(*coin, *expected_tries(places, size, *coin)) for coin in possible]
    return min(each, key=lambda coins: coins.planes * (places // 64 + 1) + _TRY * coins.tries)


@dataclass(frozen=True, eq=False)
class RandomSets:
    """Draws of sorted sets of ``size`` of ``domain_size`` values, which hold a given value if a word is below ``keep``.

    >>> sets, out = RandomSets(100, 20, 1 << 63), np.empty((3, 20), np.uint8)
    >>> sets.sample(np.array([7, 7, 99]), Stream(1), out)
    >>> bool((out[:, 1:] > out[:, :-1]).all()), int(out.max()) < 100
    (True, True)
    """

    domain_size: int
    size: int
    keep: int

    @cached_property
    def coins(self) -> PlaceCoins:
        """How places become members at first."""
        return place_coins(self.domain_size - 1, self.size - 1)

    def single(self, source: WordSource = SECURE) -> Callable[[int], tuple[int, ...]]:
        """Return what draws the set of one value, as numbers.

        >>> len(RandomSets(100, 20, 1 << 63).single()(7))
        20
        """
        domain_size, size, keep, (word, raw) = self.domain_size, self.size, self.keep, source
        cells = 1 << (domain_size - 1).bit_length()
        kind: DTypeLike = np.uint16 if cells <= 1 << 16 else np.uint32
        draws, beyond = draws_for(domain_size, size, cells), b"\2" * (cells - domain_size)
        total, mask = np.dtype(kind).itemsize * (draws + _SPARE), np.intp(cells - 1)

        def draw(value: int) -> tuple[int, ...]:
            flags, home = bytearray(1 + cells), 1 + value  # a flag ahead of all: Python takes other steps for number 0
            numbers = np.frombuffer(raw(total), kind).astype(np.intp)
            numbers &= mask
            numbers += 1
            view = np.frombuffer(flags, np.bool_)
            view[numbers[:draws]] = True
            flags[home] = 0
            surplus = int(np.count_nonzero(view[1 : 1 + domain_size])) - (size - 1)
            flags[1 + domain_size :] = beyond
            flags[home] = 2  # neither a member nor one that can be added
            places = chain(numbers[draws:].tolist(), map(_NEXT, places_below(cells, raw)))
            correct(flags, surplus, places)
            for another in places:
                if not flags[another]:
                    break
            flags[home] = 0
            flags[(another, home)[word() < keep]] = 1
            return tuple(view[1 : 1 + domain_size].nonzero()[0].tolist())

        return draw

    def sample(self, values: Values, stream: Stream, out: Array) -> None:
        """Overwrite ``out`` with a set for each value."""
        places, (planes, threshold, tries, spread) = self.domain_size - 1, self.coins
        masks = U64((1 << places % 64) - 1), U64((1 << 32) % places)
        each = 1 + planes * (places // 64 + 1)
        rows = max(1, min(len(values), int(_SCRATCH / (each + tries / 2))))
        words = np.empty((rows, each), np.uint64)
        more = np.empty(int(rows * tries + 4 * spread * sqrt(rows)) // 2 + 8, np.uint64)
        done = 0
        while done < len(values):
            part = slice(done, min(done + rows, len(values)))
            used = words[: part.stop - part.start]
            stream.fill(used)
            stream.fill(more)
            done += draw_sets.compiled(
                *(values[part], used, more.view(np.uint32), (planes, U64(threshold), *masks)),
                *(U64(self.keep), U64(places), _PLACE_OF, out[part]),
            )
