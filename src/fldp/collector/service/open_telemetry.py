"""OpenTelemetry: the collector's own spans and counters, for operators who gather them everywhere; off by default.

A span has the path of the route with its placeholders, the method, the status and how long it took, as the log and
``/metrics`` have. It has no address, no header, no query and no body, and it continues no trace of a client, which
would link reports to whoever sent them.
"""

import time
from typing import TYPE_CHECKING

from fldp.collector.service.metrics import FAMILIES, Metrics
from fldp.support.optional_imports import load

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider

_FLUSHED = 2_000  # milliseconds to send what is left when the collector stops


class OpenTelemetryMetrics(Metrics):
    """Metrics that are also given to OpenTelemetry, with a span for each request."""

    def __init__(self, tracing: "TracerProvider", metering: "MeterProvider") -> None:
        super().__init__()
        self._providers = tracing, metering
        self._tracer, meter = tracing.get_tracer("fldp"), metering.get_meter("fldp")
        self._added = {name: meter.create_counter(name, description=FAMILIES[name].about) for name in self._counters}
        self._durations = meter.create_histogram("http.server.request.duration", "s", "Duration of HTTP requests.")

    def count(self, name: str, amount: float = 1) -> None:
        super().count(name, amount)
        self._added[name].add(amount)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        super().request(route, method, status, seconds)
        known: dict[str, str | int] = {
            "http.route": route,
            "http.request.method": method,
            "http.response.status_code": status,
        }
        self._durations.record(seconds, known)
        end = time.time_ns()
        # An empty context: whatever trace a client names, this span is the first of its own.
        span = self._tracer.start_span(
            f"{method} {route}",
            context=load("opentelemetry.context", "otel").Context(),
            kind=load("opentelemetry.trace", "otel").SpanKind.SERVER,
            attributes=known,
            start_time=end - round(1e9 * seconds),
        )
        span.end(end)

    def close(self) -> None:
        for provider in self._providers:
            provider.force_flush(_FLUSHED)
            provider.shutdown()


def exporting() -> OpenTelemetryMetrics:
    """Return metrics that are sent by OTLP over HTTP, to where ``OTEL_EXPORTER_OTLP_ENDPOINT`` and its like say."""
    traces, metrics = load("opentelemetry.sdk.trace", "otel"), load("opentelemetry.sdk.metrics", "otel")
    batches = load("opentelemetry.sdk.trace.export", "otel").BatchSpanProcessor
    periods = load("opentelemetry.sdk.metrics.export", "otel").PeriodicExportingMetricReader
    spans = load("opentelemetry.exporter.otlp.proto.http.trace_exporter", "otel").OTLPSpanExporter
    numbers = load("opentelemetry.exporter.otlp.proto.http.metric_exporter", "otel").OTLPMetricExporter
    tracing = traces.TracerProvider(shutdown_on_exit=False)
    tracing.add_span_processor(batches(spans()))
    return OpenTelemetryMetrics(tracing, metrics.MeterProvider([periods(numbers())], shutdown_on_exit=False))
