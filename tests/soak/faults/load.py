"""Load: connections that send known reports, each until it is acknowledged, and remember every acknowledgement."""

import asyncio
import random
from collections import Counter

from soak.faults.connection import GIVEN_UP, LOST, Connection
from soak.faults.content import Content, Taking
from soak.faults.silence import Silence

TRY_AGAIN = (408, 429, 503)
PAUSE = 0.02  # seconds between two attempts
AGAIN = 0.1  # the share of requests that send once more what was acknowledged before
TAKEN = 0.1  # the share of requests that take back what was acknowledged before, perhaps again
GONE = 410


class _ClosedError(Exception):
    """The gate was closed while a connection was made: nothing may be sent."""


class Load:
    """``connections`` workers. With ``copies``, every item is sent so many times: at once, or one after the other.

    A worker sends an item with its key until it is acknowledged, whatever happens meanwhile, and then takes another.
    While the gate is closed nothing is sent. ``servers`` take turns, so that copies go to all of them.
    """

    def __init__(self, servers, surveys, seed, *, connections=8, copies=1):
        self.servers, self.surveys, self.copies = servers, surveys, copies
        self.content = Content(surveys, seed)
        self.sent, self.acknowledged, self.unexpected = {}, {}, []
        self.taking, self.taken = {}, {}  # what was asked to be taken back, and what was acknowledged of that
        self.counted = Counter()
        self.in_flight, self.silence = 0, Silence()
        self.gate = asyncio.Event()
        self._next, self._ending = 0, False
        self._tasks = [asyncio.create_task(self._work(number, seed)) for number in range(connections)]

    @property
    def unanswered(self):
        """What was sent and not acknowledged: it may or may not be counted."""
        return [item for index, item in self.sent.items() if index not in self.acknowledged]

    @property
    def undecided(self):
        """What was asked to be taken back, and not acknowledged: it may or may not be counted."""
        return [item for index, item in self.taking.items() if index not in self.taken]

    async def quiet(self):
        """Close the gate, and wait until every request has been answered or lost."""
        self.gate.clear()
        while self.in_flight:
            await asyncio.sleep(0.005)

    async def reach(self, more):
        """Let the load run until so many more items were acknowledged."""
        self.gate.set()
        goal = len(self.acknowledged) + more
        while len(self.acknowledged) < goal:
            self.check()
            await asyncio.sleep(0.005)

    def check(self):
        """Raise what went wrong in a worker."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def finish(self):
        """Send nothing new; send again what was not acknowledged, until it is."""
        self._ending = True
        self.gate.set()
        await asyncio.gather(*self._tasks)

    async def end(self):
        """Let go of everything, whatever state it is in."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ------------------------------------------------------------------------------------------------ workers

    async def _work(self, number, seed):
        rng = random.Random(f"{seed} {number}")
        ways = [self._way(number + copy) for copy in range(self.copies)]
        try:
            while not self._ending:
                await self.gate.wait()
                await self._deliver(ways, self._choose(rng), at_once=rng.random() < 0.5)
        finally:
            for way in ways:
                way.close()

    def _way(self, turn):
        server = self.servers[turn % len(self.servers)]
        return Connection(lambda: server.port)

    def _choose(self, rng):
        """Return something new, or something that was acknowledged before, or what takes that back."""
        if self.acknowledged and rng.random() < TAKEN:
            return Taking.of(self.content[rng.choice(list(self.acknowledged)[-1000:])])
        if self.acknowledged and rng.random() < AGAIN:
            return self.content[rng.choice(list(self.acknowledged)[-1000:])]
        self._next += 1
        return self.content[self._next - 1]

    async def _deliver(self, ways, item, at_once):
        if at_once:
            await asyncio.gather(*(self._insist(way, item) for way in ways))
        else:
            for way in ways:
                await self._insist(way, item)

    async def _insist(self, way, item):
        while True:
            await self.gate.wait()
            if await self._try(way, item):
                return
            await asyncio.sleep(PAUSE)

    async def _try(self, way, item):
        head = (
            f"POST /v1/versions/{item.survey.version}/{item.route} HTTP/1.1\r\nIdempotency-Key: {item.key}\r\n"
            "Content-Type: application/octet-stream\r\n"
        )
        flying = []

        def written():
            if not self.gate.is_set():
                raise _ClosedError
            flying.append(item)
            self._written(item)

        try:
            answer = await way.ask(head.encode(), item.body, written)
        except _ClosedError:
            return False
        except LOST as error:
            self.counted["lost" if flying else "away"] += 1
            self.counted[GIVEN_UP] += isinstance(error, TimeoutError)
            return False
        finally:
            self.in_flight -= len(flying)
        return self._answered(item, answer)

    def _written(self, item):
        self.in_flight += 1
        self.counted["requests"] += 1
        (self.taking if isinstance(item, Taking) else self.sent)[item.index] = item

    def _answered(self, item, answer):
        if answer.status in TRY_AGAIN:
            self.counted["refused"] += 1
        elif isinstance(item, Taking):
            self._taken(item, answer)
        elif answer.status == GONE and item.index in self.taking:
            self.counted["gone"] += 1
        elif answer.accepted != item.n:
            self.unexpected.append(f"item {item.index} of {item.n} reports: {answer.status} {answer.body[:200]!r}")
        else:
            self._acknowledge(item)
        return answer.status not in TRY_AGAIN

    def _taken(self, item, answer):
        if answer.withdrawn != item.n:
            self.unexpected.append(f"taking back {item.index}: {answer.status} {answer.body[:200]!r}")
        self.counted["taken back"] += item.index not in self.taken
        self.taken[item.index] = item

    def _acknowledge(self, item):
        self.counted["repeated" if item.index in self.acknowledged else "acknowledged"] += 1
        self.acknowledged[item.index] = item
        self.silence.acknowledged()
