"""A server that wants more than one answer, and whatever it may ask for."""

from fractions import Fraction

import pytest

import fldp
from fldp import BudgetError, Limit, Limits, Participant, Spent, wire
from fldp.participant_store import MemoryStore
from support.participant_surveys import LABELS, ORIGIN, WIDE, asked, oracle, served, specification, yes

HALF = Fraction(1, 2)


@pytest.fixture
def participant():
    return Participant(MemoryStore())


def test_fifty_versions_of_an_fhr_survey(participant):
    """A dozen reports would determine the value; it gets one."""
    surveys = [specification(number, oracle=oracle("fhr")) for number in range(50)]
    answers, reasons = served(participant, surveys * 2)
    assert len({answer.report for answer in answers}) == 1
    assert [answer.repeated for answer in answers] == [False, True]
    assert len(reasons) == 98
    assert reasons[0] == (
        f"participant: answers on topic browser to {ORIGIN} must have an eta of at least 1/2 together, got 1/4"
    )


def test_fifty_versions_of_a_plain_survey(participant):
    answers, reasons = served(participant, [specification(number) for number in range(50)])
    assert len(answers) == 2
    assert reasons[-1].endswith("must have an epsilon of at most 2 together, got 3")
    assert participant.spent(origin=ORIGIN, topic="browser") == Spent(Fraction(2), Fraction(1), 2)


@pytest.mark.parametrize("key", ["name", "topic"])
def test_fifty_names(participant, key):
    """Each name is a topic of its own, so the limit of the origin has to hold."""
    answers, reasons = served(participant, [specification(**{key: f"t{number}"}) for number in range(50)])
    assert len(answers) == 4
    assert reasons[0] == f"participant: answers to {ORIGIN} must have an epsilon of at most 4 together, got 5"
    answers, reasons = served(
        Participant(MemoryStore()),
        [specification(**{key: f"t{number}"}, oracle=oracle("fhr", 0.01)) for number in range(50)],
    )
    assert len(answers) == 2
    assert reasons[0] == f"participant: answers to {ORIGIN} must have an eta of at least 1/4 together, got 1/8"


def test_another_name_is_the_same_topic(participant):
    surveys = [specification(name=f"n{number}", topic="web", oracle=oracle("fhr")) for number in range(50)]
    assert len(served(participant, surveys)[0]) == 1


def test_fifty_origins(participant):
    answers = []
    for number in range(50):
        answered, reasons = served(participant, [specification(number % 2)], origin=f"https://c{number}.example")
        answers += answered
    assert len(answers) == 8
    assert len({answer.report for answer in answers}) == 8  # the same bytes would tell origins who is who
    assert reasons == ["participant: all answers must have an epsilon of at most 8 together, got 9"]


def test_many_questions_of_hardly_any_epsilon(participant):
    answers, reasons = served(participant, [specification(number, oracle=oracle("olh", 1e-6)) for number in range(105)])
    assert len(answers) == 100
    assert "must have a number of at most 100, got 101" in reasons[0]


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (oracle("olh", 1.5), "an epsilon of at most 2 together, got 2.5"),
        (oracle("olh", 20), "an epsilon of at most 2 together, got 21"),
        (oracle("fwr", 0.1, eta=0.25), "an eta of at least 1/2 together, got 1/4"),
        (oracle("fwr", 0.1, eta=0.0625, allow_exposure=True), "an eta of at least 1/2 together, got 1/16"),
    ],
)
def test_more_epsilon_and_less_eta(participant, second, reason):
    labels = [str(number) for number in range(16)]
    asked(participant, specification(labels=labels), "7")
    with pytest.raises(BudgetError, match=reason):
        asked(participant, specification(labels=labels, oracle=second), "7", confirm=yes)
    assert len(participant.history()) == 1


def test_a_first_survey_has_to_fit_too(participant):
    for fields in (specification(oracle=oracle("olh", 2.5)), specification(oracle=oracle("grr", 20))):
        with pytest.raises(BudgetError, match="an epsilon of at most 2 together, got"):
            asked(participant, fields)
    assert participant.history() == ()


@pytest.mark.parametrize("labels", [["firefox", "other"], ["firefox", "a", "b", "c", "d"], [*LABELS, "lynx"]])
def test_other_labels_are_shown_to_the_person(participant, labels):
    asked(participant, specification())
    changed = specification(labels=labels, oracle=oracle("grr", 0.1))
    day = participant.history()[0].day
    shown = []

    def no(notices):
        shown.append(notices)
        return False

    told = f"its labels have changed since {day}: 5 then, {len(labels)} now"
    with pytest.raises(BudgetError, match=rf"survey browser must be confirmed \(.*{told}\): nobody was asked"):
        asked(participant, changed)
    with pytest.raises(BudgetError, match=rf"{told}\): declined$"):
        asked(participant, changed, confirm=no)
    assert shown[0][-1] == told
    assert len(participant.history()) == 1
    answer = asked(participant, changed, confirm=yes)
    assert answer.notices == shown[0]
    assert asked(participant, changed).repeated  # nothing new, so nothing to confirm
    with pytest.raises(BudgetError, match="must be confirmed"):  # back again is a change as well
        asked(participant, specification(1, oracle=oracle("grr", 0.1)))


def test_the_order_of_labels_is_no_change(participant):
    asked(participant, specification())
    assert not asked(participant, specification(labels=LABELS[::-1])).notices


