"""Sending: once, in the background, through the relay where there is one, and never where it is off."""

import json
import os
import subprocess
import sys
import threading
from datetime import timedelta

import pytest

from fldp.telemetry.installed_programs import Installed
from fldp.telemetry.modes import Mode
from fldp.telemetry.periods import system
from support.raw_server import answer, raw
from support.telemetry import FIELDS, at, install, lived, only, quick_folder, reports

OK = answer(b'{"accepted": 1}')
PORTAL = answer(b"<p>Welcome to this hotel</p>", media="text/html")
BACK = answer(b'{"withdrawn": 1}')


@pytest.fixture
def folder():
    with quick_folder() as folder:
        yield folder


def due(folder, **changes):
    """An install whose report is due."""
    lived(folder, only("sync", **changes), {"sync": True})
    return install(folder, only("sync", **changes), at("2026-02-20"))


def test_a_report_is_sent_once_with_its_key(folder):
    with raw(OK) as (url, seen):
        agent = due(folder, collector=url)
        install(folder, only("sync", collector=url), at("2026-02-10")).send_due()
        assert seen == []  # its time has not come
        agent.send_due()
        agent.send_due()
    [report] = reports(agent)
    assert (report.state, report.sent, report.tries) == ("sent", "2026-02-20T00:00:00Z", 1)
    [asked] = seen
    assert asked[0] == f"POST /v1/versions/{report.version}/reports HTTP/1.1"
    assert f"Idempotency-Key: {report.key}" in asked
    assert not any(line.lower().startswith(("user-agent", "cookie", "authorization")) for line in asked)


def test_a_report_that_waits_is_not_sent_once_somebody_says_local(folder):
    with raw(OK) as (url, seen):
        due(folder, collector=url)
        install(folder, only("sync", collector=url), at("2026-02-20"), mode=Mode("local", "a test")).send_due()
        assert seen == []


def test_a_program_that_is_about_to_send_asks_once_more(folder):
    with raw(OK) as (url, seen):
        due(folder, collector=url)
        metrics, said = only("sync", collector=url), iter(["on", "local"])
        agent = install(folder, metrics, at("2026-02-20"), decide=lambda: Mode(next(said), "a test"))
        agent.heed()
        agent.send_due()
        assert (agent.mode.mode, seen) == ("local", [])


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("200 OK", "sent"), ("410 Gone", "refused"), ("403 Forbidden", "refused"),
        ("429 Many", "waiting"), ("503 Busy", "waiting"), ("302 Found", "waiting"),
    ],
)  # fmt: skip
def test_what_becomes_of_a_report(folder, status, state):
    with raw(answer(b'{"accepted": 1}', status, "application/json", "Location: http://127.0.0.1:9/")) as (url, seen):
        agent = due(folder, collector=url)
        agent.send_due()
        assert len(seen) == 1
    [report] = reports(agent)
    assert report.state == state
    assert ("answers" in report.said) == (state != "sent")


@pytest.mark.parametrize(
    "script", [[], [b"nonsense\r\n\r\n"], [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"], PORTAL]
)
def test_an_answer_that_is_none_leaves_the_report_waiting(folder, script):
    with raw(script) as (url, _):
        agent = due(folder, collector=url)
        agent.send_due()
    assert [(report.state, report.tries) for report in reports(agent)] == [("waiting", 1)]


def test_a_report_that_cannot_be_sent_for_a_period_is_dropped(folder):
    due(folder).send_due()
    for day, state in (("2026-03-31", "waiting"), ("2026-04-01", "dropped")):
        agent = install(folder, only("sync"), at(day))
        agent.send_due()
        assert [report.state for report in reports(agent)] == [state]


def test_plain_http_to_another_machine_is_refused(folder, monkeypatch):
    agent = due(folder, collector="http://collector.example")
    agent.send_due()
    assert [report.said for report in reports(agent)] == ["not reached: ValueError"]


def test_where_a_relay_is_declared_nothing_goes_directly(folder, monkeypatch):
    """Neither where the relay is gone, nor where what encrypts for it is not installed."""
    with raw(OK) as (url, seen):
        with raw(OK) as (relay, asked):  # what answers has no keys to give
            said = []
            for moment, way in (("2026-02-20", "http://127.0.0.1:9"), ("2026-02-21", relay), ("2026-02-22", relay)):
                due(folder, collector=url, relay=way) if not said else None
                agent = install(folder, only("sync", collector=url, relay=way), at(moment))
                agent.send_due()
                said.append(reports(agent)[0].said)
                monkeypatch.setitem(sys.modules, "fldp.oblivious", None) if len(said) == 2 else None
        assert seen == []
        assert len(asked) == 1
    assert said[0].startswith("not reached")
    assert said[2] == "not sent: ModuleNotFoundError"
    assert [(report.state, report.tries) for report in reports(agent)] == [("waiting", 3)]


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "301 Moved"])
def test_what_a_relay_answers_itself_refuses_no_report(folder, status):
    """The collector has said nothing: a hotel's network answers so, or a relay that has moved."""
    with raw(answer(b"<p>Welcome", status, "text/html", "Location: http://127.0.0.1:9/")) as (relay, asked):
        agent = due(folder, relay=relay)
        agent.send_due()
        assert len(asked) == 1
    said = f"the relay answers {status[:3]} to the question for keys"
    assert [(report.state, report.said) for report in reports(agent)] == [("waiting", said)]


