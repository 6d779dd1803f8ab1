"""The fast path of a single report: what nearly all requests are, and nothing that such a request does not need.

It is for one report in a body that comes in one piece, sent to a survey in memory that anybody may answer at any time.
Whatever is unusual about a request, and whatever must be refused, takes the full path, which decides alike.
"""

import asyncio
import re
import time
from functools import lru_cache
from typing import Any, NamedTuple

from starlette.types import Message, Receive, Scope, Send

from fldp.collector.http.client_timeouts import GRACE, ClientTimeout
from fldp.collector.http.cors import readable
from fldp.collector.http.headers import Raw, completed
from fldp.collector.service import logs
from fldp.collector.service.collector import Collector
from fldp.collector.service.counting import SingleReport
from fldp.collector.service.problems import too_slow
from fldp.collector.storage.protocol import Admitted
from fldp.interface.operations import BYTES, JSON
from fldp.support.identifiers import IDEMPOTENCY_KEY
from fldp.wire.single_reports import SingleReports

ROUTE = "/v1/versions/{id}/reports"
_BEFORE, _AFTER = ROUTE.split("{id}")
_USUAL_BYTES = 4096  # of all headers: less than any limit, so no request is too large for the collector
_ODD = frozenset((b"content-encoding", b"transfer-encoding"))
_TYPE = BYTES.encode()
_KEY = re.compile(IDEMPOTENCY_KEY.pattern.encode())
_ACCEPTED: Message = {"type": "http.response.body", "body": b'{"accepted":1}'}
_COUNTED = (Admitted.ACCEPTED, Admitted.REPEATED)
Task = asyncio.Task[Any]


class UsualHead(NamedTuple):
    """What the head of a usual request says."""

    survey: int
    singles: SingleReports
    key: bytes
    origins: tuple[str, ...]
    answer: Message


class Again(NamedTuple):
    """What a request needs that takes the full path after all: its body again, and what went wrong, if anything."""

    receive: Receive
    waited: float = 0.0  # seconds for the body so far
    failure: BaseException | None = None


class BodyWatch:
    """Looks now and then after requests whose bodies have not come; a body that is there costs next to nothing.

    One that is waited for longer than ``GRACE`` gets the same time limit as all others.
    """

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._since: dict[Task, float] = {}
        self._slow: dict[Task, ClientTimeout] = {}
        self._is_ticking = False

    def begin(self, task: Task, now: float) -> None:
        """Begin to wait for the body of a task's request."""
        self._since[task] = now
        if not self._is_ticking:
            self._is_ticking = True
            asyncio.get_running_loop().call_later(GRACE, self._look)

    def end(self, task: Task) -> bool:
        """Wait no longer; return whether the task was cancelled because the body came too slowly."""
        self._since.pop(task, None)
        timeout = self._slow.pop(task, None) if self._slow else None
        return timeout is not None and timeout.end()

    def _look(self) -> None:
        now = time.perf_counter()
        for task, since in [(task, since) for task, since in self._since.items() if now - since >= GRACE]:
            del self._since[task]
            timeout = self._slow[task] = ClientTimeout(self._collector, self._collector.settings.body_seconds)
            timeout.begin(task, now - since)
        self._is_ticking = bool(self._since)
        if self._is_ticking:
            asyncio.get_running_loop().call_later(GRACE / 4, self._look)


class FastPath:
    """Recognizes usual requests, and counts their reports."""

    def __init__(self, collector: Collector) -> None:
        self._collector, self._load, self._watch = collector, collector.load, BodyWatch(collector)
        settings = collector.settings
        self._is_closed = bool(settings.rate or settings.log_senders or settings.trusted_proxies)
        self._loop: asyncio.AbstractEventLoop | None = None

    def head(self, scope: Scope) -> UsualHead | None:
        """Return what the head of a request says, None if there is anything unusual about it."""
        path, load = scope["path"], self._load
        if self._is_closed or scope["method"] != "POST" or scope["query_string"] or not path.endswith(_AFTER):
            return None
        published = self._collector.surveys.known(path[len(_BEFORE) : -len(_AFTER)])
        if published is None or published.singles is None or not path.startswith(_BEFORE):
            return None
        headers = dict(scope["headers"])
        key = headers.get(b"idempotency-key", b"")
        if (
            len(headers) != len(scope["headers"])
            or sum(map(len, headers)) + sum(map(len, headers.values())) > _USUAL_BYTES
            or not _ODD.isdisjoint(headers)
            or headers.get(b"content-length") != published.singles.length
            or headers.get(b"content-type", _TYPE) != _TYPE
            or _KEY.fullmatch(key) is None
            or load.in_flight >= load.max_in_flight
        ):
            return None
        origins = published.summary.origins
        origin = headers.get(b"origin", b"").decode("latin-1") if origins else ""
        answer = _answer(origins, origin if origin in origins else "", scope["scheme"])
        return UsualHead(published.entry.number, published.singles, key, origins, answer)

    async def count(self, sent: UsualHead, receive: Receive, send: Send) -> Again | None:
        """Count the report of a usual request, and answer; return what the full path needs if it is for that."""
        start = time.perf_counter()
        task, collector, load, watch = self._task(), self._collector, self._load, self._watch
        collector.requests.add(task)
        watch.begin(task, start)
        try:
            message = await receive()
            watch.end(task)
            body, size = message.get("body", b""), sent.singles.size
            if len(body) != size or load.in_flight >= load.max_in_flight:
                return Again(giving(message, receive), time.perf_counter() - start)
            load.take(size)
            try:
                outcome = await collector.put_single(SingleReport(sent.survey, sent.singles, sent.key, body))
            finally:
                load.give(size)
            if outcome.verdict not in _COUNTED:
                return Again(giving(message, receive), time.perf_counter() - start)
            await send(sent.answer)
            await send(_ACCEPTED)
        except (Exception, asyncio.CancelledError) as error:
            return Again(receive, failure=too_slow() if watch.end(task) else error)
        finally:
            collector.requests.discard(task)
        seconds = time.perf_counter() - start
        collector.metrics.request(ROUTE, "POST", 200, seconds)
        logs.request(ROUTE, "POST", 200, seconds)
        return None

    def _task(self) -> Task:
        """Return the task that runs. Which loop runs is asked once: in Python 3.11 that takes a system call."""
        task = asyncio.current_task(self._loop) if self._loop else None
        if task is None:
            self._loop = asyncio.get_running_loop()
            task = asyncio.current_task(self._loop)
            assert task is not None
        return task


@lru_cache(1024)
def _answer(origins: tuple[str, ...], origin: str, scheme: str) -> Message:
    """Return the head of the answer to a page of this origin, or to anybody else."""
    own: Raw = [(b"content-length", b"%d" % len(_ACCEPTED["body"])), (b"content-type", JSON.encode())]
    headers = completed(own, readable(origins, origin), scheme)
    return {"type": "http.response.start", "status": 200, "headers": headers}


def giving(message: Message, receive: Receive) -> Receive:
    """Return what gives a message that came already, and then what else comes."""
    waiting = [message]

    async def give() -> Message:
        return waiting.pop() if waiting else await receive()

    return give
