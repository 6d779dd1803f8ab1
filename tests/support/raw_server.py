"""A server that sends exactly the bytes it is told to, at the pace it is told to."""

import socketserver
import threading
import time
from contextlib import contextmanager


class Raw(socketserver.ThreadingTCPServer):
    """``script``: pieces of bytes, and numbers of seconds to wait; ``seen`` is what was asked."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, script, context=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.seen = script, []
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request, address):
        """A client that hangs up in the middle is what is tested."""


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        asked = []
        while line := self.rfile.readline().strip():
            asked.append(line.decode("latin-1"))
        self.server.seen.append(asked)
        script = self.server.script
        if getattr(script, "takes_body", False):
            script = script(asked, self.rfile.read(length(asked)))
        try:
            for part in script(asked) if callable(script) else script:
                time.sleep(part) if isinstance(part, float) else self.wfile.write(part)
        except OSError:  # the client has had enough
            pass


def length(asked):
    """Return how long the body of a request is."""
    return sum(int(line.split(":")[1]) for line in asked if line.lower().startswith("content-length:"))


@contextmanager
def raw(script, context=None):
    """Give a server's address, and what it is asked; with a context of TLS it speaks that."""
    with Raw(script, context) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield f"http{'s' if context else ''}://127.0.0.1:{server.server_address[1]}", server.seen
        finally:
            server.shutdown()


def answer(body, status="200 OK", media="application/json", *headers):
    """Return a whole answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media}", f"Content-Length: {len(body)}", "Connection: close"]
    return ["\r\n".join([*lines, *headers, "", ""]).encode() + body]
