"""simulate: the tally of a whole population, drawn from its law where that is known, else user by user."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fldp.data.reports import MAX_COUNT, Tally
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.randomness.stream import Stream
from fldp.support.progress import Progress
from fldp.support.validation import fail

_CHUNK = 1 << 17


def simulate(
    oracle: Oracle,
    counts: ArrayLike,
    *,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Tally:
    """Draw the tally of a population in which ``counts[v]`` users hold value ``v``.

    RR, GRR, SUE, OUE and OLH have a joint law in closed form (OLH under ideal hashing), and the tally of a
    billion users is drawn from it at once. Any other oracle privatizes every user, a chunk at a time; ``progress`` is
    called with the number of users done. For an oracle over records, ``counts`` are of all records, in the shape of its
    ``answers``, or of the values of ``oracle.among(records)``. For experiments only: one machine holds all values, so
    nobody is protected.

    >>> import fldp
    >>> oracle = fldp.OUE(epsilon=1.0, domain_size=4)
    >>> simulate(oracle, [900_000_000, 99_000_000, 1_000_000, 0], rng=7).n
    1000000000
    """
    oracle, counts = analysis(oracle).among_held(counts)
    histogram = _checked(oracle, counts)
    stream = Stream.of(rng)
    n = int(histogram.sum())
    generator = np.random.Generator(np.random.PCG64(stream.words(4).tolist()))
    state = oracle.estimator.draw_state(histogram, generator)
    if state is not None:
        return Tally(analysis(oracle).tallied, state, n)
    total = Tally.empty(oracle)
    for values in users(histogram):
        total += oracle.tally(oracle.privatize(values, rng=stream))
        if progress is not None:
            progress(len(values))
    return total


def _checked(oracle: FrequencyOracle, counts: ArrayLike) -> NDArray[np.int64]:
    histogram = np.asarray(counts)
    good = histogram.dtype.kind in "iu" and histogram.shape == (oracle.domain_size,) and (histogram >= 0).all()
    if not good:
        rule = f"{oracle.domain_size} integers of at least 0, one for each value"
        raise fail("simulate", "counts", rule, f"{histogram.dtype} of shape {histogram.shape}")
    if not 0 < int(histogram.sum()) < MAX_COUNT:
        raise fail(
            "simulate", "counts", "counts of at least one user and fewer than 2^62 in total", int(histogram.sum())
        )
    return histogram.astype(np.int64)


def users(histogram: NDArray[np.int64], chunk: int = _CHUNK) -> Iterator[NDArray[np.int64]]:
    """Yield the values of all users, in the order of the values, a chunk at a time.

    >>> [part.tolist() for part in users(np.array([2, 0, 3]), 4)]
    [[0, 0, 2, 2], [2]]
    """
    ends = np.cumsum(histogram)
    for start in range(0, int(ends[-1]), chunk):
        stop = min(start + chunk, int(ends[-1]))
        first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
        bounds = np.clip(ends[first : last + 1], start, stop)
        yield np.repeat(np.arange(first, last + 1), np.diff(bounds, prepend=start))
