"""What the tests of integrity found, as people and machines see it: a table, a conclusion, JSON."""

from typing import Any

from rich.table import Table

from fldp.privacy.integrity import Finding, Findings, Recovered
from fldp.wire import describe


def findings_table(found: Findings) -> Table:
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
        table.add_row(one.test, one.claim, one.worst, f"{one.p_value:.2g}", verdict, style="bold" if odd else None)
    return table


def conclusion(found: Findings) -> str:
    """Say in a sentence or two what was found.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
    >>> conclusion(fldp.integrity(oracle.privatize([0] * 500, rng=7)))
    'Nothing odd was found in 500 reports.'
    >>> conclusion(fldp.integrity(fldp.Tally(oracle, [500, 0, 0, 0, 0], 500)))
    'These 500 reports cannot all be honest: not every value is supported at least as often as by noise alone, ...'
    """
    if found.passed:
        return f"Nothing odd was found in {found.n:,} reports."
    worst = min(found.flagged, key=lambda one: one.p_value)
    return f"These {found.n:,} reports cannot all be honest: {_broken(worst)}. {_chance(found)}"


def _broken(worst: Finding) -> str:
    said = worst.claim
    for whole, broken in (("every ", "not every "), ("all ", "not all "), ("no ", "")):
        if said.startswith(whole):
            said = broken + said.removeprefix(whole)
            break
    else:
        said = f"not so that {said}"
    return f"{said} ({worst.worst})"


def _chance(found: Findings) -> str:
    often = "one in a million" if found.p_value < 1e-6 else f"{found.p_value:.1g}"
    least = "less than " if found.p_value < 1e-6 else "at most "
    return f"Among honest reports, whatever the data, chance does this in {least}{often} of all collections."


def notes(found: Findings) -> list[str]:
    """Return what has to be said below the table."""
    rate = f"Honest reports fail any of these tests with a probability of at most {found.false_alarm:g}."
    return [conclusion(found), rate, "Not visible here: " + "; ".join(found.blind) + "."]


def facts(found: Findings) -> dict[str, Any]:
    """Return all of it, as JSON has it."""
    return {
        "oracle": describe(found.oracle),
        "n": found.n,
        "source": found.source,
        "false_alarm": found.false_alarm,
        "passed": found.passed,
        "p_value": found.p_value,
        "conclusion": conclusion(found),
        "tests": [
            {
                "test": one.test,
                "claim": one.claim,
                "worst": one.worst,
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
