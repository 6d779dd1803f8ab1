"""attack: how well somebody who sees reports can guess the value behind them.

The attacker knows the oracle, a prior over the values, and Bayes' rule; nobody does better. On one report, ``bayes``
says how often the best guess is right. On independent reports of one value, ``averaging`` says how that grows. Where
reports rule out values for certain, whatever epsilon is, see ``fldp.privacy.elimination_attack``, too.

Where a law is not enumerated, values and reports are drawn and the attacker's own certainty is averaged: it is the
chance that the guess is right, since the likelihoods are those of the law, and varies less than right and wrong would.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import listed
from fldp.privacy.verifier import enumerable
from fldp.randomness.stream import Stream
from fldp.support.progress import Progress
from fldp.support.validation import fail, integer

CELLS = 1 << 18  # likelihoods held at a time: 2 MiB
_BATCH, _MAX_CELLS = 16, 1 << 22  # or those of a few reports, up to 32 MiB: kernels are not compiled for a single one
MAX_VALUES = 1 << 24
draws_of, most_of = integer(2, 1 << 30), integer(1, 1 << 20)


@dataclass(frozen=True)
class Guess:
    """How often the best guess of a value is right, before and after one report.

    ``left`` is the mean number of values that the report leaves possible. If ``exact``, all are right to 1e-12;
    else ``after`` has a standard error.
    """

    oracle: FrequencyOracle
    before: float
    after: float
    left: float
    exact: bool
    stderr: float

    @property
    def gain(self) -> float:
        """How many times better the guess is with the report."""
        return self.after / self.before


@dataclass(frozen=True)
class Averaging:
    """How often the best guess is right after each number of independent ``reports`` of one value."""

    oracle: FrequencyOracle
    reports: NDArray[np.int64]
    success: Floats
    stderr: Floats
    trials: int


def bayes(
    oracle: FrequencyOracle,
    prior: Any = None,
    *,
    draws: int = 10_000,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Guess:
    """Return the success of the Bayes attacker on one report.

    ``prior`` holds a count or a probability for every value; None is the uniform one. Exact where the law and all
    public randomness are quickly enumerated, else from ``draws`` reports, of which ``progress`` hears.

    >>> import fldp
    >>> guess = bayes(fldp.FHR(epsilon=1.0, domain_size=7))
    >>> round(guess.before, 3), round(guess.after, 3), guess.left, guess.exact
    (0.143, 0.337, 4.0, True)
    """
    shares, draws = checked_prior("bayes", oracle, prior), draws_of("bayes", "draws", draws)
    before = float(shares.max())
    if enumerable(oracle) and oracle.publics_are_all:
        return Guess(oracle, before, *_enumerated(oracle, shares), exact=True, stderr=0.0)
    sure, left = np.empty(draws), np.empty(draws)
    for part, values, stream in trials_of(oracle, shares, draws, rng):
        likely = oracle.likelihoods(oracle.privatize(values, rng=stream).data)
        left[part] = (likely > 0).sum(axis=1)
        likely *= shares
        sure[part] = likely.max(axis=1) / likely.sum(axis=1)
        if progress is not None:
            progress(len(values))
    return Guess(oracle, before, float(sure.mean()), float(left.mean()), exact=False, stderr=float(_stderr(sure)))


def _enumerated(oracle: FrequencyOracle, shares: Floats) -> tuple[float, float]:
    """Return the probability that the likeliest value is the right one, and the mean number of possible ones."""
    publics, right, left = list(oracle.publics()), list[float](), list[float]()
    for public in publics:
        laws = [oracle.law(value, public) for value in range(oracle.domain_size)]
        every = dict.fromkeys(outcome for law in laws for outcome in law)
        joint = np.array([[float(law.get(outcome, 0)) for law in laws] for outcome in every])
        possible = (joint > 0).sum(axis=1)
        joint *= shares
        right.extend(joint.max(axis=1))
        left.extend(joint.sum(axis=1) * possible)
    return fsum(right) / len(publics), fsum(left) / len(publics)


def averaging(
    oracle: FrequencyOracle,
    prior: Any = None,
    *,
    most: int = 64,
    trials: int = 1000,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Averaging:
    """Return the success of the Bayes attacker on growing numbers of independent reports of one value.

    The numbers are the small ones and about eight to each doubling, up to ``most``. A client that repeats its first
    report gives nothing but that one: there, the success stays at that of one. ``progress`` hears of every report.

    >>> import fldp
    >>> found = averaging(fldp.GRR(epsilon=1.0, domain_size=5), most=12, rng=7)
    >>> found.reports.tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    >>> found.success[[0, 3, -1]].round(1).tolist()
    [0.4, 0.5, 0.7]
    """
    shares = checked_prior("averaging", oracle, prior)
    most, trials = most_of("averaging", "most", most), draws_of("averaging", "trials", trials)
    steps = (round(2 ** (k / 8)) for k in range(8 * most.bit_length()))
    counts = sorted({most, *(count for count in steps if count < most)})
    sure = np.empty((trials, len(counts)))
    for part, values, stream in trials_of(oracle, shares, trials, rng):
        sure[part] = _certainty(oracle, shares, values, counts, stream, progress)
    return Averaging(oracle, np.array(counts), sure.mean(axis=0), _stderr(sure), trials)


def _certainty(
    oracle: FrequencyOracle,
    shares: Floats,
    values: NDArray[np.int64],
    counts: list[int],
    stream: Stream,
    progress: Progress | None,
) -> Floats:
    """Return for each of the values the posterior probability of the best guess after each number of reports.

    The best guess is kept at 1. What falls to 0 beside it was less likely than 1e-300, the true value included.
    """
    made, likely = np.empty((len(values), len(counts))), np.tile(shares, (len(values), 1))
    for count in range(1, counts[-1] + 1):
        likely *= oracle.likelihoods(oracle.privatize(values, rng=stream).data)
        likely /= likely.max(axis=1, keepdims=True)
        if count in counts:
            made[:, counts.index(count)] = 1 / likely.sum(axis=1)
        if progress is not None:
            progress(len(values))
    return made


def trials_of(
    oracle: FrequencyOracle, shares: Floats, trials: int, rng: int | Stream | None
) -> Iterator[tuple[slice, NDArray[np.int64], Stream]]:
    """Draw values from the prior, as many at a time as keep their likelihoods small, with a stream for their noise."""
    stream = Stream.of(rng)
    generator = np.random.Generator(np.random.PCG64(stream.words(4).tolist()))
    rows = max(1, CELLS // oracle.domain_size, min(_BATCH, _MAX_CELLS // oracle.domain_size))
    for start in range(0, trials, rows):
        part = slice(start, min(start + rows, trials))
        yield part, generator.choice(oracle.domain_size, part.stop - start, p=shares), stream


def checked_prior(who: str, oracle: Oracle, prior: Any) -> Floats:
    """Return the prior as probabilities that add up to 1."""
    size = integer(2, MAX_VALUES)(who, "domain_size", listed(who, oracle).domain_size)
    if prior is None:
        return np.full(size, 1 / size)
    rule = f"{size} numbers, one for each value"
    try:
        given = np.asarray(prior)
    except (ValueError, TypeError):  # such as lists of different lengths
        raise fail(who, "prior", rule, prior) from None
    if given.dtype.kind not in "iuf" or given.shape != (size,):
        raise fail(who, "prior", rule, f"{given.dtype} of shape {given.shape}")
    shares = given.astype(np.float64)
    if not (np.isfinite(shares).all() and shares.min() >= 0 and shares.max() > 0):
        raise fail(who, "prior", "finite, at least 0, and not 0 everywhere", float(shares.min()))
    shares /= shares.max()  # so that the sum is finite
    return np.asarray(shares / shares.sum())


def _stderr(samples: Floats) -> Any:
    return samples.std(axis=0, ddof=1) / sqrt(len(samples))
