"""Installed: the programs on this machine that keep telemetry, by their files, for the person's own commands."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

from fldp.errors import FldpError, ParameterError
from fldp.support.canonical_json import Json
from fldp.telemetry import periods, sending
from fldp.telemetry.agent import DECLARED, Places
from fldp.telemetry.metrics import AppMetrics, parse_metrics
from fldp.telemetry.modes import Mode, mode_of, state_folder
from fldp.telemetry.node_programs import NodeProgram, node_programs
from fldp.telemetry.state import State, StoredReport
from fldp.telemetry.view import view_data


class StateFile(TypedDict):
    """A file, and when it was last changed."""

    path: str
    changed: str | None


class Environment(TypedDict):
    """The mode of a program and why, and the files it keeps."""

    app: str
    mode: str
    reason: str
    state: StateFile
    ledger: StateFile
    runs_in: NotRequired[str]


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

    def environment(self) -> Environment:
        """Return the mode and why, the files and when they were last changed."""
        mode, reason, _ = self.mode
        state, ledger = _file(self.places.state), _file(self.places.ledger)
        return {"app": self.app, "mode": mode, "reason": reason, "state": state, "ledger": ledger}

    def clean(self) -> None:
        """Delete aggregates and reports, never the ledger: what was given away stays given away."""
        with _plainly(Path(self.places.state)), self.state.exclusive() as rows:
            rows.clean()

    def withdraw(self, say: Callable[[str], None]) -> int:
        """Take back every report, and send none that waits; return how many could not be taken back now.

        One that waits is taken back, too: it may have arrived although nobody was told.
        """
        with self.state.exclusive() as rows:
            reports = rows.take_back()
        left = 0
        for report in reports:
            trouble = self._trouble_with(report)
            left += bool(trouble)
            say(f"{report.period} {report.metric}: {trouble or 'taken back'}")
            if not trouble:
                with self.state.exclusive() as rows:
                    rows.taken_back(report.number)
        return left

    def _trouble_with(self, report: StoredReport) -> str:
        """Ask the collector to take a report back; return what went wrong."""
        try:
            reply = sending.send(self.metrics, report, sending.WITHDRAWALS)
            return "" if reply.confirms("withdrawn") else f"the collector answers {reply.status}"
        except Exception as error:
            return sending.trouble(error)


def _file(path: str) -> StateFile:
    """Return a file, and when it was last changed."""
    there = os.path.exists(path)
    return {"path": path, "changed": periods.text(_changed(path)) if there else None}


def _changed(path: str) -> datetime:
    return datetime.fromtimestamp(os.path.getmtime(path)).astimezone()


def environments(app: str | None = None) -> tuple[list[Environment], list[FldpError]]:
    """Return mode, reason and files of every program, or of one, and what cannot be read."""
    programs, damaged = installed(app)
    listed = [*(program.environment() for program in programs), *map(_environment, in_node(app))]
    _require_any(app, [*listed, *damaged])
    return listed, damaged


def _environment(program: NodeProgram) -> Environment:
    newest = program.newest
    folder = program.folder.parent
    ledger = max(folder.glob("answers.ledger.*"), key=os.path.getmtime, default=folder / "answers.ledger.1")
    mode, reason, _ = program.mode
    state, kept = _file(str(newest)), _file(str(ledger))
    return {"app": program.app, "mode": mode, "reason": reason, "state": state, "ledger": kept, "runs_in": "Node"}


def installed(app: str | None = None) -> tuple[list[Installed], list[FldpError]]:
    """Return all programs in Python that keep telemetry on this machine, or one, and what cannot be read of them."""
    programs, damaged = list[Installed](), list[FldpError]()
    for path in _files_of(app):
        try:
            programs.append(_read(path))
        except FldpError as error:
            damaged.append(error)
    return programs, damaged


def in_node(app: str | None = None) -> list[NodeProgram]:
    """Return all programs in Node that keep telemetry on this machine, or one."""
    return [program for program in node_programs(state_folder()) if app in (None, program.app)]


def forget_aggregates(app: str | None = None) -> list[FldpError]:
    """Delete the aggregates of all programs, or of one, whatever else is in their files; return what went wrong."""
    python = [partial(_forget_aggregates_in, path) for path in _files_of(app)]
    return _troubles([*python, *(program.forget_aggregates for program in in_node(app))])


def clean(app: str | None = None) -> tuple[list[str], list[FldpError]]:
    """Delete aggregates and reports of all programs, or of one; return whose are deleted, and what went wrong."""
    programs, damaged = installed(app)
    every: list[Installed | NodeProgram] = [*programs, *in_node(app)]
    _require_any(app, [*every, *damaged])
    cleaned = list[str]()
    troubles = _troubles([partial(_clean, program, cleaned) for program in every])
    return cleaned, [*damaged, *troubles]


def _clean(program: Installed | NodeProgram, cleaned: list[str]) -> None:
    program.clean()
    cleaned.append(program.app)


def _troubles(steps: Iterable[Callable[[], None]]) -> list[FldpError]:
    """Do all steps, even where one fails; return the errors."""
    troubles = []
    for step in steps:
        try:
            step()
        except FldpError as error:
            troubles.append(error)
    return troubles


def _files_of(app: str | None) -> list[Path]:
    return [path for path in sorted(Path(state_folder()).glob("*.db")) if app in (None, path.stem)]


def _forget_aggregates_in(path: Path) -> None:
    with _plainly(path), State(str(path)).exclusive() as rows:
        rows.forget_aggregates()


def one_installed(app: str | None) -> Installed:
    """Return the program in Python of that name, or the only one that there is."""
    programs, damaged = installed(app)
    if len(programs) == 1:
        return programs[0]
    if damaged:
        raise damaged[0]
    if programs:
        raise ParameterError(f"telemetry: say which program, by --app: {', '.join(each.app for each in programs)}")
    names = [program.app for program in in_node(app)]
    if names:
        does = "shows and takes back its reports itself, by telemetry.view() and telemetry.withdraw()"
        raise ParameterError(f"telemetry: {', '.join(names)} runs in Node: it {does}")
    raise _none(app)


def _require_any(app: str | None, anything: Sequence[object]) -> None:
    """Refuse the name of a program that keeps nothing; it is no mistake if none keeps anything."""
    if app is not None and not anything:
        raise _none(app)


def _none(app: str | None) -> ParameterError:
    who = "no program keeps telemetry" if app is None else f"{app!r:.80} keeps nothing"
    return ParameterError(f"telemetry: {who} on this machine, in {state_folder()}")


def _read(path: Path) -> Installed:
    with _plainly(path):
        with State(str(path)).exclusive() as rows:
            declared = rows.fact(DECLARED)
        return Installed(parse_metrics(declared), Places.of(path.stem))


@contextmanager
def _plainly(path: Path) -> Iterator[None]:
    """Say in one line why a file cannot be used, and what to do."""
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        raise FldpError(f"{path}: cannot be used now: {error}; try again") from None
    except (sqlite3.Error, ValueError, LookupError) as error:
        raise FldpError(f"{path}: cannot be read as telemetry: {error}; delete it if you do not need it") from None
