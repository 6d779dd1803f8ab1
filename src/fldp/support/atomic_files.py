"""Files: input that may be a pipe, and output that appears whole or not at all."""

import errno
import glob
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from fldp.errors import FldpError

_CANNOT_SYNCHRONIZE = (errno.EACCES, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


@contextmanager
def open_input(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading; ``-`` is standard input.

    >>> with open_input(os.devnull) as file:
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
def open_output(path: str, *, folders: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name when the block succeeds; ``-`` is standard output.

    With ``folders``, missing folders on the way to it are created.
    """
    if path == "-":
        if sys.stdout.isatty():
            raise FldpError("standard output is a terminal: name a file with -o, or use a pipe")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists() and not target.is_file():  # a device or a named pipe cannot be replaced
        with target.open("wb") as file:
            yield file
        return
    with ExitStack() as stack:
        try:
            if folders:
                target.parent.mkdir(parents=True, exist_ok=True)
            hidden = stack.enter_context(whole_file(target))
        except OSError as error:
            raise FldpError(f"{path}: cannot be written: {error.strerror}") from None
        with hidden.open("wb") as file:
            yield file
        hidden.chmod(0o666 & ~_umask())


@contextmanager
def whole_file(path: Path, *, replace: bool = True) -> Iterator[Path]:
    """Yield a hidden file beside a path, readable by its owner only, that takes the path when the block succeeds.

    Its content is on the disk before it does, and its name when this ends. If the block fails, the hidden file is
    removed. Without ``replace`` a file that already exists stays, and ``FileExistsError`` is raised.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "answer")) as hidden:
    ...         _ = hidden.write_text("42")
    ...     Path(folder, "answer").read_text()
    '42'
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield Path(name)
        _synchronize(name)
        if replace:
            os.replace(name, path)
        else:
            os.link(name, path)  # unlike a renaming, this never replaces a file
        _synchronize_folder(path.parent)
    finally:
        Path(name).unlink(missing_ok=True)
        for left in () if replace else path.parent.glob(f"{glob.escape(Path(name).name)}*"):
            left.unlink()  # what a database had beside it


def _synchronize(path: str | Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _synchronize_folder(folder: Path) -> None:
    """Sync the entries of a folder to the disk: otherwise a power cut may bring back what was replaced.

    Some systems cannot do that with a folder, and some folders can be written to but not read.
    """
    try:
        _synchronize(folder)
    except OSError as error:
        if error.errno not in _CANNOT_SYNCHRONIZE:
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
