"""Access: the token of a request, and what it permits."""

from starlette.requests import Request

from fldp.collector.service import tokens
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import Problem
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.storage.protocol import StoredToken
from fldp.passes.tokens import PassError, PassTerms, spent_hash


async def token_of(collector: Collector, request: Request) -> StoredToken:
    """Return the token of a request, or refuse it."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    token = None
    if scheme.lower() == "bearer" and len(secret) < 200:
        token = await collector.quick(tokens.find_token, collector.store, secret.strip(), collector.clock())
    if token is None:
        raise Problem(401, "unauthorized", "missing, expired or invalid token", {"WWW-Authenticate": "Bearer"})
    return token


def require(token: StoredToken, scope: str) -> None:
    """Refuse a token of another scope; an admin token has every scope."""
    if token.scope not in ("admin", scope):
        raise Problem(403, "forbidden", f"a token of scope {scope} or admin is needed")


def permit(token: StoredToken | None, name: str | None) -> None:
    """Refuse a token that is bound to another survey, or to any survey where the request names none."""
    if token is not None and token.survey is not None and token.survey != name:
        raise Problem(403, "forbidden", "the token is valid for another survey only")


async def sender(collector: Collector, request: Request, published: PublishedSurvey) -> bytes | None:
    """Check that this request may send reports; return the hash of its ticket or pass where one is needed."""
    submit = published.survey.collect["submit"]
    if submit == "token":
        token = await token_of(collector, request)
        require(token, "send")
        permit(token, published.entry.name)
    if published.survey.pass_terms is not None:
        return _pass_of(published.survey.pass_terms, request)
    return await ticket_of(collector, request, published) if submit == "ticket" else None


def _pass_of(terms: PassTerms, request: Request) -> bytes:
    """Return the hash that marks a pass as spent; the commit of the report detects a second use."""
    try:
        return spent_hash(terms.nonce(request.headers.get("fldp-ticket", "")))
    except PassError as error:
        headers = {"WWW-Authenticate": "Fldp-Ticket"}
        detail = f"the header Fldp-Ticket must be a pass to this version of the survey: {error}"
        raise Problem(401, "pass", detail, headers) from None


async def answered(collector: Collector, request: Request) -> PublishedSurvey:
    """Return the version that reports are sent to, or taken back from, if they may come in this way."""
    published = await collector.surveys.get(request.path_params["id"])
    if published.survey.collect["submit"] in ("ticket", "pass"):  # they belong to a survey as it is stored
        published = await collector.surveys.get(request.path_params["id"], fresh=True)
    request.state.origins = published.survey.collect["origins"]
    if published.survey.needs_relay and not request.scope.get("oblivious"):
        raise Problem(403, "relay-only", "this survey takes reports through a relay only, so no address is seen")
    return published


async def ticket_of(collector: Collector, request: Request, published: PublishedSurvey) -> bytes:
    """Return the hash of the ticket of a request, spent or not; refuse one that is not of this survey."""
    ticket = tokens.ticket_digest(request.headers.get("fldp-ticket", ""))
    if ticket is None or not await collector.quick(collector.store.has_ticket, published.entry.number, ticket):
        headers = {"WWW-Authenticate": "Fldp-Ticket"}
        raise Problem(401, "ticket", "the header Fldp-Ticket must be a ticket of this survey", headers)
    return ticket
