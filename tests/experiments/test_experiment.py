"""An experiment from its specification to its table, whatever happens on the way."""

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fldp
from fldp import FldpError
from fldp.experiments import EXTENDED, PAPER, Contender, Population, Source, Specification, Table, run
from fldp.experiments.runner.cells import Cell, RunPlan, collect
from fldp.experiments.runner.journal import Journal, line_of
from fldp.experiments.runner.table import COLUMNS
from support.serving import run_here, shell
from support.waiting import until

STEP = {"name": "step", "users": 30_000, "values": 64}
SMALL = Specification(
    datasets=[STEP, {"name": "geometric", "users": 20_000, "values": 40, "ratio": 0.8, "label": "steep"}],
    oracles=["oue", Contender("fhr", decoders=("paper", "full", "adaptive")), {"name": "fwr", "eta": 0.5}],
    epsilons=[0.5, 2],
    top=[5, 10],
    runs=3,
    seed=7,
    postprocess=["none", "norm-sub"],
    metrics=["kld", "se", "re", "ncr", "mse", "coverage"],
)
TOML = """\
seed = 7
runs = 3
datasets = [
    {name = "step", users = 30_000, values = 64},
    {name = "geometric", users = 20_000, values = 40, ratio = 0.8, label = "steep"},
]
epsilons = [0.5, 2]
top = [5, 10]
postprocess = ["none", "norm-sub"]
metrics = ["kld", "se", "re", "ncr", "mse", "coverage"]

[[oracles]]
name = "oue"

[[oracles]]
name = "fhr"
decoders = ["paper", "full", "adaptive"]

[[oracles]]
name = "fwr"
eta = 0.5
"""
COMMAND = [sys.executable, "-m", "fldp", "experiment"]


def complaint(action):
    with pytest.raises(FldpError) as error:
        action()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture(scope="session")
def table():
    return run(SMALL)


# The specification


def test_toml_and_python_say_the_same(tmp_path):
    (tmp_path / "x.toml").write_text(TOML)
    assert Specification.load(tmp_path / "x.toml") == SMALL
    assert Specification.from_dict(json.loads(json.dumps(SMALL.as_dict()))) == SMALL
    assert hash(SMALL) == hash(Specification.load(tmp_path / "x.toml"))


