"""An upload that goes on where it stopped: never behind what was counted without saying so, never ahead of it."""

import asyncio
import hashlib
import json
import os
import time

import pytest

from fldp import AsyncClient, Client, CollectorError, wire
from fldp.client import Sent
from fldp.client.uploading import TRUSTED_SECONDS, Acknowledged, state_folder
from support.client import TOKEN, survey
from support.raw_server import answer, raw
from support.serving import shell

ASKED = survey()
TOTAL, STEP = 5000, 1360  # four pieces of 1,024 bytes


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "reports.fldp"
    path.write_bytes(wire.encode(ASKED.oracle.privatize([k % 5 for k in range(TOTAL)]), ASKED.version))
    return path


class Counting:
    """A collector that counts what it gets, and is busy at some of its requests."""

    takes_body = True

    def __init__(self, *busy):
        self.busy, self.asked, self.keys = busy, 0, []

    def __call__(self, lines, body):
        self.asked += 1
        if self.asked in self.busy:
            return answer(b"{}", "503 Busy")
        self.keys += [line for line in lines if line.lower().startswith("idempotency-key")]
        return answer(json.dumps({"accepted": len(wire.decode(body))}).encode())


def send(url, file, folder, **options):
    with Client(url, TOKEN, retries=0) as client:
        return client.send_file(file, piece_bytes=1024, resume=folder, **options)


def interrupted(url, file, folder, **options):
    with pytest.raises(CollectorError, match="503"):
        send(url, file, folder, **options)


def test_what_was_acknowledged_is_not_sent_again(file, tmp_path):
    server, folder, told = Counting(3), tmp_path / "state", []
    with raw(server) as (url, _):
        interrupted(url, file, folder)
        (record,) = folder.iterdir()
        assert record.read_text().startswith(f"{2 * STEP} ")
        assert (record.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
        assert send(url, file, folder, progress=told.append) == Sent(TOTAL, 2, ASKED.version, 2 * STEP)
    assert told == [2 * STEP, STEP, TOTAL - 3 * STEP]
    assert len(server.keys) == len(set(server.keys)) == 4
    assert list(folder.iterdir()) == []


def test_an_event_loop_goes_on_too(file, tmp_path):
    server = Counting(2)

    async def send_file(url):
        async with AsyncClient(url, TOKEN, retries=0) as client:
            return await client.send_file(file, piece_bytes=1024, resume=tmp_path / "state")

    with raw(server) as (url, _):
        with pytest.raises(CollectorError, match="503"):
            asyncio.run(send_file(url))
        assert asyncio.run(send_file(url)).resumed == STEP
    assert len(server.keys) == 4


def changed_time(record, seconds):
    os.utime(record, (time.time() + seconds,) * 2)


CHANGES = {
    "another file": lambda file, record: file.write_bytes(
        wire.encode(ASKED.oracle.privatize([1] * TOTAL), ASKED.version)
    ),
    "too old": lambda file, record: changed_time(record, -TRUSTED_SECONDS - 5),
    "not yet": lambda file, record: changed_time(record, 3600),
    "torn": lambda file, record: record.write_text(record.read_text()[:-9]),
    "empty": lambda file, record: record.write_text(""),
    "bytes": lambda file, record: record.write_bytes(b"\xff\x00"),
    "another number": lambda file, record: record.write_text(record.read_text().replace(str(2 * STEP), str(3 * STEP))),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_number_that_may_be_wrong_is_not_believed(file, tmp_path, change):
    folder, server = tmp_path / "state", Counting(3)
    with raw(server) as (url, _):
        interrupted(url, file, folder)
        (record,) = folder.iterdir()
        CHANGES[change](file, record)
        assert send(url, file, folder) == Sent(TOTAL, 4, ASKED.version)
    assert len(server.keys) == 6


@pytest.mark.parametrize("number", [7, STEP + 1, TOTAL + 1, 4 * STEP, -STEP])
def test_a_number_that_no_piece_ends_at_is_not_believed(file, tmp_path, number):
    with raw(Counting()) as (url, _):
        Acknowledged(tmp_path, url, ASKED.version, _digest(file), "", STEP).write(number)
        assert send(url, file, tmp_path) == Sent(TOTAL, 4, ASKED.version)


@pytest.mark.parametrize(
    "other", [{"sender": "north"}, {"piece_bytes": 2048}, {}], ids=["sender", "piece", "collector"]
)
def test_another_upload_has_a_number_of_its_own(file, tmp_path, other):
    with raw(Counting(3)) as (url, _), raw(Counting()) as (second, _):
        interrupted(url, file, tmp_path / "state")
        options = {"piece_bytes": 1024, "resume": tmp_path / "state", **other}
        with Client(url if other else second, TOKEN, retries=0) as client:
            assert client.send_file(file, **options).resumed == 0
        assert send(url, file, tmp_path / "state").resumed == 2 * STEP


def _digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_from_the_start_means_it_also_after_an_interruption(file, tmp_path):
    """A collector that lost what it acknowledged gets all of it, in however many runs."""
    folder, server = tmp_path / "state", Counting(4, 6)
    with raw(server) as (url, _):
        interrupted(url, file, folder)
        server.keys.clear()  # restored from a copy
        interrupted(url, file, folder, from_start=True)
        assert send(url, file, folder).resumed == STEP
    assert len(set(server.keys)) == 4


def test_a_crash_before_the_number_is_removed(file, tmp_path):
    with raw(Counting()) as (url, seen):
        Acknowledged(tmp_path, url, ASKED.version, _digest(file), "", STEP).write(TOTAL)
        assert send(url, file, tmp_path) == Sent(TOTAL, 0, ASKED.version, TOTAL)
    assert seen == []


def test_where_nothing_can_be_noted_all_is_sent(file, tmp_path):
    (tmp_path / "state").write_text("not a folder")
    server = Counting()
    with raw(server) as (url, _):
        assert send(url, file, tmp_path / "state") == Sent(TOTAL, 4, ASKED.version)
        assert send(url, file, None) == Sent(TOTAL, 4, ASKED.version)


def test_old_numbers_are_cleared_away(tmp_path):
    old, fresh, other = (Acknowledged(tmp_path, name) for name in ("old", "fresh", "other"))
    for record in (old, fresh, other):
        record.write(7)
    (tmp_path / ".upload-half").write_text("")
    for path in (old._path, tmp_path / ".upload-half"):
        os.utime(path, (1.0, 1.0))
    other.remove()
    assert [path.name for path in tmp_path.iterdir()] == [fresh._path.name]


def test_the_shell_goes_on_and_says_so(file, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    server = Counting(3, 6)
    with raw(server) as (url, _):
        command = ("send", file, "--piece", "1024", "--retries", "0", "--to", url)
        shell(*command, token=TOKEN, code=2)
        _, said = shell(*command, token=TOKEN)
        assert said.splitlines()[0].startswith("2,720 of 5,000 reports were acknowledged before and are not sent again")
        assert "2,280 of 5,000 reports in 2 batches" in said
        shell(*command, token=TOKEN, code=2)
        server.keys.clear()
        _, said = shell(*command, "--from-start", token=TOKEN)
        assert "5,000 reports in 4 batches" in said
        assert "before" not in said
    assert str(tmp_path) not in said


@pytest.mark.parametrize("named", ["", "relative/place", None])
def test_the_folder_of_state(monkeypatch, named, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", named) if named is not None else monkeypatch.delenv("XDG_STATE_HOME", False)
    assert state_folder() == tmp_path / ".local" / "state" / "fldp"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "fldp"
