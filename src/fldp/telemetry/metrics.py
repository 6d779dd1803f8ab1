"""Metrics: what a program declares in its ``metrics.toml``, read at its start.

Nothing is checked here, since a program must start quickly and never fail for its telemetry; ``fldp.telemetry.rules``
checks the file when it is written. What cannot be read at all is an error that ``setup`` turns into mode ``off``.
"""

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

if TYPE_CHECKING:
    from fldp.support.canonical_json import Json

FORMAT, FILE = "fldp-metrics-1", "metrics.toml"
UNSET, OTHER, YES, NO = "unset", "other", "yes", "no"
KINDS = {  # how the values of a period become one: the first is the default
    "flag": ("any", "last"),
    "choice": ("last", "most"),
    "version": ("last",),
    "number": ("last", "max", "sum", "median"),
    "duration": ("median", "last", "max", "sum"),
}
NUMBERS = ("number", "duration")
_APP = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
PERIODS = ("month", "week")
MODES = ("on", "local", "off")
DURATION_EDGES = tuple(100.0 * 2**step for step in range(8))  # milliseconds


class AppMetric(NamedTuple):
    """A metric: its kind, the values that it may report, and how the values of a period become one.

    ``edges`` part the numbers into bins; ``values`` are the declared ones of the other kinds.
    """

    name: str
    kind: str
    take: str
    values: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    weight: int = 1
    why: str = ""
    owner: str = ""
    expires: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """What a report may say: the values or bins, and ``unset`` for a period without any.

        >>> metric_of("theme", {"kind": "choice", "values": ["light", "dark"]}).labels
        ('light', 'dark', 'unset')
        >>> metric_of("files", {"kind": "number", "edges": [1, 10]}).labels
        ('below 1', '1 to 10', '10 or more', 'unset')
        """
        return (*self.values, UNSET) if self.kind not in NUMBERS else (*_bins(self.edges, self._unit), UNSET)

    @property
    def _unit(self) -> str:
        return " ms" if self.kind == "duration" else ""

    @property
    def lasts(self) -> bool:
        """Whether it is an attribute that mostly stays: its reports are drawn from what is kept."""
        return self.kind not in NUMBERS

    def label(self, value: object) -> str | None:
        """Return the label of a recorded value, or None if it has none.

        >>> version = metric_of("version", {"kind": "version", "values": ["1.4", "2"]})
        >>> version.label("2.0.1"), version.label("1.40"), version.label("1.4")
        ('2', 'other', '1.4')
        """
        if self.kind == "flag":
            return (YES if value else NO) if _is_flag(value) else None
        if self.kind in NUMBERS:
            return None if not _is_number(value) else self.bin(value)
        text = value if isinstance(value, str) else ""
        if self.kind == "version":
            text = max((known for known in self.values if f"{text}.".startswith(f"{known}.")), key=len, default=OTHER)
        if text in self.values:
            return text
        return OTHER if OTHER in self.values else None

    def bin(self, number: float) -> str:
        """Return the bin of a number: from one edge on, below the next."""
        return self.labels[bisect_right(self.edges, number)]

    def expired(self, day: str) -> bool:
        """Whether it is reported no more on a UTC day."""
        return bool(self.expires) and day > self.expires


class AppMetrics(NamedTuple):
    """All metrics of a program, and where their reports go."""

    app: str
    collector: str
    relay: str
    period: str
    epsilon: float
    default: str
    metrics: Mapping[str, AppMetric]
    versions: Mapping[str, str] = {}  # pinned by an export; without one they follow from the rest
    source: str = ""  # what it was read from: TOML, or JSON
    origins: tuple[str, ...] = ()  # of web pages that send directly

    def active(self, day: str) -> list[AppMetric]:
        """Return the metrics that are not expired."""
        return [metric for metric in self.metrics.values() if not metric.expired(day)]


def is_app(name: str) -> bool:
    """Whether a program may have this name."""
    return bool(name) and not set(name) - _APP


def metrics_of(fields: Mapping[str, Any], source: str = "") -> AppMetrics:
    """Return the metrics of a table of keys, as TOML or JSON has them."""
    tables, app = fields.get("metric", {}), str(fields["app"])
    if not is_app(app):
        raise ValueError("app must consist of a-z, 0-9, - and _, since it names files")
    return AppMetrics(
        app,
        str(fields["collector"]),
        str(fields.get("relay", "")),
        str(fields.get("period", PERIODS[0])),
        float(fields["epsilon"]),
        str(fields.get("default", "local")),
        {name: metric_of(name, table) for name, table in tables.items()},
        dict(fields.get("versions", {})),
        source or json_text(fields),
        tuple(map(str, fields.get("origins", ()))),
    )


def json_text(fields: Mapping[str, object]) -> str:
    """Return a table of keys as JSON; days are texts in it."""
    import json

    return json.dumps(fields, default=str)


def metric_of(name: str, table: Mapping[str, Any]) -> AppMetric:
    """Return one metric of its table."""
    kind = table["kind"]
    values = tuple(map(str, table.get("values", ())))
    if kind == "flag":
        values = (NO, YES)
    if kind == "version" and OTHER not in values:
        values = (*values, OTHER)
    edges = tuple(map(float, table.get("edges", DURATION_EDGES if kind == "duration" else ())))
    about = [str(table.get(key, "")) for key in ("why", "owner", "expires")]
    return AppMetric(name, kind, table.get("take", KINDS[kind][0]), values, edges, int(table.get("weight", 1)), *about)


def fields_of(metrics: AppMetrics) -> "dict[str, Json]":
    """Return metrics as the JSON that ``metrics_of`` reads, with all defaults."""
    fields = {key: getattr(metrics, key) for key in ("app", "collector", "relay", "period", "epsilon", "default")}
    tables = {name: _table(metric) for name, metric in metrics.metrics.items()}
    origins = {"origins": list(metrics.origins)} if metrics.origins else {}
    stated = {key: value for key, value in fields.items() if value != ""}
    return {"format": FORMAT, **stated, **origins, "metric": tables}


def _table(metric: AppMetric) -> dict[str, Any]:
    shown: dict[str, Any] = {"kind": metric.kind, "take": metric.take, "weight": metric.weight}
    shown |= {"values": list(metric.values)} if metric.kind in ("choice", "version") else {}
    shown |= {"edges": list(metric.edges)} if metric.edges else {}
    return shown | {"why": metric.why, "owner": metric.owner, "expires": metric.expires}


def read_metrics(path: str) -> AppMetrics:
    """Read a ``metrics.toml``, or the JSON that ``fldp telemetry export`` writes of it."""
    with open(path, encoding="utf-8") as file:
        return parse_metrics(file.read())


def parse_metrics(text: str) -> AppMetrics:
    """Read metrics of the text of a file, TOML or JSON."""
    if text.lstrip().startswith("{"):
        import json

        return metrics_of(json.loads(text), text)
    import tomllib

    return metrics_of(tomllib.loads(text), text)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not _is_flag(value) and value == value


def _is_flag(value: object) -> bool:
    return value is True or value is False


def _bins(edges: tuple[float, ...], unit: str) -> tuple[str, ...]:
    texts = [f"{edge:,.15g}" for edge in edges]
    between = [f"{low} to {high}{unit}" for low, high in pairwise(texts)]
    return (f"below {texts[0]}{unit}", *between, f"{texts[-1]}{unit} or more") if texts else ("any",)
