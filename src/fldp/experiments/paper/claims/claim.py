"""Claim: something the paper says, where it says it, and the function that finds out whether it is so."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from fldp.errors import ParameterError
from fldp.experiments.paper.evidence import Evidence
from fldp.support.validation import fail


class Outcome(StrEnum):
    """How a claim came out."""

    HOLDS = "holds"
    CORRECTED = "holds with a correction"
    FAILS = "does not hold"
    OPEN = "not decided in this run"


@dataclass(frozen=True)
class ClaimFinding:
    """What a judge returns: the outcome, the number of the run that decides it, and how it was found, in words."""

    outcome: Outcome
    number: str
    evidence: str


@dataclass(frozen=True)
class Verdict:
    """A claim as it came out."""

    name: str
    claim: str
    where: str
    outcome: Outcome
    number: str
    evidence: str
    figure: str | None


@dataclass(frozen=True)
class Claim:
    """A claim, as data; ``judge`` is a function of the evidence alone."""

    name: str
    part: str
    says: str
    where: str
    figure: str | None
    judge: Callable[[Evidence], ClaimFinding]

    def verdict(self, evidence: Evidence) -> Verdict:
        """Find out how the claim comes out."""
        finding = self.judge(evidence)
        if not any(letter.isdigit() for letter in finding.number):
            raise fail(f"claim {self.name}", "what decides it", "a number", finding.number)
        return Verdict(self.name, self.says, self.where, finding.outcome, finding.number, finding.evidence, self.figure)


CLAIMS: dict[str, Claim] = {}
Judge = Callable[[Evidence], ClaimFinding]


def claim(name: str, part: str, says: str, where: str, figure: str | None = None) -> Callable[[Judge], Judge]:
    """Make a function known as the judge of a claim.

    ``part`` is the part of the document, ``where`` the place in the paper, ``figure`` the name of ours that shows it.
    """

    def register(judge: Judge) -> Judge:
        if name in CLAIMS:
            raise ParameterError(f"claim: the name {name!r} is taken; choose another")
        CLAIMS[name] = Claim(name, part, says, where, figure, judge)
        return judge

    return register


def settle(as_stated: bool, corrected: bool, number: str, evidence: str) -> ClaimFinding:
    """Return the outcome of a claim that is right as it stands, or once corrected, or not at all.

    >>> settle(False, True, "1.86, not 1", "Taken literally, it is 1.86.").outcome
    <Outcome.CORRECTED: 'holds with a correction'>
    """
    outcome = Outcome.HOLDS if as_stated else Outcome.CORRECTED if corrected else Outcome.FAILS
    return ClaimFinding(outcome, number, evidence)


def refute(as_stated: bool, mended: bool, number: str, evidence: str) -> ClaimFinding:
    """Return the outcome of a claim whose plain meaning is what counts: a correction that exists is only named.

    >>> refute(False, True, "3.68, above 2.34", "It is 3.68.")
    ClaimFinding(outcome=<Outcome.FAILS: 'does not hold'>, number=..., evidence='It is 3.68. A correction exists.')
    """
    more = " A correction exists." if mended and not as_stated else ""
    return ClaimFinding(Outcome.HOLDS if as_stated else Outcome.FAILS, number, evidence + more)


def undecided(missing: str) -> ClaimFinding:
    """Return that a run was too small to decide a claim.

    >>> undecided("epsilons below 1.76").number
    '0 epsilons below 1.76'
    """
    return ClaimFinding(Outcome.OPEN, f"0 {missing}", f"There are 0 {missing} in this run.")


def short(number: float) -> str:
    """Return a number with three digits, as people write it.

    >>> short(2.3413), short(593358), short(0.0000012)
    ('2.34', '593,358', '1.2e-06')
    """
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
