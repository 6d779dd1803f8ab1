"""/v1/tokens, health checks, metrics, and the OpenAPI document."""

from functools import cache
from typing import Any

from msgspec.structs import asdict
from starlette.responses import PlainTextResponse, Response

from fldp.collector.http.access import permit
from fldp.collector.http.calls import Call, reply
from fldp.collector.service import tokens as auth
from fldp.collector.service.problems import busy, mistaken, not_found, unavailable
from fldp.collector.storage.protocol import StoredToken
from fldp.interface.models import NewToken, Query, Status, TokenFacts, TokenOrder
from fldp.interface.openapi import document as describe
from fldp.support.validation import MistakeList


def _facts(token: StoredToken) -> dict[str, Any]:
    """Return the public fields of a token."""
    return {name: getattr(token, name) for name in TokenFacts.__struct_fields__}


async def tokens(call: Call[Query, None]) -> Response:
    """List all tokens, never the secrets."""
    permit(call.token, None)
    return reply([TokenFacts(**_facts(token)) for token in await call.collector.quick(call.collector.store.tokens)])


async def create_token(call: Call[Query, TokenOrder]) -> Response:
    """Create a token; this is the only answer that shows it."""
    permit(call.token, None)
    mistakes, now = MistakeList(), call.collector.clock()
    terms = auth.TokenTerms.check(asdict(call.body), now, mistakes)
    if mistakes:
        raise mistaken(mistakes, "malformed")
    new = terms.scope, terms.survey, terms.expires
    secret, created = await call.collector.quick(auth.create_token, call.collector.store, now, *new)
    call.audit.target, call.audit.survey = created.id, created.survey
    return reply(NewToken(token=secret, **_facts(created)), 201)


async def revoke_token(call: Call[Query, None]) -> Response:
    """Revoke a token, from this moment on."""
    permit(call.token, None)
    collector, token_id = call.collector, call.request.path_params["id"]
    if not await collector.quick(collector.store.revoke_token, token_id, collector.now):
        raise not_found("token")
    call.audit.target = token_id
    return Response(status_code=204)


async def healthz(call: Call[None, None]) -> Response:
    """Liveness: the process answers."""
    del call
    return reply(Status(status="ok"))


async def readyz(call: Call[None, None]) -> Response:
    """Readiness: a test write succeeded, and reports are folded."""
    if call.collector.stopping:
        raise busy("the collector is stopping")
    if not call.collector.alive:
        raise busy("the collector must be restarted")
    if not await call.collector.readiness.is_ready():
        raise unavailable("the store cannot be written")
    return reply(Status(status="ready"))


async def metrics(call: Call[Query, None]) -> Response:
    """Return counters for Prometheus, to this machine or to a token."""
    permit(call.token, None)
    present = await call.collector.quick(call.collector.present)
    return PlainTextResponse(call.collector.metrics.render(present), media_type="text/plain; version=0.0.4")


async def document(call: Call[None, None]) -> Response:
    """Return the OpenAPI document."""
    del call
    return reply(_described())


_described = cache(describe)
