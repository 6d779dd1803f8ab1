"""The commands as a user runs them: real files, real pipes, and real processes where it matters that they are."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import fldp
from fldp import wire
from fldp.cli import COMMANDS, app
from support.serving import run_here, shell
from support.surveys import SURVEY

FLDP = [str(Path(sys.executable).parent / "fldp")]


def run(*arguments, stdin=None, code=0, cwd=None, env=None):
    done = subprocess.run(
        [*FLDP, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == code, done.stderr.decode()
    return done


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "survey.toml").write_text(SURVEY)
    rows = ["chrome"] * 600 + ["firefox"] * 300 + ["lynx"] * 7 + [""] * 3 + ["edge"] * 90
    (tmp_path / "values.csv").write_text("id,browser\n" + "".join(f"{k},{row}\n" for k, row in enumerate(rows)))
    return tmp_path


@pytest.mark.long
def test_the_first_hour(folder):
    run("privatize", "values.csv", "--column", "browser", "--survey", "survey.toml", "-o", "r.fldp", code=2, cwd=folder)
    assert not (folder / "r.fldp").exists()
    done = run(
        *("privatize", "values.csv", "--column", "browser", "--survey", "survey.toml"),
        *("--unknown", "drop", "-o", "r.fldp"),
        cwd=folder,
    )
    assert done.stdout == b""
    assert b"10 of 1,000 dropped: 3 missing, 7 unknown\n" in done.stderr
    run("tally", "r.fldp", "-o", "t.fldp", "--survey", "survey.toml", cwd=folder)
    out = json.loads(run("estimate", "t.fldp", "--survey", "survey.toml", "--json", cwd=folder).stdout)
    counts = {row["label"]: (row["count"], row["stderr"]) for row in out["rows"]}
    assert out["n"] == 990
    assert abs(counts["chrome"][0] - 600) < 6 * counts["chrome"][1]
    assert abs(counts["other"][0]) < 6 * counts["other"][1]
    assert (out["eta"], out["anonymity"]) == (0.5, 2)


def test_unknown_labels_can_be_counted_as_another(folder):
    done = run_here(
        *("privatize", "values.csv", "--column", "browser", "--survey", "survey.toml"),
        *("--unknown", "other", "-o", "r.fldp"),
        cwd=folder,
    )
    assert b"10 of 1,000 counted as other" in done.stderr
    assert json.loads(run_here("inspect", "r.fldp", "--json", cwd=folder).stdout)["reports"] == 1000


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path):
    line = (
        f"seq 0 999 | {FLDP[0]} privatize --oracle grr --epsilon 8 --domain 1000 | {FLDP[0]} estimate - --csv | head -1"
    )
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True, text=True)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("fldp.cli", ()),
        ("fldp.cli", ("--version",)),
        ("fldp.cli", ("privatize", "--help")),
        ("fldp.cli", ("plan", "--users", "1000", "--epsilon", "1", "--domain", "5")),
        ("fldp.telemetry.shell", ()),
        ("fldp.telemetry.shell", ("on", "--help")),
        ("fldp.telemetry.shell", ("env",)),
    ],
)
def test_a_closed_pipe_is_no_failed_check(module, words, tmp_path):
    read, write = os.pipe()
    os.close(read)
    code = f"from {module} import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        stdout=write,
        stderr=subprocess.PIPE,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_merge_and_split(folder):
    oracle = fldp.FHR(1.0, 7)
    reports = oracle.privatize(np.arange(1000) % 7, rng=3)
    for name, part in {"a": reports[:400], "b": reports[400:], "all": reports}.items():
        (folder / f"{name}.fldp").write_bytes(wire.encode(part))
        run_here("tally", f"{name}.fldp", "-o", f"{name}.tally", cwd=folder)
    run_here("merge", "a.tally", "b.tally", "-o", "merged", cwd=folder)
    run_here("tally", "a.fldp", "b.fldp", "-o", "both", cwd=folder)
    assert (folder / "merged").read_bytes() == (folder / "all.tally").read_bytes() == (folder / "both").read_bytes()
    done = run_here("tally", "a.fldp", "b.fldp", "a.fldp", "-o", "wrong", code=2, cwd=folder)
    assert done.stderr == b"a.fldp: holds the same as a.fldp; counting it twice would be wrong\n"
    assert b"same as a.tally" in run_here("merge", "a.tally", "a.tally", "-o", "wrong", code=2, cwd=folder).stderr
    run_here("tally", "a.tally", "b.tally", "-o", "merged", cwd=folder)
    assert (folder / "merged").read_bytes() == (folder / "all.tally").read_bytes()
    assert not (folder / "wrong").exists()


def test_parquet_in_and_out(folder):
    run_here(
        *("privatize", "values.csv", "--column", "browser", "--survey", "survey.toml"),
        *("--unknown", "drop", "-o", "r.parquet"),
        cwd=folder,
    )
    run_here("tally", "r.parquet", "-o", "t", cwd=folder)
    facts = json.loads(run_here("inspect", "t", "--json", cwd=folder).stdout)
    assert (facts["holds"], facts["reports"]) == ("tally", 990)
    assert len(facts["survey"]) == 64


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_plots(folder, ending):
    (folder / "r").write_bytes(wire.encode(fldp.FHR(1.0, 7).privatize(np.arange(700) % 7)))
    run_here("estimate", "r", "--plot", f"p.{ending}", cwd=folder)
    picture = (folder / f"p.{ending}").read_bytes()
    assert picture.startswith(b"\x89PNG") or b"<svg" in picture[:500]
    if ending == "svg":
        assert b"FHR at epsilon 1, eta 1/2" in picture or picture.count(b"<use") > 50


def test_decoders_levels_and_post_processing(folder):
    (folder / "r").write_bytes(wire.encode(fldp.FHR(1.0, 63).privatize(np.zeros(3000, np.int64), rng=1)))

    def rows(*options):
        return json.loads(run_here("estimate", "r", "--json", *options, cwd=folder).stdout)

    full, paper = rows(), rows("--decoder", "paper")
    assert full["rows"][5]["stderr"] < paper["rows"][5]["stderr"]
    wide = rows("--level", "0.99")["rows"][5]
    assert wide["high"] - wide["low"] > full["rows"][5]["high"] - full["rows"][5]["low"]
    post = rows("--post", "norm-sub")
    assert post["biased"]
    assert min(row["count"] for row in post["rows"]) >= 0
    assert len(rows("--top", "3")["rows"]) == 3
    text = run_here("estimate", "r", "--post", "clip", cwd=folder).stdout.decode()
    assert "biased" in text
    assert "eta 1/2" in text
    assert "at least 32 of 63 remain possible" in text


@pytest.mark.long
def test_methods(folder):
    options = ("--oracle", "fwr", "--epsilon", "1", "--domain", "16", "--eta", "0.5")
    run_here("privatize", *options, "-o", "r", stdin="".join(f"{k % 3}\n" for k in range(900)).encode(), cwd=folder)
    out = json.loads(run_here("estimate", "r", "--method", "em", "--json", *options, cwd=folder).stdout)
    assert (out["method"], out["biased"], out["n"], out["eta"]) == ("em", True, 900, 0.5)
    assert abs(sum(row["count"] for row in out["rows"]) - 900) < 1e-6
    text = run_here("estimate", "r", "--method", "em", cwd=folder).stdout.decode()
    assert "The iteration converged after" in text
    assert "By em: biased." in text
    run_here("tally", "r", "-o", "t", cwd=folder)
    assert (
        b"method em needs a file of reports" in run_here("estimate", "t", "--method", "em", code=2, cwd=folder).stderr
    )
    assert json.loads(run_here("estimate", "t", "--method", "adaptive", "--json", cwd=folder).stdout)["biased"]


@pytest.mark.long
def test_card(folder):
    done = run_here("card", "--survey", "survey.toml", "--users", "1000", "-o", "c.html", "-o", "c.png", cwd=folder)
    assert b"Which browser are you using?" in done.stdout
    assert b"saved c.html" in done.stderr
    assert (folder / "c.html").read_text().startswith("<!doctype html>")
    facts = json.loads(
        run_here("card", "--oracle", "oue", "--epsilon", "1", "--domain", "9", "--users", "50", "--json").stdout
    )
    assert (facts["eta"], facts["least_left"]) == (1.0, 9)
    done = run_here("card", "--survey", "survey.toml", "--users", "1000", "-o", "c.pdf", code=2, cwd=folder)
    assert done.stderr.startswith(b"card: the ending of c.pdf must be one of '.html', '.png', '.svg'")


def test_verify():
    facts = json.loads(run_here("verify", "--oracle", "fhr", "--epsilon", "1", "--domain", "1023", "--json").stdout)
    assert (facts["eta"], facts["delta"], facts["verdict"]) == ("1/2", 0.5, "holds")
    assert facts["values left"] == "at least 512, 512 on average, of 1,023"
    assert "holds" in run_here("verify", "--oracle", "rr", "--epsilon", "1").stdout.decode()
    large = run_here("verify", "--oracle", "olh", "--epsilon", "1", "--domain", "99999", "--claim", "LDP(0.5)", code=1)
    assert b"on 8 values, with the same coin: the law of 99,999 is too large" in large.stdout


def test_verify_a_law_of_ones_own(tmp_path):
    (tmp_path / "law.csv").write_text("0.75,0.25\n1/4,3/4\n")
    run_here("verify", "--table", "law.csv", "--claim", "LDP(1)", code=1, cwd=tmp_path)
    facts = json.loads(
        run_here("verify", "--table", "law.csv", "--claim", "LDP(1.1)", "--at", "0", "--json", cwd=tmp_path).stdout
    )
    assert (facts["verdict"], facts["delta at 0"]) == ("holds", 0.5)
    done = run_here("verify", "--table", "none.csv", code=2, cwd=tmp_path)
    assert done.stderr == b"verify: none.csv cannot be read: No such file or directory\n"


def test_survey_init_and_check(folder):
    done = run_here(
        "survey", "init", "values.csv", "--column", "browser", "--name", "web", "-o", "new.toml", cwd=folder
    )
    assert b"wrote new.toml, from 997 values" in done.stderr
    facts = json.loads(run_here("survey", "check", "new.toml", "--json", cwd=folder).stdout)
    assert facts["values"] == "4: chrome, edge, firefox, lynx"
    assert facts["oracle"]["name"] == "grr"
    (folder / "bad.toml").write_text(SURVEY.replace("3.0", "-3").replace("chrome", "edge"))
    done = run_here("survey", "check", "bad.toml", code=1, cwd=folder)
    assert [line.split(":")[1].strip() for line in done.stderr.decode().splitlines()] == ["line 3", "line 6"]
    (folder / "bad.toml").write_text(SURVEY.replace('"fhr"', '"grouped"\nbase = "oue"'))
    done = run_here("survey", "check", "bad.toml", code=1, cwd=folder)
    assert done.stderr == b"bad.toml: line 4: oracle.groups is missing\n"


BAD_USE = [
    (("nope",), "fldp: No such command 'nope'."),
    (("estimate", "--nope"), "fldp: No such option: --nope"),
    (("estimate", "nowhere"), "nowhere: cannot be read: No such file or directory"),
    (("estimate", "."), ".: cannot be read: Is a directory"),
    (("tally", "values.csv"), "values.csv: wire: this is not an fldp file"),
    (("estimate", "r", "--json", "--csv"), "fldp: give --json or --csv, not both"),
    (("estimate", "r", "--plot", "p.gif"), "fldp: the ending of --plot must be one of '.png', '.svg', got '.gif'"),
    (("estimate", "r", "--decoder", "x"), "FHR: decoder must be one of 'full', 'paper', got 'x'"),
    (
        ("estimate", "r", "--post", "x"),
        "postprocess: method must be one of 'clip', 'norm-sub', 'simplex', 'bayes', got 'x'",
    ),
    (("estimate", "r", "--level", "2"), "Estimate: level must be a number between 0 and 1, got 2.0"),
    (("estimate", "r", "--survey", "survey.toml"), "r: wire: of FHR(epsilon=1.0, domain_size=7), where FHR("),
    (("privatize", "values.csv"), "fldp: name an oracle: --survey FILE, or --oracle NAME --epsilon E --domain D"),
    (
        ("privatize", "--oracle", "nope"),
        "oracle: the name must be one of cms, ",
    ),
    (("privatize", "--oracle", "grr", "--epsilon", "1"), "fldp: the oracle grr needs --domain"),
    (("privatize", "--oracle", "grr", "--domain", "5"), "fldp: the oracle grr needs --epsilon"),
    (("privatize", "--oracle", "grr", "--items", "paper"), "fldp: the oracle grr has no --items"),
    (("privatize", "--epsilon", "1"), "fldp: --epsilon needs --oracle"),
    (("privatize", "--survey", "survey.toml", "--oracle", "grr"), "fldp: give --survey, or --oracle"),
    (("privatize", "--survey", "nope.toml"), "nope.toml: cannot be read: No such file or directory"),
    (("privatize", "empty", "--survey", "survey.toml", "-o", "x"), "empty: holds no value to privatize"),
    (
        ("privatize", "values.csv", "--survey", "survey.toml", "-o", "./values.csv"),
        "fldp: --output must not be the file of the values, got './values.csv'",
    ),
    (("survey", "check", "nope.toml"), "nope.toml: cannot be read: No such file or directory"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD_USE, ids=lambda part: " ".join(part) if isinstance(part, tuple) else ""
)
def test_bad_use_is_one_line_and_exit_code_2(folder, monkeypatch, arguments, message):
    (folder / "r").write_bytes(wire.encode(fldp.FHR(1.0, 7).privatize([1, 2, 3])))
    (folder / "empty").write_bytes(b"")
    monkeypatch.chdir(folder)
    _, text = shell(*arguments, code=2)
    assert text.startswith(message)
    assert text.count("\n") == 1


def test_bad_use_of_a_process(folder):
    done = run("estimate", "nowhere", code=2, cwd=folder)
    assert (done.stdout, done.stderr) == (b"", b"nowhere: cannot be read: No such file or directory\n")


def test_debug_shows_where_it_comes_from(folder):
    text = run("--debug", "estimate", "nowhere", code=2, cwd=folder).stderr.decode()
    assert "Traceback" in text
    assert text.splitlines()[-1].startswith("nowhere: cannot be read")


def test_a_seed_warns_and_repeats(folder):
    command = ("privatize", "--oracle", "grr", "--epsilon", "1", "--domain", "5", "--seed", "7")
    one, two = (run_here(*command, stdin=b"1\n2\n3\n") for _ in range(2))
    assert one.stdout == two.stdout
    assert b"experiments only" in one.stderr


@pytest.mark.long
def test_the_demo_without_the_plotting_extra(tmp_path):
    """A module of the same name that cannot be imported stands in for one that is not installed."""
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError")
    out = run("demo", cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}).stdout.decode()
    assert "pip install 'fldp[plot]'" in out
    assert "====" in out


def every_command(group, *names):
    """Yield all commands, those of groups too, as they are written in the shell."""
    for name, command in group.commands.items():
        yield (*names, name), command
        if hasattr(command, "commands"):
            yield from every_command(command, *names, name)


def test_every_command_has_help_with_a_description():
    listed = run("--help").stdout.decode()
    for module in COMMANDS:
        import_module(f"fldp.cli.{module}")
    commands = dict(every_command(get_command(app)))
    assert {("demo",), ("serve",), ("survey", "create"), ("token", "revoke"), ("backup",)} <= commands.keys()
    for words, command in commands.items():
        assert command.help, words
        assert "\n" not in command.help.replace("\n\n", ""), words  # a paragraph flows, however wide the terminal
        assert len(words) > 1 or words[0] in listed
        shown = CliRunner().invoke(app, [*words, "--help"])
        assert shown.exit_code == 0
        assert "Usage" in shown.output
