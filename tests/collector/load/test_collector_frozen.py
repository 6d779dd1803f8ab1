"""Collectors, sessions and servers that freeze: they hold what they hold, and keep nobody else waiting.

What matters is the order of events: the others are answered while the frozen one is frozen. So nothing here goes on by
itself until the answers are there, however slow the machine is.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psycopg
import pytest

from fldp.collector.config.database_url import Database
from fldp.collector.service import tokens
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.postgres.schema import LOCKS
from fldp.collector.storage.postgres.store import PostgresStore
from fldp.collector.storage.protocol import Admitted, StoreError
from support.collector_server import Server, batch, key
from support.collector_store import DAY, publish, submission, whole
from support.postgres_server import PostgresServer, server
from support.shell import fldp
from support.waiting import until

_TESTS = Path(__file__).parents[2]
LONG = 60  # seconds that nobody should have to wait


@pytest.fixture
def url():
    return server().database()


@pytest.fixture
def stores(url):
    """Two collectors' stores on one database."""
    stores = [PostgresStore(Database(url)) for _ in range(2)]
    yield stores
    for store in stores:
        store.close()


@pytest.fixture
def own():
    """A server of its own, that may be frozen."""
    cluster = PostgresServer()
    yield cluster
    cluster.remove()


# ------------------------------------------------------------------------------------------- locks that are held


HELD = {
    "keys": (
        "INSERT INTO keys SELECT new.* FROM surveys, json_populate_record(NULL::keys, json_build_object("
        "'survey', number, 'key', 'held', 'body', 'x', 'accepted', 1, 'checksum', 0, 'withdrawn', 0)) AS new"
        " WHERE name = 'browser'"
    ),
    "tickets": "SELECT 1 FROM tickets FOR UPDATE",
    "survey": f"SELECT pg_advisory_xact_lock({LOCKS}, number) FROM surveys WHERE name = 'browser'",
}


@contextmanager
def holding(url, statement):
    """Do something in a transaction that does not go on."""
    with psycopg.connect(url, options="-c search_path=fldp") as connection:
        connection.execute(statement)
        yield connection
        connection.rollback()


@pytest.mark.parametrize("what", HELD)
def test_what_another_one_holds_fails_alone(stores, url, what):
    """The group is decided in parts: bystanders are counted while the lock is held, and the others when it is not."""
    survey, number = publish(stores[0], submit="ticket" if what == "tickets" else "open")
    other, another = publish(stores[0], labels=["a", "b", "c"], name="another")
    ticket = next(tokens.digest(secret) for secret in tokens.create_tickets(stores[0], number, 1))
    group = [submission(other, another, b"bystander %d" % k) for k in range(20)]
    group[7:7] = [submission(survey, number, b"held", ticket=ticket if what == "tickets" else None)]
    with holding(url, HELD[what]):
        verdicts = [outcome.verdict for outcome in stores[0].commit(group, DAY)]
        assert verdicts == [Admitted.ACCEPTED] * 7 + [Admitted.HELD] + [Admitted.ACCEPTED] * 13
        again = [outcome.verdict for outcome in stores[0].commit(group, DAY)]
        assert again == [Admitted.REPEATED] * 7 + [Admitted.HELD] + [Admitted.REPEATED] * 13
    assert stores[0].commit(group[7:8], DAY)[0].verdict is Admitted.ACCEPTED
    assert (whole(stores[0], survey, number).n, whole(stores[0], other, another).n) == (1, 20)
    assert fsck(stores[1])[1] == []


@pytest.mark.parametrize("what", ["keys", "survey"])
def test_ending_a_survey_does_not_wait_for_ever(stores, url, what):
    survey, number = publish(stores[0])
    with holding(url, HELD[what]) as connection:
        connection.execute(f"SELECT pg_advisory_xact_lock_shared({LOCKS}, {number})")
        for end in (lambda: stores[0].close_surveys([number], "2026"), lambda: stores[0].delete_surveys([number])):
            with pytest.raises(StoreError, match="lock timeout"):
                end()
    assert stores[0].commit([submission(survey, number, b"a")], DAY)[0].verdict is Admitted.ACCEPTED


def test_every_session_has_limits(stores):
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    assert [stores[0]._select(f"SHOW {name}") for name in names] == [[("10s",)], [("750ms",)], [("10s",)]]
    with stores[0].snapshot() as snapshot:
        assert [snapshot._connection.execute(f"SHOW {name}").fetchone()[0] for name in names] == [
            "10min",
            "750ms",
            "10min",
        ]
    with stores[0].folding():
        pass  # which has tables cleared
    assert [stores[0]._select(f"SHOW {name}") for name in names] == [[("10s",)], [("750ms",)], [("10s",)]]


