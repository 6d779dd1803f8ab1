"""The files of deploy/, checked by the programs they are for; the image is built where a container engine answers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.programs import program

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def run(name, *arguments, need=None):
    """Run a program; return its exit code, and what it said."""
    command = [program(name, need), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def engine():
    """A container engine that answers, or None."""
    for name in ("podman", "docker"):
        program_path = shutil.which(name)
        if program_path and subprocess.run([program_path, "info"], capture_output=True, check=False).returncode == 0:
            return program_path
    return None


@pytest.mark.long
def test_the_image_is_built_and_serves_with_a_root_that_is_read_only():
    engine_path = engine()
    if engine_path is None:
        pytest.skip("no container engine answers here")
    command = [engine_path, "build", "-f", str(DEPLOY / "Containerfile"), "-t", "fldp-test", str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    limits = ["--rm", "--read-only", "--cap-drop=ALL", "--tmpfs=/tmp", "--tmpfs=/data:mode=1777", "--network=none"]
    ready = "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/readyz')"
    script = f'fldp serve --admin-token-file /tmp/admin & until python -c "{ready}"; do sleep 1; done; id -u'
    done = subprocess.run(
        [engine_path, "run", *limits, "--entrypoint", "timeout", "fldp-test", "120", "sh", "-c", script],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split()[-1] == "10001"
    assert "fldp_admin_" not in done.stdout + done.stderr


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
