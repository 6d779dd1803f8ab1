"""A museum of real bugs: mechanisms of published packages whose declared epsilon is wrong, and honest ones beside them.

Each is rewritten from its description in a few lines. The audit runs with its default number of samples and default
confidence, so it would accuse each honest one with a probability of at most 0.01; seeds are fixed. How likely it is to
miss a bug is not known, but all are far from what is declared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log
from pathlib import Path

import numpy as np
import pytest

import fldp
from fldp.privacy import repeated

DOCUMENT = Path(__file__).parents[2] / "docs" / "audit.md"
EPSILON, VALUES = 1.0, 8
E = exp(EPSILON)


@dataclass(frozen=True)
class Exhibit:
    """A mechanism with a bug, the same without it, and the epsilon that the bug leaves."""

    where: str
    bug: str
    true: float
    broken: Callable
    honest: Callable
    values: tuple = tuple(range(VALUES))[:6]


def rng():
    return np.random.default_rng(7)


def bits(generator, values, own, other):
    """Unary encoding: the own bit is set with one probability, each other bit with another."""
    thrown = generator.random((len(values), VALUES))
    return np.where(np.eye(VALUES, dtype=bool)[values], thrown < own, thrown < other)


def set_again(generator, values, p, q):
    """All bits are thrown by q; the own bit, if it is not set by then, is thrown once more by p."""
    noise, own = generator.random((len(values), VALUES)) < q, generator.random(len(values)) < p
    return noise | (np.eye(VALUES, dtype=bool)[values] & own[:, None])


def unary(p, q):
    """The epsilon of a unary encoding."""
    return log(p * (1 - q) / (q * (1 - p)))


HALF, OTHER = 0.5, 1 / (E + 1)
EVEN, REST = exp(EPSILON / 2) / (exp(EPSILON / 2) + 1), 1 / (exp(EPSILON / 2) + 1)
SIZE = round(VALUES / (E + 1))
NAMED = E * SIZE / (E * SIZE + VALUES - SIZE)


def subset(generator, values, own, *, first=False, all_others=False):
    """Subset selection: a set of values that has the own one in it with some probability."""
    order = generator.random((len(values), VALUES))
    named = generator.random(len(values)) < own
    every = np.arange(len(values))
    if all_others:
        order[every[named], values[named]] = -1
    else:
        order[every, values] = np.where(named, -1, 2)
    drawn = np.argsort(order, axis=1)[:, :SIZE]
    return drawn if first else np.sort(drawn, axis=1)


def drawn_from_all():
    """The epsilon of a subset selection that draws the others from all values, the own one among them."""
    own = NAMED + (1 - NAMED) * SIZE / VALUES
    return log(own * (VALUES - SIZE) / (SIZE * (1 - own)))


def rappor(generator, values, *, clears):
    """One bit of a Bloom filter for each value; noise clears a set bit as often as it sets a clear one, or never."""
    truth, f = np.eye(VALUES, dtype=bool)[values], 2 * REST
    noise = generator.random(truth.shape)
    kept = np.where(noise < f / 2, True, np.where(noise < f, False, truth))
    return kept if clears else kept | truth


def respond(generator, values, steps):
    """Randomized response: the value, or another one so many steps further on."""
    keep = generator.random(len(values)) < E / (E + VALUES - 1)
    return np.where(keep, values, (values + generator.integers(1, steps + 1, len(values))) % VALUES)


def counted_from_one(generator, values):
    """The package counts values from 1, its caller from 0: the holder of 0 says -1, as nobody else does."""
    keep = generator.random(len(values)) < E / (E + VALUES - 1)
    index = values - 1
    return np.where(keep, index, (index + generator.integers(1, VALUES, len(values))) % VALUES)


def piecewise(generator, values, grid=1 / 64):
    """The piecewise mechanism of Wang et al. (2019) for a number from -1 to 1, rounded to a grid.

    Without a grid the last bits of a float tell by which sum it was computed, and so which value it came from.
    """
    x, half = np.asarray(values, float), exp(EPSILON / 2)
    c = (half + 1) / (half - 1)
    left = (c + 1) / 2 * x - (c - 1) / 2
    inside = left + (c - 1) * generator.random(len(x))
    outside = (c + 1) * generator.random(len(x))  # of the two pieces beside it, laid end to end
    beside = np.where(outside < left + c, outside - c, outside - 1)
    drawn = np.where(generator.random(len(x)) < half / (half + 1), inside, beside)
    return np.round(drawn / grid) * grid if grid else drawn


def uniform_noise(generator, values):
    """The value with uniform noise as wide as the piecewise mechanism's."""
    half = exp(EPSILON / 2)
    return np.asarray(values, float) + (half + 1) / (half - 1) * generator.uniform(-1, 1, len(values))


def asked_again(generator, redraw):
    """Randomized response twice: permanent noise with epsilon 1, more noise for every one of 16 reports."""

    def flipped(values, epsilon):
        keep = generator.random(len(values)) < exp(epsilon) / (exp(epsilon) + 3)
        return np.where(keep, values, (values + generator.integers(1, 4, len(values))) % 4)

    def enrol(values):
        permanent = flipped(values, EPSILON)
        return lambda: flipped(flipped(values, EPSILON) if redraw else permanent, EPSILON)

    return repeated(enrol, 16)


def redrawn():
    """The epsilon of 16 independent reports, each a response to a response."""
    keep = E / (E + 3)
    own = keep**2 + (1 - keep) ** 2 / 3
    return 16 * log(own * 3 / (1 - own))


