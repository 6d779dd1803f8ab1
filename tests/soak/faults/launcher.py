"""The collector as a process: what ``fldp serve`` runs, and besides a clock that can be turned, and marks on a page.

``python -m soak.faults.launcher FOLDER JSON``: the settings, and ``sabotage`` where it is to be wrong on purpose.
"""

import json
import sys
import time
from datetime import timedelta
from functools import partial
from pathlib import Path

from fldp import FldpError
from fldp.collector import server
from fldp.collector.config.clock import system
from fldp.collector.config.settings import Settings
from fldp.collector.service import collector as collecting
from fldp.collector.service import lake_writer
from fldp.collector.service.collector import Collector
from soak.faults import sabotage
from soak.faults.page import (
    ANSWER,
    COMMIT,
    DELETE,
    FOLD,
    HELD,
    HOLD_COMMIT,
    HOLD_FOLD,
    HOLD_TICKETS,
    LAKE,
    LAKE_ROUNDS,
    LINGER,
    OPENING,
    SERVING,
    STAGE,
    Page,
)

LAKE_SECONDS = 0.2


class Marked:
    """A store that marks on a page what it does."""

    def __init__(self, store, page):
        self._store, self._page = store, page

    def __getattr__(self, name):
        return getattr(self._store, name)

    def commit(self, submissions, day):
        self._pass(HOLD_COMMIT, [new.survey for new in submissions])
        outcomes = self._within(COMMIT, self._store.commit, [submissions, day])
        if self._page[LINGER]:
            self._within(ANSWER, time.sleep, [0.05])
        return outcomes

    def fold(self, step):
        self._pass(HOLD_FOLD, [step.survey])
        return self._within(FOLD, self._store.fold, [step])

    def add_tickets(self, survey, tickets):
        self._pass(HOLD_TICKETS, [survey])
        return self._store.add_tickets(survey, tickets)

    def delete_surveys(self, numbers):
        return self._within(DELETE, self._store.delete_surveys, [numbers])

    def _pass(self, hold, surveys):
        """Wait here for as long as such a step is held."""
        while self._page[hold] and self._page.survey in (0, *surveys):
            self._page[hold + HELD] = 1
            time.sleep(0.001)
        self._page[hold + HELD] = 0

    def _within(self, place, function, arguments):
        self._page[place] = 1
        try:
            return function(*arguments)
        finally:
            self._page[place] = 0


def watch_lake(page):
    """Have the lake written all the time, and mark on a page when it is."""
    write_day = lake_writer.CollectorLake.write_day

    def marked(*arguments, **options):
        page[LAKE] = 1
        try:
            return write_day(*arguments, **options)
        finally:
            page[LAKE] = 0

    class Counted(lake_writer.LakeWriter):
        def round(self):
            try:
                super().round()
            finally:
                page[LAKE_ROUNDS] = (page[LAKE_ROUNDS] + 1) % 256

    lake_writer.CollectorLake.write_day = marked
    collecting.LakeWriter = partial(Counted, pause=LAKE_SECONDS)


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
    watch_lake(page)
    settings = Settings.load(options, {})
    page[STAGE] = OPENING
    try:
        server.run(settings, lambda line: print(f"fldp: {line}", flush=True), turned(folder / "clock"))
    except FldpError as error:
        sys.exit(f"fldp: {error}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
