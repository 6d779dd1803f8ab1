"""verify: the exact privacy guarantees of a law, by enumeration in rational arithmetic."""

from fractions import Fraction
from itertools import permutations
from math import lcm
from typing import Any

from fldp.errors import ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle, as_oracle
from fldp.oracles.base.profile import Profile
from fldp.oracles.base.string_oracle import listed
from fldp.privacy.laws import Laws, laws_of
from fldp.privacy.notions import declared
from fldp.privacy.notions.base import Notion, Pair
from fldp.privacy.pair_profiles import pair_profiles
from fldp.privacy.verification import Judgement, Left, Report, Verification, Witness
from fldp.support.validation import fail

__all__ = ["Judgement", "Verification", "Witness", "enumerable", "shrink", "verifiable", "verify"]

_QUICK = 1 << 17  # probabilities that are quick to list
_QUICK_PAIRS = 1 << 20  # and to compare with the probabilities of all other values
_MANY_PAIRS = 1 << 26  # to compare where there is no closed form: about a second
_FEW = 8


def verify(subject: object, *, notion: Notion | None = None, domain_size: int | None = None) -> Verification:
    """Return what the law of an oracle, a table or a function guarantees, with a witness.

    An oracle's law is the implemented one, by the integer thresholds of the code. Public randomness is part of the
    report, and as likely as the ``public_shares`` of its analysis say. A table has a row of probabilities for each
    value; a function ``law(value) -> {report: probability}`` needs ``domain_size``. If a law is too large to enumerate
    and the oracle has closed forms, a pair of values of every kind is checked. One over strings is verified among a
    few, one over records among a few that differ in all answers, in all but one, and in one.

    >>> import fldp
    >>> verified = verify(fldp.FHR(epsilon=1.0, domain_size=7))
    >>> verified.epsilon, verified.eta, verified.delta, verified.anonymity, verified.holds
    (1.0, Fraction(1, 2), Fraction(1, 2), 4, True)
    >>> verified = verify([["1/2", "1/2", 0], [0, "1/2", "1/2"]], notion=fldp.FLDP(1.0, 0.5))
    >>> verified.eta, verified.anonymity, verified.anonymity_mean, verified.holds
    (Fraction(1, 2), 1, Fraction(3, 2), True)
    """
    if notion is not None and not isinstance(notion, Notion):
        raise fail("verify", "notion", "a notion such as LDP(1.0)", notion)
    asked = as_oracle(subject)
    if asked is None:
        return _of_laws(None, notion, laws_of(subject, domain_size))
    oracle = _among_few(asked)
    if oracle.domain_size < 2:
        raise fail("verify", "the oracle", "of at least 2 values", oracle)
    promised = notion or declared(oracle)
    if not _is_exact(oracle) and analysis(oracle).profile() is not None:
        return _of_kinds(oracle, promised)
    return _of_laws(oracle, promised, laws_of(oracle, domain_size))


def _of_kinds(oracle: FrequencyOracle, notion: Notion) -> Verification:
    """Verify by closed forms, on a pair of every kind."""
    profiles = _closed_form(oracle, 0, oracle.domain_size)
    worst = max(profiles, key=lambda pair: profiles[pair].ratio)
    witness = Witness(*worst, None, None, profiles[worst].ratio)
    overlaps = analysis(oracle).overlaps()
    assert overlaps is not None
    leaves = analysis(oracle).leaves()
    left = None if leaves is None else [(values, None) for values in leaves]
    return Verification(oracle, oracle.domain_size, oracle.anonymity, witness, profiles, overlaps, notion, left)


def _closed_form(oracle: FrequencyOracle, start: int, stop: int) -> dict[Pair, Profile]:
    about = analysis(oracle)
    profiles = {pair: about.profile(*pair) for pair in permutations(about.sample_values(start, stop), 2)}
    return {pair: profile for pair, profile in profiles.items() if profile is not None}


def _of_laws(oracle: FrequencyOracle | None, notion: Notion | None, laws: Laws) -> Verification:
    counts, total = _integers(laws)
    left = _left(laws.publics, counts)
    profiles = pair_profiles(counts, total)
    largest = max(profile.ratio for profile in profiles.different)
    worst = next(pair for pair in profiles.first if profiles[pair].ratio == largest)
    witness = _witness(laws.publics, counts, *worst, largest)
    overlaps: dict[Fraction, Fraction] = {}
    for profile, pairs in zip(profiles.different, profiles.counts, strict=True):
        share = Fraction(pairs, len(profiles))
        overlaps[profile.shared_mass] = overlaps.get(profile.shared_mass, Fraction(0)) + share
    anonymity = min(len(values) for values, _ in left)
    return Verification(oracle, len(counts), anonymity, witness, profiles, overlaps, notion, left)


