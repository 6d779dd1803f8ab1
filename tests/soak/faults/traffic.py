"""Traffic: workers that send requests to surveys that come and go, and judge every answer by the survey's phases."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass

from soak.faults.connection import GIVEN_UP, LOST, Connection
from soak.faults.load import PAUSE, TRY_AGAIN
from soak.faults.model import ALIVE, Kind, Phase
from soak.faults.silence import Silence

SIZES, SHARES = (1, 7, 60), (0.6, 0.3, 0.1)
_ALLOWED = {
    Phase.ABSENT: {404},
    Phase.OPENING: {200, 404},
    Phase.OPEN: {200},
    Phase.CLOSING: {200, 403},
    Phase.CLOSED: {403},
    Phase.REOPENING: {200, 403},
    Phase.DELETING: {200, 403, 404},
    Phase.SEARCHING: {200, 401, 403},
}
_ROUTES = {Kind.MERGE: "merge"}
_REFUSED = {Kind.CONFLICT: 409, Kind.SPENT: 403}


class Traffic:
    """Workers over ``models``, which may grow meanwhile. ``servers`` take turns; ``problems`` are wrong answers.

    ``pause``: the mean of the seconds that a worker waits between two requests.
    """

    def __init__(self, servers, models, seed, *, connections=8, pause=0.0):
        self.servers, self.models, self.problems = servers, models, []
        self._pause = pause
        self.counted = Counter()
        self.gate, self.in_flight, self.acknowledged = asyncio.Event(), 0, 0
        self.silence = Silence()
        self._ending, self._turn = False, 0
        self._tasks = [asyncio.create_task(self._work(number, seed)) for number in range(connections)]

    # ------------------------------------------------------------------------------------------------ control

    async def quiet(self):
        """Close the gate, and wait until every request has been answered or lost."""
        self.gate.clear()
        while self.in_flight:
            await asyncio.sleep(0.005)

    async def reach(self, more):
        """Run until so many more requests were acknowledged first."""
        self.gate.set()
        goal = self.acknowledged + more
        while self.acknowledged < goal:
            self.check()
            await asyncio.sleep(0.005)

    async def settle(self):
        """Send nothing new; send again what was not settled, until it is."""
        self._ending = True
        self.gate.set()
        while any(model.phase in ALIVE and model.late for model in self.models):
            self.check()
            await asyncio.sleep(0.005)
        await self.quiet()
        self._ending = False

    def check(self):
        """Raise what went wrong in a worker."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def end(self):
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ------------------------------------------------------------------------------------------------ workers

    async def _work(self, number, seed):
        rng = random.Random(f"{seed} {number}")
        ways = [Connection(self._port(number + turn)) for turn in range(2)]
        try:
            while True:
                await asyncio.sleep(rng.uniform(0, 2 * self._pause))
                await self.gate.wait()
                picked = self._pick(rng)
                if picked is None:
                    await asyncio.sleep(PAUSE)
                elif rng.random() < 0.15:  # the same request at once on two connections
                    await asyncio.gather(*(self.send(way, *picked) for way in ways))
                else:
                    await self.send(rng.choice(ways), *picked)
        finally:
            for way in ways:
                way.close()

    def _port(self, turn):
        server = self.servers[turn % len(self.servers)]
        return lambda: server.port

    def _pick(self, rng):
        """Return a survey and a request to it; None if there is none to send."""
        late = [(model, request) for model in self.models if model.phase in ALIVE for request in model.idle]
        if late and (self._ending or rng.random() < 0.5):
            return rng.choice(late)
        likely = [model for model in self.models if model.phase is Phase.OPEN]
        if self._ending or not likely:
            return None
        return self._choose(rng, rng.choice(likely if rng.random() < 0.85 else self.models))

    def _choose(self, rng, model):
        """Return a request to a survey: new, repeated, or one that must be refused."""
        way = rng.random()
        if way < 0.1 and model.done:
            return model, rng.choice(model.done)
        if way < 0.15 and model.done and model.phase in ALIVE and model.has_own_symbols:
            return self._refusable(rng, model, rng.choice(model.done))
        if model.ticketed:
            return (model, model.request(1, ticket=model.tickets.pop())) if model.tickets else None
        kind = Kind.MERGE if way > 0.97 else Kind.REPORTS
        return model, model.request(rng.randint(1, rng.choices(SIZES, SHARES)[0]), kind)

    def _refusable(self, rng, model, known):
        """Return a request with a known key and another body, or with a spent ticket and another key."""
        if known.ticket and rng.random() < 0.5:
            return model, model.request(1, Kind.SPENT, ticket=known.ticket)
        if known.kind is Kind.MERGE:
            return model, known
        return model, model.request(known.n, Kind.CONFLICT, key=known.key, ticket=known.ticket)

    # ----------------------------------------------------------------------------------------------- sending

    async def send_alone(self, model, request):
        """Send a request until it is acknowledged, while the gate is closed."""
        while not request.settled:
            await self.send_once(model, request)

    async def send_once(self, model, request, *, gated=False):
        """Send a request once, on a connection of its own."""
        self._turn += 1
        way = Connection(self._port(self._turn))
        await self.send(way, model, request, gated=gated)
        way.close()

    async def send(self, way, model, request, *, gated=True):
        """Send a request once, and take down what its answer tells."""
        before = _Before.of(model, request)
        flying = []

        def written():
            if gated and not self.gate.is_set():  # it was closed while the connection was made
                raise _StaleError
            before.check(model, request)
            flying.append(_Before.of(model, request))
            model.attempt(request)
            self.in_flight += 1
            self.counted["requests"] += 1

        try:
            answer = await way.ask(self._head(model, request), model.body(request), written)
        except _StaleError:
            return
        except LOST as error:
            self.counted["lost" if flying else "away"] += 1
            self.counted[GIVEN_UP] += isinstance(error, TimeoutError)
            await asyncio.sleep(PAUSE)
            return
        finally:
            if flying:
                model.flying.remove(request)
                self.in_flight -= 1
        if answer.status in TRY_AGAIN:
            self.counted["refused"] += 1
            await asyncio.sleep(PAUSE)
            return
        self._answered(model, request, answer, flying[0])

    def _head(self, model, request):
        more = f"Fldp-Ticket: {request.ticket}\r\n" if request.ticket else ""
        if request.kind is Kind.MERGE:
            more += f"Authorization: Bearer {self.servers[0].token}\r\n"
        return (
            f"POST /v1/versions/{model.version}/{_ROUTES.get(request.kind, 'reports')} HTTP/1.1\r\n"
            f"Idempotency-Key: {request.key}\r\nContent-Type: application/octet-stream\r\n{more}"
        ).encode()

    def _answered(self, model, request, answer, before):
        self.counted[f"answered {answer.status}"] += 1
        same, allowed = before.generation == model.generation, _allowed(model, request, before)
        if answer.status not in allowed or (answer.status == 200 and answer.accepted != request.n):
            self.problems.append(
                f"{model.survey.name} ({model.phase.value}): {request.kind.value} of {request.n} reports was answered"
                f" {answer.status} {answer.body[:150]!r}, allowed is {sorted(allowed)}"
            )
        if not same or model.phase is Phase.ABSENT:
            return  # it told of what is gone
        if answer.status == 200:
            self._acknowledge(request, model.settle(request))
        elif answer.status != 404 and Phase.REOPENING not in model.phases[before.start :]:  # else it is sent again
            model.refuse(request)

    def _acknowledge(self, request, new):
        self.silence.acknowledged()
        self.acknowledged += new
        self.counted["acknowledged" if new else "repeated"] += 1
        self.counted["reports"] += request.n if new else 0
        self.counted["merged"] += new and request.kind is Kind.MERGE


