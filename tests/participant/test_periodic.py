"""The ledger without NumPy: one batch for each period, by the same rules and in the same file as a participant's."""

import json
import os
import subprocess
import sys
from fractions import Fraction

import pytest

from fldp import BudgetError, FldpError, Limits, ParameterError, Participant, Responder, Spent
from fldp.participant import epochs
from fldp.participant.past_answers import newest
from fldp.participant.periodic import PeriodicSurvey, answer_period
from fldp.participant.sqlite_store import FileStore
from fldp.participant.store import find_answer
from fldp.participant.stored_answer import StoredAnswer, StoredDailyAnswer
from fldp.participant_store import MemoryStore
from fldp.survey import Survey
from support.participant_surveys import LABELS, ORIGIN, asked, specification

RENEWING = Limits.renewing()
BORN = "2026-10-01"


def survey(repeat="monthly", number=0, **changes):
    fields = {
        "origin": ORIGIN,
        "name": "theme",
        "topic": "paint",
        "version": f"{number:064}",
        "labels": ("a", "b", "c"),
    }
    cost = Spent(Fraction(1), Fraction(1), 1)
    return PeriodicSurvey(**{**fields, "cost": cost, "repeat": repeat, **changes})


class Drawing:
    """Draws batches that say of what and as which they were made."""

    def __init__(self):
        self.drawn = self.kept = 0

    def __call__(self, kept):
        self.drawn += 1
        return kept + b" batch %d" % self.drawn

    def keep(self):
        self.kept += 1
        return b"kept %d" % self.kept


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    return MemoryStore(born=BORN) if request.param == "memory" else FileStore(tmp_path / "answers.db", born=BORN)


def test_one_batch_for_each_period(store):
    draw, answers = Drawing(), {}
    for day in ("2026-11-01", "2026-11-30", "2026-12-01", "2026-11-16", "2026-12-31"):
        answers[day] = answer_period(store, survey(), RENEWING, draw, today=day)
    assert draw.drawn == 2
    assert answers["2026-11-01"] == answers["2026-11-30"] == answers["2026-11-16"]
    assert answers["2026-12-01"] == answers["2026-12-31"] != answers["2026-11-01"]
    assert (answers["2026-11-01"].report, len(answers["2026-11-01"].key)) == (b" batch 1", 43)
    with store.exclusive() as book:
        stored = {
            charge.epoch: StoredAnswer.verified(newest(find_answer(book, charge))) for charge in book.ledger.charges
        }
    assert stored == {"2026-11": answers["2026-11-01"], "2026-12": answers["2026-12-01"]}


def test_what_is_kept_is_drawn_and_charged_once(store):
    draw, costly = Drawing(), survey("weekly", cost=Spent(Fraction(2), Fraction(1), 1))
    days = ("2026-11-16", "2026-11-22", "2026-11-23", "2026-11-16")
    reports = [answer_period(store, costly, RENEWING, draw, keep=draw.keep, today=day) for day in days]
    assert [answer.report for answer in reports] == [b"kept 1 batch 1"] * 2 + [b"kept 1 batch 2"] * 2
    assert draw.kept == 1
    with store.exclusive() as book:
        (charge,) = book.ledger.charges
        stored = StoredDailyAnswer.verified(newest(find_answer(book, charge)))
    assert (charge.epoch, charge.renews, charge.cost.epsilon) == ("2026-W47", True, 2)
    assert (stored.last, epochs.epoch_of("weekly", stored.day)) == (reports[-1], "2026-W48")  # only the last one


def test_what_the_limits_do_not_cover_is_not_drawn(store):
    draw = Drawing()
    for number in range(2):
        answer_period(store, survey(number=number), RENEWING, draw, today="2026-11-16")
    with pytest.raises(BudgetError, match="in 2026-11 must have an epsilon of at most 2 together, got 3"):
        answer_period(store, survey(number=2), RENEWING, draw, keep=draw.keep, today="2026-11-17")
    with pytest.raises(BudgetError, match=f"the ledger began on {BORN}"):
        answer_period(store, survey(), RENEWING, draw, today="2026-10-31")
    assert (draw.drawn, draw.kept) == (2, 0)
    with store.exclusive() as book:
        assert [entry.count for entry in book.refusals] == [2]


def test_a_draw_that_fails_costs_nothing(store):
    def broken(kept):
        raise OSError

    with pytest.raises(OSError, match=r"^$"):
        answer_period(store, survey(), RENEWING, broken, today="2026-11-16")
    with store.exclusive() as book:
        assert book.ledger.charges == ()


def test_nobody_is_there_to_confirm_anything(store):
    with pytest.raises(BudgetError, match="it has 2 labels, fewer than 3"):
        answer_period(store, survey(labels=("a", "b")), RENEWING, Drawing(), today="2026-11-16")
    answer_period(store, survey(), RENEWING, Drawing(), today="2026-11-16")
    changed = survey(number=1, labels=("a", "b", "c", "d"))
    with pytest.raises(BudgetError, match="its labels have changed since 2026-11-16: 3 then, 4 now"):
        answer_period(store, changed, RENEWING, Drawing(), today="2026-12-16")


