"""Storage: where a lake lies. Folders and files of this machine, or of any other place through fsspec."""

import glob
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from fldp.errors import FldpError
from fldp.support.optional_imports import load

if TYPE_CHECKING:
    import pyarrow

File: TypeAlias = "io.RawIOBase | pyarrow.NativeFile"
_LOCAL = ("file://", "local://")


@dataclass(frozen=True)
class FileEntry:
    """A file or a folder; ``identity`` is the same for two names of one thing."""

    path: str
    size: int
    is_folder: bool
    identity: object


class Storage(Protocol):
    """A place where files of a lake are listed."""

    def entries(self, source: str) -> list[FileEntry]:
        """Return the files and folders that a path or a pattern names."""

    def inside(self, folder: FileEntry) -> list[FileEntry]:
        """Return the files and folders directly inside a folder."""


def storage_of(source: str) -> tuple[Storage, str]:
    """Return the storage of a source, and its name there."""
    local = local_path(source)
    return (Remote(), source) if local is None else (Disk(), local)


def local_path(source: str) -> str | None:
    """Return the path of a source on this machine; None if it is the address of something else.

    >>> local_path("file:///srv/lake"), local_path("lake"), local_path("s3://bucket/lake")
    ('/srv/lake', 'lake', None)
    """
    for start in _LOCAL:
        if source.startswith(start) and "::" not in source:
            return source.removeprefix(start)
    return None if is_url(source) else source


def is_url(source: str) -> bool:
    """Whether a source is an address, not a path of this machine.

    >>> is_url("s3://bucket/lake"), is_url("lake/day=2026-11-01")
    (True, False)
    """
    return "://" in source


@contextmanager
def open_file(path: str) -> Iterator[File]:
    """Open a file of a lake for pyarrow. A failure of the storage is an FldpError, never a bad file."""
    if not is_url(path):
        with _local_errors(path), load("pyarrow", "parquet").OSFile(path) as file:
            yield file
        return
    with remote_errors(path):
        files, name = load("fsspec.core", "lake").url_to_fs(path)  # an archive is closed with the last reference to it
        source = files.open(name, "rb")
    with source:
        yield _RemoteFile(source, path)


@contextmanager
def _local_errors(path: str) -> Iterator[None]:
    """Turn errors of the disk into one line. An OSError of pyarrow without a number is about the content of a file."""
    try:
        yield
    except FldpError:
        raise
    except OSError as error:
        if error.errno is None:
            raise
        raise FldpError(f"{path}: cannot be read: {os.strerror(error.errno)}") from None


class _RemoteFile(io.RawIOBase):
    """A remote file whose errors, of whatever library, become FldpErrors."""

    def __init__(self, file: Any, path: str) -> None:
        self._file, self._path = file, path

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        with remote_errors(self._path):
            return int(self._file.tell())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with remote_errors(self._path):
            return int(self._file.seek(offset, whence))

    def read(self, size: int = -1) -> bytes:
        with remote_errors(self._path):
            return bytes(self._file.read(size))


@contextmanager
def remote_errors(source: str, what: str = "read") -> Iterator[None]:
    """Turn any error of a library for remote storage into one line."""
    try:
        yield
    except FldpError:
        raise
    except ImportError as error:  # fsspec knows the protocol, and names what to install for it
        raise FldpError(f"{source}: cannot be {what}: {_line(error)}") from None
    except FileNotFoundError:
        raise FldpError(f"{source}: cannot be {what}: No such file or directory") from None
    except Exception as error:
        raise FldpError(f"{source}: cannot be {what}: {type(error).__name__}: {_line(error)}") from None


def _line(error: Exception) -> str:
    return (str(error).splitlines() or ["no reason given"])[0]


class Disk:
    """The files of this machine. Two names of one file, such as a link, have the same identity."""

    def entries(self, source: str) -> list[FileEntry]:
        if os.path.lexists(source) or not glob.has_magic(source):
            return [self._entry(source)]
        return [self._entry(path) for path in glob.glob(source, recursive=True)]

    def inside(self, folder: FileEntry) -> list[FileEntry]:
        try:
            names = os.listdir(folder.path)
        except OSError as error:
            raise FldpError(f"{folder.path}: cannot be read: {error.strerror}") from None
        return [self._entry(os.path.join(folder.path, name)) for name in names]

    def _entry(self, path: str) -> FileEntry:
        try:
            status = os.stat(path)
        except OSError as error:
            raise FldpError(f"{path}: cannot be read: {error.strerror}") from None
        return FileEntry(path, status.st_size, S_ISDIR(status.st_mode), os.path.realpath(path))


class Remote:
    """Everything that fsspec reaches: s3, gs, abfs, http, ..., each by a library that the user installs."""

    def entries(self, source: str) -> list[FileEntry]:
        with remote_errors(source):
            files, name = load("fsspec.core", "lake").url_to_fs(source)
            if glob.has_magic(name) and not files.exists(name):
                return [_entry(source, files, info) for info in files.glob(name, detail=True).values()]
            return [_entry(source, files, files.info(name))]

    def inside(self, folder: FileEntry) -> list[FileEntry]:
        with remote_errors(folder.path):
            files, name = load("fsspec.core", "lake").url_to_fs(folder.path)
            listing = files.ls(name, detail=True)
            # Some stores keep a nameless object that stands for the folder itself.
            return [
                _entry(folder.path, files, info) for info in listing if info["name"].rstrip("/") != name.rstrip("/")
            ]


def _entry(source: str, files: Any, info: dict[str, Any]) -> FileEntry:
    path, is_folder = _address(source, files, info["name"]), info["type"] == "directory"
    size = 0 if is_folder else info["size"] if info.get("size") is not None else files.size(info["name"])
    return FileEntry(path, int(size or 0), is_folder, path)


def _address(source: str, files: Any, name: str) -> str:
    """Return the address of a file inside ``source``, with the same chain of protocols around it."""
    outer, chained, inner = source.partition("::")
    if not chained:
        return str(files.unstrip_protocol(name))
    if "://" in outer:  # such as zip://name::s3://bucket/archive.zip
        return f"{outer.partition('://')[0]}://{name}::{inner}"
    return f"{outer}::{inner.partition('://')[0]}://{name.lstrip('/')}"
