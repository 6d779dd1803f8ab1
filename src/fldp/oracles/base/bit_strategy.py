"""BitStrategy: the strategy for reports of bits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.oracles.base.strategy import Generator, Strategy


@dataclass(frozen=True, eq=False)
class BitStrategy(Strategy):
    """Every set bit adds its weight, so the best rows set all bits of positive weight and none of negative.

    Bits of no weight fill the row up to as many as an honest one has. There the bit of a target is set with probability
    ``true``, and any other bit with ``noise``.
    """

    weights: Floats
    constant: float
    true: Floats
    noise: Floats

    def best(self) -> float:
        return self.constant + float(self.weights[self.weights > 0].sum())

    def craft(self, count: int, generator: Generator) -> Array:
        honest, good, bad = self._honest(count, generator), self.weights > 0, self.weights < 0
        order = generator.random(honest.shape) - honest  # bits that the honest row sets come first
        order[:, good], order[:, bad] = -2, 2
        size = np.clip(honest.sum(axis=1), good.sum(), (~bad).sum())
        return packed(np.argsort(np.argsort(order, axis=1), axis=1) < size[:, None])

    def _honest(self, count: int, generator: Generator) -> NDArray[np.bool_]:
        drawn, good = generator.random((count, len(self.weights))), np.flatnonzero(self.weights > 0)
        rows = drawn < self.noise
        if len(good):
            each, own = np.arange(count), generator.choice(good, count)
            rows[each, own] = drawn[each, own] < self.true[own]
        return np.asarray(rows)

    def blind_mean(self) -> float:
        return self.constant + float(self.weights.sum()) / 2

    def blind(self, count: int, generator: Generator) -> Array:
        return packed(generator.integers(2, size=(count, len(self.weights)), dtype=np.uint8))


def set_bits(size: int, values: NDArray[np.int64], rows: Array) -> NDArray[np.uint8]:
    """Return which of these bits are set in rows of ``size`` bits.

    >>> set_bits(4, np.array([0, 2]), packed(np.array([[1, 0, 1, 1], [1, 1, 0, 0]])))
    array([[1, 1],
           [1, 0]], dtype=uint8)
    """
    return np.asarray(np.unpackbits(rows, axis=1, count=size, bitorder="little")[:, values])


def packed(bits: NDArray[np.integer | np.bool_]) -> NDArray[np.uint8]:
    """Pack rows of bits into bytes, the lowest bit first."""
    return np.packbits(bits, axis=1, bitorder="little")