def test_the_papers_specification():
    assert PAPER.cells == 3 * 3 * 9 * 10
    assert PAPER.epsilons == (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
    assert (PAPER.top, PAPER.runs, PAPER.metrics) == ((20, 50, 100), 10, ("kld", "se", "re", "ncr"))
    assert [source.label for source in PAPER.datasets] == ["zipf", "online", "brown"]
    series = [contender.series(decoder) for contender in EXTENDED.oracles for decoder in contender.decoders]
    assert series == ["OUE", "OLH", "FHR, paper", "FHR, full", "FWR, eta 1/2", "FWR, eta 1", "PGR"]


def test_files_are_looked_for_beside_the_specification(tmp_path):
    (tmp_path / "counts.csv").write_text("item,count\na,600\nb,300\nc,100\n")
    (tmp_path / "values.csv").write_text("id,word\n" + "1,x\n2,y\n" * 500)
    (tmp_path / "x.toml").write_text(
        'datasets = ["counts.csv", {name = "file", path = "values.csv", column = "word", label = "words"}]\n'
        'oracles = ["grr"]\nepsilons = [1]\nruns = 1\ntop = [2]\nmetrics = ["re"]\n'
    )
    table = run(Specification.load(tmp_path / "x.toml"))
    assert table["dataset"].tolist() == ["counts.csv", "words"]
    assert (table["n"].tolist(), table["domain_size"].tolist()) == ([1000, 1000], [3, 2])
    for path in ("words.csv", "/somewhere/else/words.csv"):
        assert Source(path) == Source("file", {"path": path})
        assert Source(path).label == "words.csv", "the noise does not depend on where a file lies"
    assert complaint(lambda: Source("file", {"path": 5})).startswith("experiment: the path of a file must be a text")


GOOD = {"datasets": ["zipf"], "oracles": ["oue"], "epsilons": [1.0]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": [1]}, "experiment: 'epsilon' is not one of datasets, oracles, epsilons, top, runs, seed, "),
        ({"datasets": None}, "experiment: datasets must be a list, got None"),
        ({"datasets": "zipf"}, "experiment: datasets must be a list, got 'zipf'"),
        ({"datasets": []}, "experiment: datasets must be a list of at least one, got []"),
        ({"datasets": [1]}, "experiment: datasets[0] must be a name, or a table with a name, got 1"),
        ({"datasets": ["nope"]}, "experiment: datasets[0]: dataset: the name must be one of brown, "),
        ({"datasets": ["zipf", "zipf"]}, "experiment: datasets must be all different, got Source(name='zipf'"),
        (
            {"datasets": [{"name": "zipf", "a": 1}]},
            "experiment: datasets[0]: dataset zipf: has no parameter 'a', it takes none",
        ),
        ({"datasets": ["zipf", {"name": "step", "label": "zipf"}]}, "experiment: datasets must be of different labels"),
        ({"datasets": [{"name": "zipf", "label": "a\nb"}]}, "experiment: datasets[0]: a label must be a text in"),
        ({"oracles": ["nope"]}, "experiment: oracles[0]: oracle: the name must be one of cms, "),
        ({"oracles": [{"eta": 1}]}, "experiment: oracles[0] must be a name, or a table with a name, got {'eta': 1}"),
        ({"oracles": [{"name": 5}]}, "experiment: oracles[0]: an oracle must be a text in one line, got 5"),
        ({"oracles": [{"name": "oue", "eta": 1}]}, "experiment: oracles[0]: 'eta' is not a parameter to set of"),
        ({"oracles": [{"name": "oue", "epsilon": 1}]}, "experiment: oracles[0]: 'epsilon' is not a parameter to"),
        ({"oracles": [{"name": "fwr", "eta": 0.3}]}, "experiment: oracles[0]: FWR: eta must be 1, 1/2, 1/4, ..."),
        (
            {"oracles": [{"name": "fhr", "decoders": ["x"]}]},
            "experiment: oracles[0]: decoders[0] must be one of 'full'",
        ),
        ({"oracles": [{"name": "fhr", "decoders": "full"}]}, "experiment: oracles[0]: decoders must be a list, got"),
        ({"oracles": [{"name": "fwr", "decoders": ["em"]}]}, "experiment: oracles[0]: decoders[0] must be one of 'lin"),
        ({"oracles": ["oue", {"name": "oue", "label": "x"}]}, "experiment: oracles must be of different parameters"),
        ({"epsilons": [0]}, "experiment: epsilons[0] must be a positive, finite number, got 0"),
        ({"epsilons": ["1"]}, "experiment: epsilons[0] must be a positive, finite number, got '1'"),
        ({"epsilons": 1.0}, "experiment: epsilons must be a list, got 1.0"),
        ({"epsilons": [1, 1.0]}, "experiment: epsilons must be all different, got 1.0"),
        ({"top": [0]}, "experiment: top[0] must be an integer from 1 to 2147483648, got 0"),
        ({"top": [2.5]}, "experiment: top[0] must be an integer from 1 to 2147483648, got 2.5"),
        ({"runs": 0}, "experiment: runs must be an integer from 1 to 1000000, got 0"),
        ({"runs": True}, "experiment: runs must be an integer from 1 to 1000000, got True"),
        ({"seed": -1}, "experiment: seed must be an integer from 0 to 9223372036854775808, got -1"),
        (
            {"postprocess": ["x"]},
            "experiment: postprocess[0] must be one of 'none', 'clip', 'norm-sub', 'simplex', got 'x'",
        ),
        ({"metrics": ["kld", "x"]}, "experiment: metrics[1] must be one of 'coverage', "),
        ({"metrics": [[]]}, "experiment: metrics[0] must be one of "),
        ({"metrics": []}, "experiment: metrics must be a list of at least one, got []"),
    ],
)
def test_wrong_specifications(changes, message):
    assert complaint(lambda: Specification.from_dict({**GOOD, **changes})).startswith(message)