# ------------------------------------------------------------------------------------------- a frozen collector


class Freezing(Server):
    """A collector that can be told to stop itself within a commit."""

    def command(self):
        return [sys.executable, "-m", "soak.faults.freezing", str(self.folder), *super().command()[4:]]

    def environment(self):
        return {**os.environ, "PYTHONPATH": os.pathsep.join([str(_TESTS), os.environ.get("PYTHONPATH", "")])}

    @contextmanager
    def frozen(self, survey, requests, what=""):
        """Have it stop itself with these requests on their way, and its session if so told; it goes on at the end."""
        (self.folder / "wanted").write_text(what)
        (self.folder / "wanted").rename(self.folder / "freeze")  # which is never there half written
        with ThreadPoolExecutor(len(requests)) as pool:
            for name, body in requests:
                pool.submit(self.send, survey, body, name)
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            try:
                yield
            finally:
                self.thaw_session()
                self.process.send_signal(signal.SIGCONT)

    def thaw_session(self):
        with suppress(ProcessLookupError):
            os.kill(int((self.folder / "freeze").read_text()), signal.SIGCONT)


@pytest.fixture
def pair(tmp_path, url):
    """Two collectors on one database, the first of which may be frozen."""
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    one = Freezing(folders[0], database=url, fold_seconds=0.1)
    two = Server(folders[1], database=url, token=one.token, fold_seconds=0.1)
    yield one, two
    for collector in (one, two):
        collector.stop(signal.SIGKILL)


def test_a_collector_that_freezes_within_a_commit_stops_nobody_else(pair, url):
    one, two = pair
    survey = one.publish(minimum=1)
    assert one.send(survey).status_code == two.send(survey).status_code == 200
    held = key(), batch(survey)
    with one.frozen(survey, [held], "session"):
        with ThreadPoolExecutor(30) as pool:
            first = pool.submit(two.send, survey, held[1], held[0])
            others = [pool.submit(two.send, survey) for _ in range(12)]  # all of these are in one commit with
            again = pool.submit(two.send, survey, held[1], held[0])  # the key that is held
            others += [pool.submit(two.send, survey) for _ in range(12)]
            for refused in (first.result(), again.result()):
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert [sent.result().status_code for sent in others] == [200] * 24
        with two.admin as client:
            until(lambda: client.get("/readyz").status_code == 200, LONG)
            closing = client.post("/v1/surveys/browser/close")
            assert (closing.status_code, closing.headers["retry-after"]) == (503, "1")
            assert client.delete("/v1/surveys/browser", params={"all": "true"}).status_code == 503
        one.thaw_session()
        assert answered(two, survey, *held).json() == {"accepted": 1}
        assert two.counts() == {survey.version: 27}
    assert answered(one, survey, *held).json() == {"accepted": 1}
    assert one.counts() == {survey.version: 27}
    assert "nothing is wrong" in fldp("fsck", "--database", url).stdout
    assert (one.stop(), two.stop()) == (0, 0)


def answered(collector, survey, name, body):
    """Send until there is an answer other than 503, as a client does."""
    end = time.monotonic() + LONG
    while (answer := collector.send(survey, body, name)).status_code == 503:
        assert time.monotonic() < end, answer.text
        time.sleep(0.1)
    return answer


def test_the_server_ends_the_session_of_a_collector_that_is_frozen(pair, url):
    """Its keys are free then: another collector counts them, while it is still frozen."""
    one, two = pair
    survey = one.publish(minimum=1)
    held = [(key(), batch(survey)) for _ in range(3)]
    with one.frozen(survey, held):
        for name, body in held:
            assert answered(two, survey, name, body).json() == {"accepted": 1}
        with two.admin as client:
            assert client.post("/v1/surveys/browser/close").status_code == 200
        until(lambda: not server().ask("SELECT 1 FROM pg_stat_activity WHERE datname = %s AND backend_xid IS NOT NULL",
                                       url.rpartition("/")[2]))  # fmt: skip
    for name, body in held:
        assert answered(one, survey, name, body).json() == {"accepted": 1}
    assert one.counts() == two.counts() == {survey.version: 3}
    assert (one.stop(), two.stop()) == (0, 0)


