"""What a collector has to live through, whatever it keeps its data in."""

import asyncio
import signal
import time

from soak.faults.judge import tally
from soak.faults.process import moment

AIMS = ("answer", "fold", None, "commit", None, None)  # half of the kills are aimed, half are not


async def kills(made, times, *, every=0, most=20, aims=AIMS):
    """Kill -9 under load, at any moment, or within a commit or a fold; ``every`` so often as it starts again too.

    Before each one 10 to ``most`` more items are acknowledged. After it, and before anything is sent again, all that
    was acknowledged must be there.
    """
    for number in range(times):
        aim = aims[number % len(aims)]
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
    unanswered = made.judge.committed or made.result.phases["answer"] < 4
    made.result.require(unanswered, "no request was counted and not answered, though kills were aimed at that")


async def kill_at_start(made, aim):
    """Kill -9 before it serves: anywhere, or as it opens its store, which may need a few attempts."""
    for _ in range(100):
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
        ended = made.server.last_logged
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
    made.result.require(2 * repeated >= (copies - 1) * items, f"only {repeated} repetitions")


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
