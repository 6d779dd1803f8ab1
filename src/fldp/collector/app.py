"""The table of routes: which handler answers which request, and who may ask."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from fldp.collector.http.access import require, token_of
from fldp.collector.http.middleware import Gate
from fldp.collector.routes import compare, estimates, integrity, pages, plan, reports, surveys, tokens_and_health
from fldp.collector.service.collector import Collector

Handler = Callable[[Collector, Request, Any], Awaitable[Response]]


@dataclass(frozen=True)
class Operation:
    """A method on a path, who may use it (``public``, ``read``, ``admin``, or ``own``: the handler looks itself)."""

    method: str
    path: str
    access: str
    handler: Handler


OPERATIONS = (
    Operation("GET", "/healthz", "public", tokens_and_health.healthz),
    Operation("GET", "/readyz", "public", tokens_and_health.readyz),
    Operation("GET", "/metrics", "own", tokens_and_health.metrics),
    Operation("GET", "/openapi.json", "public", tokens_and_health.document),
    Operation("POST", "/v1/surveys", "admin", surveys.create),
    Operation("GET", "/v1/surveys", "read", surveys.index),
    Operation("POST", "/v1/plan", "admin", plan.plan),
    Operation("GET", "/v1/surveys/{name}", "public", surveys.show),
    Operation("DELETE", "/v1/surveys/{name}", "admin", surveys.delete),
    Operation("POST", "/v1/surveys/{name}/close", "admin", surveys.close),
    Operation("POST", "/v1/versions/{id}/reports", "own", reports.send),
    Operation("GET", "/v1/versions/{id}/estimates", "read", estimates.estimates),
    Operation("POST", "/v1/versions/{id}/estimates", "read", estimates.estimates_among),
    Operation("GET", "/v1/versions/{id}/tally", "read", estimates.tally),
    Operation("GET", "/v1/versions/{id}/days", "read", estimates.days),
    Operation("GET", "/v1/versions/{id}/compare", "read", compare.compare),
    Operation("POST", "/v1/versions/{id}/compare", "read", compare.compare_among),
    Operation("GET", "/v1/versions/{id}/integrity", "read", integrity.honesty),
    Operation("GET", "/v1/versions/{id}/export", "read", estimates.export),
    Operation("POST", "/v1/versions/{id}/merge", "admin", reports.merge),
    Operation("POST", "/v1/versions/{id}/tickets", "admin", surveys.tickets),
    Operation("GET", "/v1/tokens", "admin", tokens_and_health.tokens),
    Operation("POST", "/v1/tokens", "admin", tokens_and_health.create_token),
    Operation("DELETE", "/v1/tokens/{id}", "admin", tokens_and_health.revoke_token),
    Operation("GET", "/", "public", pages.dashboard),
    Operation("GET", "/s/{name}", "public", pages.answer),
    Operation("GET", "/static/{file}", "public", pages.static),
)


def create_app(collector: Collector) -> Gate:
    """Return the ASGI application of a collector."""
    paths = sorted({operation.path for operation in OPERATIONS}, key=_busiest_first)
    return Gate(Router([_route(collector, path) for path in paths], redirect_slashes=False), collector)


def _busiest_first(path: str) -> tuple[bool, str]:
    """Sort key: reports come most often, so the router tries their path first."""
    return not path.endswith("/reports"), path


def _route(collector: Collector, path: str) -> Route:
    """Return one route for a path, whatever its methods, so that another method is told which there are."""
    methods = {operation.method: operation for operation in OPERATIONS if operation.path == path}
    return Route(path.replace("{file}", "{file:path}"), _Endpoint(collector, path, methods), methods=list(methods))


class _Endpoint:
    """All methods of one path, as an ASGI application directly below the middleware."""

    def __init__(self, collector: Collector, path: str, methods: dict[str, Operation]) -> None:
        self._collector, self._path, self._methods = collector, path, methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["route"] = self._path
        operation = self._methods["GET" if scope["method"] == "HEAD" else scope["method"]]
        response = await _perform(self._collector, Request(scope, receive, send), operation)
        await response(scope, receive, send)


async def _perform(collector: Collector, request: Request, operation: Operation) -> Response:
    """Check who asks before anything else is looked at."""
    if operation.access in ("public", "own"):
        return await operation.handler(collector, request, None)
    token = await token_of(collector, request)
    require(token, operation.access)
    return await operation.handler(collector, request, token)
