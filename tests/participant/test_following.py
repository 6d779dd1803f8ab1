"""Answers that follow a value that changes: a basis that is drawn once, the label asked for each day, charged once."""

import json
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from fldp import BudgetError, DomainError, FldpError, Participant, Spent, wire
from fldp.participant.headroom import headroom
from fldp.participant.participant import _kept
from fldp.participant.past_answers import newest
from fldp.participant.sqlite_store import FileStore
from fldp.participant.stored_answer import StoredAnswer, StoredDailyAnswer
from fldp.participant_store import MemoryStore
from fldp.survey import Survey, SurveyError
from support.participant_surveys import LABELS, ORIGIN, WIDE, asked, specification

RESPONSE = {"name": "lwr", "epsilon": 0.5, "epsilon_permanent": 1.0}
PLAIN = {"name": "lwr", "epsilon": 13.9, "epsilon_permanent": 14.0}  # hardly any noise
SCRIPT = ("-m", "support.following_process")


def following(**changes):
    return specification(**{"oracle": RESPONSE, "collect": {"repeat": "daily"}, **changes})


@pytest.fixture
def today(monkeypatch):
    def set_to(day):
        monkeypatch.setattr("fldp.participant.participant._today", lambda: day)

    set_to("2026-11-01")
    return set_to


def stored(store, fields):
    with store.exclusive() as book:
        return StoredDailyAnswer.verified(newest(book.find(ORIGIN, Survey.from_dict(fields).version)))


def read(answer, fields):
    survey = Survey.from_dict(fields)
    (report,) = wire.decode(answer.report, survey.oracle, survey.version).data.tolist()
    return report


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_new_label_each_day_at_no_further_cost(today, tmp_path, kind):
    store = MemoryStore() if kind == "memory" else FileStore(tmp_path / "answers.db")
    fields = following()
    first = asked(Participant(store), fields, "chrome")
    assert (first.repeated, first.spent) == (False, Spent(Fraction(2), Fraction(1), 1))
    basis = stored(store, fields).permanent
    for label in LABELS:
        again = asked(Participant(store), fields, label)
        assert (again.report, again.key, again.repeated) == (first.report, first.key, True)
    seen = [first]
    for day, label in (("2026-11-02", "firefox"), ("2026-11-05", "chrome"), ("2027-01-01", "other")):
        today(day)
        answer = asked(Participant(store), fields, label)
        same = asked(Participant(store), fields, "safari")
        assert not answer.repeated
        assert (same.report, same.key, same.repeated) == (answer.report, answer.key, True)
        assert answer.spent == first.spent
        assert stored(store, fields).permanent == basis
        seen.append(answer)
    assert len({answer.key for answer in seen}) == 4
    assert len({read(answer, fields)[0] for answer in seen}) == 1  # the mask is for good
    assert [charge.day for charge in Participant(store).history()] == ["2026-11-01"]
    today("2026-11-30")
    back = asked(Participant(store), fields, "edge")
    assert (back.report, back.key, back.repeated) == (seen[-1].report, seen[-1].key, True)


def test_the_label_of_the_day_is_reported(today):
    """With hardly any noise a report is the parity of the label under the mask, as on the day: wrong in one of 10^5."""
    fields = following(oracle=PLAIN)
    survey, items = Survey.from_dict(fields), Survey.from_dict(fields).oracle._parities.items
    for person in range(6):
        store = MemoryStore()
        for day, label in enumerate((*LABELS, *LABELS), start=1):
            today(f"2026-11-{day:02}")
            mask, bit = read(asked(Participant(store, limits=WIDE), fields, label), fields)
            assert bit == int(items[survey.labels.index(label)] & mask).bit_count() % 2, person


def test_what_is_kept_is_drawn_before_the_answer():
    """Five labels, one law of what is kept: of 32 bases, none is further from the mean than 5 deviations of a count.

    A false alarm in fewer than 1 of 5,000 runs; a basis that had the symbol of the label would be off by 20.
    """
    survey = Survey.from_dict(following())
    kept = [Counter(_kept(survey, value) for _ in range(500)) for value in range(5)]
    for basis in {basis for counts in kept for basis in counts}:
        mean = sum(counts[basis] for counts in kept) / 5
        assert all(abs(counts[basis] - mean) < 5 * mean**0.5 + 3 for counts in kept)


def test_the_file_tells_no_label(today, tmp_path):
    path, fields = tmp_path / "answers.db", following()
    asked(Participant(path), fields, "safari")
    assert b"safari" not in path.read_bytes()
    assert len(stored(FileStore(path), fields).permanent) == 1  # a mask of 3 bits and 2 answers


def test_asked_once_only_the_report_is_charged_and_kept(today):
    store, fields = MemoryStore(), following(collect={})
    first = asked(Participant(store), fields)
    assert first.spent == Spent(Fraction(1, 2), Fraction(1), 1)
    with store.exclusive() as book:
        assert StoredAnswer.verified(book.find(ORIGIN, Survey.from_dict(fields).version)).report == first.report
    today("2026-12-01")
    again = asked(Participant(store), fields, "chrome")
    assert (again.report, again.repeated) == (first.report, True)


