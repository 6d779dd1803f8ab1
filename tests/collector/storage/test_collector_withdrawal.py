"""Withdrawals in both stores: whatever comes in between, what is left is what the others have sent.

Schedules are random with fixed seeds, and exact: there is no false alarm. A defect that shows in one of a hundred looks
is missed by 8 schedules of 30 steps with probability 0.99^240 = 9 %, and by those of ``make acceptance`` never.
"""

import gzip
import json
import sqlite3
import threading
from contextlib import closing
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import psycopg
import pytest

from fldp import Reports, Tally, wire
from fldp.collector.config.database_url import Database
from fldp.collector.service import folding
from fldp.collector.service.folding import fold_day, next_step
from fldp.collector.storage import admission, migrations
from fldp.collector.storage.checksums import row_checksum
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.postgres.store import PostgresStore
from fldp.collector.storage.protocol import Admitted, StoreError, Submission, Withdrawal, request_hashes
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.errors import DomainError, MergeError
from fldp.oracles import GRR, RR
from support.collector_store import DAY, STORES, damage, opened, publish, rows, submission, whole
from support.postgres_server import server
from support.withdrawals import ORACLES, Schedule, published, taking

STORED = Path(__file__).parents[2] / "support" / "stored"
NEXT = "2026-11-02"


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    store = opened(request.param, tmp_path)
    yield store
    store.close()


@pytest.mark.parametrize("kind", STORES)
def test_a_tally_is_that_of_those_who_stayed_at_every_look(kind, tmp_path):
    stores = [opened(kind, tmp_path)]
    if kind == "postgres":
        stores.append(PostgresStore(stores[0].database))
    cases = list(product(ORACLES, ("raw", "tally")))[:: 1 if kind == "sqlite" else 3]
    for seed, (oracle, retention) in enumerate(cases):
        survey, number = published(stores[0], oracle, retention)
        Schedule(stores, survey, number, seed).run(30)
    for store in stores:
        store.close()


def fold_at_once(monkeypatch):
    """Take out before what it takes is folded."""
    real = folding.taking_step

    def step(store, number, day, survey, most_bytes=0):
        del most_bytes
        tail = store.tail(number, day, 1)
        return real(store, number, day, survey) or (
            folding.fold_step(store, number, day, survey, tail) if tail else None
        )

    monkeypatch.setattr(folding, "next_step", step)
    monkeypatch.setattr(folding, "_at_most", lambda segments, most: [part for part in segments if part.takes])


def take_twice(monkeypatch):
    """A key that was withdrawn is withdrawn again."""
    real = admission.Admission._take_back

    def take_back(self, new, known):
        return real(self, new, known and known._replace(withdrawn=0))

    monkeypatch.setattr(admission.Admission, "_take_back", take_back)


def count_again(monkeypatch):
    """What was withdrawn is counted when it comes again."""
    real = admission.Admission.admit

    def admit(self, new):
        outcome = real(self, new)
        if not isinstance(new, Withdrawal) and outcome.verdict is Admitted.WITHDRAWN:
            self._accepted.append(new)
        return outcome

    monkeypatch.setattr(admission.Admission, "admit", admit)


def forget_the_remainder(monkeypatch):
    """A step that finds a part forgets the rest."""
    real = folding._taking
    monkeypatch.setattr(folding, "_taking", lambda *arguments: real(*arguments[:4]))
    monkeypatch.setattr(folding, "MAX_ROWS", 1)
    monkeypatch.setattr(folding, "_fitting", lambda *arguments: [])


@pytest.mark.parametrize("breakage", [fold_at_once, take_twice, count_again, forget_the_remainder])
def test_the_schedules_notice(breakage, tmp_path, monkeypatch):
    breakage(monkeypatch)
    store = opened("sqlite", tmp_path)
    survey, number = published(store, ORACLES[0], "raw")
    with pytest.raises((AssertionError, StoreError)):
        Schedule([store], survey, number, 2).run(150)
    store.close()


def test_large_days_are_rewritten_in_steps(tmp_path, monkeypatch):
    """A step rewrites a bounded number of rows, and the rest stays to be taken out."""
    monkeypatch.setattr(folding, "MAX_ROWS", 2)
    monkeypatch.setattr(folding, "_fitting", lambda *arguments: [])
    store = opened("sqlite", tmp_path)
    survey, number = publish(store)
    sent = [submission(survey, number, b"%d" % k, [k % 5] * 50, secret=b"%d" % k) for k in range(6)]
    for new in sent:
        store.commit([new], DAY)
        fold_day(store, number, DAY, survey)
    store.commit(list(map(taking, sent[1:])), DAY)
    steps = []
    while step := next_step(store, number, DAY, survey):
        steps.append(step)
        assert store.fold(step)
        assert whole(store, survey, number) == survey.oracle.tally(sent[0].content)
    assert len(steps) >= 3
    assert all(len(step.added) <= 2 for step in steps)
    assert [bool(step.left) for step in steps] == [True] * (len(steps) - 1) + [False]
    assert fsck(store)[1] == []
    store.close()


