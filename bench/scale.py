"""Past one machine: what a report costs on every engine, beside a bare scan of the same Parquet columns.

    python bench/scale.py [--json FILE] [--rows N,N,...] [--domains BITS,BITS,...] [--engines local,dask,spark]
                          [--folder DIR] [--document]

Every engine and the scan take turns on the same files, which stay in the page cache, so the storage is not what is
measured. Seconds are by the clock; processor time, of all processes of an engine, depends less on other programs. Dask
and Spark run workers of their own on this machine, one for each core; starting them does not count.
It exits with 1 if the local engine is slower than a third of the scan. With ``--document`` the tables of docs/scale.md
are written anew; those of an empty ``--rows`` or ``--domains`` stay as they are.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from pyarrow import parquet as arrow
from rich.console import Console
from rich.table import Table

import document
import fldp
from answers import significant
from command import machine, say
from engines import opened
from fldp import distributed
from fldp.distributed.lake.layout import Piece, find
from fldp.wire import parquet
from processor_time import Family
from projection import projected, projected_rows

EPSILON, DOMAIN_SIZE = 1.0, 1023
ROWS = (1_000_000, 10_000_000, 100_000_000)
DOMAIN_ROWS, DOMAINS = 10_000_000, (10, 14, 17, 20, 22, 24)  # reports, and the base-2 logarithms of the domains
PACKAGES = ("pyarrow", "distributed", "pyspark")
FILE_ROWS, BATCH_ROWS = 5_000_000, 1_000_000
TURNS = 3
VERSION = "0" * 64
LEAST = 1 / 3
CORES = os.cpu_count() or 1
Seconds = tuple[float, float]
Engine = tuple[dict[str, Any], Family]  # the options of a tally on it, and its processes


@dataclass(frozen=True)
class Row:
    """What an engine did with a lake: the best of the turns."""

    engine: str
    reports: int
    domain_size: int
    seconds: float
    scan: float  # seconds
    processor: float  # seconds of processor time
    scan_processor: float
    bytes: int  # of the lake
    state: int  # bytes of a tally's state

    @property
    def rate(self) -> float:
        """Reports a second of processor time."""
        return self.reports / self.processor

    @property
    def share(self) -> float:
        """The speed as a share of that of the scan."""
        return self.scan / self.seconds

    @property
    def processor_share(self) -> float:
        """The processor time of the scan as a share of the engine's."""
        return self.scan_processor / self.processor


@contextmanager
def lake(oracle: fldp.FrequencyOracle, rows: int, folder: Path | None) -> Iterator[Path]:
    """Write reports of random values, in files of some million, as a collector does; remove them at the end."""
    with TemporaryDirectory(dir=folder) as scratch:
        place = Path(scratch) / f"survey={VERSION}" / "day=2026-11-15"
        place.mkdir(parents=True)
        for start in range(0, rows, FILE_ROWS):
            count = min(FILE_ROWS, rows - start)
            with (place / f"{start:012}.parquet").open("wb") as file:
                parquet.write(file, oracle, _reports(oracle, start, count), VERSION)
        yield Path(scratch)


def _reports(oracle: fldp.FrequencyOracle, start: int, count: int) -> Iterator[fldp.Reports]:
    generator = np.random.default_rng(start)
    for done in range(0, count, BATCH_ROWS):
        yield oracle.privatize(generator.integers(0, oracle.domain_size, min(BATCH_ROWS, count - done)))


def scan(folder: Path, names: Sequence[str]) -> int:
    """Decode the columns of all files on all cores, and do nothing with them: the least that any engine must do."""
    with ThreadPoolExecutor(CORES) as pool:
        return sum(pool.map(partial(_decoded, names=names), find(folder)))


def _decoded(piece: Piece, names: Sequence[str]) -> int:
    table = arrow.ParquetFile(piece.path)
    groups = list(piece.groups(table.num_row_groups))
    batches = table.iter_batches(1 << 16, row_groups=groups, columns=names, use_threads=False) if groups else ()
    return sum(batch.num_rows for batch in batches)


def measured(engines: dict[str, Engine], oracle: fldp.FrequencyOracle, rows: int, folder: Path | None) -> list[Row]:
    """Time every engine beside the scan, by turns; all must give the same tally."""
    say(f"{rows:,} reports over {oracle.domain_size:,} values: writing")
    with lake(oracle, rows, folder) as place:
        size = sum(path.stat().st_size for path in place.rglob("*.parquet"))
        names = parquet.schema(oracle).names
        works = {name: _work(place, oracle, name, options) for name, (options, _) in engines.items()}
        check_same(works, rows)  # which also compiles, or loads what was compiled before
        turns = {"scan": (lambda: scan(place, names), Family())}
        turns |= {name: (work, engines[name][1]) for name, work in works.items()}
        best = dict.fromkeys(turns, (inf, inf))
        for number in range(1, TURNS + 1):
            say(f"{rows:,} reports over {oracle.domain_size:,} values: turn {number} of {TURNS}")
            best = {name: _least(one, _turn(*turns[name])) for name, one in best.items()}
    state = 8 * oracle.tally_format.cells
    scanned = best["scan"]
    return [
        Row(name, rows, oracle.domain_size, best[name][0], scanned[0], best[name][1], scanned[1], size, state)
        for name in engines
    ]


