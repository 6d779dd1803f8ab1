"""Runs: scenarios put together, as long as they are told. ``make`` gives a collector with a database of its own."""

import asyncio

from faults import scenarios
from faults.disk import disks
from faults.process import Watched
from faults.scenarios import SHORT, trial


def sqlite(folder):
    """Return what makes collectors that keep their data in a SQLite file."""

    def make(**options):
        return Watched(folder, **SHORT, **options)

    return make


def kills(make, seed, times, *, every, killed=()):
    """Kills under load and at the start, the very first ones included."""

    async def run():
        async with trial("kill -9", [make(killed=killed)], seed) as made:
            made.result.counted["kills at the start"] += len(killed)
            await scenarios.kills(made, times, every=every)
        return made.result

    return asyncio.run(run())


def mixed(make, seed, times, folder):
    """Every request three times, a clock that moves, disks that are full, and stops in good order."""

    async def run():
        with disks(folder) as kinds:
            async with trial("other faults", [make(data=kinds[0].folder)], seed, copies=3) as made:
                await scenarios.races(made, 50 * times)
                await scenarios.clock_moves(made, [0, 2, -1, 1] * times)
                for disk in kinds:
                    await scenarios.full_disks(made, disk, times)
                await scenarios.stops(made, times)
        return made.result

    return asyncio.run(run())


WRONG = {
    "acknowledges first": lambda made: scenarios.kills(made, 1),
    "forgets keys": lambda made: scenarios.races(made, 20),
    "commits keys apart": lambda made: scenarios.kills(made, 2),
    "folds twice": lambda made: scenarios.races(made, 20),
    "swaps reports": lambda made: scenarios.races(made, 20),
}


def wrong(make, kind, seed=3):
    """A collector that is wrong on purpose: the result must have problems."""

    async def run():
        async with trial(kind, [make(sabotage=kind)], seed, copies=2) as made:
            await WRONG[kind](made)
        return made.result

    return asyncio.run(run())
