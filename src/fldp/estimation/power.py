"""How many people it takes to see a change, or to know a share, for one look and for looks at any time."""

import math
from collections.abc import Callable
from statistics import NormalDist

from fldp.data.anytime_intervals import multiplier, planned_reports
from fldp.data.comparison import POPULATION, RESPONDENTS, z_score
from fldp.errors import ParameterError
from fldp.estimation.expected_error import standard_error, users_constraint
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.support.validation import fail, fraction, integer, is_number, number, one_of

MAX_PEOPLE = 2**53
SHARE = 0.5  # of a value before it changes: the most cautious, since who is asked varies most there


def power_of(
    oracle: FrequencyOracle,
    people: int,
    change: float,
    *,
    share: float = SHARE,
    level: float = 0.95,
    values: int = 1,
    about: str = POPULATION,
    anytime: bool = False,
) -> float:
    """Return how likely ``fldp compare`` sees a change of a share, with this many people in each of two groups.

    ``values`` is how many values are tested at once; 1 where the one that matters was named beforehand. ``anytime`` is
    for comparisons that are watched: the probability of having seen it by the time all have answered.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=2.0, domain_size=5)
    >>> [round(power_of(oracle, 10_000, 0.03, share=0.2, anytime=anytime), 2) for anytime in (False, True)]
    [0.83, 0.04]
    """
    users_constraint("power", "people", people)
    first, second = _variances(oracle, change, share, about)
    miss = (1 - fraction("power", "level", level)) / integer(1, 2**31)("power", "values", values)
    spread = math.sqrt((first + second) / people)
    if anytime:
        wide = multiplier(people / planned_reports(oracle, max(1, people // 100)), miss / 2)
        half = wide * (math.sqrt(first / people) + math.sqrt(second / people))
    else:
        half = z_score(1 - miss) * spread
    return NormalDist().cdf((abs(change) - half) / spread)


def _variances(oracle: FrequencyOracle, change: float, share: float, about: str) -> tuple[float, float]:
    """Return the variance of a share for one person, before and after: the noise, and for a population who is asked."""
    one_of(RESPONDENTS, POPULATION)("power", "about", about)
    number(0, 1)("power", "share", share)
    if not is_number(change) or not 0 < abs(change) < 1:
        raise fail("power", "change", "a number between -1 and 1, other than 0", change)
    if not hasattr(analysis(oracle).oracle, "variance"):
        raise fail("power", "the oracle", "one for a single question", oracle)
    after = share + change if 0 <= share + change <= 1 else share - change
    if not 0 <= after <= 1:
        raise fail("power", "change", f"one that leaves a share of {share:g} between 0 and 1", change)
    drawn = [each * (1 - each) if about == POPULATION else 0.0 for each in (share, after)]
    noise = [float(oracle.variance(1, each)) for each in (share, after)]
    return noise[0] + drawn[0], noise[1] + drawn[1]


def people_needed(
    oracle: FrequencyOracle,
    change: float,
    *,
    power: float = 0.8,
    share: float = SHARE,
    level: float = 0.95,
    values: int = 1,
    about: str = POPULATION,
    anytime: bool = False,
) -> int:
    """Return how many people each of two groups needs, so that a change is seen with probability ``power``.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=2.0, domain_size=5)
    >>> people_needed(oracle, 0.03, share=0.2), people_needed(oracle, 0.03, share=0.2, anytime=True)
    (9140, 34952)
    """
    wanted = fraction("power", "power", power)

    def seen(people: int) -> bool:
        return (
            power_of(oracle, people, change, share=share, level=level, values=values, about=about, anytime=anytime)
            >= wanted
        )

    return least_people(seen)


def least_people(enough: Callable[[int], bool]) -> int:
    """Return the least number of people from which on something holds.

    >>> least_people(lambda n: n >= 1234)
    1234
    """
    high = 1
    while not enough(high):
        high *= 2
        if high > MAX_PEOPLE:
            raise ParameterError("power: not even 2^53 people are enough; take a larger change, error or epsilon")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def users_needed_anytime(
    oracle: FrequencyOracle, error: float, decoder: str | None = None, *, level: float = 0.95
) -> int:
    """Return with how many users an interval for every look is as narrow as one of this standard error for one look.

    >>> import fldp
    >>> users_needed_anytime(fldp.OUE(epsilon=1.0, domain_size=1023), 0.01)
    101124
    """
    miss, planned = 1 - fraction("power", "level", level), planned_reports(oracle)
    one = standard_error(oracle, 1, decoder=decoder)
    wanted = z_score(level) * error
    return least_people(lambda n: one / math.sqrt(n) * multiplier(n / planned, miss) <= wanted)
