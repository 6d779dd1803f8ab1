"""Results of a search for heavy hitters: a table, JSON, CSV."""

import json
from collections.abc import Iterator
from dataclasses import replace

from rich.console import RenderableType
from rich.table import Table

from fldp.data.reports import Tally
from fldp.presentation.tables import csv_text, visible
from fldp.search.results import COLUMNS, HeavyHitters
from fldp.search.rounds import Round
from fldp.support.validation import counted
from fldp.wire.description import describe


def progress(question: Round, tally: Tally, level: float, top: int | None = None) -> Iterator[RenderableType]:
    """Yield what to show of a round: the results of the last one, the progress of any other."""
    if not question.is_last:
        search, size = question.search, len(question.prefixes)
        reports = counted(tally.n, "report")
        yield f"Round {question.number} of at most {search.rounds + 1}: {reports} of {search.quota:,}."
        yield f"Prefixes that go on: {size:,}, by {question.step} bits. Whole strings so far: {len(question.found):,}."
        return
    hitters = question.next_round(tally)
    assert isinstance(hitters, HeavyHitters)
    shown = hitters if top is None else replace(hitters, k=top)
    yield table(shown, level)
    yield from notes(shown, level)


def table(hitters: HeavyHitters, level: float) -> Table:
    """Return the strings with the largest estimates as a table: those that are certain, a line, and the others."""
    shown = hitters.top(level=level)
    certain = [hitter for hitter in shown if hitter.certain]
    result = Table(title=_title(len(certain), len(shown) - len(certain)), title_justify="left")
    result.add_column("string")
    for heading in ("estimate", "share", "std. error", f"{100 * level:.4g} % interval, all at once", "certain"):
        result.add_column(heading, justify="right")
    for hitter in [*certain, *(hitter for hitter in shown if not hitter.certain)]:
        low, high = hitter.interval
        result.add_row(
            visible(hitter.text),
            f"{hitter.share * hitters.population:,.0f}",
            f"{hitter.share:.3%}",
            f"{hitter.stderr:.3%}",
            f"{low:.3%} .. {high:.3%}",
            "yes" if hitter.certain else "no",
            style=None if hitter.certain else "dim",
            end_section=bool(certain) and hitter is certain[-1],
        )
    return result


def _title(certain: int, others: int) -> str:
    """Return the title of a table of strings.

    >>> _title(1, 0), _title(0, 2)
    ('1 string that people hold', 'No string stands out; 2 that may be noise')
    >>> _title(14, 6)
    '14 strings that people hold; below the line, 6 that may be noise'
    """
    if not certain:
        return f"No string stands out; {others:,} that may be noise"
    held = f"{certain:,} string{'' if certain == 1 else 's'} that people hold"
    return f"{held}; below the line, {others:,} that may be noise" if others else held


def notes(hitters: HeavyHitters, level: float) -> list[str]:
    """Return the notes below the table."""
    if hitters.estimate is None:
        return ["Nothing stood out: too few people for this epsilon, or no string that many hold."]
    oracle, answered = hitters.estimate.oracle, hitters.estimate.n
    people = (
        f"{answered:,} people" if answered == hitters.population else f"{answered:,} of {hitters.population:,} people"
    )
    lines = [
        f"{len(hitters.candidates):,} candidates, found by reports of others, counted by {people} with {oracle!r}, "
        f"eta {oracle.eta}.",
        f"Certain: with probability {level:g}, somebody who was counted holds each string that is said to be certain.",
        "A string that is not here may still be frequent: the search can lose it.",
    ]
    if any(not hitter.beginning.whole for hitter in hitters.top(level=level)):
        lines.append("Those that end in ... are beginnings: more rounds would go on with them.")
    return lines


def as_json(hitters: HeavyHitters, level: float) -> str:
    """Return the results as JSON."""
    facts = {
        "population": hitters.population,
        "n": 0 if hitters.estimate is None else hitters.estimate.n,
        "oracle": None if hitters.estimate is None else describe(hitters.estimate.oracle),
        "eta": None if hitters.estimate is None else float(hitters.estimate.oracle.eta),
        "candidates": len(hitters.candidates),
        "level": level,
        "rows": hitters.rows(level),
    }
    return json.dumps(facts, ensure_ascii=False, indent=1)


def as_csv(hitters: HeavyHitters, level: float) -> str:
    """Return the results as CSV."""
    return csv_text(COLUMNS, hitters.rows(level))
