"""The command that sends reports to a collector."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli import app
from fldp.cli.collector_options import CollectorOptions, InsecureHttp, To, TokenText, told
from fldp.cli.options import AsJson, Candidates, Since, Until, note, progress
from fldp.cli.serve import Data, Url
from fldp.client.uploading import PIECE_BYTES
from fldp.data.fingerprints import as_candidates
from fldp.errors import ParameterError
from fldp.oracles.exposure import exposure
from fldp.support.validation import one_of
from fldp.survey.survey import Survey
from fldp.wire.cells import read_candidates

if TYPE_CHECKING:
    from rich.table import Table

    from fldp.client import Published
    from fldp.data.reports import Tally


@app.command()
def send(
    file: Annotated[str, typer.Argument(help="A file of reports; - is standard input.")],
    to: To,
    token: TokenText = None,
    survey: Annotated[
        Path | None, typer.Option(help="The survey that the reports answer, if they do not name it, as TOML or JSON.")
    ] = None,
    sender: Annotated[
        str, typer.Option(help="Tells senders apart whose small files may hold the same by chance.")
    ] = "",
    piece: Annotated[
        int, typer.Option(help="How many bytes to send at once; the same when sending again.")
    ] = PIECE_BYTES,
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Send all, also what was acknowledged before an interruption.")
    ] = False,
    retries: Annotated[int, typer.Option(help="How often to try again what failed for a moment.")] = 8,
    as_json: AsJson = False,
    insecure_http: InsecureHttp = False,
) -> None:
    """Send reports. Interrupted, run it again: nothing counts twice. Exit code 1 if the collector refuses them."""
    from fldp.client import upload
    from fldp.client.uploading import state_folder
    from fldp.presentation import tables

    with told(), CollectorOptions(to, token, insecure_http).connected(retries) as client:
        with progress("checking", None) as checked, upload(file, _loaded(survey), checked) as found:
            if found.ambiguous and not sender:
                note("fldp: so few reports may equal another file's by chance and then count once; tell with --sender")
            with progress("sending", found.total) as advance:
                sent = client.send_file(
                    found,
                    sender=sender,
                    piece_bytes=piece,
                    progress=advance,
                    resume=state_folder(),
                    from_start=from_start,
                )
        facts = {**asdict(sent), "collector": client.url}
    if as_json:
        tables.show_facts(facts, as_json=True)
    else:
        now = f"{sent.reports - sent.resumed:,} of " if sent.resumed else ""
        what = f"{now}{sent.reports:,} reports in {sent.batches:,} batch{'' if sent.batches == 1 else 'es'}"
        note(f"{what} of survey version {sent.version[:12]}: all counted by {client.url}")


def _loaded(path: Path | None) -> Survey | None:
    return None if path is None else Survey.load(path)


Name = Annotated[str, typer.Argument(help="The survey's name.")]
Version = Annotated[
    str | None, typer.Option(help="This version of it, 64 hexadecimal digits, not the newest open one.")
]
_SHOWN = 20


@app.command()
def estimates(
    name: Name,
    to: To,
    version: Version = None,
    top: Annotated[int | None, typer.Option(help="How many of the largest; a table shows 20 unless told.")] = None,
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    decoder: Annotated[str | None, typer.Option(help="fhr: full (default) or paper.")] = None,
    post: Annotated[str | None, typer.Option(help="Post-processing, biased: clip, norm-sub or simplex.")] = None,
    candidates: Candidates = None,
    method: Annotated[str | None, typer.Option(help="rappor: linear (default), or select for many candidates.")] = None,
    since: Since = None,
    until: Until = None,
    form: Annotated[str, typer.Option("--format", help="text, json, csv or parquet.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    output: Annotated[str | None, typer.Option("-o", "--output", help="Where to write; - is standard output.")] = None,
    token: TokenText = None,
    insecure_http: InsecureHttp = False,
) -> None:
    """Show or save what a collector estimates: how many people hold each value, with error bars."""
    form = str(one_of("text", "json", "csv", "parquet")("fldp", "--format", "json" if as_json else form))
    if form == "text" and output is not None:
        raise ParameterError("fldp: a table is only shown; name a --format to save: json, csv or parquet")
    asked: dict[str, Any] = {"level": level, "decoder": decoder, "post": post, "since": since, "until": until}
    if candidates is not None:
        asked |= {"candidates": as_candidates("fldp", read_candidates(candidates)), "method": method}
    elif method is not None:
        raise ParameterError("fldp: --method is for answers that are strings, with --candidates")
    with told(), CollectorOptions(to, token, insecure_http).connected() as client:
        found = client.survey(name, version=version)
        if form == "text" and found.survey.search is not None:
            _show_search(client.tally(found.survey, since=since, until=until), found, level, top)
        elif form == "text":
            _show(client.estimates(found.survey, top=top or _SHOWN, **asked), found)
        elif form == "json" and output is None:
            typer.echo(json.dumps(client.estimates(found.survey, top=top, **asked), indent=1))
        else:
            with progress("saving", None) as advance:
                client.save_estimates(found.survey, output or "-", format=form, top=top, progress=advance, **asked)


def _show(found: dict[str, Any], published: "Published") -> None:
    from fldp.client.messages import clean
    from fldp.presentation import tables

    method = f"By {clean(found.get('method'), 60)}: biased. " if found.get("biased") else ""
    about = f"{method}{found['n']:,} reports of survey version {published.version[:12]}, which is {published.state}."
    rest = found.get("rest")
    others = [f"None of these candidates: {rest['count']:,.1f}, standard error {rest['stderr']:,.1f}."] if rest else []
    tables.show(_table(found, published), *others, about, exposure(published.survey.oracle))


def _show_search(tally: "Tally", published: "Published", level: float, top: int | None) -> None:
    """Show what a search has found, or how far it is; its version and its tally were checked."""
    from fldp.presentation import search, tables

    assert published.survey.search is not None
    tables.show(*search.progress(published.survey.search, tally, level, top))
    tables.show(f"Survey version {published.version[:12]}, which is {published.state}.")


def _table(found: dict[str, Any], published: "Published") -> "Table":
    from rich.table import Table
    from rich.text import Text

    from fldp.client.messages import clean

    size = published.survey.domain_size
    of = "of the candidates'" if size is None else f"of {size:,}"
    table = Table(title=f"The {len(found['rows']):,} largest {of} estimates")
    table.title_justify = "left"
    table.add_column("value")
    for heading in ("estimate", "std. error", f"{100 * found['level']:.4g} % interval", "share"):
        table.add_column(heading, justify="right")
    for row in found["rows"]:
        interval = f"{row['low']:,.1f} .. {row['high']:,.1f}"
        cells = (f"{row['count']:,.1f}", f"{row['stderr']:,.1f}", interval, f"{row['frequency']:.3%}")
        table.add_row(Text(clean(row["label"], 200)), *cells)
    return table


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
    with told(), CollectorOptions(to, token, insecure_http).connected() as client:
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
    from fldp.cli.serve import open_store
    from fldp.collector.config.clock import day, system
    from fldp.collector.service.lake_writer import GRACE, write_lake

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
