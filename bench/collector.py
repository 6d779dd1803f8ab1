"""The collector under load, beside its limits, on loopback, on this machine's cores.

    python bench/collector.py [--json FILE] [--document] [--minutes M] [--only PART]

Every ratio is of servers that take turns in the same run. The load is wrk, which shares the cores with them; so do
other programs, perhaps, and therefore the processor's time of a request is shown beside the rates. A PostgreSQL server
is started for the run, on the disk, with durable commits. With ``--document`` the tables of docs/benchmarks.md are
written anew. It exits with 1 if a target is missed.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from typing import Any

from rich.console import Console
from rich.table import Table

import document
from answers import significant
from command import machine, say
from load import Load
from served import EPSILON, VALUES, Served, bare, collector, one_insert

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.postgres_server import PostgresServer

CONNECTIONS, BATCH, BATCH_CONNECTIONS = 64, 100_000, 8
SMALL_BATCH = 1_000  # a hundred thousand INSERTs would take minutes
TURNS, SECONDS = 5, 4
SETTLING, IDLE = 60, 0.05  # seconds that work may go on after its load, and of the processor in one that is idle
SQLITE_RATIO, POSTGRES_RATIO, BATCH_RATIO, BATCH_RATE, GROWTH = 0.4, 0.3, 0.5, 3e6, 1.1
BUSY, TAIL = 0.8, 4.0  # a share of the capacity, and what p99 may be there of p50
SEVERAL = 1.0  # what a report may cost with two collectors of what it costs with one
OVERLOAD, KEPT, MANY = 2.0, 0.9, 1000  # of the capacity; what is left of it then; connections

Open = Callable[[], AbstractContextManager[Served]]
Facts = dict[str, tuple[float, str, float]]
CONSTANT, SQLITE, POSTGRES = "constant answer", "SQLite", "PostgreSQL"
ONLY_TALLIES = 'retention "tally"'


@dataclass(frozen=True)
class Turn:
    """One turn of a server: what came of its load, and the processor's time that went into it."""

    load: Load
    used: tuple[float, float]


@dataclass(frozen=True)
class Row:
    """What one server did with one kind of request: medians over the turns; times of the processor are of a request."""

    server: str
    reports: int
    rate: float
    p50: float
    p99: float
    processor: float
    database: float

    @classmethod
    def of(cls, server: str, reports: int, turns: Sequence[Turn]) -> "Row":
        """Sum up the turns."""
        columns = [
            (turn.load.rate, turn.load.p50, turn.load.p99, *(used / turn.load.requests for used in turn.used))
            for turn in turns
        ]
        return cls(server, reports, *map(median, zip(*columns, strict=True)))


def turn_of(served: Served, reports: int, connections: int, seconds: int = SECONDS, **options: Any) -> Turn:
    """Load a server once; on a machine that answers nothing in that time, for longer."""
    before = served.used
    load = served.send(reports, connections, seconds, **options)
    if not load.requests:
        return turn_of(served, reports, connections, 2 * seconds, **options)
    settle(served)
    return Turn(load, tuple(after - start for after, start in zip(served.used, before, strict=True)))


def settle(served: Served) -> None:
    """Wait until a server has done what its load has left: folding counts in its own turn, not in the next one's."""
    end, before = time.monotonic() + SETTLING, sum(served.used)
    while time.monotonic() < end:
        time.sleep(1)
        now = sum(served.used)
        if now - before < IDLE:
            return
        before = now


def by_turns(servers: dict[str, Open], reports: int, connections: int) -> list[Row]:
    """Load all servers, one after the other, again and again, so that a slow minute of the machine hits all."""
    turns: dict[str, list[Turn]] = {name: [] for name in servers}
    with ExitStack() as stack:
        running = {name: stack.enter_context(start()) for name, start in servers.items()}
        for served in running.values():
            served.send(reports, connections, 1)  # loads what is compiled, and fills the pools
        for number in range(1, TURNS + 1):
            say(f"{reports:,} a request, turn {number} of {TURNS}")
            for name, served in running.items():
                turns[name].append(turn_of(served, reports, connections))
    return [Row.of(name, reports, measured) for name, measured in turns.items()]


