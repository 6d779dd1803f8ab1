"""Modes: whether a program collects and sends, who decided that, and where its files are.

Strongest first: ``FLDP_TELEMETRY``; ``DO_NOT_TRACK`` and the marks of continuous integration, which mean off; the
person's choice for this program, then for all; the program's default.
"""

import os
from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

from fldp.telemetry.metrics import MODES, is_app

VARIABLE, DO_NOT_TRACK = "FLDP_TELEMETRY", "DO_NOT_TRACK"
CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION")
_NOT_SET = ("", "0", "false")
Tables = dict[str | None, dict[str, str]]  # what a person chose for each program, and under None for all


class Mode(NamedTuple):
    """A mode, why it is that one, and the UTC day from which the person wants reports to be sent."""

    mode: str
    reason: str
    since: str = ""


def mode_of(app: str, default: str, variables: Mapping[str, str] | None = None) -> Mode:
    """Return the mode of a program.

    >>> mode_of("paint", "local", {"CI": "true"})
    Mode(mode='off', reason='CI is set: nobody is at this machine', since='')
    """
    variables = os.environ if variables is None else variables
    return (
        by_variables(variables) or _by_choice(app, choices(variables)) or Mode(default, f"the default of {app}")
        if default in MODES
        else Mode("off", f"the default of {app} is no mode; fldp telemetry lint says more")
    )


def by_variables(variables: Mapping[str, str]) -> Mode | None:
    """Return the mode that the environment decides on, if it does."""
    mode = variables.get(VARIABLE, "")
    if mode:
        if mode in MODES:
            return Mode(mode, f"{VARIABLE} is {mode}")
        return Mode("off", f"{VARIABLE} is set, but not to one of {', '.join(MODES)}")
    if variables.get(DO_NOT_TRACK, "") not in ("", "0"):
        return Mode("off", f"{DO_NOT_TRACK} is set")
    for name in CI:
        if variables.get(name, "").lower() not in _NOT_SET:
            return Mode("off", f"{name} is set: nobody is at this machine")
    return None


def _by_choice(app: str, chosen: Mapping[str, Any]) -> Mode | None:
    apps = chosen.get("app", {})
    for table, where in ((apps.get(app, {}), app), (chosen, "all programs")):
        mode, since = table.get("mode"), str(table.get("since", ""))
        if mode is not None:
            if mode in MODES and _is_day(since):
                return Mode(mode, f"chosen for {where} by fldp telemetry {mode}", since)
            wrong = "an impossible day" if mode in MODES else "an unknown mode"
            return Mode("off", f"telemetry.toml names {wrong}; fldp telemetry on, local or off mends it")
    return None


def _is_day(since: str) -> bool:
    """Whether this is a day with one before it, or none: without one, all periods count."""
    try:
        return not since or since == str(date.fromisoformat(since)) > str(date.min)
    except ValueError:
        return False


def choices(variables: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what the person chose; a file that cannot be read means off."""
    try:
        with open(choices_path(variables), "rb") as file:
            import tomllib

            chosen = tomllib.load(file)
        apps = chosen.get("app", {})
        if isinstance(apps, dict) and all(isinstance(table, dict) for table in apps.values()):
            return chosen
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        pass
    return {"mode": "unreadable"}


def choose(mode: str, app: str | None, day: str, variables: Mapping[str, str] | None = None) -> str:
    """Store the person's choice for one program, or for all, which replaces those for single ones; return the file."""
    from pathlib import Path

    from fldp.support.atomic_files import whole_file

    variables = os.environ if variables is None else variables
    kept = _tables(choices(variables))
    before = kept.get(app, {})
    since = before.get("since", day) if before.get("mode") == mode else day  # said again, it counts from the first time
    kept = {**(kept if app is not None else {}), app: {"mode": mode, "since": since}}
    path = Path(choices_path(variables))
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as hidden:
        hidden.write_text(_toml(kept))
    return str(path)


def _tables(chosen: Mapping[str, Any]) -> Tables:
    """Return the choices for all programs and for single ones; what no program can have written means off."""
    named = {name: table for name, table in chosen.get("app", {}).items() if is_app(name)}
    return {name: _table(table) for name, table in {None: chosen, **named}.items() if "mode" in table}


def _table(table: Mapping[str, Any]) -> dict[str, str]:
    mode, since = table["mode"], str(table.get("since", ""))
    if mode not in MODES or not _is_day(since):
        return {"mode": "off"}
    return {"mode": mode, "since": since} if since else {"mode": mode}


def _toml(tables: Tables) -> str:
    parts = []
    for name in sorted(tables, key=lambda name: name is not None):  # all programs first
        head = [] if name is None else ["", f'[app."{name}"]']
        parts += [*head, *(f'{key} = "{value}"' for key, value in tables[name].items())]
    return "\n".join(parts) + "\n"


def choices_path(variables: Mapping[str, str]) -> str:
    """Return where the person's choice is kept."""
    return os.path.join(_folder(variables, "XDG_CONFIG_HOME", ".config"), "fldp", "telemetry.toml")


def state_folder(variables: Mapping[str, str] | None = None) -> str:
    """Return the folder of all that telemetry stores on this machine."""
    variables = os.environ if variables is None else variables
    return os.path.join(_folder(variables, "XDG_STATE_HOME", ".local/state"), "fldp", "telemetry")


def _folder(variables: Mapping[str, str], name: str, otherwise: str) -> str:
    chosen = variables.get(name, "")
    return chosen if os.path.isabs(chosen) else os.path.join(os.path.expanduser("~"), otherwise)
