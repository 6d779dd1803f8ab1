"""Trial: a load on collectors, a judge over it, and a full comparison at the end, whatever happened in between."""

import asyncio
import random
import signal
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from soak.faults.content import surveys
from soak.faults.judge import Judge
from soak.faults.load import Load
from soak.faults.silence import Silence


@dataclass
class Result:
    """What happened, and what was wrong: ``problems`` must be empty."""

    name: str
    problems: list = field(default_factory=list)
    counted: Counter = field(default_factory=Counter)
    in_flight: list = field(default_factory=list)  # at each fault
    phases: Counter = field(default_factory=Counter)  # what the collector was doing when it was killed
    reports: int = 0
    silence: Silence = field(default_factory=Silence)

    def require(self, holds, problem):
        if not holds:
            self.problems.append(problem)


class Trial:
    """A load on servers, a judge over both, and the result."""

    def __init__(self, name, servers, seed, **options):
        self.servers, self.server = servers, servers[0]
        self.result, self.rng = Result(name), random.Random(f"{name} {seed}")
        asked = surveys(seed)
        for survey in asked:
            self.server.publish(survey.canonical)
        self.load = Load(servers, asked, seed, **options)
        self.judge = Judge(self.load)
        self.given_up = False

    @property
    def silence(self):
        return self.load.silence

    async def compare(self, when, **options):
        """Compare at this moment: nothing is in flight, and every worker waits."""
        await self.load.quiet()
        self.load.check()
        with self.silence.during("comparison"):
            await asyncio.to_thread(self.judge.look, self.server, when=when, **options)

    def give_up(self):
        """End here if something is wrong already."""
        self.result.problems += self.judge.problems
        self.given_up = bool(self.result.problems)

    async def close(self):
        """Have everything acknowledged, compare with what the seed says, count again, and stop in good order."""
        await self.load.finish()
        await asyncio.to_thread(self.judge.last, self.server)
        for server in self.servers:
            code = await asyncio.to_thread(server.stop)
            self.result.require(code == 0, f"the collector ended with {code}")
        done = await asyncio.to_thread(self.server.fsck)
        wrong = [line for line in done.stdout.splitlines() if line.startswith("BAD")] or done.stderr
        self.result.require(done.returncode == 0, f"fsck ended with {done.returncode}: {wrong}")
        self._summarize()

    def _summarize(self):
        result, load = self.result, self.load
        result.problems += self.judge.problems
        result.counted.update(load.counted)
        result.counted.update(committed=self.judge.committed, comparisons=self.judge.comparisons)
        result.reports, result.silence = sum(item.n for item in load.acknowledged.values()), load.silence


@asynccontextmanager
async def trial(name, servers, seed, **options):
    """Give a trial; if it ends well, with everything compared. All processes are gone afterwards."""
    running = None
    try:
        running = Trial(name, servers, seed, **options)
        yield running
        if not running.given_up:
            await running.close()
    finally:
        if running:
            await running.load.end()
        for server in servers:
            server.stop(signal.SIGKILL)
