"""Parity events: the parity of the bits of an output under a mask, for all masks at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.privacy.auditor.outputs import OutputRows

_LOW_BITS = 12  # of a wide column
_FEW_COLUMNS, _MORE_COLUMNS, _MAX_COLUMNS = 6, 12, 512
_MAX_MASK_BITS = 14
_MAX_BITS = 512


@dataclass(frozen=True)
class _Masked:
    """Up to two columns whose bits one mask covers: one column after the other, or their XOR."""

    columns: tuple[int, ...]
    bits: int
    shift: int  # of the second column against the first; 0 is XOR

    def code(self, rows: OutputRows) -> NDArray[np.int64]:
        parts = rows.numbers[:, list(self.columns)].astype(np.uint64)
        bits = parts[:, 0]
        if self.shift:
            bits = bits & np.uint64((1 << self.shift) - 1)
        if len(self.columns) == 2:
            bits = bits ^ parts[:, 1] << np.uint64(self.shift)
        return (bits & np.uint64((1 << self.bits) - 1)).astype(np.int64)

    def words(self, mask: int, names: Sequence[str]) -> str:
        first, *rest = (names[j] for j in self.columns)
        if not rest:
            return f"{first} & {mask} is odd"
        if not self.shift:
            return f"({first} ^ {rest[0]}) & {mask} is odd"
        low = mask & ((1 << self.shift) - 1)
        return f"({first} & {low}) ^ ({rest[0]} & {mask >> self.shift}) is odd"


class ParityEvents:
    """The parity of the bits under a mask is odd: all masks on a column, on two after each other, on their XOR.

    All masks on the same bits are counted by one transform. Of a wide column the lowest bits are taken.
    """

    def __init__(self, learn: OutputRows, widths: list[int]) -> None:
        self.names = [column.name for column in learn.columns]
        low = [min(width, _LOW_BITS) for width in widths]
        groups = [_Masked((j,), low[j], 0) for j in range(min(len(low), _MAX_COLUMNS))]
        pairs = list(combinations(range(len(low)), 2))
        if len(low) <= _MORE_COLUMNS:
            groups += [_Masked(pair, max(low[pair[0]], low[pair[1]]), 0) for pair in pairs]
        if len(low) <= _FEW_COLUMNS:
            both = [(pair, low[pair[0]], low[pair[0]] + low[pair[1]]) for pair in pairs]
            groups += [_Masked(pair, bits, shift) for pair, shift, bits in both if bits <= _MAX_MASK_BITS]
        self.groups = groups
        self.ends = np.cumsum([1 << group.bits for group in groups])

    def count(self, rows: OutputRows) -> NDArray[np.int64]:
        return np.concatenate([self._odd(rows, group) for group in self.groups])

    @staticmethod
    def _odd(rows: OutputRows, group: _Masked) -> NDArray[np.int64]:
        table = np.bincount(group.code(rows), minlength=1 << group.bits)
        return np.asarray((len(rows) - walsh_hadamard(table)) // 2)

    def holds(self, rows: OutputRows, k: int) -> NDArray[np.bool_]:
        group, mask = self._split(k)
        return np.asarray(np.bitwise_count(group.code(rows) & mask) & 1 == 1)

    def words(self, k: int) -> str:
        group, mask = self._split(k)
        return group.words(mask, self.names)

    def _split(self, k: int) -> tuple[_Masked, int]:
        place = int(np.searchsorted(self.ends, k, side="right"))
        group = self.groups[place]
        return group, k - int(self.ends[place]) + (1 << group.bits)


class BitPairs:
    """Two bits of the output differ: all pairs of the first bits, counted by one product of matrices.

    Where two places of a report share their noise, they differ only if one of them is the true one's.
    """

    def __init__(self, learn: OutputRows, widths: list[int]) -> None:
        self.names = [column.name for column in learn.columns]
        self.places = [(j, bit) for j, width in enumerate(widths) for bit in range(width)][:_MAX_BITS]
        self.left, self.right = np.triu_indices(len(self.places), k=1)

    def count(self, rows: OutputRows) -> NDArray[np.int64]:
        bits = np.stack([self._bit(rows, place) for place in range(len(self.places))], axis=1).astype(np.float32)
        both = (bits.T @ bits).astype(np.int64)
        ones = np.diagonal(both)
        return np.asarray(ones[self.left] + ones[self.right] - 2 * both[self.left, self.right])

    def holds(self, rows: OutputRows, k: int) -> NDArray[np.bool_]:
        return np.asarray(self._bit(rows, self.left[k]) != self._bit(rows, self.right[k]))

    def words(self, k: int) -> str:
        return f"{self._name(self.left[k])} and {self._name(self.right[k])} differ"

    def _bit(self, rows: OutputRows, place: int) -> NDArray[np.unsignedinteger]:
        column, bit = self.places[place]
        return np.asarray(rows.numbers[:, column] >> np.array(bit, rows.numbers.dtype) & 1)

    def _name(self, place: int) -> str:
        column, bit = self.places[place]
        return f"bit {bit} of {self.names[column]}"
