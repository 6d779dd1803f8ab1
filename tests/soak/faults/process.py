"""Watched: a collector's process that can be looked into while it runs, and killed at a chosen moment."""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from soak.faults.connection import PATIENCE
from soak.faults.page import ANSWER, COMMIT, DELETE, FOLD, HELD, LAKE, LAKE_ROUNDS, LINGER, OPENING, STAGE, Page
from support.collector_server import Server

_TESTS = Path(__file__).parents[2]
CALLS = "pwrite64,fdatasync,fsync,write,writev,sendto,sendmsg"
STRACE = f"strace -D -f -y -qq -s 24 -e trace={CALLS}".split()
_AIMS = {
    "answer": (ANSWER, 1),
    "commit": (COMMIT, 1),
    "delete": (DELETE, 1),
    "fold": (FOLD, 1),
    "lake": (LAKE, 1),
    "opening": (STAGE, OPENING),
}


class Watched(Server):
    """A collector with a page. ``data``: where its database is, if not beside its log and its page.

    ``killed``: how many seconds after it begins to open its store the first starts of all are killed.
    ``traced``: a file for the system calls that matter.
    """

    def __init__(self, folder, *, data=None, sabotage=None, killed=(), traced=None, **settings):
        self.seen = []
        self.elsewhere, self.sabotage, self.killed, self.traced = data, sabotage, killed, traced
        self.page = Page(Path(folder) / "page")
        super().__init__(folder, **settings)

    @property
    def data(self):
        return Path(self.elsewhere or self.folder)

    def start(self):
        first, self.killed = self.killed, ()
        for seconds in first:
            self.launch()
            self.seen += self.kill(seconds, "opening")[1]
            self.stop(signal.SIGKILL)
        if first:  # the token was made and perhaps never shown
            self.token = "unknown"
        super().start()
        if first:
            self.token = self.shell("token", "create", "admin").stdout.split()[0]

    def command(self):
        settings = {"data": str(self.data), "port": self.port, **self.all_settings}
        more = {"sabotage": self.sabotage} if self.sabotage else {}
        watch = [*STRACE, "-o", str(self.traced)] if self.traced else []
        return [*watch, sys.executable, "-m", "soak.faults.launcher", str(self.folder), json.dumps(settings | more)]

    def environment(self):
        path = os.pathsep.join(filter(None, [str(_TESTS), os.environ.get("PYTHONPATH")]))
        return {**os.environ, "PYTHONPATH": path}

    def launch(self):
        self.page.clear()
        super().launch()

    @property
    def last_logged(self):
        """The last line of the log; one before it may be cut off, where the disk was full."""
        return json.loads((self.folder / "log").read_text().splitlines()[-1])

    @property
    def errors(self):
        """What the collector itself says is wrong, each once."""
        return sorted({f"{line['event']}: {line.get('error')}" for line in self.logged if line["level"] == "error"})

    def turn_clock(self, seconds):
        """Move the clock to so far from the time."""
        new = self.folder / "clock.new"
        new.write_text(str(seconds))
        new.replace(self.folder / "clock")

    def hold(self, step, survey=0):
        """Have every step of a kind held before it is done, or those of one survey."""
        self.page.survey = survey
        self.page[step] = 1

    def holds(self, step):
        """Tell whether a step is held now."""
        return bool(self.page[step + HELD])

    def release(self, step):
        self.page[step] = 0

    def wait_for_lake(self, rounds=3):
        """Wait until the lake was gone through so many times."""
        for _ in range(rounds):
            before = self.page[LAKE_ROUNDS]
            while self.page[LAKE_ROUNDS] == before:
                assert self.process.poll() is None, "the collector ended"
                time.sleep(0.01)

    def kill(self, seconds, aim=None, seen=None):
        """Kill it after a while, or within what is aimed at; return what ``seen`` saw, and what it was doing.

        If something is to be seen, it is waited for: a kill that meets no request would show nothing.

        This blocks, and is meant for a thread: the moment does not depend on what the load does.
        """
        time.sleep(seconds)
        self.page[LINGER] = aim == "answer"
        while aim and not self._caught(aim, seconds) and aim != "opening":  # that one does not come again
            self.process.send_signal(signal.SIGCONT)
        count, deadline = 0, time.monotonic() + PATIENCE
        while seen is not None and (count := seen()) == 0 and time.monotonic() < deadline:
            time.sleep(0.0002)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)
        return count, self.page.phases

    def _caught(self, aim, seconds):
        """Stop it a while after it begins what is aimed at; tell whether that was still going on."""
        place, value = _AIMS[aim]
        while self.page[place] < value:
            assert self.process.poll() is None, f"the collector ended before {aim}"
            time.sleep(0.0002)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        return self.page[place] == value


def moment(rng: random.Random, aim):
    """Return how long to wait: long enough that anything can be going on, or hardly at all."""
    return rng.uniform(0, 0.003) if aim else rng.uniform(0.01, 0.4)