def _left(publics: list[Any], counts: list[list[dict[Any, int]]]) -> Left:
    """Return the sets of values that reports leave possible, each with such a report."""
    masks: dict[tuple[int, Any], int] = {}
    for value, law in enumerate(counts):
        for k, part in enumerate(law):
            for report in part:
                masks[k, report] = masks.get((k, report), 0) | 1 << value
    first: dict[int, Report] = {}
    for (k, report), mask in masks.items():
        first.setdefault(mask, (publics[k], report))
    return [(frozenset(v for v in range(len(counts)) if mask >> v & 1), report) for mask, report in first.items()]


def _integers(laws: Laws) -> tuple[list[list[dict[Any, int]]], int]:
    """Return the probabilities over a common denominator, and that: integers are much faster than fractions.

    The probability of a report with public randomness is the probability of both together.
    """
    # By identity: millions of entries share a few fraction objects, so each is converted once.
    shares = {id(share): share for row in laws.rows for part in row for share in part.values()}
    scale, parts = lcm(*(share.denominator for share in shares.values())), _whole_shares(laws)
    whole = {key: int(share * scale) for key, share in shares.items()}
    counts = [
        [
            {report: whole[id(share)] * weight for report, share in part.items()}
            for weight, part in zip(parts, row, strict=True)
        ]
        for row in laws.rows
    ]
    return counts, scale * sum(parts)


def _whole_shares(laws: Laws) -> list[int]:
    """Return how likely each draw of the public randomness is, as whole numbers."""
    scale = lcm(*(share.denominator for share in laws.shares))
    whole = [int(share * scale) for share in laws.shares]
    return [1] * len(whole) if len(set(whole)) == 1 else whole


def _witness(
    publics: list[Any], counts: list[list[dict[Any, int]]], value: int, other: int, ratio: Fraction
) -> Witness:
    """Find a report that attains the ratio; if the ratio is 1, one that only the first value can produce."""
    for k, public in enumerate(publics):
        for report, share in counts[value][k].items():
            other_share = counts[other][k].get(report, 0)
            if other_share and ratio > 1 and share == ratio * other_share:
                return Witness(value, other, report, public, ratio)
            if ratio == 1 and not other_share:
                return Witness(value, other, report, public, None)
    return Witness(value, other, None, None, ratio)


def shrink(oracle: Oracle) -> FrequencyOracle:
    """Return the same oracle on a domain of at most eight values that is quick to enumerate.

    >>> import fldp
    >>> shrink(fldp.FHR(epsilon=1.0, domain_size=1023))
    FHR(epsilon=1.0, domain_size=8)
    """
    for size in range(_FEW, 1, -1):
        try:
            small = analysis(oracle).resized(size)
        except ParameterError:
            continue
        if enumerable(small):
            return small
    raise ParameterError(f"{oracle.title}: no domain is small enough to enumerate the law of {oracle!r}")


def verifiable(oracle: Oracle) -> FrequencyOracle:
    """Return the oracle itself if it can be verified at its size, else the same one on a small domain.

    >>> import fldp
    >>> verifiable(fldp.FHR(epsilon=1.0, domain_size=1023)), verifiable(fldp.OLH(epsilon=1.0, domain_size=9999))
    (FHR(epsilon=1.0, domain_size=1023), OLH(epsilon=1.0, domain_size=8))
    """
    known = _among_few(oracle)
    if analysis(known).profile() is not None or _compared(known) <= _MANY_PAIRS:
        return known
    return shrink(known)


def _among_few(oracle: Oracle) -> FrequencyOracle:
    """Return an oracle over strings among a few of them, and any other as it is."""
    about = analysis(oracle)
    return about.resized(_FEW) if about.domain_size is None else listed("verify", oracle)


def _is_exact(oracle: FrequencyOracle) -> bool:
    """Whether comparing an oracle's laws is quick and complete."""
    return _compared(oracle) <= _QUICK_PAIRS and analysis(oracle).publics_are_all


def _compared(oracle: FrequencyOracle) -> int:
    """Return how many probabilities are compared if the law of each value is, with all others."""
    return _probabilities(oracle) * oracle.domain_size


def enumerable(oracle: FrequencyOracle) -> bool:
    """Return whether an oracle's law is quick to enumerate at its size.

    >>> import fldp
    >>> enumerable(fldp.OUE(epsilon=1.0, domain_size=8)), enumerable(fldp.OUE(epsilon=1.0, domain_size=800))
    (True, False)
    """
    return _probabilities(oracle) <= _QUICK


def _probabilities(oracle: FrequencyOracle) -> int:
    """Return how many probabilities the law of an oracle has, of all values together."""
    about = analysis(oracle)
    return about.outcomes * oracle.domain_size * len(list(about.publics()))
