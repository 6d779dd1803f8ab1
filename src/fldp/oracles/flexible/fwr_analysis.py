"""The analysis of FWR, and of HRR, which leaks nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.kernels import U64
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import Analysis, analyses, analysis
from fldp.oracles.base.blanket import Blanket, two_levels
from fldp.oracles.base.claims import CellClaim, Claim, Scores
from fldp.oracles.base.leaks_and_parts import ParityLeak
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.pair_noise import PairNoise
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Generator, Strategy, Targets, largest
from fldp.oracles.flexible.fwr import FWR, HRR
from fldp.oracles.flexible.lwr import LWR
from fldp.oracles.flexible.walsh import agreeing
from fldp.oracles.flexible.walsh_analysis import items_claims, leaked_likelihoods, parity_leak, signs_of, spanned, whole
from fldp.randomness.stream import Stream
from fldp.support.validation import fail

_MAX_PUBLICS = 1 << 12


_MAX_TRIED, _TRIED = 1 << 16, 1 << 20  # masks that fakes try; values under masks at a time
_DRAWS = 1 << 14  # draws of masks, where there are too many to enumerate


@dataclass(frozen=True, eq=False)
class ParityStrategy(Strategy):
    """Masks under which all targets have the same parity, such as 0, and these parities."""

    oracle: FWR | HRR | LWR
    targets: Targets

    @property
    def _items(self) -> NDArray[Any]:
        return np.asarray(self.oracle._parities.items[self.targets])

    @property
    def _weights(self) -> Floats:
        return np.ones(len(self.targets))

    def best(self) -> float:
        return len(self.targets) * sum(self._worth)

    @property
    def _worth(self) -> tuple[float, float, float]:
        """What a report adds to an estimate: if it agrees in all parities, if in the leak, and always."""
        K, g, w = 1 << self.oracle._parities.leaks, 1 << self.oracle._parities.bits, self.oracle.estimator.noise.weight
        sure = w / (float(self.oracle._parities.coin.p) - 1 / g)
        return (sure, -sure / g, 0.0) if K == 1 else (sure, (1 - w) * K / (K - 1) - sure / g, -(1 - w) / (K - 1))

    def craft(self, count: int, generator: Generator) -> Array:
        alike = np.flatnonzero(np.abs(signs_of(self.oracle._parities.rows, self._items)) == len(self.targets))
        masks = generator.choice(alike, (count, self.oracle._parities.masks))
        return _masked(self.oracle, masks, _codes(masks, self._items[None, :1])[:, 0])

    def blind_mean(self) -> float:
        share = (1 - self.oracle.estimator.noise.weight) / self.oracle._parities.rows
        return float(share * self._weights.sum())

    def blind(self, count: int, generator: Generator) -> Array:
        """Draw uniform masks and symbols, and the leak of a random item, since not every leak is possible."""
        masks = generator.integers(self.oracle._parities.rows, size=(count, self.oracle._parities.masks))
        leak = _codes(masks, generator.integers(self.oracle._parities.rows, size=(count, 1)))[:, 0]
        symbols = generator.integers(1 << self.oracle._parities.bits, size=count)
        leaks = self.oracle._parities.leaks
        return _masked(self.oracle, masks, leak & ((1 << leaks) - 1) | symbols << leaks)

    def best_given(self, data: Array) -> Array:
        """Try all parities that could be reported under the masks."""
        masks = np.stack([data[f"mask{j}"].astype(np.int64) for j in range(self.oracle._parities.masks)], axis=1)
        return _masked(self.oracle, masks, np.argmax(self._scores(masks), axis=1))

    def best_on_average(self) -> float:
        """Exact if all masks can be enumerated, else a mean over fixed draws."""
        every = analysis(self.oracle).publics_are_all
        masks = np.array(list(analysis(self.oracle).publics())) if every else _some_masks(self.oracle)
        return float(self._scores(masks).max(axis=1).mean())

    def _scores(self, masks: NDArray[np.int64]) -> Floats:
        """Return the worth of each choice of parities under these masks."""
        codes, K = _codes(masks, self._items[None]), 1 << self.oracle._parities.leaks
        full = np.zeros((len(masks), 1 << self.oracle._parities.masks))
        np.add.at(full, (np.arange(len(masks))[:, None], codes), self._weights)
        leak = np.tile(full.reshape(len(masks), -1, K).sum(axis=1), 1 << self.oracle._parities.bits)
        both, alone, base = self._worth
        score = both * full + alone * leak + base * float(self._weights.sum())
        for chosen in range(1, K):  # where leaked masks cancel out, so must their parities
            cancel = (
                np.bitwise_xor.reduce(np.where(chosen >> np.arange(self.oracle._parities.masks) & 1, masks, 0), axis=1)
                == 0
            )
            odd = np.bitwise_count(np.arange(1 << self.oracle._parities.masks) & chosen) & 1 == 1
            score[np.ix_(cancel, odd)] = -np.inf
        return score


@dataclass(frozen=True, eq=False)
class WeighedParityStrategy(ParityStrategy):
    """The best masks and parities where every value has a weight, by trying all of them."""

    weights: Floats

    @property
    def _weights(self) -> Floats:
        return self.weights

    @cached_property
    def _every(self) -> tuple[NDArray[np.int64], Floats]:
        """All masks, and the worth of each choice of parities under them."""
        masks = all_masks(self.oracle)
        step = max(1, _TRIED // len(self.weights))
        parts = [self._scores(masks[k : k + step]) for k in range(0, len(masks), step)]
        return masks, np.concatenate(parts)

    def best(self) -> float:
        return float(self._every[1].max())

    def craft(self, count: int, generator: Generator) -> Array:
        masks, scores = self._every
        chosen = generator.choice(largest(scores.reshape(-1)), count)
        return _masked(self.oracle, masks[chosen // scores.shape[1]], chosen % scores.shape[1])

    def best_on_average(self) -> float:
        return float(self._every[1].max(axis=1).mean())


def all_masks(oracle: FWR | HRR | LWR) -> NDArray[np.int64]:
    """Return all choices of masks, a row each."""
    rows, masks = oracle._parities.rows, oracle._parities.masks
    return np.stack([np.arange(rows**masks) // rows**j % rows for j in range(masks)], axis=1)


def _some_masks(oracle: FWR | HRR | LWR) -> NDArray[np.int64]:
    words = Stream(0).words(_DRAWS * oracle._parities.masks) % np.uint64(oracle._parities.rows)
    return words.astype(np.int64).reshape(_DRAWS, oracle._parities.masks)


def _codes(masks: NDArray[np.int64], items: NDArray[Any]) -> NDArray[np.int64]:
    """Return the parities of items under masks as the bits of a number, one row per report."""
    odd = np.bitwise_count(masks[:, None, :] & items.astype(np.int64)[:, :, None]).astype(np.int64) & 1
    return np.asarray((odd << np.arange(masks.shape[1])).sum(axis=2))


def _masked(oracle: FWR | HRR | LWR, masks: NDArray[np.int64], bits: NDArray[np.int64]) -> Array:
    data = np.empty(len(masks), oracle.report_format.dtype)
    for j in range(oracle._parities.masks):
        data[f"mask{j}"] = masks[:, j]
    data["bits"] = bits
    return data


@analyses(FWR, HRR)
class FWRAnalysis(Analysis[FWR | HRR | LWR]):
    """Parities under masks."""

    @property
    def server_work(self) -> str:
        return f"O({1 << self.oracle._parities.masks} n + d log d)"

    @property
    def outcomes(self) -> int:
        return 1 << self.oracle._parities.masks

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Over uniform masks, two items agree in the leak with probability eta, and in the symbol with 1/g."""
        del value, other
        K, g, p, q = (
            1 << self.oracle._parities.leaks,
            1 << self.oracle._parities.bits,
            self.oracle._parities.coin.p,
            self.oracle._parities.coin.q,
        )
        cells = self.oracle._parities.rows**self.oracle._parities.masks // (
            K * g
        )  # choices of masks for each pattern in which the parities of two items differ
        ways = ((1, p, p), (g - 1, p, q), (g - 1, q, p), ((g - 1) ** 2, q, q))
        each = Fraction(1, K * g)
        bands = [Band(cells * count, each * count * a, each * count * b) for count, a, b in ways]
        bands.append(Band(cells * (K - 1) * g * g, 1 - Fraction(1, K), Fraction(0)))
        return Profile.of(bands, self.oracle._parities.rows**self.oracle._parities.masks * g)

    def blanket(self) -> Blanket | None:
        """Without a leak, two items agree in the symbol under one choice of masks in ``g``."""
        parities = self.oracle._parities
        share, ratio = Fraction(1, 1 << parities.bits), parities.coin.p / parities.coin.q
        return None if parities.leaks else two_levels(ratio, share, share**2)

    def law(self, value: int, public: Public = None) -> Law:
        if public is None:
            raise fail(self.oracle.title, "public", "the masks that the law is conditional on", public)
        self.check_enumerable(value)
        item = int(self.oracle._parities.items[value])
        true = sum(((item & mask).bit_count() & 1) << j for j, mask in enumerate(public))
        leaks, p, q = self.oracle._parities.leaks, self.oracle._parities.coin.p, self.oracle._parities.coin.q
        leak = true & ((1 << leaks) - 1)
        return {
            symbol << leaks | leak: p if symbol == true >> leaks else q
            for symbol in range(1 << self.oracle._parities.bits)
        }

    def publics(self) -> Iterable[tuple[int, ...]]:
        """All masks if they are few; else all masks of the leak, which decide eta, with some of the response."""
        if self.publics_are_all:
            return product(range(self.oracle._parities.rows), repeat=self.oracle._parities.masks)
        drawn = (
            (Stream(0).words(4 * self.oracle._parities.masks) % U64(self.oracle._parities.rows))
            .reshape(4, self.oracle._parities.masks)
            .tolist()
        )
        if self.oracle._parities.rows**self.oracle._parities.leaks > _MAX_PUBLICS:
            return [tuple(row) for row in drawn]
        leaked = product(range(self.oracle._parities.rows), repeat=self.oracle._parities.leaks)
        return [(*leak, *row[self.oracle._parities.leaks :]) for leak, row in product(leaked, drawn)]

    @property
    def publics_are_all(self) -> bool:
        return bool(self.oracle._parities.rows**self.oracle._parities.masks <= _MAX_PUBLICS)

    def likelihoods(self, data: Array) -> Floats:
        return leaked_likelihoods(self.oracle.estimator, data, self._leak, self._agreement)

    def parities(self) -> ParityLeak:
        return parity_leak(self.oracle.estimator, self._leak)

    def _leak(self, data: Array) -> tuple[Array, Array]:
        return self.oracle._parities.parities(data, 0, self.oracle._parities.leaks)

    def _agreement(self, data: Array, items: Array) -> Floats:
        """The symbol is the item's own with probability p, each other with q."""
        parities, coin = self.oracle._parities, self.oracle._parities.coin
        own = agreeing(*parities.parities(data, parities.leaks, parities.masks), items)
        return np.maximum(own, float(coin.q / coin.p))

    def pair_noise(self) -> PairNoise:
        """Estimates of different values are uncorrelated, whoever sends the report."""
        own, other = self.oracle.estimator.variance(1, 1), self.oracle.estimator.variance(1, 0)
        return PairNoise(float(own), float(other), 0.0, 0.0)

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """Count the reports that every item, used or not, agrees with: in the leak, and also in the symbol."""
        oracle = self.oracle
        K, g, n = 1 << oracle._parities.leaks, 1 << oracle._parities.bits, tally.n
        used = np.zeros(oracle._parities.rows, np.bool_)
        used[oracle._parities.items] = True
        leak = np.full(oracle._parities.rows, n) if K == 1 else whole(walsh_hadamard(tally.state[0]) + n, K)
        full = whole(walsh_hadamard(tally.state[-1]) + K * leak, K * g)
        if K > 1:
            yield from items_claims("leak", leak, np.full(oracle._parities.rows, n), used, (1 / K, 1.0))
        yield from items_claims("supports", full, leak, used, (1 / g, float(oracle._parities.coin.p)))

    def honest_reports(self, data: Array) -> Iterator[Claim]:
        """Masks and XORs of two masks are uniform: each value, and each parity of its bits."""
        oracle = self.oracle
        columns = {f"mask {j}": data[f"mask{j}"] for j in range(oracle._parities.masks)}
        both = {f"{a} ^ {b}": columns[a] ^ columns[b] for a, b in combinations(columns, 2)}
        names = list(columns | both)
        D, n = oracle._parities.rows, len(data)
        tables = np.array([np.bincount(column, minlength=D) for column in (columns | both).values()])
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
        signs = sum(
            walsh_hadamard(np.bincount(data[f"mask{j}"], minlength=oracle._parities.rows))
            for j in range(oracle._parities.masks)
        )
        items = oracle._parities.items[values].astype(np.int64)
        sums = np.asarray(signs)[items[:, None] ^ items] / oracle._parities.masks
        return Scores(values, sums, np.full(sums.shape, 1 / oracle._parities.masks), 1.0)

    def fakes(self, targets: Targets) -> ParityStrategy:
        return ParityStrategy(self.oracle, targets)

    def fakes_weighing(self, weights: Floats) -> WeighedParityStrategy | None:
        """Masks are tried one by one, so there must not be too many."""
        if self.oracle._parities.rows**self.oracle._parities.masks > _MAX_TRIED:
            return None
        return WeighedParityStrategy(self.oracle, np.arange(len(weights)), weights)

    def identified(self) -> list[float] | None:
        """If all items are in use, the masks of the leak are uniform vectors."""
        known, oracle = super().identified(), self.oracle
        if known is not None or type(oracle) is not FWR or oracle.domain_size != oracle._parities.rows:
            return known
        return spanned(oracle._parities.rows.bit_length() - 1, oracle._parities.leaks)