def test_all_mistakes_are_reported_at_once(tmp_path):
    (tmp_path / "x.toml").write_text(
        'datasets = ["nope", 3]\nepsilons = [1, -1, 0]\nruns = 0\ncolour = "red"\n'
        'oracles = ["oue", {name = "fwr", eta = 0.3, x = 1, decoders = ["y", "z"]}]\n'
    )
    said = complaint(lambda: Specification.load(tmp_path / "x.toml"))
    beginnings = ["'colour' is not", "datasets[0]: dataset: the name must be", "datasets[1] must be a name"]
    beginnings += [
        "oracles[1]: 'x' is not a parameter",
        "FWR: eta must be",
        "decoders[0] must be",
        "decoders[1] must be",
    ]
    beginnings += ["epsilons[1] must be", "epsilons[2] must be", "runs must be"]
    parts = said.removeprefix(f"{tmp_path / 'x.toml'}: experiment: ").split("; ")
    assert len(parts) == len(beginnings)
    assert all(part.startswith(beginning) for part, beginning in zip(parts, beginnings, strict=True)), parts


def test_what_is_missing_is_named():
    for name in GOOD:
        rest = {key: value for key, value in GOOD.items() if key != name}
        assert complaint(lambda rest=rest: Specification.from_dict(rest)) == f"experiment: {name} is missing"
    assert (
        complaint(lambda: Specification.from_dict([])) == "experiment: a specification must be a table of keys, got []"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"datasets = [", "is not TOML: "),
        (b"\xff", "is not UTF-8 text"),
        (b"datasets = 5", "experiment: oracles is missing; epsilons is missing; datasets must be a list, got 5"),
        (b"datasets = 5\noracles = []\nepsilons = []", "experiment: datasets must be a list, got 5"),
    ],
)
def test_wrong_files(tmp_path, content, message):
    (tmp_path / "x.toml").write_bytes(content)
    assert complaint(lambda: Specification.load(tmp_path / "x.toml")).startswith(f"{tmp_path / 'x.toml'}: {message}")
    assert complaint(lambda: Specification.load("nope.toml")) == "nope.toml: cannot be read: No such file or directory"


def test_an_oracle_that_cannot_work_is_named_before_any_work(monkeypatch):
    monkeypatch.setattr(RunPlan, "measure", None)
    wrong = Specification([{"name": "uniform", "values": 2}], ["oue", "fhr"], [1.0])
    assert complaint(lambda: run(wrong)).startswith("FHR: with domain_size=2 a single report can reveal")


# The table


def test_the_table_has_a_row_for_every_measurement(table):
    per_cell = 2 * (4 * 2 + 2)  # repairs x (four metrics at two k, two over all values)
    assert len(table) == 2 * 2 * 3 * (1 + 3 + 1) * per_cell
    keys = list(zip(*(table[name].tolist() for name in list(COLUMNS)[:10]), strict=True))
    assert len(set(keys)) == len(keys)
    assert set(table["k"].tolist()) == {0, 5, 10}
    assert set(table.where(metric=("mse", "coverage"))["k"].tolist()) == {0}
    assert table.where(oracle="fhr")["eta"].tolist()[0] == table.where(oracle="fwr")["eta"].tolist()[0] == 0.5
    assert dict.fromkeys(table["series"].tolist()) == dict.fromkeys(
        ["OUE", "FHR, paper", "FHR, full", "FHR, adaptive", "FWR eta=0.5"]
    )
    assert set(zip(table["dataset"].tolist(), table["n"].tolist(), strict=True)) == {
        ("step users=30000 values=64", 30_000),
        ("steep", 20_000),
    }


def test_measurements_are_those_of_the_estimate(table):
    """A cell again, by hand, from its own stream."""
    plan = RunPlan.of(SMALL)
    cell = Cell(dataset=1, oracle=1, epsilon=1, run=2)
    population, oracle = plan.populations[1], fldp.FHR(2.0, 40)
    stream = fldp.Stream(7).child("experiment", "steep", b'{"domain_size":40,"epsilon":2,"name":"fhr"}', 2)
    tally = fldp.simulate(oracle, population.counts, rng=stream)
    rows = table.where(dataset="steep", oracle="fhr", epsilon=2.0, run=2, metric="mse", postprocess="none")
    for decoder, measured in zip(rows["decoder"].tolist(), rows["value"].tolist(), strict=True):
        how = {"method": "adaptive"} if decoder == "adaptive" else {"decoder": decoder}
        errors = oracle.estimate(tally, **how).counts - population.counts
        assert measured == pytest.approx(np.mean(errors**2) / 20_000**2, rel=1e-12)
    assert plan.oracle(cell) == oracle


