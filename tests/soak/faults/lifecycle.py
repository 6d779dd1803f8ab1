"""Lifecycle: surveys that are published, closed, reopened, deleted and published anew under load, and a judge."""

import asyncio
import random
import signal
import time
from contextlib import asynccontextmanager

import httpx
import numpy as np

from fldp import wire
from soak.faults import lakes
from soak.faults.administration import Administration
from soak.faults.model import Phase, SurveyModel, survey
from soak.faults.traffic import Traffic
from soak.faults.trial import Result

KINDS = (("raw", "open"), ("tally", "open"), ("raw", "ticket"))


class Lifecycle:
    """Servers on one database, surveys on them, traffic to these, and an administration that changes them."""

    def __init__(self, name, servers, seed, pause):
        self.servers, self.server = servers, servers[0]
        self.result, self.rng = Result(name), random.Random(f"{name} {seed}")
        self.seed, self.models = seed, []
        self.administration = Administration(servers)
        self.traffic = Traffic(servers, self.models, seed, pause=pause)
        self.days_ahead = 0
        self._editions = 0

    @property
    def silence(self):
        return self.traffic.silence

    @property
    def problems(self):
        return self.result.problems + self.traffic.problems + self.administration.problems

    # --------------------------------------------------------------------------------------------- surveys

    async def publish(self, kind=None):
        """Publish a version that was never there."""
        retention, submit = kind or self.rng.choice(KINDS)
        self._editions += 1
        asked = survey(f"{retention}-{submit}-{self.seed}", retention=retention, submit=submit, edition=self._editions)
        model = SurveyModel(asked, self.seed)
        self.models.append(model)
        await self.administration.publish(model)
        return model

    async def keep_open(self):
        """See that two surveys take reports of everybody; tell whether one had to be published for that."""
        missing = 2 - sum(not model.ticketed for model in self.among(Phase.OPEN))
        for number in range(missing):
            await self.publish(KINDS[number])
        return missing > 0

    async def reach(self, more):
        """Have so many more requests acknowledged."""
        await self.keep_open()
        await self.traffic.reach(more)

    async def recreate(self, model):
        """Publish a version again that was deleted. Keys of its life before are new ones, whatever comes with them."""
        reusable = model.reusable
        earlier = self.rng.sample(reusable, min(6, len(reusable)))
        await self.administration.publish(model)
        for request in earlier[::2]:
            model.late[model.again(request)] = None
        for request in earlier[1::2]:
            model.late[model.request(request.n, request.kind, key=request.key)] = None
        self.result.counted["surveys published again"] += 1

    async def close(self, model):
        await self.administration.close(model)
        self.result.counted["surveys closed"] += 1

    async def reopen(self, model):
        await self.administration.reopen(model)
        self.result.counted["surveys reopened"] += 1

    async def delete(self, model):
        await self.administration.delete(model)
        self.result.counted["surveys deleted"] += 1

    def among(self, *phases):
        """Return the surveys that are in one of these phases."""
        return [model for model in self.models if model.phase in phases]

    # ---------------------------------------------------------------------------------------------- judging

    async def compare(self, when):
        """Judge every survey while nothing is in flight; what belongs to no survey must be gone."""
        await self.traffic.quiet()
        self.traffic.check()
        with self.silence.during("completing deletions"):
            left = await asyncio.to_thread(self.administration.left_over)
        with self.silence.during("comparison"):
            await asyncio.to_thread(self._compare, when, left)

    def _compare(self, when, left):
        if left:
            self.result.problems.append(f"{when}: of surveys that were deleted, this is left: {left}")
        with self.server.admin as client:
            for model in self.models:
                self._look(client, model, when)
        for problem in lakes.unreadable(self.models, self.server.settings.get("lake")):
            self.result.problems.append(f"{when}: {problem}")

    def _look(self, client, model, when):
        status, held = tally(client, model)
        self.result.counted["comparisons"] += 1
        if model.phase is Phase.ABSENT:
            self.result.require(status == 404, f"{when}: {model.survey.name} was deleted, and is answered {status}")
            return
        self.result.require(held is not None, f"{when}: {model.survey.name} is not there: {status}")
        if held is not None:
            name = f"{when}: {model.survey.name} {model.version[:8]} ({model.phase.value})"
            self.result.problems += [f"{name}: {problem}" for problem in model.judge(held)]

    # ----------------------------------------------------------------------------------------------- faults

    def turn_clock(self, days):
        """Move the clock of all collectors, to so many days ahead."""
        self.days_ahead = days
        for server in self.servers:
            server.turn_clock(86400 * days)

    async def kill(self, server, aim=None, seconds=0.0):
        """Kill a collector, and start it again."""
        with self.silence.during("kill"):
            flying, phases = await asyncio.to_thread(server.kill, seconds, aim, lambda: self.traffic.in_flight)
        self.result.in_flight.append(flying)
        self.result.phases.update(phases)
        self.result.counted["kills"] += 1
        with self.silence.during("start"):
            await asyncio.to_thread(server.restart, signal.SIGKILL)

    async def finish(self):
        """Have everything settled, judge it, the lake too, and stop in good order."""
        await self.traffic.settle()
        await self.compare("at the end")
        await asyncio.to_thread(self._check_lake)
        for server in self.servers:
            code = await asyncio.to_thread(server.stop)
            self.result.require(code == 0, f"the collector ended with {code}")
        await asyncio.to_thread(self._check_file)

    def _check_lake(self):
        if "lake" in self.server.settings:
            self.turn_clock(self.days_ahead + 3)
            self.result.problems += lakes.incomplete(self)

    def _check_file(self):
        used = {request.digest for model in self.models for request in model.requests}  # again, in another generation
        traces = self.administration.tables.traces(set(self.administration.traces) - used)
        self.result.require(traces == 0, f"{traces} keys of surveys that were deleted are in the bytes of the file")
        left = self.administration.tables.orphans()
        self.result.require(not left, f"after the end, of surveys that were deleted, this is left: {left}")
        done = self.server.fsck()
        wrong = [line for line in done.stdout.splitlines() if line.startswith("BAD")] or done.stderr
        self.result.require(done.returncode == 0, f"fsck ended with {done.returncode}: {wrong}")

    def summarize(self):
        self.result.problems[:] = self.problems
        self.result.counted.update(self.traffic.counted)
        self.result.counted.update(self.administration.counted)
        self.result.reports, self.result.silence = self.traffic.counted["reports"], self.traffic.silence


