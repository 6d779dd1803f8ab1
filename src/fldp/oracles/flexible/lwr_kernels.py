"""Kernels of LWR: drawing what is kept, and a report from it."""

from typing import Any

from fldp.numerics.kernels import ONE, U64, ZERO, Kernel
from fldp.numerics.word_kernels import parity

_HALF_WORD = U64(32)


@Kernel
def draw_bases(words: Any, masks: Any, most: Any, keep: Any, other: Any, out: Any) -> None:
    """Draw masks, two from each word, and the answer to every symbol that parities under them can form.

    A row of ``out`` is the masks, then the answers as one number, that to symbol 0 in its lowest bits.
    """
    symbols, width = 1 << masks, U64(masks)
    taken = (masks + 1) // 2 + symbols
    for k in range(len(words) // taken):
        for j in range(masks):
            out[k * (masks + 1) + j] = (words[k * taken + j // 2] >> (_HALF_WORD * U64(j % 2))) & most
        table = ZERO
        for s in range(symbols):
            coin, symbol = words[(k + 1) * taken - symbols + s], U64(s)
            changed = U64(coin >= keep)
            another = changed * (coin - keep) // other
            table |= ((ONE - changed) * symbol + changed * (another + U64(another >= symbol))) << (width * symbol)
        out[k * (masks + 1) + masks] = table


@Kernel
def report_answers(items: Any, bases: Any, words: Any, masks: Any, keep: Any, other: Any, out: Any) -> None:
    """Look up the answer that is kept for the symbol of each item, and report it through the coin.

    A row of ``out`` is the masks, then the symbol.
    """
    width, lowest = U64(masks), (ONE << U64(masks)) - ONE
    for k in range(len(items)):
        row, symbol = k * (masks + 1), ZERO
        for j in range(masks):
            mask = U64(bases[row + j])
            out[row + j] = mask
            symbol |= parity(mask & items[k]) << U64(j)
        answer = (U64(bases[row + masks]) >> (width * symbol)) & lowest
        changed = U64(words[k] >= keep)  # constant time: both cases take the same steps, multiplied by 0 or 1
        another = changed * (words[k] - keep) // other
        out[row + masks] = (ONE - changed) * answer + changed * (another + U64(another >= answer))