def test_the_error_is_the_one_that_theory_says():
    """The mean squared error over 200 runs against the exact variance, within six standard errors: below 1e-8."""
    spec = Specification([STEP], ["oue", "fhr"], [1.0], runs=200, top=[5], metrics=["mse", "coverage"])
    table, counts = run(spec), Source("step", {"users": 30_000, "values": 64}).load(0).counts
    for name, oracle in (("oue", fldp.OUE(1.0, 64)), ("fhr", fldp.FHR(1.0, 64))):
        (row,) = table.where(oracle=name, metric="mse").summary()
        expected = np.mean(oracle.variance(30_000, counts)) / 30_000**2
        assert abs(row.mean - expected) < 6 * row.spread / np.sqrt(200)
        assert row.spread / np.sqrt(200) < 0.03 * expected, "so that the test can tell"
        (covered,) = table.where(oracle=name, metric="coverage").summary()
        assert abs(covered.mean - 0.95) < 6 * covered.spread / np.sqrt(200) + 0.003


def test_runs_differ_and_do_not_depend_on_the_others(table):
    alone = run(replace(SMALL, datasets=SMALL.datasets[1:], oracles=SMALL.oracles[2:], epsilons=(2.0,), runs=2))
    same = table.where(dataset="steep", oracle="fwr", epsilon=2.0, run=(0, 1))
    assert alone == same
    values = table.where(dataset="steep", series="OUE", epsilon=0.5, metric="mse", postprocess="none")["value"]
    assert len(set(values.tolist())) == 3
    assert run(replace(SMALL, seed=8)).where(metric="mse") != table.where(metric="mse")


def test_post_processing_is_of_the_same_tally(table):
    plain, repaired = (
        table.where(postprocess=name, metric="mse", oracle="fwr", epsilon=0.5) for name in ("none", "norm-sub")
    )
    assert (repaired["value"] < plain["value"]).all()
    assert (plain["run"] == repaired["run"]).all()


def test_csv_and_parquet_are_the_same(tmp_path, table):
    for name in ("a.csv", "a.parquet", "a.pq"):
        table.write(tmp_path / name)
        assert Table.read(tmp_path / name) == table
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == ",".join(COLUMNS)
    frame = table.to_pandas()
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == len(table)


def test_a_table_with_what_is_not_a_number(tmp_path):
    rows = [
        ("d", "s", "o", "linear", "none", 1.0, 1.0, k, "se", 5, value, 9, 3) for k, value in enumerate([0.5, np.nan])
    ]
    table = Table.of(rows)
    for name in ("a.csv", "a.parquet"):
        table.write(tmp_path / name)
        assert Table.read(tmp_path / name) == table
    (summary,) = table.summary("series")
    assert (summary.mean, summary.runs) == (0.5, 1)
    assert np.isnan(table.where(run=1).summary()[0].mean)
    assert table.where(run=0) != table
    assert len(Table.of([])) == 0
    assert Table.of([]).summary("series") == []


def test_tables_that_are_none(tmp_path, monkeypatch, table):
    assert complaint(lambda: table.write("x.txt")) == (
        "table: the ending of its file must be one of .csv, .parquet, .pq, got 'x.txt'"
    )
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert "x.csv: table: its columns must be dataset, series," in complaint(lambda: Table.read(tmp_path / "x.csv"))
    (tmp_path / "x.csv").write_text(",".join(COLUMNS) + "\n" + ",".join("x" * 13) + "\n")
    assert "x.csv: is not a table of measurements: " in complaint(lambda: Table.read(tmp_path / "x.csv"))
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    assert "x.parquet: is not a table of measurements: " in complaint(lambda: Table.read(tmp_path / "x.parquet"))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setattr(RunPlan, "of", None)
    assert "pip install 'fldp[parquet]'" in complaint(lambda: run(SMALL, output=tmp_path / "y.parquet"))


