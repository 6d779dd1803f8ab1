"""The agent: what runs inside a program. It records in memory, and does all else in the background.

It never raises, never waits for the network, and loads what it needs when it needs it: a program that records pays for
``sqlite3`` and ``tomllib``. Values lie in memory until a minute has passed or the program ends.
"""

import os
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from fldp.telemetry import periods
from fldp.telemetry.aggregates import Aggregate, add
from fldp.telemetry.fork_safety import in_child, open_files
from fldp.telemetry.metrics import AppMetrics
from fldp.telemetry.modes import Mode, state_folder
from fldp.telemetry.periods import Clock
from fldp.telemetry.state import DROPPED, PATIENCE, REFUSED, SENT, WAITING, State, StoredReport

Notice = Callable[[str], object]
_MINUTE, AGAIN = 60.0, timedelta(hours=1)  # how often it looks, and when a report is tried again
_FAREWELL = 2.0  # seconds that the end of a program waits for files that others have locked, at most
DECLARED, _NOTICED = "metrics", "noticed"


class Places(NamedTuple):
    """Where a program keeps its state, and the person the ledger of all programs."""

    state: str
    ledger: str

    @classmethod
    def of(cls, app: str) -> "Places":
        """Return the places on this machine."""
        folder = state_folder()
        return cls(os.path.join(folder, f"{app}.db"), os.path.join(os.path.dirname(folder), "answers.db"))


