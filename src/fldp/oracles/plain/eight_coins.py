"""EightCoins: eight independent coins at once, by looking up 16 random bits in a table; exact.

A coin is 1 for ``threshold`` of ``2^planes`` numbers, so a byte of eight has a probability of ``weight/2^(8 planes)``.
A few bytes in a thousand take a second draw (``fldp.oracles.plain.weighted_draws``).
"""

from dataclasses import dataclass
from functools import cached_property

from fldp.oracles.plain.weighted_draws import WeightedDraws

_BYTES = range(256)


@dataclass(frozen=True)
class EightCoins(WeightedDraws):
    """Draws of bytes whose bits are independent coins, each 1 for ``threshold`` of ``2^planes`` numbers.

    >>> import numpy as np
    >>> from fldp import Stream
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
