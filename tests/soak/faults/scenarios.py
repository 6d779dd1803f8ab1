"""What a collector has to live through, whatever it keeps its data in."""

import asyncio
import signal
import time

from soak.faults.judge import tally
from soak.faults.process import moment

AIMS = ("answer", "fold", None, "commit", None, None)  # half of the kills are aimed, half are not


async def kills(trial, times, *, every=0, most=20, aims=AIMS):
    """Kill -9 under load, at any moment, or within a commit or a fold; ``every`` so often as it starts again too.

    Before each one 10 to ``most`` more items are acknowledged. After it, and before anything is sent again, all that
    was acknowledged must be there.
    """
    for number in range(times):
        aim = aims[number % len(aims)]
        await trial.load.reach(trial.rng.randint(10, most))
        with trial.silence.during("kill"):
            flying, phases = await asyncio.to_thread(
                trial.server.kill, moment(trial.rng, aim), aim, lambda: trial.load.in_flight
            )
        await trial.load.quiet()
        trial.result.in_flight.append(flying)
        trial.result.phases.update(phases)
        trial.result.counted["kills"] += 1
        with trial.silence.during("start"):
            if every and number % every == every - 1:
                await kill_at_start(trial, "opening" if number % (2 * every) == every - 1 else None)
            await asyncio.to_thread(trial.server.restart, signal.SIGKILL)
        await trial.compare(f"kill {number + 1}, within {' and '.join(phases)}")
    unanswered = trial.judge.committed or trial.result.phases["answer"] < 4
    trial.result.require(unanswered, "no request was counted and not answered, though kills were aimed at that")


async def kill_at_start(trial, aim):
    """Kill -9 before it serves: anywhere, or as it opens its store, which may need a few attempts."""
    for _ in range(100):
        trial.server.stop(signal.SIGKILL)
        trial.server.launch()
        seconds = trial.rng.uniform(0, 0.004) if aim else trial.rng.uniform(0, 1)
        _, phases = await asyncio.to_thread(trial.server.kill, seconds, aim)
        trial.result.phases.update(phases)
        trial.result.counted["kills at the start"] += 1
        if aim is None or aim in phases:
            return


async def stops(trial, times):
    """SIGTERM under load: it ends with 0, and what it counted it has answered."""
    for number in range(times):
        await trial.load.reach(10)
        await asyncio.sleep(moment(trial.rng, None))
        trial.result.in_flight.append(trial.load.in_flight)
        with trial.silence.during("stop"):
            code = await asyncio.to_thread(trial.server.stop, signal.SIGTERM)
        await trial.load.quiet()
        trial.result.counted["stops"] += 1
        trial.result.require(code == 0, f"stop {number + 1}: the collector ended with {code}")
        ended = trial.server.last_logged
        trial.result.require(ended["event"] == "stopped" and ended["dropped"] == 0, f"stop {number + 1}: {ended}")
        with trial.silence.during("start"):
            await asyncio.to_thread(trial.server.start)
        await trial.compare(f"stop {number + 1}", all_or_nothing=True)


async def clock_moves(trial, days):
    """Turn the clock, forwards and back, under load; the days must add up to the whole."""
    for day in days:
        trial.server.turn_clock(86400 * day)
        trial.result.counted["turns of the clock"] += 1
        await trial.load.reach(20)
    await trial.compare("after the clock moved")
    for survey in trial.load.surveys:
        await asyncio.to_thread(_days_add_up, trial, survey, days)


def _days_add_up(trial, survey, days):
    """Ask for each day by itself; those beside are there because midnight may pass meanwhile."""
    near = range(min(days) - 1, max(days) + 2)
    names = [time.strftime("%Y-%m-%d", time.gmtime(time.time() + 86400 * day)) for day in near]
    parts = [tally(trial.server, survey, **{"from": name, "to": name}) for name in names]
    whole = tally(trial.server, survey)
    trial.result.require(sum(parts[1:], parts[0]) == whole, f"{survey.name}: days do not add up to the whole")
    filled = sum(part.n > 0 for part in parts)
    trial.result.require(filled >= len(set(days)), f"{survey.name}: only {filled} days have reports")


async def races(trial, items):
    """Every item is sent several times, at once or one after the other, by as many connections; it counts once."""
    await trial.load.reach(items)
    await trial.compare("after the race")
    copies = trial.load.copies
    repeated = trial.load.counted["repeated"]
    trial.result.require(2 * repeated >= (copies - 1) * items, f"only {repeated} repetitions")


async def full_disks(trial, disk, times):
    """The disk is full under load: nothing is acknowledged that is not kept, and it goes on when there is space."""
    for _ in range(times):
        with trial.silence.during("disk full"):
            await _fill(trial, disk)
            disk.empty(trial.server)
        await trial.load.reach(10)
        await trial.compare("after the disk was full")
    trial.result.require(trial.server.process.poll() is None, "the collector did not survive a full disk")


async def _fill(trial, disk):
    """Fill it at any moment, and wait until that was felt."""
    await trial.load.reach(10)
    await asyncio.sleep(moment(trial.rng, None))
    before = trial.load.counted["refused"]
    disk.fill(trial.server, trial.rng)
    while trial.load.counted["refused"] < before + 20:
        trial.load.check()
        await asyncio.sleep(0.005)
    trial.result.counted[f"disk full ({disk.name})"] += 1


async def kills_when_full(trial, disk, times):
    """Kill -9 while the disk is full. It may refuse to start again until there is space, and has lost nothing."""
    for _ in range(times):
        with trial.silence.during("disk full"):
            await _fill(trial, disk)
            await asyncio.to_thread(trial.server.kill, 0)
        await trial.load.quiet()
        trial.result.counted["kills when full"] += 1
        with trial.silence.during("start"):
            await _start_when_full(trial, disk)
        await trial.compare("killed when the disk was full")


async def _start_when_full(trial, disk):
    """Start it again, with the disk full or, if it refuses that, with space."""
    try:
        await asyncio.to_thread(trial.server.restart, signal.SIGKILL)
    except RuntimeError:
        trial.result.counted["starts refused"] += 1
        disk.empty(trial.server)
        await asyncio.to_thread(trial.server.start)
    else:
        disk.empty(trial.server)
