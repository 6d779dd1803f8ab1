"""Amplification by shuffling: the privacy of one report among many, towards somebody who sees only their sum."""

import math
from dataclasses import dataclass
from fractions import Fraction

from fldp.errors import ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.blanket import Blanket
from fldp.oracles.base.oracle import Oracle
from fldp.support.exact_numbers import share_text
from fldp.support.validation import fail, integer, number

MIN_PEOPLE = 1_000  # honest ones, below which nobody is told of a crowd
HONEST = 0.5  # the share of people who are taken to have answered honestly, unless told otherwise
MAX_REPORTS, MIN_DELTA = 10**12, 1e-12
_CLOSE = 1.0005  # of the result to the least that the bound gives


@dataclass(frozen=True)
class Shuffled:
    """The privacy of a report for whoever sees only the sum of all reports: (epsilon, delta)-differential privacy.

    It counts on a share ``honest`` of the ``reports``; the others may be fakes, which hide nobody from their sender.
    ``gamma`` is the probability that a report is drawn regardless of its sender's value.

    >>> import fldp
    >>> fldp.shuffled(fldp.RR(epsilon=1.0), 10_000).people
    5000
    """

    epsilon: float
    delta: float
    reports: int
    honest: float
    gamma: float

    @property
    def people(self) -> int:
        """How many honest people the guarantee counts on."""
        return math.floor(self.honest * self.reports)


def shuffled(oracle: Oracle, reports: int, *, delta: float | None = None, honest: float = HONEST) -> Shuffled:
    """Return the privacy of one report towards somebody who sees only the sum of this many reports.

    It does not hold towards the collector, which sees every report, nor towards anybody who can look twice, since two
    looks can be subtracted. ``delta`` is ``min(1e-6, 1/(10 n))`` unless given, ``n`` the number of honest people. The
    epsilon is an upper bound (the privacy blanket), within 0.1 % of what the bound gives, and never above the oracle's
    own.

    An oracle with eta below 1 is refused, because a crowd adds nothing there: a report that the value of everybody else
    cannot produce stands out in any crowd.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=10)
    >>> round(shuffled(oracle, 2_000_000).epsilon, 4), round(shuffled(oracle, 2_000, delta=1e-6).epsilon, 3)
    (0.0023, 0.08)
    >>> shuffled(fldp.FHR(epsilon=1.0, domain_size=10), 1000)
    Traceback (most recent call last):
    fldp.errors.ParameterError: FHR: Being one of many adds nothing: if everybody else gave the same answer, a total
    would still show with probability 1/2 that yours differs.
    """
    integer(1, MAX_REPORTS)("shuffled", "reports", reports)
    share = number(0, 1)("shuffled", "honest", honest)
    people = math.floor(Fraction(share) * reports)
    if people < 1:
        raise fail("shuffled", "honest", "a share that leaves at least one honest person", honest)
    allowed = min(1e-6, 0.1 / people) if delta is None else number(MIN_DELTA, 0.5)("shuffled", "delta", delta)
    blanket = _blanket(oracle)
    epsilon = min(oracle.epsilon, _epsilon(blanket, people, allowed, oracle.epsilon))
    return Shuffled(epsilon, allowed, reports, share, float(blanket.gamma))


def stated(crowd: Shuffled, oracle: Oracle) -> bool:
    """Whether the numbers may be told to people: of a crowd that is large enough, and hides enough.

    >>> import fldp
    >>> oracle = fldp.RR(epsilon=1.0)
    >>> stated(shuffled(oracle, 1_000), oracle), stated(shuffled(oracle, 2_000), oracle)
    (False, True)
    """
    return crowd.people >= MIN_PEOPLE and crowd.epsilon <= oracle.epsilon / 2


def crowd_of(oracle: Oracle, reports: int) -> Shuffled | None:
    """Return what a crowd of this size adds, as a card or a plan tells it; None where nothing may be told."""
    if oracle.eta < 1 or reports < MIN_PEOPLE or reports > MAX_REPORTS:
        return None
    try:
        crowd = shuffled(oracle, reports)
    except ParameterError:
        return None
    return crowd if stated(crowd, oracle) else None


def stands_out(oracle: Oracle) -> str | None:
    """Return the sentence on why a crowd adds nothing; None where it does.

    >>> import fldp
    >>> stands_out(fldp.OUE(epsilon=1.0, domain_size=10)) is None
    True
    """
    if oracle.eta == 1:
        return None
    seen = f"with probability {share_text(1 - oracle.eta)}" if oracle.eta else "for certain"
    same = "if everybody else gave the same answer, a total would still show"
    return f"Being one of many adds nothing: {same} {seen} that yours differs."


def _blanket(oracle: Oracle) -> Blanket:
    about = analysis(oracle)
    nothing = stands_out(oracle)
    if nothing is not None:
        raise ParameterError(f"{oracle.title}: {nothing}")
    if about.promise[0] != "LDP":
        raise ParameterError(f"{oracle.title}: what a crowd adds is known for oracles of plain epsilon-LDP only")
    blanket = about.blanket()
    if blanket is None:
        raise ParameterError(f"{oracle.title}: what a crowd adds is not known for this oracle")
    return blanket


def _epsilon(blanket: Blanket, people: int, delta: float, most: float) -> float:
    """Return an epsilon at most 0.05 % above the least whose bound is at most delta, from the normal guess on."""
    if blanket.spread == 0 or blanket.delta(1.0, people) <= delta:  # so near to each other that delta is enough
        return 0.0
    highest = math.expm1(min(most, 700.0))
    low = high = min(highest, max(_guess(float(blanket.spread), people, delta), 1e-15))
    while blanket.delta(1 + high, people) > delta:
        if high == highest:
            return most
        low, high = high, min(2 * high, highest)
    while blanket.delta(1 + low, people) <= delta:
        low, high = low / 2, low
    while high > _CLOSE * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if blanket.delta(1 + middle, people) <= delta else (middle, high)
    return math.log1p(high)


def _guess(spread: float, people: int, delta: float) -> float:
    """Return ``e^epsilon - 1`` as if the sum were normal."""
    root, low, high = math.sqrt(spread / people), 0.0, 40.0
    for _ in range(60):
        z = (low + high) / 2
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        tail = root * (density - z * math.erfc(z / math.sqrt(2)) / 2)
        low, high = (z, high) if tail > delta else (low, z)
    return high * root
