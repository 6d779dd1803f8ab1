"""Passes in a store: what spends one, what asks for one, and the keys that sign them, on either database."""

import os
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fldp.collector.config.database_url import Database
from fldp.collector.storage import backup
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.postgres import writes
from fldp.collector.storage.postgres.store import PostgresStore
from fldp.collector.storage.protocol import Admitted, PassOrder, StoredIssuer
from fldp.collector.storage.sqlite import writes as sqlite_writes
from fldp.data.reports import Reports
from support.collector_store import DAY, STORES, opened, publish, rows, submission
from support.postgres_server import server

PASS, TICKET, KEY_ID = b"p" * 32, b"t" * 32, b"k" * 32


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    opened_store = opened(request.param, tmp_path)
    yield opened_store
    opened_store.close()


def verdicts(store, *submissions):
    return [outcome.verdict for outcome in store.commit(submissions, DAY)]


def with_pass(survey, number, key, spent=PASS, count=1):
    return replace(submission(survey, number, key, [1] * count), ticket=spent, is_pass=True)


def order(survey, number, key, body, ticket=TICKET):
    empty = Reports.trusted(survey.oracle, survey.oracle.report_format.empty(0))
    return PassOrder(number, key, body, empty, ticket=ticket)


def test_a_pass_is_spent_once(store):
    survey, number = publish(store)
    first, second = with_pass(survey, number, b"one"), with_pass(survey, number, b"two")
    assert verdicts(store, first, second) == [Admitted.ACCEPTED, Admitted.SPENT]
    assert verdicts(store, second, first) == [Admitted.SPENT, Admitted.REPEATED]
    assert verdicts(store, with_pass(survey, number, b"three", b"q" * 32)) == [Admitted.ACCEPTED]
    assert store.counts() == {number: 2}
    assert rows(store, "SELECT ticket, spent FROM tickets ORDER BY 1") == [(PASS, 1), (b"q" * 32, 1)]
    assert fsck(store)[1] == []


def test_a_ticket_is_no_pass_and_a_pass_no_ticket(store):
    survey, number = publish(store)
    store.add_tickets(number, [TICKET])
    assert verdicts(store, with_pass(survey, number, b"one", TICKET)) == [Admitted.SPENT]
    unknown = replace(submission(survey, number, b"two", [1]), ticket=PASS)
    assert verdicts(store, unknown) == [Admitted.SPENT]
    assert rows(store, "SELECT ticket, spent FROM tickets") == [(TICKET, 0)]


def test_a_ticket_buys_one_pass_however_often_it_is_asked_for(store):
    survey, number = publish(store)
    store.add_tickets(number, [TICKET])
    asked = order(survey, number, b"asked", b"body")
    assert verdicts(store, asked, asked) == [Admitted.ACCEPTED, Admitted.REPEATED]
    assert verdicts(store, asked) == [Admitted.REPEATED]
    assert verdicts(store, order(survey, number, b"asked", b"another")) == [Admitted.CONFLICT]
    assert verdicts(store, order(survey, number, b"elsewhere", b"another")) == [Admitted.SPENT]
    assert verdicts(store, order(survey, number, b"unknown", b"another", b"u" * 32)) == [Admitted.SPENT]
    assert store.counts() == {}
    assert store.pending() == []
    assert rows(store, "SELECT spent FROM tickets") == [(1,)]
    assert fsck(store)[1] == []


def test_a_closed_survey_gives_no_pass_but_to_who_had_asked(store):
    survey, number = publish(store)
    store.add_tickets(number, [TICKET, b"v" * 32])
    verdicts(store, order(survey, number, b"before", b"body"))
    store.close_surveys([number], "2026-11-02")
    late = replace(order(survey, number, b"late", b"body", b"v" * 32), closed=True)
    assert verdicts(store, order(survey, number, b"before", b"body"), late) == [Admitted.REPEATED, Admitted.CLOSED]
    assert verdicts(store, replace(late, closed=False)) == [Admitted.CLOSED]
    assert rows(store, "SELECT count(*) FROM tickets WHERE spent = 0") == [(1,)]


def test_a_key_signs_for_one_version(store):
    own = StoredIssuer(KEY_ID, b"private", "2026-11-01T00:00:00Z")
    store.add_issuer(own)
    assert store.find_issuer(KEY_ID) == own
    assert store.find_issuer(b"x" * 32) is None
    assert store.bind_issuer(KEY_ID, "one", "later")
    assert store.bind_issuer(KEY_ID, "one", "later")
    assert not store.bind_issuer(KEY_ID, "two", "later")
    assert store.find_issuer(KEY_ID) == replace(own, version="one")
    assert store.bind_issuer(b"foreign", "two", "now")
    assert not store.bind_issuer(b"foreign", "one", "now")
    assert store.find_issuer(b"foreign") == StoredIssuer(b"foreign", None, "now", "two")
    assert fsck(store)[1] == []