class _StaleError(Exception):
    """What the request was chosen for has changed before it was sent."""


@dataclass(frozen=True)
class _Before:
    """What was known as a request was sent."""

    generation: int
    start: int  # the phase, as an index
    settled: bool
    attempted: bool

    @classmethod
    def of(cls, model, request):
        return cls(model.generation, len(model.phases) - 1, request.settled, request.attempted)

    def check(self, model, request):
        """Do not send to another generation; what must be refused is sent while it is clear by which rule."""
        if self.generation != model.generation or (request.kind in _REFUSED and model.phase not in ALIVE):
            raise _StaleError


def _allowed(model, request, before):
    """Return the statuses that a request may be answered with, by what the survey went through meanwhile."""
    if before.generation != model.generation:  # it may have reached the one before, none, or this one
        return {200, 401, 403, 404}
    phases = model.phases[before.start :]
    allowed = set().union(*(_ALLOWED[phase] for phase in phases))
    if request.kind is Kind.MERGE and 403 in allowed:  # a closed survey takes tallies
        allowed = (allowed - {403}) | {200}
    elif 403 in allowed and before.attempted:  # if it was counted before the survey was closed, it stays so
        allowed = (allowed | {200}) - ({401, 403} if before.settled else set())
    if request.kind in _REFUSED:
        allowed = (allowed - {200, 401, 403}) | {_REFUSED[request.kind]}
    if request.ticket and 404 in allowed:  # the ticket is looked for before the survey is known to be gone
        allowed |= {401}
    return allowed
