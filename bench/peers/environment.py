"""Peers: each in an environment of its own, made when it is first needed, and asked through a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]


class PeerError(Exception):
    """A peer cannot be installed or does not run."""


class Peer:
    """A package of others, where it is installed, and the script that runs it."""

    def __init__(self, package: str, *needs: str) -> None:
        self.name, self.packages = package.partition("==")[0], (package, *needs)
        self.home = _ROOT / ".venv-peers" / self.name
        self.python = self.home / "bin" / "python"
        self.script = Path(__file__).with_name(f"run_{self.name.replace('-', '_')}.py")
        self._process: subprocess.Popen[str] | None = None

    def prepare(self, say: Callable[[str], None]) -> None:
        """Make sure that the environment is there and complete."""
        if self.python.exists() and _run(self.python, self.script, "check").returncode == 0:
            return
        where = self.home.relative_to(_ROOT)
        say(f"peers: making {where}, about a minute")
        shutil.rmtree(self.home, ignore_errors=True)  # what an interrupted installation left
        _must(f"make {where}", sys.executable, "-m", "venv", self.home)
        _must(f"install {' '.join(self.packages)}", self.python, "-m", "pip", "install", "--quiet", *self.packages)
        _must(f"import {self.name}", self.python, self.script, "check")

    def ask(self, task: str, **parameters: Any) -> Any:
        """Let the peer do a task and return its answer; the process stays, so what it compiled is compiled once."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            print(json.dumps([task, parameters]), file=process.stdin, flush=True)
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise PeerError(f"peers: {self.name} cannot {task}: {_reason(self._ended())}")
        return json.loads(answer)

    def _started(self) -> "subprocess.Popen[str]":
        if self._process is None:
            self._errors = TemporaryFile("w+")  # noqa: SIM115  # closed with the process; a pipe could fill up
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
            command = [str(self.python), str(self.script)]
            self._process = subprocess.Popen(command, text=True, env=_surroundings(), **pipes)
        return self._process

    def _ended(self) -> str:
        """End the process, if there is one, and return what it complained about."""
        if self._process is None:
            return ""
        self._process.communicate()  # closes its input, which ends it
        self._process = None
        with self._errors:
            self._errors.seek(0)
            return self._errors.read()

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self._ended()


PURE_LDP = Peer("pure-ldp==1.2.0", "numpy<2", "xxhash<4", "scikit-learn", "statsmodels")
OPENDP = Peer("opendp==0.12.1")
MULTI_FREQ_LDPY = Peer("multi-freq-ldpy==0.2.5", "xxhash<4", "scipy")


@contextmanager
def ready(peers: Sequence[Peer], say: Callable[[str], None]) -> Iterator[None]:
    """Have peers installed and able to answer, and end their processes afterwards."""
    with ExitStack() as stack:
        for peer in peers:
            peer.prepare(say)
            stack.enter_context(peer)
        yield


def _surroundings() -> dict[str, str]:
    """Return the environment without PYTHONPATH, which would show a peer our packages: too new a NumPy, say."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _run(*command: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=_surroundings())


def _must(purpose: str, *command: str | Path) -> None:
    """Run a command, or say in one line why it failed."""
    done = _run(*command)
    if done.returncode:
        raise PeerError(f"peers: cannot {purpose}: {_reason(done.stderr)}")


def _reason(errors: str) -> str:
    """Return the last error that pip names, else the last line."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()] or ["no message"]
    return next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
