"""Results of integrity tests: a table, a conclusion, JSON."""

import json
from collections.abc import Callable

from rich.table import Table

from fldp.presentation import tables
from fldp.privacy.honesty import Findings, IntegrityFinding, Recovered
from fldp.support.canonical_json import Json
from fldp.support.validation import counted
from fldp.wire.description import describe

Label = Callable[[int], str]


def findings_table(result: Findings, label: Label = str) -> Table:
    """Return a table with a row for each test and the worst observation."""
    table = Table(
        title=f"Tests for patterns that honest reports cannot produce, on {counted(result.n, 'report')}",
        title_justify="left",
    )
    table.add_column("test")
    table.add_column("in honest reports", overflow="fold")
    table.add_column("the worst here", overflow="fold")
    table.add_column("p-value", justify="right")
    table.add_column("verdict")
    for finding in result.findings:
        odd = finding in result.flagged
        verdict = "NOT HONEST" if odd else "ok"
        table.add_row(
            finding.test,
            finding.claim,
            tables.visible(seen(finding, label)),
            f"{finding.p_value:.2g}",
            verdict,
            style="bold" if odd else None,
        )
    return table


def conclusion(result: Findings, label: Label = str) -> str:
    """Return the conclusion in a few sentences.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    >>> conclusion(fldp.integrity(oracle.privatize([0] * 500, rng=7)))
    'Nothing odd was found in 500 reports.'
    >>> conclusion(fldp.integrity(fldp.Tally(oracle, [500, 0, 0, 0, 0], 500)), "abcde".__getitem__)
    'These 500 reports cannot all be honest. In honest ones every value is supported at least as often as by noise ...'
    """
    if result.passed:
        return f"Nothing odd was found in {counted(result.n, 'report')}."
    worst = min(result.flagged, key=lambda finding: finding.p_value)
    least = "less than one in a million" if result.p_value < 1e-6 else f"at most {result.p_value:.1g} of all"
    return (
        f"These {result.n:,} reports cannot all be honest. In honest ones {worst.claim}; here: {seen(worst, label)}. "
        f"Chance alone does that to {least} honest surveys, whatever the answers."
    )


def seen(finding: IntegrityFinding, label: Label = str) -> str:
    """Return the worst observation of a test, with the labels of its values.

    >>> seen(IntegrityFinding("pairs", "", "values 0 and 2: 9 more than by chance", 0.1, (0, 2)), "abc".__getitem__)
    'values 0 and 2: 9 more than by chance (a and c)'
    >>> seen(IntegrityFinding("supports", "", "value 0: 9 of 10", 0.1, (0,)), "{}".format)  # no labels: numbers
    'value 0: 9 of 10'
    """
    labels = [label(value) for value in finding.values]
    named = labels != [str(value) for value in finding.values]  # a number needs no other name
    return finding.worst + (f" ({' and '.join(labels)})" if named else "")


WITHDRAWN = "Where reports were taken back, it holds only if that did not depend on what they said."


def notes(result: Findings, label: Label = str) -> list[str]:
    """Return the notes below the table."""
    looks = ", however often they are looked at while more come in" if result.anytime else ""
    rate = f"Honest reports fail any of these tests with a probability of at most {result.false_alarm:g}{looks}."
    return [
        conclusion(result, label),
        rate,
        *([WITHDRAWN] if result.anytime else []),
        "Not visible here: " + "; ".join(result.blind) + ".",
    ]


def facts(result: Findings, label: Label = str) -> dict[str, Json]:
    """Return the results for JSON."""
    return {
        "oracle": describe(result.oracle),
        "n": result.n,
        "source": result.source,
        "false_alarm": result.false_alarm,
        **({"anytime": True} if result.anytime else {}),
        "passed": result.passed,
        "p_value": result.p_value,
        "conclusion": conclusion(result, label),
        "tests": [
            {
                "test": finding.test,
                "claim": finding.claim,
                "worst": seen(finding, label),
                "p_value": finding.p_value,
                "flagged": finding in result.flagged,
            }
            for finding in result.findings
        ],
        "blind": list(result.blind),
    }


def recovery_notes(recovered: Recovered) -> list[str]:
    """Return the notes below the recovered estimates."""
    if not recovered.targets:
        return ["No set of values shows that fakes support together: nothing was taken off."]
    named = recovered.labels or range(len(recovered.counts))
    targets = ", ".join(str(named[target]) for target in recovered.targets)
    return [
        f"Without about {recovered.fakes:,.0f} (standard error {recovered.fakes_stderr:,.0f}) fakes, for: {targets}.",
        f"It is assumed {recovered.assumption}. If that is wrong, so are these estimates.",
    ]


def recovery_facts(recovered: Recovered) -> dict[str, Json]:
    """Return the recovered estimates and their assumption for JSON."""
    named = recovered.labels or range(len(recovered.counts))
    return {
        "assumption": recovered.assumption,
        "targets": [str(named[target]) for target in recovered.targets],
        "fakes": recovered.fakes,
        "fakes_stderr": recovered.fakes_stderr,
        **json.loads(tables.as_json(recovered, 0.95, None)),
    }
