"""The heavy-hitters command: find the strings that many people hold."""

from collections import Counter
from typing import Annotated, Any

import typer

from fldp.cli.options import AsCsv, AsJson, Column, note, one_format, progress
from fldp.cli.shell import app


@app.command(name="heavy-hitters")
def heavy_hitters(
    epsilon: Annotated[float, typer.Option(help="The epsilon of a report; each person gives one.")],
    values: Annotated[str, typer.Argument(help="CSV, Parquet, or one string per line; - is standard input.")] = "-",
    top: Annotated[int, typer.Option(min=1, help="How many strings are wanted.")] = 20,
    column: Column = None,
    oracle: Annotated[str | None, typer.Option(help="An oracle by name; the planner's choice by default.")] = None,
    eta: Annotated[float | None, typer.Option(help="The least acceptable eta; plain LDP by default.")] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of search; more reach the end of longer strings.")] = 4,
    bits: Annotated[int, typer.Option(help="A round asks for at most 2^bits prefixes.")] = 16,
    alphabet: Annotated[str | None, typer.Option(help="The characters to expect, most likely first.")] = None,
    level: Annotated[float, typer.Option(help="The level at which all intervals hold at once.")] = 0.95,
    seed: Annotated[int | None, typer.Option(help="Reproducible noise, for experiments ONLY.")] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Find the most frequent strings, prefix by prefix, from one private report of each person."""
    from fldp.presentation import search, tables
    from fldp.search.heavy_hitters import heavy_hitters as find_heavy_hitters

    one_format(as_json, as_csv)
    people = _people(values, column)
    options: dict[str, Any] = {"oracle": oracle, "eta": eta, "rounds": rounds, "bits": bits}
    options |= {} if alphabet is None else {"alphabet": alphabet}
    if seed is not None:
        note("fldp: the noise comes from a seed, so these reports protect nobody: experiments only")
    with progress("searching", people.total()) as advance:
        hitters = find_heavy_hitters(people, epsilon=epsilon, k=top, rng=seed, progress=advance, **options)
    if as_json:
        typer.echo(search.as_json(hitters, level))
    elif as_csv:
        typer.echo(search.as_csv(hitters, level), nl=False)
    else:
        tables.show(search.table(hitters, level), *search.notes(hitters, level))


def _people(values: str, column: str | None) -> Counter[str]:
    """Count the people who hold each string; rows without one are left out, with a note."""
    from fldp.wire.cells import read_cells

    with progress("reading", None) as advance:
        counts: Counter[str | None] = Counter()
        for cells in read_cells(values, column):
            counts.update(cells)
            advance(len(cells))
    missing = counts.pop(None, 0)
    note(f"{missing:,} of {counts.total() + missing:,} dropped: they have no string" if missing else "")
    return Counter({string: count for string, count in counts.items() if string is not None})
