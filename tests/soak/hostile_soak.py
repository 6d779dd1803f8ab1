"""Hostile load, at length: a hundred thousand hostile requests and a siege, in bounded memory, with nothing counted."""

import asyncio
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

from support.collector_server import Server, batch
from support.greedy_clients import CLOSED, Siege, allow_connections, honest, resident
from support.hostile_requests import storm

REQUESTS, WARM_UP, SENDERS = 100_000, 5_000, 4
MAX_GROWTH = 1.1
CUT_OFF = {400, 408, 413, 415, 431, CLOSED}  # what may become of a connection under siege


def stormed(server, survey, requests, seed):
    """Send hostile requests on several connections at the same time; return how often there was which answer."""
    with ThreadPoolExecutor(SENDERS) as pool:
        seeds = range(seed, seed + SENDERS)
        parts = pool.map(lambda each: storm(server, survey, requests // SENDERS, each), seeds)
        return sum(parts, Counter())


async def besieged(siege):
    """Every kind of siege, one after the other, beside an honest client; return what became of them and of it."""
    statuses = Counter()
    with honest(siege) as client:
        for attack, count in ((siege.drip_bodies, 900), (siege.drip_headers, 300), (siege.idle, 1000)):
            statuses += await attack(count)
        for attack in (siege.gigabyte, siege.chunked_gigabyte, siege.bomb, siege.header_flood):
            statuses[(await attack())[0]] += 1
    return statuses, client


def main():
    """Run it and print what was seen; anything that is not as it must be is an error."""
    allow_connections(1200)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, log="false")
        survey = server.publish(name="browser")
        server.send(survey, batch(survey, 7))
        stormed(server, survey, WARM_UP, seed=1000)
        siege = Siege(server, survey)
        _, client = asyncio.run(besieged(siege))
        counted, early, start = 7 + client.answers[200], resident(server.process), monotonic()
        assert server.counts()[survey.version] == counted
        statuses = stormed(server, survey, REQUESTS, seed=1)
        assert server.counts()[survey.version] == counted
        print(
            f"{REQUESTS:,} hostile requests in {monotonic() - start:.0f} s: {dict(sorted(statuses.items()))}",
            flush=True,
        )
        ends, client = asyncio.run(besieged(siege))
        print(f"siege: {dict(sorted(ends.items(), key=str))}; honest client: {dict(client.answers)}, ", end="")
        print(f"the longest answer took {client.longest:.2f} s", flush=True)
        assert ends.keys() <= CUT_OFF
        assert client.answers[200] == client.sent
        assert server.counts()[survey.version] == counted + client.answers[200]
        late = resident(server.process)
        print(f"memory: {early / 1e6:.0f} MB after warm-up, {late / 1e6:.0f} MB at the end", flush=True)
        assert late <= MAX_GROWTH * early
        assert server.fsck().returncode == 0
        assert server.stop() == 0
