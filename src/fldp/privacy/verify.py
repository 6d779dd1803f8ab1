"""verify: the privacy of the implemented law, by enumeration, in rational arithmetic."""

from collections import Counter
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import permutations
from math import inf, lcm, nextafter
from typing import Any

from fldp.errors import ParameterError
from fldp.oracle import FrequencyOracle, Law
from fldp.thresholds import exp_lower

_DIGITS = Context(prec=60)
_QUICK = 1 << 17

Pairs = Counter[tuple[int, int]]


@dataclass(frozen=True)
class Witness:
    """A report, and the two values between which it tells the most.

    ``ratio`` is that of its probabilities; None where ``other`` cannot produce it, which is shown only if no report
    that both can produce tells them apart.
    """

    value: int
    other: int
    report: Any
    public: Any
    ratio: Fraction | None


@dataclass(frozen=True)
class Verification:
    """What an oracle's law really guarantees. All exact, but for ``epsilon``, which is rounded up to a float.

    ``ratio`` is ``e^epsilon``: the largest ratio of a report's probabilities under two values that can both produce it.
    ``eta`` counts shared reports, ``eta_mass`` weighs them by probability. ``delta`` is that of
    (epsilon, delta)-LDP at the declared epsilon. ``anonymity`` is the least number of values that a report leaves
    possible.
    """

    oracle: FrequencyOracle
    ratio: Fraction
    eta: Fraction
    eta_mass: Fraction
    delta: Fraction
    anonymity: int
    witness: Witness

    @property
    def epsilon(self) -> float:
        """The logarithm of ``ratio``, rounded up."""
        exact = _DIGITS.ln(_DIGITS.divide(Decimal(self.ratio.numerator), Decimal(self.ratio.denominator)))
        near = float(exact)
        return near if Decimal(near) >= exact else nextafter(near, inf)

    @property
    def holds(self) -> bool:
        """Whether the law keeps what the oracle declares."""
        oracle = self.oracle
        return (
            self.ratio <= exp_lower(oracle.epsilon)
            and min(self.eta, self.eta_mass) >= oracle.eta
            and self.anonymity >= oracle.anonymity
        )


def verify(oracle: FrequencyOracle) -> Verification:
    """Enumerate an oracle's law on a small domain and return what it guarantees, with a witness.

    Public randomness is part of the report and is taken to be uniform over ``oracle.publics()``.

    >>> import fldp
    >>> found = verify(fldp.FHR(epsilon=1.0, domain_size=7))
    >>> found.epsilon, found.eta, found.delta, found.anonymity, found.holds
    (1.0, Fraction(1, 2), Fraction(1, 2), 4, True)
    """
    oracle.check_enumerable()
    publics = list(oracle.publics())
    values = range(oracle.domain_size)
    laws = [[_support(oracle.law(value, public)) for public in publics] for value in values]
    shares = {id(share): share for law in laws for part in law for share in part.values()}  # few, used often
    scale = lcm(*(share.denominator for share in shares.values()))
    whole = {key: int(share * scale) for key, share in shares.items()}
    counts = [[{report: whole[id(share)] for report, share in part.items()} for part in law] for law in laws]
    left = Counter((k, report) for law in counts for k, part in enumerate(law) for report in part)
    pairs = {(one, two): _compare(counts[one], counts[two]) for one, two in permutations(values, 2)}
    total = scale * len(publics)
    worst = max(pairs, key=lambda pair: _ratio(pairs[pair]))
    return Verification(
        oracle,
        ratio=_ratio(pairs[worst]),
        eta=min(_overlap(pairs[one, two], pairs[two, one]) for one, two in pairs),
        eta_mass=min(Fraction(_shared_mass(pair), total) for pair in pairs.values()),
        delta=max(_excess(pair, exp_lower(oracle.epsilon)) for pair in pairs.values()) / total,
        anonymity=min(left.values()),
        witness=_witness(publics, counts, *worst, _ratio(pairs[worst])),
    )


def _compare(one: list[dict[Any, int]], two: list[dict[Any, int]]) -> Pairs:
    """Count how often each pair of probabilities occurs among the reports of one value."""
    found: Pairs = Counter()
    for mine, other in zip(one, two, strict=True):
        found.update((share, other.get(report, 0)) for report, share in mine.items())
    return found


def _ratio(pairs: Pairs) -> Fraction:
    """Return the largest ratio over reports that both values can produce; 1 if there is none above."""
    return max((Fraction(one, two) for one, two in pairs if two), default=Fraction(1))


def _overlap(pairs: Pairs, reverse: Pairs) -> Fraction:
    shared = sum(count for (_, two), count in pairs.items() if two)
    return Fraction(shared, max(pairs.total(), reverse.total()))


def _shared_mass(pairs: Pairs) -> int:
    return sum(count * one for (one, two), count in pairs.items() if two)


def _excess(pairs: Pairs, bound: Fraction) -> Fraction:
    """Add up what reports are more likely under one value than ``bound`` times under the other."""
    above = (count * max(Fraction(0), one - bound * two) for (one, two), count in pairs.items())
    return sum(above, Fraction(0))


def _witness(
    publics: list[Any], counts: list[list[dict[Any, int]]], value: int, other: int, ratio: Fraction
) -> Witness:
    """Find a report that attains the ratio; if none tells two values apart, one that only the first can produce."""
    for k, public in enumerate(publics):
        for report, share in counts[value][k].items():
            theirs = counts[other][k].get(report, 0)
            if theirs and ratio > 1 and share == ratio * theirs:
                return Witness(value, other, report, public, ratio)
            if ratio == 1 and not theirs:
                return Witness(value, other, report, public, None)
    return Witness(value, other, None, None, ratio)


def shrink(oracle: FrequencyOracle) -> FrequencyOracle:
    """Return the same oracle on a domain that is quickly enumerated, of at most eight values.

    >>> import fldp
    >>> shrink(fldp.FHR(epsilon=1.0, domain_size=1023))
    FHR(epsilon=1.0, domain_size=8)
    """
    for size in (8, 7, 6, 5, 4, 3, 2):
        try:
            made = oracle.resized(size)
        except ParameterError:
            continue
        if enumerable(made):
            return made
    raise ParameterError(f"{oracle.title}: no domain is small enough to enumerate the law of {oracle!r}")


def enumerable(oracle: FrequencyOracle) -> bool:
    """Tell whether an oracle's law is quickly enumerated as it is.

    >>> import fldp
    >>> enumerable(fldp.OUE(epsilon=1.0, domain_size=8)), enumerable(fldp.OUE(epsilon=1.0, domain_size=800))
    (True, False)
    """
    return oracle.outcomes * oracle.domain_size * len(list(oracle.publics())) <= _QUICK


def _support(law: Law) -> Law:
    return {report: probability for report, probability in law.items() if probability > 0}
