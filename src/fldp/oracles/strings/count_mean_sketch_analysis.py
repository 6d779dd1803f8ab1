"""The analysis of count-mean sketches: that of the response over the buckets."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Array, Tally
from fldp.oracles.base.analysis import Analysis, analyses, analysis
from fldp.oracles.base.claims import CellClaim, Claim
from fldp.oracles.base.numbered_strategy import Numbered
from fldp.oracles.base.revelations import ReportPart
from fldp.oracles.base.strategy import Targets
from fldp.oracles.strings.count_mean_sketch import SketchOracle


@dataclass(frozen=True, eq=False)
class Sketched(Numbered):
    """A sketch of ``m`` buckets subtracts the expected collisions: ``x`` becomes ``(x - r/m) m/(m-1)``.

    ``buckets`` has a row for every hash function: the buckets of the targets, some of which may coincide.
    """

    oracle: SketchOracle
    buckets: NDArray[np.int64]
    width: int

    def _debiased(self, worth: float) -> float:
        return float((worth - self.buckets.shape[1] / self.width) * self.width / (self.width - 1))

    def best(self) -> float:
        return self._debiased(super().best())

    def blind_mean(self) -> float:
        return self._debiased(super().blind_mean())

    def best_given(self, data: Array) -> Array:
        numbers, responses = self.oracle.split(data)
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


@analyses(SketchOracle)
class SketchAnalysis(Analysis[SketchOracle]):
    """A hash function, and a response over its buckets."""

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        claim, share = "all hash functions are equally frequent", 1 / self.oracle.hashes
        yield CellClaim("hashes", claim, tally.state[:, 0], tally.n, share, share, "hash function {}".format)

    def blind(self) -> tuple[str, ...]:
        return analysis(self.oracle.response).blind()

    def parts(self, tally: Tally, data: Array | None) -> Iterator[ReportPart]:
        """Yield the buckets, pooled over hash functions: honest if the originals are."""
        response = self.oracle.response
        state = tally.state[:, 1:].sum(axis=0).reshape(response.tally_format.shape)
        yield ReportPart(
            "buckets", Tally(response, state, tally.n), None if data is None else self.oracle.split(data)[1]
        )

    def fakes_among(self, marks: Fingerprints, targets: Targets) -> Sketched | None:
        """Under each hash function, the buckets of the targets are the targets of the response."""
        oracle, response = self.oracle, analysis(self.oracle.response)
        buckets = np.array([oracle.buckets(int(mark)) for mark in marks[targets]]).T
        known = [plan for row in buckets if (plan := response.fakes(row)) is not None]

        def join(row: int, data: Array) -> Array:
            reports = oracle.report_format.empty(len(data))
            oracle.join(np.full(len(data), row), data, reports)
            return reports

        return Sketched(oracle, known, join, buckets, oracle.width) if len(known) == len(buckets) else None
