import inspect
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import pytest

from fldp import BudgetError, Limit, Limits, ParameterError, Participant, Spent, wire
from fldp.participant.ledger import Ledger
from fldp.participant_store import MemoryStore
from fldp.survey import Survey
from support.participant_surveys import LABELS, ORIGIN, asked, oracle, specification, yes

FALSE_ALARM = 1e-9


@pytest.fixture
def participant():
    return Participant(MemoryStore())


def test_an_answer_is_one_report_of_the_survey(participant):
    survey = Survey.from_dict(specification())
    answer = asked(participant, survey)
    reports = wire.decode(answer.report, survey.oracle, survey.version)
    assert len(reports) == 1
    assert (answer.repeated, answer.notices, answer.spent) == (False, (), Spent(Fraction(1), Fraction(1), 1))
    assert survey.oracle.tally(reports).n == 1


@pytest.mark.long
def test_it_is_drawn_as_the_oracle_says():
    """Of 2,000 people who say yes, e/(e+1) reports must; a false alarm has probability 1e-9."""
    fields = specification(labels=["no", "yes"], oracle=oracle("rr", 1.0))
    survey, people = Survey.from_dict(fields), 2000
    said = [
        wire.decode(asked(Participant(MemoryStore()), survey, "yes", confirm=yes).report).data for _ in range(people)
    ]
    p = float(survey.oracle.estimator.p)
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / 2)
    assert abs(sum(int(data[0]) for data in said) - people * p) <= limit * sqrt(people * p * (1 - p))


def test_there_is_no_seed_to_give():
    for function in (Participant, Participant.answer):
        assert not {"rng", "seed", "stream"} & inspect.signature(function).parameters.keys()


def test_the_same_version_is_repeated_bit_for_bit(participant):
    first = asked(participant, specification())
    for label in LABELS * 5:  # if it were drawn anew, 64 bits of seed would differ
        again = asked(participant, specification(), label)
        assert (again.report, again.repeated, again.spent) == (first.report, True, first.spent)
    assert len(participant.history()) == 1


def test_a_repeat_outlives_the_limits(tmp_path):
    path = tmp_path / "answers.db"
    first = asked(Participant(path), specification())
    strict = Limits(Limit(0.1, 1), Limit(0.1, 1), Limit(0.1, 1), min_anonymity=100, min_labels=100)
    assert asked(Participant(path, limits=strict), specification()).report == first.report
    with pytest.raises(BudgetError):
        asked(Participant(path, limits=strict), specification(1))


def today():
    return datetime.now(UTC).date().isoformat()


def test_what_is_kept_says_nothing_of_the_truth(tmp_path):
    kept, days = {}, [today()]
    for label in LABELS:
        path = tmp_path / f"{LABELS.index(label)}.db"
        asked(Participant(path), specification(), label)
        assert not [word for word in LABELS if word.encode() in path.read_bytes()]
        kept[label] = Participant(path).history()
    days.append(today())
    (entry,) = kept["edge"]
    assert entry.day in days  # and no hour
    assert len(set(kept.values())) == len(set(days))
    assert (entry.origin, entry.topic, entry.size) == (ORIGIN, "browser", 5)
    assert entry.version == Survey.from_dict(specification()).version


class Notebook:
    """A store of the caller's, as simple as it gets."""

    def __init__(self):
        self.pages = {}

    @contextmanager
    def exclusive(self):
        yield self

    @property
    def ledger(self):
        return Ledger(tuple(charge for charge, _ in self.pages.values()))

    def find(self, origin, version):
        return self.pages.get((origin, version), (None, None))[1]

    def add(self, charge, kept):
        self.pages[charge.origin, charge.version] = (charge, kept)


def test_a_store_of_the_callers():
    notebook = Notebook()
    first = asked(Participant(notebook), specification())
    assert asked(Participant(notebook), specification()).report == first.report
    with pytest.raises(BudgetError):
        asked(Participant(notebook), specification(oracle=oracle("olh", 9)))
    assert Participant(notebook).refusals() == ()  # it has nothing to count them with, and works without
    assert len(notebook.pages) == 1


def test_bad_arguments():
    with pytest.raises(ParameterError, match="Participant: store must be the name of a file, or a store"):
        Participant(None)
    with pytest.raises(ParameterError, match=r"Participant: limits must be Limits, got 1.0"):
        Participant(MemoryStore(), limits=1.0)
