"""The command that a benchmark is: it has the peers installed, measures, shows, and writes a file on request."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

import document
from peers.environment import Peer, PeerError, ready


@dataclass(frozen=True)
class Result:
    """What a benchmark found: to look at, to keep, and whether anything is not as it must be."""

    shown: Sequence[RenderableType]
    record: dict[str, Any]
    missed: bool
    documented: Sequence[tuple[str, str, Sequence[document.Rows]]] = ()  # files, their parts, and the tables of each


def run(purpose: str, peers: Sequence[Peer], measure: Callable[[], Result]) -> int:
    """Measure, and return the exit code: 1 if something was missed, 2 if the peers cannot be installed or run."""
    file, writes = _given(purpose)
    try:
        with ready(peers, say):
            result = measure()
    except PeerError as error:
        say(str(error))
        return 2
    screen = Console(
        width=None if sys.stdout.isatty() else 150
    )  # into a file or a pipe it is wide enough for its words
    for part in result.shown:
        screen.print(part)
    for name, part, tables in result.documented if writes else ():
        document.write(name, part, machine(), tables)
    if file:
        packages = [package for peer in peers for package in peer.packages[:1]]
        record = {"machine": machine(), "peers": packages, **result.record}
        file.write_text(json.dumps(record, indent=2) + "\n")
    return int(result.missed)


def _given(purpose: str) -> tuple[Path | None, bool]:
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the answers to this file")
    parser.add_argument("--document", action="store_true", help="also write its part of the documents anew")
    options = parser.parse_args()
    if options.json and not options.json.parent.is_dir():
        parser.error(f"--json: the folder must be there, got {options.json}")
    return options.json, options.document


def say(line: str) -> None:
    """Tell how far it is, apart from the result."""
    print(line, file=sys.stderr, flush=True)


def machine() -> dict[str, object]:
    """Return what the times, though not so much the ratios, depend on."""
    packages = {name: version(name) for name in ("fldp", "numpy", "numba", "cryptography")}
    return {"processor": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version(), **packages}
