"""The collector under load: what durable costs beside not storing, on loopback, on this machine's cores.

    python bench/collector.py [--json FILE] [--minutes M]

Every ratio is of two servers that take turns in the same run; the load shares the cores with them. It exits with 1 if a
target is missed. A PostgreSQL server is started for the run, on the disk, with durable commits.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from command import machine, say
from load import Load
from served import EPSILON, VALUES, Served, collector, one_insert

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.postgres_server import PostgresServer

CONNECTIONS, BATCH, BATCH_CONNECTIONS = 64, 100_000, 8
SMALL_BATCH = 1_000  # a hundred thousand INSERTs would take minutes
TURNS, SECONDS = 5, 4.0
SINGLE_RATIO, BATCH_RATE, GROWTH = 0.5, 3e6, 1.1

Open = Callable[[], AbstractContextManager[Served]]


@dataclass(frozen=True)
class Row:
    """What one server did with one kind of request: medians over the turns."""

    server: str
    reports: int
    rate: float
    p50: float
    p99: float

    @classmethod
    def of(cls, server: str, reports: int, loads: Sequence[Load]) -> "Row":
        """Sum up the turns."""
        rate, p50, p99 = (
            median(values)
            for values in zip(*((load.rate, load.percentile(50), load.percentile(99)) for load in loads), strict=True)
        )
        return cls(server, reports, rate, p50, p99)


def by_turns(servers: dict[str, Open], reports: int, connections: int) -> list[Row]:
    """Load all servers, one after the other, again and again, so that a slow minute of the machine hits all."""
    loads: dict[str, list[Load]] = {name: [] for name in servers}
    with ExitStack() as stack:
        running = {name: stack.enter_context(start()) for name, start in servers.items()}
        for served in running.values():
            served.send(reports, connections, 1.0)  # loads what is compiled, and fills the pools
        for turn in range(1, TURNS + 1):
            say(f"{reports:,} a request, turn {turn} of {TURNS}")
            for name, served in running.items():
                loads[name].append(served.send(reports, connections, SECONDS))
    return [Row.of(name, reports, found) for name, found in loads.items()]


def memory(minutes: float) -> tuple[int, int]:
    """Return the resident bytes after a fifth of the time under load, and at its end."""
    end = time.monotonic() + 60 * minutes
    early = end - 48 * minutes
    with collector() as served:
        while time.monotonic() < early:
            _both(served)
        first = served.resident
        while time.monotonic() < end:
            say(f"memory: {served.resident >> 20} MiB, {(end - time.monotonic()) / 60:.1f} minutes left")
            _both(served)
        return first, served.resident


def _both(served: Served) -> None:
    served.send(1, CONNECTIONS, 10.0)
    served.send(BATCH, BATCH_CONNECTIONS, 5.0)


def shown(title: str, rows: Sequence[Row]) -> Table:
    """Return rows as a table."""
    made = Table("server", "reports a request", "requests/s", "reports/s", "p50", "p99", title=title)
    for row in rows:
        reports = f"{row.rate * row.reports:,.0f}"
        latencies = f"{1000 * row.p50:.1f} ms", f"{1000 * row.p99:.1f} ms"
        made.add_row(row.server, f"{row.reports:,}", f"{row.rate:,.1f}", reports, *latencies)
    return made


@contextmanager
def databases() -> Iterator[Callable[[], str]]:
    """Start a PostgreSQL server on the disk, with commits that last; return what makes an empty database in it."""
    server = PostgresServer(on_disk=True, synchronous_commit="on", shared_buffers="256MB", max_wal_size="2GB")
    try:
        yield server.database
    finally:
        server.remove()


def measure(database: Callable[[], str], minutes: float) -> tuple[list[Row], dict[str, Any]]:
    """Return all rows, and what has a target."""
    ours: dict[str, Open] = {
        "SQLite": collector,
        "without storing": lambda: collector(storing=False),
        "PostgreSQL": lambda: collector("--database", database()),
    }
    instead: dict[str, Open] = {"PostgreSQL, one INSERT a report": lambda: one_insert(database())}
    single = by_turns(ours | instead, 1, CONNECTIONS)
    batches = by_turns(ours, BATCH, BATCH_CONNECTIONS)
    batches += by_turns(instead, SMALL_BATCH, BATCH_CONNECTIONS)
    early, late = memory(minutes)
    facts = {
        "single durable / without storing": (single[0].rate / single[1].rate, "at least", SINGLE_RATIO),
        "durable reports a second in batches": (batches[0].rate * BATCH, "at least", BATCH_RATE),
        f"memory after {minutes:g} minutes / after {minutes / 5:g}": (late / early, "at most", GROWTH),
    }
    return [*single, *batches], facts


def main() -> int:
    """Measure, show, and say whether all targets are met."""
    parser = argparse.ArgumentParser(description="Measure the collector under load.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the answers to this file")
    parser.add_argument("--minutes", type=float, default=10.0, help="of load while memory is watched")
    given = parser.parse_args()
    with databases() as database:
        rows, facts = measure(database, given.minutes)
    screen = Console(width=None if sys.stdout.isatty() else 130)
    screen.print(shown(f"FHR, {VALUES:,} values, eps = {EPSILON:g}", rows))
    screen.print(
        f"{CONNECTIONS} connections for single reports, {BATCH_CONNECTIONS} for batches; medians of {TURNS} turns"
    )
    missed = False
    for name, (found, word, limit) in facts.items():
        met = found >= limit if word == "at least" else found <= limit
        missed |= not met
        screen.print(f"{name}: {found:,.3g}, {word} {limit:,g}: {'pass' if met else 'MISS'}")
    if given.json:
        record = {"machine": machine(), "rows": [vars(row) for row in rows], "facts": facts}
        given.json.write_text(json.dumps(record, indent=2) + "\n")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
