"""Liveness: whether a PostgreSQL server answers at all, and connections that stop waiting for one that does not.

Limits inside PostgreSQL end what is slow while the server runs. They do not help against a server that hangs as a
whole, and neither do the limits of TCP: the kernel of such a machine still acknowledges every packet.
"""

import math
import select
import threading
import time
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen

MAX_SILENCE = 1.5  # seconds without a byte from the server, on any connection, until it is taken to hang
_ASK_AFTER = 0.5  # seconds of one exchange after which the server is asked whether it is there
_MAX_ANSWER = 5.0  # seconds for the answer to that, until it is asked on a new connection
_PAUSE = 0.5  # seconds between two questions to a server that hangs or is away


class Watched(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose every wait has a limit; one that does not answer in time is closed.

    Nobody can know what became of the statement then, nor of a commit.
    """

    pulse: "Pulse | None" = None
    max_seconds = math.inf  # of one exchange, with a server that answers others

    def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """Wait for the server, as psycopg does: ten times a second it looks whether to go on."""
        return super().wait(gen if self.pulse is None else self._watch(gen, self.pulse), *args, **kwargs)

    def _watch(self, gen: PQGen[RV], pulse: "Pulse") -> PQGen[RV]:
        began = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready & psycopg.waiting.Ready.R:
                    pulse.hear()
                elif not ready and (reason := self._overdue(began, pulse)) and not self._is_readable():
                    self.pgconn.finish()
                    raise psycopg.OperationalError(reason)
                wanted = gen.send(ready)
        except StopIteration as end:
            value: RV = end.value
            return value

    def _overdue(self, began: float, pulse: "Pulse") -> str | None:
        return pulse.overdue(began, self.max_seconds)

    def _is_readable(self) -> bool:
        """Whether an answer has come meanwhile: it may be this process that was held up."""
        poll = select.poll()
        poll.register(self.pgconn.socket, select.POLLIN)
        return bool(poll.poll(0))


class _Question(Watched):
    """The connection on which the server is asked whether it is there."""

    def _overdue(self, began: float, pulse: "Pulse") -> str | None:
        return pulse.unanswered(began)


class Pulse:
    """What is known of a server, shared by all connections to it.

    A long exchange says nothing of the server: the statement may be long, or the disk slow. So the server is asked a
    question that takes no time. If nobody hears anything for ``MAX_SILENCE``, it hangs: all that wait are sent away,
    and so is everybody who comes, until it answers.
    """

    def __init__(self, parameters: dict[str, Any]) -> None:
        self._parameters = parameters
        self._heard = time.monotonic()
        self.is_hung = self._closed = False
        self._asked = threading.Event()
        self._asked.set()  # so that the connection is there when it is needed
        self._connection: _Question | None = None
        threading.Thread(target=self._run, name="fldp-pulse", daemon=True).start()

    def watch(self, connection: Watched) -> None:
        """Put a connection under watch."""
        connection.pulse = self

    def hear(self) -> None:
        """Note that the server has answered somebody."""
        self._heard = time.monotonic()

    def suspect(self) -> None:
        """Send everybody away who comes, until the server has answered."""
        self.is_hung = True
        self._asked.set()

    def overdue(self, began: float, most: float) -> str | None:
        """Return why not to wait any longer for what began at a time, if so."""
        now = time.monotonic()
        if self._closed:
            return "the store is closed"
        if now - began > most:
            return f"did not answer within {most:g} seconds"
        if now - began > _ASK_AFTER:
            self._asked.set()
        if now - self._heard > MAX_SILENCE and (self.is_hung or now - began > MAX_SILENCE):
            self.suspect()
            return "does not answer"
        return None

    def unanswered(self, began: float) -> str | None:
        """Return why not to wait any longer for an answer to the question itself, if so."""
        return "does not answer" if self._closed or time.monotonic() - began > _MAX_ANSWER else None

    def close(self) -> None:
        """Send away all that wait."""
        self._closed = True
        self._asked.set()

    def _run(self) -> None:
        while not self._closed:
            self._asked.wait()
            self._asked.clear()  # who suspects the server from here on wants another answer
            if not self._closed and not self._answers():
                self._asked.set()
                time.sleep(_PAUSE)
        if self._connection is not None:
            self._connection.close()

    def _answers(self) -> bool:
        old = self._connection
        try:
            self._connection = old or self._connected()
            self._connection.execute("")
        except psycopg.Error:
            self._connection = None
            return old is not None and self._answers()  # one that was cut says nothing of the server
        self.is_hung = False
        return True

    def _connected(self) -> _Question:
        connection = _Question.connect(**self._parameters)
        self.watch(connection)
        return connection
