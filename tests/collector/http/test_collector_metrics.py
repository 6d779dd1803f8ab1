"""/metrics, by the rules of the text format: read by Prometheus' own parser, by a strict one, and by promtool."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

import fldp
from fldp.collector.service.metrics import FAMILIES, Metrics
from support.collector_server import Server, batch
from support.programs import program
from support.prometheus_text import families
from support.waiting import until

FORMER = {
    "fldp_in_flight": "gauge",
    "fldp_open_requests": "gauge",
    "fldp_answers_pending": "gauge",
    "fldp_slow_clients": "gauge",
    "fldp_waiting": "gauge",
    "fldp_buffered_bytes": "gauge",
    "fldp_folded_reports": "gauge",
    "fldp_fold_failures": "gauge",
    "fldp_lake_failures": "gauge",
    "fldp_pending_reports": "gauge",
    "fldp_store_bytes": "gauge",
    "fldp_commits_total": "counter",
    "fldp_submissions_total": "counter",
    "fldp_withdrawals_total": "counter",
    "fldp_reports_total": "counter",
    "fldp_answers_total": "counter",
    "fldp_requests_total": "counter",
    "fldp_request_seconds": "histogram",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collector")
    server = Server(folder, lake=folder / "lake", fold_seconds=0.05)
    survey = server.publish(minimum=1)
    server.send(survey, batch(survey, 30))
    with server.admin as client:
        until(lambda: "\nfldp_reports_folded_total 30\n" in client.get("/metrics").text)
        client.get("/nowhere")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def text(server):
    with server.admin as client:
        answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return answer.text


def test_every_family_has_help_type_and_series_and_is_known(text):
    metrics = families(text)
    assert metrics.keys() == FAMILIES.keys()
    for name, family in FAMILIES.items():
        assert (metrics[name]["type"], metrics[name]["help"]) == (family.kind, family.about)


def test_former_names_stay_with_their_types(text):
    assert {name: family["type"] for name, family in families(text).items() if name in FORMER} == FORMER


def test_the_parser_of_prometheus_reads_the_same(text):
    read = {family.name: family for family in text_string_to_metric_families(text)}
    for name, family in families(text).items():
        plain = name.removesuffix("_total") if family["type"] == "counter" else name
        assert read[plain].type == family["type"]
        parsed = [(sample.name, sample.labels, sample.value) for sample in read[plain].samples]
        assert parsed == family["samples"]
    assert len(read) == len(FAMILIES)


def test_promtool_has_nothing_to_say_but_of_former_names(text):
    command = [program("promtool"), "check", "metrics"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).splitlines()
    assert done.returncode in (0, 3), said  # 3: remarks about style
    assert [line for line in said if line.partition(" ")[0] not in FORMER] == []


def begin_of(process):
    """Return when a process began: the time of its folder in /proc is that of the first look at it."""
    ticks = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    return time.time() - uptime + ticks / os.sysconf("SC_CLK_TCK")


def test_the_process_tells_about_itself(server, text):
    values = {name: family["samples"][0][2] for name, family in families(text).items() if name.startswith("process")}
    assert 1e6 < values["process_resident_memory_bytes"] < 1e11
    assert values["process_cpu_seconds_total"] > 0
    assert 3 < values["process_open_fds"] <= values["process_max_fds"]
    assert abs(values["process_start_time_seconds"] - begin_of(server.process.pid)) < 60
    assert values["process_start_time_seconds"] <= time.time()
    ((_, labels, value),) = families(text)["fldp_build_info"]["samples"]
    assert (labels["version"], value) == (fldp.__version__, 1)


def test_labels_are_escaped_and_never_of_a_stranger():
    metrics = Metrics()
    metrics.request('a"b\\c\nd', "GET", 200, 0.01)
    (sample,) = families(metrics.render([]))["fldp_requests_total"]["samples"]
    assert sample[1]["route"] == r"a\"b\\c\nd"
    read = {family.name: family for family in text_string_to_metric_families(metrics.render([]))}
    assert read["fldp_requests"].samples[0].labels["route"] == 'a"b\\c\nd'
