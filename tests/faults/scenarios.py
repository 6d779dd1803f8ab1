"""What a collector has to live through, whatever it keeps its data in. Every scenario ends with a full comparison."""

import asyncio
import random
import signal
import time
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from faults.content import surveys
from faults.judge import Judge, tally
from faults.load import Load
from faults.process import moment

AIMS = ("answer", "fold", None, "commit", None, None)  # half of the kills are aimed, half are not
SHORT = {"stop_seconds": 20, "fold_seconds": 0.02}  # folding all the time, so that faults meet it


@dataclass
class Result:
    """What happened, and what was wrong: ``problems`` must be empty."""

    name: str
    problems: list = field(default_factory=list)
    counted: Counter = field(default_factory=Counter)
    in_flight: list = field(default_factory=list)  # at each fault
    phases: Counter = field(default_factory=Counter)  # what the collector was doing when it was killed
    reports: int = 0
    silence: float = 0.0

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

    async def compare(self, when, **options):
        """Compare at this moment: nothing is in flight, and every worker waits."""
        await self.load.quiet()
        self.load.check()
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
        result.counted += load.counted
        result.counted.update(committed=self.judge.committed, comparisons=self.judge.comparisons)
        result.reports, result.silence = sum(item.n for item in load.acknowledged.values()), load.silence


@asynccontextmanager
async def trial(name, servers, seed, **options):
    """Give a trial; if it ends well, with everything compared. All processes are gone afterwards."""
    made = None
    try:
        made = Trial(name, servers, seed, **options)
        yield made
        if not made.given_up:
            await made.close()
    finally:
        if made:
            await made.load.end()
        for server in servers:
            server.stop(signal.SIGKILL)


# --------------------------------------------------------------------------------------------------------- faults


async def kills(made, times, *, every=0, most=20):
    """Kill -9 under load, at any moment, or within a commit or a fold; ``every`` so often as it starts again too.

    Before each one 10 to ``most`` more items are acknowledged. After it, and before anything is sent again, all that
    was acknowledged must be there.
    """
    for number in range(times):
        aim = AIMS[number % len(AIMS)]
        await made.load.reach(made.rng.randint(10, most))
        flying, phases = await asyncio.to_thread(
            made.server.kill, moment(made.rng, aim), aim, lambda: made.load.in_flight
        )
        await made.load.quiet()
        made.result.in_flight.append(flying)
        made.result.phases.update(phases)
        made.result.counted["kills"] += 1
        if every and number % every == every - 1:
            await kill_at_start(made, "opening" if number % (2 * every) == every - 1 else None)
        await asyncio.to_thread(made.server.restart, signal.SIGKILL)
        await made.compare(f"kill {number + 1}, within {' and '.join(phases)}")
    hit = sum(flying > 0 for flying in made.result.in_flight)
    made.result.require(2 * hit >= times, f"only {hit} of {times} kills met requests in flight")
    unanswered = made.judge.committed or made.result.phases["answer"] < 4
    made.result.require(unanswered, "no request was counted and not answered, though kills were aimed at that")


async def kill_at_start(made, aim):
    """Kill -9 before it serves: anywhere, or as it opens its store, which may need a few attempts."""
    for _ in range(10):
        made.server.stop(signal.SIGKILL)
        made.server.launch()
        seconds = made.rng.uniform(0, 0.004) if aim else made.rng.uniform(0, 1)
        _, phases = await asyncio.to_thread(made.server.kill, seconds, aim)
        made.result.phases.update(phases)
        made.result.counted["kills at the start"] += 1
        if aim is None or aim in phases:
            return


async def stops(made, times):
    """SIGTERM under load: it ends with 0, and what it counted it has answered."""
    for number in range(times):
        await made.load.reach(10)
        await asyncio.sleep(moment(made.rng, None))
        made.result.in_flight.append(made.load.in_flight)
        code = await asyncio.to_thread(made.server.stop, signal.SIGTERM)
        await made.load.quiet()
        made.result.counted["stops"] += 1
        made.result.require(code == 0, f"stop {number + 1}: the collector ended with {code}")
        ended = made.server.logged[-1]
        made.result.require(ended["event"] == "stopped" and ended["dropped"] == 0, f"stop {number + 1}: {ended}")
        await asyncio.to_thread(made.server.start)
        await made.compare(f"stop {number + 1}", all_or_nothing=True)


async def clock_moves(made, days):
    """Turn the clock, forwards and back, under load; the days must add up to the whole."""
    for day in days:
        made.server.turn_clock(86400 * day)
        made.result.counted["turns of the clock"] += 1
        await made.load.reach(20)
    await made.compare("after the clock moved")
    for survey in made.load.surveys:
        await asyncio.to_thread(_days_add_up, made, survey, days)


def _days_add_up(made, survey, days):
    """Ask for each day by itself; those beside are there because midnight may pass meanwhile."""
    near = range(min(days) - 1, max(days) + 2)
    names = [time.strftime("%Y-%m-%d", time.gmtime(time.time() + 86400 * day)) for day in near]
    parts = [tally(made.server, survey, **{"from": name, "to": name}) for name in names]
    whole = tally(made.server, survey)
    made.result.require(sum(parts[1:], parts[0]) == whole, f"{survey.name}: days do not add up to the whole")
    filled = sum(part.n > 0 for part in parts)
    made.result.require(filled >= len(set(days)), f"{survey.name}: only {filled} days have reports")


async def races(made, items):
    """Every item is sent several times, at once or one after the other, by as many connections; it counts once."""
    await made.load.reach(items)
    await made.compare("after the race")
    copies = made.load.copies
    repeated = made.load.counted["repeated"]
    made.result.require(repeated >= (copies - 1) * items * 0.9, f"only {repeated} repetitions")


async def full_disks(made, disk, times):
    """The disk is full under load: nothing is acknowledged that is not kept, and it goes on when there is space."""
    for _ in range(times):
        await _fill(made, disk)
        disk.empty(made.server)
        await made.load.reach(10)
        await made.compare("after the disk was full")
    made.result.require(made.server.process.poll() is None, "the collector did not survive a full disk")


async def _fill(made, disk):
    """Fill it at any moment, and wait until that was felt."""
    await made.load.reach(10)
    await asyncio.sleep(moment(made.rng, None))
    before = made.load.counted["refused"]
    disk.fill(made.server, made.rng)
    while made.load.counted["refused"] < before + 20:
        made.load.check()
        await asyncio.sleep(0.005)
    made.result.counted[f"disk full ({disk.name})"] += 1


async def kills_when_full(made, disk, times):
    """Kill -9 while the disk is full. It may refuse to start again until there is space, and has lost nothing."""
    for _ in range(times):
        await _fill(made, disk)
        await asyncio.to_thread(made.server.kill, 0)
        await made.load.quiet()
        made.result.counted["kills when full"] += 1
        try:
            await asyncio.to_thread(made.server.restart, signal.SIGKILL)
        except RuntimeError:
            made.result.counted["starts refused"] += 1
            disk.empty(made.server)
            await asyncio.to_thread(made.server.start)
        else:
            disk.empty(made.server)
        await made.compare("killed when the disk was full")
