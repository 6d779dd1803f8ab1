"""The analysis of URAPPOR."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.bit_strategy import BitStrategy
from fldp.oracles.base.claims import Claim, Scores
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Generator, Strategy, Targets, supports_worth
from fldp.oracles.base.support_counts_analysis import independent_pairs, sum_of
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.unequal.urappor import URAPPOR
from fldp.oracles.unequal.utility import OTHER, SENSITIVE
from fldp.oracles.unequal.utility_analysis import UtilityAnalysis


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


@analyses(URAPPOR)
class URAPPORAnalysis(UtilityAnalysis[URAPPOR]):
    """A bit for each sensitive value, and perhaps the number of another one."""

    server_work = "O(n s + d), s sensitive"

    @property
    def outcomes(self) -> int:
        return (1 << len(self.oracle.sensitive)) * (1 + self.oracle._others)

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Bands by the true bits of the sensitive ones of the two values, and by whether a value is named."""
        kind, other_kind = int(self.oracle._places.kind_of[value]), int(self.oracle._places.kind_of[other])
        p, q = self.oracle.coins.p, self.oracle.coins.q
        bits = [((p, q), (1 - p, 1 - q))] * (kind == SENSITIVE) + [((q, p), (1 - q, 1 - p))] * (other_kind == SENSITIVE)
        silent = tuple(1 - self.oracle._revealed if each == OTHER else Fraction(1) for each in (kind, other_kind))
        rest = 1 << (len(self.oracle.sensitive) - len(bits))
        bands = []
        for chosen in product(*bits):
            own, seen = silent
            for a, b in chosen:
                own, seen = own * a, seen * b
            bands.append(Band(rest, own, seen))
        every = 1 << len(self.oracle.sensitive)
        if kind == OTHER:
            bands.append(Band(every, self.oracle._revealed, Fraction(0)))
        return Profile.of(bands, every * (1 + other_kind))

    def likelihoods(self, data: Array) -> Floats:
        """If nothing is named, a sensitive value is likely or not by its bit, and any other by not being named."""
        few, named = len(self.oracle.sensitive), self.oracle._named(data)
        p, q, silent = self.oracle.coins.p, self.oracle.coins.q, float(1 - self.oracle._revealed)
        bits = np.unpackbits(data[:, : self.oracle._bytes[0]], axis=1, count=few, bitorder="little")
        likelihoods = np.zeros((len(data), self.oracle.domain_size))
        kind_of = self.oracle._places.kind_of
        likelihoods[:, kind_of == SENSITIVE] = np.where(bits, float(p / q), float((1 - p) / (1 - q)))
        likelihoods[:, kind_of == OTHER] = silent
        likelihoods[named > 0] = 0.0
        rows = np.flatnonzero(named)
        likelihoods[rows, np.flatnonzero(self.oracle._places.kind_of == OTHER)[named[rows] - 1]] = 1.0
        return likelihoods

    def law(self, value: int, public: Public = None) -> Law:
        """An outcome is the bits and the number of the value that is named, or 0."""
        del public
        self.check_enumerable(value)
        (hidden,), (place,) = (part.tolist() for part in self.oracle._places.places(np.array([value])))
        chances = [
            self.oracle.coins.p if hidden and k == place else self.oracle.coins.q
            for k in range(len(self.oracle.sensitive))
        ]
        law = {}
        for bits in range(1 << len(chances)):
            share = Fraction(1)
            for k, chance in enumerate(chances):
                share *= chance if bits >> k & 1 else 1 - chance
            if hidden:
                law[bits, 0] = share
            else:
                law[bits, 0], law[bits, place + 1] = share * (1 - self.oracle._revealed), share * self.oracle._revealed
        return law

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield from super().honest_tally(tally)
        yield sum_of(self.oracle.estimator, tally)

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        return independent_pairs(
            self.oracle.estimator, tally, data, values, lambda part: self.oracle._supported(part)[:, values]
        )

    def fakes(self, targets: Targets) -> BitsAndName:
        oracle = self.oracle
        weights, constant = supports_worth(oracle, targets)
        hidden, others = oracle._places.kind_of == SENSITIVE, oracle._places.kind_of == OTHER
        true, noise, _ = oracle.estimator.chances
        bits = BitStrategy(weights[hidden], constant, true[hidden], noise[hidden])
        names = Symbols(np.append(0.0, weights[others]), np.int64)
        return BitsAndName(bits, names, oracle.report_format.shape[0] - -(-int(hidden.sum()) // 8))
