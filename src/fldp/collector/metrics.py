"""Metrics: counters in the text form of Prometheus. No label names a survey, a sender or a token."""

import threading
from collections import Counter
from collections.abc import Mapping

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
        self._counters: Counter[str] = Counter()

    def count(self, name: str, amount: float = 1, **labels: object) -> None:
        """Add to a counter."""
        with self._lock:
            self._counters[name + _labels(labels)] += amount  # type: ignore[assignment]

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request and how long it took."""
        self.count("fldp_requests_total", route=route, method=method, status=status)
        self.count("fldp_request_seconds_sum", seconds, route=route)
        self.count("fldp_request_seconds_count", route=route)
        for bound in (*BUCKETS, float("inf")):
            self.count("fldp_request_seconds_bucket", seconds <= bound, route=route, le=_bound(bound))

    def render(self, gauges: Mapping[str, float]) -> str:
        """Return all of it as text."""
        with self._lock:
            counters = dict(self._counters)
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


def _bound(bound: float) -> str:
    return "+Inf" if bound == float("inf") else f"{bound:g}"


def _labels(labels: Mapping[str, object]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}" if labels else ""


def _family(name: str) -> str:
    plain = name.partition("{")[0]
    for ending in ("_bucket", "_sum", "_count"):
        plain = plain.removesuffix(ending)
    return plain
