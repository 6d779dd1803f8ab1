"""docs/operations.md: its commands run, in their order, and its tables are those of the code."""

import os
import re
import shlex
from pathlib import Path

from fldp.collector.service.metrics import FAMILIES
from support.collector_server import Server, batch
from support.serving import run_here

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "operations.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def commands():
    lines = (shlex.split(line, comments=True) for block in BLOCKS for line in block.splitlines())
    return [words for words in lines if words]


def test_the_commands_run_in_their_order(tmp_path):
    ran = []
    before = os.umask(0o022)
    try:
        for program, *arguments in commands():
            if program == "umask":
                os.umask(int(arguments[0], 8))
                continue
            assert program == "fldp"
            ran.append(arguments[0])
            run_here(*arguments, cwd=tmp_path)
            if arguments[0] == "serve":  # a collector works in the folder before it is copied
                fill(tmp_path / "collected", (tmp_path / "admin.token").read_text().strip())
    finally:
        os.umask(before)
    assert ran == ["token", "serve", "token", "backup", "fsck", "restore", "fsck"]
    assert (tmp_path / "admin.token").stat().st_mode & 0o777 == 0o600
    restored = Server(tmp_path / "restored", token=(tmp_path / "admin.token").read_text().strip())
    try:
        assert list(restored.counts().values()) == [7]
    finally:
        restored.stop()


def fill(folder, token):
    server = Server(folder, token=token)
    try:
        survey = server.publish()
        server.send(survey, batch(survey, 7))
    finally:
        server.stop()


def test_every_metric_is_in_the_table():
    for name, family in FAMILIES.items():
        assert f"| `{name}` | {family.kind} | {family.about} |\n" in DOCUMENT


def test_every_sample_is_named():
    for file in (ROOT / "deploy").iterdir():
        assert f"](../deploy/{file.name})" in DOCUMENT, file.name
