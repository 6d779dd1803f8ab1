"""Results of an audit: a table, a conclusion, JSON."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from rich.table import Table

from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.exposure import exposure
from fldp.presentation.tables import visible
from fldp.privacy.auditor import Audit, Finding
from fldp.support.canonical_json import Json
from fldp.wire.description import describe

Label = Callable[[Any], str]


def audit_table(audit: Audit, label: Label = str) -> Table:
    """Return a table of the worst event of each family, and whether it violates the claim."""
    half = f"{audit.samples // 2:,}"
    title = (
        f"The worst event S of each family, tested on the half of the reports that it was not chosen on: {half} a value"
    )
    table = Table(title=title, title_justify="left")
    table.add_column("family")
    table.add_column("values t, t'")
    table.add_column("event S", overflow="fold")
    for heading in ("P(S|t)", "P(S|t')", "tested,\nat least", "allowed"):
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    for finding in audit.findings:
        table.add_row(
            finding.family,
            visible(_values(finding, label)),
            visible(finding.event),
            f"{finding.hits / finding.trials:.4f}",
            f"{finding.other_hits / finding.other_trials:.4f}",
            f"{finding.excess + _allowed(audit, finding):.4f}",
            f"{_allowed(audit, finding):g}",
            "VIOLATED" if finding.violated else "ok",
            style="bold" if finding.violated else None,
        )
    return table


def notes(audit: Audit, days: int | None = None) -> list[str]:
    """Return the notes below the table: what was tested, the conclusion, and its limits."""
    whole = [] if days is None else [_HISTORIES.format(days=days, epsilon=audit.claim.epsilon)]
    tested = f"P(S|t) - e^{audit.claim.epsilon:g} P(S|t'), at confidence {audit.confidence:g} for all rows at once"
    return [*whole, f"Tested is {tested}. {_PAIRS}", conclusion(audit), *([_WORTH] if audit.holds else [])]


_HISTORIES = (
    "A report here is all reports of one person on {days} days, whose value stays; together they claim epsilon "
    "{epsilon:g}. The claim does not cover changes of the value."
)
_PAIRS = "The last row compares how often pairs of reports of one value agree with how often random pairs do."
_WORTH = (
    "That is no proof. An audit sees the events it tests, the values it compares, and what this many reports show; "
    "fldp verify proves what the law of an oracle keeps."
)


def conclusion(audit: Audit) -> str:
    """Return the conclusion in a sentence.

    >>> import fldp
    >>> conclusion(fldp.audit(lambda values: values, epsilon=1.0, domain_size=2, samples=400))
    'VIOLATION: this is not (epsilon 1, eta 1)-FLDP, which is plain LDP. At this eta, epsilon is at least 3.3.'
    """
    broken = {finding.family for finding in audit.violations}
    claim = f"(epsilon {audit.claim.epsilon:g}, eta {audit.claim.eta:g})-FLDP"
    if audit.claim.eta == 1:
        claim += ", which is plain LDP"
    shown = f" At this eta, epsilon is at least {audit.epsilon_lower_bound:.2g}." if audit.epsilon_lower_bound else ""
    if not broken:
        return f"No violation found in {audit.samples * len(audit.values):,} reports: they fit {claim}.{shown}"
    if broken == {"independence"}:
        return f"VIOLATION: reports of different people are not independent.{shown}"
    both = " Besides, reports of different people are not independent." if "independence" in broken else ""
    return f"VIOLATION: this is not {claim}.{shown}{both}"


def given_away(audit: Audit, oracle: FrequencyOracle) -> str:
    """Say what a report gives away: of what violates its declaration, only what was seen of it.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=2)
    >>> given_away(fldp.audit(oracle, samples=400, rng=7), oracle)
    'As declared: No report rules out any value for certain.'
    """
    if audit.holds:
        return f"As declared: {exposure(oracle)}"
    return "What else its reports give away was not seen: what is declared says nothing about what violates it."


def as_json(
    audit: Audit,
    label: Label = str,
    oracle: FrequencyOracle | None = None,
    command: str | None = None,
    days: int | None = None,
) -> str:
    """Return an audit as JSON; ``days`` is there where whole histories were audited."""
    return json.dumps(
        {
            "oracle": describe(oracle) if oracle else None,
            "command": command,
            **({} if days is None else {"days": days}),
            "epsilon": audit.claim.epsilon,
            "eta": audit.claim.eta,
            "confidence": audit.confidence,
            "samples": audit.samples,
            "values": [label(value) for value in audit.values],
            "holds": audit.holds,
            "epsilon_lower_bound": audit.epsilon_lower_bound,
            "conclusion": conclusion(audit),
            "findings": [_facts(audit, finding, label) for finding in audit.findings],
        },
        ensure_ascii=False,
        indent=1,
    )


def _facts(audit: Audit, finding: Finding, label: Label) -> dict[str, Json]:
    facts = dataclasses.asdict(finding)
    named = {"value": label(finding.value), "other": label(finding.other)}
    return facts | named | {"allowed": _allowed(audit, finding), "violated": finding.violated}


def _values(finding: Finding, label: Label) -> str:
    first = label(finding.value)
    return f"{first}, pairs" if finding.family == "independence" else f"{first}, {label(finding.other)}"


def _allowed(audit: Audit, finding: Finding) -> float:
    return 0.0 if finding.family == "independence" else audit.claim.slack