def test_a_report_that_was_not_taken_is_tried_again_after_an_hour(folder):
    with raw(answer(b"{}", "503 Busy")) as (url, seen):
        due(folder, collector=url)
        for moment, expected in (("2026-02-20T00:00", 1), ("2026-02-20T00:59", 1), ("2026-02-20T01:00", 2)):
            install(folder, only("sync", collector=url), at(moment)).send_due()
            assert len(seen) == expected


def test_the_notice_comes_once_before_the_first_report(folder):
    told = []
    with raw(OK) as (url, seen):
        due(folder, collector=url)
        agent = install(
            folder, only("sync", collector=url), at("2026-02-20"), notice=lambda text: told.append((text, len(seen)))
        )
        agent.send_due()
        lived(folder, only("sync", collector=url), {"sync": True}, days=("2026-02-21", "2026-03-02"))
        again = install(
            folder, only("sync", collector=url), at("2026-03-20"), notice=lambda text: told.append((text, -1))
        )
        again.send_due()
        assert len(seen) == 2
    [(text, sent)] = told
    assert sent == 0
    assert "sync: One report: epsilon 0.5, eta 1" in text
    assert "a change shows with probability 0.303" in text


def test_where_the_notice_raises_nothing_is_sent(folder):
    def refuses(text):
        raise RuntimeError

    with raw(OK) as (url, seen):
        due(folder, collector=url)
        agent = install(folder, only("sync", collector=url), at("2026-02-20"), notice=refuses)
        agent.attempt(agent.send_due)
        assert seen == []


PROGRAM = """
import json, sys
from fldp import telemetry
from fldp.telemetry import sending
sending.TIMEOUT = 3600.0
telemetry.setup(json.loads(sys.argv[1]))
telemetry.record("sync", True)
print(telemetry.mode, telemetry.flush(30) if sys.argv[2] == "wait" else "")
"""


def program(fields, state, wait="wait", **more):
    names = {"XDG_STATE_HOME": str(state), "XDG_CONFIG_HOME": str(state / "config"), "PATH": os.environ["PATH"]}
    line = [sys.executable, "-c", PROGRAM, json.dumps(fields), wait]
    return subprocess.run(line, env={**names, **more}, capture_output=True, text=True, check=True, timeout=300).stdout


def real_install(folder, url):
    """An install on this machine's clock whose report is due: it lived two months ago, and last month."""
    now = system()
    last = now.replace(day=1) - timedelta(days=1)
    state = folder / "fldp" / "telemetry"
    state.mkdir(parents=True)
    metrics = only("sync", collector=url)
    from fldp.telemetry.agent import Agent, Places

    places = Places(str(state / "paint.db"), str(folder / "fldp" / "answers.db"))
    for moment in (last.replace(day=1) - timedelta(days=1), last, now - timedelta(days=4) if now.day > 4 else now):
        agent = Agent(metrics, Mode("on", ""), places, clock=lambda moment=moment: moment)
        agent.record("sync", True)
        agent.end_periods()
    with agent.state.exclusive() as rows:
        rows._execute("UPDATE reports SET due = ''")
    return {**FIELDS, "collector": url, "metric": {"sync": FIELDS["metric"]["sync"]}}


