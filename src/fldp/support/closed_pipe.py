"""A closed pipe: somebody who pipes output into ``head`` has seen enough, and the command ends well."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ends_well() -> Iterator[None]:
    """End with exit code 0 if the reader of our output goes away. Typer and Rich would end with 1, as a failed check.

    Typer then replaces ``sys.stdout``, and Rich the file behind it: that is how their ends are told from others.
    """
    before = sys.stdout, _file_behind()
    try:
        yield
    except BrokenPipeError:
        _leave()
    except SystemExit:
        if (sys.stdout, _file_behind()) != before:
            _leave()
        raise


def _file_behind() -> tuple[int, int] | None:
    """Return what identifies the file behind standard output, None if there is none."""
    try:
        status = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return status.st_dev, status.st_ino


def _leave() -> None:
    """End, with nothing left to write: Python flushes standard output at the end, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
