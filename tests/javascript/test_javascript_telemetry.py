"""Telemetry in JavaScript beside Python: the same labels, the same periods, the same charges, and the same words.

Python is told which metric the lot drew in JavaScript, and when its report is due; all else it has to find by itself.
"""

import json
import math
import subprocess
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from fldp.survey import Survey
from fldp.telemetry import drawing, sending
from fldp.telemetry.aggregates import add, outcome
from fldp.telemetry.installed_programs import Installed
from fldp.telemetry.metrics import KINDS, metrics_of
from fldp.telemetry.modes import Mode
from fldp.telemetry.page import page, read_view
from fldp.telemetry.publishing import exported
from fldp.telemetry.report_explanations import says
from fldp.telemetry.sending import PlainReply
from fldp.telemetry.specification import specification
from fldp.telemetry.view import text_of, view_data
from support.commands import run_here
from support.javascript import HERE, ROOT, node
from support.telemetry import ABOUT, FIELDS, above_limits, at, charges, declared, install, only, quick_folder, reports

SLOW = settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    max_examples=40,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
ODD_NUMBERS = {math.inf: "Infinity", -math.inf: "-Infinity"}


def test_the_metrics_of_the_tests_in_javascript_are_what_python_exports():
    assert json.loads((ROOT / "js" / "test" / "metrics.json").read_text()) == exported(declared(), "")


def test_the_page_of_python_shows_what_a_program_in_javascript_keeps(device, tmp_path):
    path, metrics = tmp_path / "view.json", exported(only("sync"), "")
    device.said("clear", at("2026-01-10"))
    for day in ("2026-01-10", "2026-02-10", "2026-02-20"):
        program = {"metrics": metrics, "records": [("sync", True)], "status": 200}
        shown = device.said("run", at(day), **program)["view"]
    path.write_text(json.dumps(shown))
    text = page(read_view(path))
    assert "Telemetry of paint" in text
    assert "2026-01 · sync · sent, 2026-02-20 00:00 UTC" in text
    assert "<p>The report is " in text
    assert run_here("telemetry", "view", "--from", path, "--text").stdout.startswith(b"Telemetry of paint: on")
    for odd in ({}, [], None, {**shown, "reports": [{}]}, {**shown, "app": 5}, {**shown, "metrics": {"a": 1}}):
        path.write_text(json.dumps(odd))
        said = run_here("telemetry", "view", "--from", path, code=2)
        assert b"must be JSON that telemetry.view() of fldp/telemetry returned" in said.stderr + said.stdout


