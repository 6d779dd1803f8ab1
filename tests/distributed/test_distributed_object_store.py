"""A lake on an object store: written by a collector and on request, read by the engines, a day whole or not there."""

import signal
import subprocess
import sys
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partialmethod

import fsspec
import pytest
from s3fs import S3FileSystem

from fldp import Client, FldpError
from fldp.collector.config.settings import Settings, SettingsError
from fldp.collector.service.lake_writer import THERE, TOO_FEW, WRITTEN, CollectorLake, LakeWriter, write_lake
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.distributed import tally
from fldp.distributed.lake import writing
from fldp.distributed.lake.writing import check_lake, day_name, reports_in, whole_output
from support.collector_store import publish, submission
from support.s3_server import object_store
from support.serving import collector, shell
from support.waiting import until

TODAY = "2026-11-04"


@pytest.fixture(scope="module")
def s3():
    with object_store() as objects:
        yield objects


@pytest.fixture
def lake(s3):
    return f"s3://{s3.bucket()}/reports/lake"


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    yield store
    store.close()


def fill(store, survey, number, **days):
    for name, count in days.items():
        day = f"2026-11-{name.removeprefix('day')}"
        store.commit([submission(survey, number, day.encode(), [value % 5 for value in range(count)])], day)


def states(store, lake, **options):
    return {day: state for _, day, state in write_lake(store, lake, TODAY, **options)}


def names(s3, lake):
    root = lake.removeprefix("s3://").split("/")[0]
    return sorted(s3.files.find(root))


def test_days_are_written_once_and_tallied_where_they_are(s3, store, lake):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30, day02=9, day03=40, day04=50)
    assert states(store, lake) == {"2026-11-01": WRITTEN, "2026-11-02": TOO_FEW, "2026-11-03": WRITTEN}
    expected = [day_name(lake, survey.version, f"2026-11-0{day}").removeprefix("s3://") for day in (1, 3)]
    assert names(s3, lake) == expected
    before = [s3.files.info(name)["LastModified"] for name in expected]
    assert states(store, lake) == {"2026-11-01": THERE, "2026-11-02": TOO_FEW, "2026-11-03": THERE}
    assert [s3.files.info(name)["LastModified"] for name in expected] == before
    result = tally(lake)
    assert (result.tally.n, result.survey) == (70, survey.version)


def test_a_day_that_is_not_whole_or_grew_is_replaced(s3, store, lake):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30)
    states(store, lake)
    store.commit([submission(survey, number, b"late", [1, 2])], "2026-11-01")
    assert states(store, lake) == {"2026-11-01": WRITTEN}
    assert tally(lake).tally.n == 32
    (name,) = names(s3, lake)
    s3.files.pipe_file(name, s3.files.cat_file(name)[:-1])
    assert reports_in(f"s3://{name}", survey.version) is None
    assert states(store, lake) == {"2026-11-01": WRITTEN}
    assert tally(lake).tally.n == 32


class StoppedError(Exception):
    pass


def test_what_is_given_up_leaves_nothing(s3, store, lake, tmp_path):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30)

    def stop():
        raise StoppedError

    with pytest.raises(StoppedError):
        states(store, lake, watch=stop)
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def give_up():
        with whole_output(f"{lake}/x.parquet", scratch) as file:
            file.write(bytes(1 << 20))
            assert len(list(scratch.iterdir())) == 1
            raise StoppedError

    with pytest.raises(StoppedError):
        give_up()
    assert names(s3, lake) == []
    assert list(scratch.iterdir()) == []


def test_a_part_is_there_when_all_of_it_has_come(s3, lake):
    content = bytes(range(256)) * (8 << 12)
    with whole_output(f"{lake}/large.bin") as file:
        file.write(content)
        file.flush()
        assert names(s3, lake) == []
    (name,) = names(s3, lake)
    assert s3.files.cat_file(name) == content


def test_an_upload_in_parts_that_breaks_leaves_nothing(s3, lake, monkeypatch):
    """What is large is sent in several requests: as it is here, where large is 5 MiB."""
    put, call, parts = S3FileSystem._put_file, S3FileSystem._call_s3, []

    async def breaking(self, method, *arguments, **options):
        if method == "upload_part":
            parts.append(options["PartNumber"])
            if breaks and parts[-1] == 2:
                raise OSError(5, "the line is dead")
        return await call(self, method, *arguments, **options)

    monkeypatch.setattr(S3FileSystem, "_put_file", partialmethod(put, chunksize=5 << 20, max_concurrency=1))
    monkeypatch.setattr(S3FileSystem, "_call_s3", breaking)
    S3FileSystem.clear_instance_cache()  # an instance keeps the methods that it began with
    content = bytes(range(256)) * (12 << 12)
    for breaks in (True, False):
        dead = pytest.raises(FldpError, match="the line is dead") if breaks else nullcontext()
        with dead, whole_output(f"{lake}/large.bin") as file:
            file.write(content)
        assert set(parts) >= ({1, 2} if breaks else {1, 2, 3})
        assert [s3.files.cat_file(name) for name in names(s3, lake)] == ([] if breaks else [content])
        parts.clear()
    S3FileSystem.clear_instance_cache()


DYING = """
import os, signal, sys
from functools import partialmethod
from s3fs import S3FileSystem
from fldp.distributed.lake.writing import whole_output

put, call = S3FileSystem._put_file, S3FileSystem._call_s3

async def dying(self, method, *arguments, **options):
    answer = await call(self, method, *arguments, **options)
    if method == "upload_part" and options["PartNumber"] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer

S3FileSystem._put_file = partialmethod(put, chunksize=5 << 20, max_concurrency=1)
S3FileSystem._call_s3 = dying
with whole_output(sys.argv[1]) as file:
    file.write(bytes(12 << 20))
"""


