"""Metrics: counters in the text form of Prometheus. No label names a survey, a sender or a token."""

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from itertools import accumulate

BUCKETS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0)


class Metrics:
    """What happened since the start.

    >>> metrics = Metrics()
    >>> metrics.count("fldp_reports_total", 3)
    >>> metrics.render({"fldp_in_flight": 1}).splitlines()[:2]
    ['# TYPE fldp_in_flight gauge', 'fldp_in_flight 1']
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, float] = defaultdict(float)
        self._seconds: dict[str, list[float]] = {}

    def count(self, name: str, amount: float = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._counters[name] += amount

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request and how long it took."""
        name = f'fldp_requests_total{{route="{route}",method="{method}",status="{status}"}}'
        with self._lock:
            self._counters[name] += 1
            known = self._seconds.setdefault(route, [0.0] * (len(BUCKETS) + 2))
            known[bisect_left(BUCKETS, seconds)] += 1
            known[-1] += seconds

    def render(self, gauges: Mapping[str, float]) -> str:
        """Return all of it as text."""
        with self._lock:
            counters: dict[str, float] = dict(self._counters)
            for route, (*buckets, seconds) in self._seconds.items():
                counters |= _histogram(route, buckets, seconds)
        lines: list[str] = []
        for name, value in sorted(gauges.items()):
            lines += [f"# TYPE {name} gauge", f"{name} {value:g}"]
        seen: set[str] = set()
        for name, value in sorted(counters.items()):
            family = _family(name)
            if family not in seen:
                seen.add(family)
                lines.append(f"# TYPE {family} {'histogram' if family.endswith('_seconds') else 'counter'}")
            lines.append(f"{name} {value:.15g}")
        return "\n".join(lines) + "\n"


def _histogram(route: str, buckets: list[float], seconds: float) -> dict[str, float]:
    """Return the counters of one histogram: a bucket counts all requests up to its bound."""
    name, bounds = "fldp_request_seconds", [*(f"{bound:g}" for bound in BUCKETS), "+Inf"]
    lines = {f'{name}_sum{{route="{route}"}}': seconds, f'{name}_count{{route="{route}"}}': sum(buckets)}
    for bound, reached in zip(bounds, accumulate(buckets), strict=True):
        lines[f'{name}_bucket{{route="{route}",le="{bound}"}}'] = reached
    return lines


def _family(name: str) -> str:
    plain = name.partition("{")[0]
    for ending in ("_bucket", "_sum", "_count"):
        plain = plain.removesuffix(ending)
    return plain
