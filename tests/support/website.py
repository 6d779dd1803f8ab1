"""A web site for tests: a folder, served on this machine."""

import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *ignored): ...


@contextmanager
def site(folder):
    """Serve a folder; give its origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: Quiet(*args, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
