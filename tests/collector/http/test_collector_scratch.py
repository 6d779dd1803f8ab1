"""Scratch files, full disks, and working folders that cannot be written: 503 where there is no room, never 500."""

import os
import random
import signal
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from fldp.collector.config.settings import Settings
from soak.faults.disk import SmallDisk, SmallFiles, disks, mounted
from support.collector_server import Server, batch, specification
from support.postgres_server import server
from support.waiting import until

LABELS = [f"label {k}" for k in range(33_000)]  # estimates and tallies of so many are kept in a file
REPORTS = 20_000
LONG = 300  # seconds that nothing should take


class Elsewhere(Server):
    """A collector that is started in some folder, with its log in another, and told nothing of its data."""

    def __init__(self, folder, *, cwd, temporary=None, **settings):
        self.cwd, self.temporary = cwd, temporary
        super().__init__(folder, **settings)

    def command(self):
        program, module, name, serve, _, _, *flags = super().command()
        return ["env", "-C", str(self.cwd), program, module, name, serve, *flags]

    def environment(self):
        return {**os.environ, "PYTHONSAFEPATH": "1", **({"TMPDIR": str(self.temporary)} if self.temporary else {})}


def filled(collector):
    """Publish a survey with large answers; return the paths of these."""
    survey = collector.publish({**specification(retention="raw", minimum=1), "labels": LABELS})
    assert collector.send(survey, batch(survey, REPORTS)).status_code == 200
    return [f"/v1/versions/{survey.version}/{what}" for what in ("estimates", "tally", "export")], survey


def answers(collector, paths):
    with collector.admin as client:
        return [client.get(path) for path in paths]


def readyz(collector):
    with collector.client() as client:
        return client.get("/readyz").status_code


def test_large_answers_need_no_working_folder(tmp_path):
    """The folder /proc can be written by nobody, however privileged."""
    collector = Elsewhere(tmp_path, cwd="/proc", database=server().database())
    try:
        paths, _ = filled(collector)
        replies = answers(collector, paths)
        assert [answer.status_code for answer in replies] == [200] * 3
        assert all(len(answer.content) > 1 << 18 for answer in replies[:2])
        assert collector.stop() == 0
    finally:
        collector.stop(signal.SIGKILL)


def test_scratch_files_are_never_in_the_working_folder(tmp_path, monkeypatch):
    """Not even where there is no other: ``tempfile`` would take it then."""
    monkeypatch.chdir(tmp_path)
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, "")
    settings = Settings.load({"database": "postgresql:///x"}, {})
    assert settings.scratch == Path("/tmp")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert settings.scratch == tmp_path  # where it is told to be one
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    assert settings.scratch == Path("/tmp")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert settings.scratch is None
    assert Settings.load({"data": tmp_path}, {}).scratch == tmp_path


@contextmanager
def disk(kind, folder):
    """Give a disk that can be filled, of a kind if that can be had here."""
    with disks(folder) as kinds:
        yield next(
            fallback for fallback in (*kinds[::-1], *kinds) if isinstance(fallback, kind) or fallback is kinds[0]
        )


def refused(collector, paths, small):
    """Whether all is refused on a full disk. It is filled anew each time: the collector cuts its log now and then."""
    small.fill(collector, random.Random(1))
    replies = answers(collector, paths)
    assert {reply.status_code for reply in replies} <= {200, 503}
    return [reply.headers.get("retry-after") for reply in replies] == ["1"] * len(replies)


@pytest.mark.parametrize("kind", [SmallDisk, SmallFiles])
def test_a_full_disk_is_503_for_reads_too_and_not_ready(tmp_path, kind):
    (tmp_path / "logs").mkdir()
    with disk(kind, tmp_path) as small:
        collector = Stored(tmp_path / "logs", small.folder)
        try:
            paths, survey = filled(collector)
            assert [answer.status_code for answer in answers(collector, paths)] == [200] * 3
            until(lambda: collector.counts() == {survey.version: REPORTS}, LONG)
            until(lambda: refused(collector, paths, small), LONG)
            until(lambda: readyz(collector) == 503, LONG)
            small.empty(collector)
            until(lambda: readyz(collector) == 200, LONG)
            assert [answer.status_code for answer in answers(collector, paths)] == [200] * 3
            assert collector.stop() == 0
        finally:
            collector.stop(signal.SIGKILL)
    assert "a mistake of the collector" not in (tmp_path / "logs" / "log").read_text()


class Stored(Server):
    """A collector whose data is elsewhere than its log."""

    def __init__(self, folder, data, **settings):
        self.elsewhere = data
        super().__init__(folder, **settings)

    @property
    def data(self):
        return self.elsewhere


def test_with_postgresql_a_full_temporary_folder_is_503_for_large_answers_alone(tmp_path):
    (tmp_path / "logs").mkdir()
    with mounted(tmp_path / "disk", 48) as folder:
        if not folder.is_mount():
            pytest.fail("needs the right to mount")
        small = SmallDisk(folder)
        collector = Elsewhere(tmp_path / "logs", cwd="/", temporary=folder, database=server().database())
        try:
            paths, survey = filled(collector)
            until(lambda: refused(collector, paths, small), LONG)
            assert collector.send(survey).status_code == 200
            small.empty(collector)
            assert [answer.status_code for answer in answers(collector, paths)] == [200] * 3
            assert collector.stop() == 0
        finally:
            collector.stop(signal.SIGKILL)


def test_a_database_that_is_locked_is_not_ready(tmp_path):
    collector = Server(tmp_path)
    try:
        with collector.client() as client, closing(sqlite3.connect(tmp_path / "fldp.db")) as other:
            assert client.get("/readyz").json() == {"status": "ready"}
            other.execute("BEGIN IMMEDIATE")
            until(lambda: client.get("/readyz").status_code == 503, LONG)
            assert client.get("/healthz").status_code == 200
            other.rollback()
            until(lambda: client.get("/readyz").status_code == 200, LONG)
        assert collector.stop() == 0
    finally:
        collector.stop(signal.SIGKILL)


def test_a_database_that_can_only_be_read_is_not_ready(tmp_path):
    url = server().database()
    collector = Server(tmp_path, database=url)
    name = url.rpartition("/")[2]
    try:
        with collector.client() as client:
            assert client.get("/readyz").json() == {"status": "ready"}
            server().ask(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
            server().cut(url)
            until(lambda: client.get("/readyz").status_code == 503, LONG)
            server().ask(f"ALTER DATABASE {name} RESET default_transaction_read_only")
            server().cut(url)
            until(lambda: client.get("/readyz").status_code == 200, LONG)
        assert server().ask("SELECT count(*) FROM fldp.segments", name=name) == [(0,)]  # it leaves nothing behind
        assert collector.stop() == 0
    finally:
        collector.stop(signal.SIGKILL)
