"""People who exchange tickets for passes and spend them, while whatever serves them is killed again and again."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import cycle, islice

import httpx
import numpy as np

from fldp import Client, wire
from fldp.issuer.tickets import TicketFile
from fldp.passes.issuing import PrivateKey
from fldp.passes.tokens import key_text
from support.collector_server import key
from support.passes import asking, pass_survey
from support.ports import free_port

NOT_NOW = (429, 500, 502, 503, 504)


class KillableIssuer:
    """``fldp issuer serve`` with a key and tickets of its own, which comes back at the same address."""

    def __init__(self, folder, count):
        self.key, self._folder, self._port = PrivateKey.generate(), folder, free_port()
        (folder / "key.pem").write_bytes(self.key.pem)
        self.tickets = TicketFile(folder / "tickets.db", make=True).create(count)
        self.url = f"http://127.0.0.1:{self._port}"
        self.start()

    def start(self):
        command = [sys.executable, "-m", "fldp", "issuer", "serve", "--key", "key.pem", "--tickets", "tickets.db"]
        self._process = subprocess.Popen(
            [*command, "--rate", "0", "--port", str(self._port)], stdout=subprocess.PIPE, text=True, cwd=self._folder
        )
        assert self._process.stdout.readline() == f"fldp: issuing on {self.url}\n"

    def kill(self):
        self._process.kill()
        self._process.communicate()

    def restart(self):
        self.kill()
        self.start()


def kill_database(cluster):
    """Kill -9 all processes of a PostgreSQL server, and start it again."""
    for number in cluster.processes():
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    cluster.process.wait(300)
    cluster.start()


class Crowd:
    """One person for each ticket of an issuer, each of whom insists; ``collectors`` are on one database."""

    def __init__(self, collectors, issuer):
        self.collectors, self.issuer = collectors, issuer
        self.survey = collectors[0].publish(
            pass_survey(issuer=issuer.url, issuer_key=key_text(issuer.key.public)).canonical
        )
        labels = np.random.default_rng(3).choice(self.survey.labels, len(issuer.tickets))
        self.reports = self.survey.privatize(labels, rng=4)
        self.path, self.done = f"/v1/versions/{self.survey.version}", threading.Semaphore(0)
        self.failed = 0  # requests that met something that was down

    def answer(self, number):
        """Get a pass and spend it, at every collector under one key; return what shows it once more."""
        secret, request = asking(self.survey, self.issuer.tickets[number])
        signed = self._insist(lambda: self.issuer.url, f"{self.path}/passes", request)
        text = self.survey.pass_terms.pass_of(secret, signed.content)
        sent = self.spending(number, text, key())
        for collector in self.collectors:
            assert self._insist(lambda at=collector: at.url, f"{self.path}/reports", sent).json() == {"accepted": 1}
        self.done.release()
        return text

    def spending(self, number, text, name):
        body = wire.encode(self.reports[number : number + 1], self.survey.version)
        headers = {"Idempotency-Key": name, "Content-Type": "application/octet-stream", "Fldp-Ticket": text}
        return {"content": body, "headers": headers}

    def _insist(self, url, path, request):
        """Send the same until it is answered; a server that came back may have another address."""
        while True:
            with suppress(httpx.HTTPError):
                answer = httpx.post(url() + path, timeout=60, **request)
                if answer.status_code not in NOT_NOW:
                    assert answer.status_code == 200, answer.text
                    return answer
            self.failed += 1
            time.sleep(0.05)

    def all_answer(self, victims, kills, workers=4):
        """Have all of them answer, with so many kills in between, in turn; return their passes."""
        people = len(self.issuer.tickets)
        with ThreadPoolExecutor(workers) as pool:
            texts = pool.map(self.answer, range(people))
            for kill in islice(cycle(victims), kills):
                for _ in range(people // (kills + 1)):
                    assert self.done.acquire(timeout=300)
                kill()
            return list(texts)

    def check(self, texts):
        """Everybody counts once, bit for bit, and no pass is good once more."""
        first = self.collectors[0]
        with Client(first.url, first.token) as client:
            assert client.tally(self.survey) == self.survey.oracle.tally(self.reports)
        for number, text in enumerate(texts):
            at = self.collectors[number % len(self.collectors)]
            again = httpx.post(f"{at.url}{self.path}/reports", timeout=60, **self.spending(number, text, key()))
            assert again.status_code == 403
        assert first.counts() == {self.survey.version: len(texts)}
        assert first.fsck().returncode == 0
