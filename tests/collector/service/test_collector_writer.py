"""The writer: what waits together is committed together, and nobody is answered before."""

import asyncio
import threading

import pytest

from fldp import Stream
from fldp.collector.service.group_commit import BusyError, GroupCommitter
from fldp.collector.storage.protocol import Admitted, StoreError, Submission, SubmissionResult, SubmittedRow
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.tables import COLUMNS
from support.collector_store import DAY, publish, rows, submission, whole


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path / "fldp.db")
    yield store
    store.close()


class Gated:
    """A commit that waits until it may."""

    def __init__(self, store):
        self.store, self.begun, self.gate, self.sizes = store, threading.Event(), threading.Event(), []

    def __call__(self, batch):
        self.begun.set()
        assert self.gate.wait(300)
        self.sizes.append(len(batch))
        return self.store.commit(batch, DAY)


async def began(commit):
    assert await asyncio.to_thread(commit.begun.wait, 60)


def begun(writer, survey, number, names):
    return [asyncio.ensure_future(writer.write(submission(survey, number, name))) for name in names]


def test_requests_share_commits_and_are_answered_after_them(store):
    survey, number = publish(store)
    commit = Gated(store)

    async def main():
        writer = GroupCommitter(commit, most_waiting=100)
        waiting = begun(writer, survey, number, [bytes([k]) for k in range(50)])
        await began(commit)
        assert not any(task.done() for task in waiting)
        commit.gate.set()
        assert [outcome.accepted for outcome in await asyncio.gather(*waiting)] == [1] * 50
        writer.stop()

    asyncio.run(main())
    assert len(commit.sizes) <= 2
    assert whole(store, survey, number).n == 50


def test_a_full_queue_refuses_and_who_stops_waiting_hurts_nobody(store):
    survey, number = publish(store)
    commit = Gated(store)

    async def main():
        writer = GroupCommitter(commit, most_waiting=3)
        waiting = begun(writer, survey, number, [b"first"])
        await began(commit)
        waiting += begun(writer, survey, number, [b"a", b"b", b"c"])
        await asyncio.sleep(0)  # each of them runs once
        assert len(writer) == 3
        with pytest.raises(BusyError):
            await writer.write(submission(survey, number, b"late"))
        waiting.pop().cancel()
        commit.gate.set()
        assert [outcome.accepted for outcome in await asyncio.gather(*waiting)] == [1] * 3
        assert (await writer.write(submission(survey, number, b"after"))).accepted == 1
        writer.stop()

    asyncio.run(main())
    assert whole(store, survey, number).n in (4, 5)  # what was no longer waited for may be counted


FAILURES = [StoreError("x"), KeyError("x"), MemoryError(), SystemExit(1), KeyboardInterrupt(), RecursionError("x")]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda error: type(error).__name__)
def test_a_commit_that_fails_fails_all_its_requests_and_no_later_ones(store, failure):
    survey, number = publish(store)
    failing = [failure]

    def commit(batch):
        if failing:
            raise failing.pop()
        return store.commit(batch, DAY)

    async def main():
        writer = GroupCommitter(commit, most_waiting=3)
        answers = await asyncio.gather(*begun(writer, survey, number, [b"a", b"b"]), return_exceptions=True)
        assert {type(answer) for answer in answers} <= {type(failure), StoreError}
        assert (await writer.write(submission(survey, number, b"a"))).accepted == 1
        writer.stop()
        with pytest.raises(BusyError):
            await writer.write(submission(survey, number, b"b"))

    asyncio.run(main())
    assert whole(store, survey, number).n == 1


def test_a_commit_that_answers_too_few_leaves_nobody_waiting(store):
    survey, number = publish(store)

    async def main():
        writer = GroupCommitter(lambda batch: [SubmissionResult(Admitted.ACCEPTED, 1)], most_waiting=9)
        first, *others = await asyncio.gather(
            *begun(writer, survey, number, [b"a", b"b", b"c"]), return_exceptions=True
        )
        assert first.accepted == 1
        assert [type(other) for other in others] == [ValueError, ValueError]
        assert (await writer.write(submission(survey, number, b"d"))).accepted == 1
        writer.stop()

    asyncio.run(main())


def test_who_waits_when_the_writer_ends_is_told(store):
    survey, number = publish(store)
    commit = Gated(store)

    async def main():
        writer = GroupCommitter(commit, most_waiting=9)
        waiting = begun(writer, survey, number, [b"a"])
        await began(commit)
        waiting += begun(writer, survey, number, [b"b"])
        stopping = asyncio.ensure_future(asyncio.to_thread(writer.stop))
        while writer.alive or not len(writer):
            await asyncio.sleep(0.001)
        commit.gate.set()
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        await stopping
        return answers

    assert [type(answer) for answer in asyncio.run(main())] == [SubmissionResult, BusyError]
    assert whole(store, survey, number).n == 1


def test_a_loop_that_has_ended_stops_no_commit(store):
    """Its tasks have ended with it, so nobody waits; what they sent is counted, and the next loop is served."""
    survey, number = publish(store)
    commit = Gated(store)
    writer = GroupCommitter(commit, most_waiting=9)

    async def leave():
        begun(writer, survey, number, [b"a"])
        await began(commit)
        begun(writer, survey, number, [b"b"])
        await asyncio.sleep(0)
        assert len(writer) == 1

    async def come():
        (waiting,) = begun(writer, survey, number, [b"c"])
        await asyncio.sleep(0)
        assert len(writer) == 2  # of two loops, which are committed together
        commit.gate.set()
        return await waiting

    asyncio.run(leave())
    assert asyncio.run(come()).accepted == 1
    writer.stop()
    assert commit.sizes == [1, 2]
    assert whole(store, survey, number).n == 3


def test_rows_that_were_checked_together_are_stored_as_if_each_came_alone(tmp_path):
    """The same reports, keys and answers, whatever is repeated, contradicted or sent to a survey that is gone."""
    stored, answers = [], []
    for kind in ("rows", "alone"):
        store = SqliteStore(tmp_path / f"{kind}.db")
        survey, number = publish(store)
        reports = Stream(7)
        drawn = survey.oracle.privatize([value % survey.oracle.domain_size for value in range(9)], rng=reports)
        asked = [(number + 9 * (k == 4), b"%032d" % (k % 7), b"%032d" % (k // 8), b"secret %d" % k) for k in range(9)]
        sent = [
            SubmittedRow(*each, (drawn, k)) if kind == "rows" else Submission(*each[:3], drawn[k], secret=each[3])
            for k, each in enumerate(asked)
        ]
        assert [(one.n, one.size, one.content) for one in sent] == [(1, drawn[k].nbytes, drawn[k]) for k in range(9)]
        answers.append(store.commit(sent, DAY))
        stored.append([rows(store, f"SELECT {COLUMNS[table]} FROM {table}") for table in ("keys", "segments")])
        assert whole(store, survey, number).n == 6
        store.close()
    assert stored[0] == stored[1]
    assert answers[0] == answers[1]
    assert {one.verdict for one in answers[0]} == {
        Admitted.ACCEPTED,
        Admitted.REPEATED,
        Admitted.CONFLICT,
        Admitted.GONE,
    }
