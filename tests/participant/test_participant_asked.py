"""Asking less: chance chooses the questions once, before anybody sees them, and the report is about these alone."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import pairwise

import numpy as np
import pytest

from fldp import Survey, wire
from fldp.errors import DomainError, FldpError, ParameterError
from fldp.oracles.sampled import drawn_view
from fldp.participant import Participant
from fldp.participant_store import MemoryStore
from support.javascript import ask

SITE = "https://collector.example"
NAMES = ("tea", "milk", "sugar")
ASKED = [{"name": name, "question": f"Do you take {name}?", "labels": ["no", "some", "yes"]} for name in NAMES]
FIELDS = {
    "name": "drinks",
    "questions": ASKED,
    "tables": {"ask": "drawn"},
    "oracle": {"epsilon": 1.0, "views": [[0], [1], [2]], "weights": [1, 2, 1]},
}
TICKETED = {**FIELDS, "collect": {"submit": "ticket", "derive": True}}


def view_of(survey, answer):
    """Return the names of the questions that a report is about."""
    oracle = survey.oracle
    people = oracle.estimator.people(oracle.tally(wire.decode(answer.report, oracle, survey.version)))
    return tuple(NAMES[place] for place in oracle.design.views[people.index(1)].questions)


def test_a_survey_that_asks_all_asks_all():
    fields = {**FIELDS, "tables": {"cross": "none"}}
    assert Participant(MemoryStore()).asked(fields, origin=SITE) == NAMES


def test_chance_chooses_once_and_the_report_is_about_what_was_asked(tmp_path):
    survey = Survey.from_dict(FIELDS)
    for number in range(12):
        path = tmp_path / f"{number}.db"
        names = Participant(path).asked(FIELDS, origin=SITE)
        assert all(Participant(path).asked(FIELDS, origin=SITE) == names for _ in range(4))
        assert Participant(path).spent().epsilon == 0  # nothing was given away
        with pytest.raises(DomainError, match="has no answer and is not optional"):
            Participant(path).answer(FIELDS, {name: "no" for name in NAMES if name not in names}, origin=SITE)
        answer = Participant(path).answer(FIELDS, dict.fromkeys(names, "yes"), origin=SITE)
        assert view_of(survey, answer) == names
        again = Participant(path).answer(FIELDS, dict.fromkeys(names, "no"), origin=SITE)
        assert (again.report, again.repeated) == (answer.report, True)


@pytest.mark.long
def test_views_are_drawn_with_their_weights():
    """Shares 1/4, 1/2, 1/4 of 2,000, each within five standard errors: fails once in 10^6."""
    seen = Counter(Participant(MemoryStore()).asked(FIELDS, origin=SITE) for _ in range(2000))
    for names, share in {("tea",): 0.25, ("milk",): 0.5, ("sugar",): 0.25}.items():
        assert abs(seen[names] - 2000 * share) < 5 * (2000 * share * (1 - share)) ** 0.5


def test_the_law_of_a_report_given_its_first_word_is_that_of_its_view():
    """Exact: for every region of the first word, reports are those of the view's own oracle from the other words."""
    oracle = Survey.from_dict(FIELDS).oracle
    total, words = (
        sum(oracle.design.weights),
        np.random.default_rng(1).integers(0, 1 << 63, (40, oracle.words), np.uint64),
    )
    ends = [-(-(end << 64) // total) for end in np.cumsum([0, *oracle.design.weights]).tolist()]
    for view, (start, stop) in enumerate(pairwise(ends)):
        for first in (start, (start + stop) // 2, stop - 1):
            assert drawn_view.questions_of(oracle, first) == oracle.design.views[view].questions
            words[:, 0] = first
            data, inside = oracle.report_format.empty(40), oracle.members[view].report_format.empty(40)
            oracle.perturb(np.full(40, 14, np.int64), words, data)
            value = oracle.design.views[view].values(oracle.record_code.decode(np.full(40, 14, np.int64)))
            own = np.ascontiguousarray(words[:, 1 : 1 + oracle.members[view].words])
            oracle.members[view].perturb(value, own, inside)
            assert (data == oracle._tagged.join(view, inside)).all()


def test_a_ticket_decides_what_is_asked_as_in_javascript():
    survey = Survey.from_dict(TICKETED)
    tickets = [f"fldp_ticket_{number}" for number in range(8)]
    asked = [Participant(MemoryStore()).asked(TICKETED, origin=SITE, ticket=ticket) for ticket in tickets]
    assert len(set(asked)) > 1
    for ticket, names in zip(tickets, asked, strict=True):
        person, answers = Participant(MemoryStore()), dict.fromkeys(names, "yes")
        assert view_of(survey, person.answer(TICKETED, answers, origin=SITE, ticket=ticket)) == names
    requests = [
        {"do": "derived", "survey": survey.canonical, "label": dict.fromkeys(names, "yes"), "ticket": ticket}
        for ticket, names in zip(tickets, asked, strict=True)
    ]
    for reply, names in zip(ask(requests), asked, strict=True):
        batch = bytes.fromhex(reply["result"])
        people = survey.oracle.estimator.people(survey.oracle.tally(wire.decode(batch, survey.oracle, survey.version)))
        assert tuple(NAMES[place] for place in survey.oracle.design.views[people.index(1)].questions) == names
    with pytest.raises(ParameterError, match="needs a ticket"):
        Participant(MemoryStore()).asked(TICKETED, origin=SITE)


def test_what_chance_chose_lies_beside_the_ledger_for_its_owner_only(tmp_path):
    path = tmp_path / "answers.db"
    names = Participant(path).asked(FIELDS, origin=SITE)
    chances = tmp_path / "answers.db.chances"
    assert chances.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(path)) as connection:  # the ledger has the schema of every other one
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 4
        assert connection.execute("SELECT count(*) FROM answers").fetchone()[0] == 0
    (word,) = json.loads(chances.read_text())["words"].values()
    places = drawn_view.questions_of(Survey.from_dict(FIELDS).oracle, int(word, 16))
    assert tuple(NAMES[place] for place in places) == names
    other = "https://other.example"
    Participant(path).asked(FIELDS, origin=other)
    assert len(json.loads(chances.read_text())["words"]) == 2


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "fldp-chances-1", "words": {"a": "xyz"}}', "[" * 9999])
def test_a_damaged_file_of_chances_is_refused_and_not_drawn_anew(tmp_path, text):
    path = tmp_path / "answers.db"
    Participant(path).asked(FIELDS, origin=SITE)
    (tmp_path / "answers.db.chances").write_text(text)
    with pytest.raises(FldpError, match="is damaged; restore it from a copy"):
        Participant(path).asked(FIELDS, origin=SITE)
    assert (tmp_path / "answers.db.chances").read_text() == text


class Plain:
    """A store of somebody's own, which keeps answers and no chances."""

    def __init__(self):
        self._inside = MemoryStore()

    def exclusive(self):
        from contextlib import contextmanager

        @contextmanager
        def opened():
            with self._inside.exclusive() as book:
                yield PlainBook(book)

        return opened()


class PlainBook:
    def __init__(self, book):
        self._book = book

    @property
    def ledger(self):
        return self._book.ledger

    def find(self, origin, version):
        return self._book.find(origin, version)

    def add(self, charge, kept):
        self._book.add(charge, kept)

    def replace(self, charge, kept):
        self._book.replace(charge, kept)


def test_a_store_without_chances_answers_all_other_surveys():
    person = Participant(Plain())
    with pytest.raises(ParameterError, match="store must be one that keeps chances"):
        person.asked(FIELDS, origin=SITE)
    whole = {**FIELDS, "tables": {"cross": "none"}}
    assert not person.answer(whole, dict.fromkeys(NAMES, "no"), origin=SITE).repeated
