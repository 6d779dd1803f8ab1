"""Witness: a small file beside a SQLite database that says how far its last commit was.

SQLite drops the end of a damaged write-ahead log without a word, acknowledged reports and their keys alike. The witness
is written after each commit. A database ahead of it is fine: the process ended between the two. A database behind it
has lost commits.

The file has two slots, written in turn, each with a checksum, so one of them is whole at any time. It is not synced:
the database is, before the witness is written, so a loss of power leaves the witness behind and never ahead.
"""

import hashlib
import logging
import os
import struct
from dataclasses import dataclass
from pathlib import Path

from fldp.collector.storage.protocol import StoreError

_MAGIC = b"fldpwit1"
_SLOT = struct.Struct("<8s16sq16s")
_DIGEST_BYTES = 16
_SECTOR = 512  # a slot is within one, which a disk writes whole or not at all
_BYTES = 2 * _SECTOR

log = logging.getLogger("fldp.collector")


@dataclass(frozen=True)
class Commit:
    """How far a database is: which one, after how many commits, and a digest of what they added up to."""

    identity: bytes
    number: int
    digest: bytes


def witness_path(database: Path) -> Path:
    """Return where the witness of a database is: beside the file itself, if its name is a symbolic link.

    >>> str(witness_path(Path("/nowhere/fldp.db")))
    '/nowhere/fldp.db-witness'
    """
    real = database.resolve()
    return real.with_name(f"{real.name}-witness")


class CommitWitness:
    """The witness of one database. It never keeps a commit from being acknowledged: what goes wrong is logged, once."""

    def __init__(self, database: Path) -> None:
        self.path = witness_path(database)
        self._handle: int | None = None
        self._failed = False

    def read(self) -> Commit | None:
        """Return the last commit that was witnessed; None if there is no witness."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                data = os.pread(handle, _BYTES, 0)
            finally:
                os.close(handle)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {error.strerror}") from None
        slots = [slot for start in (0, _SECTOR) if (slot := _unpacked(data[start:])) is not None]
        if not slots:
            raise StoreError(f"{self.path}: is damaged")
        return max(slots, key=lambda slot: slot.number)

    def write(self, commit: Commit) -> None:
        """Note a commit. Another process may do so at the same time: then the witness may lag, which is fine."""
        try:
            if self._handle is None:
                self._handle = self._open(commit)
            os.pwrite(self._handle, _packed(commit), commit.number % 2 * _SECTOR)
            self._failed = False
        except OSError as error:
            if not self._failed:
                log.warning("the witness cannot be written", extra={"path": str(self.path), "error": error.strerror})
            self._failed = True

    def replace(self, commit: Commit) -> None:
        """Begin anew with a commit, whatever the witness said before; in place, since a collector may have it open."""
        self.write(commit)
        if self._handle is None:
            raise StoreError(f"{self.path}: cannot be written")
        os.pwrite(self._handle, bytes(_SECTOR), (commit.number + 1) % 2 * _SECTOR)

    def close(self) -> None:
        """Let go of the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self, commit: Commit) -> int:
        """Open the file, created if missing. It gets its name when it is whole, so a crash leaves no empty one."""
        try:
            return os.open(self.path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            pass
        hidden = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(hidden, flags, 0o600)
        try:
            os.pwrite(handle, bytes(_BYTES), 0)
            os.pwrite(handle, _packed(commit), commit.number % 2 * _SECTOR)
            os.fsync(handle)
            os.rename(hidden, self.path)
        except BaseException:
            os.close(handle)
            hidden.unlink(missing_ok=True)
            raise
        return handle


def objection(database: Commit, witnessed: Commit | None) -> str | None:
    """Return what a witness has to say against a database, None if nothing.

    The witness must have been read before the database: what is committed in between is ahead of it.

    >>> before, after = Commit(bytes(16), 7, b"a"), Commit(bytes(16), 9, b"b")
    >>> objection(after, before), objection(before, after)
    (None, 'the last 2 commits are missing')
    """
    if witnessed is None:
        return None
    if database.identity != witnessed.identity:
        return "the witness belongs to another database"
    if database.number < witnessed.number:
        return f"the last {witnessed.number - database.number} commits are missing"
    if database.number == witnessed.number and database.digest != witnessed.digest:
        return "the last commit is not the one that was witnessed"
    return None


def _packed(commit: Commit) -> bytes:
    data = _SLOT.pack(_MAGIC, commit.identity, commit.number, commit.digest)
    return data + hashlib.sha256(data).digest()[:_DIGEST_BYTES]


def _unpacked(data: bytes) -> Commit | None:
    body, digest = data[: _SLOT.size], data[_SLOT.size : _SLOT.size + _DIGEST_BYTES]
    if len(body) < _SLOT.size or hashlib.sha256(body).digest()[:_DIGEST_BYTES] != digest:
        return None
    magic, identity, number, mark = _SLOT.unpack(body)
    return Commit(identity, number, mark) if magic == _MAGIC else None
