"""The command that gets raw reports out of a collector: into a file, or into a lake of files by survey and day."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from fldp.cli import app
from fldp.cli.connecting import Collector, InsecureHttp, TokenText, told
from fldp.cli.options import note, progress
from fldp.cli.results_commands import Since, Until, Version
from fldp.cli.serve_commands import Data, Url
from fldp.errors import ParameterError


@app.command()
def export(
    name: Annotated[str | None, typer.Argument(help="The survey's name; without --to, all surveys by default.")] = None,
    to: Annotated[str | None, typer.Option("--to", help="The collector's address.")] = None,
    version: Version = None,
    since: Since = None,
    until: Until = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="A file; by default standard output.")] = None,
    lake: Annotated[
        Path | None, typer.Option("--lake", help="A folder: a file for every day that is over, by survey version.")
    ] = None,
    data: Data = None,
    database: Url = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Save the raw reports that a collector keeps, as Parquet: of some UTC days or all in a file, or in a lake.

    With --data or --database instead of --to, the lake is written from the collector's own store.
    """
    if lake is not None and output is not None:
        raise ParameterError("fldp: give --output or --lake, not both")
    if to is None:
        if lake is None or version or since or until:
            raise ParameterError("fldp: name the collector with --to, or give only --lake and --data or --database")
        _from_store(lake, name, data, database)
        return
    if name is None or data or database:
        raise ParameterError("fldp: with --to, give the survey's name, and neither --data nor --database")
    with told(), Collector(to, token, insecure_http).connected() as client:
        found = client.survey(name, version=version)
        with progress("saving", None) as advance:
            if lake is not None:
                days = client.export_lake(found.survey, lake, since=since, until=until, progress=advance)
            else:
                size = client.export(found.survey, output or "-", since=since, until=until, progress=advance)
    if lake is not None:
        _summary(lake, days.values())
    else:
        note(f"{size:,} bytes of reports of survey version {found.version[:12]}")


def _from_store(lake: Path, name: str | None, data: Path | None, database: str | None) -> None:
    from fldp.cli.serve_commands import open_store
    from fldp.collector.clock import day, system
    from fldp.collector.lake_writer import GRACE, write_lake

    store = open_store(data, database)
    try:
        with progress("days", None) as advance:
            done = []
            for _, _, state in write_lake(store, lake, day(system() - GRACE), name):
                done.append(state)
                advance(1)
    finally:
        store.close()
    _summary(lake, done)


def _summary(lake: Path, days: Iterable[str]) -> None:
    """Say how many days there were of each kind."""
    counts = Counter(days)
    note(f"{lake}: " + (", ".join(f"{n:,} days {state}" for state, n in counts.items()) or "no day is over yet"))
