"""Peers run in an environment of their own, made when it is first needed, because they want an older NumPy."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("pure-ldp==1.2.0", "numpy<2", "xxhash<4", "scikit-learn", "statsmodels")

_HOME = Path(__file__).resolve().parents[2] / ".venv-peers"
_PYTHON = _HOME / "bin" / "python"
_SCRIPT = Path(__file__).with_name("time_pure_ldp.py")


class PeerError(Exception):
    """The peers cannot be installed or do not run."""


def prepare(say: Callable[[str], None]) -> None:
    """Make sure that the environment is there and complete."""
    if _PYTHON.exists() and _run(_PYTHON, _SCRIPT, "check").returncode == 0:
        return
    say("peers: making .venv-peers, about a minute")
    shutil.rmtree(_HOME, ignore_errors=True)  # what an interrupted installation left
    _must("make .venv-peers", sys.executable, "-m", "venv", _HOME)
    _must(f"install {' '.join(PACKAGES)}", _PYTHON, "-m", "pip", "install", "--quiet", *PACKAGES)
    _must("import pure-ldp", _PYTHON, _SCRIPT, "check")


def ask(task: str, **parameters: Any) -> dict[str, Any]:
    """Let the peer do a task once and return its timings."""
    done = _must(f"time {task}", _PYTHON, _SCRIPT, task, json.dumps(parameters))
    timings: dict[str, Any] = json.loads(done.splitlines()[-1])
    return timings


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    # PYTHONPATH would show the peer our packages, among them a NumPy that is too new for it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=environment)


def _must(purpose: str, *command: str | Path) -> str:
    """Return what the command prints, or say in one line why there is nothing."""
    done = _run(*command)
    if done.returncode:
        raise PeerError(f"peers: cannot {purpose}: {_reason(done.stderr)}")
    return done.stdout


def _reason(errors: str) -> str:
    """Return the last error that pip names, else the last line."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()] or ["no message"]
    return next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
