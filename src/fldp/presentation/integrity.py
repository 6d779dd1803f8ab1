"""What the tests of integrity found, as people and machines see it: a table, a conclusion, JSON."""

import json
from collections.abc import Callable
from typing import Any

from rich.table import Table

from fldp.presentation import tables
from fldp.privacy.honesty import Findings, IntegrityFinding, Recovered
from fldp.wire.description import describe

Label = Callable[[int], str]


def findings_table(found: Findings, label: Label = str) -> Table:
    """Return a row for every test, with the worst that it saw."""
    table = Table(title=f"What honest reports do whatever the data, in {found.n:,} reports", title_justify="left")
    table.add_column("test")
    table.add_column("in honest reports", overflow="fold")
    table.add_column("the worst here", overflow="fold")
    table.add_column("p-value", justify="right")
    table.add_column("verdict")
    for one in found.findings:
        odd = one in found.flagged
        verdict = "NOT HONEST" if odd else "ok"
        table.add_row(
            one.test, one.claim, seen(one, label), f"{one.p_value:.2g}", verdict, style="bold" if odd else None
        )
    return table


def conclusion(found: Findings, label: Label = str) -> str:
    """Say in a few sentences what was found.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    >>> conclusion(fldp.integrity(oracle.privatize([0] * 500, rng=7)))
    'Nothing odd was found in 500 reports.'
    >>> conclusion(fldp.integrity(fldp.Tally(oracle, [500, 0, 0, 0, 0], 500)), "abcde".__getitem__)
    'These 500 reports cannot all be honest. In honest ones every value is supported at least as often as by noise ...'
    """
    if found.passed:
        return f"Nothing odd was found in {found.n:,} reports."
    worst = min(found.flagged, key=lambda one: one.p_value)
    least = "less than one in a million" if found.p_value < 1e-6 else f"at most {found.p_value:.1g} of all"
    return (
        f"These {found.n:,} reports cannot all be honest. In honest ones {worst.claim}; here: {seen(worst, label)}. "
        f"Chance alone does that to {least} honest surveys, whatever the answers."
    )


def seen(one: IntegrityFinding, label: Label = str) -> str:
    """Return the worst that a test saw, with the labels of the values that it is about.

    >>> seen(IntegrityFinding("pairs", "", "values 0 and 2: 9 more than by chance", 0.1, (0, 2)), "abc".__getitem__)
    'values 0 and 2: 9 more than by chance (a and c)'
    """
    return one.worst + (f" ({' and '.join(map(label, one.values))})" if one.values and label is not str else "")


def notes(found: Findings, label: Label = str) -> list[str]:
    """Return what has to be said below the table."""
    rate = f"Honest reports fail any of these tests with a probability of at most {found.false_alarm:g}."
    return [conclusion(found, label), rate, "Not visible here: " + "; ".join(found.blind) + "."]


def facts(found: Findings, label: Label = str) -> dict[str, Any]:
    """Return all of it, as JSON has it."""
    return {
        "oracle": describe(found.oracle),
        "n": found.n,
        "source": found.source,
        "false_alarm": found.false_alarm,
        "passed": found.passed,
        "p_value": found.p_value,
        "conclusion": conclusion(found, label),
        "tests": [
            {
                "test": one.test,
                "claim": one.claim,
                "worst": seen(one, label),
                "p_value": one.p_value,
                "flagged": one in found.flagged,
            }
            for one in found.findings
        ],
        "blind": list(found.blind),
    }


def recovery_notes(made: Recovered) -> list[str]:
    """Return what has to be said of estimates without the fakes."""
    if not made.targets:
        return ["No set of values shows that fakes support together: nothing was taken off."]
    named = made.labels or range(len(made.counts))
    targets = ", ".join(str(named[target]) for target in made.targets)
    return [
        f"Without about {made.fakes:,.0f} (standard error {made.fakes_stderr:,.0f}) fakes, for: {targets}.",
        f"It is assumed {made.assumption}. If that is wrong, so are these estimates.",
    ]


def recovery_facts(made: Recovered) -> dict[str, Any]:
    """Return them as JSON has them, with what was assumed."""
    named = made.labels or range(len(made.counts))
    return {
        "assumption": made.assumption,
        "targets": [str(named[target]) for target in made.targets],
        "fakes": made.fakes,
        "fakes_stderr": made.fakes_stderr,
        **json.loads(tables.as_json(made, 0.95, None)),
    }
