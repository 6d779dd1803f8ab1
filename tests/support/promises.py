"""What estimates promise, measured: how often a value is found that nobody holds, and how often all intervals hold."""

import os
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from math import comb
from pathlib import Path
from unittest import mock
from zlib import crc32

import numpy as np

import fldp
from fldp.numerics.count_laws import Observed

LEVEL = 0.95
PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
RUNS = {2: 2000, 100: 2000, 512: 400, 4097: 200, 65_537: 40}  # of every cell of a table, by the number of values

MAKERS = {
    "RR": lambda _: fldp.RR(1.0),
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
    "FWR, eta 1": lambda d: fldp.FWR(1.0, d, eta=1),
    "FWR, eta 1/2": lambda d: fldp.FWR(1.0, d, eta=0.5, allow_exposure=True),
    "FWR, eta 1/4": lambda d: fldp.FWR(2.0, d, eta=0.25, allow_exposure=True),
    "LWR": lambda d: fldp.LWR(1.0, d, epsilon_permanent=2.0),
    "IDUE": lambda d: fldp.IDUE(2.0, d, budgets=[(0, 1.0), (d - 1, 1.5)]),
    "URR": lambda d: fldp.URR(2.0, d, sensitive=range(min(d // 2, 100))),
    "URAPPOR": lambda d: fldp.URAPPOR(2.0, d, sensitive=range(min(d // 2, 100))),
    "Exponential": lambda d: fldp.Exponential(min(0.5 * (d - 1), 60.0), d, distance="line"),
    "Wave": lambda d: fldp.Wave(2.0, d, width=d // 32 * 8),
    "Sampled": lambda d: fldp.Sampled(2.0, answers=[d, 2], views=1),
    "Grouped": lambda d: fldp.Grouped(epsilon=1.0, base="hrr", groups=(d - d // 2, d // 2), allow_exposure=True),
    "CMS, 4 hashes": lambda d: fldp.CMS(4.0, hashes=4, width=1024).among(map(str, range(d))),
    "HCMS": lambda d: fldp.HCMS(4.0, hashes=64, width=1024).among(map(str, range(d))),
    "RAPPOR": lambda d: fldp.RAPPOR(2.0, 4.0).among(map(str, range(d))),
}
SIZES = {
    "RR": (2,),
    "HR, 4 blocks": (100, 4097, 65_537),
    "Grouped": (100, 4097, 65_537),
    "Exponential": (2, 100, 512),
    "Wave": (100, 512),
    "Sampled": (2, 100, 512),
}
MAX_FITTED = 4096  # candidates that RAPPOR fits together; of more, it selects some


def runs_of(d):
    """How often a cell is measured: ``FLDP_PROMISE_RUNS=4097:40,65537:0`` for fewer runs, and for none."""
    asked = filter(None, os.environ.get("FLDP_PROMISE_RUNS", "").split(","))
    return {size: int(runs) for size, runs in (pair.split(":") for pair in asked)}.get(str(d), RUNS[d])


def sizes(name):
    """The numbers of values that an oracle is measured with."""
    return tuple(d for d in SIZES.get(name, (2, 100, 4097, 65_537)) if runs_of(d))


def asked_for():
    """The oracles that are measured: all, or those of ``FLDP_PROMISE_ORACLES="RAPPOR;HR, 4 blocks"``."""
    named = list(filter(None, os.environ.get("FLDP_PROMISE_ORACLES", "").split(";")))
    return [name for name in MAKERS if not named or name in named]


def options_of(name, d):
    """What an oracle's estimates are asked for with."""
    if name == "RAPPOR" and d > MAX_FITTED:
        return {"method": "select"}
    return {"decoder": "paper"} if "paper" in name else {}


def concentrated(n, d):
    """Most hold one value, some others are rare, and half of all values nobody holds."""
    counts = np.zeros(d, np.int64)
    some = np.arange(n // 5) % max(1, d // 2)
    np.add.at(counts, some, 1)
    counts[0] += n - n // 5
    return counts


@dataclass(frozen=True)
class Measured:
    """Of how many runs a value was found that nobody holds, and a simultaneous interval missed; pointwise misses.

    ``pointwise`` is the share of single intervals that missed, ``worst`` the misses of the value that has most.
    """

    false_finds: int
    missed: int
    pointwise: float
    worst: int


def measured(name, n, d, runs, seed=1):
    """Run a survey again and again, with one population, and count broken promises."""
    oracle, truth = MAKERS[name](d), concentrated(n, d)
    first = seed * 10**15 + crc32(f"{name} {n} {d}".encode()) * 10**5  # cells of a table do not share their chance
    return counted([estimated(oracle, truth, first + run, options_of(name, d)) for run in range(runs)], truth)


def estimated(oracle, truth, seed, options):
    """A survey and its estimate; of several questions, of the first one, and the second has answers by chance."""
    if not isinstance(oracle, fldp.Sampled):
        return oracle.estimate(fldp.simulate(oracle, truth, rng=seed), **options)
    first = np.repeat(np.arange(len(truth)), truth)
    rows = np.stack([first, np.random.default_rng(seed).integers(0, oracle.answers[1], len(first))], axis=1)
    return oracle.estimate(oracle.privatize(rows, rng=seed))[0]


def measured_cell(cell):
    """Measure a cell of the table."""
    name, n, d = cell
    return measured(name, n, d, runs_of(d))


def counted(estimates, truth):
    """Count broken promises of estimates of one population."""
    false_finds = missed = 0
    pointwise, misses = 0.0, np.zeros(len(truth), np.int64)
    with remembered_laws(estimates):
        for estimate in estimates:
            values = listed(estimate, len(truth))
            held = truth[values]
            false_finds += bool((estimate.found(LEVEL) & (held == 0)).any())
            missed += not covers(estimate.interval(LEVEL, simultaneous=True), held).all()
            wrong = ~covers(estimate.interval(LEVEL), held)
            misses[values] += wrong
            pointwise += wrong.mean() if len(wrong) else 0.0
    return Measured(false_finds, missed, pointwise / len(estimates), int(misses.max()))


def listed(estimate, d):
    """The values that an estimate is about: all, or those that RAPPOR selected."""
    return np.arange(d) if len(estimate.counts) == d else np.array([int(label) for label in estimate.labels], np.int64)


@contextmanager
def remembered_laws(estimates=()):
    """Compute the tail and the ends of the interval of a sum once for all runs: they depend on the sum and its law."""
    with remembered_ends(estimates), remembered_tails():
        yield


@contextmanager
def remembered_tails():
    plain, memory = Observed._exact, defaultdict(dict)

    def exact(self, sums, trials, tails):
        known = memory[law_key(self.law)]
        places = [*zip(sums.tolist(), trials.tolist(), strict=True)]
        new = np.array([place not in known for place in places])
        if new.any():
            fresh = (place for place, is_new in zip(places, new, strict=True) if is_new)
            known.update(zip(fresh, plain(self, sums[new], trials[new], tails[new]).tolist(), strict=True))
        return np.array([known[place] for place in places])

    with mock.patch.object(Observed, "_exact", exact):
        yield


@contextmanager
def remembered_ends(estimates=()):
    plain, memory = Observed._ends, defaultdict(dict)

    def learn(self, places, tail):
        known = memory[law_key(self.law), self.most, tail]
        new = [place for place in places if place not in known]
        if new:
            ends = plain(self, *np.array(new).T, tail)
            known.update(zip(new, zip(*(end.tolist() for end in ends), strict=True), strict=True))
        return known

    def ends(self, sums, trials, tail):
        places = [*zip(sums.tolist(), trials.tolist(), strict=True)]
        known = learn(self, places, tail)
        return tuple(np.array([known[place] for place in places]).T)

    for law, places in observations(estimates).values():
        for share in (1, len(estimates[0].counts)):
            learn(law, sorted(places), (1 - LEVEL) / share / 2)
    with mock.patch.object(Observed, "_ends", ends):
        yield


def observations(estimates):
    """All sums that were observed under each law, with their trials; interpolated ones are left out."""
    seen = {}
    for law in (law for estimate in estimates for law in estimate.basis.evidence if isinstance(law, Observed)):
        sums, trials, places = law._knots
        if places is not None:
            key = (law_key(law.law), law.most)
            seen.setdefault(key, (law, set()))[1].update(zip(sums.tolist(), trials.tolist(), strict=True))
    return seen


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


def written_rows(name, page=PAGE):
    """The rows of a generated table as a page has them, by their first two cells."""
    table = page.read_text().split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->")[0]
    rows = (line for line in table.splitlines() if line.startswith("| "))
    return {tuple(cell.strip() for cell in line.split("|")[1:3]): line for line in rows}


def write_table(name, lines, page=PAGE):
    """Write a generated table into a page, that of statistics if no other is named, between its marks."""
    text = page.read_text()
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    head, rest = text.split(start)
    page.write_text(head + start + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1])