def test_the_limits_are_about_all_reports_together(today):
    """A topic may cost 2, which is two symbols of epsilon 1; four symbols, or a second version, are refused."""
    participant = Participant(MemoryStore())
    asked(participant, following())
    with pytest.raises(BudgetError, match="must have an epsilon of at most 2 together, got 4"):
        asked(participant, following(question="And now?"))
    with pytest.raises(BudgetError, match="must have an epsilon of at most 2 together, got 4"):
        asked(Participant(MemoryStore()), following(oracle={**RESPONSE, "hash_bits": 2}))
    today("2026-11-02")
    assert not asked(participant, following(), "edge").repeated


def test_headroom_names_the_parameter_that_helps():
    assert headroom(Survey.from_dict(following())).on_topic == 1
    (warning,) = headroom(Survey.from_dict(following(oracle={**RESPONSE, "hash_bits": 2}))).warnings
    assert warning == (
        "an answer costs epsilon 4, and the default limit of a device for a topic is 2: "
        "set epsilon_permanent to 0.5 or less"
    )


def test_an_unknown_label_is_drawn_as_another(today):
    """On a later day as on the first: a refusal would tell; with labels of the program's own it is an error before."""
    store, fields = MemoryStore(), following()
    asked(Participant(store), fields, "chrome")
    today("2026-11-02")
    assert not asked(Participant(store), fields, "lynx").repeated
    today("2026-11-03")
    with pytest.raises(DomainError):
        asked(Participant(store), fields, "lynx", labels=LABELS)


def test_a_closed_survey_gets_the_last_report_again(today):
    participant, fields = Participant(MemoryStore()), following()
    first = asked(participant, fields)
    today("2026-11-02")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fldp.participant.participant._closed", lambda survey: ("it has closed",))
        again = asked(participant, fields, "edge")
    assert (again.report, again.repeated) == (first.report, True)


def test_many_threads_draw_one_report_a_day(today, tmp_path):
    path, fields = tmp_path / "answers.db", following()
    asked(Participant(path), fields)
    today("2026-11-02")
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda label: asked(Participant(path), fields, label), LABELS))
    assert len({(answer.report, answer.key) for answer in answers}) == 1
    assert [answer.repeated for answer in answers].count(False) == 1


@pytest.mark.parametrize("change", [lambda kept: kept + b"\0", lambda kept: b"\xff", lambda kept: b""])
def test_a_damaged_basis_is_never_drawn_again(today, change):
    store, fields = MemoryStore(), following()
    asked(Participant(store), fields)
    ((place, data),) = store._kept.items()
    daily = StoredDailyAnswer.verified(data)
    store._kept[place] = StoredDailyAnswer(change(daily.permanent), daily.day, daily.last).with_checksum
    today("2026-11-02")
    with pytest.raises(FldpError, match="the stored answer to survey browser is damaged"):
        asked(Participant(store), fields)


def killed(*arguments):
    process = subprocess.run([sys.executable, *SCRIPT, *map(str, arguments)], capture_output=True, text=True)
    assert process.returncode == -signal.SIGKILL, process.stderr
    return json.loads(process.stdout)


@pytest.mark.parametrize("step", ["drawn", "replaced", "committed"])
@pytest.mark.long
def test_killed_at_any_point_of_a_later_day_it_keeps_the_same_table(tmp_path, step):
    """What was on the disk before is there after; a report that was committed is repeated, another was never sent."""
    store = FileStore(tmp_path / "answers.db")
    asked(Participant(store), following(), "chrome")
    with store.exclusive() as book:  # so that today is another day
        charge = book.ledger.charges[0]
        daily = StoredDailyAnswer.verified(book.find(ORIGIN, charge.version))
        book.replace(charge, StoredDailyAnswer(daily.permanent, "2026-01-01", daily.last).with_checksum)
    said = killed(store.path, step)
    after = stored(store, following())
    assert after.permanent == daily.permanent
    answer = asked(Participant(store), following(), "edge")
    assert answer.repeated == (step == "committed")
    assert (answer.key == said["key"]) == (step == "committed")
    assert stored(store, following()).permanent == daily.permanent
    assert Participant(store).spent().epsilon == 2


@pytest.mark.parametrize("step", ["drawn", "added", "committed"])
@pytest.mark.long
def test_killed_at_the_first_answer_nothing_or_all_is_kept(tmp_path, step):
    store = FileStore(tmp_path / "answers.db")
    said = killed(store.path, step)
    assert Participant(store).spent().epsilon == (2 if step == "committed" else 0)
    answer = asked(Participant(store), following(), "edge")
    assert answer.repeated == (step == "committed")
    kept = stored(store, following()).permanent.hex()
    assert (kept == said["kept"] and answer.key == said["key"]) == (step == "committed")


def test_the_rule_of_a_survey():
    daily = Survey.from_dict(following())
    assert daily.daily
    assert Survey.from_dict(daily.canonical).version == daily.version
    with pytest.raises(SurveyError, match="the oracle must be"):
        Survey.from_dict(following(collect={"submit": "ticket", "derive": True}))
