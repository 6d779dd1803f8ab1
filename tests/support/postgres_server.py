"""A real PostgreSQL server for tests: thrown away when the process that started it ends."""

import atexit
import itertools
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import psycopg

from support.ports import free_port
from support.waiting import until

PASSWORD = "s3cret/of:the@tests"
ENCODED = "s3cret%2Fof%3Athe%40tests"
_SETTINGS = {
    "unix_socket_directories": "",
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "autovacuum_naptime": "1h",  # the tests decide when
    "synchronous_commit": "off",  # which the store must not leave so
    "log_min_messages": "fatal",
}


def program(name):
    """Return a program of PostgreSQL, which distributions keep off the path."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    where = str(installed[-1]) if installed else shutil.which(name)
    assert where, "PostgreSQL is not installed: run tools/need.sh postgresql"
    return where


def unprivileged():
    """Return as whom to run it: it refuses to run as root."""
    if os.geteuid():
        return {}
    names = {user.pw_name for user in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class PostgresServer:
    """A running server with a folder, a port and a password of its own; in memory, unless it is to be on the disk."""

    def __init__(self, *, on_disk=False, **settings):
        shared, self._settings = Path("/dev/shm"), {**_SETTINGS, **settings}
        in_memory = os.access(shared, os.W_OK) and not on_disk
        self.folder = Path(tempfile.mkdtemp(prefix="fldp-pg-", dir=shared if in_memory else None))
        self._as = unprivileged()
        if self._as:
            os.chown(self.folder, self._as["user"], self._as["group"])
        self.data = self.folder / "data"
        self._names = itertools.count()
        password = self.folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        command = [program("initdb"), "-D", self.data, "-U", "owner", "--pwfile", password, "-A", "scram-sha-256"]
        options = ["--no-sync", "-E", "UTF8", "--locale", "C"]
        subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL, cwd="/", **self._as)
        self.start()

    def start(self, **settings):
        """Start, at the same port as before if there was one."""
        self.port = getattr(self, "port", None) or free_port()
        flags = [part for name, value in {**self._settings, **settings}.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            command = [program("postgres"), "-D", self.data, "-p", str(self.port), *flags]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **self._as)
        until(self._answers)

    def _answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        with suppress(psycopg.OperationalError):
            psycopg.connect(self.url("postgres"), connect_timeout=30).close()
            return True

    def stop(self, how=signal.SIGINT):
        """Stop; SIGINT does not wait for those who are connected."""
        self.process.send_signal(how)
        self.process.wait(300)

    def processes(self):
        """Return the numbers of all processes of the server: what has it as its parent, and itself first."""
        parents = ((path.parent.name, _parent(path)) for path in Path("/proc").glob("[0-9]*/stat"))
        return [self.process.pid, *(int(number) for number, parent in parents if parent == self.process.pid)]

    @contextmanager
    def frozen(self):
        """Stop all processes where they are, as a machine does that hangs: its kernel still acknowledges packets.

        The first one goes first, so that it starts no others; it is the last to go on, so that it sees none missing.
        """
        numbers = self.processes()[:1]
        os.kill(numbers[0], signal.SIGSTOP)
        numbers = self.processes()
        for number in numbers[1:]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGSTOP)
        try:
            yield
        finally:
            for number in reversed(numbers):
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGCONT)

    def url(self, name):
        return f"postgresql://owner:{ENCODED}@127.0.0.1:{self.port}/{name}"

    def ask(self, statement, *values, name="postgres"):
        """Run a statement, in a transaction of its own."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else None

    def database(self):
        """Make an empty database; return its address."""
        name = f"test{next(self._names)}_{secrets.token_hex(4)}"
        self.ask(f"CREATE DATABASE {name}")
        return self.url(name)

    def cut(self, url):
        """Cut all connections to a database."""
        name = url.rpartition("/")[2]
        self.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", name)

    def remove(self):
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _parent(stat):
    """Return the number of the parent of a process, or 0 if it is gone."""
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


@cache
def server():
    """Return the server of this process, started when it is first wanted."""
    cluster = PostgresServer()
    atexit.register(cluster.remove)
    return cluster
