"""The analysis of RAPPOR."""

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np

from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Array, Tally
from fldp.numerics.kernels import U64
from fldp.numerics.types import Floats
from fldp.oracles.base import bit_reports
from fldp.oracles.base.analysis import StringAnalysis, analyses
from fldp.oracles.base.bit_strategy import BitStrategy
from fldp.oracles.base.blanket import Blanket, by_bits
from fldp.oracles.base.claims import CellClaim, Claim
from fldp.oracles.base.numbered_strategy import Numbered
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.strings.hash_kernels import multiply_at
from fldp.oracles.strings.rappor import RAPPOR
from fldp.randomness.stream import Stream
from fldp.support.validation import fail

_MAX_PUBLICS = 64


@analyses(RAPPOR)
class RAPPORAnalysis(StringAnalysis[RAPPOR]):
    """A cohort, and the bits of a Bloom filter."""

    server_work = "O(n bits), then O(cohorts bits c^2) for c candidates"

    @property
    def outcomes(self) -> int:
        return 1 << self.oracle.bits

    def likelihoods_among(self, marks: Fingerprints, data: Array) -> Floats:
        """Up to a common factor, the product over the bits that a value sets."""
        rows, packed = bit_reports.split(data, self.oracle._header)
        bits = np.unpackbits(packed, axis=1, count=self.oracle.bits, bitorder="little")
        if_one, if_zero = (float(ratio) for ratio in self._odds)
        factors, likelihoods = np.array([if_zero, if_one])[bits], np.empty((len(data), len(marks)))
        seeds = self.oracle._filters.seeds[rows]
        multiply_at.for_work(likelihoods.size)(factors, seeds, marks, U64(self.oracle.bits), likelihoods)
        return likelihoods

    @property
    def _odds(self) -> tuple[Fraction, Fraction]:
        """Likelihood ratio of a reported 1, and of a reported 0, between a set and a clear bit."""
        p, q = self.oracle._coins.p_star, self.oracle._coins.q_star
        return q / p, (1 - q) / (1 - p)

    def _sets(self, mark: int) -> list[frozenset[int]]:
        """Return the bits that a fingerprint sets in each cohort."""
        return [frozenset(row.tolist()) for row in self.oracle._filters.bits_of(np.array([mark]))[:, 0]]

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Bands by the bits that exactly one of the two sets; all others have the same law under both."""
        pairs = zip(self._sets(value), self._sets(other), strict=True)
        kinds = Counter((len(own - others), len(others - own)) for own, others in pairs)
        bands = (band for (a, b), times in kinds.items() for band in self._bands(a, b, times))
        return Profile.of(bands, self.oracle.cohorts * self.outcomes)

    def _bands(self, own: int, others: int, times: int) -> Iterable[Band]:
        """Yield bands by how many of the bits that exactly one of the two sets are 1, for ``times`` cohorts alike."""
        p, q = self.oracle._coins.p_star, self.oracle._coins.q_star
        for x, y in product(range(own + 1), range(others + 1)):
            ways, share = comb(own, x) * comb(others, y), Fraction(times, self.oracle.cohorts)
            mass = _binomial(q, own, x) * _binomial(p, others, y)
            other_mass = _binomial(p, own, x) * _binomial(q, others, y)
            yield Band(
                times * ways << (self.oracle.bits - own - others), share * ways * mass, share * ways * other_mass
            )

    def blanket(self) -> Blanket:
        """Return the blanket of one report: a person who reports again is hidden less."""
        return by_bits(self.oracle.hashes, self.oracle._coins.q_star, self.oracle._coins.p_star)

    def law(self, value: int, public: Public = None) -> Law:
        return self._law(value, public, self.oracle._coins.p_star, self.oracle._coins.q_star)

    def lasting_ratios(self) -> dict[str, tuple[Fraction, float]]:
        return {"all reports": (self.oracle._coins.lasting_ratio, self.oracle.epsilon_permanent)}

    def history(self, values: object, days: int, rng: Stream) -> Array:
        stages = self.oracle.memoization
        kept = stages.keep(values, rng=rng)
        return np.stack([stages.respond(kept, rng=rng).data for _ in range(days)], axis=1)

    def _law(self, value: int, public: Public, zero: Fraction, one: Fraction) -> Law:
        self.check_enumerable(value)
        if public is None:
            raise fail(self.oracle.title, "public", "the cohort that the law is conditional on", public)
        own = sum(1 << bit for bit in self._sets(value)[public])
        size = own.bit_count()
        law = {}
        for bits in range(self.outcomes):
            inside, outside = (bits & own).bit_count(), (bits & ~own).bit_count()
            law[bits] = _binomial(one, size, inside) * _binomial(zero, self.oracle.bits - size, outside)
        return law

    def publics(self) -> Iterable[int]:
        return range(min(self.oracle.cohorts, _MAX_PUBLICS))

    @property
    def publics_are_all(self) -> bool:
        return self.oracle.cohorts <= _MAX_PUBLICS

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """Given the permanent responses, every bit is a coin with p or q, even if the same people report every day."""
        oracle = self.oracle
        low, high = sorted((float(oracle._coins.p), float(oracle._coins.q)))
        people, bits = np.repeat(tally.state[:, 0], oracle.bits), tally.state[:, 1:].ravel()
        claim = "every bit is set at least as often as by noise alone, and at most as often as if it were true for all"
        place = lambda cell: f"bit {cell % oracle.bits} of cohort {cell // oracle.bits}"  # noqa: E731
        yield CellClaim("bits", claim, bits, people, low, high, place)

    def fakes_among(self, marks: Fingerprints, targets: Targets) -> Numbered:
        """The fit is linear in the bits of all cohorts, so every bit of every cohort has a weight."""
        oracle = self.oracle
        p, q, base = float(oracle._coins.p_star), float(oracle._coins.q_star), oracle._filters.design(marks[:1]).base
        true, noise = (np.broadcast_to(chance, oracle.bits) for chance in (q, p))
        parts = [
            BitStrategy(each / (q - p), -float(each.sum()) * (p / (q - p) + base), true, noise)
            for each in oracle.estimator.influence(marks, times(targets, len(marks)).astype(np.float64))
        ]

        def join(cohort: int, data: Array) -> Array:
            reports = np.empty((len(data), *oracle.report_format.shape), np.uint8)
            bit_reports.join(np.full(len(data), cohort), data, reports)
            return reports

        return Numbered(oracle, parts, join)


def _binomial(share: Fraction, size: int, ones: int) -> Fraction:
    """Return the probability of one particular row of ``size`` bits with ``ones`` ones."""
    return share**ones * (1 - share) ** (size - ones)
