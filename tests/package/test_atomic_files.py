"""A file appears whole or not at all, and SQLite's errors are one line: each is written once."""

import errno
import io
import os
import sqlite3
import stat
import sys
import threading
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from fldp.collector.storage.protocol import StoreError
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.errors import FldpError
from fldp.participant.sqlite_store import FileStore
from fldp.support.atomic_files import open_output, whole_file
from fldp.support.sqlite_errors import sqlite_reason

SOURCE = Path(__file__).parents[2] / "src" / "fldp"


class BrokenError(Exception):
    """What a test raises in the middle of a file."""


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def half_written(path, **options):
    with whole_file(path, **options) as hidden:
        hidden.write_bytes(b"half")
        hidden.with_name(f"{hidden.name}-journal").touch()
        raise BrokenError


@pytest.mark.parametrize("name", ["file", "[a-z]*?", "blank name", "-"])
def test_a_file_appears_whole_or_not_at_all(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(BrokenError):
        half_written(path, replace=False)
    assert files(tmp_path) == {}
    with whole_file(path, replace=False) as hidden:
        hidden.write_bytes(b"first")
        assert not path.exists()
        assert hidden.stat().st_mode & 0o777 == 0o600
    with whole_file(path) as hidden:
        hidden.write_bytes(b"second")
    assert files(tmp_path) == {name: b"second"}


def test_a_file_that_is_there_stays(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"theirs")
    with pytest.raises(FileExistsError), whole_file(path, replace=False) as hidden:
        hidden.write_bytes(b"ours")
    assert files(tmp_path) == {"file": b"theirs"}


def test_the_content_is_on_the_disk_before_the_name(tmp_path, monkeypatch):
    steps = []
    for step in ("fsync", "replace", "link"):
        real = getattr(os, step)
        monkeypatch.setattr(os, step, lambda *arguments, step=step, real=real: (steps.append(step), real(*arguments)))
    with whole_file(tmp_path / "one") as hidden:
        hidden.touch()
    with whole_file(tmp_path / "two", replace=False) as hidden:
        hidden.touch()
    assert steps == ["fsync", "replace", "fsync", "fsync", "link", "fsync"]


@pytest.mark.parametrize(("code", "is_raised"), [(errno.EINVAL, False), (errno.EACCES, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_synchronized_is_no_error_but_a_broken_disk_is(tmp_path, monkeypatch, code, is_raised):
    def fail(handle, real=os.fsync):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(code, os.strerror(code))
        real(handle)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="error") if is_raised else nullcontext(), whole_file(tmp_path / "file") as hidden:
        hidden.write_bytes(b"whole")
    assert files(tmp_path) == {"file": b"whole"}


@pytest.mark.parametrize("call", ["mkstemp", "os.replace(", "os.link(", "sqlite_errorname"])
def test_one_file_does_it(call):
    assert len([path for path in SOURCE.rglob("*.py") if call in path.read_text()]) == 1


def test_stores_say_the_same_of_a_file_that_is_none(tmp_path):
    path = tmp_path / "diary.db"
    path.write_text("Dear diary, today I used firefox." * 100)
    for store, error in ((FileStore, FldpError), (SqliteStore, StoreError)):
        with pytest.raises(error, match=f"^{path}: is damaged or of another kind; restore it from a copy"):
            store(path)


def test_what_sqlite_says_is_one_line():
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.Error) as caught:
        connection.execute('SELECT * FROM "two\nlines"')
    assert sqlite_reason(caught.value).splitlines() == [sqlite_reason(caught.value)]


def test_binary_output_is_not_sent_to_a_terminal(monkeypatch):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal(io.BytesIO()))
    with pytest.raises(FldpError, match="standard output is a terminal: name a file with -o, or use a pipe"):
        open_output("-").__enter__()
    assert sys.stdout.buffer.getvalue() == b""


def test_a_named_pipe_is_written_and_not_replaced(tmp_path):
    pipe, seen = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: seen.append(pipe.read_bytes()))
    reader.start()
    with open_output(str(pipe)) as file:
        file.write(b"whole")
    reader.join()
    assert seen == [b"whole"]
    assert pipe.is_fifo()


def test_folders_on_the_way_are_made_where_that_is_asked_for(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    with pytest.raises(FldpError, match="file: cannot be written: No such file or directory"):
        open_output(str(path)).__enter__()
    with open_output(str(path), folders=True) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"
    with pytest.raises(FldpError, match="cannot be written: File exists"):
        open_output(str(path / "below"), folders=True).__enter__()
