"""verify: the privacy of a law, by enumeration, in rational arithmetic."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import inf, lcm, nextafter
from typing import Any

from fldp.base import Oracle
from fldp.constraints import fail
from fldp.errors import ParameterError
from fldp.oracle import FrequencyOracle
from fldp.privacy.laws import Laws, laws_of
from fldp.privacy.notions import Notion, Pair, bounded_epsilon, declared
from fldp.profile import Band, Curve, Profile, delta_curve
from fldp.string_oracle import StringOracle, listed
from fldp.thresholds import exp_lower

_DIGITS = Context(prec=60)
_QUICK = 1 << 17
_FEW = 8


@dataclass(frozen=True)
class Witness:
    """A report, and the two values between which it tells the most.

    ``ratio`` is that of its probabilities; None where ``other`` cannot produce it, which is shown only if no report
    that both can produce tells them apart. ``report`` is None where the law was too large to go through.
    """

    value: int
    other: int
    report: Any
    public: Any
    ratio: Fraction | None


@dataclass(frozen=True)
class Judgement:
    """Whether a law keeps a promise; if not, a pair of values for which it does not, and why.

    >>> import fldp
    >>> print(fldp.verify([[1, 0], [0, 1]]).judge(fldp.LDP(1.0)))
    1-LDP does not hold: values 0 and 1: they share 0 of their reports, 0 by probability, where 1 is promised
    """

    notion: Notion
    holds: bool
    pair: Pair | None = None
    reason: str | None = None

    def __str__(self) -> str:
        if self.pair is None:
            return f"{self.notion} holds"
        return f"{self.notion} does not hold: values {self.pair[0]} and {self.pair[1]}: {self.reason}"


@dataclass(frozen=True)
class Verification:
    """What a law really guarantees. All exact, but for ``epsilon``, which is rounded up to a float.

    ``ratio`` is ``e^epsilon``: the largest ratio of a report's probabilities under two values that can both produce it.
    ``eta`` counts shared reports, ``eta_mass`` weighs them by probability. ``anonymity`` is the least number of values
    that a report leaves possible, ``anonymity_mean`` the mean over reports of users whose values are equally frequent.
    Counting alone can be gamed, and so can mass; the three belong together.
    """

    oracle: FrequencyOracle | None
    domain_size: int
    anonymity: int
    witness: Witness
    profiles: Mapping[Pair, Profile] = field(repr=False)
    overlaps: Mapping[Fraction, Fraction] = field(repr=False)
    notion: Notion | None = None

    @property
    def ratio(self) -> Fraction:
        """E to the power of ``epsilon``, exactly."""
        return max(profile.ratio for profile in self._different)

    @property
    def epsilon(self) -> float:
        """The logarithm of ``ratio``, rounded up."""
        exact = _DIGITS.ln(_DIGITS.divide(Decimal(self.ratio.numerator), Decimal(self.ratio.denominator)))
        near = float(exact)
        return near if Decimal(near) >= exact else nextafter(near, inf)

    @property
    def eta(self) -> Fraction:
        """The least share of reports that two values have in common, by their number: the paper's definition."""
        return min(profile.overlap for profile in self._different)

    @property
    def eta_mass(self) -> Fraction:
        """The least probability that a report of one value is one that the other can produce."""
        return min(profile.shared_mass for profile in self._different)

    @property
    def strong(self) -> bool:
        """Whether every two values share reports; else FLDP is weak, and some values are told apart with certainty."""
        return self.eta > 0

    @property
    def delta(self) -> Fraction:
        """The delta of (epsilon, delta)-LDP at the promised epsilon; at ``ratio`` where none is promised."""
        promised = getattr(self.notion, "epsilon", None)
        return self._excess(self.ratio if promised is None else exp_lower(promised))

    def delta_at(self, epsilon: float) -> Fraction:
        """Return the delta of (epsilon, delta)-LDP at any epsilon from 0 on.

        >>> import fldp
        >>> fldp.verify([["3/4", "1/4"], ["1/4", "3/4"]]).delta_at(0.0)
        Fraction(1, 2)
        """
        nothing = not isinstance(epsilon, bool) and epsilon == 0
        return self._excess(exp_lower(0.0 if nothing else bounded_epsilon("verify", epsilon)))

    @property
    def delta_curve(self) -> Curve:
        """The whole curve: corners ``(e^epsilon, delta)``, straight lines between them, level after the last."""
        return delta_curve(self._different)

    @property
    def anonymity_mean(self) -> Fraction:
        """The mean number of values that a report leaves possible, values being equally frequent."""
        shared = sum((share * weight for share, weight in self.overlaps.items()), Fraction(0))
        return 1 + (self.domain_size - 1) * shared

    def judge(self, notion: Notion) -> Judgement:
        """Tell whether the law keeps a promise, with a pair of values for which it does not."""
        if not isinstance(notion, Notion):
            raise fail("verify", "notion", "a notion such as LDP(1.0)", notion)
        notion.check_domain(self.domain_size)
        for pair, profile in self._pairs(notion):
            demand = notion.demand(*pair)
            reason = demand.refusal(profile) if demand else None
            if reason:
                return Judgement(notion, False, pair, reason)
        return Judgement(notion, True)

    def _pairs(self, notion: Notion) -> Iterator[tuple[Pair, Profile]]:
        """Yield all pairs; of a law in closed form, pairs of all kinds in each range that has one demand."""
        if self.oracle is None or len(self.profiles) == self.domain_size * (self.domain_size - 1):
            yield from self.profiles.items()
            return
        for start, stop in notion.ranges(self.domain_size):
            yield from _closed_form(self.oracle, start, stop).items()

    @property
    def judgement(self) -> Judgement:
        """Whether the law keeps what was promised: of an oracle, by its parameters."""
        if self.notion is None:
            raise ParameterError("verify: nothing is promised of this law; say what with notion=")
        return self.judge(self.notion)

    @property
    def holds(self) -> bool:
        """Whether it keeps the promise, and leaves as many values possible as the oracle says."""
        least = self.oracle.anonymity if self.oracle else 1
        return self.judgement.holds and self.anonymity >= least

    @cached_property
    def _different(self) -> set[Profile]:
        return set(self.profiles.values())

    def _excess(self, bound: Fraction) -> Fraction:
        return max(profile.excess(bound) for profile in self._different)


