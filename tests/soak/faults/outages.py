"""What happens where collectors share a database server: it goes away, or cuts them off, or one of them dies."""

import asyncio
import signal

from soak.faults import scenarios

HOW = (signal.SIGQUIT, signal.SIGINT)  # as in a crash, or in good order


async def restarts(trial, cluster, times):
    """PostgreSQL is restarted under load: refused meanwhile, and served again without a hand on the collectors."""
    for number in range(times):
        await trial.load.reach(10)
        await asyncio.sleep(trial.rng.uniform(0, 0.3))
        trial.result.in_flight.append(trial.load.in_flight)
        before = trial.load.counted["refused"]
        with trial.silence.during("PostgreSQL away"):
            await asyncio.to_thread(cluster.stop, HOW[number % 2])
            await _refused(trial, before)
            await asyncio.sleep(trial.rng.uniform(0, 1))
            await asyncio.to_thread(cluster.start)
        trial.result.counted["restarts of PostgreSQL"] += 1
        await trial.load.reach(10)
        await trial.compare(f"restart {number + 1} of PostgreSQL")


async def _refused(trial, before):
    """Wait until the outage was felt."""
    while trial.load.counted["refused"] <= before:
        trial.load.check()
        await asyncio.sleep(0.005)


async def cuts(trial, cluster, times):
    """All connections to the database are cut under load."""
    for number in range(times):
        await trial.load.reach(10)
        await asyncio.sleep(trial.rng.uniform(0, 0.3))
        trial.result.in_flight.append(trial.load.in_flight)
        ended = await asyncio.to_thread(_cut, cluster, trial.server.settings["database"])
        trial.result.counted.update({"cuts": 1, "connections cut": ended})
        trial.result.require(ended > 0, f"cut {number + 1}: there was no connection to cut")
        await trial.load.reach(10)
        await trial.compare(f"cut {number + 1}")


def _cut(cluster, url):
    name = url.rpartition("/")[2]
    return len(cluster.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", name))


async def kills_in_turn(trial, times):
    """Kill -9 of one collector while the other one serves the same keys."""
    for number in range(times):
        await trial.load.reach(10)
        victim, aim = trial.servers[number % len(trial.servers)], scenarios.AIMS[number % len(scenarios.AIMS)]
        with trial.silence.during("kill"):
            flying, phases = await asyncio.to_thread(
                victim.kill, scenarios.moment(trial.rng, aim), aim, lambda: trial.load.in_flight
            )
        trial.result.in_flight.append(flying)
        trial.result.phases.update(phases)
        trial.result.counted["kills"] += 1
        with trial.silence.during("start"):
            await asyncio.to_thread(victim.restart, signal.SIGKILL)
        await trial.load.reach(10)
        await trial.compare(f"kill {number + 1} of one of two")
