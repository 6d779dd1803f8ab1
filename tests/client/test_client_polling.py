"""A client that polls: what has not changed is not sent again, and what it keeps stays small."""

import json
from itertools import count

import pytest

from fldp import Client, CollectorError
from fldp.client.cache import MAX_ANSWERS, MAX_BYTES, Remembered
from fldp.client.messages import Reply, Request
from support.client import TOKEN, estimates_reply, survey
from support.raw_server import answer, raw
from support.serving import collector

VERSION = "ab" * 32
ROW = {"value": 0, "label": "a", "count": 1.0, "stderr": 1.0, "low": 0, "high": 2.0, "frequency": 0.1}


def estimates(n, tag='"1"'):
    return answer(json.dumps({**estimates_reply(ROW), "n": n}).encode(), "200 OK", "application/json", f"ETag: {tag}")


UNCHANGED = answer(b"", "304 Not Modified")


def test_a_collector_is_asked_whether_anything_has_changed(tmp_path):
    asked = survey("polled", collect={"minimum": 10})
    with collector(tmp_path) as service, Client(*service) as client:
        statuses, request = [], client._line.transport.request

        async def watched(seen):
            reply = await request(seen)
            statuses.append(reply.status)
            return reply

        client._line.transport.request = watched
        client.create(asked)
        client.send(asked.oracle.privatize([k % 5 for k in range(100)]), asked)
        statuses.clear()
        first, again = (client.estimates(asked) for _ in range(2))
        assert (first, statuses) == (again, [200, 304])
        first["rows"].clear()  # what one caller does to it is not seen by the next
        assert client.estimates(asked) == again
        assert client.tally(asked) == client.tally(asked)
        assert client.estimates(asked, top=2) != again
        assert statuses == [200, 304, 304, 200, 304, 200]
        client.send(asked.oracle.privatize([1] * 50), asked)
        assert client.estimates(asked)["n"] == client.tally(asked).n == 150
        assert statuses[6:] == [200, 200, 200]


def test_only_answers_that_need_a_token_are_remembered():
    """The tag of a public answer would be a cookie."""
    asked = survey()
    body = json.dumps({"version": asked.version, "survey": asked.canonical, "state": "open"}).encode()
    with raw(answer(body, "200 OK", "application/json", 'ETag: "person-7"')) as (url, seen), Client(url) as client:
        for _ in range(3):
            client.survey("browser")
    assert len(seen) == 3
    assert not [line for request in seen for line in request if "person-7" in line or "none-match" in line.lower()]


@pytest.mark.parametrize("tag", ["bare", '"' + "a" * 300 + '"', '"a"b"', "", '"a b"'])
def test_an_odd_tag_is_not_sent_back(tag):
    with raw(estimates(5, tag)) as (url, seen), Client(url, TOKEN) as client:
        for _ in range(2):
            client.estimates(VERSION)
    assert not [line for request in seen for line in request if line.lower().startswith("if-none-match")]


def test_an_answer_that_is_refused_is_not_remembered():
    turns = iter([estimates("many"), estimates(5), UNCHANGED])
    with raw(lambda asked: next(turns)) as (url, seen), Client(url, TOKEN) as client:
        with pytest.raises(CollectorError, match=r"got `str` - at `\$\.n`"):
            client.estimates(VERSION)
        assert [client.estimates(VERSION)["n"] for _ in range(2)] == [5, 5]
    assert [any(line.lower() == 'if-none-match: "1"' for line in request) for request in seen] == [False, False, True]


def test_a_token_that_was_revoked_gets_no_more_answers():
    turns = iter([estimates(5), answer(b"{}", "401 Unauthorized")])
    with raw(lambda asked: next(turns)) as (url, _), Client(url, TOKEN) as client:
        client.estimates(VERSION)
        with pytest.raises(CollectorError, match="status 401"):
            client.estimates(VERSION)


def test_little_is_kept():
    known, numbers = Remembered(), count()

    def keep(size):
        request = Request("GET", f"/{next(numbers)}", remembered=True)
        known.keep(request, Reply(200, {"etag": '"1"'}, b"x" * size))
        return request

    few = [keep(10) for _ in range(3 * MAX_ANSWERS)]
    assert [known.find(request) is not None for request in few] == [False] * 2 * MAX_ANSWERS + [True] * MAX_ANSWERS
    assert known.find(keep(MAX_BYTES + 1)) is None
    assert known.find(keep(MAX_BYTES)) is not None
    assert not [request for request in few if known.find(request)]
