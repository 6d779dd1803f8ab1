"""The analysis of FWR, and of HRR, which leaks nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import analyses, analysis
from fldp.oracles.base.claims import CellClaim, Claim, Scores
from fldp.oracles.base.strategy import Generator, Strategy, Targets
from fldp.oracles.flexible.fwr import FWR
from fldp.oracles.flexible.walsh_oracle_analysis import WalshAnalysis, items_claims, signs_of, spanned, whole
from fldp.randomness.stream import Stream

_DRAWS = 1 << 14  # draws of masks, where there are too many to enumerate


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
        every = analysis(self.oracle).publics_are_all
        masks = np.array(list(analysis(self.oracle).publics())) if every else _some_masks(self.oracle)
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


@analyses(FWR)
class FWRAnalysis(WalshAnalysis[FWR]):
    """Parities under masks."""

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """Count the reports that every item, used or not, agrees with: in the leak, and also in the symbol."""
        oracle = self.oracle
        K, g, n = 1 << oracle.leaks, 1 << oracle.bits, tally.n
        used = np.zeros(oracle.rows, np.bool_)
        used[oracle.items] = True
        leak = np.full(oracle.rows, n) if K == 1 else whole(walsh_hadamard(tally.state[0]) + n, K)
        full = whole(walsh_hadamard(tally.state[-1]) + K * leak, K * g)
        if K > 1:
            yield from items_claims("leak", leak, np.full(oracle.rows, n), used, (1 / K, 1.0))
        yield from items_claims("supports", full, leak, used, (1 / g, float(oracle.coin.p)))

    def honest_reports(self, data: Array) -> Iterator[Claim]:
        """Masks and XORs of two masks are uniform: each value, and each parity of its bits."""
        oracle = self.oracle
        columns = {f"mask {j}": data[f"mask{j}"] for j in range(oracle.masks)}
        both = {f"{a} ^ {b}": columns[a] ^ columns[b] for a, b in combinations(columns, 2)}
        names = list(columns | both)
        tables = np.array([np.bincount(column, minlength=oracle.rows) for column in (columns | both).values()])
        D, n = oracle.rows, len(data)
        place = lambda cell: f"{names[cell // D]} is {cell % D}"  # noqa: E731
        yield CellClaim("masks", "all masks are equally frequent", tables.ravel(), n, 1 / D, 1 / D, place)
        even = (n + walsh_hadamard(tables)[:, 1:]) // 2
        place = lambda cell: f"{names[cell // (D - 1)]} is even in the bits of {cell % (D - 1) + 1}"  # noqa: E731
        yield CellClaim("parities", "every parity of a mask is a fair coin", even.ravel(), n, 0.5, 0.5, place)

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        """The sign of a mask at the XOR of two items, a fair coin for honest masks; the mean over the masks."""
        del tally
        oracle = self.oracle
        if data is None:
            return None
        signs = sum(walsh_hadamard(np.bincount(data[f"mask{j}"], minlength=oracle.rows)) for j in range(oracle.masks))
        items = oracle.items[values].astype(np.int64)
        sums = np.asarray(signs)[items[:, None] ^ items] / oracle.masks
        return Scores(values, sums, np.full(sums.shape, 1 / oracle.masks), 1.0)

    def fakes(self, targets: Targets) -> ParityStrategy:
        return ParityStrategy(self.oracle, targets)

    def identified(self) -> list[float] | None:
        """If all items are in use, the masks of the leak are uniform vectors."""
        known, oracle = super().identified(), self.oracle
        if known is not None or type(oracle) is not FWR or oracle.domain_size != oracle.rows:
            return known
        return spanned(oracle.rows.bit_length() - 1, oracle.leaks)