class Device:
    """A process that has telemetry in JavaScript."""

    def __init__(self, process):
        self.process = process

    def said(self, action, time, **more):
        self.process.stdin.write(json.dumps({"action": action, "time": f"{time:%Y-%m-%dT%H:%M:%SZ}", **more}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def device():
    command = [node(), str(HERE / "telemetry_driver.mjs")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield Device(running)
        running.stdin.close()


def sendable(value):
    """Return a value as JSON can say it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": ODD_NUMBERS.get(value, "NaN")}
    return value


NAMES = st.sampled_from(["a", "constructor", "b-2", "to_string"])
TEXTS = st.sampled_from(["1", "1.4", "2", "2.0", "other", "dark", "constructor", "__proto__", "ü"])
AMOUNTS = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, 2.5, math.inf, -math.inf, math.nan]) | st.integers(-9, 9)
VALUES = st.booleans() | AMOUNTS | TEXTS | st.sampled_from(["2.0.1", "1.40", "1.4.9", "", "nowhere", None])


@st.composite
def tables(draw):
    kind = draw(st.sampled_from(sorted(KINDS)))
    table = {"kind": kind, "take": draw(st.sampled_from(KINDS[kind])), **ABOUT}
    if kind in ("choice", "version"):
        table["values"] = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    if kind == "number":
        table["edges"] = sorted(draw(st.lists(st.floats(-99, 99), min_size=1, max_size=4, unique=True)))
    return table


@SLOW
@given(st.dictionaries(NAMES, tables(), min_size=1), st.lists(st.tuples(NAMES, VALUES), max_size=12))
def test_the_same_values_become_the_same_aggregates_and_the_same_label(device, metric, recorded):
    metrics = declared(metric=metric, default="local")
    expected = {name: {} for name in metric}
    for name, value in recorded:
        label = metrics.metrics[name].label(value) if name in metric else None
        if label is not None:
            add(metrics.metrics[name], expected[name], value, label)
    day = at("2026-01-10")
    device.said("clear", day)
    records = [(name, sendable(value)) for name, value in recorded]
    view = device.said("run", day, metrics=exported(metrics, ""), records=records, status=0)["view"]
    for name, held in expected.items():
        if any(math.isnan(amount) for amount in held.values()):  # of both infinities: Python stores nothing then
            continue
        shown = view["values"][name]
        assert shown["would_report"] == outcome(metrics.metrics[name], held)
        finite = {key: max(-1.7976931348623157e308, min(1.7976931348623157e308, held[key])) for key in held}
        assert shown["kept"] == pytest.approx(finite)


class Twin:
    """An install in Python that lives the life of one in JavaScript."""

    def __init__(self, folder, metrics, device, patch):
        self.folder, self.metrics, self.device, self.patch = folder, metrics, device, patch
        self.mode, self.exported = Mode("on", "the default of paint"), exported(metrics, "")

    def agent(self, moment):
        return install(self.folder, self.metrics, moment, mode=self.mode)

    def run(self, moment, *, records=(), status=0, choose=None):
        program = {"records": records, "status": status, "choose": choose}
        there = self.device.said("run", moment, metrics=self.exported, **program)
        self._follow(there["state"], moment, status)
        agent = self._worked(moment)
        if choose:
            since = self.mode.since if self.mode.mode == choose and self.mode.since else f"{moment:%Y-%m-%d}"
            self.mode = Mode(choose, "chosen for paint", since)
            if choose == "off" and (self.folder / "app.db").exists():
                with agent.state.exclusive() as rows:
                    rows.forget_aggregates()
            agent = self._worked(moment)
        if self.mode.mode != "off":
            for name, value in records:
                agent.record(name, value)
            agent.save()
        self._compare(there, agent, moment)

    def call(self, moment, name, status):
        """Have the person take everything back, or clean up."""
        there, agent = (
            self.device.said("call", moment, metrics=self.exported, name=name, status=status),
            self.agent(moment),
        )
        if (self.folder / "app.db").exists():
            program = Installed(self.metrics, agent._places)
            program.clean() if name == "clean" else program.withdraw(lambda line: None)
        self._compare(there, agent, moment)

    def _worked(self, moment):
        agent = self.agent(moment)
        if self.mode.mode != "off":
            agent.end_periods()
            agent.send_due()
            agent.save()
        return agent

    def _follow(self, state, moment, status):
        """Let the lots and the times to send be those of the other side, and the network answer alike."""
        lots = {each["period"]: each.get("metric") for each in (state or {"periods": []})["periods"]}
        dues = [at(report["due"][:-1]) for report in (state or {"reports": []})["reports"][-1:]]
        last = max((period for period, lot in lots.items() if lot), default=None)
        self.patch.setattr(drawing, "drawn_lot", lambda metrics: lots[last])
        seconds = [int((due - moment).total_seconds()) for due in dues]
        self.patch.setattr(drawing.secrets, "randbelow", lambda end: seconds[0] if seconds[0] < end else 0)

        def send(metrics, report, what=sending.REPORTS):
            if not status:
                raise ConnectionRefusedError
            return PlainReply(status, b'{"accepted": 1, "withdrawn": 1}')

        self.patch.setattr(sending, "send", send)

    def _compare(self, there, agent, moment):
        state = there["state"] or {"periods": [], "reports": []}
        assert there["mode"] == self.mode.mode
        own = reports(agent) if (self.folder / "app.db").exists() else []
        fields = ("period", "metric", "version", "drawn", "due", "state", "sent", "tries")
        assert [[report[name] for name in fields] for report in state["reports"]] == [
            [getattr(report, name) for name in fields] for report in own
        ]
        assert [len(report["body"]) for report in state["reports"]] == [2 * len(report.body) for report in own]
        rows = (there["ledger"] or {"answers": []})["answers"]
        entries = [(row["name"], row["epoch"], row["epsilon"], row["renews"], row["day"]) for row in rows]
        assert entries == [(c.name, c.epoch, float(c.cost.epsilon), c.renews, c.day) for c in charges(agent)]
        view = view_data(self.metrics, self.mode, agent._places, moment)
        for key in ("app", "mode", "collector", "relay", "period", "metrics", "spent", "next", "silent"):
            assert there["view"][key] == view[key], key
        if view["values"]:
            assert there["view"]["values"] == view["values"]
        self._compare_words(there)

    def _compare_words(self, there):
        """What each report says, and all of it as text, in Python's words about what JavaScript stored."""
        for report in there["view"]["reports"]:
            survey = Survey.from_dict(specification(self.metrics, self.metrics.metrics[report["metric"]]))
            assert report["says"] == says(survey, report)
        assert there["text"] == text_of(there["view"])


STEPS = st.lists(
    st.tuples(
        st.integers(-40, 60) | st.sampled_from([7, 31, 31, 31]),
        st.lists(
            st.tuples(st.just("theme"), st.sampled_from(["light", "dark", "nowhere"]))
            | st.tuples(st.just("startup"), st.floats(0, 20_000))
            | st.tuples(st.just("sync"), st.booleans()),
            max_size=3,
        ),
        st.sampled_from([0, 200, 200, 200, 410, 503]),
        st.sampled_from([None] * 12 + ["on", "on", "local", "off"]),
        st.sampled_from([None] * 12 + ["withdraw", "clean", "lose"]),
    ),
    min_size=6,
    max_size=20,
)
YEAR = [(31, [("theme", "dark")], 200, None, None)] * 12


@settings(SLOW, max_examples=20)
@example(steps=YEAR, period="month")
@given(STEPS, st.sampled_from(["month", "week"]))
def test_lives_are_the_same_in_both_languages(device, steps, period):
    """Clocks that jump, people who change their mind, take back, clean and lose what is stored; and no month above its
    limits, added up here."""
    metrics = metrics_of({**FIELDS, "period": period, "epsilon": 1.0 if period == "month" else 0.4})
    moment = at("2026-06-15")
    device.said("clear", moment)
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        twin = Twin(folder, metrics, device, patch)
        for days, records, status, choose, also in steps:
            moment += timedelta(days=days)
            if also == "lose":
                device.said("lose", moment)
                (folder / "app.db").unlink(missing_ok=True)
                twin.mode = Mode("on", "the default of paint")
            twin.run(moment, records=records, status=status, choose=choose)
            if also in ("withdraw", "clean"):
                twin.call(moment, also, status)
        assert above_limits(charges(twin.agent(moment))) == []
