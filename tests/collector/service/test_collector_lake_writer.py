"""The lake that a collector writes, by itself and on request."""

import json
from datetime import UTC, datetime, timedelta

import fsspec
import pandas
import polars
import pyarrow.dataset
import pytest

import fldp
from fldp import Client, FldpError
from fldp.client import replies
from fldp.client.messages import Reply
from fldp.collector.config.settings import Settings
from fldp.collector.service.collector import Collector
from fldp.collector.service.folding import fold_day
from fldp.collector.service.lake_writer import GRACE, THERE, TOO_FEW, WRITTEN, CollectorLake, LakeWriter, write_lake
from fldp.collector.storage.backup import backup, restore_file
from fldp.collector.storage.protocol import Submission
from fldp.collector.storage.segments import in_order
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.window import DayWindow
from fldp.distributed import tally
from fldp.distributed.lake.layout import day_file
from fldp.distributed.lake.writing import remove_output, whole_output
from fldp.wire import parquet
from support.collector_store import publish, submission
from support.serving import collector, shell
from support.waiting import until
from support.withdrawals import taking

TODAY = "2026-11-04"


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    yield store
    store.close()


def fill(store, survey, number, **days):
    """Commit so many reports on some days, in several commits each."""
    for name, count in days.items():
        day = f"2026-11-{name.removeprefix('day')}"
        for k in range(0, count, 7):
            values = [v % 5 for v in range(k, min(k + 7, count))]
            store.commit([submission(survey, number, f"{day} {k}".encode(), values)], day)


def reports(path):
    with path.open("rb") as file:
        _, version, parts = parquet.read(file)
        return version, fldp.Reports.concatenate(list(parts))


def states(store, lake, today=TODAY, name=None):
    return {day: state for _, day, state in write_lake(store, lake, today, name)}


def files(lake):
    return sorted(path.relative_to(lake).as_posix() for path in lake.rglob("*") if path.is_file())


def kept(store, survey, number, day):
    with store.snapshot() as snapshot:
        return DayWindow(number, (day, day)).tally(snapshot, survey.oracle)


def test_days_that_are_over_are_written_once(store, tmp_path):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30, day02=9, day03=40, day04=50)
    lake = tmp_path / "lake"
    assert states(store, lake) == {"2026-11-01": WRITTEN, "2026-11-02": TOO_FEW, "2026-11-03": WRITTEN}
    first, third = (day_file(lake, survey.version, f"2026-11-0{day}") for day in (1, 3))
    assert files(lake) == sorted(path.relative_to(lake).as_posix() for path in (first, third))
    before = first.stat().st_ino, third.stat().st_ino
    assert states(store, lake) == {"2026-11-01": THERE, "2026-11-02": TOO_FEW, "2026-11-03": THERE}
    assert before == (first.stat().st_ino, third.stat().st_ino)
    result = tally(lake, survey.oracle)
    wanted = kept(store, survey, number, "2026-11-01") + kept(store, survey, number, "2026-11-03")
    assert (result.tally, result.survey) == (wanted, survey.version)


def test_other_programs_read_a_lake_as_it_is(store, tmp_path):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30, day03=40)
    lake = tmp_path / "lake"
    states(store, lake)
    assert pyarrow.dataset.dataset(lake, partitioning="hive").count_rows() == 70
    third = pandas.read_parquet(lake, filters=[("day", "=", "2026-11-03")])
    assert (len(third), set(third.columns)) == (40, {"plus", "minus", "survey", "day"})
    frame = polars.scan_parquet(lake, hive_partitioning=True).collect()
    assert frame.group_by("survey", "day").len().sort("day")["len"].to_list() == [30, 40]


def test_a_file_shows_nothing_of_how_its_reports_came(store, tmp_path):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=300)
    states(store, tmp_path / "lake")
    version, rows = reports(day_file(tmp_path / "lake", survey.version, "2026-11-01"))
    assert version == survey.version
    assert rows == in_order(rows)


def test_a_file_that_is_not_all_of_the_day_is_replaced(store, tmp_path):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30)
    lake = tmp_path / "lake"
    states(store, lake)
    path = day_file(lake, survey.version, "2026-11-01")
    store.commit([submission(survey, number, b"late", [1, 2])], "2026-11-01")
    assert states(store, lake) == {"2026-11-01": WRITTEN}
    assert len(reports(path)[1]) == 32
    path.write_bytes(path.read_bytes()[:-1])
    assert states(store, lake) == {"2026-11-01": WRITTEN}
    assert tally(lake).tally == kept(store, survey, number, "2026-11-01")


