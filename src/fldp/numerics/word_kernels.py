"""Functions of 64-bit words that kernels share: parity, popcount, a keyed hash, and multiply-high."""

from typing import Any

from fldp.numerics.kernels import ONE, U64, Kernel

_GOLDEN = U64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB)
_SHIFTS = U64(30), U64(27), U64(31)
_FOLDS = U64(16), U64(8), U64(4), U64(2)
_PAIRS, _FOURS, _EIGHTS = U64(0x5555555555555555), U64(0x3333333333333333), U64(0x0F0F0F0F0F0F0F0F)
_EACH, _TOP = U64(0x0101010101010101), U64(56)
_HALF, _LOW_HALF = U64(32), U64(0xFFFFFFFF)


@Kernel
def parity(x: Any) -> Any:
    """Return the parity of the set bits of a number below ``2^32``, by shifts that vectorise, unlike a popcount.

    >>> parity(U64(0b1011))
    np.uint64(1)
    """
    x ^= x >> _FOLDS[0]
    x ^= x >> _FOLDS[1]
    x ^= x >> _FOLDS[2]
    x ^= x >> _FOLDS[3]
    return (x ^ x >> ONE) & ONE


@Kernel
def ones(x: Any) -> Any:
    """Return the number of set bits of a word, by a pattern that compilers know as a popcount.

    >>> ones(U64(2**64 - 1)), ones(U64(0b1011))
    (np.uint64(64), np.uint64(3))
    """
    x -= (x >> ONE) & _PAIRS
    x = (x & _FOURS) + ((x >> _FOLDS[3]) & _FOURS)
    x = (x + (x >> _FOLDS[2])) & _EIGHTS
    return (x * _EACH) >> _TOP


@Kernel
def keyed_hash(seed: Any, value: Any) -> Any:
    """Return the 64-bit hash of a value under a seed: output number ``value`` of SplitMix64 started at the seed.

    For a fixed value it is a bijection of the seed, so over a uniform seed it is exactly uniform.

    >>> hex(keyed_hash(U64(0), U64(0)))
    '0xe220a8397b1dcdaf'
    """
    z = seed + (value + ONE) * _GOLDEN
    z = (z ^ (z >> _SHIFTS[0])) * _MIX_1
    z = (z ^ (z >> _SHIFTS[1])) * _MIX_2
    return z ^ (z >> _SHIFTS[2])


@Kernel
def multiply_high(x: Any, bound: Any) -> Any:
    """Return ``floor(x * bound / 2^64)`` for a ``bound`` below ``2^32``: it maps a word to a number below the bound.

    >>> multiply_high(U64(2**63), U64(5))
    np.uint64(2)
    """
    # The 128-bit product in 32-bit halves; neither partial product nor their sum exceeds 64 bits.
    return ((x >> _HALF) * bound + (((x & _LOW_HALF) * bound) >> _HALF)) >> _HALF
