"""Strategies for reports of parities of an item: under masks (FWR, HRR), or two positions of opposite sign (FHR)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles import FHR, FWR
from fldp.privacy.poisoning.strategy import Generator, Strategy, Targets, strategy, times
from fldp.randomness.stream import Stream

_DRAWS = 1 << 14  # draws of masks, where there are too many to enumerate


def signs_of(order: int, items: NDArray[Any]) -> NDArray[np.int64]:
    """Return for every position the sum of the signs of these rows of the matrix.

    >>> signs_of(4, np.array([1, 3]))
    array([ 2, -2,  0,  0])
    """
    return walsh_hadamard(times(items, order))


@strategy.register(FHR)
@dataclass(frozen=True, eq=False)
class HadamardRowStrategy(Strategy):
    """A first position with +1 for all targets, such as 0, and a mask that is odd for as many as possible."""

    oracle: FHR
    targets: Targets

    @property
    def _signs(self) -> NDArray[np.int64]:
        return signs_of(self.oracle.walsh_order, self.oracle.value_items[self.targets])

    def best(self) -> float:
        """Where the mask is odd, the other position is one of -1."""
        least, w = int(self._signs.min()), self.oracle.noise.weight
        gap = float(2 * (2 * self.oracle.coin.p - 1))
        return float(w * (len(self.targets) - least) / gap - (1 - w) * least)

    def craft(self, count: int, generator: Generator) -> Array:
        signs, data = self._signs, np.empty(count, self.oracle.report_format.dtype)
        data["plus"] = generator.choice(np.flatnonzero(signs == len(self.targets)), count)
        data["minus"] = data["plus"] ^ generator.choice(np.flatnonzero(signs == signs.min()), count)
        return data

    def blind_mean(self) -> float:
        return float((1 - self.oracle.noise.weight) * len(self.targets) / (self.oracle.walsh_order - 1))

    def blind(self, count: int, generator: Generator) -> Array:
        data = np.empty(count, self.oracle.report_format.dtype)
        data["plus"] = generator.integers(self.oracle.walsh_order, size=count)
        data["minus"] = data["plus"] ^ generator.integers(1, self.oracle.walsh_order, size=count)
        return data


@strategy.register(FWR)
@dataclass(frozen=True, eq=False)
class ParityStrategy(Strategy):
    """Masks under which all targets have the same parity, such as 0, and these parities."""

    oracle: FWR
    targets: Targets

    @property
    def _items(self) -> NDArray[Any]:
        return np.asarray(self.oracle.items[self.targets])

    def best(self) -> float:
        return len(self.targets) * sum(self._worth)

    @property
    def _worth(self) -> tuple[float, float, float]:
        """What a report adds to an estimate: if it agrees in all parities, if in the leak, and always."""
        K, g, w = 1 << self.oracle.leaks, 1 << self.oracle.bits, self.oracle.noise.weight
        sure = w / (float(self.oracle.coin.p) - 1 / g)
        return (sure, -sure / g, 0.0) if K == 1 else (sure, (1 - w) * K / (K - 1) - sure / g, -(1 - w) / (K - 1))

    def craft(self, count: int, generator: Generator) -> Array:
        alike = np.flatnonzero(np.abs(signs_of(self.oracle.rows, self._items)) == len(self.targets))
        masks = generator.choice(alike, (count, self.oracle.masks))
        return _masked(self.oracle, masks, _codes(masks, self._items[None, :1])[:, 0])

    def blind_mean(self) -> float:
        return float((1 - self.oracle.noise.weight) * len(self.targets) / self.oracle.rows)

    def blind(self, count: int, generator: Generator) -> Array:
        """Draw uniform masks and symbols, and the leak of a random item, since not every leak is possible."""
        masks = generator.integers(self.oracle.rows, size=(count, self.oracle.masks))
        leak = _codes(masks, generator.integers(self.oracle.rows, size=(count, 1)))[:, 0]
        symbols = generator.integers(1 << self.oracle.bits, size=count)
        leaks = self.oracle.leaks
        return _masked(self.oracle, masks, leak & ((1 << leaks) - 1) | symbols << leaks)

    def best_given(self, data: Array) -> Array:
        """Try all parities that could be reported under the masks."""
        masks = np.stack([data[f"mask{j}"].astype(np.int64) for j in range(self.oracle.masks)], axis=1)
        return _masked(self.oracle, masks, np.argmax(self._scores(masks), axis=1))

    def best_on_average(self) -> float:
        """Exact if all masks can be enumerated, else a mean over fixed draws."""
        every = self.oracle.publics_are_all
        masks = np.array(list(self.oracle.publics())) if every else _some_masks(self.oracle)
        return float(self._scores(masks).max(axis=1).mean())

    def _scores(self, masks: NDArray[np.int64]) -> Floats:
        """Return the worth of each choice of parities under these masks."""
        codes, K = _codes(masks, self._items[None]), 1 << self.oracle.leaks
        full = np.zeros((len(masks), 1 << self.oracle.masks))
        np.add.at(full, (np.arange(len(masks))[:, None], codes), 1.0)
        leak = np.tile(full.reshape(len(masks), -1, K).sum(axis=1), 1 << self.oracle.bits)
        both, alone, base = self._worth
        score = both * full + alone * leak + base * len(self.targets)
        for chosen in range(1, K):  # where leaked masks cancel out, so must their parities
            cancel = np.bitwise_xor.reduce(np.where(chosen >> np.arange(self.oracle.masks) & 1, masks, 0), axis=1) == 0
            odd = np.bitwise_count(np.arange(1 << self.oracle.masks) & chosen) & 1 == 1
            score[np.ix_(cancel, odd)] = -np.inf
        return score


def _some_masks(oracle: FWR) -> NDArray[np.int64]:
    words = Stream(0).words(_DRAWS * oracle.masks) % np.uint64(oracle.rows)
    return words.astype(np.int64).reshape(_DRAWS, oracle.masks)


def _codes(masks: NDArray[np.int64], items: NDArray[Any]) -> NDArray[np.int64]:
    """Return the parities of items under masks as the bits of a number, one row per report."""
    odd = np.bitwise_count(masks[:, None, :] & items.astype(np.int64)[:, :, None]).astype(np.int64) & 1
    return np.asarray((odd << np.arange(masks.shape[1])).sum(axis=2))


def _masked(oracle: FWR, masks: NDArray[np.int64], bits: NDArray[np.int64]) -> Array:
    data = np.empty(len(masks), oracle.report_format.dtype)
    for j in range(oracle.masks):
        data[f"mask{j}"] = masks[:, j]
    data["bits"] = bits
    return data