def test_a_survey_of_one_person_and_the_rest(participant):
    """Under another name there is nothing to compare with; that it has two labels is shown all the same."""
    fields = specification(name="else", labels=["Ann Other, 1 High Street", "somebody else"], oracle=oracle("grr"))
    with pytest.raises(BudgetError, match=r"must be confirmed \(it has 2 labels, fewer than 3\): nobody was asked"):
        asked(participant, fields, "somebody else")
    assert asked(participant, fields, "somebody else", confirm=yes).notices == ("it has 2 labels, fewer than 3",)
    numbers = {**specification(name="numbers"), "domain_size": 2}
    del numbers["labels"]
    with pytest.raises(BudgetError, match="it has 2 labels"):
        asked(participant, numbers, "1")


def test_nobody_is_asked_about_what_is_refused_anyway(participant):
    def never(notices):
        raise AssertionError

    with pytest.raises(BudgetError, match="epsilon of at most 2"):
        asked(participant, specification(labels=["a", "b"], oracle=oracle("grr", 9)), "a", confirm=never)


def test_what_changes_while_the_person_thinks_is_asked_again(participant):
    """Another program answers with other labels meanwhile: the notice that was confirmed is not the one that holds."""
    asked(participant, specification(oracle=oracle("grr", 0.1)))
    shown = []

    def slowly(notices):
        shown.append(notices)
        if len(shown) == 1:
            asked(participant, specification(1, labels=list("abcdef"), oracle=oracle("grr", 0.1)), "a", confirm=yes)
        return True

    answer = asked(participant, specification(2, labels=list("abcd"), oracle=oracle("grr", 0.1)), "a", confirm=slowly)
    assert [notices[0].split(": ")[1] for notices in shown] == ["5 then, 4 now", "6 then, 4 now"]
    assert answer.notices == shown[1]


@pytest.mark.parametrize(
    "fields",
    [
        specification(labels=["a", "b"], oracle=oracle("fhr", allow_exposure=True)),
        specification(labels=list("abcde"), oracle=oracle("fwr", eta=0.5, allow_exposure=True)),
        specification(labels=list("abcd"), oracle=oracle("fhr", items="paper", allow_exposure=True)),
    ],
)
def test_a_report_that_can_expose(participant, fields):
    with pytest.raises(BudgetError, match="a report must leave at least 2 values possible, got 1"):
        asked(participant, fields, "a", confirm=yes)
    bold = Participant(MemoryStore(), limits=Limits(min_anonymity=1))
    assert not asked(bold, fields, "a", confirm=yes).repeated
    cautious = Participant(MemoryStore(), limits=Limits(min_anonymity=3))
    with pytest.raises(BudgetError, match="at least 3 values possible, got 2"):
        asked(cautious, specification(labels=list("abcd"), oracle=oracle("fhr")), "a")


def test_an_eta_of_zero(participant, monkeypatch):
    """What answers on part of the domain only, as grouping does, is never within a min_eta above 0."""
    monkeypatch.setattr(fldp.GRR, "eta", Fraction(0))
    fields = specification(oracle=oracle("grr"))
    with pytest.raises(BudgetError, match="an eta of at least 1/2 together, got 0; answers to"):
        asked(participant, fields)
    none = Limit(10, 0)
    free = Participant(MemoryStore(), limits=Limits(none, none, none))
    assert asked(free, fields).spent.eta == 0


def test_asking_again_after_a_restart(tmp_path):
    path = tmp_path / "answers.db"
    surveys = [specification(number, oracle=oracle("fhr")) for number in range(10)]
    first = asked(Participant(path), surveys[0])
    for _ in range(3):
        answers, reasons = served(Participant(path), surveys)
        assert [answer.report for answer in answers] == [first.report]
        assert len(reasons) == 9
    assert Participant(path).spent() == Spent(Fraction(1), HALF, 1)


@pytest.mark.parametrize(
    "spelling",
    [
        "https://collector.example/",
        "HTTPS://Collector.EXAMPLE",
        "https://collector.example:443",
        "https://collector.example.",
    ],
)
def test_other_spellings_of_an_origin(participant, spelling):
    first = asked(participant, specification(), origin=ORIGIN)
    assert asked(participant, specification(), origin=spelling).report == first.report
    assert participant.spent(origin=spelling) == participant.spent(origin=ORIGIN)


def test_ten_answers_at_a_tenth(participant):
    limits = Limits(topic=Limit(max_epsilon=1.0, min_eta=1))
    answers, reasons = served(
        Participant(MemoryStore(), limits=limits), [specification(k, oracle=oracle("grr", 0.1)) for k in range(12)]
    )
    assert len(answers) == 10
    assert answers[-1].spent == Spent(Fraction(1), Fraction(1), 10)
    assert reasons[0].endswith("must have an epsilon of at most 1 together, got 1.1")


def test_wide_limits_do_let_a_dozen_reports_through():
    """The attack works where the limits allow it: what stops it above is the ledger, not luck."""
    answers, _ = served(
        Participant(MemoryStore(), limits=WIDE), [specification(k, oracle=oracle("fhr")) for k in range(30)]
    )
    assert len({answer.report for answer in answers}) == 30
    possible = set(range(5))
    for answer in answers:
        data = wire.decode(answer.report).data[0]
        mask = int(data["plus"]) ^ int(data["minus"])
        possible &= {value for value in range(5) if (mask & (value + 3)).bit_count() & 1}
    assert possible == {LABELS.index("firefox")}  # fails once in about 2^28