def under_pressure(start: Open) -> tuple[list[Row], Facts]:
    """Load a server with what it can take, with a part of that, and with more; by turns, each by the best just before.

    A connection pauses between two requests, so that all together send at the wanted rate if answers take no time.
    """
    turns_by_load: dict[str, list[Turn]] = {
        "best rate": [],
        f"{BUSY:.0%} of the best rate": [],
        f"{OVERLOAD:g} times the best rate": [],
    }
    best, busy, over = turns_by_load.values()
    with start() as served:
        served.send(1, CONNECTIONS, 1)
        for number in range(1, TURNS + 1):
            say(f"under pressure, turn {number} of {TURNS}")
            best.append(turn_of(served, 1, CONNECTIONS))
            rate = best[-1].load.rate
            pause = max(0.0, CONNECTIONS / (BUSY * rate) - best[-1].load.p50 / 2)
            busy.append(turn_of(served, 1, CONNECTIONS, pause=pause))
            over.append(turn_of(served, 1, MANY, pause=MANY / (OVERLOAD * rate), refused=True))
    rows = [Row.of(f"{SQLITE}, {name}", 1, turns) for name, turns in turns_by_load.items()]
    kept = median(after.load.rate / before.load.rate for after, before in zip(over, best, strict=True))
    share = median(after.load.rate / before.load.rate for after, before in zip(busy, best, strict=True))
    sent = median(after.load.answers / before.load.rate for after, before in zip(over, best, strict=True))
    spent = median(_each(before) / _each(after) for after, before in zip(over, best, strict=True))
    facts = {
        f"p99 / p50 at {share:.0%} of the best rate": (median(t.load.p99 / t.load.p50 for t in busy), "at most", TAIL),
        f"reports counted at {sent:.1f} times the answers of the best rate / best rate": (kept, "at least", KEPT),
        "CPU time per counted report, at the best rate / beyond capacity": (spent, "at least", KEPT),
    }
    return rows, facts


def _each(turn: Turn) -> float:
    """Return the processor's time of a report that was counted, with all that went into refusing others."""
    return sum(turn.used) / max(1, turn.load.good)


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
    served.send(1, CONNECTIONS, 10)
    served.send(BATCH, BATCH_CONNECTIONS, 5)


COLUMNS = ("server", "reports per request", "requests/s", "reports/s", "p50", "p99", "server CPU", "database CPU")


def cells(row: Row) -> list[str]:
    """Return a row as texts."""
    reports = f"{row.rate * row.reports:,.0f}"
    latencies = f"{1000 * row.p50:.1f} ms", f"{1000 * row.p99:.1f} ms"
    used = f"{1e6 * row.processor:,.0f} µs", f"{1e6 * row.database:,.0f} µs" if row.database else ""
    return [row.server, f"{row.reports:,}", f"{row.rate:,.1f}", reports, *latencies, *used]


def shown(title: str, rows: Sequence[Row]) -> Table:
    """Return rows as a table."""
    table = Table(*COLUMNS, title=title)
    for row in rows:
        table.add_row(*cells(row))
    return table


def is_met(fact: tuple[float, str, float]) -> bool:
    """Whether what was found is within its limit."""
    measured, word, limit = fact
    return measured >= limit if word == "at least" else measured <= limit


def into_document(part: str, rows: Sequence[Row], facts: Facts) -> None:
    """Write the tables of a part into the document."""
    questions = [
        [name, significant(fact[0]), f"{fact[1]} {significant(fact[2])}", "" if is_met(fact) else "missed"]
        for name, fact in facts.items()
    ]
    tables = [[COLUMNS, *map(cells, rows)]] if rows else []
    answers = [["question", "measured", "target", ""], *questions]
    document.write("benchmarks.md", f"collector, {part}", machine(), [*tables, answers])


@dataclass
class Databases:
    """A PostgreSQL server on the disk, with commits that last."""

    server: PostgresServer

    @contextmanager
    def collector(self, *, is_tallied: bool = False) -> Iterator[Served]:
        """Run a collector on an empty database."""
        with collector("--database", self.server.database(), is_tallied=is_tallied) as served:
            served.others = self.server.processes
            yield served

    @contextmanager
    def two_collectors(self) -> Iterator[tuple[Served, Served]]:
        """Run two collectors on one empty database. Its time counts for the first."""
        where = "--database", self.server.database()
        with collector(*where) as first, collector(*where, publishing=False) as second:
            first.others = self.server.processes
            yield first, second

    @contextmanager
    def one_insert(self) -> Iterator[Served]:
        """Run what somebody would write instead, on an empty database."""
        with one_insert(self.server.database()) as served:
            served.others = self.server.processes
            yield served


@contextmanager
def databases() -> Iterator[Databases]:
    """Start a PostgreSQL server."""
    server = PostgresServer(on_disk=True, synchronous_commit="on", shared_buffers="256MB", max_wal_size="2GB")
    try:
        yield Databases(server)
    finally:
        server.remove()


def single(database: Databases) -> tuple[list[Row], Facts]:
    """Measure single reports beside the constant answer."""
    rows = by_turns(
        {
            CONSTANT: partial(bare, "constant"),
            SQLITE: collector,
            POSTGRES: database.collector,
            "without storing": partial(collector, storing=False),
            f"{CONSTANT} by ASGI": partial(bare, "asgi"),
            "PostgreSQL, one INSERT per report": database.one_insert,
        },
        1,
        CONNECTIONS,
    )
    limit, sqlite, postgres = rows[:3]
    facts = {
        "single reports, SQLite / constant answer": (sqlite.rate / limit.rate, "at least", SQLITE_RATIO),
        "single reports, PostgreSQL / constant answer": (postgres.rate / limit.rate, "at least", POSTGRES_RATIO),
    }
    return rows, facts


