"""integrity: tests of properties that honest reports have, whatever the data."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from fldp.data.reports import Array, Reports, Tally
from fldp.errors import DomainError, MergeError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.leaks_and_parts import ReportPart
from fldp.oracles.base.oracle import Oracle
from fldp.privacy.honesty.binomial_tests import IntegrityFinding, judged
from fldp.privacy.honesty.pair_tests import judge_pairs
from fldp.privacy.honesty.sequential_tests import judged_anytime
from fldp.support.display import Displayed
from fldp.support.validation import fraction

FALSE_ALARM = 0.001


@dataclass(frozen=True)
class Findings(Displayed):
    """The results of all integrity tests.

    ``passed`` is false if the reports cannot all be honest: of honest collections, whatever the data, at most a share
    ``false_alarm`` is called dishonest. ``flagged`` are the tests that failed, ``blind`` is what no test here can see.
    Passing is no proof. ``anytime``: the rate holds for all looks together.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    >>> findings = fldp.integrity(fldp.Tally(oracle, [990, 10, 0, 0, 0], 1000))
    >>> findings.passed, [finding.test for finding in findings.flagged]
    (False, ['supports'])
    """

    oracle: Oracle
    n: int
    source: str
    findings: tuple[IntegrityFinding, ...]
    false_alarm: float
    anytime: bool = False

    @property
    def p_value(self) -> float:
        """Upper bound on how often honest reports look as odd as these in any test."""
        return min(1.0, max(1, len(self.findings)) * min((finding.p_value for finding in self.findings), default=1.0))

    @property
    def passed(self) -> bool:
        """Whether nothing was flagged."""
        return not self.flagged

    @property
    def flagged(self) -> tuple[IntegrityFinding, ...]:
        """The tests that honest reports would not fail, at the false-alarm rate."""
        return tuple(finding for finding in self.findings if finding.p_value * len(self.findings) <= self.false_alarm)

    @property
    def blind(self) -> tuple[str, ...]:
        """What these tests cannot see, in plain language."""
        return (*_BLIND, *analysis(self.oracle).blind(), *(() if self.source == "reports" else (_TALLY,)))

    def __repr__(self) -> str:
        odd = ", ".join(finding.test for finding in self.flagged)
        return f"<integrity of {self.n} reports of {self.oracle!r}: {f'flagged by {odd}' if odd else 'nothing odd'}>"


def integrity(
    source: Reports | Tally,
    *,
    tally: Tally | None = None,
    false_alarm: float = FALSE_ALARM,
    anytime: bool = False,
) -> Findings:
    """Test whether reports, or their tally, can be honest, whatever the data.

    Honest reports fail with probability at most ``false_alarm``, over all tests together (Bonferroni). ``tally``, if
    known, is the tally of the reports: for some oracles, counting is most of the work.

    The rate holds for one look. With ``anytime`` it holds for all looks together while reports come in; to see an
    excess then takes about twice the reports.

    >>> import fldp, numpy
    >>> oracle = fldp.OUE(epsilon=1.0, domain_size=20)
    >>> honest = oracle.privatize([3] * 2000, rng=7)
    >>> fldp.integrity(honest).passed
    True
    >>> fake = fldp.Reports(oracle, numpy.full((200, 3), [255, 0, 0], numpy.uint8))
    >>> findings = fldp.integrity(fldp.Reports.concatenate([honest, fake]))
    >>> [finding.test for finding in findings.flagged]
    ['supports', 'total', 'weights', 'pairs']
    """
    if not isinstance(source, Reports | Tally):
        raise DomainError(f"integrity: the source must be reports or a tally, got {type(source).__name__}")
    chance = fraction("integrity", "false_alarm", false_alarm)
    source = _as_sent(source)
    data = source.data if isinstance(source, Reports) else None
    whole = source if isinstance(source, Tally) else _whole(source, tally)
    if data is not None and (whole.oracle, whole.n) != (source.oracle, len(data)):
        raise MergeError(f"integrity: the tally must belong to the {len(data)} reports, got {whole!r}")
    findings = tuple(_tested(source.oracle, whole, data, anytime))
    return Findings(source.oracle, whole.n, "tally" if data is None else "reports", findings, chance, anytime)


def _whole(source: Reports, tally: Tally | None) -> Tally:
    """Return the tally of reports: as given, or counted."""
    if tally is None:
        return source.oracle.tally(source)
    if not isinstance(tally, Tally):
        raise DomainError(f"integrity: tally must be the tally of the reports, or None, got {type(tally).__name__}")
    return tally


def _as_sent(source: Reports | Tally) -> Reports | Tally:
    """Return the reports of an oracle among candidates as reports of its string oracle, which are the same."""
    sent = analysis(source.oracle).sent
    if sent is source.oracle:
        return source
    return Reports(sent, source.data) if isinstance(source, Reports) else Tally(sent, source.state, source.n)


def _tested(oracle: Oracle, tally: Tally, data: Array | None, anytime: bool) -> Iterator[IntegrityFinding]:
    if tally.n == 0:
        return
    about = analysis(oracle)
    claims = chain(about.honest_tally(tally), () if data is None else about.honest_reports(data))
    yield from (judged_anytime(claim, tally.n) if anytime else judged(claim) for claim in claims)
    yield from judge_pairs(oracle, tally, data, anytime=anytime)
    for part in about.parts(tally, data):
        yield from _within(part, anytime)


def _within(part: ReportPart, anytime: bool) -> Iterator[IntegrityFinding]:
    """Yield the findings of a part of the reports, about values of the whole if it has any."""
    for finding in _tested(part.tally.oracle, part.tally, part.data, anytime):
        values = () if part.start is None else tuple(part.start + value for value in finding.values)
        yield replace(finding, test=f"{finding.test}, {part.name}", values=values)


_BLIND = (
    "fake users who follow the rules with a value of their choice: their reports are honest ones",
    "fakes that are too few among so many reports",
)
_TALLY = "what only the reports themselves show: this is their tally"
