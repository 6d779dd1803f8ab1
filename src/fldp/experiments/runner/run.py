"""Running an experiment: cell by cell, over the cores, into a table, with a journal on the way."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from itertools import islice
from multiprocessing import connection
from pathlib import Path

from fldp.errors import FldpError
from fldp.experiments.runner.cells import Cell, RunPlan
from fldp.experiments.runner.journal import Journal
from fldp.experiments.runner.plugins import use as use_file
from fldp.experiments.runner.specification import Specification
from fldp.experiments.runner.table import Table, check_ending
from fldp.support.progress import progress
from fldp.support.validation import integer

Measured = Iterator[tuple[int, list[float]]]


def run(
    specification: Specification,
    *,
    jobs: int = 1,
    full: bool = False,
    output: str | Path | None = None,
    use: Iterable[str | Path] = (),
) -> Table:
    """Run an experiment and return its table; the same seed gives the same table, however many ``jobs`` share the work.

    With ``full``, every user's report goes through the wire; otherwise a tally is drawn at once where its law is
    known. With an ``output``, the table is written there, and a journal beside it on the way: the same call after an
    interruption goes on where it was. ``use`` are Python files with datasets, metrics and oracles of your own.

    >>> small = Specification(["step"], ["oue"], [1.0], runs=2, top=[10])
    >>> run(small)
    <table of 8 measurements>
    """
    integer(1, 1024)("experiment", "jobs", jobs)
    for path in use:
        use_file(path)
    target = None if output is None else check_ending(output)
    plan = RunPlan.of(specification, full)
    with Journal(f"{target}.journal", plan.identity) if target else nullcontext() as journal:
        done = dict(journal.done) if journal else {}
        for number, values in _measured(plan, done, jobs, tuple(use)):
            done[number] = values
            if journal:
                journal.add(number, values)
        table = Table.of(row for number, cell in enumerate(plan.cells()) for row in plan.rows(cell, done[number]))
        if journal and target:
            table.write(target)
            journal.remove()
    return table


def _measured(plan: RunPlan, done: dict[int, list[float]], jobs: int, use: tuple[str | Path, ...]) -> Measured:
    """Yield the measurements of every cell that is not done, as they come.

    Run by run, so that all kinds of cells are met early and the time left is a good guess.
    """
    cells = plan.cells()
    missing = sorted((number for number in range(len(cells)) if number not in done), key=lambda n: cells[n].run)
    work = ((number, cells[number]) for number in missing)
    with progress("measuring", len(cells), len(cells) - len(missing)) as advance:
        many = _parallel(plan, work, jobs, use) if jobs > 1 and len(missing) > 1 else _serial(plan, work)
        for number, values in many:
            advance(1)
            yield number, values


def _serial(plan: RunPlan, work: Iterator[tuple[int, Cell]]) -> Measured:
    for number, cell in work:
        yield number, plan.measure(cell)


def _parallel(plan: RunPlan, work: Iterator[tuple[int, Cell]], jobs: int, use: tuple[str | Path, ...]) -> Measured:
    """Let processes of their own measure; spawned, because Numba's threads and a forked child do not go together."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(use, plan))
    waiting: set[Future[tuple[int, list[float]]]] = set()
    try:
        while True:
            waiting |= {pool.submit(_work, *task) for task in islice(work, 4 * jobs - len(waiting))}
            if not waiting:
                return
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
    except BrokenProcessPool:
        raise FldpError(
            "experiment: a worker process died; with an output, the same command goes on from here"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_plan: RunPlan


def _begin(use: tuple[str | Path, ...], plan: RunPlan) -> None:
    """Prepare a worker: an interruption is the parent's business, and nobody works for a parent that is gone."""
    global _plan
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for path in use:
        use_file(path)
    _plan = plan


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _work(number: int, cell: Cell) -> tuple[int, list[float]]:
    return number, _plan.measure(cell)
