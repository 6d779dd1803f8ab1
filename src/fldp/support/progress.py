"""Progress bar on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(what: str, total: float | None, done: int = 0) -> Iterator[Callable[[float], None]]:
    """Show a bar and the time left while the block runs, if standard error is a terminal.

    >>> with progress("counting", 3) as advance:
    ...     advance(3)
    """
    if not sys.stderr.isatty():
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    count = "{task.completed:,.0f}" if total is None else "{task.completed:,.0f} of {task.total:,.0f}"
    columns = (TextColumn(what), BarColumn(), TextColumn(count), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda advance: bar.advance(task, advance)


def _ignore(advance: float) -> None:
    del advance
