"""What a public repository has: workflows that call what there is, metadata that agree with each other."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import fldp

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: ([\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$", re.MULTILINE)  # a tag can be moved
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_call_what_there_is_and_may_do_little(file):
    workflow = yaml.safe_load(file.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert PINNED.findall(file.read_text()) == re.findall(r"uses: (.*)", file.read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    called = {line for step in steps for line in re.findall(r"\bmake ([a-z]+)", step.get("run", ""))}
    assert called <= TARGETS
    assert called
    for step in steps:
        assert ("uses" in step) != ("run" in step)
        assert "secrets." not in str(step)


def test_what_builds_can_neither_sign_nor_publish():
    """A build runs what it installs; who may ask for an identity installs nothing."""
    for file in WORKFLOWS:
        for job in yaml.safe_load(file.read_text())["jobs"].values():
            builds = any("make " in step.get("run", "") for step in job["steps"])
            assert builds != ("id-token" in job.get("permissions", {}))


def test_every_yaml_file_is_one():
    for file in [*GITHUB.rglob("*.yml"), ROOT / "CITATION.cff"]:
        assert isinstance(yaml.safe_load(file.read_text()), dict), file.name


def test_updates_are_looked_for_where_there_is_something_to_update():
    for update in yaml.safe_load((GITHUB / "dependabot.yml").read_text())["updates"]:
        folder = ROOT / update["directory"].strip("/")
        wanted = {
            "pip": "pyproject.toml",
            "npm": "package.json",
            "docker": "Containerfile",
            "docker-compose": "compose.yaml",
            "github-actions": ".github",
        }
        assert (folder / wanted[update["package-ecosystem"]]).exists(), update


def test_metadata_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == fldp.__version__
    assert citation["license"] == project["license"]
    assert citation["authors"] == project["authors"] == [{"name": "The fldp developers"}]


def test_the_release_publishes_files_of_the_tagged_version():
    """Npm takes a path without ``./`` for a repository on GitHub."""
    text = (GITHUB / "workflows" / "release.yml").read_text()
    assert re.findall(r"npm publish .*", text) == ["npm publish --provenance --access public ./dist/*.tgz"]
    check = yaml.safe_load(text)["jobs"]["build"]["steps"][3]["run"]
    for tag, code in (f"v{fldp.__version__}", 0), ("v9.9.9", 1):
        assert (
            subprocess.run(["sh", "-c", check], cwd=ROOT, env={**os.environ, "GITHUB_REF_NAME": tag}).returncode == code
        )