def both_of(pair: tuple[Served, Served]) -> Turn:
    """Load two collectors at the same time, each as one is loaded alone."""
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(lambda served: turn_of(served, 1, CONNECTIONS), pair)
    return Turn(first.load + second.load, (first.used[0] + second.used[0], first.used[1]))


def several(database: Databases) -> tuple[list[Row], Facts]:
    """Measure what a report costs with two collectors on one database, beside one."""
    alone, together = list[Turn](), list[Turn]()
    with database.collector() as served, database.two_collectors() as pair:
        for each in (served, *pair):
            each.send(1, CONNECTIONS, 1)
        for number in range(1, TURNS + 1):
            say(f"several collectors, turn {number} of {TURNS}")
            alone.append(turn_of(served, 1, CONNECTIONS))
            together.append(both_of(pair))
    rows = [Row.of(f"{POSTGRES}, one collector", 1, alone), Row.of(f"{POSTGRES}, two collectors", 1, together)]
    cost = median(_each(two) / _each(one) for two, one in zip(together, alone, strict=True))
    return rows, {"CPU time per report, two collectors / one": (cost, "at most", SEVERAL)}


def batches(database: Databases) -> tuple[list[Row], Facts]:
    """Measure batches, of reports that are kept and of others, beside reading the body and tallying it."""
    rows = by_turns(
        {
            "body read and tallied": partial(bare, "tally"),
            SQLITE: collector,
            f"{SQLITE}, {ONLY_TALLIES}": partial(collector, is_tallied=True),
            "without storing": partial(collector, storing=False),
            POSTGRES: database.collector,
            f"{POSTGRES}, {ONLY_TALLIES}": partial(database.collector, is_tallied=True),
        },
        BATCH,
        BATCH_CONNECTIONS,
    )
    rows += by_turns({"PostgreSQL, one INSERT per report": database.one_insert}, SMALL_BATCH, BATCH_CONNECTIONS)
    facts = {
        "batches, SQLite / body read and tallied": (rows[1].rate / rows[0].rate, "at least", BATCH_RATIO),
        f"batches, SQLite, {ONLY_TALLIES} / body read and tallied": (
            rows[2].rate / rows[0].rate,
            "at least",
            BATCH_RATIO,
        ),
        "durable reports per second in batches, SQLite": (rows[1].rate * BATCH, "at least", BATCH_RATE),
    }
    return rows, facts


def synced() -> Iterator[float]:
    """Yield the seconds that the disk takes for 4 KiB: what every commit waits for."""
    with TemporaryFile() as file:
        for _ in range(50):
            file.write(bytes(4096))
            file.flush()
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            yield time.perf_counter() - start


def watched(minutes: float) -> tuple[list[Row], Facts]:
    """Measure the memory."""
    early, late = memory(minutes)
    return [], {f"memory after {minutes:g} minutes / after {minutes / 5:g}": (late / early, "at most", GROWTH)}


def main() -> int:
    """Measure, show, and say whether all targets are met."""
    parser = argparse.ArgumentParser(description="Measure the collector under load.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the answers to this file")
    parser.add_argument("--document", action="store_true", help="also write the tables of docs/benchmarks.md anew")
    parser.add_argument("--minutes", type=float, default=10.0, help="of load while memory is watched")
    parser.add_argument(
        "--only", choices=("single", "pressure", "several", "batches", "memory"), help="measure only this"
    )
    options = parser.parse_args()
    rows: list[Row] = []
    facts: Facts = {}
    with databases() as database:
        parts: dict[str, Callable[[], tuple[list[Row], Facts]]] = {
            "single": partial(single, database),
            "pressure": partial(under_pressure, collector),
            "several": partial(several, database),
            "batches": partial(batches, database),
            "memory": partial(watched, options.minutes),
        }
        for name, part in parts.items():
            if options.only in (None, name):
                more, more_facts = part()
                rows += more
                facts |= more_facts
                if options.document:
                    into_document(name, more, more_facts)
    return report(rows, facts, options.json)


def report(rows: Sequence[Row], facts: Facts, file: Path | None) -> int:
    """Show what was found; return 1 if a target is missed."""
    screen = Console(width=None if sys.stdout.isatty() else 150)
    screen.print(shown(f"FHR, {VALUES:,} values, eps = {EPSILON:g}", rows))
    screen.print(
        f"{CONNECTIONS} connections for single reports, {BATCH_CONNECTIONS} for batches; medians of {TURNS} turns of"
        f" {SECONDS} s; a file is on the disk {1000 * median(synced()):.2f} ms after a page was written to it"
    )
    missed = False
    for name, fact in facts.items():
        measured, word, limit = fact
        missed |= not is_met(fact)
        screen.print(
            f"{name}: {significant(measured)}, {word} {significant(limit)}: {'pass' if is_met(fact) else 'MISS'}"
        )
    if file:
        record = {"machine": machine(), "rows": [vars(row) for row in rows], "facts": facts}
        file.write_text(json.dumps(record, indent=2) + "\n")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
