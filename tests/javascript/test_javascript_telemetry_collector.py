"""Telemetry in JavaScript from end to end: Node and Chromium, a real collector, and nothing where somebody says no."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fldp.client import Client
from fldp.telemetry.publishing import exported, publish, survey_of
from support.browser import Visitor, chromium
from support.collector_server import flawless
from support.javascript import HERE, ROOT, node
from support.relays import relay
from support.telemetry import only
from support.waiting import until
from support.website import site

STATIC = ROOT / "src" / "fldp" / "collector" / "static"
DAYS = ("2026-01-10", "2026-02-10", "2026-02-20")
CLOCK = """
const [real, day] = [Date, process.env.TODAY];
globalThis.Date = class extends real {
  constructor(...given) { super(...(given.length ? given : [real.parse(day)])); }
  static now() { return real.parse(day); }
};
"""
PROGRAM = """
import { readFileSync } from "node:fs";
import { setup } from "fldp/telemetry";
const telemetry = await setup(JSON.parse(readFileSync("metrics.json", "utf8")));
const [what, name, value] = process.argv.slice(2);
if (what === "record") telemetry.record(name, JSON.parse(value));
await telemetry.flush(600);
const left = what === "withdraw" ? await telemetry.withdraw() : null;
console.log(JSON.stringify({ left, ...(await telemetry.view()) }));
"""


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    with flawless(tmp_path_factory.mktemp("collector"), ohttp="true") as server:
        yield server


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package as Node finds it, of this entry alone."""
    folder = tmp_path_factory.mktemp("program") / "node_modules" / "fldp"
    command = [ROOT / "js" / "node_modules" / ".bin" / "esbuild", ROOT / "js" / "src" / "telemetry_node.ts", "--bundle"]
    command += ["--platform=node", "--format=esm", "--log-level=warning", f"--outfile={folder / 'telemetry.js'}"]
    subprocess.run(command, check=True, timeout=300)
    (folder / "package.json").write_text('{"type": "module", "exports": {"./telemetry": "./telemetry.js"}}')
    (folder.parents[1] / "clock.mjs").write_text(CLOCK)
    (folder.parents[1] / "program.mjs").write_text(PROGRAM)
    return folder.parents[1]


def published(collector, metrics):
    with Client(collector.url, collector.token) as client:
        publish(metrics, client, "")
    return exported(metrics, "")


class Program:
    """A program in Node with its own home, which is started on some days."""

    def __init__(self, package, home, metrics, **variables):
        self.package, self.home = package, home
        named = ("CI", "DO_NOT_TRACK", "GITHUB_ACTIONS", "GITLAB_CI", "FLDP_TELEMETRY")
        self.env = {name: value for name, value in os.environ.items() if name not in named} | variables
        self.env |= {"XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
        (package / "metrics.json").write_text(json.dumps(metrics))

    def run(self, day, *words):
        line = [node(), "--import", "./clock.mjs", "program.mjs", *words]
        env = {**self.env, "TODAY": day}
        done = subprocess.run(line, cwd=self.package, env=env, capture_output=True, text=True, check=False, timeout=300)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)


@pytest.mark.parametrize("way", ["directly", "relay"])
def test_a_program_in_node_sends_one_report_and_takes_it_back(collector, package, tmp_path, way):
    with relay(collector.url) as address:
        metrics = only("startup", app=f"node-{way}", collector=collector.url, relay=address if way == "relay" else "")
        program = Program(package, tmp_path, published(collector, metrics))
        for day in DAYS:
            shown = program.run(day, "record", "startup", "250")
        version = survey_of(metrics, metrics.metrics["startup"]).version
        [report] = shown["reports"]
        assert (report["state"], report["metric"], report["period"]) == ("sent", "startup", "2026-01"), report
        assert "epsilon 1, eta 1, 1 answer" in shown["spent"]["collector"]
        assert collector.counts()[version] == 1
        shown = program.run(DAYS[-1], "withdraw")
        assert (shown["left"], shown["reports"][0]["state"]) == (0, "withdrawn")
        assert collector.counts()[version] == 0
    assert sorted(path.name for path in (tmp_path / "state" / "fldp").iterdir())[0].startswith("answers.ledger.")


@pytest.mark.parametrize("variable", ["DO_NOT_TRACK", "CI"])
def test_where_the_environment_says_no_nothing_is_stored_or_sent(collector, package, tmp_path, variable):
    metrics = only("startup", app="node-never", collector=collector.url)
    program = Program(package, tmp_path, published(collector, metrics), **{variable: "1"})
    before = len(collector.logged)
    for day in DAYS:
        assert program.run(day, "record", "startup", "250")["mode"] == "off"
    assert not list(tmp_path.rglob("*"))
    assert not [line for line in collector.logged[before:] if "/v1/versions/" in str(line)]


def test_the_collector_estimates_what_installs_in_javascript_have(collector):
    """150 installs for two months of reports; the interval misses by chance once in 100,000 runs."""
    metrics = only("sync", app="many", collector=collector.url)
    published_metrics = published(collector, metrics)
    labels = ["yes"] * 100 + ["no"] * 35 + ["unset"] * 15
    months = json.dumps(["2026-01", "2026-02", "2026-03"])
    command = [node(), str(HERE / "telemetry_installs.mjs"), json.dumps(published_metrics), months]
    people = json.dumps([{"sync": label} for label in labels])
    done = subprocess.run(command, input=people, capture_output=True, text=True, check=True, timeout=600)
    installs = json.loads(done.stdout)
    assert all([row["epsilon"] for row in install["charges"]] == [2] for install in installs)
    sent = Counter(report["state"] for install in installs for report in install["reports"])
    assert sent == {"sent": 300}
    survey = survey_of(metrics, metrics.metrics["sync"])
    with Client(collector.url, collector.token) as client:
        estimate = client.estimate(survey)
    assert estimate.n == 300
    truth = [2 * labels.count(label) for label in survey.labels]
    ends = estimate.interval(1 - 1e-5, simultaneous=True)
    assert all(low <= count <= high for (low, high), count in zip(ends, truth, strict=True))


