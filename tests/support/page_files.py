"""What pages of the documents take for granted: the files of a survey, and of people who answered it."""

import json
import re

import fldp
from support.commands import run_here
from support.documents import ROOT

LABELS = ["chrome", "firefox", "safari", "edge", "other"]
WORDS = ["the"] * 600 + ["of"] * 300 + ["firefox"] * 100
TALLIES = ("tally", "monday", "tuesday", "a", "b", "young", "old")


def asked(labels):
    fields = {"name": "browser", "question": "Which browser are you using?", "labels": labels}
    return fldp.Survey.from_dict({**fields, "oracle": {"name": "grr", "epsilon": 1.0}})


def toml(survey):
    lines = [f"{key} = {json.dumps(survey.canonical[key])}" for key in ("name", "question", "labels")]
    return "\n".join([*lines, "[oracle]", 'name = "grr"', "epsilon = 1.0", ""])


def reports(survey):
    return survey.privatize(survey.labels * 400)


def tallied(survey):
    return fldp.wire.encode_tally(survey.oracle.tally(reports(survey)), survey.version)


def lake(folder, survey):
    day = folder / "lake" / f"survey={survey.version}" / "day=2026-11-15"
    day.mkdir(parents=True)
    with (day / "reports.parquet").open("wb") as file:
        fldp.parquet.write(file, survey.oracle, [reports(survey)], survey.version)


def makers(survey):
    """Return how each file is made, by its name."""
    makers = {name: lambda: toml(survey).encode() for name in ("survey.toml", "version_a.toml", "version_b.toml")}
    makers |= {f"{name}.fldp": lambda: tallied(survey) for name in TALLIES}
    makers["survey.json"] = lambda: json.dumps(survey.canonical).encode()
    makers["reports.fldp"] = lambda: fldp.wire.encode(reports(survey), survey.version)
    makers["wide.fldp"] = lambda: fldp.wire.encode(fldp.OUE(1.0, 5).privatize([0, 1, 2, 3] * 500))
    makers["people.csv"] = lambda: "\n".join(["browser", *survey.labels * 40]).encode()
    makers["words.csv"] = lambda: "\n".join(["word", *WORDS]).encode()
    makers["words.txt"] = lambda: b"the\nof\nfirefox\n"
    makers["answers.csv"] = lambda: "\n".join(["os,plan", *["linux,no", "mac,yes", "windows,no"] * 200]).encode()
    makers["desktop.toml"] = lambda: block("docs/survey.md", "# desktop.toml").encode()
    makers["shy.py"] = lambda: block("CONTRIBUTING.md", '"""Shy').encode()
    makers["candidates.txt"] = lambda: b"news\nmail\n"
    makers["pages.csv"] = lambda: run_here("sample", "--strings", "--people", "1000").stdout
    return makers


def block(page, start):
    """Return the block of a page that begins so."""
    return re.search(rf"^```\w+\n({re.escape(start)}.*?)^```", (ROOT / page).read_text(), re.M | re.S)[1]


def prepare(path, folder):
    """Write the files that a page names into a folder; return the survey that they are of."""
    text = path.read_text()
    survey = asked(["yes", "no"] if path.parent.name == "statisticians" else LABELS)
    for name, make in makers(survey).items():
        if re.search(rf"(?<![\w/.]){re.escape(name)}\b", text):
            (folder / name).write_bytes(make())
    if path.name in ("lake.md",):
        lake(folder, survey)
    return survey
