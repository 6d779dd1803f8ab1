"""Tables of several questions for people, and as rows for programs."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from rich.table import Table

from fldp.data.number import Number
from fldp.errors import FldpError, ParameterError
from fldp.estimation.question_planner import QuestionPlan
from fldp.oracles.exposure import exposure
from fldp.oracles.sampled.associations import Associations
from fldp.oracles.sampled.cross import Cross
from fldp.oracles.sampled.ratios import Ratios
from fldp.oracles.sampled.tables import TableEstimate, Tables
from fldp.presentation import tables as single
from fldp.presentation.interval_notes import CONDITIONS, QUESTION_LOOKS, watched_facts
from fldp.presentation.number import figures as number_figures
from fldp.presentation.number import number_tables
from fldp.support.canonical_json import Json
from fldp.support.optional_imports import load
from fldp.wire.description import describe

Rows = list[dict[str, Json]]
_MAX_VIEWS, _MAX_TABLES = 12, 16
SEVERAL = "One report is for all questions together: its epsilon covers all answers."


def estimate_of(tables: Tables, question: int | str, planned: int | None = None) -> TableEstimate:
    """Return the estimated counts of the answers to a question, even where it is a number; watched, if planned."""
    estimate = tables.estimate(question)
    return estimate if planned is None else estimate.watched(planned)


def parts(tables: Tables, level: float, top: int, planned: int | None = None) -> list[object]:
    """Return what to show of all questions: tables of each, then the views, and what a report gives away.

    If reports are ``planned``, the intervals of a question hold at every look. A number has its mean, quartiles and
    cells, unless the tables were made consistent: its figures are of unbiased shares.
    """
    shown: list[object] = []
    for question, name in enumerate(tables.names):
        if not tables.has((question,)):
            shown.append(f"{single.visible(name)}: no report is about it yet.")
            continue
        number = tables[name] if tables.original is None else None
        if isinstance(number, Number):
            shown += _number_tables(name, number if planned is None else number.watched(planned), level)
            continue
        estimate = estimate_of(tables, question, planned)
        size = len(estimate.counts)
        title = f"{single.visible(name)}: the {min(top, size):,} largest of {size:,} estimates"
        shown.append(single.estimate_rows_table(title, single.estimate_rows(estimate, level, top), level))
    return [*shown, *([] if planned is None else [f"{QUESTION_LOOKS} {CONDITIONS}"]), *notes(tables)]


def _number_tables(name: str, number: Number, level: float) -> list[Table]:
    tables = number_tables(number, level)
    for table in tables:
        table.title = f"{single.visible(name)}: {table.title}"
    return tables


def notes(tables: Tables) -> list[str]:
    """Return the sentences below tables: how many people each view has, and what a report gives away."""
    views = [f"{view_name(tables, entry)} {count:,}" for entry, count in tables.views]
    more = f", and {len(views) - _MAX_VIEWS:,} more views" if len(views) > _MAX_VIEWS else ""
    oracle = tables.oracle
    about = f"{oracle.title}, epsilon {oracle.epsilon:g}, base {oracle.base}, eta {oracle.eta}"
    sentences = [
        f"{tables.n:,} reports of {about}",
        f"People by what their report is about: {', '.join(views[:_MAX_VIEWS])}{more}.",
    ]
    if tables.original is not None:
        sentences.append(f"By {tables.method}: biased. The intervals belong to the unbiased tables.")
    return [*sentences, SEVERAL, exposure(oracle)]


def view_name(tables: Tables, entry: Iterable[str | int]) -> str:
    """Return a view with the names of its questions."""
    kind, *numbers = entry
    if isinstance(kind, str):
        return f"{single.visible(tables.names[int(numbers[0])])} ({kind} {numbers[1]})"
    return " x ".join(single.visible(tables.names[int(a)]) for a in (kind, *numbers))


def cross_parts(cross: Cross, level: float) -> list[object]:
    """Return a cross-table as shares within rows, its test in words, and the notes."""
    first, second = map(single.visible, cross.names)
    marks, within = cross.excess(level), cross.rows(level)
    table = Table(title=f"{first} (rows) x {second}: shares within each row", title_justify="left")
    table.add_column(first)
    for column in range(cross.counts.shape[1]):
        table.add_column(_label(cross, 1, column), justify="right")
    table.add_column("people", justify="right")
    for row in range(cross.counts.shape[0]):
        cells = [_cell(within, row, column, int(marks[row, column])) for column in range(cross.counts.shape[1])]
        table.add_row(_label(cross, 0, row), *cells, f"{cross.counts[row].sum():,.0f}")
    return [table, *cross_notes(cross, level), *notes(cross.tables)[-2:]]


def _cell(within: Ratios, row: int, column: int, mark: int) -> str:
    ends = f"{within.low[row, column]:.0%} .. {within.high[row, column]:.0%}"
    return f"{within.shares[row, column]:.1%} {' ↑↓'[mark]} ({ends})"


def cross_notes(cross: Cross, level: float) -> list[str]:
    """Return the test of independence and the association, in words."""
    test, v = cross.independence(), cross.association(level)
    first, second = map(single.visible, cross.names)
    likely = "go together" if test.p_value <= 1 - level else "may be independent of each other"
    about = "" if test.df == 1 else "about "
    return [
        f"{first} and {second} {likely}: chi-square {test.statistic:.1f} with {test.df} degrees of freedom, "
        f"p = {test.p_value:.3g}; corrected for the noise of the reports.",
        f"Association: Cramer's V {v.v:.2f}, {about}{v.low:.2f} to {v.high:.2f} (level {level:.4g}); "
        "0 is none, 1 is all.",
        "↑ and ↓ mark cells with more and fewer people than independence would give them, sure for all cells at once.",
        *(["By consistent: biased. The intervals belong to the unbiased tables."] if cross.biased else []),
    ]


def _label(cross: Cross, axis: int, place: int) -> str:
    labels = cross.labels[axis]
    return str(place) if labels is None else single.visible(labels[place])


def associations_table(associations: Associations) -> Table:
    """Return the associations of all pairs as a table, the surest first."""
    table = Table(title="Which questions go together", title_justify="left")
    for heading in ("first", "second"):
        table.add_column(heading)
    for heading in ("Cramer's V", f"{100 * associations.level:.4g} % interval", "p", "p, adjusted (Holm)"):
        table.add_column(heading, justify="right")
    for names, test, one, adjusted in sorted(associations, key=lambda row: row[3]):
        sure = "bold" if adjusted <= 1 - associations.level else None
        interval = f"{one.low:.2f} .. {one.high:.2f}"
        cells = (*map(single.visible, names), f"{one.v:.2f}", interval, f"{test.p_value:.3g}", f"{adjusted:.3g}")
        table.add_row(*cells, style=sure)
    return table


def ratios_table(ratios: Ratios) -> Table:
    """Return ratios as a table."""
    columns = ratios._columns()
    table = Table(title=f"Shares with {ratios.level:.0%} intervals", title_justify="left")
    for name in columns:
        table.add_column(name, justify="right" if name in ("share", "low", "high") else "left")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(_ratio_cell, row))
    return table


def _ratio_cell(cell: object) -> str:
    return f"{cell:.1%}" if isinstance(cell, float | np.floating) else single.visible(str(cell))


def plan_parts(plan: QuestionPlan) -> list[object]:
    """Return a plan for several questions: the errors of tables, the views, and what a report gives away."""
    table = Table(title=f"{plan.users:,} people, epsilon {plan.oracle.epsilon:g} for all answers", title_justify="left")
    table.add_column("questions")
    table.add_column("std. error of a share", justify="right")
    table.add_column("smallest association found (V)", justify="right")
    for questions in plan.tables[:_MAX_TABLES]:
        smallest = f"{plan.smallest(questions):.2f}" if len(questions) > 1 else ""
        table.add_row(" x ".join(map(str, questions)), f"{plan.stderr(questions):.2%}", smallest)
    rest = len(plan.tables) - _MAX_TABLES
    views = ", ".join(f"{' x '.join(map(str, entry))} {people:,.0f}" for entry, people in plan.people[:_MAX_VIEWS])
    more = f", and {len(plan.people) - _MAX_VIEWS:,} more" if len(plan.people) > _MAX_VIEWS else ""
    sentences = [
        *([f"{rest:,} more tables: see --json."] if rest > 0 else []),
        f"{len(plan.people):,} views, base {plan.oracle.base}, {plan.oracle.report_format.bits:,} bits a report, "
        f"eta {plan.oracle.eta}. People in each view: {views}{more}.",
        "The smallest association is found by a test at 5 % in four surveys of five.",
        SEVERAL,
        exposure(plan.oracle),
    ]
    return [table, *sentences]


def plan_json(plan: QuestionPlan) -> str:
    """Return a plan as JSON."""
    return json.dumps(plan_facts(plan), indent=1)


def plan_facts(plan: QuestionPlan) -> dict[str, Json]:
    """Return a plan for programs: the oracle, people in each view, and the error of every table."""
    rows: list[Json] = [
        {
            "questions": list(questions),
            "stderr": plan.stderr(questions),
            **({"smallest_association": plan.smallest(questions)} if len(questions) > 1 else {}),
        }
        for questions in plan.tables
    ]
    return {
        "oracle": describe(plan.oracle),
        "eta": float(plan.oracle.eta),
        "bits": plan.oracle.report_format.bits,
        "gives_away": exposure(plan.oracle),
        "users": plan.users,
        "views": [{"view": entry, "people": people} for entry, people in plan.people],
        "tables": rows,
    }


# ------------------------------------------------------------------------------------------------- for programs


@dataclass(frozen=True)
class AskedTables:
    """Which tables are asked for: of one question, of two together, of all pairs, or of all questions.

    Tables of fewer than ``minimum`` people, those whose report is about all of their questions, are not shown.
    Where reports are ``planned``, the intervals of single questions hold at every look; all others are for one look.
    """

    question: str | None = None
    cross: tuple[str, str] | None = None
    associations: bool = False
    level: float = 0.95
    top: int | None = None
    minimum: int = 0
    planned: int | None = None

    def __post_init__(self) -> None:
        if sum(map(bool, (self.question, self.cross, self.associations))) > 1:
            raise ParameterError("estimates: ask for one of question, cross and associations")

    def require(self, tables: Tables, names: Iterable[int | str]) -> None:
        """Refuse a table of too few people."""
        chosen = [tables.index(name) for name in names]
        people = tables.about(chosen)
        if people < self.minimum or not tables.has(tuple(sorted(chosen))):
            asked = " and ".join(repr(tables.names[question]) for question in chosen)
            rule = f"nothing is shown for fewer than {self.minimum}"
            raise TooFewError(f"estimates: too few reports are about {asked}: {rule}")

    def shown(self, tables: Tables, question: int) -> bool:
        """Whether enough people report about a question."""
        return tables.has((question,)) and tables.about([question]) >= self.minimum


class TooFewError(FldpError):
    """A table of fewer people than a survey shows."""


def asked_facts(tables: Tables, asked: AskedTables) -> dict[str, Json]:
    """Return what was asked for, with what all answers about tables have in common."""
    common = {**facts(tables), "options": {}, "level": asked.level, "rows": []}
    if asked.associations:
        return {**common, **association_facts(_shown_tables(tables, asked).associations(asked.level))}
    if asked.cross:
        cross = tables.cross(*asked.cross)
        asked.require(tables, asked.cross)
        one = cross_facts(cross, asked.level)
        return {**common, **one, "rows": [], "cells": one["rows"]}
    if asked.question:
        asked.require(tables, [asked.question])
        return {**common, **question_facts(tables, asked.question, asked.level, asked.top, asked.planned)}
    every: list[Json] = [
        question_facts(tables, number, asked.level, asked.top, asked.planned)
        if asked.shown(tables, number)
        else {"question": name, "rows": [], "note": f"fewer than {max(1, asked.minimum)} reports are about it"}
        for number, name in enumerate(tables.names)
    ]
    return {**common, "questions": every}


def _shown_tables(tables: Tables, asked: AskedTables) -> Tables:
    for pair in tables.crosses:
        asked.require(tables, pair)
    return tables


def asked_rows(tables: Tables, asked: AskedTables) -> Rows:
    """Return what was asked for as rows: one for each table and cell."""
    if asked.associations:
        return association_rows(_shown_tables(tables, asked).associations(asked.level))
    if asked.cross:
        cross = tables.cross(*asked.cross)
        asked.require(tables, asked.cross)
        return cross_rows(cross, asked.level)
    if asked.question:
        asked.require(tables, [asked.question])
    every = all_rows(tables, asked.level, asked.minimum, asked.planned)
    return [row for row in every if asked.question in (None, row["table"])]


def encoded(tables: Tables, form: str, asked: AskedTables, more: Mapping[str, Json] = MappingProxyType({})) -> bytes:
    """Return tables as ``csv``, ``json`` or ``parquet``. JSON also has ``more`` that is known of the reports."""
    if form == "json":
        return json.dumps({**asked_facts(tables, asked), **more}, ensure_ascii=False, indent=1).encode()
    rows = asked_rows(tables, asked)
    if form == "csv":
        return single.csv_text(rows[0] if rows else {}, rows).encode()
    arrow, writer = load("pyarrow", "parquet"), load("pyarrow.parquet", "parquet")
    sink = arrow.BufferOutputStream()
    writer.write_table(arrow.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


def facts(tables: Tables) -> dict[str, Json]:
    """Return what all answers about tables have in common."""
    oracle = tables.oracle
    return {
        "oracle": describe(oracle),
        "eta": float(oracle.eta),
        "anonymity": oracle.anonymity,
        "gives_away": exposure(oracle),
        "n": tables.n,
        "method": tables.method,
        "biased": tables.original is not None,
        "views": [{"questions": view_name(tables, entry), "people": count} for entry, count in tables.views],
    }


def question_facts(
    tables: Tables, question: int | str, level: float, top: int | None, planned: int | None = None
) -> dict[str, Json]:
    """Return the estimates of one question."""
    estimate = estimate_of(tables, question, planned)
    sized = tables.questions[tables.index(question)]
    answered = {} if not sized.optional else {"answered": _ratio_rows(estimate.answered(level))}
    rows: Json = single.estimate_rows(estimate, level, top)
    number = _number_facts(tables[question], level, planned)
    return {"question": sized.name, "level": level, "rows": rows, **watched_facts(estimate), **answered, **number}


def _number_facts(shown: object, level: float, planned: int | None) -> dict[str, Json]:
    if not isinstance(shown, Number):
        return {}
    return {"number": number_figures(shown if planned is None else shown.watched(planned), level)}


def cross_facts(cross: Cross, level: float) -> dict[str, Json]:
    """Return a cross-table: its cells, shares within rows, the test and the association."""
    test, v, marks = cross.independence(), cross.association(level), cross.excess(level)
    return {
        "cross": list(cross.names),
        "level": level,
        "rows": cross_rows(cross, level),
        "row_shares": _ratio_rows(cross.rows(level)),
        "marks": marks.tolist(),
        "independence": {"statistic": test.statistic, "df": test.df, "p_value": test.p_value},
        "association": {"v": v.v, "low": v.low, "high": v.high, "approximate": test.df > 1},
    }


def cross_rows(cross: Cross, level: float) -> Rows:
    """Return the cells of a cross-table, one in each row."""
    return _rows(cross._columns(level))


def association_facts(associations: Associations) -> dict[str, Json]:
    """Return the associations of all pairs."""
    return {"level": associations.level, "associations": [*association_rows(associations)]}


def association_rows(associations: Associations) -> Rows:
    """Return the associations of all pairs, one in each row."""
    return _rows(associations._columns())


def all_rows(tables: Tables, level: float, minimum: int = 0, planned: int | None = None) -> Rows:
    """Return every table of enough people as rows: one for each table and cell, for CSV and Parquet."""
    rows: Rows = []
    for question, name in enumerate(tables.names):
        if tables.has((question,)) and tables.about([question]) >= minimum:
            for row in single.estimate_rows(estimate_of(tables, question, planned), level, None):
                rows.append({"table": name, "cell": row["label"], **_figures(row)})
    for a, b in tables.crosses:
        if tables.has((a, b)) and tables.about([a, b]) >= minimum:
            cross = tables.cross(a, b)
            for row in cross_rows(cross, level):
                cell = f"{row[cross.names[0]]} x {row[cross.names[1]]}"
                figures = _figures({**row, "frequency": row["share"]})
                rows.append({"table": " x ".join(cross.names), "cell": cell, **figures})
    return rows


def _figures(row: dict[str, Json]) -> dict[str, Json]:
    return {name: row[name] for name in ("count", "stderr", "low", "high", "frequency")}


def _ratio_rows(ratios: Ratios) -> Rows:
    return _rows(ratios._columns())


def _rows(columns: object) -> Rows:
    assert isinstance(columns, dict)
    lists = [part.tolist() if isinstance(part, np.ndarray) else list(part) for part in columns.values()]
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*lists, strict=True)]
