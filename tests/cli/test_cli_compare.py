"""``fldp compare``: the comparison of the library, from files."""

import json

import fldp
from fldp import wire
from fldp.presentation.comparison import facts
from support.serving import shell


def saved(path, oracle, counts):
    tally = fldp.simulate(oracle, counts, rng=sum(counts[:1]))
    path.write_bytes(wire.encode_tally(tally))
    return tally


def test_two_tallies_are_compared(tmp_path):
    oracle = fldp.GRR(2.0, 3)
    before = saved(tmp_path / "before.fldp", oracle, [700, 200, 100])
    after = saved(tmp_path / "after.fldp", oracle, [300, 600, 100])
    files = [str(tmp_path / name) for name in ("before.fldp", "after.fldp")]
    for people in ("population", "respondents"):
        told = json.loads(shell("compare", *files, "--people", people, "--level", "0.9", "--json")[0])
        assert told == facts(oracle.estimate(before), oracle.estimate(after), 0.9, people=people)
    shown = shell("compare", *files, "--top", "2")[0]
    assert "2 of 3 values changed" in shown
    assert "may be chance" not in shown
    assert "Bonferroni" in shown
    assert "people must be one of" in shell("compare", *files, "--people", "all", code=2)[1]