# Full runs


def test_a_full_run_sends_every_report_through_the_wire(monkeypatch):
    sent = []
    encode = fldp.wire.encode
    monkeypatch.setattr(fldp.wire, "encode", lambda reports: sent.append(len(reports)) or encode(reports))
    counts = np.array([70_000, 20_000, 7_000, 3_000, 0])
    for oracle in (fldp.OUE(2.0, 5), fldp.OLH(2.0, 5), fldp.FHR(2.0, 5), fldp.PGR(2.0, 5)):
        sent.clear()
        tally = collect(oracle, counts, rng=fldp.Stream(3))
        assert tally == oracle.tally(oracle.privatize(np.repeat(np.arange(5), counts), rng=3))
        assert (sum(sent), max(sent) <= 1 << 16) == (100_000, True)
    assert collect(fldp.OUE(2.0, 50_000), np.repeat([1, 0], [3000, 47_000]), rng=fldp.Stream(1)).n == 3000
    assert max(sent[-2:]) * 50_000 <= 1 << 27, "the memory is bounded for wide reports, too"


def test_a_full_run_is_another_experiment_with_the_same_law(tmp_path):
    spec = replace(
        SMALL, datasets=SMALL.datasets[:1], epsilons=(2.0,), metrics=("mse",), postprocess=("none",), runs=40
    )
    quick, full = run(spec), run(spec, full=True)
    for one, other in zip(quick.summary("series"), full.summary("series"), strict=True):
        reach = 6 * np.hypot(one.spread, other.spread) / np.sqrt(40)  # five comparisons, false alarms below 1e-7
        assert 0 < abs(one.mean - other.mean) < reach


# Parallel, interrupted, resumed

# long enough to be killed in the middle
SLOW = TOML.replace("30_000", "500_000").replace("runs = 3", "runs = 6")


def spawn(folder, *arguments):
    return subprocess.Popen(
        [*COMMAND, "run", *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err.decode()
    return out.decode(), err.decode()


def children(pid):
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listed.read_text().split()] if listed.exists() else []


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_two_jobs_give_the_bytes_of_one(tmp_path, table):
    (tmp_path / "x.toml").write_text(TOML)
    _, err = finish(spawn(tmp_path, "x.toml", "--jobs", "2"))
    assert err == f"{len(table):,} measurements of 36 tallies in x.csv\n"
    table.write(tmp_path / "one.csv")
    assert (tmp_path / "x.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["one.csv", "x.csv", "x.toml"], "the journal is gone"


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_in_the_middle_and_resumed(tmp_path, monkeypatch, jobs):
    (tmp_path / "x.toml").write_text(SLOW)
    journal, spec = tmp_path / "x.csv.journal", Specification.load(tmp_path / "x.toml")
    process = spawn(tmp_path, "x.toml", "--jobs", jobs)
    until(lambda: process.poll() is not None or (journal.exists() and journal.read_bytes().count(b"\n") > 5))
    workers = children(process.pid)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was killed, not finished"
    try:
        until(lambda: not any(map(alive, workers)))
    finally:
        for worker in filter(alive, workers):
            os.kill(worker, signal.SIGKILL)
    process.communicate()
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines)[:-7])  # and the last line was torn
    finished, measured = len(lines) - 2, []
    measure = RunPlan.measure
    monkeypatch.setattr(RunPlan, "measure", lambda plan, cell: measured.append(cell) or measure(plan, cell))
    resumed = run(spec, output=tmp_path / "x.csv")
    assert 0 < finished < spec.cells
    assert len(measured) == spec.cells - finished, "what was finished is not measured again"
    assert not journal.exists()
    assert Table.read(tmp_path / "x.csv") == resumed
    assert resumed == run(spec)