def test_without_a_limit_for_months_it_is_charged_for_good(store):
    for day in ("2026-10-16", "2026-11-16"):
        answer_period(store, survey(), Limits(), Drawing(), today=day)
    with pytest.raises(BudgetError, match=r"answers on topic paint .* at most 2 together, got 3"):
        answer_period(store, survey(), Limits(), Drawing(), today="2026-12-16")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"repeat": "daily"}, "PeriodicSurvey: repeat must be one of 'weekly', 'monthly', got 'daily'"),
        ({"version": "1"}, "PeriodicSurvey: version must be 64 hexadecimal digits in lower case, got '1'"),
        ({"origin": "here"}, "origin"),
    ],
)
def test_what_is_no_survey_of_periods(changes, message):
    with pytest.raises(ParameterError, match=message):
        survey(**changes)
    with pytest.raises(ParameterError, match="answer_period: today must be a day"):
        answer_period(MemoryStore(), survey(), RENEWING, Drawing(), today="soon")


def test_a_participant_finds_the_same_answer(tmp_path, monkeypatch):
    """Both ways write the same rows, so that a person sees everything in one place."""
    monkeypatch.setattr("fldp.participant.participant._today", lambda: "2026-11-16")
    fields = Survey.from_dict(specification(collect={"repeat": "monthly"}))
    light = survey(name="browser", topic="browser", version=fields.version, labels=tuple(LABELS))
    store, responder = FileStore(tmp_path / "answers.db", born=BORN), Responder.from_dict(fields.canonical)
    drawn = answer_period(store, light, RENEWING, lambda kept: responder.encode("firefox"), today="2026-11-16")
    person = Participant(store, limits=RENEWING)
    answer = asked(person, fields.canonical)
    assert (answer.report, answer.key, answer.repeated) == (drawn.report, drawn.key, True)
    (by_light,) = person.history()
    other = Participant(FileStore(tmp_path / "other.db", born=BORN), limits=RENEWING)
    whole = asked(other, fields.canonical)
    assert other.history() == (by_light,)
    again = answer_period(FileStore(tmp_path / "other.db"), light, RENEWING, Drawing(), today="2026-11-16")
    assert (again.report, again.key) == (whole.report, whole.key)


@pytest.mark.parametrize("kept", [False, True])
def test_a_damaged_answer_is_never_drawn_again(tmp_path, kept):
    store, draw = FileStore(tmp_path / "answers.db", born=BORN), Drawing()
    keep = draw.keep if kept else None
    answer_period(store, survey(), RENEWING, draw, keep=keep, today="2026-11-16")
    with store.exclusive() as book:
        book.replace(book.ledger.charges[0], b"something else")
    for day in ("2026-11-16", "2026-12-16")[: 1 + kept]:
        with pytest.raises(FldpError, match="the stored answer to survey theme is damaged; restore it from a copy"):
            answer_period(store, survey(), RENEWING, draw, keep=keep, today=day)
    assert draw.drawn == 1


LIGHT = """
import json, sys
from fldp.participant.limits import Limits, Spent
from fldp.participant import epochs
from fldp.participant.past_answers import newest
from fldp.participant.periodic import PeriodicSurvey, answer_period
from fldp.participant.sqlite_store import FileStore
from fldp.participant.store import find_answer
from fldp.participant.stored_answer import StoredAnswer, StoredDailyAnswer
from fldp.responder.responder import Responder

oracle = {"name": "grr", "epsilon": 1.0, "domain_size": 3}
responder = Responder.from_dict(oracle)
survey = PeriodicSurvey("https://a.example", "n", "t", "0" * 64, ("a", "b", "c"), Spent(1, 1, 1), "monthly")
store = FileStore(sys.argv[1], born="2020-01-01")
stored = answer_period(store, survey, Limits.renewing(), lambda kept: responder.encode(1), today="2026-11-16")
heavy = ["numpy", "numba", "httpx", "cryptography", "fldp.oracles", "fldp.survey", "fldp.participant.participant"]
print(json.dumps([stored.key, [name for name in heavy if name in sys.modules]]))
"""


def test_it_loads_nothing_heavy_and_two_processes_draw_once(tmp_path):
    command = [sys.executable, "-c", LIGHT, str(tmp_path / "answers.db")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) for _ in range(2)]
    said = [json.loads(process.communicate()[0]) for process in running]
    assert [loaded for _, loaded in said] == [[], []]
    assert said[0][0] == said[1][0]


def test_what_was_withdrawn_is_answered_in_no_later_period(store):
    draw, other = Drawing(), survey(number=1)
    sent = [answer_period(store, survey(), RENEWING, draw, today=day) for day in ("2026-11-16", "2026-12-01")]
    person = Participant(store)
    assert set(person.withdraw(survey().version, origin=ORIGIN)) == set(sent)
    assert person.withdrawn(survey().version, origin=ORIGIN)
    for day in ("2026-12-01", "2027-01-01"):
        with pytest.raises(BudgetError, match="was withdrawn, and cannot be given again"):
            answer_period(store, survey(), RENEWING, draw, today=day)
    assert draw.drawn == 2
    assert not person.withdrawn(other.version, origin=ORIGIN)
    assert answer_period(store, other, RENEWING, draw, today="2027-01-01").report == b" batch 3"


def test_all_reports_of_what_is_kept_can_be_withdrawn(store):
    draw, kept = Drawing(), survey("weekly")
    days = ("2026-11-16", "2026-11-23", "2026-11-30")
    sent = [answer_period(store, kept, RENEWING, draw, keep=draw.keep, today=day) for day in days]
    assert Participant(store).withdraw(kept.version, origin=ORIGIN) == tuple(reversed(sent))
    with pytest.raises(BudgetError, match="was withdrawn"):
        answer_period(store, kept, RENEWING, draw, keep=draw.keep, today="2026-12-07")
