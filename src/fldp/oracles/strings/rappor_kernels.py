"""Kernels of RAPPOR: Bloom filters in 64-bit blocks, and the two stages of noise on them."""

from typing import Any

import numpy as np

from fldp.numerics.kernels import U64, Kernel
from fldp.numerics.word_kernels import keyed_hash, multiply_high
from fldp.oracles.plain.unary import below

_SIX, _SIXTY_THREE = U64(6), U64(63)


@Kernel
def add_filter(value: Any, seeds: Any, bits: Any, row: Any) -> None:
    """Flip the bits of a value's Bloom filter in a row, each once."""
    for a in range(len(seeds)):
        place = multiply_high(keyed_hash(seeds[a], U64(value)), bits)
        # Two hash functions may set one bit; flipping it twice would clear it, so only the first flips.
        again = False
        for b in range(a):
            again |= multiply_high(keyed_hash(seeds[b], U64(value)), bits) == place
        row[place >> _SIX] ^= U64(not again) << (place & _SIXTY_THREE)


@Kernel
def flip_filters(values: Any, words: Any, seeds: Any, bits: Any, planes: Any, flip: Any, last: Any, out: Any) -> None:
    """Write the permanent response: the Bloom filter of each value in its cohort, with bits flipped at random."""
    row = np.empty(out.shape[1], np.uint64)
    for i in range(len(values)):
        below(words[i], planes, flip, row)
        add_filter(values[i], seeds[i], bits, row)
        row[len(row) - 1] &= last
        out[i] = row


@Kernel
def choose_bits(kept: Any, words: Any, planes: Any, zero: Any, one: Any, last: Any, out: Any) -> None:
    """Write the instantaneous response: each kept bit is compared with its threshold, ``one`` or ``zero``."""
    ones, zeros = np.empty(kept.shape[1], np.uint64), np.empty(kept.shape[1], np.uint64)
    for i in range(len(kept)):
        below(words[i], planes, one, ones)
        below(words[i], planes, zero, zeros)
        for b in range(kept.shape[1]):
            out[i, b] = (kept[i, b] & ones[b]) | (~kept[i, b] & zeros[b])
        out[i, kept.shape[1] - 1] &= last
