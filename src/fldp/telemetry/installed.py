"""Installed: the programs on this machine that keep telemetry, by their files, for the person's own commands."""

import os
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from fldp.errors import FldpError, ParameterError
from fldp.support.canonical_json import Json
from fldp.telemetry import periods, sending
from fldp.telemetry.agent import DECLARED, Places
from fldp.telemetry.metrics import AppMetrics, parse_metrics
from fldp.telemetry.modes import Mode, mode_of, state_folder
from fldp.telemetry.state import State, StoredReport
from fldp.telemetry.view import view_data


class Installed(NamedTuple):
    """A program that keeps telemetry on this machine: its metrics as it declared them last."""

    metrics: AppMetrics
    places: Places

    @property
    def app(self) -> str:
        """The program's name."""
        return self.metrics.app

    @property
    def state(self) -> State:
        """Its file."""
        return State(self.places.state)

    @property
    def mode(self) -> Mode:
        """Its mode now, in this environment."""
        return mode_of(self.app, self.metrics.default)

    def view(self, now: datetime | None = None) -> dict[str, Json]:
        """Return everything that the person may want to see, as data."""
        return view_data(self.metrics, self.mode, self.places, now or periods.system())

    def environment(self) -> dict[str, Any]:
        """Return the mode and why, the files and when they were last changed."""
        return {"app": self.app, "mode": self.mode.mode, "reason": self.mode.reason, **_files(self.places)}

    def clean(self) -> None:
        """Delete aggregates and reports, never the ledger: what was given away stays given away."""
        with self.state.exclusive() as rows:
            rows.clean()

    def forget_aggregates(self) -> None:
        """Delete aggregates alone."""
        with self.state.exclusive() as rows:
            rows.forget_aggregates()

    def withdraw(self, say: Callable[[str], None]) -> int:
        """Take back every report, and send none that waits; return how many could not be taken back now.

        One that waits is taken back, too: it may have arrived although nobody was told.
        """
        with self.state.exclusive() as rows:
            reports = rows.take_back()
        left = 0
        for report in reports:
            said = self._trouble_with(report)
            left += bool(said)
            say(f"{report.period} {report.metric}: {said or 'taken back'}")
            if not said:
                with self.state.exclusive() as rows:
                    rows.taken_back(report.number)
        return left

    def _trouble_with(self, report: StoredReport) -> str:
        """Ask the collector to take a report back; return what went wrong."""
        try:
            reply = sending.send(self.metrics, report, sending.WITHDRAWALS)
            return "" if reply.confirms("withdrawn") else f"the collector answers {reply.status}"
        except (OSError, ValueError) as error:
            return f"not reached: {type(error).__name__}"
        except Exception as error:  # what encrypts for a relay is missing, or refuses what the relay brought
            return f"not sent: {type(error).__name__}"


def _files(places: Places) -> dict[str, Any]:
    def changed(path: str) -> str | None:
        return (
            periods.text(datetime.fromtimestamp(os.path.getmtime(path)).astimezone()) if os.path.exists(path) else None
        )

    return {name: {"path": path, "changed": changed(path)} for name, path in places._asdict().items()}


def installed(app: str | None = None) -> list[Installed]:
    """Return all programs that keep telemetry on this machine, or one; a file that is damaged is an error."""
    folder = Path(state_folder())
    programs = [_read(path) for path in sorted(folder.glob("*.db")) if app in (None, path.stem)]
    if app is not None and not programs:
        raise ParameterError(f"telemetry: {app!r:.80} keeps nothing on this machine, in {folder}")
    return programs


def one_installed(app: str | None) -> Installed:
    """Return the program of that name, or the only one that there is."""
    programs = installed(app)
    if len(programs) != 1:
        names = ", ".join(each.app for each in programs) or "none keeps telemetry on this machine"
        raise ParameterError(f"telemetry: say which program, by --app: {names}")
    return programs[0]


def _read(path: Path) -> Installed:
    try:
        with State(str(path)).exclusive() as rows:
            declared = rows.fact(DECLARED)
        return Installed(parse_metrics(declared), Places.of(path.stem))
    except (sqlite3.Error, ValueError, LookupError) as error:
        raise FldpError(f"{path}: cannot be read as telemetry: {error}") from None
