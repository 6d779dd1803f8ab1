"""A relay that is killed in the middle of requests, again and again: nothing is lost, and nothing counts twice.

Every third report is taken back through it. Collectors and databases are killed under reports and withdrawals by
``make soak PART=faults``, in part also in ``tests/collector/faults``.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fldp.client import Client, derived_key
from support.collector_server import Server, specification
from support.ports import free_port
from support.relays import start_relay

SENDERS, EACH, KILLS = 3, 12, 2


@pytest.fixture
def collector(tmp_path):
    server = Server(tmp_path, ohttp="true")
    yield server
    assert server.stop() == 0


def test_nothing_is_lost_and_nothing_counts_twice(collector):
    survey = collector.publish(specification(minimum=1))
    reports = survey.privatize([survey.label(0)] * SENDERS * EACH, rng=4)
    port, progress = free_port(), threading.Semaphore(0)
    options = ("--hold", "0.2")  # most of the time a request is held, so a kill meets some

    def send(number):
        address = f"http://127.0.0.1:{port}"
        with Client(collector.url, relay=address, retries=1000, patience=0.3, timeout=20) as client:
            for place in range(number * EACH, (number + 1) * EACH):
                one, key = reports[place : place + 1], derived_key("killed", place)
                assert client.send(one, survey, key=key) == 1
                if place % 3 == 0:
                    assert client.withdraw_batch(one, survey, key=key) == 1
                progress.release()

    process = start_relay(collector.url, *options, port=port)
    try:
        with ThreadPoolExecutor(SENDERS) as pool:
            sent = pool.map(send, range(SENDERS))
            for _ in range(KILLS):
                for _ in range(SENDERS * 3):
                    assert progress.acquire(timeout=120)
                process.kill()
                process.communicate()
                process = start_relay(collector.url, *options, port=port)
            list(sent)
    finally:
        process.kill()
        process.communicate()
    with Client(collector.url, collector.token) as client:
        assert client.tally(survey) == survey.oracle.tally(reports.data[np.arange(len(reports)) % 3 > 0])
