"""Requests and replies as plain data, and the errors that replies stand for.

Nothing in here touches the network. A collector is not trusted: its answers are bounded, checked and cleaned.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fldp.errors import CollectorError
from fldp.support.validation import is_integer

MAX_JSON = 1 << 25  # bytes of an answer that is kept in memory
MAX_SECONDS = 600.0  # for the whole of a request and such an answer, however slowly it drips
MIN_SPEED = 4096  # bytes a second of what is sent, and of an answer that is saved: these get more time
Query = Mapping[str, str]


@dataclass(frozen=True)
class Request:
    """One request. ``repeatable``: that it came twice makes no difference. ``token``: whether the token goes along.

    ``remembered``: whether a client may keep the answer, and ask next time only whether it has changed.
    A ``sink`` takes a good answer piece by piece instead of memory; None comes before the first one of an attempt.
    """

    method: str
    path: str
    query: Query = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # there may be a ticket in it
    body: bytes = field(default=b"", repr=False)
    repeatable: bool = True
    token: bool = True
    remembered: bool = False
    most: int = MAX_JSON
    sink: Callable[[bytes | None], object] | None = None


@dataclass(frozen=True)
class Reply:
    """One answer; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(default=b"", repr=False)


class UnreachableError(Exception):
    """No usable answer. ``sent``: whether the collector may have acted on the request."""

    def __init__(self, why: str, *, sent: bool = True) -> None:
        super().__init__(why)
        self.sent = sent


class Receiver:
    """Takes an answer as it comes, and stops at its limits."""

    def __init__(self, request: Request) -> None:
        self._request, self._started = request, time.monotonic()
        self._reply, self._sink = Reply(0, {}), request.sink
        self._parts, self._size, self._most = list[bytes](), 0, request.most

    @property
    def ends(self) -> float:
        """When the answer must be complete; nobody waits longer."""
        size = len(self._request.body) + (self._size if self._sink else 0)
        return self._started + MAX_SECONDS + size / MIN_SPEED

    @property
    def late(self) -> str:
        """What to say when it is not."""
        return f"the answer is not complete after {self.ends - self._started:.3g} s"

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Take what comes before the first piece."""
        self._reply = Reply(status, {name.lower(): value for name, value in headers.items()})
        self._sink = self._request.sink if status == 200 else None
        self._most = self._request.most if status < 400 else min(self._request.most, MAX_JSON)
        if self._reply.headers.get("content-encoding", "identity") != "identity":
            raise CollectorError("the answer is compressed, although no compression was requested", status=status)
        length = self._reply.headers.get("content-length", "0")
        self._bounded(int(length) if re.fullmatch("[0-9]{1,18}", length) else 0)
        if self._sink:
            self._sink(None)

    def add(self, part: bytes) -> None:
        """Take a piece."""
        self._size += len(part)
        self._bounded(self._size)
        if self._sink:
            self._sink(part)
        else:
            self._parts.append(part)

    def reply(self) -> Reply:
        """Return the whole of it."""
        return Reply(self._reply.status, self._reply.headers, b"".join(self._parts))

    def _bounded(self, size: int) -> None:
        if size > self._most:
            raise CollectorError(f"the answer is larger than {self._most:,} bytes", status=self._reply.status)


def clean(text: object, most: int = 500) -> str:
    r"""Return somebody else's text as one short line that cannot do anything to a terminal.

    >>> clean("two\nlines \x1b[31m")
    'two lines [31m'
    """
    shown = "".join(c if c.isprintable() else " " for c in str(text)[: 2 * most])
    return " ".join(shown.split())[:most]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds an answer asks to wait, which it may say as a number or as a time.

    >>> retry_after({"retry-after": "7"}), retry_after({"retry-after": "soon"})
    (7.0, None)
    """
    text = headers.get("retry-after", "")
    if re.fullmatch("[0-9]{1,9}", text):
        return float(text)
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def hidden(text: object, secrets: Iterable[str | None]) -> str:
    """Return somebody else's text without what must not be shown, to be done before any of it is cut off.

    >>> hidden("Bearer abc is wrong", ["abc", None])
    'Bearer [secret] is wrong'
    """
    shown = str(text)
    for secret in secrets:
        shown = shown.replace(secret, "[secret]") if secret else shown
    return shown


def redirect(reply: Reply, secrets: Iterable[str | None] = ()) -> str:
    """Describe a redirect, which is never followed."""
    place = clean(hidden(reply.headers.get("location", "elsewhere"), secrets), 200)
    return f"answers with a redirect to {place}, which is not followed"


def problem(reply: Reply, secrets: Iterable[str | None] = ()) -> CollectorError:
    """Make an error of an answer that is not what was asked for; RFC 9457 says how it tells why."""
    secrets = tuple(secrets)
    if reply.status == 304:
        return CollectorError("unexpected 304 Not Modified", status=reply.status)
    if 300 <= reply.status < 400:
        return CollectorError(f"{redirect(reply, secrets)}; use that address", status=reply.status)
    try:
        body = json.loads(reply.body)
    except (ValueError, RecursionError):
        body = None
    body = body if isinstance(body, dict) else {}
    reason = clean(hidden(body.get("detail") or body.get("title") or "no reason given", secrets))
    index, mistakes = body.get("index"), body.get("mistakes")
    mistakes = mistakes[:100] if isinstance(mistakes, list) else []
    return CollectorError(
        f"{reason} (status {reply.status})",
        status=reply.status,
        kind=clean(hidden(body["type"], secrets), 100) if isinstance(body.get("type"), str) else None,
        index=index if is_integer(index) else None,
        mistakes=tuple(clean(hidden(mistake, secrets)) for mistake in mistakes),
    )
