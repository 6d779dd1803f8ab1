"""Populations that are drawn: the paper's Zipf, and shapes on which the answer is plain to see."""

import numpy as np
from numpy.typing import NDArray

from fldp.experiments.datasets.population import Population, dataset
from fldp.support.validation import fraction, integer, positive

ZIPF_USERS, ZIPF_VALUES, ZIPF_EXPONENT = 593_358, 1023, 1.12

_seed, _users, _values = integer(0, 2**63), integer(1, 2**40), integer(2, 2**24)


def zipf(seed: int = 0) -> NDArray[np.int64]:
    """Return the Zipf population of the paper: 593,358 users over 1,023 values, the frequent ones first.

    The paper names neither exponent nor seed; 1.12 is the exponent whose draws, cut at 1,023, match its totals.

    >>> values = zipf()
    >>> len(values), int(values.min()), int(values.max())
    (593358, 0, 1022)
    """
    rng = np.random.default_rng(_seed("zipf", "seed", seed))
    parts: list[NDArray[np.int64]] = []
    missing = ZIPF_USERS
    while missing > 0:
        drawn = rng.zipf(ZIPF_EXPONENT, 1_000_000)
        parts.append(drawn[drawn <= ZIPF_VALUES][:missing] - 1)
        missing -= len(parts[-1])
    return np.concatenate(parts)


@dataset("zipf", users=ZIPF_USERS, values=ZIPF_VALUES)
def zipf_population(seed: int) -> Population:
    """The paper's Zipf population, exponent 1.12."""
    return Population("zipf", np.bincount(zipf(seed), minlength=ZIPF_VALUES))


@dataset("uniform")
def uniform(seed: int, users: int = 100_000, values: int = 1_000) -> Population:
    """All values equally likely.

    >>> uniform(0).domain_size
    1000
    """
    return _drawn("uniform", seed, users, np.ones(_values("uniform", "values", values)))


@dataset("geometric")
def geometric(seed: int, users: int = 100_000, values: int = 1_000, ratio: float = 0.99) -> Population:
    """Each value less likely than the one before by the same ratio.

    >>> counts = geometric(0, users=1_000_000, ratio=0.5).counts[:4]
    >>> counts.round(-4)
    array([500000, 250000, 120000,  60000])
    """
    powers = np.arange(_values("geometric", "values", values), dtype=np.float64)
    return _drawn("geometric", seed, users, np.power(fraction("geometric", "ratio", ratio), powers))


@dataset("power")
def power(seed: int, users: int = 100_000, values: int = 1_000, exponent: float = 1.12) -> Population:
    """Each value less likely by a power of its rank: Zipf's law, for any number of users.

    >>> power(0, users=1_000_000, values=2, exponent=1.0).counts.round(-4)
    array([670000, 330000])
    """
    ranks = np.arange(1, _values("power", "values", values) + 1, dtype=np.float64)
    return _drawn("power", seed, users, np.power(ranks, -positive("power", "exponent", exponent)))


@dataset("step")
def step(seed: int, users: int = 100_000, values: int = 1_000, heavy: int = 10, share: float = 0.5) -> Population:
    """A few heavy values, equally likely, and many light ones, equally likely.

    >>> int(step(0, users=1_000_000, share=0.3).counts[:10].sum().round(-4))
    300000
    """
    integer(1, _values("step", "values", values) - 1)("step", "heavy", heavy)
    likely = np.full(values, (1 - fraction("step", "share", share)) / (values - heavy))
    likely[:heavy] = share / heavy
    return _drawn("step", seed, users, likely)


def _drawn(name: str, seed: int, users: int, likely: NDArray[np.float64]) -> Population:
    generator = np.random.default_rng(_seed(name, "seed", seed))
    return Population(name, generator.multinomial(_users(name, "users", users), likely / likely.sum()))
