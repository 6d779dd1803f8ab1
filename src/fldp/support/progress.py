"""Progress of long work: the callback that functions take, and a bar on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

Progress = Callable[[Any], object]
"""Called with how much was done since the last call."""

ProgressBar = Callable[[str, float | None], AbstractContextManager[Progress]]
"""Called with a title and a total, None if it is unknown, for each step of the work."""


def ignore(advance: float) -> None:
    """Do nothing: the progress of work that nobody watches."""
    del advance


@contextmanager
def progress(what: str, total: float | None, done: int = 0) -> Iterator[Progress]:
    """Show a bar and the time left while the block runs, if standard error is a terminal.

    >>> with progress("counting", 3) as advance:
    ...     advance(3)
    """
    if not sys.stderr.isatty():
        yield ignore
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    count = "{task.completed:,.0f}" if total is None else "{task.completed:,.0f} of {task.total:,.0f}"
    columns = (TextColumn(what), BarColumn(), TextColumn(count), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda advance: bar.advance(task, advance)