def test_a_journal_of_another_experiment_is_refused(tmp_path, monkeypatch):
    out, measure = tmp_path / "x.csv", RunPlan.measure

    def interrupted(plan, cell):
        if cell.run == 1:
            raise KeyboardInterrupt
        return measure(plan, cell)

    monkeypatch.setattr(RunPlan, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(SMALL, output=out)
    kept = (tmp_path / "x.csv.journal").read_bytes()
    assert kept.count(b"\n") == 1 + SMALL.cells // 3
    for changed, what in (
        ({"specification": replace(SMALL, seed=8)}, "seed, populations"),
        ({"specification": replace(SMALL, runs=4)}, "runs"),
        ({"specification": SMALL, "full": True}, "full"),
    ):
        message = complaint(lambda changed=changed: run(**changed, output=out))
        assert message == f"{out}.journal: belongs to an experiment that differs in {what}; remove it to start over"
    assert (tmp_path / "x.csv.journal").read_bytes() == kept
    monkeypatch.setattr(RunPlan, "measure", measure)
    assert run(SMALL, output=out) == run(SMALL)


def test_a_changed_file_is_another_experiment(tmp_path):
    (tmp_path / "x.csv").write_text("item,count\na,600\nb,300\n")
    spec = Specification([str(tmp_path / "x.csv")], ["oue"], [1.0])
    before = RunPlan.of(spec).identity
    (tmp_path / "x.csv").write_text("item,count\na,600\nb,301\n")
    assert RunPlan.of(spec).identity != before


HEADING = {"seed": 1}


@pytest.mark.parametrize("cut", range(len(line_of(HEADING)) + 1))
def test_a_torn_heading_starts_anew(tmp_path, cut):
    (tmp_path / "j").write_bytes(line_of(HEADING)[:cut])
    with Journal(tmp_path / "j", HEADING) as journal:
        assert journal.done == {}
        journal.add(3, [0.5])
    assert (tmp_path / "j").read_bytes() == line_of(HEADING) + line_of([3, [0.5]])


def test_every_way_to_tear_a_journal(tmp_path):
    """Cut anywhere, or with a byte changed anywhere: what is read is what was written, and it goes on."""
    values = {k: [k / 7, float("nan") if k == 1 else -1e300] for k in range(3)}
    whole = line_of(HEADING) + b"".join(line_of([k, each]) for k, each in values.items())
    start = len(line_of(HEADING))
    torn = [whole[:cut] for cut in range(start, len(whole))]
    torn += [whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :] for k in range(start, len(whole))]
    for data in torn:
        (tmp_path / "j").write_bytes(data)
        with Journal(tmp_path / "j", HEADING) as journal:
            assert list(journal.done) == list(range(len(journal.done)))
            assert repr(journal.done) == repr({k: values[k] for k in journal.done})
            kept = len(journal.done)
            for k in range(kept, 3):
                journal.add(k, values[k])
        assert kept < 3
        assert (tmp_path / "j").read_bytes() == whole


def test_journals_that_are_none(tmp_path):
    (tmp_path / "j").write_text("my shopping list\n")
    message = f"{tmp_path / 'j'}: is not the journal of an experiment; remove it to start over"
    assert complaint(lambda: Journal(tmp_path / "j", HEADING)) == message
    assert (tmp_path / "j").read_text() == "my shopping list\n"
    assert "cannot be written: No such file" in complaint(lambda: Journal(tmp_path / "no" / "j", HEADING))
    with Journal(tmp_path / "k", HEADING):
        assert complaint(lambda: Journal(tmp_path / "k", HEADING)) == f"{tmp_path / 'k'}: another run is writing to it"


OWN = '''\
from fldp.experiments import Population, dataset, metric

@dataset("mine")
def mine(seed, users=5000):
    """Three values."""
    return Population("mine", [users // 2, users // 3, users - users // 2 - users // 3])

@metric("worst", of_top=False)
def worst(estimate, truth, k):
    return float(abs(estimate.counts - truth).max())
'''