def _turn(work: Callable[[], Any], family: Family) -> Seconds:
    """Return the seconds of some work by the clock, and those of processor time."""
    start = perf_counter()
    processor = family.spent(work)
    return perf_counter() - start, processor


def _least(one: Seconds, other: Seconds) -> Seconds:
    return min(one[0], other[0]), min(one[1], other[1])


def _work(place: Path, oracle: fldp.FrequencyOracle, engine: str, options: Any) -> Callable[[], Any]:
    return lambda: distributed.tally(place, oracle, engine=engine, **options).tally


def check_same(works: dict[str, Callable[[], Any]], rows: int) -> None:
    """A fast engine that counts wrong is no engine."""
    first, *others = [work() for work in works.values()]
    assert first.n == rows
    assert all(np.array_equal(first.state, other.state) for other in others)


def shown(title: str, rows: Sequence[Row]) -> Table:
    """Return rows as a table."""
    head, *rest = lines(rows)
    table = Table(*head, title=title)
    for line in rest:
        table.add_row(*line)
    return table


def lines(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return rows as text, the head first."""
    speed = "seconds", "speed / scan", "CPU seconds", "CPU of scan / engine", "reports per CPU second"
    head = ("engine", "reports", "values", *speed, "bytes per report")
    return [head, *map(_line, rows)]


def _line(row: Row) -> tuple[str, ...]:
    lake = f"{row.reports:,}", f"{row.domain_size:,}"
    clock = significant(row.seconds, 2), f"{row.share:.2f}"
    work = significant(row.processor, 2), f"{row.processor_share:.2f}", f"{row.rate / 1e6:.0f} million"
    return row.engine, *lake, *clock, *work, f"{row.bytes / row.reports:.2f}"


def _joined(stack: ExitStack, name: str) -> Engine:
    family = Family()
    with family.joined():
        options = stack.enter_context(opened(name))
    return options, family


def numbers(text: str) -> list[int]:
    """Return integers with commas between, or none."""
    return [int(number) for number in text.split(",") if number]


def main() -> int:
    """Measure, show, project, and say whether the local engine is fast enough."""
    options = arguments()
    oracle = fldp.FHR(epsilon=EPSILON, domain_size=DOMAIN_SIZE)
    with ExitStack() as stack:
        engines = {name: _joined(stack, name) for name in options.engines.split(",")}
        rows = [row for n in numbers(options.rows) for row in measured(engines, oracle, n, options.folder)]
        some = {name: engines[name] for name in (options.domain_engines or options.engines).split(",")}
        domains = [
            row
            for bits in numbers(options.domains)
            for row in measured(some, fldp.FHR(EPSILON, 2**bits - 1), options.domain_rows, options.folder)
        ]
    missed = show(rows, domains)
    save(rows, domains, options.json, to_document=options.document)
    return int(missed)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the engines on lakes of reports.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the answers to this file")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)), help="how many reports, with commas between")
    parser.add_argument("--domains", default=",".join(map(str, DOMAINS)), help="base-2 logarithms of the domains")
    parser.add_argument("--domain-rows", type=int, default=DOMAIN_ROWS, help="how many for each size of the domain")
    parser.add_argument("--domain-engines", help="which engines for each size of the domain, unless all of them")
    parser.add_argument("--engines", default="local,dask,spark", help="which engines, with commas between")
    parser.add_argument("--folder", type=Path, help="where to put the lakes, 3 bytes a report; else the system's")
    parser.add_argument("--document", action="store_true", help="also write the tables of docs/scale.md anew")
    return parser.parse_args()


def show(rows: list[Row], domains: list[Row]) -> bool:
    """Print the tables; return whether the local engine missed its target."""
    screen = Console(width=None if sys.stdout.isatty() else 130)
    if rows:
        screen.print(shown(f"FHR, eps = {EPSILON:g}, {CORES} cores, best of {TURNS} turns", rows))
        screen.print(projected(rows))
    if domains:
        screen.print(shown("The same by the size of the domain", domains))
    missed = [row for row in rows if row.engine == "local" and row.share < LEAST]
    for row in missed:
        screen.print(f"MISS: local at {row.reports:,} reports has {row.share:.2f} of the scan's speed, not {LEAST:.2f}")
    return bool(missed)


def save(rows: list[Row], domains: list[Row], path: Path | None, *, to_document: bool) -> None:
    """Write the tables of the document and the answers as JSON, as far as they are asked for."""
    where = machine() | {name: version(name) for name in PACKAGES}
    if to_document and rows:
        document.write("scale.md", "lakes", where, [lines(rows)])
        document.write("scale.md", "projection", where, [projected_rows(rows)])
    if to_document and domains:
        document.write("scale.md", "domains", where, [lines(domains)])
    if path:
        record = {"machine": where, "rows": [asdict(row) for row in rows + domains]}
        path.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
