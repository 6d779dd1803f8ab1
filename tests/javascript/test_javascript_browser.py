"""The stores of the JavaScript client in a real browser: frames that answer at once, a browser that starts again."""

import json
import subprocess
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

from support.javascript import HERE, ROOT
from support.programs import program

PAGE = HERE / "javascript_page"
BUNDLE = ROOT / "src" / "fldp" / "collector" / "static" / "fldp.js"
KINDS = {".html": "text/html", ".js": "text/javascript"}
FLAGS = ["--headless=new", "--no-sandbox", "--no-first-run", "--disable-sync", "--disable-quic", "--disable-gpu"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]


class Handler(BaseHTTPRequestHandler):
    """Serves the page under a strict policy, takes answers as a collector does, and hands on what the page tells."""

    def do_GET(self):
        name = Path(self.path.partition("?")[0]).name or "index.html"
        body = (BUNDLE if name == "fldp.js" else PAGE / name).read_bytes()
        self.reply(KINDS[Path(name).suffix], body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/done":
            self.server.told.put(json.loads(body))
        else:
            self.server.posts.append((self.path, self.headers["Idempotency-Key"], body))
        self.reply("application/json", b'{"accepted": 1}')

    def reply(self, kind, body):
        self.send_response(200)
        policy = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:"
        for header, value in (
            ("Content-Type", kind),
            ("Content-Length", len(body)),
            ("Content-Security-Policy", policy),
        ):
            self.send_header(header, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.told, server.posts = Queue(), []
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@contextmanager
def browser(url, profile):
    command = [program("chromium"), *FLAGS, f"--user-data-dir={profile}", url]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def test_many_tabs_answer_once_and_so_does_a_browser_that_starts_again(server, tmp_path):
    url, told = f"http://127.0.0.1:{server.server_port}/", []
    for _ in range(2):
        with browser(url, tmp_path / "profile"):
            told.append(server.told.get(timeout=120))
    first, again = told
    for kind in ("database", "local"):
        assert not [answer for answer in first[kind] if "error" in answer], first
        (key,) = {answer["key"] for answer in first[kind]}
        assert [answer["repeated"] for answer in first[kind]].count(False) == 1
        assert len({post for post in server.posts if post[1] == key}) == 1  # the same body, under one key, to one place
    (key,) = {answer["key"] for answer in first["database"]}  # localStorage may reach the disk later than its answer
    assert again["database"] == [{"key": key, "repeated": True, "state": "sent"}] * len(first["database"])
