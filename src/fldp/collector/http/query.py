"""Queries: the parameters of an address, every one of them checked, and none ignored."""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from fldp.collector.config.clock import parse_day
from fldp.collector.service.problems import bad_parameter
from fldp.collector.storage.protocol import Days
from fldp.collector.storage.window import ALL
from fldp.data.projections import METHODS
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import StringOracle

FORMATS = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
MAX_ROWS = 2**31
_LEVELS = (0.01, 0.999999)


def parameters(request: Request, *known: str) -> dict[str, str]:
    """Return the parameters of a request; unknown ones and repeated ones are refused."""
    found: dict[str, str] = {}
    if not request.scope["query_string"]:
        return found
    for name, value in request.query_params.multi_items():
        if name not in known:
            raise bad_parameter(f"there is no such parameter; the parameters are: {', '.join(known) or 'none'}")
        if name in found:
            raise bad_parameter(f"{name} must be given once")
        found[name] = value
    return found


def methods_of(oracle: Oracle) -> tuple[str, ...]:
    """Return the ways to estimate that a query can name: those of candidates."""
    return oracle.methods if isinstance(oracle, StringOracle) else ()


def days_of(given: dict[str, str]) -> Days:
    """Return the window that from and to describe."""
    first, last = (_day(given, name, default) for name, default in zip(("from", "to"), ALL, strict=True))
    if first > last:
        raise bad_parameter("from must not be after to")
    return first, last


def _day(given: dict[str, str], name: str, default: str) -> str:
    if name not in given:
        return default
    found = parse_day(given[name])
    if found is None:
        raise bad_parameter(f"{name} must be a day such as 2026-11-01")
    return found


@dataclass(frozen=True)
class Query:
    """What estimates are asked for."""

    days: Days
    top: int | None
    level: float
    decoder: str | None
    post: str | None
    method: str | None
    format: str

    @classmethod
    def of(cls, request: Request, oracle: Oracle) -> "Query":
        """Read a query, as far as this oracle can answer it."""
        given = parameters(request, "from", "to", "top", "level", "decoder", "post", "method", "format")
        return cls(
            days_of(given),
            _top(given.get("top")),
            _level(given.get("level", "0.95")),
            _choice(given, "decoder", oracle.decoders),
            _choice(given, "post", tuple(METHODS)),
            _choice(given, "method", methods_of(oracle)),
            _choice(given, "format", tuple(FORMATS)) or _accepted(request),
        )

    @property
    def options(self) -> dict[str, Any]:
        """The options of the oracle's estimate."""
        given = {"decoder": self.decoder, "method": self.method}
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True)
class Contrast:
    """Which two windows are to be compared, and how."""

    windows: tuple[Days, Days]
    top: int | None
    level: float
    decoder: str | None

    @classmethod
    def of(cls, request: Request, oracle: Oracle) -> "Contrast":
        """Read a query. Windows that share a day share reports, and cannot be compared as if they did not."""
        given = parameters(request, "from", "to", "other_from", "other_to", "top", "level", "decoder")
        other = {name.removeprefix("other_"): value for name, value in given.items() if name.startswith("other_")}
        windows = (days_of(given), days_of(other))
        if windows[0][0] <= windows[1][1] and windows[1][0] <= windows[0][1]:
            raise bad_parameter("the two windows must not have a day in common")
        decoder = _choice(given, "decoder", oracle.decoders)
        return cls(windows, _top(given.get("top")), _level(given.get("level", "0.95")), decoder)


def _top(given: str | None) -> int | None:
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= 10 and 1 <= int(given) <= MAX_ROWS):
        raise bad_parameter(f"top must be an integer from 1 to {MAX_ROWS}")
    return int(given)


def _level(given: str) -> float:
    try:
        level = float(given) if given.isascii() and len(given) < 40 and "_" not in given else 0.0
    except ValueError:
        level = 0.0
    if not _LEVELS[0] <= level <= _LEVELS[1]:
        raise bad_parameter(f"level must be a number from {_LEVELS[0]} to {_LEVELS[1]}")
    return level


def _choice(given: dict[str, str], name: str, choices: tuple[str, ...]) -> str | None:
    value = given.get(name)
    if value is None or value in choices:
        return value
    raise bad_parameter(f"{name} must be one of {', '.join(choices)}" if choices else f"this survey has no {name}")


def _accepted(request: Request) -> str:
    """Return the format that the header Accept names, or JSON."""
    accept = request.headers.get("accept", "")
    return next((name for name in ("csv", "parquet") if FORMATS[name].partition(";")[0] in accept), "json")