def test_a_day_is_written_anew_without_what_was_withdrawn_and_removed_below_the_minimum(store, tmp_path):
    survey, number = publish(store, minimum=10)
    sent = [submission(survey, number, b"%d" % k, [k % 5] * 8, secret=b"%d" % k) for k in range(3)]
    store.commit(sent, "2026-11-01")
    lake = tmp_path / "lake"
    assert states(store, lake) == {"2026-11-01": WRITTEN}
    path = day_file(lake, survey.version, "2026-11-01")
    for fold in (False, True):  # before and after it is folded
        if fold:
            fold_day(store, number, "2026-11-01", survey)
        else:
            store.commit([taking(sent[0])], "2026-11-05")
        days = states(store, lake)
        assert days == {"2026-11-01": THERE if fold else WRITTEN}
        assert len(reports(path)[1]) == 16
        assert tally(lake, survey.oracle).tally == kept(store, survey, number, "2026-11-01")
    store.commit([submission(survey, number, b"more", [1] * 8)], "2026-11-01")  # as many as before, and others
    assert states(store, lake) == {"2026-11-01": WRITTEN}
    store.commit([taking(sent[1]), taking(sent[2])], "2026-11-05")
    assert states(store, lake) == {"2026-11-01": TOO_FEW}
    assert not path.exists()


def test_a_withdrawal_before_the_first_look_does_not_make_a_file_of_before_a_restore_look_current(store, tmp_path):
    """The file lacks one report, the restored day another: as many reports and as many withdrawals."""
    survey, number = publish(store, minimum=10)
    sent = [submission(survey, number, b"%d" % k, [k % 5] * 8, secret=b"%d" % k) for k in range(3)]
    store.commit(sent, "2026-11-01")
    backup(store, tmp_path / "backup.db")
    store.commit([taking(sent[0])], "2026-11-02")
    lake, now = tmp_path / "lake", [datetime(2026, 11, 1, tzinfo=UTC)]
    assert states(store, lake) == {"2026-11-01": WRITTEN}
    restore_file(tmp_path / "backup.db", tmp_path / "restored.db")
    restored = SqliteStore(tmp_path / "restored.db")
    writer = LakeWriter(CollectorLake(restored, lake), lambda: now[0], pause=0.01)
    try:
        restored.commit([taking(sent[1])], "2026-11-02")
        now[0] += timedelta(days=2)
        until(lambda: writer.written)
        assert tally(lake, survey.oracle).tally == kept(restored, survey, number, "2026-11-01")
    finally:
        writer.stop()
        restored.close()


def test_a_file_is_removed_from_another_storage():
    files = fsspec.filesystem("memory")
    with whole_output("memory://withdrawn/a.parquet") as file:
        file.write(b"x")
    assert files.exists("/withdrawn/a.parquet")
    for _ in range(2):
        remove_output("memory://withdrawn/a.parquet")
        assert not files.exists("/withdrawn/a.parquet")


def test_what_keeps_no_reports_and_what_was_merged_are_not_in_a_lake(store, tmp_path):
    survey, number = publish(store, minimum=10, retention="tally")
    fill(store, survey, number, day01=30)
    assert states(store, tmp_path / "lake") == {}
    raw, number = publish(store, ["yes", "no", "perhaps", "never"], minimum=10)
    merged = raw.oracle.tally(raw.oracle.privatize([1] * 30))
    store.commit([Submission(number, b"tally", b"tally", merged, day="2026-11-01")], "2026-11-01")
    assert states(store, tmp_path / "lake") == {"2026-11-01": TOO_FEW}
    with pytest.raises(FldpError, match=r"^fldp: there is no survey named other$"):
        states(store, tmp_path / "lake", name="other")


def test_a_writer_that_is_stopped_leaves_no_file(store, tmp_path):
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30)

    class StoppedError(Exception):
        pass

    def stop():
        raise StoppedError

    with pytest.raises(StoppedError):
        list(write_lake(store, tmp_path / "lake", TODAY, watch=stop))
    assert files(tmp_path / "lake") == []


