"""Strategies for reports of a public number and a report that depends on it: Grouped, CMS, HCMS, RAPPOR."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Array
from fldp.oracles import RAPPOR, Grouped
from fldp.oracles.base import bit_reports
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.strings.count_mean_sketch import SketchOracle
from fldp.privacy.poisoning.bit_reports import BitStrategy
from fldp.privacy.poisoning.strategy import Generator, Strategy, Targets, among, largest, strategy, times

Join = Callable[[int, Array], Array]


@dataclass(frozen=True, eq=False)
class Numbered(Strategy):
    """A strategy for each number: the best reports have the number of a best part, and are best within it.

    ``join`` makes reports of the oracle from a number and the reports of its part.
    """

    oracle: Oracle
    parts: Sequence[Strategy]
    join: Join

    def best(self) -> float:
        return max(part.best() for part in self.parts)

    def craft(self, count: int, generator: Generator) -> Array:
        best = largest(np.array([part.best() for part in self.parts]))
        return self._joined(generator.choice(best, count), lambda part, size: part.craft(size, generator))

    def blind_mean(self) -> float:
        return float(np.mean([part.blind_mean() for part in self.parts]))

    def blind(self, count: int, generator: Generator) -> Array:
        numbers = generator.integers(len(self.parts), size=count)
        return self._joined(numbers, lambda part, size: part.blind(size, generator))

    def _joined(self, numbers: NDArray[np.intp], draw: Callable[[Strategy, int], Array]) -> Array:
        reports = self.oracle.report_format.empty(len(numbers))
        for number in np.unique(numbers).tolist():
            places = np.flatnonzero(numbers == number)
            reports[places] = self.join(number, draw(self.parts[number], len(places)))
        return reports


@strategy.register(Grouped)
def _(oracle: Grouped, targets: Targets) -> Numbered:
    """A report is in one group, and adds nothing to targets in others."""
    inside = [targets[(run.start <= targets) & (targets < run.stop)] - run.start for run in oracle.runs]
    return Numbered(oracle, list(map(strategy, oracle.members, inside)), oracle.reports_from)


@among.register(RAPPOR)
def _(oracle: RAPPOR, marks: Fingerprints, targets: Targets) -> Numbered:
    """The fit is linear in the bits of all cohorts, so every bit of every cohort has a weight."""
    p, q, base = float(oracle.coins.p_star), float(oracle.coins.q_star), oracle.design(marks[:1]).base
    true, noise = (np.broadcast_to(chance, oracle.bits) for chance in (q, p))
    parts = [
        BitStrategy(each / (q - p), -float(each.sum()) * (p / (q - p) + base), true, noise)
        for each in oracle.influence(marks, times(targets, len(marks)).astype(np.float64))
    ]

    def join(cohort: int, data: Array) -> Array:
        reports = np.empty((len(data), *oracle.report_format.shape), np.uint8)
        bit_reports.join(np.full(len(data), cohort), data, reports)
        return reports

    return Numbered(oracle, parts, join)


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


@among.register(SketchOracle)
def _(oracle: SketchOracle, marks: Fingerprints, targets: Targets) -> Sketched:
    """Under each hash function, the buckets of the targets are the targets of the response."""
    buckets = np.array([oracle.buckets(int(mark)) for mark in marks[targets]]).T
    parts = [strategy(oracle.response, row) for row in buckets]

    def join(row: int, data: Array) -> Array:
        reports = oracle.report_format.empty(len(data))
        oracle.join(np.full(len(data), row), data, reports)
        return reports

    return Sketched(oracle, parts, join, buckets, oracle.width)