def test_keys_and_spent_passes_are_in_backups(store, tmp_path):
    survey, number = publish(store)
    store.add_issuer(StoredIssuer(KEY_ID, b"private", "2026"))
    store.bind_issuer(KEY_ID, survey.version, "2026")
    verdicts(store, with_pass(survey, number, b"one"))
    backup.backup(store, tmp_path / "archive")
    backup.restore_file(tmp_path / "archive", tmp_path / "restored.db")
    restored = backup.SqliteStore(tmp_path / "restored.db")
    assert restored.find_issuer(KEY_ID) == StoredIssuer(KEY_ID, b"private", "2026", survey.version)
    assert verdicts(restored, with_pass(survey, number, b"two")) == [Admitted.SPENT]
    restored.close()


def test_passes_sent_twice_by_two_collectors_at_once_count_once_each():
    """Both begin at the same moment, with other keys for the same passes: the unique row of a pass decides."""
    database = Database(server().database())
    stores = PostgresStore(database), PostgresStore(database)
    survey, number = publish(stores[0])
    passes = [bytes([place]) * 32 for place in range(60)]
    start = threading.Barrier(2)

    def send(name, store):
        start.wait()
        parts = [passes[at : at + 5] for at in range(0, len(passes), 5)]
        parts = parts if name == "one" else [part[::-1] for part in parts]  # not the same first one
        sent = [[with_pass(survey, number, f"{name} {each[0]}".encode(), each) for each in part] for part in parts]
        return [verdict for part in sent for verdict in verdicts(store, *part)]

    with ThreadPoolExecutor(2) as pool:
        said = [*pool.map(send, ("one", "two"), stores)]
    assert Counter(said[0] + said[1]) == {Admitted.ACCEPTED: 60, Admitted.SPENT: 60}
    assert stores[0].counts() == {number: 60}
    assert fsck(stores[1])[1] == []
    for store in stores:
        store.close()


def test_who_is_overtaken_between_looking_and_writing_is_decided_anew(monkeypatch):
    """The other one commits after we have looked and before we write, which a race seldom does."""
    database = Database(server().database())
    ours, theirs = PostgresStore(database), PostgresStore(database)
    survey, number = publish(ours)
    real, done = writes._write, []

    def overtaken(connection, admission):
        if not done:
            done.append("begun")
            done.append(verdicts(theirs, with_pass(survey, number, b"theirs")))
        real(connection, admission)

    monkeypatch.setattr(writes, "_write", overtaken)
    assert verdicts(ours, with_pass(survey, number, b"ours")) == [Admitted.SPENT]
    assert done == ["begun", [Admitted.ACCEPTED]]
    assert ours.counts() == {number: 1}
    ours.close()
    theirs.close()


def test_a_private_key_is_not_shown():
    assert "private" not in repr(StoredIssuer(KEY_ID, b"private", "2026"))


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_exchange_that_is_killed_at_its_commit_is_answered_alike(tmp_path, moment):
    """Killed before the commit nothing is spent; after it, the same request is the one that the ticket was spent on."""
    store = opened("sqlite", tmp_path)
    survey, number = publish(store)
    store.add_tickets(number, [TICKET])
    store.close()
    child = os.fork()
    if child == 0:
        _die(tmp_path, moment, order(survey, number, b"asked", b"body"))
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    store = opened("sqlite", tmp_path)
    first = {"before": Admitted.ACCEPTED, "after": Admitted.REPEATED}[moment]
    assert verdicts(store, order(survey, number, b"asked", b"body")) == [first]
    assert verdicts(store, order(survey, number, b"asked", b"other")) == [Admitted.CONFLICT]
    assert fsck(store)[1] == []
    store.close()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_pass_whose_report_is_killed_at_its_commit_counts_once(tmp_path, moment):
    """Pass and report are one commit: both are there or neither. Whole processes are killed in ``make acceptance``."""
    store = opened("sqlite", tmp_path)
    survey, number = publish(store)
    store.close()
    child = os.fork()
    if child == 0:
        _die(tmp_path, moment, with_pass(survey, number, b"one"))
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    store = opened("sqlite", tmp_path)
    spent = {"before": [], "after": [(PASS, 1)]}[moment]
    assert rows(store, "SELECT ticket, spent FROM tickets") == spent
    assert store.counts().get(number, 0) == len(spent)
    first = {"before": Admitted.ACCEPTED, "after": Admitted.REPEATED}[moment]
    assert verdicts(store, with_pass(survey, number, b"one"), with_pass(survey, number, b"two")) == [
        first,
        Admitted.SPENT,
    ]
    assert store.counts() == {number: 1}
    assert fsck(store)[1] == []
    store.close()


def _die(folder, moment, asked):
    try:
        store = opened("sqlite", folder)
        if moment == "before":
            real = sqlite_writes.advance
            sqlite_writes.advance = lambda connection: (real(connection), os.kill(os.getpid(), signal.SIGKILL))
        store.commit([asked], DAY)
        os.kill(os.getpid(), signal.SIGKILL)
    finally:
        os._exit(0)


def test_a_survey_that_is_gone_gets_no_tickets(store):
    assert store.add_tickets(12_345, [TICKET]) is False
