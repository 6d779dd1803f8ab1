"""/v1/tokens, health checks, metrics, and the OpenAPI document."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from fldp.collector.config.proxies import is_local
from fldp.collector.http.access import permit, require, token_of
from fldp.collector.http.bodies import json_of
from fldp.collector.http.query import parameters
from fldp.collector.service import tokens as auth
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import busy, mistaken, not_found
from fldp.collector.storage.protocol import StoredToken
from fldp.support.validation import MistakeList


def token_facts(token: StoredToken) -> dict[str, Any]:
    """Return the public fields of a token."""
    return {name: getattr(token, name) for name in ("id", "scope", "survey", "created", "expires", "revoked")}


async def tokens(collector: Collector, request: Request, token: StoredToken) -> Response:
    """List all tokens, never the secrets."""
    parameters(request)
    permit(token, None)
    return JSONResponse([token_facts(token) for token in await collector.quick(collector.store.tokens)])


async def create_token(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Create a token; this is the only answer that shows it."""
    parameters(request)
    permit(token, None)
    mistakes, now = MistakeList(), collector.clock()
    terms = auth.TokenTerms.check(await json_of(collector, request), now, mistakes)
    if mistakes:
        raise mistaken(mistakes, "malformed")
    new = terms.scope, terms.survey, terms.expires
    secret, created = await collector.quick(auth.create_token, collector.store, now, *new)
    return JSONResponse({"token": secret, **token_facts(created)}, 201)


async def revoke_token(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Revoke a token, from this moment on."""
    parameters(request)
    permit(token, None)
    if not await collector.quick(collector.store.revoke_token, request.path_params["id"], collector.now):
        raise not_found("token")
    return Response(status_code=204)


async def healthz(collector: Collector, request: Request, token: None) -> Response:
    """Liveness: the process answers."""
    del collector, request, token
    return JSONResponse({"status": "ok"})


async def readyz(collector: Collector, request: Request, token: None) -> Response:
    """Readiness: reports can be written, which was tried, and are folded."""
    del request, token
    if collector.stopping:
        raise busy("the collector is stopping")
    if not collector.alive:
        raise busy("the collector must be started again")
    if not await collector.readiness.is_ready():
        raise busy("the store cannot be written")
    return JSONResponse({"status": "ready"})


async def metrics(collector: Collector, request: Request, token: None) -> Response:
    """Return counters for Prometheus, to this machine or to a token."""
    del token
    parameters(request)
    if not is_local(request.scope, collector.settings.trusted_proxies) or "authorization" in request.headers:
        reader = await token_of(collector, request)
        require(reader, "read")
        permit(reader, None)
    gauges = await collector.quick(collector.gauges)
    return PlainTextResponse(collector.metrics.render(gauges), media_type="text/plain; version=0.0.4")


async def document(collector: Collector, request: Request, token: None) -> Response:
    """Return the OpenAPI document."""
    del collector, request, token
    from fldp.collector.routes.openapi import DOCUMENT

    return JSONResponse(DOCUMENT)
