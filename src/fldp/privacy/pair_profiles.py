"""PairProfiles: the profile of every value against every other one, of which a million pairs share a few."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.oracles.base.profile import Band, Profile
from fldp.privacy.notions.base import Pair

Counts = list[list[dict[Any, int]]]
Table = NDArray[np.unsignedinteger]
Numbers = NDArray[np.int64]

_MAX_COUNTED = 8  # different probabilities, whose pairs are counted; of more, codes are sorted


class PairProfiles(Mapping[Pair, Profile]):
    """Different profiles in the order of their first pairs, and for each pair in order the number of its profile."""

    def __init__(self, different: Sequence[Profile], numbers: Numbers, first: Sequence[Pair]) -> None:
        self.different, self.first = different, first
        self._numbers, self._size = numbers, 1 + numbers.shape[1]

    def __getitem__(self, pair: Pair) -> Profile:
        value, other = pair
        if value == other or not (0 <= value < self._size and 0 <= other < self._size):
            raise KeyError(pair)
        return self.different[int(self._numbers[value, other - (other > value)])]

    def __iter__(self) -> Iterator[Pair]:
        return permutations(range(self._size), 2)

    def __len__(self) -> int:
        return self._numbers.size

    @property
    def counts(self) -> list[int]:
        """How many pairs have each of the different profiles."""
        return list(np.bincount(self._numbers.reshape(-1)).tolist())


def first_pairs(profiles: Mapping[Pair, Profile]) -> Sequence[Pair]:
    """Return the first pair of every profile object."""
    if isinstance(profiles, PairProfiles):
        return profiles.first
    first: dict[int, Pair] = {}
    for pair, profile in profiles.items():
        first.setdefault(id(profile), pair)
    return list(first.values())


def pair_profiles(counts: Counts, total: int) -> PairProfiles:
    """Compare the laws of all values: how many of ``total`` cases each report has, for each public part.

    A law takes few different probabilities, so a report under two values is a small code. Two pairs of values with the
    same codes, in any order, have the same profile.
    """
    shares = [0, *sorted({share for law in counts for part in law for share in part.values()})]
    table = _table(counts, shares)
    numbers, places = _in_order(_by_counts(table) if len(shares) <= _MAX_COUNTED else _by_sorting(table, len(shares)))
    first = [(value, other + (other >= value)) for value, other in (divmod(k, len(table) - 1) for k in places)]
    different = [_profile(table[value], table[other], shares, total) for value, other in first]
    return PairProfiles(different, numbers.reshape(len(table), -1), first)


def _table(counts: Counts, shares: list[int]) -> Table:
    """Return the number of each report's share under every value; 0 where the value cannot produce the report."""
    numbers = {share: number for number, share in enumerate(shares)}
    columns: dict[tuple[int, Any], int] = {}
    for law in counts:
        for k, part in enumerate(law):
            for report in part:
                columns.setdefault((k, report), len(columns))
    table: Table = np.zeros((len(counts), len(columns)), np.min_scalar_type(len(shares) ** 2))
    for row, law in zip(table, counts, strict=True):
        places = [columns[k, report] for k, part in enumerate(law) for report in part]
        row[places] = [numbers[share] for part in law for share in part.values()]
    return table


def _by_counts(table: Table) -> Numbers:
    """Number the pairs by how many reports have each two shares, all pairs at once: products of zeros and ones."""
    numbers = np.broadcast_to(np.count_nonzero(table, axis=1), (len(table), len(table)))
    for own, other in product(*[np.unique(table)] * 2):
        if own:
            both = (table == own).astype(np.float64) @ (table == other).astype(np.float64).T  # exact below 2^53
            numbers = _renumbered(numbers * (1 + table.shape[1]) + both.astype(np.int64))
    return numbers[~np.eye(len(table), dtype=np.bool_)]


def _renumbered(numbers: Numbers) -> Numbers:
    """Return small numbers that are equal where these are."""
    if numbers.max() > 4 * numbers.size:
        return np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape)
    taken = np.zeros(1 + numbers.max(), np.int64)
    taken[numbers] = 1
    return np.asarray((np.cumsum(taken) - 1)[numbers])


def _by_sorting(table: Table, kinds: int) -> Numbers:
    """Number the pairs by their sorted codes."""
    known: dict[tuple[bytes, int], int] = {}
    ranges = np.count_nonzero(table, axis=1).tolist()
    numbers: list[int] = []
    for value, row in enumerate(table):
        seen = np.flatnonzero(row)
        codes = np.sort(np.ascontiguousarray(table[:, seen] + row[seen] * table.dtype.type(kinds)), axis=1)
        keys = list(zip(map(bytes, codes), ranges, strict=True))
        numbers += [known.setdefault(key, len(known)) for key in keys[:value] + keys[value + 1 :]]
    return np.array(numbers)


def _in_order(numbers: Numbers) -> tuple[Numbers, list[int]]:
    """Renumber by the place where each number is first; return these places, too."""
    places = np.empty(1 + numbers.max(), np.int64)
    places[:] = numbers.size
    places[numbers[::-1]] = np.arange(numbers.size)[::-1]  # the last one that is assigned stays
    order = np.argsort(places)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return ranks[numbers], [place for place in places[order].tolist() if place < numbers.size]


def _profile(row: Table, other_row: Table, shares: list[int], total: int) -> Profile:
    """Return the profile of a value against another from the numbers of their shares."""
    seen = np.flatnonzero(row)
    pairs = Counter(zip(row[seen].tolist(), other_row[seen].tolist(), strict=True))
    bands = (
        Band(count, Fraction(count * shares[own], total), Fraction(count * shares[other], total))
        for (own, other), count in pairs.items()
    )
    return Profile.of(bands, int(np.count_nonzero(other_row)))
