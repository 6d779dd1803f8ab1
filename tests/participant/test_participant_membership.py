"""A collector that asks to find out who holds what: what it learns of whether and how often a client speaks, beside
what the ledger says.

A person holds one of 1,000 values. The collector may publish what it likes in each of ten rounds, and has two ways to
guess: by silence (who speaks holds one of the labels that were offered) and by the reports (Bayes' rule, with the exact
law of the mechanism). By the ledger's epsilon E no guess at all can be right with a probability above
e^E / (e^E + 999).
"""

import gc
import json
import sys
from math import comb, exp
from random import Random

import numpy as np
import pytest

from fldp import AsyncClient, Client, FldpError, Limit, Limits, Participant, wire
from fldp.participant_store import MemoryStore
from fldp.survey import Survey
from support.client_kinds import asked
from support.raw_server import answer, raw

VALUES = [str(number) for number in range(1000)]
PEOPLE, ROUNDS, EPSILON = 16, 10, 0.05
FALSE_ALARM = 1e-9


def question(number, **changes):
    fields = {"name": "health", "question": "Which?", "description": f"Round {number}."}
    return {**fields, "oracle": {"name": "grr", "epsilon": EPSILON}, **changes}


def offered(inside):
    return [*inside, "dummy", "dumber"]  # so that there are never few labels


def renamed(number, inside, epsilon=EPSILON):
    oracle = {"name": "grr", "epsilon": epsilon}
    return question(number, name=f"n{number}", topic=f"t{number}", labels=offered(inside), oracle=oracle)


def searched(number, inside):
    """Ask in a later round of a search which of these strings it is, or whether it is none of them."""
    fields = question(number, name=f"n{number}", domain="strings", search={"k": 256, "alphabet": "0123456789"[number:]})
    first = Survey.from_dict(fields)
    codes = tuple(first.search.search.code.encode(value.encode()) for value in inside)
    return first.at(first.search.search.later(2, codes, 0)).canonical


def strings(number, inside):
    oracle = {"name": "hcms", "epsilon": EPSILON, "hashes": 4, "width": 16}
    return question(number, name=f"n{number}", domain="strings", oracle=oracle)


def daily(number, inside):
    oracle = {"name": "rappor", "epsilon": EPSILON, "epsilon_permanent": 2 * EPSILON}
    fields = question(number, name=f"n{number}", domain="strings", oracle=oracle)
    return {**fields, "collect": {"repeat": "daily"}}


def sensitive(number, inside):
    oracle = {"name": "urr", "epsilon": EPSILON, "sensitive": list(range(min(256, len(inside))))}
    return question(number, name=f"n{number}", labels=offered(inside), oracle=oracle)


def grouped(number, inside):
    oracle = {"name": "grouped", "base": "grr", "epsilon": EPSILON, "groups": [2, len(inside)], "allow_exposure": True}
    return {**renamed(number, inside), "oracle": oracle}


def ranged(number, inside, **more):
    """Ask for a number in the range of these values."""
    asked = {"low": float(inside[0]), "high": float(inside[-1]) + 1, "bins": 3, **more}
    return {**question(number, name=f"n{number}", oracle={"epsilon": EPSILON}), "number": asked}


STRATEGIES = {
    "other labels": lambda number, inside: question(number, labels=offered(inside)),
    "other topics": lambda number, inside: question(number, topic=f"t{number}", labels=offered(inside)),
    "other names": renamed,
    "shrinking epsilon": lambda number, inside: renamed(number, inside, EPSILON / 2**number),
    "the same labels in other versions": lambda number, _: question(number, labels=offered(VALUES[:500])),
    "numbers": lambda number, inside: question(number, name=f"n{number}", domain_size=max(3, len(inside))),
    "ranges": ranged,
    "ranges that refuse": lambda number, inside: ranged(number, inside, outside="refuse"),
    "strings": strings,
    "daily": daily,
    "a search": searched,
    "sensitive values": sensitive,
    "groups": grouped,
    "accents": lambda number, inside: renamed(number, [f"{value}\u0301" for value in inside]),
    "zeros": lambda number, inside: renamed(number, [f"0{value}" for value in inside]),
    "closed every other time": lambda number, inside: (renamed(number, inside), number % 2 and "closed"),
    "closed and reopened": lambda number, _: (question(0, labels=offered(VALUES[:500])), number % 2 and "closed"),
    "not yet open": lambda number, inside: {**renamed(number, inside), "collect": {"opens": "2999-01-01T00:00:00Z"}},
    "wrong versions": lambda number, inside: (renamed(number, inside), "open", number % 2 and "ab" * 32),
    "another survey": lambda number, inside: (renamed(number, inside), "open", None, "n0"),
}


