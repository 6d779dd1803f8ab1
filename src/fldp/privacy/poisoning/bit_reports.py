"""Strategies for reports of bits (SUE, OUE, IDUE), of bits and a named value (URAPPOR), and of sets (SS)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.oracles import IDUE, SS, URAPPOR
from fldp.oracles.plain.unary import UnaryOracle
from fldp.oracles.unequal.utility import OTHER, SENSITIVE
from fldp.privacy.poisoning.strategy import Generator, Strategy, Targets, strategy, supports_worth
from fldp.privacy.poisoning.symbol_reports import Symbols


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


def packed(bits: NDArray[Any]) -> NDArray[np.uint8]:
    """Pack rows of bits into bytes, the lowest bit first."""
    return np.packbits(bits, axis=1, bitorder="little")


@strategy.register(UnaryOracle)
@strategy.register(IDUE)
def _(oracle: UnaryOracle | IDUE, targets: Targets) -> BitStrategy:
    """Bits of IDUE differ in weight: values with small budgets have large weights."""
    return BitStrategy(*supports_worth(oracle, targets), *oracle.chances[:2])


@dataclass(frozen=True, eq=False)
class BitsAndName(Strategy):
    """Bits for some values, and the number of one of the others, or 0; the two are chosen independently."""

    bits: BitStrategy
    names: Symbols
    name_bytes: int

    def best(self) -> float:
        return self.bits.best() + self.names.best()

    def craft(self, count: int, generator: Generator) -> Array:
        return self._joined(self.bits.craft(count, generator), self.names.craft(count, generator))

    def blind_mean(self) -> float:
        return self.bits.blind_mean() + self.names.blind_mean()

    def blind(self, count: int, generator: Generator) -> Array:
        return self._joined(self.bits.blind(count, generator), self.names.blind(count, generator))

    def _joined(self, bits: Array, names: Array) -> Array:
        numbers = names[:, None] >> (8 * np.arange(self.name_bytes)) & 0xFF
        return np.hstack([bits, numbers.astype(np.uint8)])


@strategy.register(URAPPOR)
def _(oracle: URAPPOR, targets: Targets) -> BitsAndName:
    weights, constant = supports_worth(oracle, targets)
    hidden, others = oracle.kind_of == SENSITIVE, oracle.kind_of == OTHER
    true, noise, _ = oracle.chances
    bits = BitStrategy(weights[hidden], constant, true[hidden], noise[hidden])
    names = Symbols(np.append(0.0, weights[others]), np.int64)
    return BitsAndName(bits, names, oracle.report_format.shape[0] - -(-int(hidden.sum()) // 8))


@dataclass(frozen=True, eq=False)
class Subsets(Strategy):
    """Sets of a fixed size: the best contain the values of the largest weights."""

    weights: Floats
    constant: float
    size: int
    dtype: Any

    def best(self) -> float:
        return self.constant + float(np.sort(self.weights)[-self.size :].sum())

    def craft(self, count: int, generator: Generator) -> Array:
        rank = np.unique(self.weights, return_inverse=True)[1]
        return self._first(generator.random((count, len(rank))) - rank)

    def _first(self, order: Floats) -> Array:
        return np.sort(np.argsort(order, axis=1)[:, : self.size], axis=1).astype(self.dtype)

    def blind_mean(self) -> float:
        return self.constant + float(self.weights.mean()) * self.size

    def blind(self, count: int, generator: Generator) -> Array:
        return self._first(generator.random((count, len(self.weights))))


@strategy.register(SS)
def _(oracle: SS, targets: Targets) -> Subsets:
    return Subsets(*supports_worth(oracle, targets), oracle.size, oracle.report_format.dtype)