class Agent:
    """The telemetry of one program in one process. Each method may raise; the module around it does not.

    ``decide`` says which mode it is now: a program may run for months after somebody has changed their mind.
    """

    def __init__(
        self,
        metrics: AppMetrics,
        mode: Mode,
        places: Places,
        *,
        clock: Clock = periods.system,
        notice: Notice | None = None,
        decide: Callable[[], Mode] | None = None,
    ) -> None:
        self.metrics, self.mode, self.state, self._places = metrics, mode, State(places.state), places
        self._clock, self._notice, self._decide = clock, notice, decide
        self._lock, self._held = threading.Lock(), dict[tuple[str, str], Aggregate]()
        self._stop, self._drawn, self._idle = threading.Event(), threading.Event(), threading.Event()
        self.trouble, self._orphaned, self._noted = "", False, ""  # the last is the period noted as one in which it ran

    def record(self, name: str, value: object) -> bool:
        """Add a value to the aggregate of its metric; return whether there is such a metric and value."""
        metric = self.metrics.metrics.get(name)
        label = None if metric is None else metric.label(value)
        if metric is None or label is None:
            return False
        if self.mode.mode == "off":
            return True
        if self._orphaned:
            self._orphaned = False
            self.start()
        with self._lock:
            add(metric, self._held.setdefault((self._current, name), {}), value, label)
        return True

    @property
    def _current(self) -> str:
        """The period of now."""
        return periods.period_of(self._clock(), self.metrics.period)

    def forget(self) -> bool:
        """Begin anew in a forked process: what lies in memory would be stored twice, and no thread came along.

        Return whether this process may go on: not where a file was open when it was forked. Its first value starts a
        thread, since it may be a server that runs for months.
        """
        self._lock, self._held = threading.Lock(), {}
        self._stop, self._drawn, self._idle = threading.Event(), threading.Event(), threading.Event()
        self._drawn.set()
        self._idle.set()
        self._orphaned = in_child()
        return self._orphaned

    def heed(self) -> bool:
        """Look again which mode the person wants, and forget everything in mode off; return whether it is another."""
        if self._decide is not None:
            self.mode = self._decide()
        if self.mode.mode == "off":
            with self._lock:
                self._held = {}
        return self.mode.mode != "off"

    def save(self, patience: float = PATIENCE) -> None:
        """Store what lies in memory, and that the program ran.

        Somebody who says off stores that first and then deletes under the lock, so under the lock it is known.
        """
        if not self.heed():
            return
        with self.state.exclusive(durable=False, patience=patience) as rows:
            if not self.heed():
                return
            with self._lock:
                held, self._held = self._held, {}
            rows.seen(self._current)
            if rows.fact(DECLARED) != self.metrics.source:  # so that the person's commands need not find the file
                rows.note(DECLARED, self.metrics.source)
            for (period, name), aggregate in held.items():
                rows.add(period, self.metrics.metrics[name], aggregate)
            self._noted = self._current

    def work(self) -> None:
        """End the periods that are over, and send what is due."""
        self.heed()
        self.end_periods()
        self.send_due()

    def end_periods(self) -> None:
        """Store what lies in memory, and draw the report of a period that is over; nothing of it needs the network.

        That the program runs is noted at once, also before anything is recorded: if it is killed, a report is drawn
        for the period whether there were values or not.
        """
        if self._held or self._noted != self._current:
            self.save()
        over, now = self.state.glance(self._current)[0], self._clock()
        if over and self.mode.mode != "on":
            self._forget_old()
        elif self.mode.mode == "on" and (over or not os.path.exists(self._places.ledger)):
            from fldp.telemetry.drawing import Ending, opened

            with open_files(PATIENCE):
                Ending(self.metrics, self.state, opened(self._places.ledger, now)).run(now, self.mode.since)

    def send_due(self) -> None:
        """Send the reports whose time has come."""
        if self.mode.mode == "on" and self.state.glance(self._current)[1]:
            for report in self._due():
                self.heed()
                if self.mode.mode == "on":
                    self._send(report)

    def _forget_old(self) -> None:
        """In mode local, keep this period and the one before."""
        last = periods.before(self._clock(), self.metrics.period)
        with self.state.exclusive() as rows:
            for period, _ in rows.open_periods():
                if period < last:
                    rows.finish(period, "telemetry was local: nothing is reported")

    def _due(self) -> list[StoredReport]:
        """Return the reports to be sent now; those that waited for more than one period are dropped."""
        now, oldest = self._clock(), periods.before(self._clock(), self.metrics.period, 2)
        with self.state.exclusive() as rows:
            waiting = [report for report in rows.reports() if report.state == WAITING]
            for report in waiting:
                if report.period < oldest:
                    rows.tried(report.number, DROPPED, periods.text(now), "it could not be sent within a period")
        return [report for report in waiting if report.period >= oldest and report.due <= periods.text(now)]

    def _send(self, report: StoredReport) -> None:
        from fldp.telemetry import sending

        self._tell()
        state, trouble = WAITING, ""
        try:
            reply = sending.send(self.metrics, report)
            sent = reply.confirms("accepted")
            state = SENT if sent else REFUSED if reply.refuses else WAITING
            trouble = "" if sent else f"the collector answers {reply.status}"
        except Exception as error:
            trouble = sending.trouble(error)
        now = self._clock()
        with self.state.exclusive() as rows:
            rows.tried(report.number, state, periods.text(now), trouble)
            if state == WAITING:
                rows.postpone(report.number, periods.text(now + AGAIN))

    def _tell(self) -> None:
        """Give the notice once, before the first report ever is sent; where that fails, nothing is sent."""
        if self._notice is None:
            return
        with self.state.exclusive() as rows:
            noticed = rows.fact(_NOTICED)
        if not noticed:
            from fldp.telemetry.view import text_of, view_data

            with open_files(PATIENCE):
                shown = view_data(self.metrics, self.mode, self._places, self._clock())
            self._notice(text_of(shown))
            with self.state.exclusive() as rows:
                rows.note(_NOTICED, periods.text(self._clock()))

    def start(self) -> None:
        """Work in the background from now on."""
        threading.Thread(target=self._run, name="fldp-telemetry", daemon=True).start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self.attempt(self.heed)
            self.attempt(self.end_periods)
            self._drawn.set()
            self.attempt(self.send_due)
            self._idle.set()
            self._stop.wait(_MINUTE)

    def attempt(self, action: Callable[[], object]) -> None:
        """Do something, and remember an error instead of raising it."""
        try:
            action()
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"

    def wait(self, seconds: float) -> bool:
        """Wait until the background has done its work once, for some seconds at most; return whether it has."""
        return self._idle.wait(seconds)

    def end(self) -> None:
        """Store what lies in memory, and let a report be drawn to its end; nobody waits for what is on its way."""
        latest = time.monotonic() + _FAREWELL
        self._stop.set()
        self._drawn.wait(_FAREWELL)
        self.attempt(lambda: self.save(max(0.1, latest - time.monotonic())))