def test_a_merged_tally_is_taken_out(store):
    survey, number = publish(store)
    tallies = [survey.oracle.tally(survey.oracle.privatize([k] * 9)) for k in range(3)]
    sent = [Submission(number, b"%d" % k, b"b", tally, day=DAY, secret=b"%d" % k) for k, tally in enumerate(tallies)]
    store.commit(sent, NEXT)
    fold_day(store, number, DAY, survey)
    store.commit([taking(sent[1])], NEXT)
    for _ in range(2):
        assert whole(store, survey, number) == tallies[0] + tallies[2]
        assert fsck(store)[1] == []
        fold_day(store, number, DAY, survey)
    store.commit([taking(sent[0]), taking(sent[2])], NEXT)
    fold_day(store, number, DAY, survey)
    assert whole(store, survey, number) == Tally.empty(survey.oracle)
    assert fsck(store)[1] == []


def old(number, key, reports):
    """What an earlier release stored: no hash of a day."""
    return Submission(number, key, key, reports)


def test_reports_to_an_earlier_release_need_their_day(store):
    survey, number = publish(store, retention="raw")
    reports = survey.oracle.privatize([0] * 30)
    first, second = old(number, b"first", reports), old(number, b"second", survey.oracle.privatize([1] * 5))
    store.commit([first], DAY)
    store.commit([second], NEXT)
    fold_day(store, number, DAY, survey)

    def verdict(new, **more):
        return store.commit([taking(new, **more)], NEXT)[0].verdict

    assert verdict(first) is Admitted.UNDATED
    assert verdict(first, day="2026-11-03") is Admitted.UNDATED
    assert verdict(first, day=NEXT) is Admitted.UNDATED  # there are too few like them
    assert verdict(first, day=DAY) is Admitted.WITHDRAWN
    assert whole(store, survey, number) == survey.oracle.tally(second.content)
    assert fsck(store)[1] == []
    fold_day(store, number, DAY, survey)
    assert verdict(second, day=NEXT) is Admitted.WITHDRAWN
    assert whole(store, survey, number).n == 0


def test_equal_reports_are_taken_once_each_whatever_day_is_said(store):
    """Of three old keys with one report each, all equal, two were sent on a day that all three name."""
    survey, number = publish(store, retention="raw")
    one = survey.oracle.privatize([0])
    sent = [old(number, b"%d" % k, one) for k in range(3)]
    store.commit(sent[:2], DAY)
    store.commit(sent[2:], NEXT)
    outcomes = store.commit([taking(new, day=DAY) for new in sent], NEXT)
    assert [outcome.verdict for outcome in outcomes] == [Admitted.WITHDRAWN] * 2 + [Admitted.UNDATED]
    assert whole(store, survey, number).n == 1
    assert fsck(store)[1] == []


def test_one_that_cannot_be_taken_out_keeps_nobody_waiting(store):
    survey, number = publish(store, retention="raw")
    sent = submission(survey, number, b"sent", [1] * 20, secret=b"sent")
    store.commit([sent], DAY)
    fold_day(store, number, DAY, survey)
    strange = submission(survey, number, b"strange", [2] * 40, secret=b"strange")
    store.commit([strange, taking(strange)], NEXT)
    damage(store, "DELETE FROM segments WHERE kind = 1 AND folded = 0")  # what it takes is lost
    store.commit([submission(survey, number, b"late", [3] * 5, secret=b"late")], NEXT)
    with pytest.raises(StoreError, match=r"\d+ withdrawn reports of 2026-11-02 are not among those that are stored"):
        fold_day(store, number, NEXT, survey)
    assert rows(store, "SELECT count(*) FROM segments WHERE folded = 0 AND kind < 3") == [(0,)]  # others are folded
    assert any("withdrawn reports" in line for line in fsck(store)[1])


