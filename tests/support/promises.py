"""What estimates promise, measured: how often a value is found that nobody holds, and how often all intervals hold."""

import os
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from math import comb
from pathlib import Path
from unittest import mock

import numpy as np

import fldp
from fldp.numerics.count_laws import Observed

LEVEL = 0.95
PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
RUNS = {2: 400, 100: 400, 4097: 400, 65_537: 100}  # of every cell of a table, by the number of values

MAKERS = {
    "GRR": lambda d: fldp.GRR(1.0, d),
    "SUE": lambda d: fldp.SUE(1.0, d),
    "OUE": lambda d: fldp.OUE(1.0, d),
    "OLH": lambda d: fldp.OLH(1.0, d),
    "SS": lambda d: fldp.SS(1.0, d),
    "HR": lambda d: fldp.HR(3.0, d),
    "HR, 4 blocks": lambda d: fldp.HR(4.0, d, blocks=4),
    "HRR": lambda d: fldp.HRR(3.0, d),
    "PGR": lambda d: fldp.PGR(1.0, d),
    "FHR": lambda d: fldp.FHR(1.0, d, allow_exposure=True),
    "FHR, paper's decoder": lambda d: fldp.FHR(1.0, d, allow_exposure=True),
    "FWR, eta 1/2": lambda d: fldp.FWR(1.0, d, eta=0.5, allow_exposure=True),
    "FWR, eta 1/4": lambda d: fldp.FWR(2.0, d, eta=0.25, allow_exposure=True),
    "IDUE": lambda d: fldp.IDUE(2.0, d, budgets=[(0, 1.0), (d - 1, 1.5)]),
    "URR": lambda d: fldp.URR(2.0, d, sensitive=range(min(d // 2, 100))),
    "URAPPOR": lambda d: fldp.URAPPOR(2.0, d, sensitive=range(min(d // 2, 100))),
    "Exponential": lambda d: fldp.Exponential(0.5 * (d - 1), d, distance="line"),
    "Grouped": lambda d: fldp.Grouped(epsilon=1.0, base="hrr", groups=(d - d // 2, d // 2), allow_exposure=True),
    "CMS, 4 hashes": lambda d: fldp.CMS(4.0, hashes=4, width=1024).among(map(str, range(d))),
    "HCMS": lambda d: fldp.HCMS(4.0, hashes=64, width=1024).among(map(str, range(d))),
    "RAPPOR": lambda d: fldp.RAPPOR(2.0, 4.0).among(map(str, range(d))),
}
SMALL = ("Exponential", "RAPPOR")  # those of few values


def runs_of(d):
    """How often a cell is measured: ``FLDP_PROMISE_RUNS=4097:40,65537:0`` for fewer runs, and for none."""
    asked = filter(None, os.environ.get("FLDP_PROMISE_RUNS", "").split(","))
    return {size: int(runs) for size, runs in (pair.split(":") for pair in asked)}.get(str(d), RUNS[d])


def sizes(name):
    """The numbers of values that an oracle is measured with."""
    least = 100 if name in ("HR, 4 blocks", "Grouped") else 2
    most = 100 if name in SMALL else 65_537
    return tuple(d for d in RUNS if least <= d <= most and runs_of(d))


def concentrated(n, d):
    """Most hold one value, some others are rare, and half of all values nobody holds."""
    counts = np.zeros(d, np.int64)
    some = np.arange(n // 5) % max(1, d // 2)
    np.add.at(counts, some, 1)
    counts[0] += n - n // 5
    return counts


@dataclass(frozen=True)
class Measured:
    """Of how many runs a value was found that nobody holds, and a simultaneous interval missed; pointwise misses."""

    false_finds: int
    missed: int
    pointwise: float


def measured(name, n, d, runs, seed=1):
    """Run a survey again and again, with one population, and count broken promises."""
    oracle, truth = MAKERS[name](d), concentrated(n, d)
    options = {"decoder": "paper"} if "paper" in name else {}
    false_finds = missed = 0
    pointwise = 0.0
    with remembered_ends():
        for run in range(runs):
            estimate = oracle.estimate(fldp.simulate(oracle, truth, rng=seed * 10**6 + run), **options)
            false_finds += bool((estimate.found(LEVEL) & (truth == 0)).any())
            missed += not covers(estimate.interval(LEVEL, simultaneous=True), truth).all()
            pointwise += 1 - covers(estimate.interval(LEVEL), truth).mean()
    return Measured(false_finds, missed, pointwise / runs)


@contextmanager
def remembered_ends():
    """Compute the ends of the interval of a sum once for all runs: they depend on the sum and its law alone."""
    plain, memory = Observed._ends, defaultdict(dict)

    def ends(self, sums, trials, tail):
        known = memory[law_key(self.law), self.most, tail]
        places = [*zip(sums.tolist(), trials.tolist(), strict=True)]
        new = np.array([place not in known for place in places])
        if new.any():
            low, high = plain(self, sums[new], trials[new], tail)
            fresh = (place for place, is_new in zip(places, new, strict=True) if is_new)
            known.update(zip(fresh, zip(low.tolist(), high.tolist(), strict=True), strict=True))
        return tuple(np.array([known[place] for place in places]).T)

    with mock.patch.object(Observed, "_ends", ends):
        yield


def law_key(law):
    """What a law is known by."""
    scores = (law.own.values, law.own.chances, law.other.values, law.other.chances)
    return law.step, law.absorbed, *(numbers.tobytes() for numbers in scores)


def covers(ends, truth):
    """Whether each interval has its count in it."""
    low, high = ends.T
    return (low <= truth + 1e-6) & (truth <= high + 1e-6)


def most_broken(runs, chance, alarm):
    """Return how many of so many runs may break a promise with this chance, but for an alarm as rare as asked."""
    tail, k = 1.0, 0
    while tail > alarm:
        tail -= comb(runs, k) * chance**k * (1 - chance) ** (runs - k)
        k += 1
    return k


def write_table(name, lines, page=PAGE):
    """Write a generated table into a page, that of statistics if no other is named, between its marks."""
    text = page.read_text()
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    head, rest = text.split(start)
    page.write_text(head + start + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1])
