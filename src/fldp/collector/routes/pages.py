"""Web pages: the dashboard, the page on which a survey is answered, and their files."""

from starlette.responses import Response

from fldp.collector.http.calls import Call
from fldp.collector.http.page_files import page, static_file
from fldp.collector.service.problems import Problem, not_found
from fldp.interface.models import Query


async def static(call: Call[Query, None]) -> Response:
    """Return a file of the pages."""
    file = static_file(call.request)
    if file is None:
        raise not_found("file")
    return file


async def dashboard(call: Call[Query, None]) -> Response:
    """Return the dashboard. It holds nothing; what it shows it fetches with the token that somebody enters."""
    return page("dashboard/dashboard.html", has_gateway=call.collector.gateway_keys is not None)


async def answer_page(call: Call[None, None]) -> Response:
    """Return the page on which a survey is answered. It is the same for all; what it asks it fetches itself."""
    surveys, name = call.collector.surveys, call.request.path_params["name"]
    try:
        _, terms = await surveys.shown(name, call.collector.now)
        origins, status, issuer = terms.origins, 200, terms.issuer
    except Problem as problem:
        if problem.status != 404:
            raise
        origins, status, issuer = (), 404, None
    return page("answer/answer.html", origins, status, issuer=issuer)
