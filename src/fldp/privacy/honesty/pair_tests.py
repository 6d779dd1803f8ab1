"""Pair tests: reports that support two values at once reveal fakes that support a set of targets together.

For two values v and w there is a score of a report whose mean is 0 whatever value its sender holds: nobody holds both.
A fake report that supports all of its targets has a score of 1 for every pair of them. So the sum of the scores over
all reports is the number of such fakes, plus noise of a known variance.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.claims import Scores
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import listed
from fldp.privacy.honesty.binomial_tests import IntegrityFinding, bennett
from fldp.privacy.honesty.sequential_tests import sum_bets

MAX_VALUES = 128  # with the largest estimates; p-values are corrected for all pairs of all values


def judge_pairs(
    oracle: Oracle, tally: Tally, data: Array | None, *, anytime: bool = False
) -> Iterator[IntegrityFinding]:
    """Yield the finding of the worst pair, if the oracle has scores."""
    about = analysis(oracle)
    if not about.scores_pairs:
        return
    known = listed("integrity", oracle)
    scores = about.pairs(tally, data, most_supported(known, tally))
    if scores is None:
        return
    chances = log_chances(known, scores, tally.n, anytime=anytime)
    place = int(np.argmin(chances))
    one, two = scores.values[place // len(chances)], scores.values[place % len(chances)]
    excess = float(scores.sums.flat[place])
    yield IntegrityFinding(
        "pairs",
        "no two values are supported together more often than by chance",
        f"values {one} and {two}: {excess:,.0f} more than by chance",
        float(np.exp(chances.flat[place])),
        (int(one), int(two)),
    )


def log_chances(oracle: FrequencyOracle, scores: Scores, n: int, *, anytime: bool = False) -> Floats:
    """Return the logarithm of the p-value of every pair, corrected for all pairs of all values."""
    pairs = oracle.domain_size * (oracle.domain_size - 1) / 2
    about = (scores.sums, n, scores.variance, scores.most)
    chances = (-sum_bets(*about) if anytime else bennett(*about)) + np.log(pairs)
    np.fill_diagonal(chances, 0.0)
    return np.asarray(np.minimum(chances, 0.0))


def most_supported(oracle: FrequencyOracle, tally: Tally) -> NDArray[np.int64]:
    """Return the values with the largest estimates: targets, if any, are among them."""
    counts = oracle.estimator.decode(tally)
    return np.sort(np.argsort(-counts, kind="stable")[:MAX_VALUES])
