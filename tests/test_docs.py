"""What the documents show is what happens."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from fldp import cli
from fldp.cli import app
from fldp.survey import Survey

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_shell_examples_run(tmp_path):
    examples = "\n".join(block for block in blocks("sh") if not block.startswith("make"))
    assert "fldp privatize" in examples
    script = f"set -euo pipefail\nPATH={Path(sys.executable).parent}:$PATH\n{examples}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "holds" in done.stdout
    assert (tmp_path / "bars.png").stat().st_size > 5000


def test_the_example_survey_is_good():
    (text,) = blocks("toml")
    assert Survey.parse(text, is_json=False).domain_size == 5


def test_every_command_is_in_the_readme():
    for module in cli.COMMANDS:
        import_module(f"fldp.cli.{module}")
    names = [command.name or command.callback.__name__ for command in app.registered_commands]
    for group in app.registered_groups:
        commands = group.typer_instance.registered_commands
        names += [f"{group.name} {command.name or command.callback.__name__}" for command in commands]
    for name in names:
        assert f"fldp {name}" in README or f"make {name}" in README, name


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert target.startswith("https://") or (path.parent / target).exists(), target
