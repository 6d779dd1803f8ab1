"""Administration: publishes, closes, reopens, deletes surveys, makes tickets, each until a collector has said so."""

import asyncio
import json
from collections import Counter

from soak.faults.connection import GIVEN_UP, LOST, Connection
from soak.faults.load import PAUSE, TRY_AGAIN
from soak.faults.model import Phase
from soak.faults.tables import Tables


class Administration:
    """An owner of surveys. Requests go to the servers in turn; ``problems`` are wrong answers and what is left over."""

    def __init__(self, servers):
        self.servers, self.problems, self.counted = servers, [], Counter()
        self.tables = Tables(servers[0])
        self.traces = []  # digests of keys that were deleted with their survey
        self.interrupted = False  # a deletion had no answer: what it left goes by and by
        self._turn = 0

    async def ask(self, method, path, fields=None):
        """Ask until there is an answer; return it, and how many attempts may have been done without one."""
        body = b"" if fields is None else json.dumps(fields).encode()
        for attempt in range(10**6):
            self._turn += 1
            server = self.servers[self._turn % len(self.servers)]
            way = Connection(lambda server=server: server.port)
            head = f"{method} {path} HTTP/1.1\r\nAuthorization: Bearer {server.token}\r\n"
            head += "Content-Type: application/json\r\n" if body else ""
            try:
                answer = await way.ask(head.encode(), body)
            except LOST as error:
                self.counted[GIVEN_UP] += isinstance(error, TimeoutError)
                answer = None
            finally:
                way.close()
            if answer is not None and answer.status not in TRY_AGAIN:
                return answer, attempt
            await asyncio.sleep(PAUSE)
        raise AssertionError(f"{method} {path} has no answer")

    def _require(self, answer, allowed, what):
        if answer.status not in allowed:
            self.problems.append(f"{what} was answered {answer.status} {answer.body[:200]!r}")

    # ------------------------------------------------------------------------------------------- operations

    async def publish(self, model, phase=Phase.OPEN):
        """Publish a survey, or publish it again after it was deleted: it starts from nothing."""
        model.begin()
        answer, _ = await self.ask("POST", "/v1/surveys", model.survey.canonical)
        self._require(answer, {200, 201}, f"publishing {model.survey.name}")
        model.enter(phase)
        await self.learn_number(model)
        if model.ticketed:
            await self.tickets(model, 50)

    async def learn_number(self, model):
        numbers = await asyncio.to_thread(self.tables.numbers)
        model.number = numbers.get(model.version)
        if model.number is None:
            self.problems.append(f"{model.survey.name} was published and is not stored")
        elif model.number in model.buried:
            self.problems.append(f"{model.survey.name} was published with the number of a survey that was deleted")

    async def tickets(self, model, count):
        answer, _ = await self.ask("POST", f"/v1/versions/{model.version}/tickets", {"count": count})
        self._require(answer, {201, 404} if model.phase in (Phase.DELETING, Phase.ABSENT) else {201}, "making tickets")
        if answer.status == 201:
            model.tickets += json.loads(answer.body)["tickets"]

    async def close(self, model):
        model.enter(Phase.CLOSING)
        answer, _ = await self.ask("POST", f"/v1/surveys/{model.survey.name}/close?version={model.version}")
        self._require(answer, {200}, f"closing {model.survey.name}")
        model.enter(Phase.CLOSED)

    async def reopen(self, model):
        """Reopen a version: what was refused while it was closed is sent again, and counts once."""
        model.enter(Phase.REOPENING)
        answer, _ = await self.ask("POST", f"/v1/surveys/{model.survey.name}/reopen?version={model.version}")
        self._require(answer, {200}, f"reopening {model.survey.name}")
        model.revive()
        model.enter(Phase.OPEN)

    async def delete(self, model):
        """Delete a version. Nothing of it may be left when the collector says that it is done."""
        model.enter(Phase.DELETING)
        while model.refusing:
            await asyncio.sleep(0.002)
        path = f"/v1/surveys/{model.survey.name}?version={model.version}"
        answer, lost = await self.ask("DELETE", path)
        self._require(answer, {204, 404} if lost else {204}, f"deleting {model.survey.name}")
        self.traces += [request.digest for request in model.done[:20]]
        model.end()
        if lost:
            self.interrupted = True
        if answer.status == 204:  # else an attempt without an answer has deleted it
            await self.check_gone(model)

    def left_over(self):
        """Return what belongs to no survey, when every deletion has come to its end."""
        interrupted, self.interrupted = self.interrupted, False
        return self.tables.wait_until_clean() if interrupted else self.tables.orphans()

    async def check_gone(self, model):
        left = await asyncio.to_thread(self.tables.left_of, model.buried)
        if left:
            self.problems.append(f"{model.survey.name} was deleted, and left is {left}")
