"""Scratch files: unnamed files for large answers, and a 503 where the disk has no room for them."""

import errno
import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from fldp.collector.service.problems import busy

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
_NOWHERE = "no folder for temporary files can be written; set TMPDIR to one that can"

log = logging.getLogger("fldp.collector")


def scratch_file(folder: Path | None) -> BinaryIO:
    """Open a file that is gone when it is closed."""
    if folder is None:
        raise OSError(errno.EROFS, _NOWHERE)
    try:
        return cast("BinaryIO", tempfile.TemporaryFile(dir=folder))
    except OSError as error:  # also where the folder is gone, or somebody else's
        raise OSError(errno.EROFS, f"{folder}: {error.strerror}") from None


@contextmanager
def making_room() -> Iterator[None]:
    """Answer 503 while the disk is full: it is no mistake of the collector, and it passes."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        log.error("no room for an answer", extra={"error": error.strerror})
        raise busy("the collector has no room on its disk for the answer, try again") from None


@contextmanager
def closing_on_error(file: BinaryIO) -> Iterator[None]:
    """Close a file that nobody will get. What it could not write before, it cannot now."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            file.close()
        raise
