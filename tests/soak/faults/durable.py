"""Durable: what had been written and synced when an answer was given. A kill cannot show this, a power cut would."""

import re
import shutil
from dataclasses import dataclass

from soak.faults.content import Content, surveys
from soak.faults.process import Watched

_CALL = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<rest>.*)")
_RESUMED = re.compile(r"(?P<pid>\d+) +<\.\.\. (?P<name>\w+) resumed>.*= (?P<value>-?\d+)")
_LOG = ("-wal>", "/pg_wal/")


def available():
    return shutil.which("strace") is not None


@dataclass
class Synced:
    """Answers, and how many of them came after their data was written to the log and the log synced."""

    answers: int = 0
    durable: int = 0
    syncs: int = 0


def watch(folder, requests, seed=1, **options):
    """Send requests one after the other to a collector under strace; return what it did before each answer."""
    trace = folder / "trace"
    server = Watched(folder, traced=trace, fold_seconds=3600, **options)
    survey = surveys(seed)[0]
    try:
        server.publish(survey.canonical)
        content = Content([survey], seed)
        with server.client() as client:
            for index in range(requests):
                server.send(survey, content[index].body, content[index].key, client).raise_for_status()
    finally:
        server.stop()
    lines = trace.read_text(errors="replace").splitlines()
    return read(lines[_first_report(lines) :])


def _first_report(lines):
    """Return where the answer to the publication is: what comes after it are reports."""
    return next(number for number, line in enumerate(lines) if "HTTP/1.1 201" in line) + 1


def read(lines):
    """Go through system calls in their order."""
    synced, written, dirty, begun = Synced(), False, False, {}
    for line in lines:
        if _is_write(line):
            written = dirty = True
        elif _is_synced(line, begun):
            dirty = False
            synced.syncs += 1
        elif '"HTTP/1.1 200' in line:
            synced.answers += 1
            synced.durable += written and not dirty
            written = False
    return synced


def _is_write(line):
    call = _CALL.match(line)
    return bool(call) and call["name"] == "pwrite64" and _of_log(call["rest"])


def _of_log(text):
    return any(part in text.partition(",")[0] for part in _LOG)


def _is_synced(line, begun):
    """Tell whether a sync of the log has just ended well; one that another thread interrupts takes two lines."""
    if call := _CALL.match(line):
        if call["name"] not in ("fdatasync", "fsync") or not _of_log(call["rest"]):
            return False
        if "<unfinished" in line:
            begun[call["pid"]] = True
            return False
        return line.rstrip().endswith("= 0")
    again = _RESUMED.match(line)
    return bool(again) and begun.pop(again["pid"], False) and again["value"] == "0"