def tally(client, model):
    """Return the status, and how often every symbol is counted; whoever is told to try again does."""
    for last in (*[False] * 60, True):
        try:
            answer = client.get(f"/v1/versions/{model.version}/tally")
        except httpx.RemoteProtocolError:  # cut short, as if the client had read nothing for long
            if last:
                raise
        else:
            if answer.status_code != 503:
                break
        time.sleep(0.5)
    if answer.status_code == 403 and b"too-few" in answer.content:
        return 200, _too_few(model)
    if answer.status_code != 200:
        return answer.status_code, None
    return 200, wire.decode_tally(answer.content, model.survey.oracle, model.version).state


def _too_few(model):
    """Return what a survey may hold that shows nothing below its minimum: nothing, or what was acknowledged."""
    low, _ = model.bounds()
    return low if low.sum() < model.survey.collect["minimum"] else np.zeros_like(low)


@asynccontextmanager
async def lifecycle(name, servers, seed, *, pause=0.0):
    """Give surveys under load; if it ends well, with everything judged. All processes are gone afterwards."""
    run = Lifecycle(name, servers, seed, pause)
    try:
        for kind in KINDS:
            await run.publish(kind)
        yield run
        if not run.problems:
            await run.finish()
        run.summarize()
    finally:
        await run.traffic.end()
        for server in servers:
            server.stop(signal.SIGKILL)