def test_a_writer_that_is_killed_within_an_upload_leaves_nothing(s3, lake):
    """Two of three parts have come; the next writer is not in their way."""
    killed = subprocess.run([sys.executable, "-c", DYING, f"{lake}/large.bin"], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert names(s3, lake) == []
    with whole_output(f"{lake}/large.bin") as file:
        file.write(b"whole")
    assert [s3.files.cat_file(name) for name in names(s3, lake)] == [b"whole"]


def test_a_failure_of_the_storage_is_one_line(store, s3, lake):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30)
    with pytest.raises(FldpError, match=r"^s3://no-such-bucket/lake/survey=.*: cannot be written: [^\n]+$"):
        states(store, "s3://no-such-bucket/lake")
    with pytest.raises(FldpError, match=r"^nowhere://x: cannot be written: ValueError: Protocol not known: nowhere$"):
        check_lake("nowhere://x")


def test_the_thread_of_a_collector_writes_there_and_tries_again(s3, store, lake):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30)
    bucket = f"later-{lake.split('/')[2]}"
    writer = LakeWriter(
        CollectorLake(store, f"s3://{bucket}/lake"), lambda: datetime(2026, 11, 4, tzinfo=UTC), pause=0.05
    )
    try:
        until(lambda: writer.failures)
        s3.files.mkdir(bucket)
        until(lambda: writer.written)
    finally:
        writer.stop()
    assert tally(f"s3://{bucket}/lake").tally.n == 30


def test_a_server_of_files_gets_a_hidden_name_first(tmp_path, monkeypatch):
    """As sftp and the like, whose files are there while they still grow: seen through a storage that tells."""
    seen = []

    class Telling(fsspec.get_filesystem_class("memory")):
        protocol = "telling"
        store, pseudo_dirs = {}, [""]

        def put_file(self, source, name, **options):
            seen.append(("put", name.rpartition("/")[2]))
            super().put_file(source, name, **options)

        def mv(self, one, other, **options):
            seen.append(("mv", other.rpartition("/")[2]))
            super().mv(one, other, **options)

    fsspec.register_implementation("telling", Telling, clobber=True)
    for content in (b"one", b"two"):
        with whole_output("telling://lake/day=1/x.parquet") as file:
            file.write(content)
    kinds, last = zip(*seen, strict=True)
    assert kinds == ("put", "mv") * 2
    assert all(name.startswith(".x.parquet.") for name in last[::2])
    ((name, content),) = Telling.store.items()
    assert (name.endswith("/lake/day=1/x.parquet"), content.getvalue()) == (True, b"two")


def test_a_server_that_cannot_rename_leaves_no_hidden_file(monkeypatch):
    memory = fsspec.filesystem("memory")
    monkeypatch.setattr(writing, "_OBJECT_STORES", set())
    monkeypatch.setattr(type(memory), "mv", lambda *_, **__: (_ for _ in ()).throw(PermissionError("no")))
    with pytest.raises(FldpError, match="cannot be written: PermissionError: no"), whole_output("memory://m/x") as file:
        file.write(b"x")
    assert memory.find("/m") == []


def test_the_commands_write_there(s3, tmp_path, lake):
    """``export --lake`` from the store, and the same over the network."""
    (tmp_path / "data").mkdir()
    store = SqliteStore(tmp_path / "data" / "fldp.db")
    survey, number = publish(store, minimum=2)
    fill(store, survey, number, day01=5)
    store.close()
    said = shell("export", "--data", str(tmp_path / "data"), "--lake", lake)[1]
    assert f"{lake}: 1 day written" in said
    elsewhere = f"s3://{s3.bucket()}"
    with collector(tmp_path / "data") as (url, token), Client(url, token) as client:
        assert client.export_lake(survey, lake) == {"2026-11-01": THERE}
        assert client.export_lake(survey, elsewhere) == {"2026-11-01": WRITTEN}
    assert tally(elsewhere).tally == tally(lake).tally


def test_the_command_of_a_collector_writes_there(s3, tmp_path, lake):
    """``serve --lake`` with days that are over: each is whole when it is first seen."""
    (tmp_path / "data").mkdir()
    store = SqliteStore(tmp_path / "data" / "fldp.db")
    survey, number = publish(store, minimum=2)
    fill(store, survey, number, day01=5, day02=7)
    store.close()
    counts = []

    def seen():
        counts.extend(reports_in(f"s3://{name}", survey.version) for name in names(s3, lake))
        return len(names(s3, lake)) == 2

    with collector(tmp_path / "data", "--lake", lake):
        until(seen)
    assert set(counts) <= {5, 7}
    assert tally(lake).tally.n == 12


def test_settings_take_an_address_without_a_secret(tmp_path):
    assert Settings.load({"lake": "s3://bucket/lake"}, {}).lake == "s3://bucket/lake"
    with pytest.raises(SettingsError, match="without a user and a password") as error:
        Settings.load({"lake": "sftp://me:s3cret@host/lake"}, {})
    assert "s3cret" not in str(error.value)
    command = [sys.executable, "-m", "fldp", "serve", "--check", "--data", str(tmp_path), "--lake"]
    good = subprocess.run([*command, "s3://bucket/lake"], capture_output=True, text=True, check=False)
    assert (good.returncode, "lake = s3://bucket/lake" in good.stdout) == (0, True)
    bad = subprocess.run([*command, "nowhere://x"], capture_output=True, text=True, check=False)
    assert bad.returncode
    assert bad.stderr == "nowhere://x: cannot be written: ValueError: Protocol not known: nowhere\n"
