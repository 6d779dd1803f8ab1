"""Logs: JSON lines on standard error. No address, no token, no key, no user agent, unless that is switched on."""

import json
import logging
import sys
import threading
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

log = logging.getLogger("fldp.collector")
audit = logging.getLogger("fldp.collector.audit")
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class JsonLines(logging.Formatter):
    """One JSON object on each line: the time in seconds, the level, what happened, and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        fields: dict[str, Any] = {
            "time": f"{datetime.fromtimestamp(record.created, UTC):%Y-%m-%dT%H:%M:%SZ}",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        fields |= {name: value for name, value in vars(record).items() if name not in _OWN}
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=True, default=str)


def configure(enabled: bool, audited: bool = True) -> None:
    """Send every log of this process to standard error, as JSON; mistakes are written even if requests are not.

    That includes what libraries log, warnings, and exceptions that nobody caught: a line that is not JSON would stop
    whoever reads the log.
    """
    handler = logging.StreamHandler(sys.stderr)
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