HABITS = ("smokes", "drinks", "hours")
ANSWERS = [
    {"smokes": None, "drinks": "", "hours": None},
    {"smokes": "often", "drinks": "never", "hours": 7.5},
    {"smokes": "", "drinks": 3, "hours": float("nan")},
    {"smokes": "sometimes", "drinks": None, "hours": "1e999"},
    {"smokes": 10**5000, "drinks": np.array([1, 2]), "hours": b"7"},
]


def several(number, **tables):
    """Ask three questions, of which another one must be answered each time."""
    asked = [{"name": name, "question": f"{name}?", "labels": ["never", "often"]} for name in HABITS[:2]]
    asked[number % 2]["optional"] = True
    hours = {"name": "hours", "question": "How many?", "number": {"low": 0, "high": number + 1, "bins": 3}}
    fields = {"name": f"n{number}", "questions": [*asked, hours], "tables": tables, "oracle": {"epsilon": EPSILON}}
    return fields if number % 3 else {**fields, "questions": [{**hours, "name": name} for name in HABITS]}


SEVERAL = {
    "all questions": lambda number, _: several(number),
    "questions that chance chooses": lambda number, _: several(number, ask="drawn"),
}


class Attacker:
    """A collector that publishes a survey in each round by what it has seen so far."""

    takes_body = True

    def __init__(self, strategy):
        self.strategy, self.posts, self.gets, self.errors = strategy, [], 0, []
        self.candidates, self.weights, self.seen = list(VALUES), np.ones(len(VALUES)), []
        self.bodies = set()

    def begin(self, number):
        """Publish the survey of a round, and return its name."""
        half = self.candidates[: (len(self.candidates) + 1) // 2]
        listed = self.strategy(number, half)
        fields, state, version, name = (
            (*listed, None, None, None)[:4] if isinstance(listed, tuple) else (listed, *[None] * 3)
        )
        self.survey = Survey.from_dict(fields)
        published = {
            "version": version or self.survey.version,
            "survey": self.survey.canonical,
            "state": state or "open",
        }
        self.page = answer(json.dumps(published).encode())
        return name or self.survey.name

    def __call__(self, lines, body):
        if lines[0].startswith("GET"):
            self.gets += 1
            return self.page
        self.posts.append(body)
        return answer(b'{"accepted": 1}')

    def end(self):
        """Take the silence, or the report, for what it may say."""
        holds = [self.survey.value(value) for value in VALUES]
        inside = {value for value, held in zip(VALUES, holds, strict=True) if held is not None}
        left = [value for value in self.candidates if (value in inside) == bool(self.posts)]
        self.candidates = left or self.candidates
        if self.posts and self.survey.oracle.name == "grr" and self.posts[0] not in self.bodies:  # sent again: no news
            (report,) = wire.decode(self.posts[0], self.survey.oracle, self.survey.version).data
            coin, size = self.survey.oracle.coin, self.survey.domain_size
            self.weights *= [
                1 / size if held is None else float(coin.p if held == report else coin.q) for held in holds
            ]
        self.bodies |= set(self.posts)
        self.seen.append((self.gets, [len(post) for post in self.posts]))
        self.posts, self.gets = [], 0

    @property
    def by_silence(self):
        return self.candidates[0]

    @property
    def by_reports(self):
        return VALUES[int(np.argmax(self.weights))]

    @property
    def belief(self):
        return float(self.weights.max() / self.weights.sum())


def attacked(strategy, value, kind=Client, limits=None, **program):
    """Let a program of a person answer whatever is offered; return what the collector has seen, and the person."""
    attacker, person = Attacker({**STRATEGIES, **SEVERAL}[strategy]), Participant(MemoryStore(), limits=limits)
    with raw(attacker) as (url, _):
        for number in range(ROUNDS):
            name = attacker.begin(number)
            try:
                asked(kind, url, lambda client, name=name: client.answer(name, value, participant=person, **program))
            except FldpError as error:
                attacker.errors.append(str(error))  # what a program may write into its log
            attacker.end()
    return attacker, person


def most_right(people, chance):
    """Return how many right guesses of so many are one too many: chance has as many with probability FALSE_ALARM."""
    for count in range(people + 1):
        tail = sum(comb(people, k) * chance**k * (1 - chance) ** (people - k) for k in range(count, people + 1))
        if tail <= FALSE_ALARM:
            return count
    return people + 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_collector_learns_what_the_ledger_says_and_no_more(strategy):
    """Everybody speaks alike, so silence tells nothing, and reports tell less than the ledger allows."""
    held = Random(strategy).sample(VALUES, PEOPLE)
    outcomes = [(value, *attacked(strategy, value)) for value in held]
    assert len({repr(attacker.seen) for _, attacker, _ in outcomes}) == 1  # who asks, speaks, how often and how long
    bounds = []
    for _, attacker, person in outcomes:
        power = exp(float(person.spent().epsilon))
        bounds.append(power / (power + len(VALUES) - 1))
        assert attacker.belief <= bounds[-1] * (1 + 1e-9)
    limit = most_right(PEOPLE, max(bounds))
    assert limit < PEOPLE / 3
    assert sum(value == attacker.by_silence for value, attacker, _ in outcomes) < limit
    assert sum(value == attacker.by_reports for value, attacker, _ in outcomes) < limit
    kept = {(person.history(), tuple(entry.count for entry in person.refusals())) for _, _, person in outcomes}
    assert len({len(history) for history, _ in kept}) == len({counts for _, counts in kept}) == 1
    said = {error.partition(": ")[2] for _, attacker, _ in outcomes for error in attacker.errors}
    assert not [error for error in said for value in held if f"'{value}'" in error or f'"{value}"' in error]


@pytest.mark.parametrize("strategy", ["other topics", "other names", "numbers"])
def test_the_client_of_an_event_loop_speaks_alike(strategy):
    traffic = [attacked(strategy, value, AsyncClient)[0].seen for value in ("0", "499", "500", "999")]
    assert all(seen == traffic[0] for seen in traffic)


@pytest.mark.parametrize("strategy", SEVERAL)
def test_who_leaves_questions_unanswered_speaks_alike(strategy):
    """The collector says which questions must be answered: a refusal would tell it who has no answer to them."""
    outcomes = [attacked(strategy, answers) for answers in ANSWERS]
    assert all(len(posts) == 1 for attacker, _ in outcomes for _, posts in attacker.seen)
    assert all(attacker.seen == outcomes[0][0].seen for attacker, _ in outcomes)
    assert {len(person.history()) for _, person in outcomes} == {ROUNDS}


def test_a_question_that_the_program_does_not_name_is_refused_whatever_the_answers():
    unnamed = [{name: answers[name] for name in HABITS[:2]} for answers in ANSWERS]
    for attacker, person in [attacked("all questions", answers) for answers in unnamed]:
        assert attacker.seen == [(1, [])] * ROUNDS
        assert [entry.count for entry in person.refusals()] == [ROUNDS]


@pytest.mark.parametrize("strategy", ["sensitive values", "groups"])
def test_who_allows_that_some_are_exposed_speaks_alike(strategy):
    """Then a report may name a value, and the ledger says so by eta; that somebody speaks still says nothing."""
    allowing = Limits(*[Limit(9, 0)] * 3, min_anonymity=1)
    traffic = [attacked(strategy, value, limits=allowing)[0].seen for value in ("0", "255", "256", "500", "999")]
    assert all(seen == traffic[0] for seen in traffic)
    assert all(len(posts) == 1 for _, posts in traffic[0])


@pytest.mark.parametrize("program", [{"labels": VALUES}, {"labels": VALUES, "otherwise": "999"}], ids=str)
def test_what_the_program_expects_is_compared_whatever_the_answer(program):
    """Labels that were never expected get no report from anybody; each refusal is counted."""
    for value in ("0", "999"):
        attacker, person = attacked("other names", value, **program)
        assert attacker.seen == [(1, [])] * ROUNDS
        assert person.history() == ()
        assert [entry.count for entry in person.refusals()] == [ROUNDS]


def test_a_version_that_the_program_expects():
    survey = Survey.from_dict(question(0, labels=offered(VALUES[:500])))
    for value in ("0", "999"):
        attacker, person = attacked("the same labels in other versions", value, version=survey.version)
        assert [len(posts) for _, posts in attacker.seen] == [1] + [0] * (ROUNDS - 1)
        assert [entry.count for entry in person.refusals()] == [ROUNDS - 1]


@pytest.mark.parametrize(
    "label", ["", "x" * 1025, "\ud800", None, 7, b"7"], ids=["none", "long", "half", "None", "7", "b"]
)
@pytest.mark.parametrize("strategy", ["other names", "strings", "a search", "numbers"])
def test_what_no_survey_may_hold_is_refused_before_anything_is_asked(strategy, label):
    """The rule is the same for every survey, so no collector can choose it, and it sees nothing of it."""
    attacker, person = attacked_with(strategy, label)
    assert attacker.gets == 0
    assert attacker.posts == []
    assert person.refusals() == person.history() == ()


def attacked_with(strategy, label):
    attacker, person = Attacker(STRATEGIES[strategy]), Participant(MemoryStore())
    with raw(attacker) as (url, _), Client(url) as client, pytest.raises(FldpError, match=r"\(not shown\)$"):
        client.answer(attacker.begin(0), label, participant=person)
    return attacker, person


# --- the time it takes: the same steps, whatever the answer is


def steps(work):
    """Count the functions that are called."""
    count = 0

    def called(frame, event, argument):
        nonlocal count
        count += event == "call"

    gc.disable()  # its callbacks are calls, too
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


@pytest.mark.parametrize(
    "fields",
    [
        renamed(0, VALUES[:500]),
        STRATEGIES["numbers"](0, VALUES[:500]),
        ranged(0, VALUES[:500]),
        ranged(0, VALUES[:500], apart=[float(value) for value in VALUES[1:100]]),
    ],
    ids=["labels", "numbers", "ranges", "apart"],
)
def test_every_answer_takes_the_same_steps(fields, monkeypatch):
    from fldp.participant.choice import Choice

    monkeypatch.setattr("secrets.randbelow", lambda size: 3)  # which draws again at random
    survey = Survey.from_dict(fields)
    Choice.of("0", otherwise="7").value(survey)  # fills caches, also those of isinstance
    counts = {steps(lambda value=value: Choice.of(value, otherwise="7").value(survey)) for value in VALUES}
    assert len(counts) == 1


def test_a_round_of_a_search_looks_at_every_prefix():
    survey = Survey.from_dict(searched(0, [*VALUES[:40], "1234567", "12345678901"]))

    class Counted(dict):
        looked = 0

        def get(self, key, default=None):
            self.looked += 1
            return super().get(key, default)

    places, looks = Counted(survey.search._places), set()
    survey.search.__dict__["_places"] = places
    for value in VALUES:
        places.looked = 0
        survey.value(value)
        looks.add(places.looked)
    assert looks == {len(survey.search._lengths)}
    assert survey.value("7") == 7
    assert survey.value("999") == survey.search.none
