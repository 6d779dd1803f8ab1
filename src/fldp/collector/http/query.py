"""Queries: checks of parameters against each other and against a survey's oracle; each was parsed before."""

from datetime import date

from starlette.requests import Request

from fldp.collector.service.problems import mistaken
from fldp.collector.storage.protocol import Days
from fldp.collector.storage.window import ALL
from fldp.errors import ParameterError
from fldp.interface.models import CompareQuery, EstimatesQuery, WindowQuery
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle
from fldp.support.validation import MistakeList, one_of

FORMATS = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


def days_of(query: WindowQuery) -> Days:
    """Return the window of a query."""
    mistakes = MistakeList()
    days = _days(query.since, query.until, "", mistakes)
    _refuse(mistakes)
    return days


def estimated_days(query: EstimatesQuery, oracle: Oracle) -> Days:
    """Return the window of a query that this oracle can answer."""
    mistakes = MistakeList()
    days = _days(query.since, query.until, "", mistakes)
    methods = oracle.estimator.methods
    _check_choice("decoder", query.decoder, oracle.estimator.decoders, mistakes)
    _check_choice("method", query.method, methods if analysis(oracle).domain_size is None else (), mistakes)
    if query.anytime and (query.post or query.consistent or query.method not in (None, *methods[:1])):
        mistakes.note(("anytime",), "anytime is for unbiased estimates: leave out post, consistent and method")
    _refuse(mistakes)
    return days


def compared_days(query: CompareQuery, oracle: Oracle) -> tuple[Days, Days]:
    """Return two windows. Those that share a day share reports, and cannot be compared as if they did not."""
    mistakes = MistakeList()
    one = _days(query.since, query.until, "", mistakes)
    other = _days(query.other_from, query.other_to, "other_", mistakes)
    if not mistakes and one[0] <= other[1] and other[0] <= one[1]:
        mistakes.note(("other_from",), "the two windows must not have a day in common")
    _check_choice("decoder", query.decoder, oracle.estimator.decoders, mistakes)
    _refuse(mistakes)
    return one, other


def format_of(request: Request, query: EstimatesQuery) -> str:
    """Return the format that a query names, else the header Accept, else JSON."""
    accept = request.headers.get("accept", "")
    accepted = (name for name in ("csv", "parquet") if FORMATS[name].partition(";")[0] in accept)
    return query.format or next(accepted, "json")


def _days(first: date | None, last: date | None, prefix: str, mistakes: MistakeList) -> Days:
    if first and last and first > last:
        mistakes.note((f"{prefix}from",), f"{prefix}from must not be after {prefix}to")
    return first.isoformat() if first else ALL[0], last.isoformat() if last else ALL[1]


def _check_choice(name: str, chosen: str | None, choices: tuple[str, ...], mistakes: MistakeList) -> None:
    if chosen is not None:
        mistakes.check((name,), one_of(*choices) if choices else _absent, chosen)


def _absent(owner: str, name: str, value: object) -> str:
    del owner, value
    raise ParameterError(f"this survey has no {name}")


def _refuse(mistakes: MistakeList) -> None:
    if mistakes:
        raise mistaken(mistakes, "parameter")
