"""A wire that breaks: passes connections on to a server, and cuts the first few of them at a chosen moment."""

import socket
import socketserver
import threading
from contextlib import contextmanager


class Proxy(socketserver.ThreadingTCPServer):
    """``moment``: at once, within the request, before the answer, or within the answer."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, target, moment, cuts):
        super().__init__(("127.0.0.1", 0), Handler)
        self.target, self.moment, self.cuts, self.lock = target, moment, cuts, threading.Lock()

    def cutting(self):
        with self.lock:
            self.cuts -= 1
            return self.cuts >= 0


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        moment = self.server.moment if self.server.cutting() else "never"
        if moment == "at once":
            return
        with socket.create_connection(("127.0.0.1", self.server.target)) as up:
            if moment == "within the request":
                up.sendall(self.request.recv(300))
                return
            threading.Thread(target=pump, args=(self.request, up), daemon=True).start()
            answer = up.recv(65536)
            if moment == "within the answer":
                self.request.sendall(answer[: len(answer) // 2])
            elif moment == "never" and answer:
                self.request.sendall(answer)
                pump(up, self.request)


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@contextmanager
def proxied(url, moment, cuts):
    """Give the address of a way to a server that breaks so many times."""
    host, _, rest = url.removeprefix("http://").partition("/")
    with Proxy(int(host.rpartition(":")[2]), moment, cuts) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/{rest}".rstrip("/")
        finally:
            server.shutdown()
