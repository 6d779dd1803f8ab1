"""The analysis of FHR."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.claims import CellClaim, Claim, Scores
from fldp.oracles.base.leaks_and_parts import ParityLeak
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Generator, Strategy, Targets
from fldp.oracles.flexible.fhr import FHR
from fldp.oracles.flexible.walsh_analysis import items_claims, leaked_likelihoods, parity_leak, signs_of, spanned, whole


@dataclass(frozen=True, eq=False)
class HadamardRowStrategy(Strategy):
    """A first position with +1 for all targets, such as 0, and a mask that is odd for as many as possible."""

    oracle: FHR
    targets: Targets

    @property
    def _signs(self) -> NDArray[np.int64]:
        return signs_of(self.oracle.estimator.order, self.oracle.estimator.items[self.targets])

    def best(self) -> float:
        """Where the mask is odd, the other position is one of -1."""
        least, w = int(self._signs.min()), self.oracle.estimator.noise.weight
        gap = float(2 * (2 * self.oracle.coin.p - 1))
        return float(w * (len(self.targets) - least) / gap - (1 - w) * least)

    def craft(self, count: int, generator: Generator) -> Array:
        signs, data = self._signs, np.empty(count, self.oracle.report_format.dtype)
        data["plus"] = generator.choice(np.flatnonzero(signs == len(self.targets)), count)
        data["minus"] = data["plus"] ^ generator.choice(np.flatnonzero(signs == signs.min()), count)
        return data

    def blind_mean(self) -> float:
        return float((1 - self.oracle.estimator.noise.weight) * len(self.targets) / (self.oracle.estimator.order - 1))

    def blind(self, count: int, generator: Generator) -> Array:
        data = np.empty(count, self.oracle.report_format.dtype)
        data["plus"] = generator.integers(self.oracle.estimator.order, size=count)
        data["minus"] = data["plus"] ^ generator.integers(1, self.oracle.estimator.order, size=count)
        return data


@analyses(FHR)
class FHRAnalysis(Analysis[FHR]):
    """Two positions of opposite sign."""

    server_work = "O(n + d log d)"

    @property
    def outcomes(self) -> int:
        return self.oracle._rows.rows**2 // 2

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Half of the pairs have one sign twice under the other item; in the rest all orders are equally likely."""
        del value, other
        pairs, quarter = self.oracle._rows.rows**2, (self.oracle.coin.p / 4, self.oracle.coin.q / 4)
        shared = [Band(pairs // 16, a, b) for a in quarter for b in quarter]
        return Profile.of([*shared, Band(pairs // 4, Fraction(1, 2), Fraction(0))], pairs // 2)

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        item, rows = value + self.oracle._rows.first, self.oracle._rows.rows
        pairs = rows * rows // 4
        sign = [(item & i).bit_count() & 1 for i in range(rows)]
        return {
            (plus, minus): (self.oracle.coin.q if sign[plus] else self.oracle.coin.p) / pairs
            for plus in range(rows)
            for minus in range(rows)
            if sign[plus] != sign[minus]
        }

    def likelihoods(self, data: Array) -> Floats:
        return leaked_likelihoods(self.oracle.estimator, data, self._leak, self._agreement)

    def parities(self) -> ParityLeak:
        return parity_leak(self.oracle.estimator, self._leak)

    def _leak(self, data: Array) -> tuple[Array, Array]:
        masks = (data["plus"] ^ data["minus"])[:, None]
        return masks, np.ones(masks.shape, np.uint8)

    def _agreement(self, data: Array, items: Array) -> Floats:
        """The first position has sign +1 with probability p."""
        odds = float(self.oracle.coin.q / self.oracle.coin.p)
        return np.where(np.bitwise_count(data["plus"][:, None] & items) & 1, odds, 1.0)

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """A mask is odd for its item and a fair coin for others; the order of the two positions is a coin, too."""
        oracle = self.oracle
        D, n = oracle._rows.rows, tally.n
        used = np.arange(D) >= oracle._rows.first
        used[oracle._rows.first + oracle.domain_size :] = False
        signs, masks = tally.state
        claim = "no mask is more frequent than if all held a value that can have it"
        yield CellClaim("masks", claim, -masks[1:], n, 0.0, 2 / D, lambda cell: f"mask {cell + 1}")
        odd = whole(n + walsh_hadamard(masks), 2)
        first = whole(2 * odd + walsh_hadamard(signs), 4)
        rest = np.arange(1, D)  # row 0 is constant
        yield from items_claims("parities", odd[rest], np.full(D - 1, n), used[rest], (0.5, 1.0))
        yield from items_claims("orders", first[rest], odd[rest], used[rest], (0.5, float(oracle.coin.p)))

    def honest_reports(self, data: Array) -> Iterator[Claim]:
        oracle = self.oracle
        D = oracle._rows.rows
        counts = np.concatenate([np.bincount(data[end], minlength=D) for end in ("plus", "minus")])
        low, high = (2 * float(share) / D for share in (oracle.coin.q, oracle.coin.p))
        claim = "every position is as frequent as for some value"
        place = lambda cell: f"position {cell % D}"  # noqa: E731
        yield CellClaim("positions", claim, counts, len(data), low, high, place)

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores:
        """A fake that is odd for two items is even for their difference, and has positions of one sign there.

        Where the difference stands for no value, the mask is a fair coin. Where it does, the two estimates of its count
        must agree: that from the masks is one too small for each fake, that from the signs is not.
        """
        del data
        oracle = self.oracle
        signs, masks = walsh_hadamard(tally.state)
        c, items = float(1 / (2 * oracle.coin.p - 1)), oracle.estimator.items.astype(np.int64)
        used = np.isin(np.arange(oracle.estimator.order), items)
        apart = np.where(used, signs * (c / 2), 0.0) - masks
        variance = np.where(used, max(c * c / 2 + 1, c * c - 1), 1.0)
        differences = items[values, None] ^ items[values]
        return Scores(values, apart[differences], variance[differences], max(c - 1, 1.0))

    def fakes(self, targets: Targets) -> HadamardRowStrategy:
        return HadamardRowStrategy(self.oracle, targets)

    def identified(self) -> list[float] | None:
        """A mask ``w`` is uniform over the odd masks.

        If all items but 0 are in use, the first report gives one such mask, and the others add their differences from
        it: uniform over the even masks, a space of one bit less. If the items are exactly those with the top bit, the
        lower bits of ``w`` are uniform and determine the top bit.
        """
        known, oracle = super().identified(), self.oracle
        if known is not None or type(oracle) is not FHR:
            return known
        rows, bits = oracle._rows, oracle._rows.bits - 1
        if oracle.domain_size == rows.rows - 1:
            return spanned(bits, 1, idle=1)
        return spanned(bits, 1) if oracle.domain_size == rows.first == rows.rows // 2 else None
