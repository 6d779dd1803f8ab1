"""Runs: scenarios put together, as long as they are told. ``make`` gives a collector with a database of its own."""

import asyncio

from soak.faults import outages, scenarios
from soak.faults.process import Watched
from soak.faults.tables import Tables
from soak.faults.trial import trial
from support.waiting import until

SETTINGS = {"stop_seconds": 20, "fold_seconds": 0.02}  # folding all the time, so that faults meet it


def sqlite(folder):
    """Return what makes a collector that keeps its data in a SQLite file."""

    def make(**options):
        return Watched(folder, **{**SETTINGS, **options})

    return make


def postgres(folder, url):
    """Return what makes collectors that keep their data in one PostgreSQL database, each with a folder of its own."""
    servers = []

    def make(*, data=None, **options):
        own = folder / f"collector {len(servers)}"
        own.mkdir()
        settings = {**SETTINGS, **options, "database": url, "token": servers[0].token if servers else None}
        servers.append(Watched(own, **settings))
        return servers[-1]

    return make


def kills(make, seed, times, *, every, killed=(), most=20):
    """Kills under load and at the start, the very first ones included."""

    async def run():
        async with trial("kill -9", [make(killed=killed)], seed) as running:
            running.result.counted["kills at the start"] += len(killed)
            running.result.phases.update(running.server.seen)
            await scenarios.kills(running, times, every=every, most=most)
        return running.result

    return asyncio.run(run())


def mixed(make, seed, times, kinds):
    """Every request three times, a clock that moves, disks that are full, and stops in good order."""

    async def run():
        data = kinds[0].folder if kinds else None
        async with trial("other faults", [make(data=data)], seed, copies=3) as running:
            await scenarios.races(running, 50 * times)
            await scenarios.clock_moves(running, [0, 2, -1, 1] * times)
            for disk in kinds:
                await scenarios.full_disks(running, disk, times)
                await scenarios.kills_when_full(running, disk, times // 3)
            await scenarios.stops(running, times)
        return running.result

    return asyncio.run(run())


def pair(make, seed, times, cluster):
    """Two collectors on one database race on the same keys, are killed in turn, and the database goes away."""

    async def run():
        async with trial("two collectors, outages", [make(), make()], seed, copies=2) as running:
            await scenarios.races(running, 50 * times)
            await outages.kills_in_turn(running, 2 * times)
            await outages.restarts(running, cluster, times)
            await outages.cuts(running, cluster, times)
        return running.result

    return asyncio.run(run())


async def _until_taken(trial, items):
    """Race until something was taken back, and wait until it is taken out: that is done when nothing else waits.

    What no tally can be is not stored: then the collector says that it cannot fold, and goes on without.
    """
    while not trial.load.counted["taken back"]:
        await scenarios.races(trial, items)
    await trial.load.quiet()
    tables, server = Tables(trial.server), trial.server
    await asyncio.to_thread(until, lambda: server.errors or tables.are_folded())
    await trial.compare("when all was folded")
    trial.result.problems += server.errors


WRONG = {
    "acknowledges first": lambda trial: scenarios.kills(trial, 1, aims=[None]),
    "forgets keys": lambda trial: scenarios.races(trial, 20),
    "commits keys apart": lambda trial: scenarios.kills(trial, 4),
    "folds in two steps": lambda trial: scenarios.kills(trial, 4),
    "folds twice": lambda trial: scenarios.races(trial, 20),
    "takes twice": lambda trial: _until_taken(trial, 20),
    "swaps reports": lambda trial: scenarios.races(trial, 20),
}


def wrong(make, kind, seed=3):
    """A collector that is wrong on purpose: the result must have problems."""

    async def run():
        async with trial(kind, [make(sabotage=kind)], seed, copies=2) as running:
            await WRONG[kind](running)
            running.give_up()
        return running.result

    return asyncio.run(run())


def unflushed(make, cluster, seed=3):
    """A collector that acknowledges what PostgreSQL may still forget, and a crash of PostgreSQL: there are problems."""

    async def run():
        async with trial("does not flush", [make(sabotage="does not flush")], seed) as running:
            for _ in range(8):
                await outages.restarts(running, cluster, 1)
                running.give_up()
                if running.given_up:
                    break
        return running.result

    return asyncio.run(run())
