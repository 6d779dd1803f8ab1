"""Limits that renew, in JavaScript: the same sequences, the same judge, and the same ledger as in Python."""

import json
import subprocess
from dataclasses import asdict
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, example, given, settings

from fldp.participant_store import MemoryStore
from support.javascript import HERE, node
from support.renewing_limits import FULL_DECEMBER, FULL_YEAR, MONTH, MONTH_TOTAL, STEPS, YEAR, Judge
from support.renewing_process import Device

LIMITS = {
    name: {"maxEpsilon": float(most), "minEta": 1}
    for name, most in (("month", MONTH), ("monthTotal", MONTH_TOTAL), ("year", YEAR))
}


class Page:
    """The ledger in JavaScript, and beside it one in Python, which must do the same."""

    def __init__(self, process):
        self.process, self.twin = process, Device(lambda day: [MemoryStore(born=day)])

    def said(self, action, day, **more):
        self.process.stdin.write(json.dumps({"action": action, "day": day, **more}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def clear(self, day):
        self.twin.clear(day)
        assert self.said("clear", day) == day

    def ask(self, survey, day):
        key = self.said("ask", day, survey=asdict(survey), limits=LIMITS)
        assert (key is None) == (self.twin.ask(survey, day) is None)
        return key

    def rows(self, day):
        rows = self.said("rows", day)
        return [(name, epoch, Fraction(str(epsilon)), renews) for name, epoch, epsilon, renews in rows]


@pytest.fixture(scope="module")
def process():
    command = [node(), str(HERE / "renewing_driver.mjs")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield running
        running.stdin.close()


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(steps=FULL_DECEMBER)
@example(steps=FULL_YEAR)
@given(steps=STEPS)
def test_no_month_is_above_its_limits_in_javascript(process, steps):
    page = Page(process)
    judge = Judge(page)
    judge.play(steps)
    assert page.rows(str(judge.today)) == page.twin.rows()
