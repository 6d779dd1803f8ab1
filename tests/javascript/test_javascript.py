"""The JavaScript client's own tests: built anew, and run by Node."""

import subprocess

import pytest

from support.javascript import ROOT, node

JS = ROOT / "js"


def test_the_client_builds_and_its_own_tests_pass():
    if not (JS / "node_modules").is_dir():
        pytest.fail("js/node_modules is missing: make test sets it up, or npm ci in js/", pytrace=False)
    for command in (
        ["build.js"],
        ["--test", "--test-reporter=tap", *map(str, sorted((JS / "test").glob("*.test.js")))],
    ):
        done = subprocess.run([node(), *command], cwd=JS, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        failed = [place for place, line in enumerate(lines) if line.startswith("not ok")]
        said = "\n".join(line for place in failed for line in lines[place : place + 12])
        assert done.returncode == 0, f"{said}\n{done.stderr}"
