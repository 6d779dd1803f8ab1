"""What an answer becomes where the survey lacks it: the label that the program names for that, or one at random."""

from math import sqrt
from statistics import NormalDist

import pytest

from fldp import BudgetError, DomainError, ParameterError, Participant, wire
from fldp.participant.choice import Choice
from fldp.participant_store import MemoryStore
from fldp.survey import Survey
from support.participant_surveys import LABELS, WIDE, asked, oracle, specification, yes

FALSE_ALARM = 1e-9
CERTAIN = oracle("grr", 30)  # hardly any noise: a report is the value, except for one in 10^12


def drawn(fields, label, **program):
    """Return the value that was perturbed."""
    survey, person = Survey.from_dict({**fields, "oracle": CERTAIN}), Participant(MemoryStore(), limits=WIDE)
    report = asked(person, survey, label, confirm=yes, **program).report
    return survey.label(int(wire.decode(report, survey.oracle, survey.version).data[0]))


@pytest.mark.parametrize(
    ("label", "program", "expected"),
    [
        ("edge", {}, "edge"),
        ("edge", {"otherwise": "other"}, "edge"),
        ("lynx", {"otherwise": "other"}, "other"),
        ("", {"otherwise": "other"}, "other"),
        ("x" * 2000, {"otherwise": "other"}, "other"),
        (None, {"otherwise": "other"}, "other"),
        ("edge", {"labels": LABELS}, "edge"),
        ("edge", {"labels": iter(reversed(LABELS))}, "edge"),
        ("lynx", {"labels": LABELS, "otherwise": "other"}, "other"),
    ],
)
def test_the_answer_or_what_the_program_names_for_others(label, program, expected):
    assert drawn(specification(), label, **program) == expected


@pytest.mark.long
@pytest.mark.parametrize("program", [{}, {"otherwise": "none of these"}])
@pytest.mark.parametrize(
    "fields", [specification(), {**specification(labels=None), "domain_size": 5}], ids=["labels", "numbers"]
)
def test_anything_else_is_a_label_at_random(fields, program):
    """Each of five labels for a fifth of 1,000 people; a false alarm has a probability of at most 1e-9.

    A label for nobody, or for twice as many, is missed with a smaller one.
    """
    people, fields = 1000, {key: value for key, value in fields.items() if value is not None}
    counts = dict.fromkeys(LABELS if "labels" in fields else map(str, range(5)), 0)
    for _ in range(people):
        counts[drawn(fields, "lynx", **program)] += 1
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / 10) * sqrt(people * 0.2 * 0.8)
    assert all(abs(count - people / 5) <= limit for count in counts.values())


def test_every_number_is_as_likely():
    """The operating system's randomness is cut to size without a remainder."""
    fields = {**specification(), "domain_size": 3}
    del fields["labels"]
    survey, people = Survey.from_dict(fields), 30_000
    counts = [0, 0, 0]
    for _ in range(people):
        counts[Choice.of("lynx").value(survey)] += 1
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / 6) * sqrt(people * 2 / 9)
    assert all(abs(count - people / 3) <= limit for count in counts)


def test_labels_that_the_survey_does_not_have_in_exactly_that_set():
    for labels in (LABELS[:-1], [*LABELS, "lynx"], [*LABELS[:-1], "Other"], ["edge"]):
        for label in ("edge", "lynx"):
            person = Participant(MemoryStore())
            program = {"labels": labels, "otherwise": labels[0]}
            with pytest.raises(BudgetError, match=r"must have the [0-9]+ labels that the program expects$"):
                asked(person, specification(), label, **program)
            assert person.history() == ()
            assert person.refusals()[0].count == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": None, "domain_size": 5},
        {"labels": None, "domain": "strings", "oracle": oracle("hcms", hashes=2, width=4)},
    ],
    ids=["numbers", "strings"],
)
def test_a_survey_without_labels_is_not_what_a_program_with_labels_expects(changes):
    fields = {key: value for key, value in specification(**changes).items() if value is not None}
    with pytest.raises(BudgetError, match="must have the 5 labels that the program expects"):
        asked(Participant(MemoryStore()), fields, "edge", labels=LABELS)


def test_an_answer_that_the_program_itself_does_not_have():
    """A mistake of the program, said before any survey is looked at: not even one that is none."""
    person = Participant(MemoryStore())
    for survey in (specification(), None, "nonsense"):
        with pytest.raises(DomainError, match=r"the program's own labels \(not shown\)$") as error:
            asked(person, survey, "lynx", labels=LABELS)
        assert "lynx" not in str(error.value)
    assert person.refusals() == ()


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ({"labels": "edge"}, "participant: labels must be a list of the labels"),
        ({"labels": []}, "participant: labels must be a list of the labels"),
        ({"labels": 7}, "participant: labels must be a list of the labels"),
        ({"labels": ["edge", 7]}, "participant: labels must be a list of the labels"),
        ({"labels": ["edge", ""]}, "participant: labels must be a list of the labels"),
        ({"otherwise": ""}, "participant: otherwise must be a label"),
        ({"otherwise": 7}, "participant: otherwise must be a label"),
        ({"labels": LABELS, "otherwise": "lynx"}, "participant: otherwise must be a label, and one of labels"),
    ],
)
def test_programs_that_make_no_sense(program, message):
    with pytest.raises(ParameterError, match=message):
        asked(Participant(MemoryStore()), specification(), "edge", **program)


def test_a_choice_does_not_show_the_answer():
    assert "edge" not in repr(Choice.of("edge", otherwise="other"))


def test_a_repeated_answer_asks_for_no_label():
    person = Participant(MemoryStore())
    first = asked(person, specification(), "edge")
    assert asked(person, specification(), "lynx").report == first.report
