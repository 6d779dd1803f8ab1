"""The tables [[questions]] and [tables] of a survey: several questions, which of them are crossed, and the plan.

A person writes questions, crosses and an epsilon. The planner chooses base, views and weights, which become part of
the version: no client plans.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fldp.data.scale import MEAN, Scale
from fldp.estimation.question_planner import ALL, NONE, questions
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.record_oracle import MAX_QUESTIONS
from fldp.oracles.sampled.sampled import Sampled, of_questions
from fldp.support.canonical_json import Json
from fldp.support.identifiers import SURVEY_NAME
from fldp.support.validation import MistakeList, flag, integer, one_of, positive
from fldp.survey.number import NUMBER, check_number, with_waves
from fldp.survey.questions import NO_ANSWER, SurveyQuestion
from fldp.wire.description import describe

MAX_ANSWERS = 1 << 16
ASK = ("all", "drawn")
_KEYS = ("name", "question", "labels", "domain_size", "labels_file", "optional", "importance", NUMBER)
_ORACLE = ("name", "epsilon", "base", "views", "weights", "eta")

Labels = tuple[tuple[str, ...] | None, dict[str, Any] | None]  # the labels, and the domain as parameters of an oracle
ReadLabels = Callable[[dict[str, Any], MistakeList], Labels]
LabelsOf = Callable[[dict[str, Any], Path | None, MistakeList], Labels]
TextOf = Callable[[str, str, object], str]


def check_questions(
    fields: dict[str, Any], folder: Path | None, mistakes: MistakeList, labels_of: LabelsOf, text: TextOf
) -> dict[str, Any]:
    """Return the arguments of a survey of several questions: these, the oracle, and how they are asked."""
    listed = fields["questions"]
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_QUESTIONS:
        mistakes.add(("questions",), f"a list of 1 to {MAX_QUESTIONS} questions", listed)
        return {}
    questions = [_question(place, table, folder, mistakes, labels_of, text) for place, table in enumerate(listed)]
    asked = tuple(question for question in questions if question is not None)
    _check_names(asked, mistakes)
    if len(asked) < len(listed) or mistakes:
        return {}
    tables = _tables(fields.get("tables", {}), asked, mistakes)
    oracle = _oracle(fields.get("oracle"), asked, tables, mistakes)
    return {"questions": asked, "oracle": oracle, "ask": tables.get("ask", ASK[0]), "question": _title(fields, asked)}


def _title(fields: dict[str, Any], asked: tuple[SurveyQuestion, ...]) -> str:
    """Return what stands for the question in lists: the title, or the names of all questions."""
    names = ", ".join(question.name for question in asked)
    return str(fields.get("title") or f"{len(asked)} questions: {names}")[:2000]


def _question(
    place: int, table: Any, folder: Path | None, mistakes: MistakeList, labels_of: LabelsOf, text: TextOf
) -> SurveyQuestion | None:
    here, before = f"questions[{place}]", mistakes.count
    if not isinstance(table, dict):
        mistakes.add((here,), "a table", table)
        return None
    mistakes.unknown((here,), table, _KEYS, "a key of a question")
    for key in ("name", "question"):
        if key not in table:
            mistakes.note((here, key), f"{here}.{key} is missing")
    labels, domain = _labels(here, table, mistakes, lambda keys, inside: labels_of(keys, folder, inside))
    scale = _scale(here, table, mistakes) if NUMBER in table else None
    domain = {"domain_size": scale.size} if scale else domain
    name = mistakes.check((here, "name"), SURVEY_NAME, table["name"]) if "name" in table else None
    wording = mistakes.check((here, "question"), text, table["question"]) if "question" in table else None
    optional = mistakes.check((here, "optional"), flag, table.get("optional", False))
    importance = mistakes.check((here, "importance"), positive, table.get("importance", 1.0))
    if labels is not None and optional and NO_ANSWER in labels:
        mistakes.add((here, "labels"), f"other than {NO_ANSWER!r}, which optional = true adds", NO_ANSWER)
    if mistakes.count > before or not domain:
        return None
    size = mistakes.check((here, "labels"), integer(2, MAX_ANSWERS), domain["domain_size"] + bool(optional))
    if size is None or importance is None:
        return None
    return SurveyQuestion(str(name), str(wording), size, labels, bool(optional), importance, scale)


def _labels(here: str, table: dict[str, Any], mistakes: MistakeList, read: ReadLabels) -> Labels:
    """Return the labels of a question and its domain; mistakes are noted at the question's path."""
    inside = MistakeList()
    answers = read({key: table[key] for key in table if key in (*_KEYS[2:5], NUMBER)}, inside)
    for mistake in inside.listed:
        mistakes.note((here, *mistake.path), f"{here}.{mistake.message}")
    return answers


def _scale(here: str, table: dict[str, Any], mistakes: MistakeList) -> Scale | None:
    """Return the scale of a number among several questions, which is always a distribution."""
    scale = check_number((here, NUMBER), table[NUMBER], mistakes)
    if scale is not None and scale.goal == MEAN:
        mistakes.add((here, NUMBER), "a distribution: a mean is asked for in a survey of its own", scale.goal)
    if scale is not None and table.get("optional"):
        mistakes.note(
            (here, "optional"), f"{here}.optional: a number must be answered; ask before whether there is one"
        )
    return scale


