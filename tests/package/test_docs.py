"""What the documents show is what happens."""

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from fldp import cli
from fldp.cli import app
from fldp.cli.sample import PERCENT
from fldp.survey import Survey
from support.ports import free_port

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


ELSEWHERE = ("s3://bucket", "serve --demo", "fldp relay")  # other machines; tests/relay/test_relay_readme.py


def script(port):
    """All commands of the README in their order, as one script: what it says, with a port that is free."""
    lines = ["set -euo pipefail", f"PATH={Path(sys.executable).parent}:$PATH", "trap 'kill $(jobs -p) || true' EXIT"]
    for language, text in re.findall(r"^```(sh|console|toml)\n(.*?)^```", README, re.MULTILINE | re.DOTALL):
        if language == "toml":
            if text.startswith("# "):
                lines += [f"cat > {text.split()[1]} <<'END'", text.rstrip(), "END"]
            continue
        for line in text.replace("8080", str(port)).splitlines():
            command = line.removeprefix("$ ")
            if command.startswith("make ") or any(place in command for place in ELSEWHERE):
                continue
            lines.append(f"echo {shlex.quote('$ ' + command)}")
            lines += served(command, port) if command.startswith("fldp serve") else [command]
    return "\n".join(lines)


def served(command, port):
    """Run a collector beside the rest, as in a terminal of its own."""
    ready = f"until curl -sf http://127.0.0.1:{port}/readyz > /dev/null; do kill -0 $!; sleep 0.1; done"
    return [command.partition("#")[0] + f"--port {port} > serve.log &", ready]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What the commands of the README print, followed from top to bottom in an empty folder."""
    folder = tmp_path_factory.mktemp("readme")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("FLDP_")}
    done = subprocess.run(
        ["bash", "-c", script(free_port())],
        cwd=folder,
        env=variables | {"HOME": str(folder), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder, done.stdout


def shares(text, command):
    """Return the share that a table under a command says of each answer, in percent."""
    table = text.partition(f"$ {command}")[2].partition("\n$ ")[0]
    rows = re.findall(r"^│ (\S.*?) +│.* (-?[\d.]+) ?% │$", table, re.MULTILINE)
    return {label: float(share) for label, share in rows}


@pytest.mark.long
def test_the_readme_arrives(said):
    folder, text = said
    for command in ("fldp estimate tally.fldp", "fldp estimates commute"):
        assert shares(text, command) == pytest.approx(PERCENT, abs=6), command
    found = shares(text, "fldp privatize pages.csv")
    assert found["news"] == pytest.approx(50, abs=6)
    assert found["mail"] == pytest.approx(25, abs=6)
    assert "holds" in text.partition("$ fldp verify")[2].partition("\n$ ")[0]
    assert (folder / "bars.png").stat().st_size > 5000
    assert (folder / "card.html").stat().st_size > 5000


def test_the_surveys_of_the_readme_are_good():
    sizes = [getattr(Survey.parse(text, is_json=False).oracle, "domain_size", None) for text in blocks("toml")]
    assert sizes == [5, None]


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
