"""verify: the privacy of the implemented law, by enumeration, in rational arithmetic."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import permutations
from math import inf, nextafter
from typing import Any

from fldp.errors import ParameterError
from fldp.oracle import FrequencyOracle, Law
from fldp.thresholds import exp_lower

_DIGITS = Context(prec=60)
_QUICK = 1 << 17


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

    >>> import fldp
    >>> found = verify(fldp.FHR(epsilon=1.0, domain_size=7))
    >>> found.epsilon, found.eta, found.delta, found.anonymity, found.holds
    (1.0, Fraction(1, 2), Fraction(1, 2), 4, True)
    """
    oracle.check_enumerable()
    bound = exp_lower(oracle.epsilon)
    ratio, eta, mass, delta, anonymity = Fraction(1), Fraction(1), Fraction(1), Fraction(0), oracle.domain_size
    witness = Witness(0, 1, None, None, ratio)
    for public in oracle.publics():
        laws = [_support(oracle.law(value, public)) for value in range(oracle.domain_size)]
        anonymity = min(anonymity, *Counter(report for law in laws for report in law).values())
        for (value, one), (other, two) in permutations(enumerate(laws), 2):
            shared = one.keys() & two.keys()
            eta = min(eta, Fraction(len(shared), max(len(one), len(two))))
            mass = min(mass, sum((one[report] for report in shared), Fraction(0)))
            delta = max(delta, sum(_excess(one, two, bound), Fraction(0)))
            for report in shared:
                if one[report] > ratio * two[report]:
                    ratio = one[report] / two[report]
                    witness = Witness(value, other, report, public, ratio)
            if ratio == 1 and len(shared) < len(one):
                witness = Witness(value, other, next(report for report in one if report not in two), public, None)
    return Verification(oracle, ratio, eta, mass, delta, anonymity, witness)


def shrink(oracle: FrequencyOracle) -> FrequencyOracle:
    """Return the same oracle on a domain that is quickly enumerated, of at most eight values.

    >>> import fldp
    >>> shrink(fldp.FHR(epsilon=1.0, domain_size=1023))
    FHR(epsilon=1.0, domain_size=8)
    """
    for size in (8, 7, 6, 5, 4, 3, 2):
        try:
            made = replace(oracle, domain_size=min(size, oracle.domain_size))
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


def _excess(one: Law, two: Law, bound: Fraction) -> Iterator[Fraction]:
    """Yield what each report is more likely under one value than ``bound`` times under the other."""
    for report, probability in one.items():
        above = probability - bound * two.get(report, Fraction(0))
        if above > 0:
            yield above
