"""CORS: web pages whose origins a survey names may read the survey and send reports to it."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import Problem

_SENT = "content-type, idempotency-key, fldp-ticket, authorization"
_MAX_AGE = "600"


def allowed(scope: Scope) -> dict[str, str]:
    """Return the headers that let a page read this answer, if its survey names the page's origin."""
    origins = scope["state"]["origins"]
    return readable(origins, Headers(scope=scope).get("origin", "")) if origins else {}


def readable(origins: Sequence[str], origin: str) -> dict[str, str]:
    """Return the headers that let a page of this origin read an answer, if a survey has these origins."""
    if not origins:
        return {}
    varies = {"Vary": "Origin"}
    return varies | {"Access-Control-Allow-Origin": origin} if origin in origins else varies


async def preflight(collector: Collector, scope: Scope) -> Response | None:
    """Answer a preflight request; None where nothing is allowed, as for any other wrong method."""
    headers = Headers(scope=scope)
    method = headers.get("access-control-request-method", "")
    origins = await _origins(collector, scope["path"], method) if "origin" in headers else ()
    if headers.get("origin", "") not in origins:
        return None
    scope["state"].update(origins=origins, route="preflight")
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Methods": method,
            "Access-Control-Allow-Headers": _SENT,
            "Access-Control-Max-Age": _MAX_AGE,
        },
    )


async def _origins(collector: Collector, path: str, method: str) -> Sequence[str]:
    """Return the origins of the survey that a path names."""
    try:
        match path.split("/"), method:
            case ["", "v1", "versions", version, "reports" | "withdrawals"], "POST":
                return await collector.surveys.origins(version)
            case ["", "v1", "surveys", name], "GET":
                return (await collector.surveys.shown(name, collector.now))[1].origins
    except Problem:
        pass
    return ()
