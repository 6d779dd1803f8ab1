"""Parts of the documents that a benchmark writes: each stands between markers, and says when and where it was run."""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
Rows = Sequence[Sequence[str]]


def markdown(rows: Rows) -> str:
    """Return rows as a table, the first one as its head."""
    head, *rest = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rest))


def circumstances(machine: Mapping[str, object]) -> str:
    """Return the day, the machine, the versions, and how many programs wanted its cores at the end."""
    versions = ", ".join(f"{name} {value}" for name, value in machine.items() if name not in ("processor", "cores"))
    cores, load = f"{machine['cores']} cores ({machine['processor']})", os.getloadavg()[1]
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    return f"Measured on {day}: {cores}, {versions}; load average of the last 5 minutes {load:.1f}."


def replaced(text: str, name: str, part: str) -> str:
    """Return a document with another part of this name; refuse one that has no such part."""
    marked = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    document, times = marked.subn(lambda match: f"{match[1]}{part}\n{match[2]}", text)
    if times != 1:
        raise ValueError(f"the document must have one part {name!r} between markers, got {times}")
    return document


def write(file: str, name: str, machine: Mapping[str, object], tables: Sequence[Rows]) -> None:
    """Write a part of a document anew."""
    path = DOCS / file
    part = "\n\n".join([circumstances(machine), *map(markdown, tables)])
    path.write_text(replaced(path.read_text(), name, part))
