"""The analysis of OLH."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.kernels import U64, Kernel
from fldp.numerics.types import Floats
from fldp.numerics.word_kernels import keyed_hash, multiply_high
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.blanket import Blanket, two_levels
from fldp.oracles.base.claims import CellClaim, ChanceClaim, Claim, Scores
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.strategy import Generator, Strategy, Targets
from fldp.oracles.base.support_counts_analysis import PureAnalysis, independent_pairs, total_of
from fldp.oracles.plain.olh import OLH
from fldp.randomness.stream import Stream
from fldp.support.validation import fail

POOL, MAX_POOLS = 1 << 16, 64  # hash seeds that an attacker tries, and how often


@Kernel
def weigh_values(seeds: Any, symbols: Any, size: Any, others: Any, out: Any) -> None:
    """Give each value (column) 1 where its hash under the seed (row) is the symbol, and ``others`` elsewhere."""
    for i in range(len(out)):
        for j in range(out.shape[1]):
            hit = multiply_high(keyed_hash(seeds[i], U64(j)), size) == symbols[i]
            out[i, j] = 1.0 if hit else others


@weigh_values.by_numpy
def _weigh_all(seeds: Any, symbols: Any, size: Any, others: Any, out: Any) -> None:
    hashes = keyed_hash(seeds[:, None], np.arange(out.shape[1], dtype=np.uint64))
    out[:] = np.where(multiply_high(hashes, size) == symbols[:, None], 1.0, others)


@dataclass(frozen=True, eq=False)
class Hashes(Strategy):
    """The best seeds hash all targets to one symbol: one seed in ``g^(r-1)``, found by search."""

    oracle: OLH
    targets: Targets

    def best(self) -> float:
        return self._worth(len(self.targets))

    def _worth(self, supported: float) -> float:
        p, q = self.oracle.estimator.p, self.oracle.estimator.q
        return (supported - len(self.targets) * float(q)) / float(p - q)

    def craft(self, count: int, generator: Generator) -> Array:
        """Return the best of many seeds, by how many targets they hash to one symbol; few seeds repeat."""
        crafted, best = np.empty(0, self.oracle.report_format.dtype), 0
        for _ in range(MAX_POOLS):
            pool = self.best_given(self.blind(POOL, generator))
            score = (self._symbols(pool) == pool["symbol"][:, None]).sum(axis=1)
            crafted = np.concatenate(
                [crafted if score.max() <= best else crafted[:0], pool[score == max(best, score.max())]]
            )
            best = max(best, int(score.max()))
            if len(crafted) >= count:
                break
        return np.asarray(generator.choice(crafted, count, replace=len(crafted) < count))

    def blind_mean(self) -> float:
        """Return 0: over uniform symbols, supports are balanced by ``q``."""
        return 0.0

    def blind(self, count: int, generator: Generator) -> Array:
        data = np.empty(count, self.oracle.report_format.dtype)
        data["seed"] = generator.integers(2**64, size=count, dtype=np.uint64)
        data["symbol"] = generator.integers(self.oracle._symbols, size=count)
        return data

    def best_given(self, data: Array) -> Array:
        """Take the symbol that most targets hash to; of several, the symbol of the first such target."""
        symbols = self._symbols(data)
        together = (symbols[:, :, None] == symbols[:, None, :]).sum(axis=2)
        best = data.copy()
        best["symbol"] = np.take_along_axis(symbols, together.argmax(axis=1)[:, None], axis=1)[:, 0]
        return best

    def best_on_average(self) -> float:
        return self._worth(fullest(len(self.targets), self.oracle._symbols))

    def _symbols(self, data: Array) -> Array:
        hashes = keyed_hash(data["seed"][:, None], self.targets.astype(np.uint64))
        return np.asarray(multiply_high(hashes, U64(self.oracle._symbols)))


def fullest(balls: int, urns: int) -> float:
    """Return the mean number of balls in the fullest urn, with balls thrown uniformly.

    ``P(none has more than k)`` is ``balls!/urns^balls`` times a coefficient of ``(1 + x + ... + x^k/k!)^urns``.

    >>> fullest(1, 4), fullest(2, 4), round(fullest(3, 2), 9)
    (1.0, 1.25, 2.25)
    """
    below = [1.0 if k >= balls else _no_more_than(k, balls, urns) for k in range(balls + 1)]
    return float(balls - sum(below[:balls]))


def _no_more_than(most: int, balls: int, urns: int) -> float:
    urn = [1 / math.factorial(k) / urns**k if k <= most else 0.0 for k in range(balls + 1)]
    coefficients = np.array([1.0] + [0.0] * balls)
    for _ in range(urns):
        coefficients = np.convolve(coefficients, urn)[: balls + 1]
    return float(coefficients[balls]) * math.factorial(balls)


@analyses(OLH)
class OLHAnalysis(PureAnalysis[OLH]):
    """A hash seed, and a symbol."""

    server_work = "O(n d)"

    @property
    def outcomes(self) -> int:
        return self.oracle._symbols

    def blanket(self) -> Blanket:
        """Take the hash for a random function, under which two values share a symbol in one seed of ``g``."""
        share = Fraction(1, self.oracle._symbols)
        return two_levels(self.oracle.coin.p / self.oracle.coin.q, share, share**2)

    def likelihoods(self, data: Array) -> Floats:
        out = np.empty((len(data), self.oracle.domain_size))
        others = float(self.oracle.coin.q / self.oracle.coin.p)
        weigh_values.for_work(out.size)(data["seed"], data["symbol"], U64(self.oracle._symbols), others, out)
        return out

    def law(self, value: int, public: Public = None) -> Law:
        self.check_enumerable(value)
        if public is None:
            raise fail(self.oracle.title, "public", "the seed that the law is conditional on", public)
        hashed = int(multiply_high(keyed_hash(U64(public), U64(value)), U64(self.oracle._symbols)))
        return {
            symbol: self.oracle.coin.p if symbol == hashed else self.oracle.coin.q
            for symbol in range(self.oracle._symbols)
        }

    def publics(self) -> Iterable[int]:
        return map(int, Stream(0).words(16))

    def fakes(self, targets: Targets) -> Hashes:
        return Hashes(self.oracle, targets)

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        yield from super().honest_tally(tally)
        yield total_of(self.oracle.estimator, tally)

    def honest_reports(self, data: Array) -> Iterator[Claim]:
        octets = np.ascontiguousarray(data["seed"]).astype("<u8").view(np.uint8).reshape(-1, 8)
        counts = np.concatenate([np.bincount(column, minlength=256) for column in octets.T])
        place = lambda cell: f"byte {cell // 256} is {cell % 256}"  # noqa: E731
        yield CellClaim("seeds", "hash seeds are uniform", counts, len(data), 1 / 256, 1 / 256, place)
        yield _repeated(data["seed"])
        symbols, share = np.bincount(data["symbol"], minlength=self.oracle._symbols), 1 / self.oracle._symbols
        claim = "all symbols are equally frequent"
        yield CellClaim("symbols", claim, symbols, len(data), share, share, "symbol {}".format)

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        def supported(part: Array) -> NDArray[np.bool_]:
            hashes = keyed_hash(part["seed"][:, None], values.astype(np.uint64))
            return np.asarray(multiply_high(hashes, U64(self.oracle._symbols)) == part["symbol"][:, None])

        return independent_pairs(self.oracle.estimator, tally, data, values, supported)


def _repeated(seeds: Array) -> ChanceClaim:
    """Claim the most frequent seed: ``k`` of ``n`` being the same has at most ``comb(n, k) 2^(-64 (k-1))`` chances."""
    distinct, counts = np.unique(seeds, return_counts=True)
    most, n = int(counts.max(initial=0)), len(seeds)
    chance = math.lgamma(n + 1) - math.lgamma(most + 1) - math.lgamma(n - most + 1) - 64 * (most - 1) * math.log(2)
    worst = f"seed {distinct[counts.argmax()]:#018x}: {most:,} of {n:,}" if most > 1 else f"none of {n:,}"
    p_value = math.exp(min(0.0, chance)) if most > 1 else 1.0
    return ChanceClaim("repeats", "no hash seed comes twice", worst, p_value)
