"""The command that sends reports to a collector."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fldp.cli import app
from fldp.cli.connecting import Collector, InsecureHttp, To, TokenText, told
from fldp.cli.options import note, progress
from fldp.client.uploads import PIECE_BYTES
from fldp.survey import Survey


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    insecure_http: InsecureHttp = False,
) -> None:
    """Send reports. Interrupted, run it again: nothing counts twice. Exit code 1 if the collector refuses them."""
    from fldp import render
    from fldp.client import upload
    from fldp.client.resuming import state_folder

    with told(), Collector(to, token, insecure_http).connected(retries) as client:
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
        render.show_facts(facts, as_json=True)
    else:
        now = f"{sent.reports - sent.resumed:,} of " if sent.resumed else ""
        what = f"{now}{sent.reports:,} reports in {sent.batches:,} batch{'' if sent.batches == 1 else 'es'}"
        note(f"{what} of survey version {sent.version[:12]}: all counted by {client.url}")


def _loaded(path: Path | None) -> Survey | None:
    return None if path is None else Survey.load(path)
