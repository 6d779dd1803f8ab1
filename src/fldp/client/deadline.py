"""Deadlines of whole exchanges that block: httpx limits every wait for some bytes, and a server can repeat those.

It may drip a header, or the length of a chunk, a byte at a time, or greet without end before it answers. A second
thread therefore looks at the clock, and cuts the client's connections when the time is up.
"""

import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from fldp.client import messages
from fldp.client.messages import Receiver, UnreachableError


class NetworkStream(Protocol):
    """A connection of httpx."""

    def get_extra_info(self, name: str) -> socket.socket:
        """Return what is known of it by this name."""


class Sockets:
    """The open sockets of a client, learned from the trace of httpx."""

    def __init__(self) -> None:
        self._open, self._lock = weakref.WeakSet[socket.socket](), threading.Lock()

    def trace(self, event: str, info: dict[str, NetworkStream]) -> None:
        """Note a connection that was made, or made private."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            with self._lock:
                self._open.add(info["return_value"].get_extra_info("socket"))

    def cut(self) -> None:
        """End all connections: they lead to one collector, and which of them it abuses is not known."""
        with self._lock:
            for open_socket in self._open:
                with suppress(OSError):  # closed already
                    socket.socket.shutdown(open_socket, socket.SHUT_RDWR)  # not the TLS one, which is not thread-safe


class Watch:
    """Cuts exchanges that take too long, by one thread for all of a client: starting one for each costs milliseconds.

    Nobody wakes it: an exchange ends at the earliest ``MAX_SECONDS`` after its start, and it never sleeps longer.
    """

    def __init__(self, cut: Callable[[], None]) -> None:
        self._cut, self._lock, self._over = cut, threading.Lock(), threading.Event()
        self._running, self._late = set[Receiver](), weakref.WeakSet[Receiver]()
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, receiver: Receiver) -> Iterator[None]:
        """Watch a block, and raise if it was cut: an answer without a length would only seem to end."""
        self._begin(receiver)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(receiver)
            if receiver in self._late:
                raise UnreachableError(receiver.late) from None

    def _begin(self, receiver: Receiver) -> None:
        with self._lock:
            self._running.add(receiver)
            if self._thread is None or not self._thread.is_alive():  # such as in a forked process
                self._thread = threading.Thread(target=self._look, name="fldp watch", daemon=True)
                self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(self._seconds()):
            with self._lock:
                late = {receiver for receiver in self._running if receiver.ends <= time.monotonic()}
                self._late |= late
                self._running -= late
                if not (late or self._running):  # nothing goes on: the next exchange starts another thread
                    self._thread = None
                    return
            if late:
                self._cut()

    def _seconds(self) -> float:
        with self._lock:
            ends = [receiver.ends - time.monotonic() for receiver in self._running]
        return max(0.0, min([*ends, messages.MAX_SECONDS]))

    def end(self) -> None:
        """Stop watching."""
        self._over.set()