def test_a_collector_writes_a_day_when_it_is_over(tmp_path):
    """And not a moment before all commits of the day are through."""
    store = SqliteStore(tmp_path / "fldp.db")
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30, day02=30)
    midnight = datetime(2026, 11, 2, tzinfo=UTC)
    now = [midnight + GRACE - timedelta(seconds=1)]
    lake = tmp_path / "lake"
    writer = LakeWriter(CollectorLake(store, lake), lambda: now[0], pause=0.01)
    try:
        rounds, original = [], writer.round
        writer.round = lambda: (original(), rounds.append(1))
        until(lambda: len(rounds) > 1)
        assert not lake.exists()
        now[0] += timedelta(seconds=1)
        until(lambda: writer.written)
        assert files(lake) == [f"survey={survey.version}/day=2026-11-01/reports.parquet"]
        assert writer.failures == 0
        in_the_way = day_file(lake, survey.version, "2026-11-02").parent
        in_the_way.write_text("")
        now[0] += timedelta(days=1)
        until(lambda: writer.failures)  # and the next round tries again
        in_the_way.unlink()
        until(lambda: writer.written == 2)
    finally:
        writer.stop()
        store.close()


def test_the_setting_starts_the_writer(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30)
    running = Collector(Settings(data=tmp_path, lake=tmp_path / "lake"), store)
    try:
        until(lambda: files(tmp_path / "lake"))
        assert ("fldp_lake_write_failures_total", {}, 0) in running.present()
    finally:
        running.stop()


def test_a_lake_from_the_other_side(tmp_path):
    """The same days by a client, in the same files; what is there is not asked for again."""
    data, lake, own = tmp_path / "data", tmp_path / "lake", tmp_path / "own"
    data.mkdir()
    store = SqliteStore(data / "fldp.db")
    survey, number = publish(store, minimum=10)
    fill(store, survey, number, day01=30, day02=9, day03=40)
    store.close()
    with collector(data) as (url, token), Client(url, token) as client:
        assert client.days(survey) == [("2026-11-01", 30), ("2026-11-02", None), ("2026-11-03", 40)]
        client.send(survey.oracle.privatize([0] * 50), survey)  # today is not over
        assert client.export_lake(survey, lake, until="2026-11-02") == {"2026-11-01": WRITTEN, "2026-11-02": TOO_FEW}
        sizes = []
        said = client.export_lake(survey, lake, progress=sizes.append)
        assert said == {"2026-11-01": THERE, "2026-11-02": TOO_FEW, "2026-11-03": WRITTEN}
        assert sum(sizes) == day_file(lake, survey.version, "2026-11-03").stat().st_size
        assert tally(lake).tally == client.tally(survey, until="2026-11-01") + client.tally(
            survey, since="2026-11-03", until="2026-11-03"
        )
        _, beside = shell("export", survey.name, "--to", url, "--lake", lake, token=token)
        assert beside == f"{lake}: 2 days there already, 1 day too few reports\n"
        _, beside = shell("export", "--data", data, "--lake", own)
        assert beside == f"{own}: 2 days written, 1 day too few reports\n"
    for path in files(lake):
        assert reports(lake / path) == reports(own / path)


@pytest.mark.parametrize(
    "row", [{"day": "../../etc", "n": 1}, {"day": "20261101", "n": 1}, {"day": "2026-11-01", "n": -1}]
)
def test_a_day_becomes_a_folder_only_if_it_is_one(row):
    with pytest.raises(fldp.CollectorError, match="the answer is not a collector's"):
        replies.days(Reply(200, {}, json.dumps([row]).encode()))


def test_the_shell_wants_one_source_and_one_target(tmp_path):
    for arguments, complaint in [
        (("x", "--to", "http://127.0.0.1:1", "-o", "y", "--lake", "z"), "give --output or --lake, not both"),
        (("x",), "name the collector with --to, or give only --lake"),
        (("--to", "http://127.0.0.1:1", "--lake", "z"), "with --to, give the survey's name"),
    ]:
        assert complaint in shell("export", *arguments, code=2)[1]


def test_a_day_of_a_survey_that_was_deleted_and_published_again_is_written_anew(store, tmp_path):
    """It may have as many reports as before, and they are others."""
    for turn in range(2):
        survey, number = publish(store, minimum=1)
        sent = submission(survey, number, bytes([turn]), [turn] * 20)
        store.commit([sent], "2026-11-01")
        done = [what for _, _, what in write_lake(store, tmp_path / "lake", TODAY)]
        assert done == [WRITTEN]
        assert [what for _, _, what in write_lake(store, tmp_path / "lake", TODAY)] == [THERE]
        with day_file(tmp_path / "lake", survey.version, "2026-11-01").open("rb") as file:
            (part,) = parquet.read(file)[2]
        assert part == in_order(sent.content)
        store.delete_surveys([number])