PAGE = """<!doctype html><link rel="icon" href="data:,"><title>paint</title><script type="module">
import { setup } from "./fldp_telemetry.js";
const metrics = await (await fetch("metrics.json")).json();
const telemetry = await setup(metrics);
telemetry.record("startup", 250);
await telemetry.flush(600);
window.done = { mode: telemetry.mode, reason: telemetry.reason, trouble: telemetry.trouble };
window.telemetry = telemetry;
</script>"""
GPC = "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })"


@pytest.fixture
def website(tmp_path):
    (tmp_path / "index.html").write_text(PAGE)
    for path in STATIC.glob("fldp*.js"):
        shutil.copy(path, tmp_path)
    with site(tmp_path) as origin:
        yield origin, tmp_path


def visit(visitor, origin, day):
    """Open the page on a day, and wait until telemetry has done what there is to do."""
    page = visitor.context.new_page()
    page.clock.set_fixed_time(f"{day}T00:00:00Z")
    page.goto(origin)
    page.wait_for_function("window.done")
    return page


def test_a_page_sends_one_report_from_all_its_tabs(collector, website):
    origin, folder = website
    metrics = only("startup", app="page", collector=collector.url, origins=[origin])
    (folder / "metrics.json").write_text(json.dumps(published(collector, metrics)))
    version = survey_of(metrics, metrics.metrics["startup"]).version
    with chromium() as browser, Visitor(browser, origin, collector.url) as visitor:
        for day in DAYS:
            pages = [visit(visitor, origin, day) for _ in range(2)]
            assert [page.evaluate("window.done.mode") for page in pages] == ["on", "on"]
        until(lambda: collector.counts()[version] == 1)
        shown = pages[0].evaluate("telemetry.view()")
        assert [(report["period"], report["state"]) for report in shown["reports"]] == [("2026-01", "sent")]
        assert shown["values"]["startup"]["kept"] == {"200 to 400 ms": 4}
        assert "in the database of this browser" in shown["files"]["state"]
        pages[0].evaluate("telemetry.choose('off')")
        assert pages[0].evaluate("telemetry.view()")["values"]["startup"]["kept"] == {}
        page = visit(visitor, origin, "2026-03-10")
        assert page.evaluate("window.done.reason") == "chosen for page"
        assert page.evaluate("telemetry.withdraw()") == 0
        until(lambda: collector.counts()[version] == 0)


def test_global_privacy_control_stores_and_sends_nothing(collector, website):
    """Without it the same page stores something: the check can fail."""
    origin, folder = website
    metrics = only("startup", app="quiet", collector=collector.url, origins=[origin])
    (folder / "metrics.json").write_text(json.dumps(published(collector, metrics)))
    kept = "indexedDB.databases().then((all) => [all.length, localStorage.length, document.cookie.length])"
    with chromium() as browser:
        with Visitor(browser, origin) as visitor:  # a request to the collector would fail it
            visitor.context.add_init_script(GPC)
            for day in DAYS:
                page = visit(visitor, origin, day)
                assert page.evaluate("window.done.reason") == "Global Privacy Control is set in this browser"
                assert page.evaluate("telemetry.view()")["reports"] == []
                assert page.evaluate(kept) == [0, 0, 0]
                assert page.evaluate("navigator.storage.estimate()")["usage"] == 0
        with Visitor(browser, origin) as visitor:
            assert visit(visitor, origin, DAYS[0]).evaluate(kept) == [2, 0, 0]


def commands_of(text):
    """The files and commands of the part about JavaScript, in their order, as one script, on the tutorial's metrics."""
    [metrics] = re.findall(r"^```toml\n(# metrics.toml\n.*?)^```", text, re.MULTILINE | re.DOTALL)
    part = text.partition("## In JavaScript")[2].partition("\n## ")[0]
    lines = [
        "set -euo pipefail",
        f"PATH={Path(sys.executable).parent}:$PATH",
        "cat > metrics.toml <<'END'",
        metrics,
        "END",
    ]
    for language, block in re.findall(r"^```(sh|js)\n(.*?)^```", part, re.MULTILINE | re.DOTALL):
        lines += [block] if language == "sh" else [f"cat > {block.split()[1]} <<'END'", block.rstrip(), "END"]
    return "\n".join(lines)


def test_the_tutorial_in_javascript_arrives(package, tmp_path):
    soon = f"{datetime.now(UTC) + timedelta(days=200):%Y-%m-%d}"
    script = commands_of((ROOT / "docs" / "telemetry.md").read_text()).replace("2027-06-30", soon)
    names = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", script], cwd=package, env=names, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.findall("^hello, (.*)", done.stdout, re.MULTILINE) == ["local", "local", "on", "off"]
    assert "  theme: dark (why: Whether dark mode is worth its bugs; ui@hello.example; until " in done.stdout
    assert "  offline: no (" in done.stdout
    assert "a change shows with probability 0.303" in done.stdout
