"""The files of deploy/, checked by the programs they are for; the image is built where a container engine answers."""

import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
import yaml

from support.programs import program
from support.waiting import until

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def run(name, *arguments, need=None):
    """Run a program; return its exit code, and what it said."""
    command = [program(name, need), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def instruction(word):
    """What the first instruction of this name in the container file says."""
    return re.search(rf"^{word} ((?:.*\\\n)*.*)", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)[1]


def engine():
    """A container engine that answers, and has the base image or can fetch it; else None."""
    base = instruction("FROM").split()[0]
    for program_path in filter(None, map(shutil.which, ("podman", "docker"))):
        if answers(program_path, "info") and (
            answers(program_path, "image", "inspect", base) or answers(program_path, "pull", base)
        ):
            return program_path
    return None


def answers(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Container:
    """A collector in a container that can write to its volume and to /tmp, and reaches nobody."""

    image = "fldp-test"
    limits = ("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--tmpfs=/tmp", "--network=none")
    health = json.loads(instruction("HEALTHCHECK").partition("CMD ")[2])

    def __init__(self, engine_path):
        self.engine, self.name = engine_path, f"{self.image}-{uuid.uuid4().hex}"

    def do(self, *words, **options):
        """Run a command of the engine; return what it printed, and show all it said if it fails."""
        done = subprocess.run([self.engine, *words], capture_output=True, text=True, check=False, **options)
        assert done.returncode == 0, f"{words[0]}: {done.stdout}{done.stderr}"
        return done.stdout

    def inside(self, script, **options):
        """Run a script of the shell in the container."""
        return self.do("exec", "--interactive", self.name, "sh", "-euc", script, **options)

    def started(self, *words):
        """Start it by a command of the engine; return when it is healthy."""
        self.do(*words)
        until(lambda: answers(self.engine, "exec", self.name, *self.health))

    def ended(self):
        """Stop it; return its exit code."""
        self.do("stop", "-t", "90", self.name)
        return int(self.do("inspect", "--format", "{{.State.ExitCode}}", self.name))


@pytest.fixture
def container():
    """A container of the image, built now, and removed with its volume."""
    engine_path = engine()
    if engine_path is None:
        pytest.skip("no container engine answers here, or it cannot fetch the base image")
    container = Container(engine_path)
    kept = {**os.environ, "BUILDAH_FORMAT": "docker"}  # Podman's own format has no health checks
    container.do("build", "-f", str(DEPLOY / "Containerfile"), "-t", container.image, str(ROOT), env=kept)
    yield container
    answers(engine_path, "rm", "--force", "--volumes", container.name)


COUNT_ONE = """
cat > /tmp/pet.toml
fldp token create admin -o /tmp/admin
export FLDP_URL=http://127.0.0.1:8080 FLDP_TOKEN="$(cat /tmp/admin)"
fldp survey create /tmp/pet.toml
echo cat | fldp privatize --survey /tmp/pet.toml -o /tmp/cat.fldp
fldp send /tmp/cat.fldp
"""
PET = 'name = "pet"\nquestion = "Which?"\nlabels = ["cat", "dog"]\n[oracle]\nname = "grr"\nepsilon = 1.0\n'


@pytest.mark.long
def test_the_image_is_built_and_serves_with_a_root_that_is_read_only(container):
    """A report is counted, the container stopped and started, and the report is there."""
    (image,) = json.loads(container.do("image", "inspect", container.image))
    described = {name.lower(): value for name, value in {**image["Config"], **image}.items()}
    assert described["healthcheck"]["Test"] == ["CMD", *container.health]
    container.started("run", "--detach", "--name", container.name, *container.limits, container.image)
    assert container.inside("id -u; ! touch /none 2> /tmp/refused") == "10001\n"
    assert "all counted" in container.inside(f"({COUNT_ONE}) 2>&1", input=PET)
    assert container.ended() == 0
    container.started("start", container.name)
    assert ": 1 report, as acknowledged" in container.inside("fldp fsck")
    assert container.ended() == 0
    assert "fldp_admin_" not in container.do("logs", container.name)


@pytest.fixture
def unit(tmp_path):
    """The unit, with a program that is there."""
    own = str(Path(sys.executable).parent / "fldp")
    (tmp_path / "fldp.service").write_text((DEPLOY / "fldp.service").read_text().replace("/opt/fldp/bin/fldp", own))
    return tmp_path / "fldp.service"


def analyze(*arguments):
    return run("systemd-analyze", "--no-pager", *arguments, need="systemd")


def test_systemd_understands_the_unit(unit):
    assert analyze("verify", "--man=no", unit) == (0, "")


def test_systemd_finds_the_unit_hardened(unit):
    code, said = analyze("security", "--offline=true", "--threshold=20", unit)  # of 100
    assert code == 0, said


def test_promtool_understands_the_rules_and_the_scraping(tmp_path):
    shutil.copytree(DEPLOY, tmp_path, dirs_exist_ok=True)
    (tmp_path / "metrics.token").write_text("x")
    for what, file in (("rules", "alerts.yaml"), ("config", "prometheus.yml")):
        code, said = run("promtool", "check", what, tmp_path / file)
        assert code == 0, said


def test_promtool_understands_what_the_board_asks(tmp_path):
    board = json.loads((DEPLOY / "grafana.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len(asked) > 10
    rules = [{"record": "asked", "expr": expr} for expr in asked]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "board", "rules": rules}]}))
    code, said = run("promtool", "check", "rules", tmp_path / "rules.yaml")
    assert code == 0, said


def test_caddy_understands_its_sample():
    code, said = run("caddy", "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile")
    assert code == 0, said
