"""Logs: JSON lines on standard error. No address, no token, no key, no user agent, unless that is switched on."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

log = logging.getLogger("fldp.collector")
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


def configure(enabled: bool) -> None:
    """Send the collector's log to standard error; mistakes of ours are written even if requests are not."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    log.handlers[:] = [handler]
    log.propagate = False
    log.setLevel(logging.INFO if enabled else logging.ERROR)
