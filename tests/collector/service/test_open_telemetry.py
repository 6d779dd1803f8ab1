"""OpenTelemetry of the collector itself: spans and counters as /metrics has them, and nothing about who or what."""

import json

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fldp import Survey
from fldp.collector.config.settings import Settings
from fldp.collector.service import collector as service
from fldp.collector.service import open_telemetry
from fldp.collector.service.collector import Collector
from fldp.collector.service.metrics import Metrics
from fldp.collector.storage.sqlite.store import SqliteStore
from support.collector_app import play
from support.collector_requests import batch, key, specification
from support.publishing import publish

TRACE = "0af7651916cd43dd8448eb211c80319c"


def watched(folder, monkeypatch):
    """Return a collector with the setting, and where its spans and metrics go."""
    spans, numbers, tracing = InMemorySpanExporter(), InMemoryMetricReader(), TracerProvider(shutdown_on_exit=False)
    tracing.add_span_processor(SimpleSpanProcessor(spans))
    metrics = open_telemetry.OpenTelemetryMetrics(tracing, MeterProvider([numbers], shutdown_on_exit=False))
    monkeypatch.setattr(open_telemetry, "exporting", lambda: metrics)
    return Collector(Settings(data=folder, otel=True), SqliteStore(folder / "fldp.db")), spans, numbers


def test_it_is_off_by_default_and_loads_nothing(tmp_path):
    assert Settings(data=tmp_path).otel is False
    assert type(service._metrics(Settings(data=tmp_path))) is Metrics


def test_spans_and_counters_say_what_happened_and_not_to_whom(tmp_path, monkeypatch):
    collector, spans, numbers = watched(tmp_path, monkeypatch)
    survey, secret = Survey.from_dict(specification(minimum=1)), key()

    async def story(client):
        where = await publish(client, survey)
        headers = {"Idempotency-Key": secret, "traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "User-Agent": "me/1"}
        sent = await client.post(f"{where}/reports", content=batch(survey, 3), headers=headers)
        assert sent.status_code == 200
        assert (await client.get("/v1/nowhere?answer=firefox")).status_code == 404

    try:
        play(collector, story)
        told = {metric.name: metric for metric in _metrics(numbers)}
        assert [point.value for point in told["fldp_reports_total"].data.data_points] == [3]
        assert sum(point.count for point in told["http.server.request.duration"].data.data_points) == 3
    finally:
        collector.stop()
    finished = spans.get_finished_spans()
    assert [span.name for span in finished] == ["POST /v1/surveys", "POST /v1/versions/{id}/reports", "GET other"]
    assert [span.attributes["http.response.status_code"] for span in finished] == [201, 200, 404]
    assert {name for span in finished for name in span.attributes} == {
        "http.route",
        "http.request.method",
        "http.response.status_code",
    }
    assert all(span.end_time > span.start_time and not span.events and span.parent is None for span in finished)
    text = json.dumps([json.loads(span.to_json()) for span in finished]) + repr(list(told.values()))
    for hidden in (secret, survey.version, "browser", "firefox", TRACE, "me/1", "127.0.0.1", "nowhere"):
        assert hidden not in text


def test_a_span_belongs_to_no_trace_around_it(tmp_path, monkeypatch):
    """A server that reads the headers of traces makes the client's trace the current one."""
    collector, spans, _ = watched(tmp_path, monkeypatch)
    of_client = TracerProvider(shutdown_on_exit=False).get_tracer("client")
    with of_client.start_as_current_span("asks") as around:
        collector.metrics.request("/v1/surveys", "GET", 200, 0.1)
    collector.stop()
    (span,) = spans.get_finished_spans()
    assert span.parent is None
    assert span.context.trace_id != around.get_span_context().trace_id


def _metrics(numbers):
    for resource in numbers.get_metrics_data().resource_metrics:
        for scope in resource.scope_metrics:
            yield from scope.metrics
