"""Cells: one tally each, from a stream of its own, and all measurements from that tally.

A *cell* is one run of one oracle at one epsilon on one dataset. Its tally serves all decoders, repairs, metrics and k.
Its noise comes from a stream derived from the seed and from what the cell is, so neither the number of processes nor an
interruption changes any number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import fldp
from fldp import wire
from fldp.data.estimate import Estimate
from fldp.data.postprocess import postprocess
from fldp.data.reports import Tally
from fldp.estimation.simulate import simulate, users
from fldp.experiments.datasets.population import Population
from fldp.experiments.runner import metrics
from fldp.experiments.runner.contenders import Contender
from fldp.experiments.runner.specification import Specification
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.randomness.stream import Stream
from fldp.support import canonical_json
from fldp.support.canonical_json import Json

_CHUNK, _CHUNK_BITS = 1 << 16, 1 << 27


class Cell(NamedTuple):
    """One run of one oracle at one epsilon on one dataset, by their numbers in the specification."""

    dataset: int
    oracle: int
    epsilon: int
    run: int


class View(NamedTuple):
    """One measurement of a cell."""

    decoder: str
    repair: str
    metric: str
    k: int  # 0 for all values


@lru_cache(maxsize=512)
def _oracle(contender: Contender, epsilon: float, domain_size: int) -> FrequencyOracle:
    return contender.oracle(epsilon, domain_size)


@dataclass(frozen=True)
class RunPlan:
    """A specification with its populations: everything that measuring a cell needs."""

    specification: Specification
    populations: tuple[Population, ...]
    full: bool = False

    @classmethod
    def of(cls, specification: Specification, full: bool = False) -> "RunPlan":
        """Load the populations and build every oracle once, so that a mistake shows before any work."""
        loaded = tuple(source.load(specification.seed) for source in specification.datasets)
        plan = cls(specification, loaded, full)
        for population, contender, epsilon in product(loaded, specification.oracles, specification.epsilons):
            _oracle(contender, epsilon, population.domain_size)
        return plan

    @property
    def identity(self) -> dict[str, Json]:
        """All that the measurements depend on, as JSON."""
        return {
            **self.specification.as_dict(),
            "full": self.full,
            "populations": [population.digest for population in self.populations],
            "version": fldp.__version__,
        }

    def cells(self) -> list[Cell]:
        """Return all cells, in the order of the table."""
        spec = self.specification
        parts = spec.datasets, spec.oracles, spec.epsilons
        return [Cell(*cell) for cell in product(*(range(len(part)) for part in parts), range(spec.runs))]

    def oracle(self, cell: Cell) -> FrequencyOracle:
        """Return the oracle of a cell."""
        spec = self.specification
        return _oracle(
            spec.oracles[cell.oracle], spec.epsilons[cell.epsilon], self.populations[cell.dataset].domain_size
        )

    def views(self, cell: Cell) -> list[View]:
        """Return what is measured in a cell, in the order of the table."""
        spec = self.specification
        pairs = [(name, k) for name in spec.metrics for k in (spec.top if metrics.get(name).of_top else (0,))]
        return [
            View(decoder, repair, name, k)
            for decoder, repair, (name, k) in product(spec.oracles[cell.oracle].decoders, spec.postprocess, pairs)
        ]

    def stream(self, cell: Cell) -> Stream:
        """Return the stream of a cell, derived from its parameters and not from its number."""
        what = canonical_json.dumps(wire.describe(self.oracle(cell)))
        return Stream(self.specification.seed).child("experiment", self.populations[cell.dataset].name, what, cell.run)

    def measure(self, cell: Cell) -> list[float]:
        """Draw the tally of a cell and return its measurements."""
        population, oracle = self.populations[cell.dataset], self.oracle(cell)
        draw = collect if self.full else simulate
        tally = draw(oracle, population.counts, rng=self.stream(cell))
        estimates: dict[tuple[str, str], Estimate] = {}
        values = []
        for view in self.views(cell):
            key = view.decoder, view.repair
            if key not in estimates:
                estimates[key] = decoded(oracle, tally, *key)
            k = view.k or population.domain_size
            values.append(float(metrics.get(view.metric).function(estimates[key], population.counts, k)))
        return values

    def rows(self, cell: Cell, values: list[float]) -> Iterator[tuple[str | float, ...]]:
        """Yield the rows of the table for a cell."""
        spec, population, oracle = self.specification, self.populations[cell.dataset], self.oracle(cell)
        contender, totals = spec.oracles[cell.oracle], (population.n, population.domain_size)
        for view, value in zip(self.views(cell), values, strict=True):
            how = contender.series(view.decoder), oracle.name, view.decoder, view.repair
            where = oracle.epsilon, float(oracle.eta), cell.run
            yield population.name, *how, *where, view.metric, view.k, value, *totals


def decoded(oracle: FrequencyOracle, tally: Tally, decoder: str, repair: str) -> Estimate:
    """Return an estimate from a tally: by a decoder of the oracle or one of its other methods, repaired if asked."""
    if decoder in oracle.estimator.decoders:
        estimate = oracle.estimate(tally, decoder=decoder)
    else:
        estimate = oracle.estimate(tally, method=decoder)
    return estimate if repair == "none" else postprocess(estimate, repair)


def collect(oracle: FrequencyOracle, counts: metrics.Integers, *, rng: Stream) -> Tally:
    """Run the whole protocol: every user's report is drawn, encoded, decoded, checked and counted, chunk by chunk.

    >>> collect(fldp.OUE(epsilon=1.0, domain_size=3), fldp.experiments.Population("x", [5, 3, 2]).counts, rng=Stream(1))
    <tally of 10 reports of OUE(epsilon=1.0, domain_size=3)>
    """
    total = Tally.empty(oracle)
    for values in users(counts, max(1, min(_CHUNK, _CHUNK_BITS // oracle.report_format.bits))):
        sent = wire.encode(oracle.privatize(values, rng=rng))
        total += oracle.tally(wire.decode(sent, oracle))
    return total
