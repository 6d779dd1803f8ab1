"""Populations whose true counts are known."""

import numpy as np
from numpy.typing import NDArray

from fldp.constraints import integer

ZIPF_USERS, ZIPF_VALUES, ZIPF_EXPONENT = 593_358, 1023, 1.12


def zipf(seed: int = 0) -> NDArray[np.int64]:
    """Return the Zipf population of the paper: 593,358 users over 1,023 values, the frequent ones first.

    The paper names neither exponent nor seed; 1.12 is the exponent whose draws, cut at 1,023, match its totals.

    >>> values = zipf()
    >>> len(values), int(values.min()), int(values.max())
    (593358, 0, 1022)
    """
    rng = np.random.default_rng(integer(0, 2**63)("zipf", "seed", seed))
    parts: list[NDArray[np.int64]] = []
    missing = ZIPF_USERS
    while missing > 0:
        drawn = rng.zipf(ZIPF_EXPONENT, 1_000_000)
        parts.append(drawn[drawn <= ZIPF_VALUES][:missing] - 1)
        missing -= len(parts[-1])
    return np.concatenate(parts)
