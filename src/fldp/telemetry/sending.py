"""Sending: a report to the collector by Python's own HTTP client, or through the relay where one is declared.

Where a relay is declared nothing ever goes directly: without what encrypts for it, a report waits and is dropped in the
end. A report has one key for ever, so sending it again counts nothing twice.
"""

import http.client
import json
import ssl
from typing import NamedTuple
from urllib.parse import urlsplit

from fldp.telemetry.metrics import AppMetrics
from fldp.telemetry.state import StoredReport

TIMEOUT = 10.0  # seconds for each step of a request
_MAX_REPLY = 1 << 17
REPORTS, WITHDRAWALS = "reports", "withdrawals"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LATER = (408, 425, 429)


class RelayError(OSError):
    """What a relay answers itself: the collector has said nothing."""


class PlainReply(NamedTuple):
    """What came back: a status and the body."""

    status: int
    body: bytes

    def confirms(self, what: str) -> bool:
        """Whether a collector says that it has done this; somebody in between may answer anything with status 200."""
        try:
            return self.status == 200 and type(json.loads(self.body)[what]) is int
        except (ValueError, LookupError, TypeError, RecursionError):
            return False

    @property
    def refuses(self) -> bool:
        """Whether asking again would be refused again."""
        return 400 <= self.status < 500 and self.status not in _LATER


def send(metrics: AppMetrics, report: StoredReport, what: str = REPORTS) -> PlainReply:
    """Send a report, or take it back; an ``OSError`` or ``ValueError`` if nothing came back."""
    path = f"/v1/versions/{report.version}/{what}"
    headers = {"Content-Type": "application/octet-stream", "Idempotency-Key": report.key}
    if metrics.relay:
        return _through(metrics.relay, path, headers, report.body)
    return request(metrics.collector, "POST", path, headers, report.body)


def trouble(error: Exception) -> str:
    """Return why nothing was sent: nobody was reached, or what encrypts for a relay is missing or refuses its answer.

    >>> trouble(TimeoutError()), trouble(RelayError("the relay answers 404"))
    ('not reached: TimeoutError', 'the relay answers 404')
    """
    if isinstance(error, RelayError):
        return str(error)
    return f"{'not reached' if isinstance(error, OSError | ValueError) else 'not sent'}: {type(error).__name__}"


def request(url: str, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> PlainReply:
    """Ask once, without following anybody elsewhere; plain HTTP for this machine only."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "https":
        line: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, port, timeout=TIMEOUT, context=ssl.create_default_context()
        )
    elif parts.scheme == "http" and host in _LOOPBACK:
        line = http.client.HTTPConnection(host, port, timeout=TIMEOUT)
    else:
        raise ValueError(f"{parts.scheme}: reports go over https")
    try:
        line.request(method, parts.path.rstrip("/") + path, body or None, headers)
        reply = line.getresponse()
        return PlainReply(reply.status, reply.read(_MAX_REPLY))
    except http.client.HTTPException as error:
        raise OSError(type(error).__name__) from None
    finally:
        line.close()


def _through(relay: str, path: str, headers: dict[str, str], body: bytes) -> PlainReply:
    """Encrypt a request for the collector, and have the relay carry it."""
    from fldp.oblivious import ohttp
    from fldp.oblivious.bhttp import BinaryReply, BinaryRequest, pad

    keys = request(relay, "GET", "/keys", {})
    if keys.status != 200:
        raise RelayError(f"the relay answers {keys.status} to the question for keys")
    fields = tuple((name.lower().encode(), value.encode()) for name, value in headers.items())
    inner = pad(BinaryRequest(b"POST", path.encode(), fields, body).encode())
    sent, exchange = ohttp.encapsulate(ohttp.decode_keys(keys.body)[0], inner)
    outer = request(relay, "POST", "/", {"Content-Type": ohttp.REQUEST_TYPE}, sent)
    if outer.status != 200:
        raise RelayError(f"the relay answers {outer.status}")
    reply = BinaryReply.decode(exchange.decapsulate(outer.body))
    return PlainReply(reply.status, reply.content)
