"""The commands that send reports to a collector, and fetch estimates and reports from it."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.collector_options import (
    CollectorOptions,
    InsecureHttp,
    Name,
    To,
    TokenText,
    ToOrStore,
    Version,
    address_unless,
    full_version,
    notes_on_retries,
)
from fldp.cli.options import AsJson, Candidates, Since, Until, note, progress
from fldp.cli.prior import PriorFile, read_prior, refuse_prior
from fldp.cli.serve import Data, Url
from fldp.cli.shell import app
from fldp.errors import ParameterError
from fldp.support.validation import counted, one_of

if TYPE_CHECKING:
    from fldp.client import Client, Published
    from fldp.data.estimate import Estimate
    from fldp.data.reports import Tally
    from fldp.survey.survey import Survey

PIECE_BYTES = 1 << 20  # as fldp.client says, which is slow to load


@app.command()
def send(
    file: Annotated[str, typer.Argument(help="A file of reports; - is standard input.")],
    to: To,
    token: TokenText = None,
    survey: Annotated[
        Path | None, typer.Option(help="The survey that the reports answer, if they do not name it, as TOML or JSON.")
    ] = None,
    sender: Annotated[
        str, typer.Option(help="A name for the sender, if files of different senders may be equal by chance.")
    ] = "",
    piece: Annotated[
        int, typer.Option(help="How many bytes to send at once; give the same number when sending again.")
    ] = PIECE_BYTES,
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Send everything, even what was acknowledged before an interruption.")
    ] = False,
    retries: Annotated[int, typer.Option(help="How often to repeat a request that failed.")] = 8,
    as_json: AsJson = False,
    insecure_http: InsecureHttp = False,
) -> None:
    """Send reports. If interrupted, run it again: nothing counts twice. Exit code 1 if the collector refuses them."""
    from fldp.client import upload
    from fldp.client.uploading import state_folder
    from fldp.presentation import tables

    with notes_on_retries(), CollectorOptions(to, token, insecure_http).connected(retries) as client:
        with progress("checking", None) as checked, upload(file, _loaded(survey), checked) as reports:
            if reports.ambiguous and not sender:
                note("fldp: so few reports may equal another file's by chance, and then count once; name the --sender")
            with progress("sending", reports.total) as advance:
                sent = client.send_file(
                    reports,
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
        what = f"{now}{counted(sent.reports, 'report')} in {sent.batches:,} batch{'' if sent.batches == 1 else 'es'}"
        note(f"{what} of survey version {sent.version[:12]}: all counted by {client.url}")


@app.command()
def withdraw(
    file: Annotated[str, typer.Argument(help="The file of reports that was sent; - is standard input.")],
    to: To,
    token: TokenText = None,
    survey: Annotated[
        Path | None, typer.Option(help="The survey that the reports answer, if they do not name it, as TOML or JSON.")
    ] = None,
    sender: Annotated[str, typer.Option(help="The same name as when they were sent.")] = "",
    piece: Annotated[int, typer.Option(help="The same number of bytes as when they were sent.")] = PIECE_BYTES,
    day: Annotated[
        str | None, typer.Option(help="The UTC day on which they were sent, if that was to an earlier release.")
    ] = None,
    retries: Annotated[int, typer.Option(help="How often to repeat a request that failed.")] = 8,
    as_json: AsJson = False,
    insecure_http: InsecureHttp = False,
) -> None:
    """Take back reports that were sent. If interrupted, run it again: twice is the same as once.

    The collector takes them out of the count, and refuses them from then on, also those that it never had. Results
    that were published before may still contain them. Exit code 1 if the collector refuses.
    """
    from fldp.client import upload
    from fldp.presentation import tables

    with notes_on_retries(), CollectorOptions(to, token, insecure_http).connected(retries) as client:
        with progress("checking", None) as checked, upload(file, _loaded(survey), checked) as reports:
            with progress("withdrawing", reports.total) as advance:
                taken = client.withdraw_file(reports, sender=sender, piece_bytes=piece, day=day, progress=advance)
            total, version = reports.total, reports.version
        facts: dict[str, Any] = {"reports": total, "withdrawn": taken, "version": version, "collector": client.url}
    if as_json:
        tables.show_facts(facts, as_json=True)
        return
    note(f"{counted(taken, 'report')} of survey version {version[:12]}: taken out of the count by {client.url}")
    if taken < total:
        why = "they were never counted, or sent with another --sender or --piece"
        note(f"fldp: the collector did not know the other {total - taken:,}: {why}; with these two it refuses them now")


def _loaded(path: Path | None) -> "Survey | None":
    from fldp.survey.survey import Survey

    return None if path is None else Survey.load(path)


_SHOWN = 20


@app.command()
def estimates(
    name: Name,
    to: To,
    version: Version = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="How many of the largest; a table shows 20 by default.")
    ] = None,
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    decoder: Annotated[str | None, typer.Option(help="fhr: full (default) or paper.")] = None,
    post: Annotated[str | None, typer.Option(help="Post-processing, biased: clip, norm-sub, simplex or bayes.")] = None,
    prior: PriorFile = None,
    candidates: Candidates = None,
    method: Annotated[str | None, typer.Option(help="rappor: linear (default), or select for many candidates.")] = None,
    since: Since = None,
    until: Until = None,
    anytime: Annotated[
        bool, typer.Option("--anytime", help="Intervals that hold at every look, like the dashboard's.")
    ] = False,
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
    options: dict[str, Any] = {"level": level, "decoder": decoder, "post": post, "since": since, "until": until}
    options |= {"anytime": anytime, **_candidates(candidates, method)}
    with notes_on_retries(), CollectorOptions(to, token, insecure_http).connected() as client:
        published = client.survey(name, version=full_version(client, name, version))
        options |= {"prior": _expected(prior, published.survey, post, options.get("candidates"))}
        if form == "text":
            _show_estimates(client, published, top, options)
        elif form == "json" and output is None:
            typer.echo(json.dumps(client.estimates(published.survey, top=top, **options), indent=1))
        else:
            with progress("saving", None) as advance:
                client.save_estimates(
                    published.survey, output or "-", format=form, top=top, progress=advance, **options
                )


def _candidates(path: str | None, method: str | None) -> dict[str, Any]:
    """Return the candidates of a file, and the method that decodes them."""
    if path is None:
        if method is not None:
            raise ParameterError("fldp: --method is for answers that are strings, with --candidates")
        return {}
    from fldp.data.fingerprints import as_candidates
    from fldp.wire.cells import read_candidates

    return {"candidates": as_candidates("fldp", read_candidates(path)), "method": method}


def _show_estimates(client: "Client", published: "Published", top: int | None, options: dict[str, Any]) -> None:
    """Print what is known of a survey: strings that were found, several questions, a number, or all values."""
    survey, level, anytime = published.survey, options["level"], options["anytime"]
    window = {"since": options["since"], "until": options["until"]}
    if survey.search is not None:
        _show_search(client.tally(survey, **window), published, level, top)
    elif survey.questions:
        _show_questions(client.tally(survey, **window), published, level, top, survey.planned if anytime else None)
    elif survey.number:
        estimate = client.estimate(survey, post=options["post"], anytime=anytime, **window)
        _show_number(estimate, published, level)
    else:
        _show(client.estimates(survey, top=top or _SHOWN, **options), published)


def _expected(
    prior: str | None, survey: "Survey", post: str | None, candidates: "tuple[str, ...] | None"
) -> list[float] | None:
    """Return what was expected of every value, or candidate, by a file; None without one."""
    if prior is None:
        return None
    from fldp.cli.subject import Subject

    if survey.questions or survey.number or survey.search:
        refuse_prior(prior)
    if post != "bayes":
        raise ParameterError("fldp: --prior needs --post bayes")
    question = Subject(survey.oracle, survey, candidates).question
    if question.domain_size is None:
        raise ParameterError("fldp: --prior of strings needs --candidates")
    return read_prior(prior, question, question.domain_size)


def _show(reply: dict[str, Any], published: "Published") -> None:
    """Show estimates; texts of the collector are cleaned of control characters."""
    from fldp.client.messages import clean
    from fldp.oracles.exposure import exposure
    from fldp.presentation import tables
    from fldp.presentation.interval_notes import ALL_LOOKS, CONDITIONS

    size = published.survey.domain_size
    whole = "the candidates'" if size is None else f"{size:,}"
    rows = [{**row, "label": clean(row["label"], 200)} for row in reply["rows"]]
    table = tables.estimate_rows_table(f"The {len(rows):,} largest of {whole} estimates", rows, reply["level"])
    method = f"By {clean(reply.get('method'), 60)}: biased. " if reply.get("biased") else ""
    method += f"{clean(reply['remark'], 200)} " if "remark" in reply else ""
    reports = counted(reply["n"], "report")
    about = f"{method}{reports} of survey version {published.version[:12]}, which is {published.state}."
    rest = reply.get("rest")
    others = [f"None of these candidates: {rest['count']:,.1f}, standard error {rest['stderr']:,.1f}."] if rest else []
    few = [clean(reply["note"])] if "note" in reply else []
    looks = [f"{ALL_LOOKS} {CONDITIONS}"] if "anytime" in reply else []
    tables.show(table, *few, *others, about, *looks, exposure(published.survey.oracle))


def _show_number(estimate: "Estimate", published: "Published", level: float) -> None:
    """Show the figures of a number; the client has checked its version and its tally."""
    from fldp.data.number import Number
    from fldp.presentation import number, tables

    assert isinstance(estimate, Number)
    tables.show(*number.number_parts(estimate, level))
    tables.show(f"Survey version {published.version[:12]}, which is {published.state}.")


def _show_questions(
    tally: "Tally", published: "Published", level: float, top: int | None, planned: int | None = None
) -> None:
    """Show the tables of several questions; the client has checked their version and their tally."""
    from fldp.oracles.sampled.tables import Tables
    from fldp.presentation import questions, tables

    estimated: object = published.survey.estimate(tally)
    assert isinstance(estimated, Tables)
    tables.show(*questions.parts(estimated, level, top or _SHOWN, planned))
    tables.show(f"Survey version {published.version[:12]}, which is {published.state}.")


def _show_search(tally: "Tally", published: "Published", level: float, top: int | None) -> None:
    """Show the results of a search, or its progress; the client has checked its version and its tally."""
    from fldp.presentation import search, tables

    assert published.survey.search is not None
    tables.show(*search.progress(published.survey.search, tally, level, top))
    tables.show(f"Survey version {published.version[:12]}, which is {published.state}.")


@app.command()
def export(
    name: Annotated[str | None, typer.Argument(help="The survey's name; without --to, all surveys by default.")] = None,
    to: ToOrStore = None,
    version: Version = None,
    since: Since = None,
    until: Until = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="A file; by default standard output.")] = None,
    lake: Annotated[
        str | None,
        typer.Option(
            "--lake",
            help="A folder, or an address such as s3://bucket/lake: a file for every day that is over, by version.",
        ),
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
    to = address_unless(to, data, database)
    if to is None:
        if lake is None or version or since or until:
            raise ParameterError("fldp: name the collector with --to, or give only --lake and --data or --database")
        _from_store(lake, name, data, database)
        return
    if name is None or data or database:
        raise ParameterError("fldp: with --to, give the survey's name, and neither --data nor --database")
    with notes_on_retries(), CollectorOptions(to, token, insecure_http).connected() as client:
        published = client.survey(name, version=full_version(client, name, version))
        with progress("saving", None) as advance:
            if lake is not None:
                days = client.export_lake(published.survey, lake, since=since, until=until, progress=advance)
            else:
                size = client.export(published.survey, output or "-", since=since, until=until, progress=advance)
    if lake is not None:
        _summary(lake, days.values())
    else:
        note(f"{size:,} bytes of reports of survey version {published.version[:12]}")


def _from_store(lake: str, name: str | None, data: Path | None, database: str | None) -> None:
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


def _summary(lake: str, days: Iterable[str]) -> None:
    """Print how many days were written, were there already, or were left out."""
    counts = Counter(days)
    note(
        f"{lake}: " + (", ".join(f"{counted(n, 'day')} {state}" for state, n in counts.items()) or "no day is over yet")
    )
