"""Kernels of FWR: drawing parities under random masks, and adding up their products."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import ONE, U64, ZERO, Kernel
from fldp.numerics.word_kernels import parity

_HALF_WORD, _TWO = U64(32), U64(2)


@Kernel
def draw_parities(items: Any, words: Any, masks: Any, leaks: Any, most: Any, keep: Any, other: Any, out: Any) -> None:
    """Draw masks, two from each word, and report the parities of the item under them.

    The last word is the coin: it keeps the symbol that the parities after the leaked ones form, or replaces it by
    another. A row of ``out`` is the masks, then the parities as the bits of a number.
    """
    taken = (masks + 1) // 2 + 1
    for k in range(len(items)):
        bits = ZERO
        for j in range(masks):
            mask = (words[k * taken + j // 2] >> (_HALF_WORD * U64(j % 2))) & most
            out[k * (masks + 1) + j] = mask
            bits |= parity(mask & items[k]) << U64(j)
        coin, symbol = words[k * taken + taken - 1], bits >> leaks
        changed = U64(coin >= keep)  # constant time: both cases take the same steps, multiplied by 0 or 1
        another = changed * (coin - keep) // other
        symbol = (ONE - changed) * symbol + changed * (another + U64(another >= symbol))
        out[k * (masks + 1) + masks] = (bits & ((ONE << leaks) - ONE)) | (symbol << leaks)


@Kernel
def add_characters(rows: Any, masks: Any, flips: Any, offsets: Any, most: Any, state: Any) -> None:
    """Add the sign of every product of parities at the exclusive or of its masks.

    Product ``u`` takes the parities at the set bits of ``u``; its vector begins at ``offsets[u]``.
    """
    # The 8 products of the first three masks are unrolled, for speed. The subsets of the other masks are visited in a
    # Gray code: step s toggles mask flips[s], so place and sign change by one mask instead of being recomputed.
    width, many = masks + ONE, masks > _TWO
    for k in range(U64(len(rows)) // width):
        row = k * width
        bits, place, chosen = U64(rows[row + masks]), ZERO, ZERO
        sign: Any = 1
        a, x = U64(rows[row]) & most, 1 - 2 * np.int64(bits & ONE)
        b, y = (U64(rows[row + ONE]) & most, 1 - 2 * np.int64((bits >> ONE) & ONE)) if masks > ONE else (ZERO, 1)
        c, z = (U64(rows[row + _TWO]) & most, 1 - 2 * np.int64((bits >> _TWO) & ONE)) if many else (ZERO, 1)
        for s in range(U64(len(flips))):
            if s > ZERO:
                j = flips[s]
                place ^= U64(rows[row + j]) & most
                sign *= 1 - 2 * np.int64((bits >> j) & ONE)
                chosen ^= ONE << j
                state[offsets[chosen] + place] += sign
            state[offsets[chosen + U64(1)] + (place ^ a)] += sign * x
            if masks > ONE:
                state[offsets[chosen + U64(2)] + (place ^ b)] += sign * y
                state[offsets[chosen + U64(3)] + (place ^ a ^ b)] += sign * x * y
            if many:
                state[offsets[chosen + U64(4)] + (place ^ c)] += sign * z
                state[offsets[chosen + U64(5)] + (place ^ a ^ c)] += sign * x * z
                state[offsets[chosen + U64(6)] + (place ^ b ^ c)] += sign * y * z
                state[offsets[chosen + U64(7)] + (place ^ a ^ b ^ c)] += sign * x * y * z


def gray_code(masks: int) -> NDArray[np.uint64]:
    """Return the mask, from the fourth on, that each step of a Gray code toggles; the first step toggles none.

    >>> gray_code(3), gray_code(5)
    (array([0], dtype=uint64), array([0, 3, 4, 3], dtype=uint64))
    """
    steps = range(1, 1 << max(0, masks - 3))
    return np.array([0, *((step & -step).bit_length() + 2 for step in steps)], np.uint64)