def test_datasets_and_metrics_of_ones_own(tmp_path):
    """From the shell, in two processes."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "x.toml").write_text(
        'datasets = ["mine"]\noracles = ["grr"]\nepsilons = [1]\nruns = 4\ntop = [2]\nmetrics = ["worst", "max"]\n'
    )
    finish(spawn(tmp_path, "x.toml", "--use", "own.py", "--jobs", 2, "-o", "y.parquet"))
    table = Table.read(tmp_path / "y.parquet")
    worst, largest = table.where(metric="worst")["value"], table.where(metric="max")["value"]
    assert np.allclose(worst / 5000, largest)
    listed = json.loads(subprocess.check_output([*COMMAND, "datasets", "--use", "own.py", "--json"], cwd=tmp_path))
    assert {"name": "mine", "users": 5000, "values": 3, "about": "Three values.", "parameters": ["users"],
            "where": None} in listed["datasets"]  # fmt: skip


def test_a_worker_that_dies_is_one_line(tmp_path):
    (tmp_path / "own.py").write_text(
        "import os\nfrom fldp.experiments import metric\n\n"
        '@metric("deadly")\ndef deadly(estimate, truth, k):\n    os._exit(3)\n'
    )
    (tmp_path / "x.toml").write_text(
        'datasets = ["step"]\noracles = ["oue"]\nepsilons = [1]\nruns = 4\nmetrics = ["deadly"]\n'
    )
    process = spawn(tmp_path, "x.toml", "--use", "own.py", "--jobs", 2)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err.decode()) == (
        2,
        "experiment: a worker process died; with an output, the same command goes on from here\n",
    )


def test_bad_use(tmp_path):
    (tmp_path / "bad.py").write_text("1 / 0\n")
    for arguments, message in (
        (("nope.toml",), "nope.toml: cannot be read: No such file or directory\n"),
        (("paper", "--jobs", "0"), "experiment: jobs must be an integer from 1 to 1024, got 0\n"),
        (("paper", "--use", "bad.py"), "bad.py: cannot be used: ZeroDivisionError: division by zero\n"),
    ):
        assert run_here("experiment", "run", *arguments, code=2, cwd=tmp_path).stderr.decode() == message
    assert complaint(lambda: run(SMALL, use=["nope.py"])) == "nope.py: must be a Python file"
    assert complaint(lambda: run(SMALL, output="x.txt")).startswith(
        "table: the ending of its file must be one of .csv,"
    )


def test_datasets_are_listed():
    listed, _ = shell("experiment", "datasets")
    for text in ("zipf", "593,358", "online", "2,363,344", "brown", "49,797", "uniform", "geometric", "step", "file"):
        assert text in listed
    assert "Usage" in shell("experiment", "run", "--help")[0]


def test_the_population_of_a_source_has_its_label():
    population = Source("step", {"values": 19}, "few").load(1)
    assert isinstance(population, Population)
    assert (population.name, population.domain_size) == ("few", 19)


def test_the_guide_does_what_it_says(tmp_path):
    """The dataset in ten lines, its experiment and its command are run as they stand; so is the example in Python."""
    guide = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()
    (toml,) = re.findall(r"^```toml\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    cohort, script = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    command = re.search(r"^fldp (experiment run cohort.toml .*)$", guide, re.MULTILINE)[1]
    assert len([line for line in cohort.splitlines() if line]) <= 10
    (tmp_path / "cohort.toml").write_text(toml)
    (tmp_path / "cohort.py").write_text(cohort)
    subprocess.run([sys.executable, "-m", "fldp", *command.split()], cwd=tmp_path, check=True, capture_output=True)
    table = Table.read(tmp_path / "cohort.csv")
    assert set(table["dataset"].tolist()) == {"cohort", "small cohort"}
    assert len(table) == 2 * 2 * 3 * (1 + 2 + 1) * 2 * 3
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(script, {"__name__": "guide"})
    assert len(out.getvalue().splitlines()) == 3 * 2


def test_a_journal_that_cannot_be_written_or_is_none_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        with pytest.raises(FldpError, match=r"new\.journal: cannot be written: No space left on device"):
            Journal(tmp_path / "new.journal", {"name": "x"})
    body = b"no JSON"
    (tmp_path / "x.journal").write_bytes(hashlib.sha256(body).hexdigest()[:16].encode() + b" " + body + b"\n")
    with pytest.raises(FldpError, match=r"x\.journal: is not the journal of an experiment; remove it to start over"):
        Journal(tmp_path / "x.journal", {"name": "x"})
