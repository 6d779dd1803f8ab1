"""What happens where collectors share a database server: it goes away, or cuts them off, or one of them dies."""

import asyncio
import signal

from soak.faults import scenarios

HOW = (signal.SIGQUIT, signal.SIGINT)  # as in a crash, or in good order


async def restarts(made, cluster, times):
    """PostgreSQL is restarted under load: refused meanwhile, and served again without a hand on the collectors."""
    for number in range(times):
        await made.load.reach(10)
        await asyncio.sleep(made.rng.uniform(0, 0.3))
        made.result.in_flight.append(made.load.in_flight)
        before = made.load.counted["refused"]
        await asyncio.to_thread(cluster.stop, HOW[number % 2])
        await _refused(made, before)
        await asyncio.sleep(made.rng.uniform(0, 1))
        await asyncio.to_thread(cluster.start)
        made.result.counted["restarts of PostgreSQL"] += 1
        await made.load.reach(10)
        await made.compare(f"restart {number + 1} of PostgreSQL")


async def _refused(made, before):
    """Wait until the outage was felt."""
    while made.load.counted["refused"] <= before:
        made.load.check()
        await asyncio.sleep(0.005)


async def cuts(made, cluster, times):
    """All connections to the database are cut under load."""
    for number in range(times):
        await made.load.reach(10)
        await asyncio.sleep(made.rng.uniform(0, 0.3))
        made.result.in_flight.append(made.load.in_flight)
        ended = await asyncio.to_thread(_cut, cluster, made.server.settings["database"])
        made.result.counted.update({"cuts": 1, "connections cut": ended})
        made.result.require(ended > 0, f"cut {number + 1}: there was no connection to cut")
        await made.load.reach(10)
        await made.compare(f"cut {number + 1}")


def _cut(cluster, url):
    name = url.rpartition("/")[2]
    return len(cluster.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", name))


async def kills_in_turn(made, times):
    """Kill -9 of one collector while the other one serves the same keys."""
    for number in range(times):
        await made.load.reach(10)
        victim, aim = made.servers[number % len(made.servers)], scenarios.AIMS[number % len(scenarios.AIMS)]
        flying, phases = await asyncio.to_thread(
            victim.kill, scenarios.moment(made.rng, aim), aim, lambda: made.load.in_flight
        )
        made.result.in_flight.append(flying)
        made.result.phases.update(phases)
        made.result.counted["kills"] += 1
        await asyncio.to_thread(victim.restart, signal.SIGKILL)
        await made.load.reach(10)
        await made.compare(f"kill {number + 1} of one of two")