def test_fsck_compares_what_was_withdrawn(store):
    survey, number = publish(store)
    sent = [submission(survey, number, b"%d" % k, [k] * 3, secret=b"%d" % k) for k in range(3)]
    store.commit(sent, DAY)
    store.commit([taking(sent[0])], DAY)
    fold_day(store, number, DAY, survey)
    assert fsck(store) == ([f"survey {survey.name}, version {survey.version[:16]}: 6 reports, as acknowledged"], [])
    damage(store, "UPDATE tallies SET withdrawn = 2")
    assert any("2 reports are taken out, 3 were withdrawn" in line for line in fsck(store)[1])
    damage(store, "UPDATE tallies SET withdrawn = 3")
    damage(store, "UPDATE keys SET withdrawn = 0")
    lines = " ".join(fsck(store)[1])
    assert "keys: 1 of 3 rows are damaged" in lines
    assert "6 reports are counted, 9 were acknowledged and not withdrawn" in lines


def test_two_collectors_withdraw_the_same_once():
    stores = [PostgresStore(Database(url)) for url in [server().database()] * 2]
    survey, number = publish(stores[0])
    sent = [submission(survey, number, b"%d" % k, [k % 5] * 3, secret=b"%d" % k) for k in range(12)]
    stores[0].commit(sent, DAY)
    outcomes = []

    def take(store):
        for new in sent[:8]:
            outcomes.extend(store.commit([taking(new)], DAY))

    threads = [threading.Thread(target=take, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {outcome.verdict for outcome in outcomes} <= {Admitted.WITHDRAWN, Admitted.HELD}
    for new in sent[:8]:
        stores[0].commit([taking(new)], DAY)
    assert whole(stores[1], survey, number) == survey.oracle.tally(Reports.concatenate([n.content for n in sent[8:]]))
    fold_day(stores[1], number, DAY, survey)
    assert fsck(stores[0])[1] == []
    for store in stores:
        store.close()


# --------------------------------------------------------------------------------------------------- older and newer


def test_a_collector_writes_nothing_once_a_later_release_has_changed_the_tables(tmp_path):
    for kind in STORES:
        store = opened(kind, tmp_path)
        survey, number = publish(store)
        store.commit([submission(survey, number, b"before", [1] * 5, secret=b"before")], DAY)
        step = next_step(store, number, DAY, survey)
        later = "PRAGMA user_version = 6" if kind == "sqlite" else "INSERT INTO migrations VALUES (6)"
        damage(store, later)
        with pytest.raises(StoreError, match="has schema 6 now, this collector writes 5"):
            store.commit([submission(survey, number, b"after", [1])], DAY)
        with pytest.raises(StoreError, match="has schema 6 now"):
            store.fold(step)
        store.close()


class Earlier:
    """What a collector of the release before says to a database: its session, and its statements."""

    def __init__(self, url):
        self.connection = psycopg.connect(url, autocommit=True, options="-c search_path=fldp", application_name="fldp")

    def commit(self, survey, number, key, reports):
        segment = admission.packed([reports])[0]
        row = (number, DAY, 1, segment.n, 0, segment.data)
        known = (number, key, key, segment.n)
        with self.connection.transaction():
            self.connection.execute(
                "INSERT INTO keys SELECT * FROM unnest(%s::integer[], %b::bytea[], %b::bytea[], %s::bigint[],"
                " %s::bigint[]) ON CONFLICT DO NOTHING",
                [[value] for value in (*known, row_checksum(*known))],
            )
            self.connection.execute(
                "INSERT INTO segments (survey, day, kind, n, folded, data, checksum)"
                " VALUES (%s, %s, %s, %s, %s, %b, %s)",
                (*row, row_checksum(*row)),
            )


def test_two_collectors_of_two_releases_share_a_database():
    """A rolling upgrade: the old one goes on until it is replaced, withdrawals begin then, and it cannot come back."""
    url = server().database()
    steps = migrations.steps("postgres")
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        connection.execute("CREATE SCHEMA fldp")
        connection.execute("SET search_path TO fldp")
        connection.execute("CREATE TABLE migrations (step integer PRIMARY KEY)")
        for number, step in enumerate(steps[:3], 1):
            connection.execute(step)
            connection.execute("INSERT INTO migrations VALUES (%s)", (number,))
    earlier = Earlier(url)
    store = PostgresStore(Database(url))
    survey, number = publish(store, retention="raw")
    mine = submission(survey, number, b"mine", [2] * 4, secret=b"mine")
    theirs = survey.oracle.privatize([1] * 6)
    store.commit([mine], DAY)
    earlier.commit(survey, number, b"theirs", theirs)
    both = survey.oracle.tally(mine.content) + survey.oracle.tally(theirs)
    assert whole(store, survey, number) == both
    assert fsck(store)[1] == []
    late = submission(survey, number, b"late", [0])
    outcomes = store.commit([late, taking(mine)], DAY)
    assert [outcome.verdict for outcome in outcomes] == [Admitted.ACCEPTED, Admitted.OUTDATED]
    both += survey.oracle.tally(late.content)
    assert whole(store, survey, number) == both
    fold_day(store, number, DAY, survey)
    earlier.connection.close()
    until_gone(url)
    old_one = Submission(number, b"theirs", b"theirs", theirs, secret=b"theirs")
    taken = store.commit([taking(mine), taking(old_one), taking(old_one, day=DAY)], DAY)
    assert [outcome.verdict for outcome in taken] == [Admitted.WITHDRAWN, Admitted.UNDATED, Admitted.WITHDRAWN]
    again = Earlier(url)
    with pytest.raises(psycopg.errors.RaiseException, match="collectors of an earlier release must not write"):
        again.commit(survey, number, b"again", theirs)
    again.connection.close()
    assert whole(store, survey, number) == survey.oracle.tally(late.content)
    fold_day(store, number, DAY, survey)
    assert whole(store, survey, number) == survey.oracle.tally(late.content)
    assert fsck(store)[1] == []
    store.close()


def until_gone(url):
    """Wait until the server has noticed that a connection was closed."""
    gone = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'fldp'"
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        while connection.execute(gone).fetchone()[0]:
            pass


def stored(folder, name):
    path = folder / "fldp.db"
    path.write_bytes(gzip.decompress((STORED / name).read_bytes()))
    return path


def test_reports_in_a_file_of_the_earlier_schema_can_be_taken_out(tmp_path):
    """``schema_3.db.gz`` was written by the code of schema 3; ``schema_3.json`` has the keys and bodies of it."""
    path = stored(tmp_path, "schema_3.db.gz")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    store = SqliteStore(path)
    assert fsck(store)[1] == []
    assert store.counts() == {1: 51, 2: 51, 3: 12}
    sent = json.loads((STORED / "schema_3.json").read_text())
    with store.snapshot() as snapshot:
        surveys = {entry.number: entry.parse() for entry in snapshot.entries()}
    for number, survey in surveys.items():
        before = whole(store, survey, number)
        for key, body, size, day in sent[str(number)][::2]:
            content = wire.decode(bytes.fromhex(body), survey.oracle, survey.version)
            hashes = request_hashes(b"reports", key.encode(), bytes.fromhex(body))
            new = Submission(number, *hashes, content, secret=key.encode())
            assert store.commit([new], NEXT)[0].verdict is Admitted.REPEATED
            (outcome,) = store.commit([taking(new, day=day)], NEXT)
            if survey.collect["retention"] == "raw":
                assert (outcome.verdict, outcome.accepted) == (Admitted.WITHDRAWN, size)
                before -= survey.oracle.tally(content)
            elif outcome.verdict is Admitted.WITHDRAWN:  # it was in the tail still
                before -= survey.oracle.tally(content)
            assert whole(store, survey, number) == before
    for number, day, _ in store.pending():
        fold_day(store, number, day, surveys[number])
    assert fsck(store)[1] == []
    assert store.pending() == []
    store.close()


# ------------------------------------------------------------------------------------------------------------ tallies


def test_tallies_are_subtracted():
    oracle = GRR(epsilon=1.0, domain_size=4)
    one, more = (oracle.tally(oracle.privatize([k] * 50)) for k in (1, 2))
    assert (one + more) - more == one
    assert one - one == Tally.empty(oracle)
    with pytest.raises(DomainError, match="100 reports cannot be taken out of 50"):
        one - (one + one)
    with pytest.raises(MergeError):
        one - Tally.empty(GRR(epsilon=2.0, domain_size=4))
    with pytest.raises(TypeError):
        one - 1
    with pytest.raises(DomainError):
        Tally(oracle, np.array([5, 0, 0, 0]), 5) - Tally(oracle, np.array([0, 1, 0, 0]), 1)


def test_withdrawing_by_the_report_bends_the_estimate():
    """The figures of docs/withdrawal.md, in fractions of the realised coin."""
    coin, share, fifth = RR(epsilon=1.0).coin, Fraction(3, 10), Fraction(1, 5)
    gone = fifth * share * coin.p
    said = (share * coin.p + (1 - share) * coin.q - gone) / (1 - gone)
    held, estimated = (share - gone) / (1 - gone), (said - coin.q) / (coin.p - coin.q)
    assert (round(float(held), 3), round(float(estimated), 3)) == (0.268, 0.241)
