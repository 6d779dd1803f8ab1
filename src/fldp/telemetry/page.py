"""The page that shows a person every report ever sent and what it gave away: on this machine, for this person only.

It listens on 127.0.0.1 at a random port, answers only where the address has a random token, loads nothing from
elsewhere and runs no script.
"""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

from fldp.errors import ParameterError
from fldp.telemetry.view import text_of

Data = Mapping[str, Any]
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_STATES = {
    "sent": "sent",
    "waiting": "waits for its time",
    "refused": "the collector did not take it",
    "dropped": "was never sent",
    "withdrawing": "is being taken back",
    "withdrawn": "taken back",
}


class PageServer(ThreadingHTTPServer):
    """Serves the page of one program; ``url`` has the token."""

    daemon_threads = True

    def __init__(self, data: Callable[[], Data]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.data, self.token = data, secrets.token_urlsafe(24)
        self.url = f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def answer(self, path: str, host: str) -> tuple[int, str, bytes]:
        """Return status, media type and body of an answer; a name of another host is refused, as are other paths."""
        if host != f"127.0.0.1:{self.server_port}":
            return 421, "text/plain", b"this page is asked for by another name\n"
        token, _, name = path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.token.encode()) or name not in ("", "page.css"):
            return 404, "text/plain", b"there is nothing here\n"
        if name == "page.css":
            return 200, "text/css", _style()
        return 200, "text/html; charset=utf-8", page(self.data()).encode()


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        status, kind, body = self.server.answer(self.path, self.headers.get("Host", ""))
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


def _style() -> bytes:
    shared = files("fldp.collector").joinpath("static/shared/page.css").read_bytes()
    return shared + _OWN_STYLE.encode()


_OWN_STYLE = """
dl { display: grid; grid-template-columns: max-content 1fr; gap: var(--space-1) var(--space-4); }
dt { color: var(--muted); }
dd { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: var(--space-2); border-bottom: 1px solid var(--line); }
code.bytes { display: block; overflow-wrap: anywhere; background: var(--sunken); padding: var(--space-2); }
details { border-bottom: 1px solid var(--line); padding: var(--space-2) 0; }
summary { cursor: pointer; }
section { margin-top: var(--space-6); }
@media (max-width: 32rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: var(--space-2); } }
"""


def read_view(path: Path) -> Data:
    """Read the view of a program in another language; what cannot be shown is an error."""
    try:
        data: Data = json.loads(path.read_text(encoding="utf-8"))
        page(data)
        text_of(data)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ParameterError(
            f"telemetry: {path} must be JSON that telemetry.view() of fldp/telemetry returned ({type(error).__name__})"
        ) from None
    return data


def page(data: Data) -> str:
    """Return the page."""
    return "".join(_parts(data))


def _parts(data: Data) -> Iterator[str]:
    app = escape(data["app"])
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="page.css">'
    yield f"<title>Telemetry of {app}</title></head><body><main><h1>Telemetry of {app}</h1>"
    yield f"<p><strong>{escape(data['mode'])}</strong>: {escape(data['reason'])}. {escape(data['next'])}</p>"
    yield "<dl>"
    yield from _facts(data)
    yield "</dl>"
    yield f"<section><h2>This period, {escape(data['period'])}</h2>{_values(data)}</section>"
    yield f"<section><h2>Every report</h2>{''.join(_reports(data))}</section>"
    yield "<section><h2>What reports give away</h2>"
    for name, metric in data["metrics"].items():
        yield f"<h3>{escape(name)}</h3>{_paragraphs(metric['gives_away'])}"
    yield "</section></main></body></html>"


def _facts(data: Data) -> Iterator[str]:
    facts = {
        "Given away to the collector": data["spent"]["collector"],
        "Of that in the last twelve months": f"epsilon {data['spent']['year']}",
        "Given away to all collectors": data["spent"]["all"],
        "Collector": data["collector"],
        "Relay": data["relay"] or "none: the collector sees the sender's address",
        "Kept in": data["files"]["state"],
        "Ledger of all programs": data["files"]["ledger"],
    }
    for name, value in facts.items():
        yield f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"


def _values(data: Data) -> str:
    rows = [
        (name, data["values"].get(name, {}).get("would_report", "nothing is stored"), metric["why"], metric["expires"])
        for name, metric in data["metrics"].items()
    ]
    return _table(("metric", "value", "why", "until"), rows)


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    scrolling = 'class="scroll" tabindex="0" role="region" aria-label="table"'
    return f"<div {scrolling}><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _reports(data: Data) -> Iterator[str]:
    if not data["reports"]:
        yield "<p>No report was ever drawn.</p>"
    for report in reversed(data["reports"]):
        yield _report(report)
    if data["silent"]:
        rows = [(each["period"], each["metric"] or "", each["why"]) for each in data["silent"]]
        yield "<h3>Periods without a report</h3>" + _table(("period", "metric", "why"), rows)


def _report(report: Data) -> str:
    when = _clock_text(report["sent"] or report["due"])
    said = f" ({report['said']})" if report["said"] else ""
    heading = f"{report['period']} · {report['metric']} · {_STATES[report['state']]}{said}, {when}"
    size = len(report["bytes"]) // 2
    facts = [*report.get("says", ()), f"Survey version {report['version']}. The {size} bytes that are sent:"]
    return (
        f"<details><summary>{escape(heading)}</summary>{_paragraphs(facts)}"
        f'<code class="bytes">{escape(report["bytes"])}</code></details>'
    )


def _clock_text(moment: str) -> str:
    return f"{moment[:10]} {moment[11:16]} UTC"


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>" for text in texts)
