"""Public knowledge for ``--post bayes``: counts or shares that were expected, from a file such as last month's."""

import csv
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from fldp.errors import DomainError, FldpError, ParameterError
from fldp.support.csv_cells import unescape_cell

if TYPE_CHECKING:
    from fldp.data.estimate import Estimate
    from fldp.survey.question import Question

PriorFile = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="With --post bayes: public shares that were expected, as CSV with label (or value) and count (or share).",
    ),
]
_NAMES, _NUMBERS = ("label", "value"), ("count", "share", "frequency")


def processed(result: "Estimate", post: str | None, prior: str | None, question: "Question") -> "Estimate":
    """Return an estimate post-processed as the options say."""
    if prior is not None and post != "bayes":
        raise ParameterError("fldp: --prior needs --post bayes or --method bayes")
    if post is None:
        return result
    from fldp.data.postprocess import postprocess

    expected = None if prior is None else read_prior(prior, question, len(result.counts))
    return postprocess(result, post, prior=expected)


def refuse_prior(prior: str | None) -> None:
    """Refuse public knowledge where there is nothing that it could be mixed into."""
    if prior is not None:
        raise ParameterError("fldp: --prior is for surveys of one question, whose answers are labels or values")


def read_prior(path: str, question: "Question", size: int) -> list[float]:
    """Return what was expected of every value; of values that the file does not name, 0.

    It takes what ``fldp estimate --csv`` writes. Negative counts, which unbiased estimates have, count as 0.
    """
    from fldp.data.values import numbered

    expected: dict[int, float] = {}
    for line, (column, name, text) in enumerate(_rows(path), 2):
        value = question.value(name) if column == "label" else numbered(name, size)
        if not isinstance(value, int):
            raise DomainError(f"{path}: line {line}: {name!r} is not one of the values")
        if value in expected:
            raise DomainError(f"{path}: line {line}: {name!r} appears twice")
        expected[value] = _number(path, line, text)
    return [expected.get(value, 0.0) for value in range(size)]


def _number(path: str, line: int, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DomainError(f"{path}: line {line}: a count or share must be a number, got {text!r}")
    return number


def _rows(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name of a column, a value in it, and its count; labels where there are any."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            heading = rows.fieldnames or []
            names = [each for each in _NAMES if each in heading]
            numbers = [each for each in _NUMBERS if each in heading]
            if not names or not numbers:
                rule = "its first line must name the columns label or value, and count, share or frequency"
                raise DomainError(f"{path}: {rule}; got {', '.join(heading) or 'nothing'}")
            for row in rows:
                yield names[0], unescape_cell(row[names[0]] or ""), row[numbers[0]] or ""
    except OSError as error:
        raise FldpError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FldpError(f"{path}: is not UTF-8 text") from None
    except csv.Error as error:
        raise FldpError(f"{path}: is not CSV: {error}") from None
