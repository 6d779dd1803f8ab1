"""Whatever a server asks, in whatever order: what it holds stays within every limit, by a slow recomputation."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fldp import BudgetError, Limit, Limits, Participant, wire
from fldp.participant_store import MemoryStore
from fldp.survey import Survey
from support.participant_surveys import asked, oracle, specification, yes

EPSILONS = (0.1, 0.2, 0.25, 0.3, 1 / 3, 0.7, 1, 1e-7)
ORACLES = (("grr", 0), ("olh", 0), ("fhr", 1), ("fwr", 1), ("fwr", 2))  # with the number of halvings of eta
LABEL_SETS = ([f"l{k}" for k in range(16)], [f"l{k}" for k in range(24)], [f"l{k}" for k in range(32)])
QUESTIONS = st.tuples(
    st.sampled_from(["https://a.example", "https://b.example"]),
    st.sampled_from(["s", "t", "u"]),
    st.sampled_from(EPSILONS),
    st.sampled_from(ORACLES),
    st.sampled_from(LABEL_SETS),
    st.integers(0, 3),
)
EPSILON_LIMITS = st.sampled_from([0.3, 0.5, 0.9, 1, 1.2, 2, 3])
OWN_LIMITS = st.tuples(EPSILON_LIMITS, st.integers(0, 6), st.integers(1, 12))


def header(report):
    """Read the header of a batch by hand, numbers as they are written."""
    length = int.from_bytes(report[6:8], "little")
    return json.loads(report[8 : 8 + length], parse_float=Decimal, parse_int=Decimal)


def covered(drawn, limits):
    """Add up the slow way what was drawn, and tell whether every limit of every scope covers it."""
    for origin, topic in {(origin, topic) for origin, topic, _ in drawn}:
        for (most, halvings, count), scope in zip(limits, ((origin, topic), (origin, None), (None, None)), strict=True):
            epsilon, halved, number = Decimal(0), 0, 0
            for (o, t, _), report in drawn.items():
                if scope[0] in (None, o) and scope[1] in (None, t):
                    fields = header(report)["oracle"]
                    epsilon += fields["epsilon"]
                    eta = Decimal("0.5") if fields["name"] == "fhr" else fields.get("eta", Decimal(1))
                    halved += {Decimal(1): 0, Decimal("0.5"): 1, Decimal("0.25"): 2}[eta]
                    number += 1
            if epsilon > Decimal(repr(most)) or halved > halvings or number > count:
                return False
    return True


def converse(participant, questions, limits):
    """Let a server ask, and check after each question that what it holds is covered, and no less than it may have."""
    drawn = {}
    for place, (origin, topic, epsilon, (name, halvings), labels, number) in enumerate(questions):
        parameters = {"eta": 2.0**-halvings} if name == "fwr" else {}
        survey = Survey.from_dict(
            specification(number, topic=topic, labels=labels, oracle=oracle(name, epsilon, **parameters))
        )
        key = (origin, topic, survey.version)
        before = participant.spent()
        try:
            answer = asked(participant, survey, f"l{place % 16}", origin, confirm=yes)
        except BudgetError:
            assert key not in drawn
            assert participant.spent() == before
            extra = wire.encode(survey.oracle.privatize([0]), survey.version)
            assert not covered({**drawn, key: extra}, limits), "refused although it was covered"
            continue
        assert answer.repeated == (key in drawn)
        assert drawn.setdefault(key, answer.report) == answer.report
        assert header(answer.report)["survey"] == survey.version
        assert covered(drawn, limits)
    assert len(participant.history()) == len(drawn)


def own_limits(limits):
    return Limits(*(Limit(most, Fraction(1, 2**halvings), count) for most, halvings, count in limits))


@pytest.mark.long
@settings(max_examples=150)
@given(st.lists(QUESTIONS, max_size=25), st.tuples(OWN_LIMITS, OWN_LIMITS, OWN_LIMITS))
def test_whatever_is_asked_stays_within_every_limit(questions, limits):
    with localcontext(prec=100):
        converse(Participant(MemoryStore(), limits=own_limits(limits)), questions, limits)


class Reopened:
    """A participant that is started anew for every call."""

    def __init__(self, path, limits):
        self._make = lambda: Participant(path, limits=limits)

    def __getattr__(self, name):
        return getattr(self._make(), name)


@settings(max_examples=5)
@given(st.lists(QUESTIONS, min_size=12, max_size=12), st.tuples(OWN_LIMITS, OWN_LIMITS, OWN_LIMITS))
def test_whatever_is_asked_between_restarts(tmp_path_factory, questions, limits):
    path = tmp_path_factory.mktemp("restarts") / "answers.db"
    with localcontext(prec=100):
        converse(Reopened(path, own_limits(limits)), questions, limits)
