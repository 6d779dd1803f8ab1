"""The client in JavaScript, as Python calls it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from fldp.oracles import names

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MISSING = json.loads((ROOT / "js/test/missing.json").read_text())  # vectors that are of no oracle
NAMES = sorted({*names()} - {*MISSING})


def node():
    program_path = shutil.which("node")
    if program_path is None:
        pytest.fail("the JavaScript client needs Node 20 or newer, and node is not on the path", pytrace=False)
    return program_path


def ask(requests):
    """Return what the client gives for each request: a result, or the name of an error."""
    command = [node(), str(HERE / "javascript_driver.mjs")]
    done = subprocess.run(command, input=json.dumps(requests), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def build(folder):
    """Build the package in a folder of its own, since others build theirs at the same time; return its path."""
    package = folder / "js"
    shutil.copytree(ROOT / "js", package, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (package / "node_modules").symlink_to(ROOT / "js" / "node_modules")
    subprocess.run([node(), "build.js"], cwd=package, check=True, timeout=600)
    return package