def verify(subject: Any, *, notion: Notion | None = None, domain_size: int | None = None) -> Verification:
    """Return what a law guarantees, with a witness: that of an oracle, of a table, or of a function.

    An oracle's law is the implemented one, with the integers that the code compares with. Public randomness is part of
    the report and is taken to be uniform over ``oracle.publics()``. A table has a row of probabilities for each value;
    a function ``law(value) -> {report: probability}`` needs ``domain_size``. Where a law is too large to enumerate and
    the oracle has it in closed form, a pair of values of every kind is looked at. An oracle over strings is verified
    among a few of them.

    >>> import fldp
    >>> found = verify(fldp.FHR(epsilon=1.0, domain_size=7))
    >>> found.epsilon, found.eta, found.delta, found.anonymity, found.holds
    (1.0, Fraction(1, 2), Fraction(1, 2), 4, True)
    >>> found = verify([["1/2", "1/2", 0], [0, "1/2", "1/2"]], notion=fldp.FLDP(1.0, 0.5))
    >>> found.eta, found.anonymity, found.anonymity_mean, found.holds
    (Fraction(1, 2), 1, Fraction(3, 2), True)
    """
    if notion is not None and not isinstance(notion, Notion):
        raise fail("verify", "notion", "a notion such as LDP(1.0)", notion)
    if isinstance(subject, StringOracle):
        subject = verifiable(subject)
    if isinstance(subject, FrequencyOracle):
        if subject.domain_size < 2:
            raise fail("verify", "the oracle", "of at least 2 values", subject)
        promised = notion or declared(subject)
        if not _is_exact(subject) and subject.profile() is not None:
            return _of_kinds(subject, promised)
        return _of_laws(subject, promised, laws_of(subject, domain_size))
    return _of_laws(None, notion, laws_of(subject, domain_size))


def _of_kinds(oracle: FrequencyOracle, notion: Notion) -> Verification:
    """Look at a pair of every kind."""
    profiles = _closed_form(oracle, 0, oracle.domain_size)
    worst = max(profiles, key=lambda pair: profiles[pair].ratio)
    witness = Witness(*worst, None, None, profiles[worst].ratio)
    overlaps = oracle.overlaps()
    assert overlaps is not None
    return Verification(oracle, oracle.domain_size, oracle.anonymity, witness, profiles, overlaps, notion)