QUESTIONS = 3  # of two answers each: the eight values are records
AMPLIFIED = log(QUESTIONS * (E - 1) + 1)


def sampled(generator, values, epsilon, *, fakes):
    """One question by lot, answered by randomized response; beside it fake answers to all others, or which it was."""
    records = np.asarray(values)[:, None] >> np.arange(QUESTIONS) & 1
    every, chosen = np.arange(len(records)), generator.integers(0, QUESTIONS, len(records))
    told = records[every, chosen] ^ (generator.random(len(records)) >= exp(epsilon) / (exp(epsilon) + 1))
    if not fakes:
        return 2 * chosen + told
    reports = generator.integers(0, 2, records.shape)
    reports[every, chosen] = told
    return reports


MUSEUM = {
    "OUE, a clear bit drawn again": Exhibit(
        "pure-ldp 1.1.2",
        "the true bit is drawn twice: with q, and if that leaves it clear, with p",
        unary(OTHER + (1 - OTHER) * HALF, OTHER),
        lambda g: lambda values: set_again(g, values, HALF, OTHER),
        lambda g: lambda values: bits(g, values, HALF, OTHER),
    ),
    "SUE, a clear bit drawn again": Exhibit(
        "pure-ldp 1.1.2",
        "the same with the symmetric probabilities",
        unary(REST + (1 - REST) * EVEN, REST),
        lambda g: lambda values: set_again(g, values, EVEN, REST),
        lambda g: lambda values: bits(g, values, EVEN, REST),
    ),
    "RAPPOR, a set bit never cleared": Exhibit(
        "pure-ldp 1.2.0",
        "noise sets bits of the Bloom filter and clears none: a clear bit rules its values out",
        inf,
        lambda g: lambda values: rappor(g, values, clears=False),
        lambda g: lambda values: rappor(g, values, clears=True),
    ),
    "GRR, counted from one": Exhibit(
        "pure-ldp, default mapper",
        "values are counted from 1: only the holder of 0 reports -1",
        inf,
        lambda g: lambda values: counted_from_one(g, values),
        lambda g: lambda values: respond(g, values, VALUES - 1),
    ),
    "GRR, one value never drawn": Exhibit(
        "a common slip",
        "an exclusive bound is mistaken for an inclusive one: each report reveals one value that its sender lacks",
        inf,
        lambda g: lambda values: respond(g, values, VALUES - 2),
        lambda g: lambda values: respond(g, values, VALUES - 1),
    ),
    "SS, the value first": Exhibit(
        "multi-freq-ldpy 0.2.5",
        "the set is a list that begins with the value if the value is in it",
        inf,
        lambda g: lambda values: subset(g, values, NAMED, first=True),
        lambda g: lambda values: subset(g, values, NAMED),
    ),
    "SS, others drawn from all": Exhibit(
        "minilek",
        "a set that should exclude the value is drawn from all values, including it",
        drawn_from_all(),
        lambda g: lambda values: subset(g, values, NAMED, all_others=True),
        lambda g: lambda values: subset(g, values, NAMED),
    ),
    "RS+FD, fake answers beside a sampled one": Exhibit(
        "multi-freq-ldpy 0.2.5",
        "epsilon is raised as if chance hid the question: it does not between records that differ in every answer",
        AMPLIFIED,
        lambda g: lambda values: sampled(g, values, AMPLIFIED, fakes=True),
        lambda g: lambda values: sampled(g, values, EPSILON, fakes=False),
        (0, 3, 5, 6, 7),
    ),
    "L-GRR, noise redrawn": Exhibit(
        "multi-freq-ldpy 0.2.5",
        "each of 16 reports of a person has newly drawn permanent noise",
        redrawn(),
        lambda g: asked_again(g, redraw=True),
        lambda g: asked_again(g, redraw=False),
        (0, 1, 2, 3),
    ),
    "Piecewise, uniform noise": Exhibit(
        "a common slip",
        "uniform noise is added to the number: the ends of the range are out of reach for most numbers",
        inf,
        lambda g: lambda values: uniform_noise(g, values),
        lambda g: lambda values: piecewise(g, values),
        (-1.0, 0.0, 1.0),
    ),
    "Piecewise, last bits": Exhibit(
        "any in floating point",
        "the number is not rounded: its last bits reveal which sum produced it",
        inf,
        lambda g: lambda values: piecewise(g, values, grid=None),
        lambda g: lambda values: piecewise(g, values),
        (-1.0, 0.0, 1.0),
    ),
}


def judged(mechanism, exhibit, **options):
    return fldp.audit(mechanism(rng()), epsilon=EPSILON, values=exhibit.values, rng=7, **options)


@pytest.mark.parametrize("name", MUSEUM)
def test_the_audit_flags_every_bug(name):
    verdict = judged(MUSEUM[name].broken, MUSEUM[name])
    assert verdict.samples == 20_000
    assert not verdict.holds
    assert EPSILON < verdict.epsilon_lower_bound <= MUSEUM[name].true


@pytest.mark.parametrize("name", MUSEUM)
def test_the_audit_accuses_no_honest_one(name):
    assert judged(MUSEUM[name].honest, MUSEUM[name]).holds


def rows():
    for name, exhibit in MUSEUM.items():
        true = "infinite" if exhibit.true == inf else f"{exhibit.true:.2f}"
        yield f"| {name} | {exhibit.where} | {exhibit.bug} | {EPSILON:g} | {true} |"


def test_the_table_of_the_document():
    """Its rows are those of this file; the test prints them where they are not."""
    missing = [row for row in rows() if row not in DOCUMENT.read_text()]
    assert not missing, "\n".join(missing)
