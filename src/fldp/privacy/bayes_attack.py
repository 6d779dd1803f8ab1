"""The Bayes attack: how often the best guess of the value behind reports is right.

The attacker knows the oracle and a prior over the values, and applies Bayes' rule; nobody does better. ``bayes`` is the
attack on one report, ``averaging`` on growing numbers of independent reports of one value. Where reports rule out
values for certain, at any epsilon, see also ``fldp.privacy.elimination_attack``.

If a law is not enumerated, values and reports are drawn and the attacker's posterior certainty is averaged. It equals
the probability that the guess is right, and varies less than the 0 or 1 of right and wrong guesses.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fldp.data.dataframes import Columns, Framed
from fldp.numerics.kernels import simulating
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import listed
from fldp.privacy.verifier import enumerable
from fldp.randomness.stream import Stream
from fldp.support.display import Displayed
from fldp.support.progress import Progress
from fldp.support.validation import fail, integer

CELLS = 1 << 18  # likelihoods held at a time: 2 MiB
_BATCH, _MAX_CELLS = 16, 1 << 22  # or a few reports, up to 32 MiB: one report at a time would run interpreted
MAX_VALUES = 1 << 24
draws_of, most_of = integer(2, 1 << 30), integer(1, 1 << 20)


@dataclass(frozen=True)
class Guess(Displayed):
    """How often the best guess of a value is right, before and after one report.

    ``left`` is the mean number of values that the report leaves possible. If ``exact``, errors are below 1e-12;
    else ``after`` has the standard error ``stderr``.
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
class Averaging(Framed, Displayed):
    """How often the best guess is right after each number of independent ``reports`` of one value."""

    oracle: FrequencyOracle
    reports: NDArray[np.int64]
    success: Floats
    stderr: Floats
    trials: int

    def _columns(self) -> Columns:
        return {"reports": self.reports, "success": self.success, "stderr": self.stderr}

    def __repr__(self) -> str:
        return f"<guesses after up to {self.reports[-1]} reports of {self.oracle!r}, {self.trials} trials>"


