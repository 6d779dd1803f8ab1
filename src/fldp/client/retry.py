"""Retries: a request is repeated until it is answered, or until repeating it is useless or unsafe."""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from fldp.client.address import Address
from fldp.client.cache import Remembered, unless
from fldp.client.messages import Reply, Request, UnreachableError, clean, hidden, problem, retry_after
from fldp.errors import CollectorError

T = TypeVar("T")
TICKET, KEY = "Fldp-Ticket", "Idempotency-Key"
log = logging.getLogger("fldp.client")
_FIRST_DELAY = 0.5
_NOT_DONE = (408, 429, 503)  # the collector did not act on it
_UNKNOWN = (502, 504)  # a gateway does not know whether it did
_FAILED = 500  # the collector, or something in between, failed; a request with a key may have been counted all the same
_chance = random.SystemRandom()


class Transport(Protocol):
    """What the two clients differ in: how they send a request, wait, and do blocking work."""

    async def request(self, request: Request) -> Reply:
        """Ask once; raise ``UnreachableError`` where no answer comes."""

    async def pause(self, seconds: float) -> None:
        """Wait."""

    async def work(self, job: Callable[[], T]) -> T:
        """Call a function that reads files or waits for people."""


@dataclass(frozen=True)
class Patience:
    """How often to repeat a request, and the longest wait before each repetition, in seconds."""

    retries: int = 5
    longest: float = 60.0

    def delay(self, attempt: int, asked: float | None) -> float:
        """Return how long to wait: at random up to a limit that doubles, and at least what the collector asks for."""
        limit = min(self.longest, _FIRST_DELAY * 2.0 ** min(attempt, 30))
        return min(self.longest, (asked or 0.0) + _chance.uniform(0, limit))


@dataclass(frozen=True)
class Line:
    """A connection to a collector, with its retries."""

    transport: Transport
    address: Address
    patience: Patience
    token: str | None = field(default=None, repr=False)
    remembered: Remembered = field(default_factory=Remembered, repr=False)

    async def ask(self, request: Request, read: Callable[[Reply], T]) -> T:
        """Send a request and read the answer. Errors name the collector, and no secret."""
        attempt = 0
        while True:
            try:
                return self._read(request, await self._once(request), read)
            except _AgainError as failure:
                error, asked = self._named(failure.error, request), failure.asked
                if attempt >= self.patience.retries or (asked or 0) > self.patience.longest:
                    raise error from None
            except CollectorError as refusal:
                raise self._named(refusal, request) from None
            seconds = self.patience.delay(attempt, asked)
            log.info("%s; trying again in %.1f s", error, seconds)
            await self.transport.pause(seconds)
            attempt += 1

    def _read(self, request: Request, reply: Reply, read: Callable[[Reply], T]) -> T:
        """Read an answer, and remember it if it is a good one; what is remembered is read anew every time."""
        answer = read(reply)
        self.remembered.keep(request, reply)
        return answer

    async def _once(self, request: Request) -> Reply:
        """Ask once. What may have been acted on is asked again only if that does no harm."""
        held = self.remembered.find(request)
        try:
            reply = await self.transport.request(unless(request, held))
        except UnreachableError as failure:
            reason = clean(hidden(failure, self._secrets(request)))
            if request.repeatable or not failure.sent:
                raise _AgainError(CollectorError(reason)) from None
            raise CollectorError(f"{reason}; whether it was done is not known") from None
        if reply.status < 300:
            return reply
        if reply.status == 304 and held is not None:
            return held
        keyed = KEY in request.headers
        if reply.status in _NOT_DONE or (
            request.repeatable and (reply.status in _UNKNOWN or (keyed and reply.status == _FAILED))
        ):
            raise _AgainError(problem(reply, self._secrets(request)), retry_after(reply.headers))
        raise problem(reply, self._secrets(request))

    def _secrets(self, request: Request) -> tuple[str | None, ...]:
        """Return the secrets of a request, which errors that quote the collector must not show."""
        return self.token, request.headers.get(TICKET), request.headers.get(KEY)

    def _named(self, error: CollectorError, request: Request) -> CollectorError:
        text = f"{self.address}: {hidden(error, self._secrets(request))}"
        return CollectorError(text, status=error.status, kind=error.kind, index=error.index, mistakes=error.mistakes)


class _AgainError(Exception):
    """An attempt that failed, and may succeed later."""

    def __init__(self, error: CollectorError, asked: float | None = None) -> None:
        late = f"; it asks to come back in {asked:,.0f} s" if asked else ""
        super().__init__(str(error))
        self.error, self.asked = CollectorError(f"{error}{late}", status=error.status, kind=error.kind), asked
