"""A limit on a whole exchange that blocks: httpx limits every wait for some bytes, and a server can make those endless.

It may drip a header, or the length of a chunk, a byte at a time, or greet without end before it answers. A second
thread therefore looks at the clock, and cuts the client's connections when the time is up.
"""

import socket
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from fldp.client.messages import Receiver, UnreachableError


class Sockets:
    """The sockets that a client has opened, as httpx tells of them while it works."""

    def __init__(self) -> None:
        self._open, self._lock = weakref.WeakSet[socket.socket](), threading.Lock()

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Note a connection that was made, or made private."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            with self._lock:
                self._open.add(info["return_value"].get_extra_info("socket"))

    def cut(self) -> None:
        """End all connections: they lead to one collector, and which of them it abuses is not known."""
        with self._lock:
            for found in self._open:
                with suppress(OSError):  # closed already
                    socket.socket.shutdown(found, socket.SHUT_RDWR)  # not that of TLS, which is for its own thread


class Watch:
    """A block that is cut when an answer takes too long."""

    def __init__(self, receiver: Receiver, cut: Callable[[], None]) -> None:
        self._receiver, self._cut = receiver, cut
        self._done, self._late = threading.Event(), False
        self._thread = threading.Thread(target=self._look, name="fldp watch", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def _look(self) -> None:
        while not self._done.wait(max(0.0, self._receiver.ends - time.monotonic())):
            if time.monotonic() >= self._receiver.ends:
                self._late = True
                self._cut()
                return

    def __exit__(self, *error: object) -> None:
        """Say so if it was cut, whatever that looked like: an answer without a length just ends."""
        self._done.set()
        self._thread.join()
        if self._late:
            raise UnreachableError(self._receiver.late) from None
