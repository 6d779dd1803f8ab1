"""Lifecycle runs: changes and faults put together, and collectors that are wrong on purpose."""

import asyncio

from soak.faults import archives, changes, searches
from soak.faults.lifecycle import lifecycle
from soak.faults.model import Kind

SETTINGS = {"fold_seconds": 0.1}  # a tally of 2^17 numbers is written at every step


def sqlite(make, seed, times, folder, *, pause=0.0):
    """One collector on a SQLite file, with a lake."""

    async def run():
        async with lifecycle(
            "surveys come and go", [make(lake=str(folder / "lake"), **SETTINGS)], seed, pause=pause
        ) as run:
            for number in range(times):
                await _changes(run, number)
                await searches.search(run, number, lambda number=number: _killed(run, number))
                await changes.stopped(run)
                await archives.lose_everything(run, folder, archives.elsewhere(folder), number)
        return run.result

    return asyncio.run(run())


def postgres(make, seed, times, folder, cluster, *, pause=0.0):
    """Two collectors on one PostgreSQL database, with one lake."""

    async def run():
        lake = str(folder / "lake")
        async with lifecycle(
            "surveys come and go", [make(lake=lake, **SETTINGS) for _ in range(2)], seed, pause=pause
        ) as run:
            for number in range(times):
                await _changes(run, number)
                await searches.search(run, number, lambda number=number: _killed(run, number))
                await changes.outages(run, cluster, 1)
                await archives.lose_everything(run, folder, archives.another_database(cluster), number)
        return run.result

    return asyncio.run(run())


async def _changes(run, number):
    """Every kind of change, each at a moment that is chosen; the clock moves on."""
    await changes.delete_newest(run, again=number % 2 == 0, kill=number % 3 == 1)
    await changes.delete_within_fold(run, again=number % 2 == 1, kill=number % 3 == 2)
    await changes.delete_within_commit(run, again=number % 2 == 0)
    await changes.delete_within_tickets(run)
    await changes.close_within_fold(run)
    run.turn_clock(number + 1)
    await changes.churn(run, 4)


async def _killed(run, number):
    """Kill twice while surveys come and go, aiming at other things each time."""
    aims = [changes.AIMS[(2 * number + place) % len(changes.AIMS)] for place in range(2)]
    await changes.killed(run, 2, aims)


async def _after_closing(run):
    await run.close(run.models[0])
    for request in run.models[0].done[:20]:
        await run.traffic.send_once(run.models[0], request)
    await run.traffic.send_once(run.models[0], run.models[0].request(1))


async def _after_reopening(run):
    await run.close(run.models[0])
    await run.reopen(run.models[0])
    await run.traffic.send_once(run.models[0], run.models[0].request(1))


async def _deletions(run):
    await changes.delete_newest(run, again=True)
    await run.traffic.settle()


async def _merges(run):
    model = run.models[0]
    await run.traffic.send_alone(model, model.request(5, Kind.MERGE))


async def _tickets(run):
    """Send with a ticket that is spent."""
    model = next(model for model in run.models if model.ticketed)
    await run.traffic.quiet()
    await run.traffic.send_alone(model, model.request(1, ticket=model.tickets.pop()))
    await run.traffic.send_once(model, model.request(1, Kind.SPENT, ticket=model.done[-1].ticket))


async def _lake(run):
    run.turn_clock(3)


async def _restore(run):
    folder = run.server.folder
    await archives.lose_everything(run, folder, archives.elsewhere(folder))


WRONG = {
    "folds the deleted": _deletions,
    "forgets keys when closed": _after_closing,
    "inherits keys": _deletions,
    "leaves segments": _deletions,
    "loses from the lake": _lake,
    "merges twice": _merges,
    "restores without keys": _restore,
    "spends no tickets": _tickets,
    "stays closed": _after_reopening,
    "takes after closing": _after_closing,
}


def wrong(make, kind, folder, seed=3):
    """A collector that is wrong on purpose: the result must have problems."""

    async def run():
        server = make(sabotage=kind, lake=str(folder / "lake"), **SETTINGS)
        async with lifecycle(kind, [server], seed, pause=0.05) as run:
            await run.reach(20)
            await WRONG[kind](run)
            await run.compare("when all was done")
        return run.result

    return asyncio.run(run())
