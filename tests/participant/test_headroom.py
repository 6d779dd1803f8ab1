"""How many surveys like one a person can answer: as many as a device with the default limits does answer."""

from itertools import count

import pytest

from fldp import BudgetError, Limit, Limits, Participant, Survey
from fldp.participant.headroom import headroom
from fldp.participant_store import MemoryStore

LABELS = ["chrome", "firefox", "safari", "edge", "other"]


def survey(name="browser", **more):
    fields = {"name": name, "question": "Which?", "labels": LABELS, "oracle": {"name": "grr", "epsilon": 1.0}}
    return Survey.from_dict({**fields, **more})


def answered(surveys, limits=None):
    """Answer one survey after another on a new device, and return how many were."""
    device = Participant(MemoryStore(), limits=limits or Limits())
    for number, asked in enumerate(surveys):
        try:
            device.answer(asked, "edge", origin="https://collector.example", confirm=lambda *_: True)
        except BudgetError:
            return number
    raise AssertionError


ORACLES = [
    {"name": "grr", "epsilon": 1.0},
    {"name": "grr", "epsilon": 0.3},
    {"name": "oue", "epsilon": 2.0},
    {"name": "oue", "epsilon": 2.1},
    {"name": "fhr", "epsilon": 0.5},
    {"name": "fhr", "epsilon": 4.0},
]


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: "{name} {epsilon}".format(**oracle))
def test_as_many_as_a_device_answers(oracle):
    room = headroom(survey(oracle=oracle))
    assert room.at_origin * bool(room.on_topic) == answered(survey(f"n{k}", oracle=oracle) for k in count())
    assert room.on_topic == answered(survey(question=f"Which, {k}?", oracle=oracle) for k in count())
    assert bool(room.warnings) == (room.on_topic == 0)


def test_limits_of_ones_own():
    strict = Limits(topic=Limit(1, 1), origin=Limit(1, 1))
    room = headroom(survey(), strict)
    assert (room.on_topic, room.at_origin) == (1, 1) == (1, answered((survey(f"n{k}") for k in count()), strict))
    assert "no more surveys like it here" in room.sentence


def test_warnings_name_what_to_change():
    (epsilon,) = headroom(survey(oracle={"name": "grr", "epsilon": 5.0})).warnings
    assert epsilon.endswith(
        "costs epsilon 5, and the default limit of a device for a topic is 2: set epsilon to 2 or less"
    )
    eta, left = headroom(survey(sensitive=["edge"], oracle={"name": "urr", "epsilon": 1.0})).warnings
    assert "for a topic is 1/2: take an oracle of plain LDP" in eta
    assert "1 value possible" in left
    daily = {"name": "rappor", "epsilon": 1.0, "epsilon_permanent": 3.0}
    asked = Survey.from_dict(
        {"name": "a", "question": "b", "domain": "strings", "oracle": daily, "collect": {"repeat": "daily"}}
    )
    assert "set epsilon_permanent to 2 or less" in headroom(asked).warnings[0]
    assert headroom(asked).sentence.startswith("nobody can answer")
