"""CONTRIBUTING, taken at its word: its example is installed as a package, and what an oracle here lacks has a name."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fldp.oracles.registry import built_in
from support.completeness import ROOT, missing, tables, tool

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
SHELL = "import sys; from fldp.cli import main; sys.argv = ['fldp', *sys.argv[1:]]; main()"
TRYING = """
import fldp
from support.commands import shell

fldp.check_oracle(fldp.oracles.get("shy")(epsilon=1.0, domain_size=5, parts=2))
print(shell("privatize", "--oracle", "shy", "--help")[0])
print(shell("plan", "--users", "1000", "--domain", "5", "--epsilon", "1", "--json")[0])
shell("privatize", "values", *"--oracle shy --epsilon 1 --domain 5 --parts 3 -o sent.fldp".split())
print(shell("inspect", "sent.fldp")[0])
"""


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def package(tmp_path):
    """The folder of the package, as pip would leave it, on the path of new processes."""
    (tmp_path / "shy.py").write_text(block("python"))
    about = tmp_path / "shy-1.0.dist-info"
    about.mkdir()
    ((group, names),) = tomllib.loads(block("toml"))["project"]["entry-points"].items()
    entries = "".join(f"{name} = {target}\n" for name, target in names.items())
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shy\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{entries}")
    return tmp_path


def run(package, code, *words):
    variables = os.environ | {"PYTHONPATH": f"{package}{os.pathsep}{ROOT / 'tests'}", "COLUMNS": "200"}
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, env=variables, cwd=package, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_imports_what_is_public():
    assert set(re.findall(r"^(?:from|import) (fldp\S*)", block("python"), re.MULTILINE)) <= {"fldp", "fldp.oracles.kit"}


@pytest.mark.long
def test_the_example_is_checked_planned_and_an_option(package):
    (package / "values").write_text("0\n4\n")
    said = run(package, TRYING)
    assert "How many parts of epsilon there are." in said
    assert '"shy"' in said
    assert "name shy, epsilon 1.0, domain_size 5, parts 3" in said


def test_a_package_that_cannot_be_loaded_breaks_no_command(package):
    (package / "shy.py").write_text("raise RuntimeError('broken')")
    assert "--hashes" in run(package, SHELL, "privatize", "--oracle", "cms", "--help")


def test_no_oracle_lacks_anything():
    assert {cls.name: missing(cls) for cls in built_in() if missing(cls)} == {}


def test_what_a_new_oracle_lacks_is_named(package, monkeypatch):
    monkeypatch.syspath_prepend(package)
    from shy import Shy

    monkeypatch.delitem(sys.modules, "shy")
    assert missing(Shy) == [
        "Report: in its docstring",
        "Fields: in its docstring",
        "Words: in its docstring",
        "Best fake: in its docstring",
        "its name in src/fldp/oracles/__init__.py",
        "a row in tests/support/cases.py",
        "a loop in tests/support/naive.py",
        "vectors/shy.json: make vectors",
    ]


def test_the_documents_have_tables_of_oracles():
    names = {path.relative_to(ROOT).as_posix() for path in tables.documents()}
    assert names == {"ARCHITECTURE.md", "README.md", "docs/integrity.md", "docs/lake.md", "docs/wire.md"}


@pytest.mark.parametrize("path", tables.documents(), ids=lambda path: path.name)
def test_tables_of_oracles_follow_from_the_classes(path: Path):
    assert path.read_text() == tables.document(path.read_text()), "make tables"


def test_the_constants_of_javascript_are_those_of_python():
    constants = tool("shared_constants")
    assert constants.FILE.read_text() == constants.text(), "make javascript"


def test_no_constant_is_written_a_second_time_in_javascript():
    constants = tool("shared_constants")
    again = re.compile(rf"\bconst ({'|'.join(constants.constants())})\b")
    others = [path for path in (ROOT / "js" / "src").rglob("*.ts") if path != constants.FILE]
    assert [path for path in others if again.search(path.read_text())] == []
    assert again.search(constants.FILE.read_text())
