"""Privatizing takes the same steps whatever the value is: counted here, timed by ``make soak PART=timing``."""

import gc
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import fldp
from fldp.randomness.stream import Stream
from soak import timing_soak

REPORTED = {"write_marked"}  # which writes a set that is reported anyway: its steps depend on that set alone


def lines_of(action):
    """Return how often each line of ours ran, but for what depends on the report alone."""
    ran = Counter()

    def trace(frame, event, _argument):
        if "fldp" not in frame.f_code.co_filename or frame.f_code.co_name in REPORTED:
            return None
        if event == "line":
            ran[frame.f_code.co_filename, frame.f_lineno] += 1
        return trace

    before = sys.gettrace()
    gc.disable()  # a finalizer of ours may run at any time, and is no step of the action
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
        gc.enable()
    return ran


class Given(Stream):
    """Random words that are told."""

    def __init__(self, words):
        super().__init__(0)
        self._given = words

    def chunks(self, users, width):
        yield slice(0, users), self._given[: users * width].reshape(users, width).copy()


LISTED = timing_soak.listed()


@pytest.mark.parametrize("name", LISTED)
@pytest.mark.long
def test_the_lines_that_run_are_the_same_for_every_value(name):
    """With the same random words, of every kind: some keep the value, some change it."""
    oracle, _ = LISTED[name]
    values = range(oracle.domain_size) if oracle.domain_size <= 100 else [0, 1, 2, 3, 10, 100, oracle.domain_size - 1]
    if name == "Grouped":
        values = range(oracle.groups[0])  # the group of a value is published
    oracle.privatize(0)  # what is worked out once and kept
    oracle.privatize(0, rng=0)
    for seed in range(3):
        words = Stream(seed).words(oracle.words)
        counted = [
            lines_of(lambda value=value, words=words: oracle.privatize(value, rng=Given(words))) for value in values
        ]
        assert all(ran == counted[0] for ran in counted), name


@pytest.mark.parametrize("base", ["ss", "grr", "oue", "fwr", "hrr", "pgr"])
def test_the_lines_that_run_are_the_same_for_every_record(base):
    """Of several questions the view is public, and the same words draw the same one."""
    oracle = fldp.Sampled(1.0, answers=(3, 4, 2), views=((0,), (1, 2), ("cells", 1, 2)), base=base)
    records = list(np.ndindex(oracle.answers))
    for seed in range(6):
        words = Stream(seed).words(oracle.words)
        oracle.privatize([records[0]], rng=Given(words))  # what is worked out once and kept
        counted = [
            lines_of(lambda record=record, words=words: oracle.privatize([record], rng=Given(words)))
            for record in records
        ]
        assert all(ran == counted[0] for ran in counted), base


@pytest.mark.parametrize("name", LISTED)
def test_the_lines_that_run_do_not_tell_what_became_of_the_value(name):
    """With other random words and one value: whether the noise kept it must not show."""
    oracle, _ = LISTED[name]
    words = [Stream(seed).words(oracle.words) for seed in range(20)]
    oracle.privatize(1, rng=Given(words[0]))  # what is computed once
    counted = [lines_of(lambda each=each: oracle.privatize(1, rng=Given(each))) for each in words]
    assert all(ran == counted[0] for ran in counted), name


def test_no_kind_of_value_loads_numba():
    """It takes most of a second, once, so whether it is loaded must not depend on the answer."""
    code = (
        "import sys, fldp, fldp.wire\n"
        "for cls in (fldp.URR, fldp.URAPPOR):\n"
        "    oracle = cls(1.0, 30, sensitive=[3, 7, 9])\n"
        "    for value in range(30):\n"
        "        oracle.privatize(value)\n"
        "        assert 'numba' not in sys.modules, (cls, value)\n"
        "oracles = fldp.IDUE(2.0, 9, budgets={3: 1.0}), fldp.SS(1.0, 1000), fldp.HR(1.0, 100)\n"
        "more = fldp.Exponential(4.0, 9, distance='line'), fldp.Grouped(1.0, base='oue', groups=[5, 4])\n"
        "for oracle in (*oracles, *more):\n"
        "    oracle.privatize(1)\n"
        "for oracle in (fldp.CMS(1.0), fldp.HCMS(1.0), fldp.RAPPOR(1.0, 2.0)):\n"
        "    fldp.wire.encode(oracle.privatize('a word'))\n"
        "assert 'numba' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_comparison_sees_a_difference_and_no_other():
    """A planted one of 2 % is seen; two samples of one law are not told apart. Fixed seeds."""
    generator = np.random.default_rng(5)
    one, other = (generator.gamma(50, 1000, 20_000) for _ in range(2))
    assert abs(timing_soak.welch(one, other)[0]) < timing_soak.MAX_Z
    assert timing_soak.welch(1.02 * one, other)[0] > timing_soak.MAX_Z
