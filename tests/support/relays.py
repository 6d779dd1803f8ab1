"""Relays for tests: the real one in a process of its own, and one that notes all that it sees."""

import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import httpx

from support.ports import free_port

GATEWAY = {"/keys": "/v1/ohttp/keys", "/": "/v1/ohttp"}  # what a relay makes of its own paths
_BROUGHT = ("content-type", "if-none-match")
_GIVEN = ("content-type", "content-security-policy", "etag", "location")


def start_relay(url, *options, port=None):
    """Start ``fldp relay`` without holding or limits; return its process once it listens."""
    port = port or free_port()
    command = [sys.executable, "-m", "fldp", "relay", "--to", url, "--port", str(port), "--hold", "0", "--rate", "0"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == f"fldp: relaying to {url} on http://127.0.0.1:{port}\n"
    return process


@contextmanager
def relay(url, *options):
    """``fldp relay`` in a process of its own; give its address."""
    port = free_port()
    with ending(start_relay(url, *options, port=port)):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def ending(process):
    """End a process that serves; it must end well, and have written nothing about those who asked it."""
    try:
        yield
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 0
    finally:
        process.kill()
        said = process.communicate()
    assert not any(said), said


class Seen(NamedTuple):
    """What somebody on the way can note down of one request and its answer."""

    method: str
    path: str
    headers: tuple
    length: int
    status: int
    answered: int


@contextmanager
def recording(url, paths=GATEWAY):
    """A relay that notes what it sees; without ``paths``, what stands before a real one and does so."""
    seen, lock, client = [], threading.Lock(), httpx.Client(timeout=120)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.pass_on(None)

        def do_POST(self):
            self.pass_on(self.rfile.read(int(self.headers["Content-Length"])))

        def pass_on(self, body):
            brought = {name: self.headers[name] for name in _BROUGHT if name in self.headers}
            answer = client.request(self.command, url + paths.get(self.path, self.path), content=body, headers=brought)
            names = tuple(sorted(name.lower() for name in self.headers))
            with lock:
                seen.append(
                    Seen(self.command, self.path, names, len(body or b""), answer.status_code, len(answer.content))
                )
            self.send_response(answer.status_code)
            for name in _GIVEN:
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *ignored): ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        client.close()
