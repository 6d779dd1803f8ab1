"""What a search found, as people and machines see it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rich.table import Table

from fldp.data.reports import Tally
from fldp.presentation.tables import csv_text
from fldp.search.results import HeavyHitters, Hitter
from fldp.search.rounds import Round
from fldp.wire.description import describe

COLUMNS = ("string", "whole", "count", "share", "stderr", "low", "high", "certain")


def progress(question: Round, tally: Tally, level: float, top: int | None = None) -> Iterator[Any]:
    """Yield what there is to show of a round: of the last one what was found, of another how far it is."""
    if not question.is_last:
        search, size = question.search, len(question.prefixes)
        yield f"Round {question.number} of at most {search.rounds + 1}: {tally.n:,} reports of {search.quota:,}."
        yield f"Prefixes that go on: {size:,}, by {question.step} bits. Whole strings so far: {len(question.found):,}."
        return
    found = question.next_round(tally)
    assert isinstance(found, HeavyHitters)
    shown = found if top is None else replace(found, k=top)
    yield table(shown, level)
    yield from notes(shown, level)


def table(found: HeavyHitters, level: float) -> Table:
    """Return the strings of the largest estimates as a table."""
    made = Table(title=f"The {found.k:,} most frequent strings that were found", title_justify="left")
    made.add_column("string")
    for heading in ("estimate", "share", "std. error", f"{100 * level:.4g} % interval, all at once", "certain"):
        made.add_column(heading, justify="right")
    for hitter in found.top(level=level):
        low, high = hitter.interval
        made.add_row(
            hitter.text,
            f"{hitter.share * found.population:,.0f}",
            f"{hitter.share:.3%}",
            f"{hitter.stderr:.3%}",
            f"{low:.3%} .. {high:.3%}",
            "yes" if hitter.certain else "no",
        )
    return made


def notes(found: HeavyHitters, level: float) -> list[str]:
    """Return what has to be said below the table."""
    if found.estimate is None:
        return ["Nothing stood out: too few people for this epsilon, or no string that many hold."]
    oracle, asked = found.estimate.oracle, found.estimate.n
    people = f"{asked:,} people" if asked == found.population else f"{asked:,} of {found.population:,} people"
    said = [
        f"{len(found.candidates):,} candidates, found by reports of others, counted by {people} with {oracle!r}, "
        f"eta {oracle.eta}.",
        f"Certain: with probability {level:g}, somebody who was counted holds each string that is said to be certain.",
        "A string that is not here may still be frequent: the search can lose it.",
    ]
    if any(not hitter.beginning.whole for hitter in found.top(level=level)):
        said.append("Those that end in ... are beginnings: more rounds would go on with them.")
    return said


def rows(found: HeavyHitters, level: float) -> list[dict[str, Any]]:
    """Return the strings of the largest estimates, with a byte that is not UTF-8 as an escape."""
    return [_row(found, hitter) for hitter in found.top(level=level)]


def _row(found: HeavyHitters, hitter: Hitter) -> dict[str, Any]:
    low, high = hitter.interval
    return {
        "string": hitter.beginning.value.decode(errors="backslashreplace"),
        "whole": hitter.beginning.whole,
        "count": hitter.share * found.population,
        "share": hitter.share,
        "stderr": hitter.stderr,
        "low": low,
        "high": high,
        "certain": hitter.certain,
    }


def as_json(found: HeavyHitters, level: float) -> str:
    """Return what was found as JSON."""
    facts = {
        "population": found.population,
        "n": 0 if found.estimate is None else found.estimate.n,
        "oracle": None if found.estimate is None else describe(found.estimate.oracle),
        "eta": None if found.estimate is None else float(found.estimate.oracle.eta),
        "candidates": len(found.candidates),
        "level": level,
        "rows": rows(found, level),
    }
    return json.dumps(facts, ensure_ascii=False, indent=1)


def as_csv(found: HeavyHitters, level: float) -> str:
    """Return what was found as CSV."""
    return csv_text(COLUMNS, rows(found, level))
