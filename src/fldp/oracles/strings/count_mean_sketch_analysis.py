"""The analysis of count-mean sketches: the analysis of the response over the buckets."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Array, Tally
from fldp.numerics.kernels import U64
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import Analysis, Coin, StringAnalysis, analyses, analysis
from fldp.oracles.base.blanket import Blanket
from fldp.oracles.base.claims import CellClaim, Claim
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.leaks_and_parts import ReportPart
from fldp.oracles.base.numbered_strategy import Numbered
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Targets
from fldp.oracles.strings.count_mean_sketch import CMS, HCMS
from fldp.oracles.strings.hash_kernels import multiply_at
from fldp.support.validation import fail

_MAX_PUBLICS = 64


@dataclass(frozen=True, eq=False)
class Sketched(Numbered):
    """A sketch of ``m`` buckets subtracts the expected collisions: ``x`` becomes ``(x - r/m) m/(m-1)``.

    ``buckets`` has a row for every hash function: the buckets of the targets, some of which may coincide.
    """

    oracle: CMS | HCMS
    buckets: NDArray[np.int64]
    width: int

    def _debiased(self, worth: float) -> float:
        return float((worth - self.buckets.shape[1] / self.width) * self.width / (self.width - 1))

    def best(self) -> float:
        return self._debiased(super().best())

    def blind_mean(self) -> float:
        return self._debiased(super().blind_mean())

    def best_given(self, data: Array) -> Array:
        numbers, responses = self.oracle._sketch.split(data)
        reports = np.empty_like(data)
        for number in np.unique(numbers).tolist():
            places = np.flatnonzero(numbers == number)
            reports[places] = self.join(number, self.parts[number].best_given(responses[places]))
        return reports

    def best_on_average(self) -> float:
        return self._debiased(float(np.mean([part.best_on_average() for part in self.parts])))

    def honest_mean(self) -> float:
        """An honest report adds to all targets in its bucket: 1 on average over hash functions, but not given them."""
        together = (self.buckets[:, :, None] == self.buckets[:, None, :]).sum(axis=2)
        return self._debiased(float(together.mean()))


@analyses(CMS, HCMS)
class SketchAnalysis(StringAnalysis[CMS | HCMS]):
    """A hash function, and a response over its buckets."""

    @property
    def server_work(self) -> str:
        counting = "n width" if isinstance(self.oracle, CMS) else "n + hashes width log width"
        return f"O({counting}), then O(hashes) for each candidate"

    @property
    def _response(self) -> Analysis[FrequencyOracle]:
        return analysis(self.oracle._sketch.response)

    @property
    def outcomes(self) -> int:
        return self._response.outcomes

    def likelihoods_among(self, marks: Fingerprints, data: Array) -> Floats:
        rows, responses = self.oracle._sketch.split(data)
        table, likelihoods = self._response.likelihoods(responses), np.empty((len(data), len(marks)))
        seeds = self.oracle._sketch.seeds[rows, None]
        multiply_at.for_work(likelihoods.size)(table, seeds, marks, U64(self.oracle.width), likelihoods)
        return likelihoods

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Where the two collide, reports tell nothing; elsewhere they are reports of two buckets."""
        shared = int((self.oracle._sketch.buckets(value) == self.oracle._sketch.buckets(other)).sum())
        apart, inside = self.oracle.hashes - shared, self._response.profile(0, 1)
        assert inside is not None
        every = inside.reports
        bands = [
            Band(apart * band.count, band.mass * apart / self.oracle.hashes, band.other * apart / self.oracle.hashes)
            for band in inside.bands
        ]
        bands.append(Band(shared * every, Fraction(shared, self.oracle.hashes), Fraction(shared, self.oracle.hashes)))
        return Profile.of(bands, self.oracle.hashes * every)

    def blanket(self) -> Blanket | None:
        """The worst two strings never collide: then it is the blanket of the response, whatever the hash function."""
        return self._response.blanket()

    @property
    def coin(self) -> Coin | None:
        return self._response.coin

    def law(self, value: int, public: Public = None) -> Law:
        self.check_enumerable(value)
        if public is None:
            raise fail(self.oracle.title, "public", "the hash function that the law is conditional on", public)
        row, drawn = public
        return self._response.law(int(self.oracle._sketch.buckets(value)[row]), drawn)

    def publics(self) -> Iterable[Public]:
        return product(range(self._tried), self._response.publics())

    @property
    def _tried(self) -> int:
        """The number of hash functions that the verifier tries."""
        return min(self.oracle.hashes, max(1, _MAX_PUBLICS // len(list(self._response.publics()))))

    @property
    def publics_are_all(self) -> bool:
        return self._response.publics_are_all and self._tried == self.oracle.hashes

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        claim, share = "all hash functions are equally frequent", 1 / self.oracle.hashes
        yield CellClaim("hashes", claim, tally.state[:, 0], tally.n, share, share, "hash function {}".format)

    def blind(self) -> tuple[str, ...]:
        return self._response.blind()

    def parts(self, tally: Tally, data: Array | None) -> Iterator[ReportPart]:
        """Yield the buckets, pooled over hash functions: honest if the originals are."""
        response = self.oracle._sketch.response
        state = tally.state[:, 1:].sum(axis=0).reshape(response.tally_format.shape)
        yield ReportPart(
            "buckets", Tally(response, state, tally.n), None if data is None else self.oracle._sketch.split(data)[1]
        )

    def fakes_among(self, marks: Fingerprints, targets: Targets) -> Sketched | None:
        """Under each hash function, the buckets of the targets are the targets of the response."""
        oracle, response = self.oracle, self._response
        buckets = np.array([oracle._sketch.buckets(int(mark)) for mark in marks[targets]]).T
        known = [plan for row in buckets if (plan := response.fakes(row)) is not None]

        def join(row: int, data: Array) -> Array:
            reports = oracle.report_format.empty(len(data))
            oracle._sketch.join(np.full(len(data), row), data, reports)
            return reports

        return Sketched(oracle, known, join, buckets, oracle.width) if len(known) == len(buckets) else None
