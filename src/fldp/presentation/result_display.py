"""Display of results in Python: the tables and sentences of the shell, as text and as HTML for notebooks.

HTML has no script, no style sheet and no colours of its own, so that it fits light and dark notebooks, and all of its
text is escaped: labels are whatever somebody wrote into a survey.
"""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from itertools import groupby
from typing import Any

from rich.table import Table

from fldp.data.comparison import Comparison
from fldp.data.estimate import Estimate
from fldp.data.number import Histogram, Number, Value
from fldp.data.reports import Tally
from fldp.estimation.number_planner import NumberPlan
from fldp.estimation.planner import Plan
from fldp.estimation.population import PopulationShares
from fldp.estimation.question_planner import QuestionPlan
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.sampled.associations import Associations
from fldp.oracles.sampled.cross import Cross
from fldp.oracles.sampled.ratios import Ratios
from fldp.oracles.sampled.tables import Tables
from fldp.presentation import (
    attack,
    audit,
    card,
    comparison,
    integrity,
    number,
    plan,
    population,
    questions,
    search,
    tables,
)
from fldp.presentation.plot import bars as bars
from fldp.privacy.attacker import Attack
from fldp.privacy.auditor import Audit
from fldp.privacy.bayes_attack import Averaging, Guess
from fldp.privacy.elimination_attack import Repeats
from fldp.privacy.honesty import Findings, Recovered
from fldp.privacy.privacy_card import Card
from fldp.privacy.verifier import Verification
from fldp.search.results import HeavyHitters
from fldp.support.canonical_json import Json
from fldp.survey.survey import Survey

LEVEL, TOP = 0.95, 20

Parts = list[object]  # tables, sentences, and named facts


def parts(result: object) -> Parts:
    """Return what to show of a thing, in its order: tables, sentences, named facts.

    >>> import fldp
    >>> parts(fldp.RR(epsilon=1.0))[0]["oracle"]
    {'name': 'rr', 'epsilon': 1.0}
    """
    known = next(cls for cls in type(result).__mro__ if cls in _PARTS)
    shown: Parts = _PARTS[known](result)
    return shown


def _estimate(estimate: Estimate) -> Parts:
    return [tables.estimate_table(estimate, LEVEL, TOP), *tables.estimate_notes(estimate)]


def _comparison(change: Comparison) -> Parts:
    facts = comparison.facts_of(change, LEVEL, TOP)
    return [comparison.table(facts), *comparison.notes(facts)]


def _plan(advice: Plan) -> Parts:
    return [plan.plan_table(advice), *plan.plan_notes(), *plan.skipped_notes(advice), advice.reason]


def _attack(results: Attack) -> Parts:
    return [attack.facts(results), "", attack.averaging_table(results), attack.SIMULATED, attack.ADVICE]


_PARTS: dict[type, Callable[[Any], Parts]] = {
    Associations: lambda associations: [questions.associations_table(associations)],
    Audit: lambda verdict: [audit.audit_table(verdict), *audit.notes(verdict)],
    Attack: _attack,
    Averaging: attack.averaging_parts,
    Comparison: _comparison,
    Cross: lambda cross: questions.cross_parts(cross, LEVEL),
    Estimate: _estimate,
    Findings: lambda findings: [integrity.findings_table(findings), *integrity.notes(findings)],
    Histogram: lambda histogram: [number.histogram_table(histogram, LEVEL)],
    Guess: lambda guess: [attack.guess_facts(guess)],
    HeavyHitters: lambda hitters: [search.table(hitters, LEVEL), *search.notes(hitters, LEVEL)],
    Number: lambda shown: number.number_parts(shown, LEVEL),
    NumberPlan: lambda advice: [number.plan_table(advice), *number.PLAN_NOTES, number.plan_sentence(advice)],
    Oracle: lambda oracle: [tables.oracle_facts(oracle)],
    Plan: _plan,
    PopulationShares: lambda shares: [population.table(shares, LEVEL, TOP), *population.notes(shares)],
    QuestionPlan: questions.plan_parts,
    Ratios: lambda ratios: [questions.ratios_table(ratios)],
    Recovered: lambda estimate: [*_estimate(estimate), *integrity.recovery_notes(estimate)],
    Repeats: lambda repeats: [attack.repeats_facts(repeats)],
    Survey: lambda survey: [tables.survey_facts(survey)],
    Tables: lambda tables: questions.parts(tables, LEVEL, TOP),
    Tally: lambda tally: [tables.tally_facts(tally)],
    Value: lambda value: [number.value_text(value)],
    Verification: lambda verified: [tables.verification_facts(verified, verified.oracle, exactly=False)],
}


def text(result: object) -> str:
    """Return what the shell prints of a thing."""
    return card_text(result).rstrip("\n") if isinstance(result, Card) else tables.rendered(*parts(result))


def html(result: object) -> str:
    """Return the same as HTML, for a cell of a notebook.

    >>> import fldp
    >>> html(fldp.RR(epsilon=1.0)).splitlines()[3]
    '<tr><th scope="row" style="text-align:left">eta</th><td style="text-align:left">1</td></tr>'
    """
    if isinstance(result, Card):
        return card.as_fragment(result)
    blocks = groupby((part for part in parts(result) if part != ""), key=lambda part: isinstance(part, str))
    shown = (_sentences(block) if are_text else "\n".join(map(_html_of, block)) for are_text, block in blocks)
    return '<div style="overflow-x:auto">\n' + "\n".join(shown) + "\n</div>"


def card_text(card_shown: Card, width: int = 88) -> str:
    """Return a card in words."""
    return card.as_text(card_shown, width)


def card_page(card_shown: Card) -> str:
    """Return a card as a page."""
    return card.as_html(card_shown)


def _sentences(texts: Iterable[object]) -> str:
    return "<p>" + "<br>\n".join(map(_safe, texts)) + "</p>"


def _html_of(part: object) -> str:
    if isinstance(part, Table):
        return _table(part)
    assert isinstance(part, dict), "what is shown is a table, a text or facts"
    return _facts(part)


def _table(table: Table) -> str:
    sides = [_side(column.justify) for column in table.columns]
    titles = [
        f'<th scope="col"{side}>{_safe(column.header)}</th>' for column, side in zip(table.columns, sides, strict=True)
    ]
    lines = ["<table>", f'<caption style="text-align:left">{_safe(table.title or "")}</caption>']
    lines += ["<thead><tr>", *titles, "</tr></thead>", "<tbody>"]
    for row, *cells in zip(table.rows, *(column.cells for column in table.columns), strict=True):
        bold = ' style="font-weight:bold"' if row.style == "bold" else ""
        shown = (f"<td{side}>{_safe(cell)}</td>" for cell, side in zip(cells, sides, strict=True))
        lines.append(f"<tr{bold}>{''.join(shown)}</tr>")
    return "\n".join([*lines, "</tbody></table>"])


def _facts(facts: Mapping[str, Json]) -> str:
    side = _side("left")
    rows = (
        f'<tr><th scope="row"{side}>{_safe(name)}</th><td{side}>{_safe(tables.fact_text(value))}</td></tr>'
        for name, value in facts.items()
    )
    return "\n".join(["<table>", *rows, "</table>"])


def _side(justify: str) -> str:
    return ' style="text-align:right;white-space:nowrap"' if justify == "right" else ' style="text-align:left"'


def _safe(cell: object) -> str:
    """Escape a text; line breaks of headings become blanks."""
    return escape(tables.visible(str(cell).replace("\n", " ")))