def _closed_form(oracle: FrequencyOracle, start: int, stop: int) -> dict[Pair, Profile]:
    found = {pair: oracle.profile(*pair) for pair in permutations(oracle.sample_values(start, stop), 2)}
    return {pair: profile for pair, profile in found.items() if profile is not None}


def _of_laws(oracle: FrequencyOracle | None, notion: Notion | None, laws: Laws) -> Verification:
    counts, scale = _integers(laws)
    total = scale * len(laws.publics)
    left = Counter((k, report) for law in counts for k, part in enumerate(law) for report in part)
    pairs = permutations(range(len(counts)), 2)
    cache: dict[Any, Profile] = {}
    profiles = {pair: _profile(counts[pair[0]], counts[pair[1]], total, cache) for pair in pairs}
    worst = max(profiles, key=lambda pair: profiles[pair].ratio)
    witness = _witness(laws.publics, counts, *worst, profiles[worst].ratio)
    found = Counter(profile.shared_mass for profile in profiles.values())
    overlaps = {share: Fraction(count, len(profiles)) for share, count in found.items()}
    return Verification(oracle, len(counts), min(left.values()), witness, profiles, overlaps, notion)


def _integers(laws: Laws) -> tuple[list[list[dict[Any, int]]], int]:
    """Return the probabilities as numbers out of a common one: few are different, and integers are fast."""
    shares = {id(share): share for row in laws.rows for part in row for share in part.values()}
    scale = lcm(*(share.denominator for share in shares.values()))
    whole = {key: int(share * scale) for key, share in shares.items()}
    return [[{report: whole[id(share)] for report, share in part.items()} for part in row] for row in laws.rows], scale


def _profile(one: list[dict[Any, int]], two: list[dict[Any, int]], total: int, cache: dict[Any, Profile]) -> Profile:
    """Compare the reports of one value with those of another; equal comparisons give the same profile."""
    found: Counter[tuple[int, int]] = Counter()
    for mine, other in zip(one, two, strict=True):
        found.update((share, other.get(report, 0)) for report, share in mine.items())
    range_of_other = sum(map(len, two))
    key = frozenset(found.items()), range_of_other
    if key not in cache:
        bands = (
            Band(count, Fraction(count * share, total), Fraction(count * theirs, total))
            for (share, theirs), count in found.items()
        )
        cache[key] = Profile.of(bands, range_of_other)
    return cache[key]


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


def shrink(oracle: FrequencyOracle | StringOracle) -> FrequencyOracle:
    """Return the same oracle on a domain that is quickly enumerated, of at most eight values.

    >>> import fldp
    >>> shrink(fldp.FHR(epsilon=1.0, domain_size=1023))
    FHR(epsilon=1.0, domain_size=8)
    """
    for size in range(_FEW, 1, -1):
        try:
            made = oracle.resized(size)
        except ParameterError:
            continue
        if enumerable(made):
            return made
    raise ParameterError(f"{oracle.title}: no domain is small enough to enumerate the law of {oracle!r}")


def verifiable(oracle: Oracle) -> FrequencyOracle:
    """Return the oracle itself if it can be verified as it is, else the same one on a small domain.

    >>> import fldp
    >>> verifiable(fldp.FHR(epsilon=1.0, domain_size=1023)), verifiable(fldp.OLH(epsilon=1.0, domain_size=9999))
    (FHR(epsilon=1.0, domain_size=1023), OLH(epsilon=1.0, domain_size=8))
    """
    made = oracle.resized(_FEW) if isinstance(oracle, StringOracle) else listed("verify", oracle)
    return made if enumerable(made) or made.profile() is not None else shrink(made)


def _is_exact(oracle: FrequencyOracle) -> bool:
    """Tell whether enumerating an oracle's law is quick and leaves nothing out."""
    return enumerable(oracle) and oracle.publics_are_all


def enumerable(oracle: FrequencyOracle) -> bool:
    """Tell whether an oracle's law is quickly enumerated as it is.

    >>> import fldp
    >>> enumerable(fldp.OUE(epsilon=1.0, domain_size=8)), enumerable(fldp.OUE(epsilon=1.0, domain_size=800))
    (True, False)
    """
    return oracle.outcomes * oracle.domain_size * len(list(oracle.publics())) <= _QUICK
