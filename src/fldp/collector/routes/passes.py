"""POST /v1/issuers and .../passes: keys that sign passes, and passes for tickets."""

import hashlib

from starlette.responses import Response

from fldp.collector.http.access import answered, ticket_of
from fldp.collector.http.bodies import body_of, media_type
from fldp.collector.http.calls import Call, reply
from fldp.collector.service.collector import Collector
from fldp.collector.service.pass_issuer import create_key
from fldp.collector.service.problems import Problem, not_found
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.storage.protocol import PassOrder
from fldp.data.reports import Reports
from fldp.interface.models import IssuerKey, Query
from fldp.passes.issuing import PrivateKey
from fldp.passes.tokens import REPLY_TYPE, REQUEST_TYPE, PassError, PassTerms, key_text, request_hash

_MAX_BYTES = 1024


async def create_issuer(call: Call[Query, None]) -> Response:
    """Make a key that signs passes, for one version of a survey that is to name it."""
    collector = call.collector
    if call.token is not None and call.token.survey is not None:
        raise Problem(403, "forbidden", "the token is valid for one survey only, and a key is for a new survey")
    key = await collector.heavy(create_key, collector.store, collector.now)
    return reply(IssuerKey(issuer_key=key_text(key.public)), 201)


async def issue_pass(call: Call[Query, None]) -> Response:
    """Sign a pass blindly for a ticket, which is spent before the signature leaves."""
    collector, request = call.collector, call.request
    published = await answered(collector, request)
    terms, key = await _issuing(collector, published)
    ticket = await ticket_of(collector, request, published)
    media_type(request, REQUEST_TYPE)
    collector.load.rate.check(published.entry.version)
    async with body_of(collector, request, _MAX_BYTES) as body:
        try:
            blinded = terms.blinded(body)
        except PassError as error:
            raise Problem(422, "malformed", str(error)) from None
        order = _order(published, request.headers["fldp-ticket"], ticket, body, collector.now)
        await collector.order_pass(order, published.entry.version)
        return Response(await collector.pass_issuer.sign(key, blinded), media_type=REPLY_TYPE)


async def _issuing(collector: Collector, published: PublishedSurvey) -> tuple[PassTerms, PrivateKey]:
    terms = published.survey.pass_terms
    key = None if terms is None else await collector.quick(collector.pass_issuer.key_of, terms)
    if terms is None or key is None:
        raise not_found("issuer of passes to this version here")
    return terms, key


def _order(published: PublishedSurvey, ticket: str, digest: bytes, body: bytes, now: str) -> PassOrder:
    oracle = published.survey.oracle
    return PassOrder(
        published.entry.number,
        hashlib.sha256(b"pass\0" + ticket.encode()).digest(),
        request_hash(ticket, body),
        Reports.trusted(oracle, oracle.report_format.empty(0)),
        ticket=digest,
        closed=published.state(now) != "open",
    )
