"""The commands about telemetry, and the page that a person sees."""

import hashlib
import json
import re
import sqlite3
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import webbrowser
from contextlib import closing
from fractions import Fraction

import pytest

from fldp import GRR, wire
from fldp.oracles.base.analysis import analysis
from fldp.telemetry import installed_programs, node_programs, sending
from fldp.telemetry.agent import Places
from fldp.telemetry.installed_programs import Installed
from fldp.telemetry.modes import Mode
from fldp.telemetry.page import PageServer, page
from fldp.telemetry.publishing import survey_of
from fldp.telemetry.report_explanations import explained, says
from fldp.telemetry.shell import main
from fldp.telemetry.view import given_away, text_of, view_data
from support.commands import run_here
from support.telemetry import ON, at, declared, install, lived, only, quick_folder

TOML = """format = "fldp-metrics-1"
app = "paint"
collector = "https://collector.example"
epsilon = 1.0

[metric.sync]
kind = "flag"
why = "to know"
owner = "a@b.example"
expires = 2999-01-01
"""


@pytest.fixture(autouse=True)
def variables(tmp_path, monkeypatch):
    for name in ("CI", "DO_NOT_TRACK", "FLDP_TELEMETRY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def said(*words, code=0):
    done = run_here("telemetry", *words, code=code)
    return done.stdout.decode() + done.stderr.decode()


@pytest.fixture
def ran(tmp_path):
    """A program that has run on this machine."""
    folder = tmp_path / "state" / "fldp" / "telemetry"
    folder.mkdir(parents=True)
    agent = install(folder, declared(default="local"), at("2026-01-10"), mode=ON._replace(mode="local"))
    agent._places = agent._places._replace(state=str(folder / "paint.db"))
    agent.state.path = str(folder / "paint.db")
    agent.record("theme", "dark")
    agent.save()
    return agent


def test_choices_and_the_environment(ran):
    assert "paint: local (the default of paint)" in said("env")
    assert "telemetry is on for paint" in said("on", "--app", "paint")
    assert json.loads(said("env", "--json"))[0]["reason"] == "chosen for paint by fldp telemetry on"
    said("local")
    assert "paint: local (chosen for all programs by fldp telemetry local)" in said("env", "--app", "paint")
    assert "must be 1 to 64" in said("on", "--app", "No App", code=2)
    assert "keeps nothing on this machine" in said("env", "--app", "other", code=2)


def test_off_deletes_aggregates_and_a_variable_is_stronger(ran, monkeypatch):
    assert said("off").startswith("telemetry is off for all programs")
    with ran.state.exclusive() as rows:
        assert rows.aggregate("2026-01", "theme") == {}
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    assert "a stronger setting decides: DO_NOT_TRACK is set" in said("on")


def test_one_damaged_file_keeps_no_command_from_the_others(ran):
    folder = ran.state.path.rpartition("/")[0]
    for name, content in (("aaa", b"no database at all"), ("zzz", b"")):
        with open(f"{folder}/{name}.db", "wb") as file:
            file.write(content)
    assert "paint: local" in (text := said("env", code=1))
    assert "aaa.db: cannot be read as telemetry: file is not a database; delete it if you do not need it" in text
    assert said("view", "--app", "paint", "--text").startswith("Telemetry of paint: local")
    off = said("off", code=1)
    assert off.startswith("telemetry is off for all programs")
    assert "aaa.db" in off
    assert "its aggregates are not deleted" in off
    with ran.state.exclusive() as rows:
        assert rows.aggregate("2026-01", "theme") == {}
    assert "paint: aggregates and reports are deleted" in said("clean", code=1)


def framed(text):
    """A text as programs in Node store it."""
    return f"fldp-store-1 {hashlib.sha256(text.encode()).hexdigest()}\n{text}"


def test_programs_in_node_are_listed_and_what_they_keep_is_deleted(tmp_path):
    folder = tmp_path / "state" / "fldp" / "telemetry"
    folder.mkdir(parents=True)
    periods = [{"period": "2026-01", "values": [["theme", [["dark", 1]]]]}, {"period": "2025-12", "done": True}]
    book = {"format": "fldp-telemetry-1", "saves": [], "periods": periods, "reports": [{"key": "ü"}]}
    (folder / "nodular.state.9").write_text(framed(json.dumps({**book, "reports": []})))
    (folder / "nodular.state.10").write_text(framed(json.dumps(book, ensure_ascii=False)))
    assert f"nodular in Node: its default (nobody has chosen)\n  state: {folder}/nodular.state.10" in said("env")
    assert "nodular runs in Node" in said("view", code=2)
    assert "telemetry is off for nodular" in said("off", "--app", "nodular")

    def stored():
        [path] = folder.iterdir()
        head, _, text = path.read_text().partition("\n")
        assert framed(text) == f"{head}\n{text}"
        return path.name, json.loads(text)

    forgotten = {**book, "periods": [{"period": "2026-01"}, periods[1]]}
    assert stored() == ("nodular.state.11", forgotten)
    assert "nodular in Node: off (chosen for nodular" in said("env")
    said("clean")
    assert stored() == ("nodular.state.12", {**forgotten, "reports": []})
    for damaged in ("cut", framed("cut"), framed("[]")):
        (folder / "nodular.state.13").write_text(damaged)
        told = said("clean", code=1)
        assert "nodular.state.13: is damaged, or of a later version; it is not cleaned" in told
        assert "are deleted" not in told


@pytest.mark.parametrize(("times", "code"), [(1, 0), (1000, 1)])
def test_a_program_in_node_that_writes_meanwhile_is_waited_for(tmp_path, monkeypatch, times, code):
    """It writes the generation that the command was about to write, once or always."""
    folder = tmp_path / "state" / "fldp" / "telemetry"
    folder.mkdir(parents=True)
    book = {"format": "fldp-telemetry-1", "saves": [], "periods": [], "reports": [{"key": "k"}]}
    (folder / "busy.state.1").write_text(framed(json.dumps(book)))
    read, overtaken = node_programs._read, iter(range(times))

    def overtake(path):
        number = int(path.name.rpartition(".")[2])
        if next(overtaken, None) is not None:
            (folder / f"busy.state.{number + 1}").write_bytes(path.read_bytes())
        return read(path)

    monkeypatch.setattr(node_programs, "_read", overtake)
    told = said("clean", code=code)
    if code:
        assert "busy.state: its program changes it all the time; try again; it is not cleaned" in told
    else:
        assert told == "busy: aggregates and reports are deleted\n"
        assert [path.name for path in folder.iterdir()] == ["busy.state.3"]


def test_where_there_are_several_programs_one_is_named(ran, tmp_path):
    folder = tmp_path / "state" / "fldp" / "telemetry"
    sketch = install(folder, declared(app="sketch", default="local"), at("2026-01-10"), mode=ON._replace(mode="local"))
    sketch.save()
    (folder / "app.db").rename(folder / "sketch.db")
    assert "say which program, by --app: paint, sketch" in said("view", "--text", code=2)


def test_a_file_of_a_later_version_is_left_alone(ran):
    with closing(sqlite3.connect(ran.state.path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    told = said("env", code=1)
    assert "cannot be read as telemetry: it is no telemetry of fldp, or of a later version" in told


def test_a_view_is_data_for_other_programs_too(ran, tmp_path):
    data = json.loads(said("view", "--json"))
    assert (data["app"], data["mode"], data["reports"]) == ("paint", "local", [])
    path = tmp_path / "view.json"
    path.write_text(json.dumps({**data, "app": "sketch"}))
    assert said("view", "--from", path, "--text").startswith("Telemetry of sketch: local")
    assert json.loads(said("view", "--from", path, "--json"))["app"] == "sketch"
    for text in ("{", "[]", "{}", json.dumps({**data, "reports": [{}]})):
        path.write_text(text)
        assert "must be JSON that telemetry.view() of fldp/telemetry returned" in said("view", "--from", path, code=2)


def test_a_view_of_a_program_that_is_off_and_stored_nothing_says_so(tmp_path):
    places = Places(str(tmp_path / "none.db"), str(tmp_path / "answers.db"))
    data = view_data(declared(), Mode("off", "a test"), places, at("2026-02-10"))
    assert (data["values"], data["reports"], data["silent"]) == ({}, [], [])
    assert "Nothing is stored, and nothing is sent." in text_of(data)
    assert "theme: nothing is stored (why: to know" in text_of(data)
    assert "No report was ever drawn." in page(data)


def test_a_report_whose_metric_is_gone_or_whose_bytes_are_damaged_is_still_shown():
    with quick_folder() as folder:
        data = seen_data(folder)
    [report] = data["reports"]
    metrics = declared()
    assert says(None, report) == [
        "The program does not declare this metric any more, so what the report says is not shown."
    ]
    survey = survey_of(metrics, metrics.metrics[report["metric"]])
    assert says(survey, {**report, "bytes": report["bytes"][:-2]}) == ["The report is damaged."]


def test_a_period_without_a_report_and_one_that_was_sent_are_told_apart():
    with quick_folder() as folder:
        data = seen_data(folder)
    silent = {"period": "2025-12", "metric": None, "why": "the program did not run"}
    sent = {**data["reports"][0], "state": "sent", "sent": "2026-02-03T00:00:00Z"}
    shown = {**data, "silent": [silent], "reports": [sent]}
    assert "  2025-12 no metric: no report: the program did not run" in text_of(shown)
    assert ": sent 2026-02-03T00:00:00Z, " in text_of(shown)
    assert "<h3>Periods without a report</h3>" in page(shown)
    assert "· sent, 2026-02-03 00:00 UTC" in page(shown)


@pytest.mark.parametrize(
    ("status", "body", "confirmed"),
    [
        (200, b'{"accepted": 1}', True),
        (200, b'{"accepted": true}', False),
        (200, b"<html>log in first</html>", False),
        (200, b"[]", False),
        (200, b"{}", False),
        (200, b"[" * 100_000, False),
        (503, b'{"accepted": 1}', False),
    ],
)
def test_only_a_collector_confirms_what_was_sent(status, body, confirmed):
    assert sending.PlainReply(status, body).confirms("accepted") is confirmed


def test_a_report_that_cannot_be_taken_back_now_is_told_with_an_exit_code(tmp_path, monkeypatch):
    def unreachable(*_):
        raise ConnectionRefusedError

    folder = tmp_path / "state" / "fldp" / "telemetry"
    folder.mkdir(parents=True)
    lived(folder, only("sync"), {"sync": True})
    (folder / "app.db").rename(folder / "paint.db")
    monkeypatch.setattr(sending, "request", unreachable)
    told = said("withdraw", code=1)
    assert "2026-01 sync: not reached: ConnectionRefusedError" in told
    assert "1 could not be taken back now; run this again later" in told
    monkeypatch.setattr(sending, "request", lambda *_: sending.PlainReply(200, b'{"withdrawn": 1}'))
    assert said("withdraw") == "2026-01 sync: taken back\n"


@pytest.mark.serving
@pytest.mark.parametrize("options", [(), ("--no-browser",)])
def test_the_page_is_opened_in_a_browser_unless_it_is_not_wanted(ran, monkeypatch, options):
    def interrupted(server):
        raise KeyboardInterrupt

    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(PageServer, "serve_forever", interrupted)
    [url] = re.findall(r"on this machine only, until Ctrl-C: (\S+)", said("view", *options))
    assert opened == ([] if options else [url])


def test_without_a_program_commands_say_so():
    assert "no program keeps telemetry on this machine" in said("env")
    assert "no program keeps telemetry on this machine, in " in said("view", "--text", code=2)


def test_clean_keeps_the_ledger_and_the_end_of_periods(tmp_path):
    folder = tmp_path / "state" / "fldp" / "telemetry"
    folder.mkdir(parents=True)
    agent = lived(folder, only("sync"), {"sync": True})
    (folder / "app.db").rename(folder / "paint.db")
    assert "paint: aggregates and reports are deleted" in said("clean", "--app", "paint")
    (folder / "paint.db").rename(folder / "app.db")
    with agent.state.exclusive() as rows:
        assert (rows.reports(), rows.finished()) == ([], [("2026-01", "sync", "")])
    assert (folder / "answers.db").exists()


def test_lint_export_and_their_exit_codes(tmp_path):
    path = tmp_path / "metrics.toml"
    path.write_text(TOML)
    text = said("lint", path)
    assert "warning  line 3: no relay is declared" in text
    assert "no mistakes, 2 warnings" in text
    said("export", path, "-o", tmp_path / "metrics.json")
    out = json.loads((tmp_path / "metrics.json").read_text())
    assert out["surveys"]["sync"]["labels"] == ["no", "yes", "unset"]
    path.write_text(TOML.replace("flag", "purple"))
    assert "error    line 7: metric.sync.kind" in said("lint", path, code=1)
    assert "line 7: metric.sync.kind" in said("export", path, "-o", tmp_path / "again.json", code=2)
    path.write_text(TOML.replace('"flag"', '"choice"\nvalues = ["a", "b", "c"]'))
    assert "give it a new name" in said("lint", path, "--before", tmp_path / "metrics.json", code=1)


def test_python_runs_the_persons_commands():
    line = [sys.executable, "-m", "fldp.telemetry"]
    help_ = subprocess.run([*line, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(f" {name} " in help_ for name in ("on", "local", "off", "env", "view", "withdraw", "clean"))
    bad = subprocess.run([*line, "view", "--text"], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("fldp: telemetry: no program keeps telemetry")
    nothing = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (nothing.returncode, "Usage: python -m fldp.telemetry" in nothing.stdout) == (0, True)


@pytest.mark.parametrize(
    ("words", "raised", "line", "code"),
    [
        (["dance"], None, "fldp: No such command 'dance'.\n", 2),
        (["clean"], OSError("disk full"), "fldp: OSError: disk full\n", 2),
        (["clean"], KeyboardInterrupt(), "", 130),
    ],
)
def test_every_error_of_the_persons_commands_is_one_line(monkeypatch, capsys, words, raised, line, code):
    def fail(app):
        raise raised

    monkeypatch.setattr(installed_programs, "clean", fail)
    monkeypatch.setattr(sys, "argv", ["telemetry", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == code
    assert capsys.readouterr() == ("", line)


def seen_data(folder):
    agent = lived(folder, declared(), {"theme": "dark"})
    return explained(agent.metrics, view_data(agent.metrics, ON, agent._places, at("2026-02-10")))


def test_a_view_has_every_report_and_what_it_gave_away():
    with quick_folder() as folder:
        data = seen_data(folder)
    [report] = data["reports"]
    assert bytes.fromhex(report["bytes"]).startswith(b"FLDP")
    likely = r"times as likely if the value is .* than if it is another|as likely under every value"  # a mask of zeros
    assert re.search(likely, report["says"][0])
    assert "rules out any value for certain" in report["says"][0]
    assert data["spent"]["collector"].startswith("epsilon ")
    text = text_of(data)
    assert f"2026-01 {report['metric']}: waiting, due" in text
    assert "eta 1" in text


def test_a_view_adds_up_this_month_twelve_months_and_ever():
    """Sixteen months of a number: one report of epsilon 1 in each, but the first month of the ledger says nothing."""
    metrics = only("startup")
    with quick_folder() as folder:
        for number in range(17):
            moment = at(f"{2026 + number // 12}-{number % 12 + 1:02d}-10")
            agent = install(folder, metrics, moment)
            agent.end_periods()
            agent.save()
        every = view_data(metrics, ON, agent._places, moment)["spent"]
        later = view_data(metrics, ON, agent._places, at("2027-08-10"))["spent"]
    assert every == {
        "collector": "epsilon 16, eta 1, 16 answers (epsilon 16 in 16 months, 1 this month)",
        "year": "12",
        "all": "epsilon 16, eta 1, 16 answers (epsilon 16 in 16 months, 1 this month)",
    }
    assert (later["year"], later["collector"].endswith("nothing this month)")) == ("9", True)


def test_what_is_said_of_a_kept_response_is_what_the_oracle_says():
    from fldp import LWR

    for epsilon, expected in ((0.5, 0.27), (1.0, 0.30), (2.0, 0.40)):
        metrics = declared(epsilon=epsilon)
        shown = given_away(metrics, metrics.metrics["theme"])
        oracle = LWR(epsilon=epsilon / 2, epsilon_permanent=epsilon, domain_size=4)
        assert shown.change_visible == pytest.approx(float(oracle.memoization.change_visible), abs=1e-9)
        assert shown.change_visible == pytest.approx(expected, abs=0.0051)
        assert 2 * shown.lasting == pytest.approx(float(oracle.memoization.lasting_epsilon))


def test_the_best_guess_is_at_most_what_randomized_response_allows():
    """GRR reaches what epsilon allows: its report is the value with the largest probability that there is."""
    metrics = declared()
    for name, times in (("theme", (0.5, 1.0)), ("startup", (1.0,))):
        metric = metrics.metrics[name]
        sentences = given_away(metrics, metric)
        sentence = sentences.sentences[1]
        assert f"with probability 1/{len(metric.labels)}, and" in sentence
        for epsilon, said in zip(times, re.findall(r"with (0\.\d{3}) at most", sentence), strict=True):
            best = GRR(epsilon=epsilon, domain_size=len(metric.labels)).estimator.p
            assert float(best) == pytest.approx(float(said), abs=6e-4)


@pytest.mark.parametrize("name", ["theme", "startup"])
def test_the_guess_after_a_report_is_that_of_the_exact_law(name):
    """By Bayes' rule over the law in fractions, for every report of twelve installs; none is above what is allowed."""
    metrics = only(name)
    metric = metrics.metrics[name]
    survey, guesses = survey_of(metrics, metric), set()
    format_, laws = survey.oracle.report_format, analysis(survey.oracle)
    for _ in range(12):
        with quick_folder() as folder:
            agent = lived(folder, metrics, {})
            [shown] = explained(metrics, view_data(metrics, ON, agent._places, at("2026-02-10")))["reports"]
        row = wire.decode(bytes.fromhex(shown["bytes"]), survey.oracle, survey.version).data[0]
        public, outcome = format_.outcome(row)
        shares = [laws.law(value, public).get(outcome, 0) for value in range(len(metric.labels))]
        guess = max(shares) / sum(shares)
        told = shown["says"][1]
        epsilon = survey.oracle.epsilon
        assert told.startswith(f"It kept epsilon {epsilon:g}, eta 1. Somebody who knows nothing else guesses the value")
        if min(shares) == max(shares):
            assert told.endswith(f"1/{len(shares)}, with this report and without it.")
        else:
            assert told.endswith(f"with this report alone with {float(guess):.3f}.")
        assert guess <= given_away(metrics, metric).guess(epsilon)
        guesses.add(guess)
    assert max(guesses) > Fraction(1, len(metric.labels))  # twelve masks of zeros: once in 16 million runs


def test_text_shows_what_every_report_says_and_its_bytes(ran, monkeypatch):
    with quick_folder() as folder:
        data = seen_data(folder)
    [report] = data["reports"]
    lines = text_of(data).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  2026-01 "))
    assert lines[first + 1 : first + 4] == [f"    {line}" for line in (*report["says"], report["bytes"])]
    monkeypatch.setattr(Installed, "view", lambda program: {**data, "metrics": {}})
    assert report["bytes"] in said("view", "--text")
    assert "The program does not declare this metric any more" not in said("view", "--text")


def test_the_page_shows_everything_and_nothing_runs_in_it():
    with quick_folder() as folder:
        data = seen_data(folder)
    evil = "<script>alert(1)</script>"
    text = page({**data, "app": evil, "reason": evil, "reports": [{**data["reports"][0], "said": evil}]})
    assert "<script" not in text
    assert text.count("&lt;script&gt;") == 4
    assert data["reports"][0]["bytes"] in text
    for sentence in data["metrics"]["theme"]["gives_away"]:
        assert sentence in text


@pytest.mark.serving
def test_the_page_is_for_this_machine_and_this_address():
    with quick_folder() as folder:
        data = seen_data(folder)

    def status(url, host=None):
        request = urllib.request.Request(url, headers={"Host": host} if host else {})
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, dict(reply.headers), reply.read()
        except urllib.error.HTTPError as error:
            return error.code, {}, b""

    with PageServer(lambda: data) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        code, headers, body = status(server.url)
        assert (code, b"Telemetry of paint" in body) == (200, True)
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'self'")
        assert status(server.url + "page.css")[0] == 200
        for other in (
            server.url + "../",
            server.url + "x",
            f"http://127.0.0.1:{server.server_port}/",
            server.url[:-2] + "/",
        ):
            assert status(other)[0] == 404
        assert status(server.url, "evil.example")[0] == 421
        assert server.server_address[0] == "127.0.0.1"
        server.shutdown()
