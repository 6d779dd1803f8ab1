"""Laws: output distributions for the verifier, from an oracle, a table or a function."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fldp.errors import DomainError, ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Law, Oracle, Public, as_oracle
from fldp.oracles.base.string_oracle import listed
from fldp.support.exact_numbers import exact
from fldp.support.validation import is_integer, show

_MAX_WORK = 1 << 24
_ROUNDING = Fraction(1, 10**9)


@dataclass(frozen=True)
class Laws:
    """The probability of each report, for every value and every draw of the public randomness."""

    publics: list[Public]
    rows: list[list[Law]]
    shares: list[Fraction]  # how likely each of the publics is


def laws_of(subject: object, domain_size: int | None) -> Laws:
    """Enumerate the laws of an oracle, of a table with a row for each value, or of a function of the value.

    A list of oracles is a family: the values of the first, then of the second, and so on, each under its own law.
    A table is a NumPy array or a list of rows; a row lists probabilities or maps reports to them. Floats are taken
    exactly and divided by their sum, which may differ from 1 by rounding only.

    >>> laws_of([[0.75, 0.25], ["1/4", "3/4"]], None).rows[1]
    [{0: Fraction(1, 4), 1: Fraction(3, 4)}]
    >>> laws_of(lambda value: {value: 1}, 3).rows[2]
    [{2: Fraction(1, 1)}]
    """
    oracle, family = as_oracle(subject), _family(subject)
    if oracle is not None:
        return _of_oracle(oracle)
    if family:
        return _of_family(family)
    rows = _of_function(subject, domain_size) if callable(subject) else _of_table(subject)
    if len(rows) < 2:
        raise ParameterError(f"verify: a law must have at least 2 values, got {len(rows)}")
    laws = [[_checked(value, row)] for value, row in enumerate(rows)]
    if len(laws) * sum(len(law) for (law,) in laws) > _MAX_WORK:
        raise ParameterError(
            f"verify: this law of {len(laws):,} values is too large: values times probabilities exceed {_MAX_WORK:,}"
        )
    return Laws([None], laws, [Fraction(1)])


def _family(subject: object) -> list[Oracle]:
    """Return the oracles of a list that has nothing else; an empty list for anything else."""
    parts = [as_oracle(part) for part in subject] if isinstance(subject, list | tuple) else []
    oracles = [part for part in parts if part is not None]
    return oracles if len(oracles) == len(parts) else []


def _of_oracle(oracle: Oracle) -> Laws:
    about, values = analysis(oracle), range(listed("verify", oracle).domain_size)
    about.check_enumerable()
    publics = list(about.publics())
    rows = [[_support(about.law(value, public)) for public in publics] for value in values]
    return Laws(publics, rows, about.public_shares())


def _of_family(oracles: Sequence[Oracle]) -> Laws:
    """Join the laws of several oracles into one law of all their values; a report names its oracle."""
    rows: list[list[Law]] = []
    for k, oracle in enumerate(oracles):
        laws = _of_oracle(oracle)
        for parts in laws.rows:
            joined = zip(laws.publics, laws.shares, parts, strict=True)
            rows.append([{(k, seen, report): p * share for seen, share, part in joined for report, p in part.items()}])
    return Laws([None], rows, [Fraction(1)])


def _of_function(law: Callable[[int], Any], domain_size: int | None) -> list[Any]:
    if not is_integer(domain_size) or not 2 <= domain_size <= _MAX_WORK:
        raise ParameterError(f"verify: a function needs domain_size, its number of values, got {domain_size!r}")
    return [_plain(law(value)) for value in range(int(domain_size))]


def _of_table(table: Any) -> list[Any]:
    rows = _plain(table)
    if isinstance(rows, list | tuple):
        rows = [_plain(row) for row in rows]
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not all(_is_row(row) for row in rows):
        what = f"got {show(type(table).__name__)}"
        raise ParameterError(f"verify: a law must be an oracle, a function or a table of probabilities, {what}")
    return list(rows)


def _plain(table: Any) -> Any:
    return table.tolist() if isinstance(table, np.ndarray) else table


def _is_row(row: Any) -> bool:
    return isinstance(row, Mapping | Sequence) and not isinstance(row, str)


def _checked(value: int, row: Any) -> Law:
    if not _is_row(row):
        raise DomainError(f"verify: the law of value {value} must be a row of probabilities, got {show(row)}")
    entries = row.items() if isinstance(row, Mapping) else enumerate(row)
    law = {report: _share(value, report, share) for report, share in entries}
    total = sum(law.values(), Fraction(0))
    if abs(total - 1) > _ROUNDING:
        raise DomainError(f"verify: the probabilities of value {value} must add up to 1, got {float(total):.9g}")
    return _support({report: share / total for report, share in law.items()})


def _share(value: int, report: Any, share: Any) -> Fraction:
    try:
        probability = exact(share)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        probability = Fraction(-1)
    if probability < 0:
        where = f"report {show(report)} under value {value}"
        raise DomainError(f"verify: the probability of {where} must be a number from 0 on, got {show(share)}")
    return probability


def _support(law: Law) -> Law:
    return {report: probability for report, probability in law.items() if probability}


def read_table(path: Path) -> list[list[str]]:
    """Read a table of probabilities from CSV: a row for each value, a column for each report, no header."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is not CSV"
        raise DomainError(f"verify: {path} cannot be read: {why}") from None
    if len({len(row) for row in rows}) > 1:
        raise DomainError(f"verify: the rows of {path} must be of the same length, got {sorted(map(len, rows))}")
    return rows
