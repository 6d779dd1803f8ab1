"""Runs: scenarios put together, as long as they are told. ``make`` gives a collector with a database of its own."""

import asyncio

from soak.faults import outages, scenarios
from soak.faults.process import Watched
from soak.faults.trial import trial

SETTINGS = {"stop_seconds": 20, "fold_seconds": 0.02}  # folding all the time, so that faults meet it


def sqlite(folder):
    """Return what makes a collector that keeps its data in a SQLite file."""

    def make(**options):
        return Watched(folder, **{**SETTINGS, **options})

    return make


def postgres(folder, url):
    """Return what makes collectors that keep their data in one PostgreSQL database, each with a folder of its own."""
    made = []

    def make(*, data=None, **options):
        own = folder / f"collector {len(made)}"
        own.mkdir()
        settings = {**SETTINGS, **options, "database": url, "token": made[0].token if made else None}
        made.append(Watched(own, **settings))
        return made[-1]

    return make


def kills(make, seed, times, *, every, killed=(), most=20):
    """Kills under load and at the start, the very first ones included."""

    async def run():
        async with trial("kill -9", [make(killed=killed)], seed) as made:
            made.result.counted["kills at the start"] += len(killed)
            made.result.phases.update(made.server.seen)
            await scenarios.kills(made, times, every=every, most=most)
        return made.result

    return asyncio.run(run())


def mixed(make, seed, times, kinds):
    """Every request three times, a clock that moves, disks that are full, and stops in good order."""

    async def run():
        data = kinds[0].folder if kinds else None
        async with trial("other faults", [make(data=data)], seed, copies=3) as made:
            await scenarios.races(made, 50 * times)
            await scenarios.clock_moves(made, [0, 2, -1, 1] * times)
            for disk in kinds:
                await scenarios.full_disks(made, disk, times)
                await scenarios.kills_when_full(made, disk, times // 3)
            await scenarios.stops(made, times)
        return made.result

    return asyncio.run(run())


def pair(make, seed, times, cluster):
    """Two collectors on one database race on the same keys, are killed in turn, and the database goes away."""

    async def run():
        async with trial("two collectors, outages", [make(), make()], seed, copies=2) as made:
            await scenarios.races(made, 50 * times)
            await outages.kills_in_turn(made, 2 * times)
            await outages.restarts(made, cluster, times)
            await outages.cuts(made, cluster, times)
        return made.result

    return asyncio.run(run())


async def _until_seen(made, items, times):
    """Race until something is wrong: what is taken out is folded only when nothing of its day waits."""
    for _ in range(times):
        await scenarios.races(made, items)
        if made.judge.problems:
            return


WRONG = {
    "acknowledges first": lambda made: scenarios.kills(made, 1, aims=[None]),
    "forgets keys": lambda made: scenarios.races(made, 20),
    "commits keys apart": lambda made: scenarios.kills(made, 4),
    "folds in two steps": lambda made: scenarios.kills(made, 4),
    "folds twice": lambda made: scenarios.races(made, 20),
    "takes twice": lambda made: _until_seen(made, 20, times=30),
    "swaps reports": lambda made: scenarios.races(made, 20),
}


def wrong(make, kind, seed=3):
    """A collector that is wrong on purpose: the result must have problems."""

    async def run():
        async with trial(kind, [make(sabotage=kind)], seed, copies=2) as made:
            await WRONG[kind](made)
            made.give_up()
        return made.result

    return asyncio.run(run())


def unflushed(make, cluster, seed=3):
    """A collector that acknowledges what PostgreSQL may still forget, and a crash of PostgreSQL: there are problems."""

    async def run():
        async with trial("does not flush", [make(sabotage="does not flush")], seed) as made:
            for _ in range(8):
                await outages.restarts(made, cluster, 1)
                made.give_up()
                if made.given_up:
                    break
        return made.result

    return asyncio.run(run())
