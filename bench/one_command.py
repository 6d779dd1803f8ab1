"""One command: what a person waits for, from the line to the answer.

    python bench/one_command.py [--json FILE] [--document]

Every figure is the processor time of a fresh process, the best of several by turns with ``import numpy``.
It exits with 1 if a target is missed.
"""

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from answers import Answer, documented, duration, slowdown, table
from command import Result, run, say
from timing import Clock, by_turns

ROUNDS = 7
METHOD = f"processor time of a fresh process, best of {ROUNDS} by turns"
SHELL = "import sys; from fldp.cli import main; sys.argv[0] = 'fldp'; main()"


def process_clock(line: list[str], folder: str = ".") -> Clock:
    """Return a clock of the processor time that a fresh process takes."""

    def read() -> float:
        before = _used()
        subprocess.run([sys.executable, "-I", "-c", *line], cwd=folder, check=True, capture_output=True)
        return _used() - before

    read()  # writes the bytecode, as an installation would
    return read


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shell(*words: str) -> list[str]:
    return [SHELL, *words]


def beside_numpy(name: str, line: list[str], at_most: float) -> Answer:
    times = by_turns(ROUNDS, process_clock(line), process_clock(["import numpy"]))
    return slowdown(name, times, at_most=at_most, against="import numpy", method=METHOD)


PREPARATION = (
    ["sample", "-o", "people.csv"],
    ["survey", "init", "people.csv", "--name", "commute", "-o", "survey.toml"],
)
PIPELINE = (
    ["privatize", "people.csv", "--survey", "survey.toml", "-o", "reports.fldp"],
    ["tally", "reports.fldp", "-o", "tally.fldp"],
    ["estimate", "tally.fldp", "--survey", "survey.toml"],
)


def pipeline() -> Answer:
    """Privatize, tally and estimate the 20,000 people that ``fldp sample`` makes up: the best of each, added up."""
    with TemporaryDirectory() as folder:
        for words in PREPARATION:
            process_clock(shell(*words), folder=folder)
        clocks = [process_clock(shell(*words), folder=folder) for words in PIPELINE]
        pairs = [by_turns(ROUNDS, each, process_clock(["import numpy"])) for each in clocks]
    times = sum(ours for ours, _ in pairs), min(numpy for _, numpy in pairs)
    about = {"against": "import numpy", "method": METHOD}
    return duration("fldp privatize, tally, estimate: 20,000 people, 5 values", times, below=1.5, **about)


RECORDING = """
from fldp import telemetry
telemetry.setup(METRICS)
telemetry.record("format", "json")
"""


def telemetry() -> Answer:
    """What a program pays for its telemetry: from the import to the end, with what was recorded stored."""
    metrics = str(Path(__file__).parents[1] / "examples" / "wordy" / "metrics.toml")
    with TemporaryDirectory() as folder:
        places = f"XDG_STATE_HOME={folder!r}, XDG_CONFIG_HOME={folder!r}"
        state = f"import os; os.environ.update({places}, FLDP_TELEMETRY='local')"
        ours = process_clock([f"{state}\n{RECORDING.replace('METRICS', repr(metrics))}"])
        times = by_turns(ROUNDS, ours, process_clock(["import sqlite3, tomllib"]))
    name = "fldp.telemetry: import, setup, record, end"
    return slowdown(name, times, at_most=1.5, against="import sqlite3, tomllib", method=METHOD)


def measure() -> Result:
    answers = []
    for name, line, at_most in (
        ("import fldp", ["import fldp"], 1.0),
        ("fldp --version", shell("--version"), 2.0),
        ("fldp --help", shell("--help"), 2.0),
        ("fldp privatize --help", shell("privatize", "--help"), 10.0),
    ):
        say(name)
        answers.append(beside_numpy(name, line, at_most))
    say("telemetry")
    answers.append(telemetry())
    say("pipeline")
    answers.append(pipeline())
    missed = any(answer.verdict == "MISS" for answer in answers)
    shown, record = [table("fldp, one command", answers)], {"answers": [answer.record() for answer in answers]}
    return Result(shown, record, missed, [("benchmarks.md", "one command", [documented(answers)])])


if __name__ == "__main__":
    sys.exit(run("Measure what a command costs before and while it works.", (), measure))
