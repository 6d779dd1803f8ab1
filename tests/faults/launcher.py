"""The collector as a process: what ``fldp serve`` runs, and besides a clock that can be turned, and marks on a page.

``python -m faults.launcher FOLDER JSON``: the settings, and ``sabotage`` where it is to be wrong on purpose.
"""

import json
import sys
import time
from datetime import timedelta
from pathlib import Path

from faults import sabotage
from faults.page import ANSWER, COMMIT, FOLD, LINGER, OPENING, SERVING, STAGE, Page
from fldp import FldpError
from fldp.collector import server
from fldp.collector.clock import system
from fldp.collector.collector import Collector
from fldp.collector.settings import Settings


class Marked:
    """A store that marks on a page what it does."""

    def __init__(self, store, page):
        self._store, self._page = store, page

    def __getattr__(self, name):
        return getattr(self._store, name)

    def commit(self, *given):
        outcomes = self._within(COMMIT, self._store.commit, given)
        if self._page[LINGER]:
            self._within(ANSWER, time.sleep, [0.05])
        return outcomes

    def fold(self, *given):
        return self._within(FOLD, self._store.fold, given)

    def _within(self, place, function, given):
        self._page[place] = 1
        try:
            return function(*given)
        finally:
            self._page[place] = 0


def turned(file):
    """Return a clock that is as far from the time as the file says."""

    def clock():
        return system() + timedelta(seconds=float(file.read_text())) if file.exists() else system()

    return clock


def main(folder, options):
    page, wrong = Page(folder / "page"), options.pop("sabotage", None)

    def collector(settings, store, clock):
        page[STAGE] = SERVING
        marked = Marked(store, page)
        return Collector(settings, sabotage.KINDS[wrong](marked) if wrong else marked, clock)

    server.Collector = collector
    settings = Settings.load(options, {})
    page[STAGE] = OPENING
    try:
        server.run(settings, lambda line: print(f"fldp: {line}", flush=True), turned(folder / "clock"))
    except FldpError as error:
        sys.exit(f"fldp: {error}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
