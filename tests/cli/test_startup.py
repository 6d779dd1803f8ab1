"""What a command loads before it does anything: counted by modules, not by the clock."""

import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from fldp.cli import catalogue, overview, pipeline, privacy, remote, shuffle

HEAVY = ("numpy", "numba", "cryptography", "pyarrow", "scipy", "pandas", "httpx", "msgspec", "starlette", "pydantic")
LOADED = "import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint(*sorted(sys.modules), file=sys.stderr)\n"
SURVEY = 'name = "pet"\nquestion = "Which?"\nlabels = ["cat", "dog"]\n[oracle]\nname = "grr"\nepsilon = 1.0\n'


@lru_cache
def modules_after(code):
    line = [sys.executable, "-I", "-c", LOADED.format(code=code)]
    run = subprocess.run(line, capture_output=True, text=True, check=True)
    return frozenset(run.stderr.split()), run.stdout


def loaded(code):
    """Return the modules that a fresh process has loaded after some code, beyond those of Python's own start."""
    modules, said = modules_after(code)
    return modules - modules_after("pass")[0], said


def command(*words):
    return loaded(f"sys.argv = ['fldp', *{words!r}]; from fldp.cli import main; main()")


def test_the_package_loads_next_to_nothing():
    modules, _ = loaded("import fldp")
    assert not modules & set(HEAVY)
    assert {module for module in modules if module.startswith("fldp")} == {
        "fldp",
        "fldp.support",
        "fldp.support.display",
    }
    assert len(modules) < 40, sorted(modules)


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("-h",), ()])
def test_version_and_help_load_no_parser_of_commands(words):
    modules, said = command(*words)
    assert said
    assert not modules & {*HEAVY, "typer", "rich", "click", "asyncio"}
    assert len(modules) < 60, sorted(modules)


@pytest.mark.long
def test_the_help_of_commands_loads_no_numpy():
    """All of them in one process: what one loads, none may need."""
    every = sorted({*catalogue.ENTRIES, *catalogue.EXAMPLES})
    run = "sys.argv = ['fldp', *words.split(), '--help']\n        try: main()\n        except SystemExit: pass"
    modules, said = loaded(f"from fldp.cli import main\n    for words in {every!r}:\n        {run}")
    assert said.count("Usage: fldp") == len(every)
    assert not modules & set(HEAVY)
    assert not {module for module in modules if module.startswith(("fldp.oracles", "fldp.survey.", "fldp.wire"))}


def test_the_pipeline_loads_what_it_needs(tmp_path):
    """Files and a survey are words of the line as they are: what converts numbers is not loaded for them."""
    people, survey, reports, tally = (
        str(tmp_path / name) for name in ("people.csv", "survey.toml", "reports.fldp", "tally.fldp")
    )
    Path(people).write_text("pet\ncat\ndog\ncat\n")
    Path(survey).write_text(SURVEY)
    for words in (
        ("privatize", people, "--survey", survey, "-o", reports),
        ("tally", reports, "-o", tally),
        ("estimate", tally, "--survey", survey),
    ):
        modules, _ = command(*words)
        assert "numpy" in modules
        assert not modules & ({*HEAVY} - {"numpy", "cryptography"}), words
        assert len(modules) < 520, len(modules)
    assert Path(tally).exists()


@pytest.mark.parametrize("columns", [overview.MIN_COLUMNS, 80, 100, 133, 200])
def test_the_overview_is_what_typer_would_say(columns):
    """Of the same catalogue, and drawn alike, but for spaces at the ends of lines."""
    quick, slow = (
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.argv[1:] = ['-h']; from fldp.cli{where} import main; main()"],
            capture_output=True, text=True, check=False, env={"COLUMNS": str(columns), "PYTHONIOENCODING": "utf-8"},
        ).stdout
        for where in ("", ".shell")
    )  # fmt: skip
    trimmed = [[line.rstrip() for line in said.rstrip().splitlines()] for said in (quick, slow)]
    assert trimmed[0] == trimmed[1]


def test_a_terminal_gets_colours_and_a_narrow_or_old_one_the_long_way(monkeypatch):
    class Terminal:
        encoding = "utf-8"

        def isatty(self):
            return True

        def fileno(self):
            raise OSError

    monkeypatch.setattr(overview.sys, "stdout", Terminal())
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert overview.fits()
    assert "\x1b[1;36mprivatize" in overview.every_command()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in overview.every_command()
    monkeypatch.setenv("COLUMNS", "40")
    assert not overview.fits()
    monkeypatch.setenv("COLUMNS", "80")
    Terminal.encoding = "ascii"
    assert not overview.fits()


def test_defaults_that_are_written_here_are_those_of_their_rooms():
    from fldp.client import uploading
    from fldp.distributed.engines.registry import choices
    from fldp.oracles import shuffle_privacy
    from fldp.privacy import auditor

    assert choices() == pipeline.ENGINES
    assert (auditor.SAMPLES, auditor.CONFIDENCE) == (privacy.SAMPLES, privacy.CONFIDENCE)
    assert uploading.PIECE_BYTES == remote.PIECE_BYTES
    assert shuffle_privacy.HONEST == shuffle.HONEST
    assert len(catalogue.OPTIONS) == 5