def _check_names(asked: tuple[SurveyQuestion, ...], mistakes: MistakeList) -> None:
    names = [question.name for question in asked]
    for place, name in enumerate(names):
        if name in names[:place]:
            here = f"questions[{place}]"
            mistakes.add((here, "name"), f"different from the name of questions[{names.index(name)}]", name)


def _tables(table: Any, asked: tuple[SurveyQuestion, ...], mistakes: MistakeList) -> dict[str, Any]:
    """Return which questions are crossed, as pairs of their numbers, with their importance; and how they are asked."""
    if not isinstance(table, dict):
        mistakes.add(("tables",), "a table", table)
        return {}
    mistakes.unknown(("tables",), table, ("cross", "importance", "ask"), "a key of [tables]")
    ask = mistakes.check(("tables", "ask"), one_of(*ASK), table.get("ask", ASK[0]))
    tables: dict[str, Any] = {"cross": NONE, "ask": ask, "given": "cross" in table}
    cross = table.get("cross", NONE)
    if cross in (ALL, NONE):
        tables["cross"] = cross
    elif isinstance(cross, list):
        tables["cross"] = [_pair(pair, asked, mistakes) for pair in cross]
    else:
        mistakes.add(("tables", "cross"), "'all', 'none' or a list of pairs of questions", cross)
    if "importance" in table:
        size = len(tables["cross"]) if isinstance(tables["cross"], list) else 0
        weights = table["importance"]
        if not isinstance(weights, list) or len(weights) != size:
            mistakes.add(("tables", "importance"), f"a number for each of the {size} pairs that cross lists", weights)
        else:
            checked = [mistakes.check(("tables", "importance"), positive, weight) for weight in weights]
            tables["cross_importance"] = checked
    return tables


def _pair(pair: Any, asked: tuple[SurveyQuestion, ...], mistakes: MistakeList) -> tuple[int, ...]:
    names = [question.name for question in asked]
    good = isinstance(pair, list) and len(pair) == 2 and all(name in names for name in pair) and pair[0] != pair[1]
    if not good:
        mistakes.add(("tables", "cross"), f"pairs of {', '.join(names)}", pair)
        return ()
    return tuple(sorted(names.index(name) for name in pair))


def _oracle(
    table: Any, asked: tuple[SurveyQuestion, ...], tables: dict[str, Any], mistakes: MistakeList
) -> Oracle | None:
    """Return the oracle: planned if the survey names no views, else as it says."""
    if not isinstance(table, dict):
        mistakes.note(("oracle",), "the table [oracle] is missing, with an epsilon")
        return None
    mistakes.unknown(("oracle",), table, _ORACLE, "a parameter of the oracle of several questions")
    if table.get("name", Sampled.name) != Sampled.name:
        rule = f"{Sampled.name!r}, or left out: base is the oracle about a view"
        mistakes.add(("oracle", "name"), rule, table["name"])
    if "epsilon" not in table:
        mistakes.note(("oracle", "epsilon"), "oracle.epsilon is missing")
    if "weights" in table and "views" not in table:
        mistakes.note(("oracle", "weights"), "oracle.weights need oracle.views, the views that they weigh")
    if mistakes:
        return None
    sizes = tuple(question.size for question in asked)
    parameters = {name: value for name, value in table.items() if name != "name"}
    if "views" in table:
        oracle = mistakes.attempt(partial(Sampled, answers=sizes, **parameters), ("oracle",))
        if oracle is not None and tables["given"]:
            _check_crosses(oracle, asked, tables["cross"], mistakes)
        return oracle
    return mistakes.attempt(partial(_planned, sizes, asked, tables, parameters), ("oracle",))


def _planned(
    sizes: tuple[int, ...], asked: tuple[SurveyQuestion, ...], tables: dict[str, Any], parameters: dict[str, Any]
) -> Sampled:
    positive("oracle", "epsilon", parameters["epsilon"])
    importance = [question.importance for question in asked]
    more = {"cross_importance": tables["cross_importance"]} if "cross_importance" in tables else {}
    oracle = questions(sizes, cross=tables["cross"], importance=importance, **more, **parameters)
    numbers = [place for place, question in enumerate(asked) if question.number is not None]
    return with_waves(oracle, numbers) if numbers and oracle.eta == 1 else oracle


def _check_crosses(oracle: Sampled, asked: tuple[SurveyQuestion, ...], cross: Any, mistakes: MistakeList) -> None:
    """Check that every pair that is wanted is in some view."""
    numbers = range(len(asked))
    wanted = [(a, b) for a in numbers for b in numbers if a < b] if cross == ALL else [] if cross == NONE else cross
    blocks = [set(view.questions) for view in oracle.design.views]
    for a, b in wanted:
        if not any({a, b} <= block for block in blocks):
            names = f"{asked[a].name!r} and {asked[b].name!r}"
            mistakes.note(("tables", "cross"), f"tables.cross: {names} are not together in any of oracle.views")


def described(oracle: Oracle) -> dict[str, Json]:
    """Return an oracle as its survey names it: without the domain, and for several questions always with all views."""
    if analysis(oracle).answers is None:
        return {name: value for name, value in describe(oracle).items() if name != "domain_size"}
    sampled = of_questions("survey", oracle)
    pinned: dict[str, Json] = {"name": sampled.name, "epsilon": sampled.epsilon, "base": sampled.base}
    eta = {} if sampled.eta == 1 else {"eta": float(sampled.eta)}
    return {**pinned, **eta, "views": sampled.design.entries, "weights": list(sampled.design.weights)}
