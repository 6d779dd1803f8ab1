"""Files: input that may be a pipe, and output that appears whole or not at all."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fldp.errors import FldpError


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading; ``-`` is standard input.

    >>> with opened(os.devnull) as file:
    ...     file.read()
    b''
    """
    if path == "-":
        yield sys.stdin.buffer
        return
    try:
        file = open(path, "rb")  # noqa: SIM115
    except OSError as error:
        raise FldpError(f"{path}: cannot be read: {error.strerror}") from None
    with file:
        yield file


@contextmanager
def written(path: str, *, folders: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing under another name, and give it its own when all went well; ``-`` is standard output.

    With ``folders``, those that it lies in are made.
    """
    if path == "-":
        if sys.stdout.isatty():
            raise FldpError("standard output is a terminal: name a file with -o, or use a pipe")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists() and not target.is_file():  # a device or a named pipe has no other name
        with target.open("wb") as file:
            yield file
        return
    try:
        if folders:
            target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise FldpError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
