"""In a collector, compiled code decodes, checks and counts a single report, and its work grows with its bytes alone."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

import fldp
from fldp.data.packing import pack, unpack


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory):
    """Return for each oracle which kernels one report ran interpreted, and how many it had compiled."""
    command = [sys.executable, "-m", "support.compiled_process", tmp_path_factory.mktemp("collector")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
def test_one_report_of_any_oracle_runs_compiled(looked_at):
    assert len(looked_at) > 30
    assert {name: counts[0] for name, counts in looked_at.items() if counts[0]} == {}


@pytest.mark.long
def test_no_report_waits_for_the_compiler(looked_at):
    """A survey that has been read has what its reports need: nothing is compiled when the first one comes."""
    assert {name: counts[1] for name, counts in looked_at.items() if counts[1]} == {}


def seconds(action, times=20):
    """Return the least processor time of some tries: what the machine does beside it only adds."""
    tries = []
    for _ in range(times):
        begin = time.thread_time()
        action()
        tries.append(time.thread_time() - begin)
    return min(tries)


@pytest.mark.parametrize("cls", [fldp.OUE, fldp.SS])
def test_one_long_report_costs_no_more_than_several(cls, monkeypatch):
    """It cost 60 times as much as two; what a server runs is what this compares."""
    monkeypatch.setattr("fldp.numerics.kernels._mode.always_compiled", True)
    oracle = cls(1.0, 1 << 16)
    reports = oracle.privatize([1, 2, 3, 4]).data
    one, four = (np.ascontiguousarray(pack(oracle.report_format, reports[:count])) for count in (1, 4))
    assert seconds(lambda: unpack(oracle.report_format, one, 1)) < 5 * seconds(
        lambda: unpack(oracle.report_format, four, 4)
    )


@pytest.mark.parametrize("cls", [fldp.GRR, fldp.HR, fldp.PGR, fldp.FHR, fldp.HRR])
def test_counting_one_short_report_does_not_grow_with_the_domain(cls):
    """Over a million values it cost hundreds of times as much as over a thousand."""

    def cost(size):
        oracle = cls(1.0, size)
        data, state = oracle.privatize([1]).data, oracle.tally_format.zeros()
        oracle.count(data, state)
        return seconds(lambda: oracle.count(data, state), 50)

    assert cost(1 << 20) < 20 * cost(1 << 10)


def test_the_widths_of_a_long_report_are_worked_out_once():
    oracle = fldp.SS(1.0, 1 << 16)
    assert oracle.report_format.widths is oracle.report_format.widths
    assert oracle.report_format.widths.tolist() == [
        width for width, times in oracle.report_format.fields for _ in range(times)
    ]
    with pytest.raises(ValueError, match="read-only"):
        oracle.report_format.widths[0] = 1
