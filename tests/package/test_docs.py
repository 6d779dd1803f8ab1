"""What the documents show is what happens."""

import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from fldp import cli
from fldp.cli import app
from fldp.survey import Survey
from support.serving import run_here

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def run_line(line, folder):
    """Run a line of a shell: a command of ours in this process, anything else, such as a pipe of them, as it is."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["fldp"] and "|" not in words:
        return run_here(*words[1:], cwd=folder).stdout.decode()
    script = f"set -euo pipefail\nPATH={Path(sys.executable).parent}:$PATH\n{line}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_shell_examples_run(tmp_path):
    examples = "\n".join(block for block in blocks("sh") if not block.startswith("make"))
    assert "fldp privatize" in examples
    assert "| fldp tally - | fldp estimate - --csv --top 5" in examples
    said = "\n".join(run_line(line, tmp_path) for line in examples.splitlines())
    assert "holds" in said
    assert re.search(r"^value,label,count,stderr,low,high,frequency\n(.+\n){5}$", said, re.MULTILINE)
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
