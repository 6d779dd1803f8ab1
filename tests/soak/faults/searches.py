"""Searches: people with tickets answer a search whose rounds follow by themselves; each of them counts in one round."""

import asyncio
import json

import numpy as np

from fldp import Survey
from soak.faults.model import Phase, SurveyModel

QUOTA, ROUNDS = 24, 3
GROUP = QUOTA + 8  # people who answer when a round is open; the last of them may be too late for it
PEOPLE = ROUNDS * GROUP
WORD = "thetoeofthetoeofthetoeof"  # longer than two rounds of bits
SEARCH = """\
name = "{name}"
question = "Which word do you type most often?"
domain = "strings"

[search]
k = 2
rounds = 2
bits = 17
alphabet = "theof"
quota = {quota}

[oracle]
name = "grr"
epsilon = 12.0

[collect]
minimum = 10
submit = "ticket"
"""


class RoundModel(SurveyModel):
    """A round of a search. A later one asks for few prefixes, so reports must share symbols there."""

    recurs = False

    def take(self, count):
        self._taken += count
        return np.arange(self._taken - count, self._taken) % self.survey.oracle.domain_size


class SearchRun:
    """A search on the servers of a run. Six in ten people send the same symbol, so that something stands out."""

    def __init__(self, run, name):
        self.run, self.name, self.rounds = run, name, []
        self.ended, self._looking = False, asyncio.Lock()

    async def start(self):
        first = self._round(Survey.parse(SEARCH.format(name=self.name, quota=QUOTA), is_json=False))
        await self.run.administration.publish(first, Phase.SEARCHING)
        await self.run.administration.tickets(first, PEOPLE - len(first.tickets))
        tickets, first.tickets = first.tickets, []
        return tickets

    def _round(self, survey):
        model = RoundModel(survey, self.run.seed)
        model.common = np.array([survey.search.value(WORD)])
        self.rounds.append(model)
        self.run.models.append(model)
        return model

    async def person(self, number, ticket):
        """Answer the round of one's group, or the one before it, which has left the ticket to the next one."""
        group = number // GROUP
        while len(self.rounds) <= group and not self.ended:
            await asyncio.sleep(0.02)
            await self._next(self.rounds[-1])
        model = self.rounds[max(0, group - 1) if number % 4 == 0 else group]
        while not self.ended:
            request = model.request(1, ticket=ticket)
            if number % 5 < 3:
                request.symbols = model.common
            if await self._send(model, request):
                return
            model = await self._next(model)

    async def _send(self, model, request):
        """Send until it is known whether it counts."""
        while not request.settled and not request.refused:
            await self.run.traffic.gate.wait()
            self.run.traffic.check()
            await self.run.traffic.send_once(model, request, gated=True)
        return request.settled

    async def _next(self, model):
        """Return the round after one that takes no reports any more."""
        if model is not self.rounds[-1]:
            return self.rounds[self.rounds.index(model) + 1]
        async with self._looking:
            if model is self.rounds[-1]:
                await self._look(model)
        return self.rounds[-1]

    async def _look(self, model):
        """Look whether there is another round than this one."""
        answer, _ = await self.run.administration.ask("GET", f"/v1/surveys/{self.name}")
        shown = json.loads(answer.body)
        if shown["version"] == model.version:
            self.ended = shown["state"] == "closed"
        else:
            following = self._round(Survey.from_dict(shown["survey"]))
            following.begin()
            following.enter(Phase.SEARCHING)
            await self.run.administration.learn_number(following)


async def search(run, number, during):
    """Let people answer while something else happens; every ticket counts once, and a deletion leaves nothing."""
    asked = SearchRun(run, f"words-{run.seed}-{number}")
    tickets = await asked.start()
    run.traffic.gate.set()
    people = [asyncio.create_task(asked.person(place, ticket)) for place, ticket in enumerate(tickets)]
    await during()
    run.traffic.gate.set()
    await asyncio.gather(*people)
    await run.compare("after a search")
    spent = [request.ticket for model in asked.rounds for request in model.done]
    run.result.require(len(set(spent)) == len(spent), "a ticket was spent in two rounds")
    run.result.require(len(spent) == PEOPLE, f"of {PEOPLE} people {len(spent)} were counted")
    run.result.require(len(asked.rounds) == ROUNDS, f"the search had {len(asked.rounds)} rounds")
    run.result.counted["rounds of searches"] += len(asked.rounds)
    for model in asked.rounds:
        await run.delete(model)
