"""Public knowledge in the shell: ``fldp estimate --post bayes --prior FILE``."""

import json

import numpy as np
import pytest

import fldp
from fldp import wire
from support.serving import shell

D = 200
TRUTH = np.floor(4000 / np.arange(1, D + 1)).astype(np.int64)


@pytest.fixture(scope="module")
def tally(tmp_path_factory):
    oracle = fldp.OUE(epsilon=1.0, domain_size=D)
    path = tmp_path_factory.mktemp("prior") / "tally.fldp"
    path.write_bytes(wire.encode_tally(fldp.simulate(oracle, TRUTH, rng=3)))
    return path, oracle.estimate(fldp.simulate(oracle, TRUTH, rng=3))


def counts_of(text):
    rows = json.loads(text)["rows"]
    counts = np.zeros(D)
    counts[[row["value"] for row in rows]] = [row["count"] for row in rows]
    return counts


def test_the_shell_mixes_in_what_the_library_does(tally, tmp_path):
    path, plain = tally
    file = tmp_path / "census.csv"
    file.write_text("value,share\n" + "".join(f"{v},{count / TRUTH.sum()}\n" for v, count in enumerate(TRUTH)))
    expected = fldp.postprocess(plain, "bayes", prior=TRUTH).counts
    for way in (("--post", "bayes"), ("--method", "bayes")):
        mixed = counts_of(shell("estimate", path, *way, "--prior", file, "--top", D, "--json")[0])
        assert mixed == pytest.approx(expected, rel=1e-6, abs=1e-6)
    alone = counts_of(shell("estimate", path, "--post", "bayes", "--top", D, "--json")[0])
    assert ((mixed - TRUTH) ** 2).sum() < 0.5 * ((alone - TRUTH) ** 2).sum()


def test_last_months_estimate_is_taken_as_it_was_written(tally, tmp_path):
    path, plain = tally
    file = tmp_path / "march.csv"
    file.write_text(shell("estimate", path, "--csv")[0])
    mixed = counts_of(shell("estimate", path, "--post", "bayes", "--prior", file, "--top", D, "--json")[0])
    assert mixed == pytest.approx(fldp.postprocess(plain, "bayes", prior=plain.counts).counts, rel=1e-4, abs=0.1)


def test_labels_are_names_and_values_that_are_not_named_are_not_expected(tmp_path):
    survey = tmp_path / "s.toml"
    labels = [f"=word {k}" for k in range(120)]
    head = 'name = "s"\nquestion = "Which?"'
    survey.write_text(f'{head}\nlabels = {json.dumps(labels)}\n[oracle]\nname = "oue"\nepsilon = 1.0\n')
    loaded, path = fldp.Survey.load(survey), tmp_path / "t.fldp"
    tally = fldp.simulate(loaded.oracle, [900] * 10 + [0] * 110, rng=1)
    path.write_bytes(wire.encode_tally(tally, loaded.version))
    file = tmp_path / "old.csv"
    file.write_text("label,count\n" + "".join(f"'=word {k},1\n" for k in range(10)))
    told = json.loads(
        shell("estimate", path, "--survey", survey, "--post", "bayes", "--prior", file, "--top", 120, "--json")[0]
    )["rows"]
    expected = fldp.postprocess(loaded.oracle.estimate(tally), "bayes", prior=[1] * 10 + [0] * 110).counts
    assert sorted(row["count"] for row in told) == pytest.approx(sorted(expected), rel=1e-6, abs=1e-6)


def test_mistakes_say_what_to_do(tally, tmp_path):
    path, _ = tally
    file = tmp_path / "bad.csv"
    for text, said in (
        ("word,times\na,1\n", "must name the columns label or value, and count, share or frequency"),
        ("value,count\n3,1\n900,1\n", "line 3: '900' is not one of the values"),
        ("value,count\n3,1\n3,2\n", "line 3: '3' appears twice"),
        ("value,count\n3,many\n", "line 2: a count or share must be a number, got 'many'"),
        ("value,count\n3,inf\n", "line 2: a count or share must be a number"),
        ("value,count\n3,0\n", "prior must be 200 finite numbers, not all of them 0"),
    ):
        file.write_text(text)
        assert said in shell("estimate", path, "--post", "bayes", "--prior", file, code=2)[1]
    assert "--prior needs --post bayes" in shell("estimate", path, "--prior", file, code=2)[1]
    missing = shell("estimate", path, "--post", "bayes", "--prior", tmp_path / "none.csv", code=2)[1]
    assert "No such file" in missing
