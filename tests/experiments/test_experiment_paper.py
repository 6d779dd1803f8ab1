"""The reproduction from end to end: written whole, the same each time, and going on after an interruption."""

import hashlib
import re
import sys
from dataclasses import replace

import pytest

from fldp import cli
from fldp.errors import FldpError
from fldp.experiments.paper import evidence as gathering
from fldp.experiments.paper import reproduce as paper
from fldp.experiments.paper.claims import CLAIMS
from fldp.experiments.paper.evaluation import Evaluation
from fldp.experiments.paper.figures import PICTURES
from fldp.experiments.paper.reproduce import reproduce
from fldp.experiments.runner.table import Table
from support import reproduction

CHEAP = ("users", "costs")  # two figures stand for all where drawing is not the question


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(paper, "PICTURES", {name: PICTURES[name] for name in CHEAP})


def digests(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_whole_evaluation_is_the_papers():
    whole = Evaluation.of()
    assert [source.label for source in whole.main.datasets] == ["zipf", "online", "brown"]
    assert (whole.main.runs, whole.main.top, whole.epsilon) == (10, (20, 50, 100), 1.0)
    assert whole.main.epsilons == (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
    assert [source.label for source in Evaluation.of(("zipf",), seed=3).main.datasets] == ["zipf"]
    assert Evaluation.of(seed=3).users.seed == 3
    assert Evaluation.quick().main.runs == 2


def tiny():
    """Return an evaluation that takes a second or two."""
    small = reproduction.evaluation()
    main = replace(small.main, datasets=small.main.datasets[:1], epsilons=(1.0, 2.0), top=(10,), runs=2)
    users = replace(small.users, datasets=small.users.datasets[:1])
    return replace(small, main=main, users=users, attacked=(1.0,), draws=20, timed=1000, trials=20)


def test_it_goes_on_where_it_was_and_is_the_same(tmp_path, few, monkeypatch):
    """One run without and one with an interruption: every byte the same, since the clock is."""
    small, noted = tiny(), []
    reproduced = reproduce(tmp_path / "one", small, clock=reproduction.Ticks(), note=noted.append)
    assert len(reproduced) == len(CLAIMS)
    assert noted[0] == f"main: {small.main.cells} tallies"
    ran, run = [], gathering.run

    def recorded(specification, **options):
        ran.append(specification)
        return run(specification, **options)

    def interrupted(line):
        if line.startswith("etas"):
            raise KeyboardInterrupt

    monkeypatch.setattr(gathering, "run", recorded)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path / "two", small, clock=reproduction.Ticks(), note=interrupted)
    assert ran == [small.main, small.users]
    assert not (tmp_path / "two/reproduction.md").exists()
    left = sorted(path.name.partition("-")[0] for path in (tmp_path / "two/reproduction/.unfinished").iterdir())
    assert left == ["main", "users"]
    ran.clear()
    reproduce(tmp_path / "two", small, clock=reproduction.Ticks())
    assert ran == [small.etas], "what was finished is not measured again"
    one, two = digests(tmp_path / "one"), digests(tmp_path / "two")
    assert one == two
    pictures = {f"reproduction/{name}.{ending}" for name in CHEAP for ending in ("svg", "png")}
    tables = {f"reproduction/{name}.csv" for name in ("main", "users", "etas")}
    assert one.keys() == {"reproduction.md"} | pictures | tables
    assert Table.read(tmp_path / "one/reproduction/main.csv") == run(small.main)
    page = (tmp_path / "one/reproduction.md").read_text()
    assert f"Of {len(CLAIMS)} claims" in page
    assert str(tmp_path) not in page


def test_tables_of_another_experiment_are_not_taken(tmp_path):
    small = reproduction.evaluation()
    small = replace(small.users, datasets=small.users.datasets[:1])
    first = gathering.stored_table(small, tmp_path, "users", jobs=1, full=False)
    assert gathering.stored_table(small, tmp_path, "users", jobs=1, full=False) == first
    assert gathering.stored_table(replace(small, seed=1), tmp_path, "users", jobs=1, full=False) != first
    assert gathering.stored_table(small, tmp_path, "users", jobs=1, full=True) != first
    assert len(list(tmp_path.iterdir())) == 3


def test_the_command(tmp_path, few, monkeypatch, capsys):
    asked = []

    def small(datasets, seed):
        asked.append((datasets, seed))
        return tiny()

    monkeypatch.setattr(Evaluation, "quick", small)
    arguments = [
        "experiment",
        "paper",
        "--quick",
        "--jobs",
        "1",
        "-o",
        str(tmp_path / "x"),
        "--dataset",
        "step",
        "--seed",
        "5",
    ]
    monkeypatch.setattr(sys, "argv", ["fldp", *arguments])
    with pytest.raises(SystemExit) as done:
        cli.main()
    assert done.value.code in (0, None)
    out = capsys.readouterr()
    assert asked == [(("step",), 5)]
    assert "lemma-2" in out.out
    assert "does not hold" in out.out
    assert out.err.endswith(f"the page is {tmp_path / 'x' / 'reproduction.md'}\n")
    assert re.search(rf"Of {len(CLAIMS)} claims, \d+ hold, ", (tmp_path / "x/reproduction.md").read_text())


def test_what_cannot_work_is_said_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "gather", None)
    (tmp_path / "file").write_text("")
    with pytest.raises(FldpError, match="cannot be written: "):
        reproduce(tmp_path / "file", reproduction.evaluation())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(FldpError, match=r"pip install 'fldp\[plot\]'"):
        reproduce(tmp_path / "x", reproduction.evaluation())
    assert not (tmp_path / "x").exists()
