"""Changes: what happens to surveys while their reports are committed and folded, at moments that are chosen."""

import asyncio
import signal

from soak.faults.lifecycle import KINDS
from soak.faults.model import Phase
from soak.faults.outages import HOW
from soak.faults.page import HOLD_COMMIT, HOLD_FOLD, HOLD_TICKETS
from soak.faults.process import moment

AIMS = ("delete", "fold", None, "commit", "answer", None)
MAX_OPEN = 6


async def _held(run, step, model=None):
    """Have a step held on every collector, and wait until one is: reports keep coming meanwhile."""
    for server in run.servers:
        server.hold(step, 0 if model is None else model.number)
    run.traffic.gate.set()
    await _until_held(run, step)


async def _until_held(run, step):
    while not any(server.holds(step) for server in run.servers):
        run.traffic.check()
        await asyncio.sleep(0.005)


def _release(run, step):
    for server in run.servers:
        server.release(step)


async def _open(run, *kinds):
    """Return a survey that takes reports and has some; publish one if there is none."""
    fitting = [model for model in run.among(Phase.OPEN) if not kinds or model.survey.collect["retention"] in kinds]
    model = run.rng.choice(fitting) if fitting else await run.publish()
    if model.ticketed and len(model.tickets) < 20:
        await run.administration.tickets(model, 50)
    return model


async def delete_within_fold(run, *, again=False, kill=False):
    """Delete a survey when a fold of it is worked out and not done yet; others take reports before it is done."""
    model = await _open(run)
    await _held(run, HOLD_FOLD, model)
    await _delete_held(run, model, again=again, kill=kill)


async def delete_newest(run, *, again=False, kill=False):
    """The same with the rows that were written last of all: a database that gives their numbers again is found out."""
    model = await run.publish(run.rng.choice(KINDS[:2]))
    await run.traffic.quiet()
    await asyncio.to_thread(run.administration.tables.wait_until_folded)
    for server in run.servers:
        server.hold(HOLD_FOLD, model.number)
    await run.traffic.send_alone(model, model.request(30))
    await _until_held(run, HOLD_FOLD)
    await _delete_held(run, model, again=again, kill=kill)


async def _delete_held(run, model, *, again, kill):
    number = model.number
    await run.delete(model)
    if again:
        await run.recreate(model)
    await run.reach(10)
    for server in [server for server in run.servers if kill and server.holds(HOLD_FOLD)]:
        await run.kill(server)
    _release(run, HOLD_FOLD)
    run.result.counted["deleted within a fold"] += 1
    await run.reach(10)
    await run.compare(f"survey {number} was deleted within a fold")


async def delete_within_commit(run, *, again=False):
    """Delete a survey when reports to it wait for their commit: they are gone, or belong to its next life."""
    await run.reach(5)
    with run.silence.during("commits held"):
        model = await _awaiting_commit(run)
        await run.delete(model)
        if again and model.flying:
            await _while_released(run, HOLD_COMMIT, run.recreate(model))
        _release(run, HOLD_COMMIT)
    run.result.counted["deleted within a commit"] += 1
    await run.reach(10)
    await run.compare("deleted within a commit")


async def _awaiting_commit(run):
    """Hold commits; return a survey with reports that wait for one.

    A request that must be refused may wait as well. A deletion waits for its answer, so both would stand still.
    """
    while True:
        await _held(run, HOLD_COMMIT)
        awaited = [model for model in run.among(Phase.OPEN) if model.flying and not model.refusing]
        if awaited:
            return run.rng.choice(awaited)
        _release(run, HOLD_COMMIT)
        await run.reach(1)


async def _while_released(run, step, change):
    """Begin a change while a step is held, and let the step go on meanwhile."""
    task = asyncio.create_task(change)
    await asyncio.sleep(0)
    _release(run, step)
    await task


async def delete_within_tickets(run):
    """Delete a survey when tickets for it were made and are not stored yet."""
    model = await _open(run)
    await run.reach(5)
    for server in run.servers:
        server.hold(HOLD_TICKETS, model.number)
    making = asyncio.create_task(run.administration.tickets(model, 10))
    while not making.done() and not any(server.holds(HOLD_TICKETS) for server in run.servers):
        await asyncio.sleep(0.005)
    await run.delete(model)
    _release(run, HOLD_TICKETS)
    await making
    model.tickets.clear()
    await run.administration.check_gone(model)
    run.result.counted["deleted within tickets"] += 1


async def close_within_fold(run):
    """Close a survey when a fold of it is worked out: what was acknowledged stays, what comes later is refused."""
    model = await _open(run)
    await _held(run, HOLD_FOLD, model)
    await run.close(model)
    await run.reach(5)
    _release(run, HOLD_FOLD)
    await run.reach(5)
    await run.compare("closed within a fold")
    await run.reopen(model)
    await run.reach(5)
    await run.compare("reopened after a fold")


async def churn(run, steps):
    """Publish, close, reopen, delete and publish again under load."""
    for _ in range(steps):
        await run.reach(run.rng.randint(3, 12))
        await _change(run)


async def _change(run):
    """Do one change. Some surveys always take reports, so that the load never stands still."""
    closed, opened = run.among(Phase.CLOSED), run.among(Phase.OPEN)
    absent = [model for model in run.among(Phase.ABSENT) if model.recurs]
    choice = run.rng.random()
    if await run.keep_open() or (choice < 0.35 and len(opened) < MAX_OPEN):
        await (run.recreate(run.rng.choice(absent)) if absent and run.rng.random() < 0.6 else run.publish())
    elif choice < 0.55:
        await run.close(await _open(run))
    elif choice < 0.65 and any(model.recurs for model in closed):
        await run.reopen(run.rng.choice([model for model in closed if model.recurs]))
    else:
        await run.delete(run.rng.choice(closed + opened))


async def killed(run, times, aims=AIMS):
    """Kill -9 while surveys come and go, within what is aimed at; compare each time."""
    for number in range(times):
        aim, victim = aims[number % len(aims)], run.servers[number % len(run.servers)]
        await run.reach(5)
        killing = asyncio.create_task(run.kill(victim, aim, moment(run.rng, aim)))
        while not killing.done():
            await _change(run)
        await killing
        await run.compare(f"kill {number + 1}")


async def outages(run, cluster, times):
    """PostgreSQL is restarted while surveys come and go, as in a crash or in good order."""
    for number in range(times):
        await run.reach(10)
        changing = asyncio.create_task(churn(run, 4))
        await asyncio.sleep(run.rng.uniform(0, 0.2))
        with run.silence.during("PostgreSQL away"):
            await asyncio.to_thread(cluster.stop, HOW[number % 2])
            before = run.traffic.counted["refused"] + run.traffic.counted["lost"]
            while run.traffic.counted["refused"] + run.traffic.counted["lost"] <= before:
                run.traffic.check()
                await asyncio.sleep(0.005)
            await asyncio.to_thread(cluster.start)
        await changing
        run.result.counted["restarts of PostgreSQL"] += 1
        await run.compare(f"restart {number + 1} of PostgreSQL")


async def stopped(run):
    """SIGTERM while surveys come and go: it ends with 0, and goes on."""
    for server in run.servers:
        await run.reach(5)
        with run.silence.during("stop"):
            code = await asyncio.to_thread(server.stop, signal.SIGTERM)
        run.result.require(code == 0, f"the collector ended with {code}")
        run.result.counted["stops"] += 1
        with run.silence.during("start"):
            await asyncio.to_thread(server.start)
    await run.compare("after a stop")
