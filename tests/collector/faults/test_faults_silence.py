"""The driver says what filled its longest silence, so that nobody takes its own work for the collector's."""

import asyncio
from collections import Counter
from types import SimpleNamespace

import pytest

from soak.faults.connection import GIVEN_UP
from soak.faults.load import Load
from soak.faults.model import SurveyModel, survey
from soak.faults.silence import TURN, Silence
from soak.faults.traffic import Traffic


@pytest.fixture
def clock():
    return SimpleNamespace(now=100.0)


@pytest.fixture
def silence(clock):
    return Silence(lambda: clock.now)


def test_the_longest_silence_says_what_filled_it(silence, clock):
    clock.now += 1
    with silence.during("restore"):
        clock.now += 30
    with silence.during("comparison"):
        clock.now += 7
    clock.now += 2
    silence.acknowledged()
    clock.now += 20
    silence.acknowledged()
    assert silence.longest == Counter({"restore": 30, "comparison": 7, TURN: 3})
    assert silence.seconds == 40
    assert silence.turn == 20
    assert str(silence) == (
        "longest silence: restore 30.0 s, comparison 7.0 s, the collector's turn 3.0 s;"
        " longest within one that was the collector's turn: 20.0 s"
    )


def test_an_acknowledgement_within_an_activity_ends_the_silence(silence, clock):
    with silence.during("kill"):
        clock.now += 5
        silence.acknowledged()
        clock.now += 4
    clock.now += 3
    silence.acknowledged()
    assert silence.longest == Counter({"kill": 4, TURN: 3})


def test_of_two_activities_at_once_the_one_that_began_last_has_the_time(silence, clock):
    with silence.during("commits held"):
        clock.now += 1
        with silence.during("start"):
            clock.now += 10
        clock.now += 2
    silence.acknowledged()
    assert silence.longest == Counter({"commits held": 3, "start": 10})


def test_an_activity_that_fails_has_ended(silence, clock):
    with pytest.raises(RuntimeError), silence.during("start"):
        raise RuntimeError
    clock.now += 1
    silence.acknowledged()
    assert silence.longest == Counter({TURN: 1})


# ----------------------------------------------------------------------------------------- requests that are given up


class Way:
    """A connection that loses every request."""

    def __init__(self, error):
        self._error = error

    async def ask(self, head, body, written):
        written()
        raise self._error


@pytest.mark.parametrize(("error", "given_up"), [(TimeoutError(), 1), (ConnectionResetError(), 0)])
def test_a_request_that_is_given_up_is_told_from_one_that_was_cut_off(error, given_up):
    async def send():
        model = SurveyModel(survey("given-up"), 1)
        traffic = Traffic([], [model], 1, connections=0)
        await traffic.send(Way(error), model, model.request(1), gated=False)
        return traffic.counted

    counted = asyncio.run(send())
    assert counted["lost"] == 1
    assert counted[GIVEN_UP] == given_up


@pytest.mark.parametrize(("error", "given_up"), [(TimeoutError(), 1), (ConnectionResetError(), 0)])
def test_the_same_of_an_item(error, given_up):
    async def attempt():
        load = Load([], [survey("given-up")], 1, connections=0)
        load.gate.set()
        await load._try(Way(error), load.content[0])
        return load.counted

    counted = asyncio.run(attempt())
    assert counted["lost"] == 1
    assert counted[GIVEN_UP] == given_up
