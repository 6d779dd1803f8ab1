"""The public surface changes only where the changelog says so: docs/compatibility.md promises it."""

import json
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNRELEASED = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", (ROOT / "CHANGELOG.md").read_text(), re.M | re.S)[1]
NAMED = " ".join(re.findall(r"`([^`]+)`", UNRELEASED))


@pytest.fixture(scope="session")
def surfaces():
    released = json.loads((ROOT / "tests" / "package" / "surface.json").read_text())
    return set(released), set(runpy.run_path(str(ROOT / "tools" / "surface.py"))["surface"]())


def last_of(line):
    """The name that the changelog must have."""
    return re.split(r"[ .(]", line.rstrip("=)"))[-1]


def is_said(line, changed=frozenset()):
    """Whether the changelog names it, or that which it came or went with."""
    if re.search(rf"(?<![\w-]){re.escape(last_of(line))}(?![\w-])", NAMED):
        return True
    whole = line[: -len(last_of(line)) - (1 + len(line) - len(line.rstrip("=)")))]
    return whole in changed and is_said(whole, changed)


def test_what_is_new_or_gone_is_in_the_changelog(surfaces):
    released, now = surfaces
    changed = released ^ now
    unsaid = [f"{'+-'[line in released]} {line}" for line in sorted(changed) if not is_said(line, changed)]
    assert not unsaid, "name it under Unreleased in CHANGELOG.md"


def test_nothing_that_was_released_is_gone_within_a_major_version(surfaces):
    """Before 1.0 too: what goes must be named in the changelog under Removed, with what to use instead."""
    released, now = surfaces
    removed = re.findall(r"^- Removed: (.*)$", UNRELEASED, re.M)
    for line in released - now:
        assert any(last_of(line) in each for each in removed), line


def test_the_check_sees_what_it_should():
    assert is_said("fldp.Client")
    assert not is_said("fldp.Nonesuch")
    assert not is_said("fldp nonesuch --none")
    assert not is_said("fldp.Nonesuch(none=)", {"fldp.Nonesuch"})
    for part in ("fldp.Client(none=)", "fldp.Client(none)", "fldp.Client.none"):
        assert is_said(part, {"fldp.Client"}) > is_said(part)
    assert is_said("fldp relay --none", {"fldp relay"}) > is_said("fldp relay --none")
