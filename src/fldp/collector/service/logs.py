"""Logs: JSON lines on standard error. No address, no token, no key, no user agent, unless that is switched on."""

import asyncio
import json
import logging
import sys
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

log = logging.getLogger("fldp.collector")
audit = logging.getLogger("fldp.collector.audit")
_REFUSED = 400
_LINE = (
    '{"time": "%s", "level": "info", "event": "request", "route": "%s", "method": "%s", "status": %d,'
    ' "milliseconds": %s%s}\n'
)
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class JsonLines(logging.Formatter):
    """One JSON object on each line: the time in seconds, the level, what happened, and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        fields: dict[str, Any] = {
            "time": _text(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        fields |= {name: value for name, value in vars(record).items() if name not in _OWN}
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=True, default=str)


def _text(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}"


class RequestLines(logging.StreamHandler[TextIO]):
    """Writes records, and the lines of requests: these are gathered, and written once for each turn of the event loop.

    Of ``every`` requests that went well one has a line, which says so; what was refused or failed always has one.

    >>> async def log(lines: RequestLines) -> None:
    ...     for status in (200, 200, 503):
    ...         lines.request("/healthz", "GET", status, 0.1)
    >>> asyncio.run(log(RequestLines(sys.stdout, every=2)))  # doctest: +ELLIPSIS
    {"time": "...Z", "level": "info", "event": "request", "route": "/healthz", ... "status": 200, ... "every": 2}
    {"time": "...Z", "level": "info", "event": "request", "route": "/healthz", ... "status": 503, ...}
    """

    def __init__(self, stream: TextIO, every: int = 1) -> None:
        super().__init__(stream)
        self._every, self._good = every, 0
        self._more = f', "every": {every}' if every > 1 else ""
        self._lock = threading.RLock()  # records come from all threads
        self._lines: list[str] = []
        self._second, self._time = -1, ""

    def request(self, route: str, method: str, status: int, milliseconds: float) -> None:
        """Add the line of a request; for the event loop. Route and method are words that the collector knows."""
        is_good = status < _REFUSED
        self._good += is_good
        if is_good and self._good % self._every != 1 % self._every:
            return
        now = int(time.time())
        if now != self._second:
            self._second, self._time = now, _text(now)
        line = _LINE % (self._time, route, method, status, milliseconds, self._more if is_good else "")
        with self._lock:
            self._lines.append(line)
            if len(self._lines) == 1:
                asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        """Write the lines of requests, and what the stream holds back. Where nobody reads, nothing fails for it."""
        with self._lock, suppress(OSError, ValueError):
            lines, self._lines = self._lines, []
            self.stream.write("".join(lines))
            self.stream.flush()


def request(route: str, method: str, status: int, seconds: float, **more: str) -> None:
    """Log a request, unless requests are not logged."""
    if not log.isEnabledFor(logging.INFO):
        return
    milliseconds = round(1000 * seconds, 1)
    handler = log.handlers[0] if log.handlers else None
    if isinstance(handler, RequestLines) and not more:
        handler.request(route, method, status, milliseconds)
    else:
        fields = {"route": route, "method": method, "status": status, "milliseconds": milliseconds}
        log.info("request", extra=fields | more)


def configure(enabled: bool, audited: bool = True, every: int = 1) -> None:
    """Send every log of this process to standard error, as JSON; mistakes are written even if requests are not.

    That includes what libraries log, warnings, and exceptions that nobody caught: a line that is not JSON would stop
    whoever reads the log. Of ``every`` requests that went well one is written.
    """
    handler = RequestLines(sys.stderr, every)
    handler.setFormatter(JsonLines())
    log.handlers[:] = [handler]
    log.propagate = False
    log.setLevel(logging.INFO if enabled else logging.ERROR)
    audit.setLevel(logging.INFO if audited else logging.ERROR)
    logging.getLogger().handlers[:] = [handler]
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    sys.unraisablehook = _unraisable


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    log.error("an exception was not caught", exc_info=(kind, error, trace))


def _uncaught_in_thread(caught: threading.ExceptHookArgs) -> None:
    if caught.exc_value is not None:
        name = caught.thread.name if caught.thread else "unknown"
        trace = (caught.exc_type, caught.exc_value, caught.exc_traceback)
        log.error("a thread has ended by an exception", extra={"thread_name": name}, exc_info=trace)


def _unraisable(caught: "sys.UnraisableHookArgs") -> None:
    error = caught.exc_value
    trace = (caught.exc_type, error, caught.exc_traceback) if error is not None else None
    log.error("an exception was ignored", extra={"where": caught.err_msg or ""}, exc_info=trace)
