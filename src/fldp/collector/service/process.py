"""Metrics of this process, under the names that Prometheus prescribes."""

import os
import platform
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import fldp
from fldp.collector.service.metrics import Series

_PROC = Path("/proc")


def _started() -> float:
    """The time at which the process began, if the system tells it, else the time of the import."""
    try:
        ticks = int(_fields()[19])
        booted = next(line for line in (_PROC / "stat").read_text().splitlines() if line.startswith("btime"))
        return int(booted.split()[1]) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, StopIteration, IndexError):
        return time.time()


def _fields() -> list[str]:
    """The fields of /proc/self/stat after the name of the program, which may hold blanks and brackets."""
    return (_PROC / "self" / "stat").read_text().rpartition(")")[2].split()


_START = _started()


def series() -> Iterator[Series]:
    """Yield the version and the resources of the process; memory and files only where the system has /proc."""
    yield "fldp_build_info", {"version": fldp.__version__, "python": platform.python_version()}, 1
    used = resource.getrusage(resource.RUSAGE_SELF)
    yield "process_cpu_seconds_total", {}, used.ru_utime + used.ru_stime
    yield "process_start_time_seconds", {}, _START
    yield "process_max_fds", {}, resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if _PROC.is_dir():
        yield "process_resident_memory_bytes", {}, int(_fields()[21]) * resource.getpagesize()
        yield "process_open_fds", {}, len(os.listdir("/proc/self/fd"))
