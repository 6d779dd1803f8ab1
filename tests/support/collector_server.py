"""A real collector for tests: a process of its own, on a free port, with a folder of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import httpx

from fldp import Survey
from support.collector_requests import SPECIFICATION, batch, key, specification
from support.ports import free_port

__all__ = ["SPECIFICATION", "Server", "batch", "flawless", "key", "specification"]


class Server:
    """A running collector. With ``database=`` it uses PostgreSQL, and the folder only for its log.

    The first on a database writes its token into a file; the others are told it.
    """

    def __init__(self, folder, *, token=None, **settings):
        self.folder, self.settings, self.token = Path(folder), settings, token
        self._token_file = Path(mkdtemp(prefix="fldp-token-")) / "admin"
        self.start()

    @property
    def data(self):
        return self.folder

    def start(self):
        self.launch()
        if self.process.stdout.readline() != f"fldp: listening on {self.url}\n":
            self.stop()
            raise RuntimeError((self.folder / "log").read_text())
        if self.token is None:
            self.process.stdout.readline()
            self.token = self._token_file.read_text().strip()

    def launch(self):
        """Start the process, and do not wait for it to listen."""
        self.port = free_port()
        self.url = f"{'https' if 'tls_key' in self.settings else 'http'}://127.0.0.1:{self.port}"
        self.log = (self.folder / "log").open("ab")
        self._token_file.parent.mkdir(mode=0o700, exist_ok=True)  # gone where a start was killed before this one
        self.process = subprocess.Popen(
            self.command(), stdout=subprocess.PIPE, stderr=self.log, text=True, env=self.environment()
        )

    @property
    def all_settings(self):
        """The settings, and where to write a token if none is known."""
        return self.settings if self.token else {**self.settings, "admin_token_file": str(self._token_file)}

    def command(self):
        settings = self.all_settings.items()
        flags = [part for name, value in settings for part in (f"--{name.replace('_', '-')}", str(value))]
        return [sys.executable, "-m", "fldp", "serve", "--data", str(self.data), "--port", str(self.port), *flags]

    def environment(self):
        return dict(os.environ)

    def stop(self, how=signal.SIGTERM, seconds=120):
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(seconds)
        self.process.stdout.close()
        self.log.close()
        shutil.rmtree(self._token_file.parent, ignore_errors=True)
        return code

    def restart(self, how=signal.SIGTERM):
        self.stop(how)
        self.start()

    @property
    def logged(self):
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]

    def client(self, token=None, **headers):
        held = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=held | headers, timeout=120, verify=False)

    @property
    def admin(self):
        return self.client(self.token)

    def publish(self, fields=None, **collect):
        fields = fields or specification(**collect)
        with self.admin as client:
            answer = client.post("/v1/surveys", json=fields)
        assert answer.status_code in (200, 201), answer.text
        return Survey.from_dict(fields)

    def make_token(self, scope, **more):
        with self.admin as client:
            return client.post("/v1/tokens", json={"scope": scope, **more}).json()

    def send(self, survey, body=None, name=None, client=None, **headers):
        sent = {"Idempotency-Key": name or key(), "Content-Type": "application/octet-stream", **headers}
        path = f"/v1/versions/{survey.version}/reports"
        if client is not None:
            return client.post(path, content=body or batch(survey), headers=sent)
        with self.client() as own:
            return own.post(path, content=body or batch(survey), headers=sent)

    def tokens(self):
        with self.admin as client:
            return client.get("/v1/tokens").json()

    def counts(self):
        with self.admin as client:
            return {row["version"]: row["n"] for row in client.get("/v1/surveys").json()}

    def fsck(self):
        return self.shell("fsck")

    def shell(self, *arguments):
        """Run a command on the database, as those do who look after it."""
        database = self.settings.get("database")
        where = ["--database", database] if database else ["--data", str(self.data)]
        command = [sys.executable, "-m", "fldp", *arguments, *where]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})


@contextmanager
def flawless(folder, **settings):
    """Run a collector that must end well, with no error in its log."""
    server = Server(folder, **settings)
    yield server
    assert server.stop() == 0
    assert not [line for line in server.logged if line["level"] == "error"]
