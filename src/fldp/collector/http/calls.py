"""Calls: a request that was admitted, with its query and body as models, as its handler gets it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fldp.collector.config.proxies import is_local
from fldp.collector.http.access import permit, require, token_of
from fldp.collector.http.audit import AuditEntry
from fldp.collector.http.bodies import JSON_BYTES, body_of, media_type
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import mistaken
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.storage.protocol import StoredToken
from fldp.interface.models import Query, SmallBody
from fldp.interface.operations import JSON, Operation
from fldp.interface.reading import ModelError, from_json, from_query

Q = TypeVar("Q", covariant=True)
B = TypeVar("B", covariant=True)
R = TypeVar("R")
P = ParamSpec("P")
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, B]):
    """A request with its token, the model of its query, and the model of its body where that is small."""

    collector: Collector
    request: Request
    token: StoredToken | None
    query: Q
    body: B

    @property
    def audit(self) -> AuditEntry:
        """What the audit log will say of this request, if it is administration."""
        entry: AuditEntry = self.request.state.audit
        return entry

    async def compute(self, function: Callable[Concatenate[Collector, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function of the collector on a thread for answers, while the client waits."""
        return await self.collector.answers.compute(self.request, function, self.collector, *args, **kwargs)


AnyCall = Call[Any, Any]  # its operation names the models
Handler = Callable[[AnyCall], Awaitable[Response]]


async def call_of(collector: Collector, request: Request, operation: Operation) -> AnyCall:
    """Read a request. Its token is checked before anything else is looked at."""
    token = await _admitted(collector, request, operation.access)
    query = _query_of(request, operation.query) if operation.query else None
    body = await _body_of(collector, request, operation.body) if _is_small(operation.body) else None
    return Call(collector, request, token, query, body)


async def _admitted(collector: Collector, request: Request, access: str) -> StoredToken | None:
    """Return the token of a request that needs one. The survey decides who may send reports: its handler looks."""
    if access in ("public", "sender"):
        return None
    local = access == "local"
    if local and "authorization" not in request.headers and is_local(request.scope, collector.settings.trusted_proxies):
        return None
    token = await token_of(collector, request)
    entry: AuditEntry = request.state.audit
    entry.by, entry.scope = token.id, token.scope
    require(token, "read" if local else access)
    return token


def _query_of(request: Request, model: type[Query]) -> Query:
    if not request.scope["query_string"]:  # as in nearly every request with reports
        return model()
    try:
        return from_query(model, request.query_params.multi_items())
    except ModelError as error:
        raise mistaken(error.mistakes, "parameter") from None


def _is_small(body: object) -> bool:
    return isinstance(body, type) and issubclass(body, SmallBody)


async def _body_of(collector: Collector, request: Request, model: Any) -> Any:
    media_type(request, JSON)
    async with body_of(collector, request, JSON_BYTES) as body:
        try:
            return from_json(model, body)
        except ModelError as error:
            raise mistaken(error.mistakes, "malformed") from None


def reply(content: object, status: int = 200) -> Response:
    """Answer with JSON: a model, a list of models, or plain data."""
    return Response(_encode(content), status, media_type=JSON)


async def requested_version(call: Call[object, object]) -> PublishedSurvey:
    """Return the version that a path names, as it is stored now, if the token is valid for it."""
    published = await call.collector.surveys.get(call.request.path_params["id"], fresh=True)
    call.audit.survey, call.audit.version = published.entry.name, published.entry.version
    permit(call.token, published.entry.name)
    return published
