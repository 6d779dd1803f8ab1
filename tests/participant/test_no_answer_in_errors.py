"""No error of a person's client holds the answer, and none of its causes does: programs log both with their traces."""

import traceback

import numpy as np
import pytest

from fldp import FldpError, Participant, Responder, Survey
from fldp.participant_store import MemoryStore

MARK, NUMBER = "Tr0ub4dor", 31337
ANSWERS = {
    "another label": MARK,
    "a long one": MARK * 200,
    "half a character": f"{MARK}\ud800",
    "bytes": MARK.encode(),
    "a list": [MARK],
    "a tuple": (MARK,),
    "a table": {"pet": MARK},
    "all answers": {"pet": MARK, "load": NUMBER},
    "answers of other types": {"pet": [MARK], "load": MARK},
    "a number as a text": {"pet": "cat", "load": f"{NUMBER}x"},
    "an unknown question": {MARK: 1},
    "an integer": NUMBER,
    "a float": NUMBER + 0.5,
    "a long number": str(NUMBER) * 1000,
    "an array": np.array([MARK]),
    "a number of NumPy": np.int64(NUMBER),
    "a set": {MARK},
    "a complex number": NUMBER + 1j,
    "an array of numbers": np.array([0, NUMBER]),
    "a row": [[0, NUMBER]],
    "a row of floats": [[0, NUMBER + 0.5]],
    "an array of rows": np.array([[NUMBER, 0]]),
}
ASKED = {"question": "Which?", "labels": ["cat", "dog", "other"]}
HOURS = {"low": 0, "high": 10, "bins": 4}
SURVEYS = {
    "labels": {**ASKED, "oracle": {"name": "grr", "epsilon": 0.5}},
    "values": {"question": "Which?", "domain_size": 5, "oracle": {"name": "fhr", "epsilon": 0.5}},
    "strings": {"question": "Which?", "domain": "strings", "oracle": {"name": "cms", "epsilon": 0.5, "width": 16}},
    "a number": {"question": "How long?", "number": HOURS, "oracle": {"epsilon": 0.5}},
    "a number within": {"question": "How long?", "number": {**HOURS, "outside": "refuse"}, "oracle": {"epsilon": 0.5}},
    "several": {
        "questions": [{"name": "pet", **ASKED}, {"name": "load", "question": "How long?", "number": HOURS}],
        "oracle": {"epsilon": 0.5},
    },
}
CALLS = {
    "answer": lambda survey, answer: person().answer(survey, answer, origin="https://a.example"),
    "answer of own labels": lambda survey, answer: person().answer(
        survey, answer, origin="https://a.example", labels=ASKED["labels"]
    ),
    "privatize": lambda survey, answer: survey.privatize([answer]),
    "privatize by the oracle": lambda survey, answer: survey.oracle.privatize(answer),
    "privatize a batch by the oracle": lambda survey, answer: survey.oracle.privatize([0, answer]),
    "encode": lambda survey, answer: survey.encode([answer]),
    "respond": lambda survey, answer: Responder(survey).report(answer),
    "respond for the oracle": lambda survey, answer: Responder(survey.oracle).report(answer),
}


def person():
    return Participant(MemoryStore())


def attempted(work):
    """Return what came of it, and the error."""
    try:
        return work(), None
    except Exception as error:
        return None, error


def texts_of(error):
    """Yield what a program may log of an error: the traces without the lines of this file, and what they hold."""
    while error is not None:
        yield from map(repr, (*error.args, *vars(error).values(), *getattr(error, "__notes__", [])))
        yield from traceback.format_exception_only(error)
        error = error.__cause__ or error.__context__


def held(texts):
    return [text[:300] for text in texts if MARK in text or str(NUMBER) in text]


@pytest.mark.parametrize("fields", SURVEYS.values(), ids=SURVEYS)
def test_no_error_holds_the_answer(fields):
    survey, errors = Survey.from_dict({"name": "pets", **fields}), 0
    for kind, answer in ANSWERS.items():
        for name, call in CALLS.items():
            outcome, error = attempted(lambda call=call, answer=answer: call(survey, answer))
            errors += error is not None
            assert not held(texts_of(error)), (name, kind)
            assert not held([repr(outcome)]) or name == "encode", (name, kind)
    assert errors > 10


def test_the_check_notices_an_answer_in_a_cause():
    def careless():
        try:
            {}[MARK]
        except KeyError as error:
            raise FldpError("survey: unknown label (not shown)") from error

    _, error = attempted(careless)
    assert isinstance(error, FldpError)
    assert held(texts_of(error))
