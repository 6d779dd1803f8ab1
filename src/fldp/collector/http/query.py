"""Queries: the parameters of an address, every one of them checked and none ignored."""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from fldp.collector.config.clock import parse_day
from fldp.collector.service.problems import mistaken
from fldp.collector.storage.protocol import Days
from fldp.collector.storage.window import ALL
from fldp.data.projections import METHODS
from fldp.errors import ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle
from fldp.support.validation import Constraint, MistakeList, fail, from_text, integer, number, one_of

FORMATS = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
MAX_ROWS = 2**31


class ParameterReader:
    """The parameters of a request, and all mistakes in them."""

    def __init__(self, request: Request, *known: str) -> None:
        self.values: dict[str, str] = {}
        self.mistakes = MistakeList()
        for name, value in request.query_params.multi_items() if request.scope["query_string"] else ():
            if name not in known:
                self.mistakes.unknown((), [name], (), f"a parameter; the parameters are: {', '.join(known) or 'none'}")
            elif name in self.values:
                self.mistakes.note((name,), f"{name} must be given once")
            self.values[name] = value

    def check(self, name: str, constraint: Constraint, default: Any = None) -> Any:
        """Return what a constraint makes of a parameter, or the default if it is not given."""
        if name not in self.values:
            return default
        return self.mistakes.check((name,), constraint, self.values[name])

    def days(self, prefix: str = "") -> Days:
        """Return the window from a first day to a last one."""
        first, last = (self.check(f"{prefix}{name}", _day, day) for name, day in zip(("from", "to"), ALL, strict=True))
        if first and last and first > last:
            self.mistakes.note((f"{prefix}from",), f"{prefix}from must not be after {prefix}to")
        return first, last

    def refuse(self) -> None:
        """Answer all mistakes at once, if there are any."""
        if self.mistakes:
            raise mistaken(self.mistakes, "parameter")


def parameters(request: Request, *known: str) -> dict[str, str]:
    """Return the parameters of a request; unknown ones and repeated ones are refused."""
    if not request.scope["query_string"]:  # as in nearly every request with reports
        return {}
    reader = ParameterReader(request, *known)
    reader.refuse()
    return reader.values


def days_of(request: Request) -> Days:
    """Return the window of a request whose parameters are ``from`` and ``to``."""
    reader = ParameterReader(request, "from", "to")
    days = reader.days()
    reader.refuse()
    return days


def methods_of(oracle: Oracle) -> tuple[str, ...]:
    """Return the methods of estimating that a query can name: those for candidates of a string oracle."""
    return oracle.methods if analysis(oracle).domain_size is None else ()


@dataclass(frozen=True)
class Query:
    """The estimates that a request asks for."""

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
        reader = ParameterReader(request, "from", "to", "top", "level", "decoder", "post", "method", "format")
        query = cls(
            reader.days(),
            reader.check("top", _TOP),
            reader.check("level", _LEVEL, 0.95),
            reader.check("decoder", _choice(oracle.decoders)),
            reader.check("post", _POST),
            reader.check("method", _choice(methods_of(oracle))),
            reader.check("format", _FORMAT) or _accepted(request),
        )
        reader.refuse()
        return query

    @property
    def options(self) -> dict[str, Any]:
        """The options of the oracle's estimate."""
        options = {"decoder": self.decoder, "method": self.method}
        return {name: value for name, value in options.items() if value}


@dataclass(frozen=True)
class Contrast:
    """The two windows that a request compares, and how."""

    windows: tuple[Days, Days]
    top: int | None
    level: float
    decoder: str | None

    @classmethod
    def of(cls, request: Request, oracle: Oracle) -> "Contrast":
        """Read a query. Windows that share a day share reports, and cannot be compared as if they did not."""
        reader = ParameterReader(request, "from", "to", "other_from", "other_to", "top", "level", "decoder")
        one, other = reader.days(), reader.days("other_")
        if not reader.mistakes and one[0] <= other[1] and other[0] <= one[1]:
            reader.mistakes.note(("other_from",), "the two windows must not have a day in common")
        top, level = reader.check("top", _TOP), reader.check("level", _LEVEL, 0.95)
        decoder = reader.check("decoder", _choice(oracle.decoders))
        reader.refuse()
        return cls((one, other), top, level, decoder)


def _day(owner: str, name: str, value: str) -> str:
    day = parse_day(value)
    if day is None:
        raise fail(owner, name, "a day such as 2026-11-01", value)
    return day


def _digits(text: str) -> int:
    """Return a number written in ASCII digits, of a length that ``int`` reads at once."""
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise ValueError
    return int(text)


def _decimal(text: str) -> float:
    """Return a number as JSON would write it; ``float`` also reads underscores and digits of other scripts."""
    if not text.isascii() or len(text) >= 40 or "_" in text:
        raise ValueError
    return float(text)


_TOP, _LEVEL = from_text(_digits, integer(1, MAX_ROWS)), from_text(_decimal, number(0.01, 0.999999))
_POST, _FORMAT = one_of(*METHODS), one_of(*FORMATS)


def _choice(choices: tuple[str, ...]) -> Constraint:
    return one_of(*choices) if choices else _absent


def _absent(owner: str, name: str, value: str) -> str:
    del owner, value
    raise ParameterError(f"this survey has no {name}")


def _accepted(request: Request) -> str:
    """Return the format that the header Accept names, or JSON."""
    accept = request.headers.get("accept", "")
    return next((name for name in ("csv", "parquet") if FORMATS[name].partition(";")[0] in accept), "json")
