"""The short form of ``make soak PART=faults``: faults of every kind, and collectors that are wrong on purpose."""

from types import SimpleNamespace

import pytest

from soak.faults import durable, runs
from soak.faults.content import Content, surveys, tally_of
from soak.faults.disk import disks
from soak.faults.judge import Judge, explain
from support.waiting import TooLong


def test_after_kills_everything_acknowledged_is_there_once(tmp_path):
    result = runs.kills(runs.sqlite(tmp_path), 1, 3, every=3, killed=[0.002, 0.01])
    assert result.problems == []
    assert result.counted["kills"] == 3
    assert {"answer", "fold", "opening"} <= result.phases.keys()
    assert result.counted["taken back"] > 0


def test_other_faults(tmp_path):
    with disks(tmp_path) as kinds:
        result = runs.mixed(runs.sqlite(tmp_path), 2, 1, kinds)
    assert result.problems == []
    assert result.counted["refused"] >= 20


@pytest.mark.parametrize("kind", ["acknowledges first", "forgets keys", "takes twice"])
def test_a_collector_that_is_wrong_is_found_out(tmp_path, kind):
    assert runs.wrong(runs.sqlite(tmp_path), kind).problems


def test_what_was_counted_is_told_from_the_tally_alone():
    survey = surveys(5)[0]
    items = [Content([survey], 5)[index] for index in range(12)]
    counted = tally_of(survey, items[2:9])
    assert explain(survey, (counted.n, counted.state), items) == 7
    assert explain(survey, (counted.n, counted.state), items[3:]) is None  # one of them is not there
    assert explain(survey, (counted.n, counted.state), []) is None
    twice = tally_of(survey, [*items[2:9], items[4]])
    assert explain(survey, (twice.n, twice.state), items) is None
    gone = tally_of(survey, items[4:6])
    assert explain(survey, (counted.n - gone.n, counted.state - gone.state), items[:1] + items[2:4] + items[6:9]) == 5
    assert explain(survey, (-gone.n, -gone.state), items[:2], items[3:7]) == 2
    assert explain(survey, (-gone.n, -gone.state), items[:2], items[5:7]) is None
    assert explain(survey, (2 * items[0].n, 2 * tally_of(survey, items[:1]).state), [items[0], items[0]]) == 2


TRACE = """\
7 pwrite64(6</d/fldp.db-wal>, "..", 24, 0) = 24
8 fdatasync(6</d/fldp.db-wal> <unfinished ...>
9 write(5<socket:[1]>, "x", 1) = 1
8 <... fdatasync resumed>) = {value}
7 writev(11<TCP:[1]>, [{{iov_base="HTTP/1.1 200 OK", iov_len=9}}], 1) = 9"""


@pytest.mark.parametrize(("value", "durables"), [(0, 1), (-5, 0)])
def test_a_trace_tells_what_was_synced(value, durables):
    synced = durable.read(TRACE.format(value=value).splitlines())
    assert (synced.answers, synced.durable) == (1, durables)


def test_an_answer_before_the_end_of_the_sync_is_not_durable():
    lines = TRACE.format(value=0).splitlines()
    assert durable.read([*lines[:2], lines[4], lines[3]]).durable == 0


def test_a_collector_that_gives_no_tally_any_more_is_wrong(monkeypatch):
    def no_tally(server, survey):
        raise TooLong("not so within 300 seconds")

    monkeypatch.setattr("soak.faults.judge.tally", no_tally)
    both = surveys(1)
    judge = Judge(SimpleNamespace(surveys=both, acknowledged={}, taken={}, unanswered=[], undecided=[]))
    judge.look(None, when="after a kill")
    assert judge.problems == [f"after a kill: {each.name}: no tally: not so within 300 seconds" for each in both]
