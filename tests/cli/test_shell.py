"""The shell itself: what it lists, what it loads, and the help of every command."""

import re
import shlex
import subprocess
import sys
from importlib import import_module

import pytest
from typer.main import get_command

import fldp
from fldp.cli import COMMANDS, app
from fldp.cli.catalogue import ENTRIES, EXAMPLES, PANELS
from support.serving import run_here, shell


def commands(group, *names):
    """Yield all commands, those of groups too, by their words."""
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        yield from [((*names, name), command)] if inner is None else commands(command, *names, name)


@pytest.fixture(scope="module")
def every():
    for module in COMMANDS:
        import_module(f"fldp.cli.{module}")
    return {" ".join(words): command for words, command in commands(get_command(app))}


def plain(text):
    return re.sub(r"[\s│]+", " ", text)


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("survey",), ("survey", "-h"), ("tally", "-h")])
def test_help_ends_well(words):
    out, said = shell(*words)
    assert "Usage: fldp" in out + said
    assert "Error" not in out + said


def test_the_daily_commands_come_first():
    listed = shell("--help")[0]
    places = [listed.index(f"─ {panel} ─") for panel in dict.fromkeys(PANELS.values())]
    assert places == sorted(places)
    assert listed.index(" privatize ") < listed.index(" tally ") < listed.index(" estimate ") < listed.index(" attack ")
    assert all(entry.summary.split()[0] in listed for entry in ENTRIES.values())


def test_the_catalogue_is_complete(every):
    assert {words.split()[0] for words in every} == {*ENTRIES}
    assert {*every} == {*EXAMPLES}


def test_every_example_can_be_typed(every):
    for words, example in EXAMPLES.items():
        arguments = shlex.split(example)[1 + len(words.split()) :]
        assert example.startswith(f"fldp {words}")
        every[words].make_context(words, arguments)


def test_every_help_has_its_example_and_no_type_of_flags(every):
    for words in every:
        text = shell(*words.split(), "--help")[0]
        assert plain(f"Example: {EXAMPLES[words]}") in plain(text), words
        assert "<bool>" not in text, words


def test_help_loads_no_command():
    program = (
        "import sys, fldp.cli; sys.argv = ['fldp', '--help']\n"
        "try: fldp.cli.main()\nexcept SystemExit: pass\n"
        "print(*(name for name in sys.modules if name.partition('.')[0] in ('numpy', 'fldp')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {*done.stdout.splitlines()[-1].split()}
    assert "fldp.cli.catalogue" in loaded
    assert not loaded & {"numpy", "fldp.oracles", "fldp.survey", "fldp.cli.options"}
    assert not loaded & {f"fldp.cli.{module}" for module in COMMANDS}


def test_what_the_package_offers_is_loaded_when_it_is_asked_for():
    program = (
        "import sys, fldp\nassert 'numpy' not in sys.modules\n"
        "assert all(getattr(fldp, name) is not None for name in fldp.__all__)\n"
        "assert fldp.wire.encode and fldp.privacy.verify is fldp.verify and fldp.parquet\n"
        "from fldp import *\nassert GRR is fldp.GRR\n"
        "try: fldp.nothing\nexcept AttributeError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "module 'fldp' has no attribute 'nothing'\n"


def test_options_of_an_oracle_are_there_where_it_is_chosen():
    general, chosen = shell("privatize", "--help")[0], shell("privatize", "--oracle", "fhr", "--help")[0]
    assert "--items" not in general
    assert "--oracle NAME --help" in plain(general)
    assert "Options of FHR" in chosen
    assert "--items" in chosen
    assert "--hashes" not in chosen
    assert "--items" in shell("verify", "--oracle=fhr", "-h")[0]
    assert "needs --oracle, one of fhr" in shell("privatize", "--items", "paper", code=2)[1]
    assert (
        "the oracle grr has no --items; it is for fhr"
        in shell(*["privatize", "--oracle", "grr", "--items", "x"], code=2)[1]
    )


def test_nought_is_a_value(tmp_path):
    grr = ("--oracle", "grr", "--domain", "5")
    assert "GRR: epsilon must be" in shell("privatize", *grr, "--epsilon", "0", code=2)[1]
    reports = run_here("privatize", *grr, "--epsilon", "1", stdin=b"1\n")
    assert b"1 report of GRR" in reports.stderr
    (tmp_path / "r").write_bytes(reports.stdout)
    assert "--top" in shell("estimate", tmp_path / "r", "--top", "0", code=2)[1]


def test_completion_is_offered(monkeypatch):
    assert "--install-completion" in shell("--help")[0]
    monkeypatch.setenv("_FLDP_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "fldp pri")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert shell("pri")[0].split() == ["privatize"]
    for oracle, option, words in (("fhr", "--it", ["--items"]), ("nope", "--it", [])):
        monkeypatch.setenv("COMP_WORDS", f"fldp privatize --oracle {oracle} {option}")
        monkeypatch.setenv("COMP_CWORD", "4")
        assert shell()[0].split() == words


def test_a_word_that_is_nearly_a_command():
    assert "privatize" in shell("privatise", code=2)[1]
    assert fldp.__version__ in shell("--version")[0]


@pytest.mark.parametrize("words", [("--help",), ("telemetry", "env", "--json")])
def test_a_reader_who_has_seen_enough_is_no_error(words, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    line = [sys.executable, "-m", "fldp", *words]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_options_without_a_command():
    assert shell("--debug", "--version")[0] == f"fldp {fldp.__version__}\n"
    assert "Usage: fldp" in shell("--debug")[0]
    done = run_here("--debug", "tally", "missing.fldp", code=2)
    assert "Traceback" in done.stderr.decode()
    assert done.stderr.decode().splitlines()[-1].startswith("missing.fldp")


def test_ctrl_c_ends_a_command_with_130(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fldp.Survey, "load", interrupted)
    assert run_here("survey", "check", "survey.toml", code=130).stderr == b""
