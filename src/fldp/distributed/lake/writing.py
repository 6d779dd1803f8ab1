"""Writing a lake: a file appears under its name when all of it is there, on this machine or on any other storage.

On the disk it is written under a hidden name, and renamed. For another storage it is first written on this machine, and
then sent: an object store has an object when it has all of it. Where that is not so, as with a server of files, it
is sent under a hidden name, which readers of a lake pass over, and renamed there.
"""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO, cast

from fldp.distributed.lake.layout import Source, day_file
from fldp.distributed.lake.storage import is_url, local_path, open_file, remote_errors
from fldp.errors import FldpError
from fldp.support.atomic_files import open_output
from fldp.support.optional_imports import load
from fldp.wire import parquet

# Storages that have a file when they have all of it, by the protocols of their addresses.
_OBJECT_STORES = {"abfs", "abfss", "adl", "az", "gcs", "gs", "memory", "oci", "oss", "s3", "s3a"}


def day_name(lake: Source, survey: str, day: str | date) -> str:
    """Return the path or the address of the file for the reports of a survey version and a day.

    >>> day_name("s3://bucket/lake/", "2dff65b8", "2026-11-15")
    's3://bucket/lake/survey=2dff65b8/day=2026-11-15/reports.parquet'
    """
    root = os.fspath(lake)
    local = local_path(root)
    if local is not None:
        return str(day_file(local, survey, day))
    return f"{root.rstrip('/')}/{day_file('', survey, day).as_posix()}"


@contextmanager
def whole_output(name: str, scratch: Path | None = None) -> Iterator[BinaryIO]:
    """Open a file of a lake that appears under its name when the block succeeds.

    What goes to another storage is gathered in the folder ``scratch``, else in the system's for temporary files.
    """
    if not is_url(name):
        with open_output(name, folders=True) as file:
            yield file
        return
    with tempfile.NamedTemporaryFile(prefix=".fldp-lake-", dir=scratch) as gathered:
        yield cast("BinaryIO", gathered)
        gathered.flush()
        with remote_errors(name, "written"):
            _send(Path(gathered.name), *_reached(name))


def _reached(address: str) -> tuple[Any, str]:
    """Return the storage of an address, and the name there."""
    files, name = load("fsspec.core", "lake").url_to_fs(address)
    return files, name


def _send(file: Path, files: Any, name: str) -> None:
    protocols = {files.protocol} if isinstance(files.protocol, str) else set(files.protocol)
    if protocols & _OBJECT_STORES:
        files.put_file(str(file), name)
        return
    folder, _, last = name.rpartition("/")
    hidden = f"{folder}/.{last}.{secrets.token_hex(8)}"
    files.makedirs(folder, exist_ok=True)
    try:
        files.put_file(str(file), hidden)
        if files.exists(name):  # not every server renames onto what is there
            files.rm_file(name)
        files.mv(hidden, name)
    except BaseException:
        with suppress(Exception):
            files.rm_file(hidden)
        raise


def reports_in(name: str, survey: str, number: int | None = None) -> int | None:
    """Return how many reports of a survey a file of a lake holds, by its footer; None if there is no such file."""
    counted = counts_in(name, survey, number)
    return None if counted is None else counted[0]


def counts_in(name: str, survey: str, number: int | None = None) -> tuple[int, int] | None:
    """Return how many reports of a survey a file of a lake holds, and how many had been withdrawn when it was made."""
    try:
        with open_file(name) as file:
            return parquet.counts_in(file, survey, number)
    except (FldpError, OSError):  # if it is the storage that fails, writing says so
        return None


def remove_output(name: str) -> None:
    """Remove a file of a lake if it is there: so much of it was withdrawn that the rest must not be shown."""
    if not is_url(name):
        Path(name).unlink(missing_ok=True)
        return
    with remote_errors(name, "written"):
        files, path = _reached(name)
        if files.exists(path):
            files.rm_file(path)


def check_lake(lake: Source) -> None:
    """Refuse an address that no library here can reach. Nothing is asked of the storage itself."""
    address = os.fspath(lake)
    if local_path(address) is None:
        with remote_errors(address, "written"):
            _reached(address)
