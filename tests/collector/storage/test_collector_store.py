"""The store: counts once, keeps nothing that joins reports to senders, folds without losing, and notices damage."""

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest

from fldp import Reports, Survey, Tally
from fldp.collector.service import tokens
from fldp.collector.service.folding import Folder, fold_day, fold_step
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.protocol import Admitted, StoreError, Submission, SubmittedRow
from fldp.collector.storage.segments import MAX_BYTES, in_order, mixed, packed, reports_of
from fldp.collector.storage.sqlite import file as sqlite_file
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.window import ALL, DayWindow
from support import cases
from support.collector_server import specification
from support.collector_store import DAY, STORES, damage, opened, publish, rows, submission, whole
from support.waiting import until

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    store = opened(request.param, tmp_path)
    yield store
    store.close()


@pytest.fixture
def sqlite_store(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    yield store
    store.close()


def test_single_reports_that_come_together_count_once_each(store):
    """They are written as if all their keys were new; one that is known, or comes twice, or a closed survey decides."""
    survey, number = publish(store)
    drawn = survey.oracle.privatize([0, 1, 2, 3])

    def commit(*names):
        singles = [SubmittedRow(number, *[bytes([k]) * 32] * 3, (drawn, row)) for row, k in enumerate(names)]
        return [outcome.verdict for outcome in store.commit(singles, DAY)]

    assert commit(1, 2) == [Admitted.ACCEPTED] * 2
    assert commit(3, 1, 4) == [Admitted.ACCEPTED, Admitted.REPEATED, Admitted.ACCEPTED]
    assert commit(5, 5) == [Admitted.ACCEPTED, Admitted.REPEATED]
    assert whole(store, survey, number).n == 5
    store.close_surveys([number], "2026-11-01T00:00:00Z")
    assert commit(6) == [Admitted.CLOSED]
    assert whole(store, survey, number).n == 5


def test_single_reports_and_a_batch_that_come_together_are_all_counted(store):
    survey, number = publish(store)
    drawn = survey.oracle.privatize([0, 1])
    singles = [SubmittedRow(number, *[bytes([row]) * 32] * 3, (drawn, row)) for row in (0, 1)]
    batch = submission(survey, number, b"b" * 32, [0, 1, 2])
    outcomes = store.commit([singles[0], batch, singles[1]], DAY)
    assert [(outcome.verdict, outcome.accepted) for outcome in outcomes] == [(Admitted.ACCEPTED, n) for n in (1, 3, 1)]
    assert whole(store, survey, number) == survey.oracle.tally(Reports.concatenate([drawn, batch.content]))


@pytest.mark.parametrize("name", list(cases.CASES)[::7])
def test_what_is_stored_is_what_came_in_an_order_of_its_own(name):
    _, oracle = cases.CASES[name]
    reports = oracle.privatize(np.arange(300) % oracle.domain_size, rng=1)
    backwards = Reports(oracle, np.ascontiguousarray(reports.data[::-1]))
    (one,) = packed([reports[:100], reports[100:]])
    (two,) = packed([backwards[:7], backwards[7:]])
    assert one == two
    assert oracle.tally(reports_of(oracle, one)) == oracle.tally(reports)
    assert in_order(reports) == reports_of(oracle, one)


def test_a_large_batch_is_cut_into_rows_of_bounded_size():
    oracle = Survey.from_dict(specification(oracle={"name": "oue", "epsilon": 1.0})).oracle
    reports = oracle.privatize(np.zeros(2_000_000, np.int64), rng=1)
    parts = packed([reports])
    assert len(parts) == 2
    assert max(len(part.data) for part in parts) <= MAX_BYTES
    assert sum(part.n for part in parts) == 2_000_000


def test_duplicates_in_one_commit_count_once_and_get_one_answer(store):
    survey, number = publish(store)
    first = submission(survey, number, b"a" * 32, [0, 1, 2])
    other = submission(survey, number, b"a" * 32, [0], body=b"else")
    outcomes = store.commit([first, first, other, first], DAY)
    assert [outcome.verdict for outcome in outcomes] == [
        Admitted.ACCEPTED,
        Admitted.REPEATED,
        Admitted.CONFLICT,
        Admitted.REPEATED,
    ]
    assert [outcome.accepted for outcome in outcomes] == [3, 3, 0, 3]
    assert whole(store, survey, number) == survey.oracle.tally(first.content)


def test_the_same_key_for_another_survey_is_another_key(store):
    one, number = publish(store)
    two, other = publish(store, name="other")
    outcomes = store.commit([submission(one, number, b"k"), submission(two, other, b"k")], DAY)
    assert [outcome.verdict for outcome in outcomes] == [Admitted.ACCEPTED] * 2


def test_a_failed_transaction_counts_nothing(store, monkeypatch):
    survey, number = publish(store)
    broken = submission(survey, number, b"b", [1])
    object.__setattr__(broken, "content", "neither reports nor a tally")
    monkeypatch.setattr(Submission, "n", property(lambda self: 1))
    with pytest.raises(Exception, match="str"):
        store.commit([submission(survey, number, b"a"), broken], DAY)
    monkeypatch.undo()
    assert rows(store, "SELECT count(*) FROM keys") == [(0,)]
    assert store.commit([submission(survey, number, b"a")], DAY)[0].verdict is Admitted.ACCEPTED


def test_a_full_disk_counts_nothing(sqlite_store):
    store = sqlite_store
    survey, number = publish(store)
    pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
    store._writer.execute(f"PRAGMA max_page_count = {pages}")
    values = np.zeros(200_000, np.int64)
    with pytest.raises(StoreError, match="full"):
        store.commit([submission(survey, number, b"a", values)], DAY)
    store._writer.execute("PRAGMA max_page_count = 1000000")
    assert store.counts() == {}
    assert store.commit([submission(survey, number, b"a", values)], DAY)[0].accepted == 200_000


def test_closed_and_deleted_surveys_take_nothing_but_answer_what_they_answered(store):
    survey, number = publish(store)
    before = submission(survey, number, b"a", [1, 2])
    store.commit([before], DAY)
    store.close_surveys([number], "2026")
    again, new = store.commit([before, submission(survey, number, b"b")], DAY)
    assert (again.verdict, again.accepted, new.verdict) == (Admitted.REPEATED, 2, Admitted.CLOSED)
    store.reopen_survey(number)
    again, new = store.commit([before, submission(survey, number, b"b")], DAY)
    assert (again.verdict, new.verdict) == (Admitted.REPEATED, Admitted.ACCEPTED)
    assert whole(store, survey, number).n == 3
    store.delete_surveys([number])
    assert store.commit([before], DAY)[0].verdict is Admitted.GONE
    for table in ("segments", "tallies", "keys", "tickets"):
        assert rows(store, f"SELECT count(*) FROM {table}") == [(0,)]


def test_a_ticket_is_spent_once(store):
    survey, number = publish(store, submit="ticket")
    (ticket,) = tokens.create_tickets(store, number, 1)
    spent = tokens.digest(ticket)
    first, second = (submission(survey, number, name, ticket=spent) for name in (b"a", b"b"))
    outcomes = store.commit([first, second, first], DAY)
    assert [outcome.verdict for outcome in outcomes] == [Admitted.ACCEPTED, Admitted.SPENT, Admitted.REPEATED]
    assert whole(store, survey, number).n == 1


def test_nothing_joins_reports_to_keys_or_tickets(store):
    """One row of reports for a commit, in an order of its own; keys and tickets without row numbers or times."""
    survey, number = publish(store)
    many = [submission(survey, number, bytes([50 - k]) * 32, [k % 5]) for k in range(40)]
    store.commit(many, DAY)
    (data,) = [row[0] for row in rows(store, "SELECT data FROM segments")]
    (backwards,) = packed([new.content for new in reversed(many)])
    assert data == backwards.data
    kept_of_keys = "survey key body accepted checksum day withdrawn"  # of the day a hash that needs the key itself
    for table, columns in (("keys", kept_of_keys), ("tickets", "survey ticket spent checksum")):
        assert columns_of(store, table) == columns.split()
    kept = [row[0] for row in rows(store, "SELECT key FROM keys")]
    assert kept == sorted(kept)


def columns_of(store, table):
    if isinstance(store, SqliteStore):
        with pytest.raises(sqlite3.OperationalError):
            rows(store, f"SELECT rowid FROM {table}")
        return [row[1] for row in rows(store, f"PRAGMA table_info({table})")]
    query = "SELECT attname FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0 ORDER BY attnum"
    return [row[0] for row in rows(store, query, table)]


@pytest.mark.parametrize("retention", ["raw", "tally"])
def test_folding_changes_no_tally(store, retention):
    survey, number = publish(store, retention=retention)
    sent, days = [], [DAY, "2026-11-02"]
    for k in range(12):
        new = submission(survey, number, bytes([k]), np.arange(50 + k) % 5)
        sent.append(new.content)
        store.commit([new], days[k % 2])
        if k % 4 == 3:
            expected = sum(survey.oracle.tally(reports) for reports in sent)
            assert whole(store, survey, number) == expected
            assert sum(fold_day(store, number, day, survey) for day in days) > 0
            assert whole(store, survey, number) == expected
            assert store.pending() == []
    left = rows(store, "SELECT day, n FROM segments ORDER BY day")
    assert left == ([] if retention == "tally" else [(days[0], 330), (days[1], 336)])
    assert fsck(store)[1] == []


def test_folding_goes_in_steps(store, monkeypatch):
    survey, number = publish(store)
    monkeypatch.setattr("fldp.collector.service.folding.STEP_BYTES", 1)
    monkeypatch.setattr("fldp.collector.service.folding.state_bytes", lambda oracle: 1)
    for k in range(5):
        store.commit([submission(survey, number, bytes([k]), [k])], DAY)
    before = whole(store, survey, number)
    steps = []
    fold = store.fold
    monkeypatch.setattr(store, "fold", lambda step: steps.append(step) or fold(step))
    assert fold_day(store, number, DAY, survey) == 5
    assert len(steps) == 5
    assert whole(store, survey, number) == before


def test_a_fold_of_a_survey_that_is_deleted_meanwhile_does_nothing(store, monkeypatch):
    survey, number = publish(store)
    store.commit([submission(survey, number, b"a", [1])], DAY)
    fold = store.fold

    def late(step):
        store.delete_surveys([number])
        return fold(step)

    monkeypatch.setattr(store, "fold", late)
    assert fold_day(store, number, DAY, survey) == 0
    assert rows(store, "SELECT count(*) FROM tallies") == [(0,)]


def planned(store, survey, number):
    """Return a fold step that is worked out, and not done yet."""
    return fold_step(store, number, DAY, survey, store.tail(number, DAY, 1 << 20))


@pytest.mark.parametrize("retention", ["raw", "tally"])
def test_a_fold_step_of_a_deleted_survey_takes_no_rows_of_others_and_brings_nothing_back(store, retention):
    one, first = publish(store, retention=retention)
    two, second = publish(store, name="other", retention=retention)
    store.commit([submission(one, first, b"a", [1, 2])], DAY)
    step = planned(store, one, first)
    store.delete_surveys([first])
    sent = submission(two, second, b"b", [3])
    store.commit([sent], DAY)
    assert not store.fold(step)
    assert rows(store, "SELECT survey, n FROM segments") == [(second, 1)]
    assert rows(store, "SELECT count(*) FROM tallies") == [(0,)]
    assert whole(store, two, second) == two.oracle.tally(sent.content)
    assert fsck(store)[1] == []


def test_the_number_of_a_row_is_never_used_again(store):
    survey, number = publish(store)
    seen = set()
    for k in range(4):
        store.commit([submission(survey, number, bytes([k]), [1])], DAY)
        (row,) = [segment[0] for segment in rows(store, "SELECT id FROM segments")]
        assert row not in seen
        seen.add(row)
        store.delete_surveys([number])
        survey, number = publish(store)


def test_a_fold_step_removes_rows_of_its_own_survey_and_day_only(store):
    one, first = publish(store)
    two, second = publish(store, name="other")
    store.commit([submission(one, first, b"a", [1])], DAY)
    store.commit([submission(two, second, b"b", [2])], DAY)
    store.commit([submission(one, first, b"c", [3])], "2026-11-02")
    before = rows(store, "SELECT id, survey, day, n, folded FROM segments ORDER BY id")
    step = planned(store, one, first)
    for row, _, _, _, _ in before[1:]:
        assert not store.fold(replace(step, removed=(row,)))
        assert not store.fold(replace(step, removed=(*step.removed, row)))
    assert rows(store, "SELECT id, survey, day, n, folded FROM segments ORDER BY id") == before
    assert rows(store, "SELECT count(*) FROM tallies") == [(0,)]
    assert store.fold(step)
    assert not store.fold(step)


def test_a_fold_step_of_no_rows_writes_nothing_for_a_survey_that_is_gone(store):
    survey, number = publish(store)
    store.commit([submission(survey, number, b"a", [1])], DAY)
    step = planned(store, survey, number)
    store.delete_surveys([number])
    assert not store.fold(replace(step, removed=()))
    assert rows(store, "SELECT count(*) FROM tallies") == rows(store, "SELECT count(*) FROM segments") == [(0,)]


def test_an_interrupted_deletion_is_finished_at_the_next_start(store):
    survey, number = publish(store)
    store.commit([submission(survey, number, b"a", [1])], DAY)
    damage(store, "INSERT INTO deletions SELECT number, version, name FROM surveys")
    damage(store, "DELETE FROM surveys")
    folder = Folder(store, lambda number: None, 60)
    folder.stop()
    assert rows(store, "SELECT count(*) FROM segments") == rows(store, "SELECT count(*) FROM keys") == [(0,)]
    assert store.deletions() == []


def test_a_merged_tally_is_kept_and_counted(store):
    survey, number = publish(store)
    other = survey.oracle.tally(survey.oracle.privatize([3] * 40))
    merged = Submission(number, b"m", b"m", other, day="2026-10-01")
    assert store.commit([merged, merged], DAY)[0].accepted == 40
    store.commit([submission(survey, number, b"a", [1])], DAY)
    before = whole(store, survey, number)
    for day in ("2026-10-01", DAY):
        fold_day(store, number, day, survey)
    store.commit([Submission(number, b"n", b"n", other, day="2026-10-01")], DAY)
    fold_day(store, number, "2026-10-01", survey)
    assert whole(store, survey, number) == before + other
    with store.snapshot() as snapshot:
        assert snapshot.days(number) == [("2026-10-01", 80), (DAY, 1)]
    assert rows(store, "SELECT n FROM segments WHERE kind = 2") == [(80,)]
    assert fsck(store)[1] == []


def test_files_that_are_something_else_are_refused_and_left_alone(tmp_path):
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = other.read_bytes()
    with pytest.raises(StoreError, match="not a collector's database"):
        SqliteStore(other)
    assert other.read_bytes() == before
    text = tmp_path / "text"
    text.write_text("hello " * 1000)
    with pytest.raises(StoreError, match="not a database"):
        SqliteStore(text)


def test_a_newer_schema_is_refused_and_an_older_one_brought_up_to_date(tmp_path, monkeypatch):
    path = tmp_path / "fldp.db"
    SqliteStore(path).close()
    steps = sqlite_file.migrations()
    monkeypatch.setattr(sqlite_file, "migrations", lambda: [*steps, "CREATE TABLE more (x);"])
    SqliteStore(path).close()
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone() == (len(steps) + 1,)
    monkeypatch.setattr(sqlite_file, "migrations", lambda: steps)
    with pytest.raises(StoreError, match=f"schema {len(steps) + 1}"):
        SqliteStore(path)


def test_a_migration_that_fails_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "fldp.db"
    SqliteStore(path).close()
    steps = sqlite_file.migrations()
    monkeypatch.setattr(sqlite_file, "migrations", lambda: [*steps, "CREATE TABLE more (x);\nCREATE TABLE more (x);"])
    with pytest.raises(StoreError, match="already exists"):
        SqliteStore(path)
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone() == (len(steps),)
    assert not sqlite3.connect(path).execute("SELECT 1 FROM sqlite_schema WHERE name = 'more'").fetchall()


def test_commits_are_durable_and_the_file_is_private(sqlite_store):
    assert sqlite_store._writer.execute("PRAGMA synchronous").fetchone() == (2,)
    assert sqlite_store._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert sqlite_store._writer.execute("PRAGMA secure_delete").fetchone() == (1,)
    assert sqlite_store.path.stat().st_mode & 0o777 == 0o600


def test_tokens_are_kept_as_hashes_and_end(store):
    secret, token = tokens.create_token(store, NOW, "read", expires=datetime(2026, 11, 2, tzinfo=UTC))
    assert tokens.find_token(store, secret, NOW) == token
    assert tokens.find_token(store, secret, datetime(2026, 11, 2, tzinfo=UTC)) is None
    assert tokens.find_token(store, secret[:-1] + ("A" if secret[-1] != "A" else "B"), NOW) is None
    assert tokens.find_token(store, "fldp_read_", NOW) is None
    store.revoke_token(token.id, "2026")
    assert tokens.find_token(store, secret, NOW) is None
    kept = [value for row in rows(store, "SELECT * FROM tokens") for value in row if isinstance(value, str | bytes)]
    if isinstance(store, SqliteStore):
        store.close()
        kept.append(store.path.read_bytes())
    assert kept
    for value in kept:
        assert secret[-43:].encode() not in (value if isinstance(value, bytes) else value.encode())


def test_tokens_and_tickets_are_drawn_from_the_system(store):
    secrets = {tokens.create_token(store, NOW, "send")[0] for _ in range(50)}
    assert len(secrets) == 50
    assert {len(secret) for secret in secrets} == {len("fldp_send_") + 43}


def test_start_does_not_grow_with_the_reports(tmp_path):
    """What is asked of the database at the start leaps over the reports and keys of a survey."""
    store = SqliteStore(tmp_path / "fldp.db")
    survey, number = publish(store)
    store.commit([submission(survey, number, bytes([k, j]), [0]) for k in range(100) for j in range(20)], DAY)
    for table in ("segments", "keys", "tallies", "tickets"):
        assert store._orphans(table) == []
    plans = [
        rows(store, f"EXPLAIN QUERY PLAN SELECT min(survey) FROM {t} WHERE survey > 0") for t in ("segments", "keys")
    ]
    assert all("SEARCH" in plan[0][3] for plan in plans), plans
    store.close()


def test_a_snapshot_is_of_one_moment(store):
    survey, number = publish(store)
    store.commit([submission(survey, number, b"a")], DAY)
    with store.snapshot() as snapshot:
        assert DayWindow(number).count(snapshot) == 1
        store.commit([submission(survey, number, b"b")], DAY)
        fold_day(store, number, DAY, survey)
        assert DayWindow(number).tally(snapshot, survey.oracle).n == DayWindow(number).count(snapshot) == 1
        assert snapshot.acknowledged(number) == (1, 0)
    assert whole(store, survey, number).n == 2


def test_tallies_add_up_over_windows(store):
    survey, number = publish(store)
    days = [f"2026-11-{k:02}" for k in range(1, 6)]
    for k, day in enumerate(days):
        store.commit([submission(survey, number, bytes([k]), [k] * (k + 1))], day)
        if k % 2:
            fold_day(store, number, day, survey)
    with store.snapshot() as snapshot:
        sizes = [DayWindow(number, (a, b)).count(snapshot) for a, b in pairwise(days)]
        assert sizes == [3, 5, 7, 9]
        assert DayWindow(number).count(snapshot) == 15
        assert snapshot.days(number) == [(day, k + 1) for k, day in enumerate(days)]
        assert snapshot.days(number + 1) == []
        parts = [DayWindow(number, (day, day)).tally(snapshot, survey.oracle) for day in days]
        assert sum(parts, Tally.empty(survey.oracle)) == DayWindow(number).tally(snapshot, survey.oracle)


@pytest.mark.parametrize("size", [1, 300, 10**9])
def test_an_export_does_not_show_which_reports_came_together(store, monkeypatch, size):
    monkeypatch.setattr("fldp.collector.storage.segments._MIXED_BYTES", size)
    survey, number = publish(store)
    sent = [submission(survey, number, bytes([k]), np.arange(20 + k) % 5) for k in range(9)]
    for k, new in enumerate(sent):
        store.commit([new], DAY if k < 8 else "2026-11-02")  # a day of few reports
        if k == 4:
            fold_day(store, number, DAY, survey)
    with store.snapshot() as snapshot:
        rows_of = [part for folded in (True, False) for part in snapshot.segments(number, ALL, folded=folded)]
        parts = list(mixed(survey.oracle, rows_of, 50))
    assert len(parts) == {1: 3, 300: 1, 10**9: 1}[size]
    assert all(len(part) >= 50 for part in parts)
    assert all(in_order(part) == part for part in parts)
    everything = in_order(Reports.concatenate([new.content for new in sent]))
    assert in_order(Reports.concatenate(parts)) == everything


def everything_on_disk(store):
    return b"".join(file.read_bytes() for file in sorted(store.path.parent.iterdir()))


def test_nothing_is_left_on_the_disk_of_how_reports_came(sqlite_store):
    """In the log of the database every commit stands by itself, the report beside its key: it must be emptied."""
    survey, number = publish(sqlite_store, retention="tally", oracle={"name": "oue", "epsilon": 1.0})
    sent = [submission(survey, number, bytes([k]) * 32, [1] * 50) for k in range(3)]
    for new in sent:
        sqlite_store.commit([new], DAY)
    rows_sent = [packed([new.content])[0].data for new in sent]
    assert all(row in everything_on_disk(sqlite_store) for row in rows_sent)
    folder = Folder(sqlite_store, {number: survey}.get, 0.01)
    with sqlite_store.snapshot() as snapshot:
        expected = DayWindow(number).tally(snapshot, survey.oracle)
        later = submission(survey, number, b"later", [1] * 50)
        assert sqlite_store.commit([later], DAY)[0].accepted == 50  # who reads does not keep others from writing
        until(lambda: folder.folded == 200)  # nothing more is folded when the reader ends
    rows_sent += [packed([later.content])[0].data]
    until(lambda: not any(row in everything_on_disk(sqlite_store) for row in rows_sent))
    folder.stop()
    assert sqlite_store.path.with_name("fldp.db-wal").stat().st_size == 0
    assert whole(sqlite_store, survey, number) == expected + survey.oracle.tally(later.content)


def test_the_log_stays_short_between_two_rounds(sqlite_store):
    """Cutting a long log keeps every commit waiting, so it starts anew while it is short."""
    survey, number = publish(sqlite_store)
    log, written = sqlite_store.path.with_name("fldp.db-wal"), 0
    for k in range(400):
        keys = (b"%032x" % (hash((k, j)) % 2**128) for j in range(20))
        sqlite_store.commit([submission(survey, number, key) for key in keys], DAY)
        written = max(written, log.stat().st_size)
    assert 0 < written < 6 * 2**20


def test_whoever_copies_from_the_log_has_the_file_on_the_disk_before_the_log_is_cut(sqlite_store):
    """A round copies most of the log by a connection that reads; what is copied then is not synced again."""
    with sqlite_store._borrowed() as connection:
        settings = [connection.execute(f"PRAGMA {name}").fetchone() for name in ("synchronous", "fullfsync")]
    assert settings == [(2,), (1,)]


def test_nothing_is_left_on_the_disk_of_a_deleted_survey(sqlite_store):
    survey, number = publish(sqlite_store, name="deleted", oracle={"name": "oue", "epsilon": 1.0})
    sqlite_store.commit([submission(survey, number, b"k" * 32, [1] * 50)], DAY)
    assert b"Which browser" in everything_on_disk(sqlite_store)
    sqlite_store.delete_surveys([number])
    left = everything_on_disk(sqlite_store)
    assert all(text not in left for text in (b"Which browser", b"firefox", b"k" * 32))
    assert survey.version.encode() in left  # that there was such a version
