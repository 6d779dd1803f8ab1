"""Metrics in the text form of Prometheus. No label names a survey, a sender or a token."""

import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, groupby

BUCKETS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)
Series = tuple[str, dict[str, str], float]  # the name, its labels, the value

GAUGE, COUNTER, HISTOGRAM = "gauge", "counter", "histogram"


@dataclass(frozen=True)
class Family:
    """A metric: its kind, and what it says, in one line."""

    kind: str
    about: str


FAMILIES = {
    "fldp_build_info": Family(GAUGE, "Always 1; the labels say which versions of fldp and Python run."),
    "fldp_in_flight": Family(GAUGE, "Requests being worked on."),
    "fldp_open_requests": Family(GAUGE, "Requests that have begun and not ended."),
    "fldp_answers_pending": Family(GAUGE, "Estimates and similar requests that are running or waiting for a thread."),
    "fldp_slow_clients": Family(GAUGE, "Clients that take more than a second to send or to read."),
    "fldp_waiting": Family(GAUGE, "Requests that wait for a commit."),
    "fldp_buffered_bytes": Family(GAUGE, "Bytes of bodies that are being read or checked."),
    "fldp_pending_reports": Family(GAUGE, "Reports that are stored and not yet folded into a tally."),
    "fldp_store_bytes": Family(GAUGE, "Bytes that the database takes."),
    "fldp_folded_reports": Family(GAUGE, "The same as fldp_reports_folded_total, under its former name."),
    "fldp_fold_failures": Family(GAUGE, "The same as fldp_folding_failures_total, under its former name."),
    "fldp_lake_failures": Family(GAUGE, "The same as fldp_lake_write_failures_total, under its former name."),
    "fldp_reports_folded_total": Family(COUNTER, "Reports that were folded into tallies."),
    "fldp_folding_failures_total": Family(COUNTER, "Rounds of folding that failed."),
    "fldp_lake_write_failures_total": Family(COUNTER, "Rounds of writing the lake that failed."),
    "fldp_commits_total": Family(COUNTER, "Commits of reports to the database."),
    "fldp_submissions_total": Family(COUNTER, "Requests with reports that were committed."),
    "fldp_reports_total": Family(COUNTER, "Reports that were counted."),
    "fldp_withdrawals_total": Family(COUNTER, "Requests that took reports back and were committed."),
    "fldp_answers_total": Family(COUNTER, "Estimates and similar requests that were answered."),
    "fldp_answers_abandoned_total": Family(COUNTER, "Estimates and similar requests whose client hung up."),
    "fldp_requests_total": Family(COUNTER, "Requests by route, method and status."),
    "fldp_request_seconds": Family(HISTOGRAM, "Seconds from the beginning of a request to the end of its answer."),
    "process_resident_memory_bytes": Family(GAUGE, "Resident memory in bytes."),
    "process_cpu_seconds_total": Family(COUNTER, "User and system CPU time spent, in seconds."),
    "process_open_fds": Family(GAUGE, "Number of open file descriptors."),
    "process_max_fds": Family(GAUGE, "Maximum number of open file descriptors."),
    "process_start_time_seconds": Family(GAUGE, "Start time of the process since the Unix epoch, in seconds."),
}
ALWAYS = (
    "commits",
    "submissions",
    "reports",
    "withdrawals",
    "answers",
    "answers_abandoned",
)  # counters that begin with 0


class Metrics:
    """What happened since the start.

    >>> metrics = Metrics()
    >>> metrics.count("fldp_reports_total", 3)
    >>> for line in metrics.render([("fldp_in_flight", {}, 1)]).splitlines()[:3]:
    ...     print(line)
    # HELP fldp_in_flight Requests being worked on.
    # TYPE fldp_in_flight gauge
    fldp_in_flight 1
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters = {f"fldp_{name}_total": 0.0 for name in ALWAYS}
        self._requests: dict[tuple[str, str, int], int] = {}
        self._seconds: dict[str, list[float]] = {}

    def count(self, name: str, amount: float = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._counters[name] += amount

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request and how long it took."""
        with self._lock:
            kind = route, method, status
            self._requests[kind] = self._requests.get(kind, 0) + 1
            known = self._seconds.get(route) or self._seconds.setdefault(route, [0.0] * (len(BUCKETS) + 2))
            known[bisect_left(BUCKETS, seconds)] += 1
            known[-1] += seconds

    def render(self, present: list[Series]) -> str:
        """Return all of it as text, with what is known only now: each family in one piece, in a fixed order."""
        with self._lock:
            series = [*present, *self._counted()]
        order = {name: place for place, name in enumerate(FAMILIES)}
        series.sort(key=lambda each: order[_family(each[0])])  # which keeps the order within a family
        lines: list[str] = []
        for name, members in groupby(series, lambda each: _family(each[0])):
            lines += [f"# HELP {name} {FAMILIES[name].about}", f"# TYPE {name} {FAMILIES[name].kind}"]
            lines += [f"{each}{_labels(labels)} {value:.15g}" for each, labels, value in members]
        return "\n".join(lines) + "\n"

    def close(self) -> None:
        """Let go of whatever these are given to; by default nobody."""

    def _counted(self) -> Iterator[Series]:
        for name, value in self._counters.items():
            yield name, {}, value
        for (route, method, status), times in sorted(self._requests.items()):
            yield "fldp_requests_total", {"route": route, "method": method, "status": str(status)}, times
        for route, (*buckets, seconds) in sorted(self._seconds.items()):
            yield from _histogram(route, buckets, seconds)


def _histogram(route: str, buckets: list[float], seconds: float) -> Iterator[Series]:
    """Give the series of one histogram: a bucket counts all requests up to its bound, and the bounds rise."""
    name, bounds = "fldp_request_seconds", [*(f"{bound:g}" for bound in BUCKETS), "+Inf"]
    for bound, reached in zip(bounds, accumulate(buckets), strict=True):
        yield f"{name}_bucket", {"route": route, "le": bound}, reached
    yield f"{name}_sum", {"route": route}, seconds
    yield f"{name}_count", {"route": route}, sum(buckets)


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _family(name: str) -> str:
    if name in FAMILIES:
        return name
    return next(plain for ending in ("_bucket", "_sum", "_count") if (plain := name.removesuffix(ending)) in FAMILIES)