@simulating()
def bayes(
    oracle: FrequencyOracle,
    prior: ArrayLike | None = None,
    *,
    draws: int = 10_000,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Guess:
    """Return the success of the Bayes attacker on one report.

    ``prior`` holds a count or a probability for every value; None is uniform. Exact if the law and all public
    randomness are quick to enumerate, else from ``draws`` reports, with calls of ``progress``.

    >>> import fldp
    >>> guess = bayes(fldp.FHR(epsilon=1.0, domain_size=7))
    >>> round(guess.before, 3), round(guess.after, 3), guess.left, guess.exact
    (0.143, 0.337, 4.0, True)
    """
    shares, draws = checked_prior("bayes", oracle, prior), draws_of("bayes", "draws", draws)
    before = float(shares.max())
    if enumerable(oracle) and analysis(oracle).publics_are_all:
        return Guess(oracle, before, *_enumerated(oracle, shares), exact=True, stderr=0.0)
    sure, left = np.empty(draws), np.empty(draws)
    for part, values, stream in trials_of(oracle, shares, draws, rng):
        likely = analysis(oracle).likelihoods(oracle.privatize(values, rng=stream).data)
        left[part] = (likely > 0).sum(axis=1)
        likely *= shares
        sure[part] = likely.max(axis=1) / likely.sum(axis=1)
        if progress is not None:
            progress(len(values))
    return Guess(oracle, before, float(sure.mean()), float(left.mean()), exact=False, stderr=float(_stderr(sure)))


def _enumerated(oracle: FrequencyOracle, shares: Floats) -> tuple[float, float]:
    """Return the probability that the likeliest value is right, and the mean number of possible values."""
    about, right, left = analysis(oracle), list[float](), list[float]()
    for public, share in zip(about.publics(), map(float, about.public_shares()), strict=True):
        laws = [about.law(value, public) for value in range(oracle.domain_size)]
        every = dict.fromkeys(outcome for law in laws for outcome in law)
        joint = np.array([[float(law.get(outcome, 0)) for law in laws] for outcome in every])
        possible = (joint > 0).sum(axis=1)
        joint *= shares
        right.extend(joint.max(axis=1) * share)
        left.extend(joint.sum(axis=1) * possible * share)
    return fsum(right), fsum(left)


@simulating()
def averaging(
    oracle: FrequencyOracle,
    prior: ArrayLike | None = None,
    *,
    most: int = 64,
    trials: int = 1000,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Averaging:
    """Return the success of the Bayes attacker on growing numbers of independent reports of one value.

    The numbers grow up to ``most``, about eight to each doubling. Against a client that repeats its first report, the
    success stays as after one report. ``progress`` is called with the number of reports drawn.

    >>> import fldp
    >>> attack = averaging(fldp.GRR(epsilon=1.0, domain_size=5), most=12, rng=7)
    >>> attack.reports.tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    >>> attack.success[[0, 3, -1]].round(1).tolist()
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
    """Return for each value the posterior probability of the best guess after each number of reports.

    Likelihoods are scaled so that the best guess has 1; anything that underflows to 0 is less likely than 1e-300.
    """
    certainty, likely = np.empty((len(values), len(counts))), np.tile(shares, (len(values), 1))
    for count in range(1, counts[-1] + 1):
        likely *= analysis(oracle).likelihoods(oracle.privatize(values, rng=stream).data)
        likely /= likely.max(axis=1, keepdims=True)
        if count in counts:
            certainty[:, counts.index(count)] = 1 / likely.sum(axis=1)
        if progress is not None:
            progress(len(values))
    return certainty


def trials_of(
    oracle: FrequencyOracle, shares: Floats, trials: int, rng: int | Stream | None
) -> Iterator[tuple[slice, NDArray[np.int64], Stream]]:
    """Draw values from the prior, in batches whose likelihoods fit into memory, with a stream for their noise."""
    stream = Stream.of(rng)
    generator = np.random.Generator(np.random.PCG64(stream.words(4).tolist()))
    rows = max(1, CELLS // oracle.domain_size, min(_BATCH, _MAX_CELLS // oracle.domain_size))
    _let_memory_stay()
    for start in range(0, trials, rows):
        part = slice(start, min(start + rows, trials))
        yield part, generator.choice(oracle.domain_size, part.stop - start, p=shares), stream


def _let_memory_stay() -> None:
    """Free more memory than a batch holds, once: glibc keeps as much from then on for the arrays of the next batches.

    Else it returns theirs to the system after every batch, and half of the time goes into getting them back.
    """
    np.empty(8 * CELLS)


def checked_prior(who: str, oracle: Oracle, prior: ArrayLike | None) -> Floats:
    """Return the prior as probabilities that add up to 1."""
    size = integer(2, MAX_VALUES)(who, "domain_size", listed(who, oracle).domain_size)
    if prior is None:
        return np.full(size, 1 / size)
    rule = f"{size} numbers, one for each value"
    try:
        array = np.asarray(prior)
    except (ValueError, TypeError):  # such as lists of different lengths
        raise fail(who, "prior", rule, prior) from None
    if array.dtype.kind not in "iuf" or array.shape != (size,):
        raise fail(who, "prior", rule, f"{array.dtype} of shape {array.shape}")
    shares = array.astype(np.float64)
    if not (np.isfinite(shares).all() and shares.min() >= 0 and shares.max() > 0):
        raise fail(who, "prior", "finite, at least 0, and not 0 everywhere", float(shares.min()))
    shares /= shares.max()  # the sum stays finite
    return np.asarray(shares / shares.sum())


def _stderr(samples: Floats) -> Any:
    return samples.std(axis=0, ddof=1) / sqrt(len(samples))