@pytest.mark.parametrize(
    "off", [{"DO_NOT_TRACK": "1"}, {"CI": "true"}, {"FLDP_TELEMETRY": "off"}, {"FLDP_TELEMETRY": "local"}]
)
def test_off_sends_not_a_byte_although_a_report_is_due(folder, off):
    with raw(OK) as (url, seen):
        fields = real_install(folder, url)
        stored = (folder / "fldp" / "telemetry" / "paint.db").read_bytes()
        program(fields, folder, **off)
        assert seen == []
        if off != {"FLDP_TELEMETRY": "local"}:
            assert (folder / "fldp" / "telemetry" / "paint.db").read_bytes() == stored
        assert program(fields, folder) == "on True\n"  # the same program sends where nothing forbids it
        assert len(seen) >= 1


def test_the_end_of_a_program_does_not_wait_for_the_network(folder):
    """The collector does not answer before the program has ended, and the program would wait for an hour."""
    ended = threading.Event()

    def silent(asked):
        ended.wait()
        return OK

    with raw(silent) as (url, seen):
        fields = real_install(folder, url)
        program(fields, folder, wait="no")
        ended.set()
        assert program(fields, folder) == "on True\n"
        assert len(seen) >= 1


def test_a_withdrawal_names_the_report_again(folder):
    with raw(OK) as (url, seen):
        agent = due(folder, collector=url)
        agent.send_due()
    with raw(BACK) as (again, withdrawn):
        said = []
        agent = install(folder, only("sync", collector=again), at("2026-02-20"))
        program = Installed(agent.metrics, agent._places)
        assert program.withdraw(said.append) == 0
        assert program.withdraw(said.append) == 0
    [report] = reports(agent)
    assert report.state == "withdrawn"
    assert said == ["2026-01 sync: taken back"]
    assert [line[0].split()[1].rsplit("/", 1)[1] for line in seen + withdrawn] == ["reports", "withdrawals"]
    assert f"Idempotency-Key: {report.key}" in withdrawn[0]


@pytest.mark.parametrize(("last", "arrived"), [("dropped", True), ("refused", True), ("dropped", False)])
def test_what_may_have_arrived_is_taken_back_whatever_became_of_it_later(folder, last, arrived):
    """The collector counted it, and its answer was lost; later tries failed for good."""
    with raw(BACK) as (url, seen):
        agent = due(folder, collector=url)
        with agent.state.exclusive() as rows:
            for state in ("waiting", last) if arrived else (last,):
                rows.tried(1, state, "2026-02-20T00:00:00Z", "not reached: TimeoutError")
        assert Installed(agent.metrics, agent._places).withdraw([].append) == 0
    assert [report.state for report in reports(agent)] == ["withdrawn" if arrived else last]
    assert len(seen) == arrived


def test_a_withdrawal_that_fails_says_so(folder):
    with raw(answer(b"{}", "404 Not Found")) as (url, _):
        agent = due(folder, collector=url)
        with agent.state.exclusive() as rows:
            rows.tried(1, "sent", "2026-02-20T00:00:00Z")
        said = []
        assert Installed(agent.metrics, agent._places).withdraw(said.append) == 1
    assert said == ["2026-01 sync: the collector answers 404"]
    assert [report.state for report in reports(agent)] == ["withdrawing"]


def test_what_waits_is_not_sent_once_somebody_takes_it_back(folder):
    """Not even if nobody could be reached, or a program was just sending it."""
    agent = due(folder, collector="http://127.0.0.1:9")
    program = Installed(agent.metrics, agent._places)
    assert program.withdraw([].append) == 1
    with raw(OK) as (url, seen):
        install(folder, only("sync", collector=url), at("2026-02-21")).send_due()
        assert seen == []
    with agent.state.exclusive() as rows:
        rows.tried(1, "sent", "2026-02-20T00:00:00Z")  # by the program that was
    assert [report.state for report in reports(agent)] == ["withdrawing"]
    with raw(BACK) as (url, seen):
        agent = install(folder, only("sync", collector=url), at("2026-02-22"))
        assert Installed(agent.metrics, agent._places).withdraw([].append) == 0
        assert len(seen) == 1
    assert [report.state for report in reports(agent)] == ["withdrawn"]
