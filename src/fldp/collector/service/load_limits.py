"""Load limits: how many requests, bytes and slow clients a collector takes at the same time."""

import asyncio
import time

from fldp.collector.config.settings import Settings
from fldp.collector.service.problems import Problem, busy

PAUSE = 0.5  # seconds: less than what Retry-After says


class Budget:
    """A number of bytes that may be held at the same time, perhaps as a part of another budget.

    Only the event loop touches it.
    """

    def __init__(self, most: int, whole: "Budget | None" = None) -> None:
        self.most, self.used, self._whole = most, 0, whole

    def take(self, amount: int) -> None:
        """Take some bytes; refuse the request if there are none left."""
        if self.used + amount > self.most:
            raise busy("the collector's memory for requests is full, try again")
        if self._whole is not None:
            self._whole.take(amount)
        self.used += amount

    def give(self, amount: int) -> None:
        """Give some back."""
        self.used -= amount
        if self._whole is not None:
            self._whole.give(amount)


class RateLimit:
    """Requests a second for each survey, by a token bucket that holds the requests of one second."""

    def __init__(self, rate: float | None) -> None:
        self._rate = rate
        self._buckets: dict[str, tuple[float, float]] = {}

    def check(self, version: str) -> None:
        """Refuse a request beyond the rate; a second's worth may come at once."""
        rate = self._rate
        if not rate:
            return
        now = time.monotonic()
        left, before = self._buckets.get(version, (max(1.0, rate), now))
        left = min(max(1.0, rate), left + (now - before) * rate)
        self._buckets[version] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            wait = max(1, round((1 - left) / rate))
            raise Problem(429, "rate", "too many requests with reports, try again later", {"Retry-After": str(wait)})

    def forget(self) -> None:
        """Fill all buckets."""
        self._buckets.clear()


class Load:
    """What all requests together may take."""

    def __init__(self, settings: Settings) -> None:
        self.buffered = Budget(settings.max_buffered)
        self.candidates = Budget(settings.max_buffered // 4, self.buffered)  # the rest is for senders of reports
        self.slow = Budget(settings.max_slow)
        self.rate = RateLimit(settings.rate)
        self.in_flight, self.max_in_flight = 0, settings.max_in_flight
        self._pausing = 0

    def take(self, size: int) -> None:
        """Take a place for a request whose body is there, and its bytes; refuse it if there are none left."""
        self.buffered.take(size)
        self.in_flight += 1

    def give(self, size: int) -> None:
        """Give both back."""
        self.in_flight -= 1
        self.buffered.give(size)

    async def pause(self) -> None:
        """Delay a refusal for a moment, unless ``max_in_flight`` of them wait already.

        Clients that retry at once would otherwise keep the collector busy with refusing.
        """
        if self._pausing < self.max_in_flight:
            self._pausing += 1
            try:
                await asyncio.sleep(PAUSE)
            finally:
                self._pausing -= 1


class Slot:
    """A request's place among those that are worked on. It is left while the client is waited for."""

    def __init__(self, load: Load) -> None:
        self._load, self._held = load, False

    def take(self) -> None:
        """Take a place; refuse the request if there is none."""
        if self._load.in_flight >= self._load.max_in_flight:
            raise busy("too many requests at the same time, try again")
        self._load.in_flight += 1
        self._held = True

    def leave(self) -> None:
        """Leave the place if it is held."""
        self._load.in_flight -= self._held
        self._held = False