ROUND = """
import os, signal, sys
from dataclasses import replace
from fldp.collector.config.database_url import Database
from fldp.collector.storage.postgres import schema
from fldp.collector.storage.postgres.store import PostgresStore
schema.ROUND_OF_FOLDING = replace(schema.ROUND_OF_FOLDING, idle=1000)
with PostgresStore(Database(sys.argv[1])).folding() as mine:
    assert mine
    os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_a_collector_that_freezes_as_it_folds_does_not_keep_others_from_folding(stores, url):
    process = subprocess.Popen([sys.executable, "-c", ROUND, url], stderr=subprocess.DEVNULL)
    try:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        assert process.poll() is None

        def folds():
            with stores[0].folding() as mine:
                return mine

        until(folds, LONG)
    finally:
        process.kill()
        process.wait()


# ------------------------------------------------------------------------------------------- a frozen server


def codes(collector, survey, requests):
    """Ask for everything at once; return what was answered."""
    with collector.admin as client:
        client.timeout = LONG
        paths = ["/v1/surveys/browser", f"/v1/versions/{survey.version}/estimates", "/v1/surveys"]
        asked = [lambda path=path: client.get(path) for path in paths]
        asked += [lambda: client.post("/v1/surveys/browser/close")]
        asked += [lambda name=name, body=body: collector.send(survey, body, name, client) for name, body in requests]
        with ThreadPoolExecutor(len(asked)) as pool:
            return [answer.result() for answer in [pool.submit(ask) for ask in asked]]


def test_a_server_that_hangs_is_answered_with_503_and_all_goes_on_by_itself(tmp_path, own):
    collector = Server(tmp_path, database=own.database(), fold_seconds=0.1)
    try:
        survey = collector.publish(minimum=1)
        requests = [(key(), batch(survey)) for _ in range(6)]
        assert collector.send(survey, requests[0][1], requests[0][0]).status_code == 200
        with own.frozen():
            for _ in range(2):  # the second time it is known already
                answers = codes(collector, survey, requests)
                assert {answer.status_code for answer in answers} == {503}
                assert {answer.headers["retry-after"] for answer in answers} == {"1"}
                with collector.client() as client:
                    assert client.get("/healthz").status_code == 200
                    until(lambda client=client: client.get("/readyz").status_code == 503, LONG)
        for name, body in requests:
            assert answered(collector, survey, name, body).json() == {"accepted": 1}
        assert collector.counts() == {survey.version: 6}
        with collector.client() as client:
            until(lambda: client.get("/readyz").status_code == 200, LONG)
        assert "nothing is wrong" in fldp("fsck", "--database", collector.settings["database"]).stdout
        assert collector.stop() == 0
    finally:
        collector.stop(signal.SIGKILL)


def test_what_was_on_its_way_when_the_server_froze_is_counted_once(tmp_path, own):
    """The outcome of a commit that was cut off is unknown; its key tells, when the server goes on."""
    collector = Server(tmp_path, database=own.database(), fold_seconds=0.05)
    try:
        survey = collector.publish(minimum=1)
        acknowledged, ended = [], threading.Event()

        def send():
            while not ended.is_set():
                name, body = key(), batch(survey)
                while collector.send(survey, body, name).status_code != 200:
                    time.sleep(0.05)
                acknowledged.append(name)

        with ThreadPoolExecutor(8) as pool:
            senders = [pool.submit(send) for _ in range(8)]
            for turn in range(3):
                until(lambda turn=turn: len(acknowledged) > 20 * (turn + 1), LONG)
                with own.frozen(), collector.client() as client:
                    until(lambda: client.get("/readyz").status_code == 503, LONG)
            ended.set()
            for sender in senders:
                sender.result()
        assert collector.counts() == {survey.version: len(acknowledged)}
        assert "nothing is wrong" in fldp("fsck", "--database", collector.settings["database"]).stdout
        assert collector.stop() == 0
    finally:
        collector.stop(signal.SIGKILL)


def test_a_collector_stops_while_the_server_hangs(tmp_path, own):
    collector = Server(tmp_path, database=own.database(), stop_seconds=5)
    try:
        survey = collector.publish(minimum=1)
        assert collector.send(survey).status_code == 200
        with own.frozen(), ThreadPoolExecutor(4) as pool:
            sent = [pool.submit(_sent, collector, survey) for _ in range(4)]
            time.sleep(0.3)
            assert collector.stop(seconds=LONG) == 0
            assert {one.result() for one in sent} <= {503, None}
    finally:
        collector.stop(signal.SIGKILL)


def _sent(collector, survey):
    with suppress(httpx.HTTPError):
        return collector.send(survey).status_code


def test_a_store_that_is_closed_sends_away_who_waits(stores, own):
    store = PostgresStore(Database(own.database()))
    with own.frozen(), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.tokens)
        store.close()
        with pytest.raises(StoreError):
            waiting.result(LONG)


def test_a_long_statement_is_not_taken_for_a_server_that_hangs(stores):
    """It takes twice as long as the server may be silent, and others are answered meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(stores[0]._select, "SELECT pg_sleep(3)")
        while not slow.done():
            assert stores[0].tokens() == []
            time.sleep(0.05)
        assert slow.result()
