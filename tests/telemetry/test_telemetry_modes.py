"""Modes: who decides, and that off means nothing at all."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fldp.telemetry.modes import CI, Mode, choices_path, choose, mode_of
from support.telemetry import FIELDS, at, install, lived, only, reports

ROOT = Path(__file__).parents[2]


@pytest.fixture
def variables(tmp_path):
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}


def test_the_default_is_the_weakest(variables):
    assert mode_of("paint", "local", variables) == Mode("local", "the default of paint")
    assert mode_of("paint", "purple", variables).mode == "off"


def test_a_choice_is_stronger_and_one_for_the_program_the_strongest(variables):
    choose("on", None, "2026-11-01", variables)
    assert mode_of("paint", "local", variables) == Mode(
        "on", "chosen for all programs by fldp telemetry on", "2026-11-01"
    )
    choose("local", "paint", "2026-11-02", variables)
    assert mode_of("paint", "on", variables)[::2] == ("local", "2026-11-02")
    assert mode_of("other", "local", variables).mode == "on"
    choose("local", "paint", "2026-11-09", variables)  # said again
    assert mode_of("paint", "on", variables).since == "2026-11-02"
    choose("off", None, "2026-11-03", variables)  # for all, so also for paint
    assert mode_of("paint", "on", variables).mode == "off"


@pytest.mark.parametrize("since", ["soon", "2026-13-01", "0001-01-01", "1", "[1]", "20260101"])
def test_a_day_that_there_is_not_means_off(variables, since):
    """Each period would end in an error that nobody sees, and nothing would ever be sent."""
    path = Path(choices_path(variables))
    path.parent.mkdir(parents=True)
    path.write_text(f'mode = "on"\nsince = "{since}"\n')
    told = mode_of("paint", "local", variables)
    assert (told.mode, told.reason.partition(";")[0]) == ("off", "telemetry.toml names an impossible day")
    choose("on", None, "2026-11-01", variables)
    assert mode_of("paint", "local", variables).mode == "on"


@pytest.mark.parametrize("name", ["DO_NOT_TRACK", *CI])
def test_variables_that_mean_off(variables, name):
    choose("on", "paint", "2026-11-01", variables)
    assert mode_of("paint", "on", {**variables, name: "1"}).mode == "off"
    assert mode_of("paint", "on", {**variables, name: "0"}).mode == "on"
    assert mode_of("paint", "on", {**variables, name: "1", "FLDP_TELEMETRY": "local"}).mode == "local"


@pytest.mark.parametrize("said", ["true", "false", "no", "00"])
def test_do_not_track_is_set_unless_it_is_empty_or_nought(variables, said):
    assert mode_of("paint", "on", {**variables, "DO_NOT_TRACK": said}).mode == "off"


@pytest.mark.parametrize("said", ["ON", "yes", " "])
def test_a_variable_that_says_something_else_means_off(variables, said):
    assert mode_of("paint", "on", {**variables, "FLDP_TELEMETRY": said}).mode == "off"


@pytest.mark.parametrize("text", ["mode = ", "mode = 'purple'", "app = 1", "[app]\npaint = 1", "\x00"])
def test_a_damaged_choice_means_off_and_is_mended_by_a_new_one(variables, text):
    path = Path(choices_path(variables))
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert mode_of("paint", "on", variables).mode == "off"
    choose("on", "draw", "2026-11-01", variables)
    assert [mode_of(app, "on", variables).mode for app in ("draw", "paint")] == ["on", "off"]
    choose("local", None, "2026-11-01", variables)
    assert mode_of("paint", "on", variables).mode == "local"


def test_a_choice_keeps_what_other_tables_say(variables):
    path = Path(choices_path(variables))
    path.parent.mkdir(parents=True)
    path.write_text("mode = 'off'\n[app.draw]\nmode = 'on'\nwhy = 'they asked \"please\"'\n")
    choose("local", "paint", "2026-11-01", variables)
    assert [mode_of(app, "on", variables).mode for app in ("draw", "paint", "sing")] == ["on", "local", "off"]


@pytest.mark.parametrize(
    "text",
    [
        "mode = 'x\"y'\n",
        "mode = 'on'\nsince = 'a\"b'\n",
        "mode = 'off'\n[app.'a\"b']\nmode = 'on'\n",
        "mode = ['on']\n",
    ],
)
def test_a_choice_is_stored_whatever_else_the_file_says(variables, text):
    """What no program writes is off to the others, and is written so, in lines that JavaScript reads, too."""
    path = Path(choices_path(variables))
    path.parent.mkdir(parents=True)
    path.write_text(text)
    choose("on", "paint", "2026-11-01", variables)
    assert [mode_of(app, "on", variables).mode for app in ("paint", "draw")] == ["on", "off"]
    assert path.read_text() == 'mode = "off"\n\n[app."paint"]\nmode = "on"\nsince = "2026-11-01"\n'


def test_a_choice_that_nobody_can_get_at_means_off(variables, tmp_path):
    (tmp_path / "file").write_text("")
    assert mode_of("paint", "on", {**variables, "XDG_CONFIG_HOME": str(tmp_path / "file")}).mode == "off"
    assert mode_of("paint", "on", {**variables, "XDG_CONFIG_HOME": str(tmp_path / "nothing")}).mode == "on"


PROGRAM = """
import json, sys
from fldp import telemetry
telemetry.setup(json.loads(sys.argv[1]))
telemetry.record("theme", "dark")
sent = telemetry.flush(20)
print(json.dumps([telemetry.mode, sent]))
"""


def run(fields, variables, **more):
    line = [sys.executable, "-c", PROGRAM, json.dumps(fields)]
    done = subprocess.run(
        line, env={**variables, "HOME": "/nowhere", **more}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("off", [{"DO_NOT_TRACK": "1"}, {"CI": "true"}, {"FLDP_TELEMETRY": "off"}])
def test_off_stores_nothing(variables, tmp_path, off):
    assert run(FIELDS, variables, **off) == ["off", True]
    assert list(tmp_path.rglob("*")) == []
    assert run(FIELDS, variables)[0] == "on"  # the same line, without the variable, does
    assert list(tmp_path.rglob("paint.db")) != []


def test_local_stores_and_never_draws(tmp_path):
    local = Mode("local", "a test")
    for day in ("2026-01-10", "2026-02-10", "2026-03-10"):
        agent = install(tmp_path, only("sync"), at(day), mode=local)
        agent.record("sync", True)
        agent.work()
    assert reports(agent) == []
    assert not (tmp_path / "answers.db").exists()
    with agent.state.exclusive() as rows:
        assert [period for period, _ in rows.open_periods()] == ["2026-02", "2026-03"]
        assert rows.aggregate("2026-01", "sync") == {}


def test_what_was_collected_before_somebody_said_yes_is_not_sent(tmp_path):
    for since, expected in (("2026-02-20", 0), ("2026-02-01", 1)):
        folder = tmp_path / since
        folder.mkdir()
        lived(folder, only("sync"), {"sync": True}, days=("2026-01-10", "2026-01-11"))
        agent = install(folder, only("sync"), at("2026-02-15"))
        agent.record("sync", True)
        agent.save()
        later = install(folder, only("sync"), at("2026-03-02"), mode=Mode("on", "", since))
        later.end_periods()
        assert len([report for report in reports(later) if report.period == "2026-02"]) == expected
