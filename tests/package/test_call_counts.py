"""The hot paths call no more functions than they did, counted and not timed: a limit is a fifth above what was counted.

Whoever makes a path longer sees it here, and raises its limit with a reason or takes the step out again. Who makes one
much shorter lowers the limit.
"""

import asyncio
from contextlib import suppress

import numpy as np
import pytest

import fldp
from fldp import wire
from fldp.collector.app import create_app
from fldp.collector.config.settings import Settings
from fldp.collector.service import logs
from fldp.collector.service.collector import Collector
from fldp.collector.service.counting import SingleReport, checked
from fldp.collector.storage.protocol import Admitted, StoredSurvey, SubmissionResult
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.numerics.kernels import load_compiler
from fldp.survey.survey import Survey
from fldp.wire.single_reports import SingleReports
from support.call_counts import calls, most_memory
from support.collector_requests import batch, key, specification

TOGETHER, DAY = 64, "2026-11-01"
SURVEY = Survey.from_dict(specification())
SINGLES = SingleReports(SURVEY.oracle, SURVEY.version)
MANY = [value % 5 for value in range(4096)]


def single(number):
    return SingleReport(1, SINGLES, b"%032d" % number, batch(SURVEY))


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    store.publish(StoredSurvey.new(SURVEY, "2026-11-01T00:00:00Z"))
    yield store
    store.close()


def within(limit, counted):
    assert limit / 2 <= counted <= limit


def scope():
    headers = {"host": "x", "content-length": f"{SINGLES.size}", "idempotency-key": key()}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    path = f"/v1/versions/{SURVEY.version}/reports"
    return {"type": "http", "method": "POST", "path": path, "query_string": b"", "scheme": "http", "headers": raw}


def test_a_request_with_one_report(tmp_path, store, monkeypatch):
    """From its head to its answer and its line in the log, on the event loop; the commit is counted below."""
    logs.configure(True)
    collector = Collector(Settings(data=tmp_path), store)
    body = {"type": "http.request", "body": batch(SURVEY), "more_body": False}

    async def receive():
        return body

    async def send(message):
        del message

    def put(report):
        del report
        done = asyncio.get_running_loop().create_future()
        done.set_result(SubmissionResult(Admitted.ACCEPTED, 1))
        return done

    async def story():
        await collector.surveys.get(SURVEY.version)
        monkeypatch.setattr(collector, "put_single", put)
        app, scopes = create_app(collector), [scope() for _ in range(TOGETHER)]
        await app(scope(), receive, send)

        def begin():
            for each in scopes:
                with suppress(StopIteration):  # nothing that it waits for is late
                    app(each, receive, send).send(None)

        return calls(begin) / TOGETHER

    try:
        within(78, asyncio.run(story()))
    finally:
        collector.stop()


def test_a_report_in_its_frame():
    body = batch(SURVEY)
    within(12, calls(lambda: SINGLES.packed(body)))


def test_reports_that_are_checked_together():
    waiting = [single(number) for number in range(TOGETHER)]
    checked(waiting)
    within(24, calls(lambda: checked(waiting)) / TOGETHER)  # each with its frame and its two hashes


def test_reports_that_are_committed_together(store):
    store.commit(checked([single(number) for number in range(1000, 1000 + TOGETHER)]), DAY)
    submissions = checked([single(number) for number in range(TOGETHER)])
    within(36, calls(lambda: store.commit(submissions, DAY)) / TOGETHER)


def test_hashes_of_a_report_that_is_committed(store):
    """Two of its frame and four of its row; those of the commit are shared."""
    store.commit(checked([single(number) for number in range(1000, 1000 + TOGETHER)]), DAY)
    waiting = [single(number) for number in range(TOGETHER)]
    hashes = calls(lambda: store.commit(checked(waiting), DAY), among={"digest"})
    assert 6 <= hashes / TOGETHER <= 6.1


class Statements:
    """A connection that counts what is asked of it."""

    def __init__(self, connection):
        self._connection, self.count = connection, 0

    def execute(self, *arguments):
        self.count += 1
        return self._connection.execute(*arguments)

    def executemany(self, statement, rows):
        listed = list(rows)
        self.count += len(listed)
        return self._connection.executemany(statement, listed)

    def __getattr__(self, name):
        return getattr(self._connection, name)


def test_statements_of_a_commit(store):
    """One, however many reports: each hands the interpreter to other threads, and has to wait until it gets it back."""
    store.commit(checked([single(number) for number in range(1000, 1001)]), DAY)
    store._writer = Statements(store._writer)
    store.commit(checked([single(number) for number in range(TOGETHER)]), DAY)
    assert store._writer.count == 1


def test_a_batch_is_read_in_as_many_steps_as_one_report():
    few, many = (wire.encode(SURVEY.oracle.privatize(MANY[:count]), SURVEY.version) for count in (96, 4096))
    wire.decode(few)
    assert calls(lambda: wire.decode(many)) == calls(lambda: wire.decode(few))
    within(650, calls(lambda: wire.decode(many)))


@pytest.mark.parametrize(
    ("oracle", "limit"),
    [
        (fldp.GRR(epsilon=1.0, domain_size=5), 60),
        (fldp.FHR(epsilon=1.0, domain_size=5), 66),
        (fldp.OUE(epsilon=1.0, domain_size=5), 54),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_tally_takes_as_many_steps_for_many_as_for_few(oracle, limit):
    few, many = oracle.privatize(MANY[:100]), oracle.privatize(MANY)
    oracle.tally(many)
    assert calls(lambda: oracle.tally(many)) == calls(lambda: oracle.tally(few))
    within(limit, calls(lambda: oracle.tally(many)))


@pytest.mark.parametrize("make", [fldp.GRR, fldp.OUE, fldp.FHR, fldp.PGR, fldp.HR])
def test_a_tally_copies_no_reports(make):
    load_compiler()  # without it, NumPy counts so few symbols, and makes them longer
    reports = make(epsilon=1.0, domain_size=1000).privatize(np.arange(100_000) % 1000)
    oracle = reports.oracle
    oracle.tally(reports)
    assert most_memory(lambda: oracle.tally(reports)) < reports.data.nbytes / 2


@pytest.mark.parametrize(
    ("oracle", "limit"),
    [
        (fldp.GRR(epsilon=1.0, domain_size=5), 20),
        (fldp.FHR(epsilon=1.0, domain_size=5), 84),
        (fldp.OUE(epsilon=1.0, domain_size=5), 20),
        (fldp.PGR(epsilon=1.0, domain_size=5), 76),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_an_estimate_that_nobody_tests(oracle, limit):
    """The laws of its counts, which took 100 calls more, are found for whoever tests or asks for intervals."""
    tally = oracle.tally(oracle.privatize(MANY))
    oracle.estimate(tally)
    within(limit, calls(lambda: oracle.estimate(tally)))


@pytest.mark.parametrize(
    ("oracle", "limit"),
    [
        (fldp.RR(epsilon=1.0), 16),
        (fldp.GRR(epsilon=1.0, domain_size=1024), 16),
        (fldp.FHR(epsilon=1.0, domain_size=1023), 21),
        (fldp.OUE(epsilon=1.0, domain_size=1024), 40),
        (fldp.SS(epsilon=1.0, domain_size=1024), 36),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_one_report_of_one_person(oracle, limit):
    """From the value to the bytes to send, on the average of as many as empty a pool of words."""
    responder = fldp.Responder(oracle)
    responder.encode(1)

    def many():
        for _ in range(56):
            responder.encode(1)

    within(limit, calls(many) / 56)
