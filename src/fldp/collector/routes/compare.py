"""GET and POST .../compare: how shares changed from some days to others, and what may be chance."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fldp.collector.http.access import requested_version
from fldp.collector.http.candidates import candidates_body, parse_candidates, require_labels
from fldp.collector.http.query import Contrast
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.collector import Collector
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.service.windows import estimate, require_minimum, snapshot_with
from fldp.collector.storage.protocol import StoredToken
from fldp.collector.storage.window import DayWindow
from fldp.presentation import comparison


async def compare(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Compare the shares of all values in two windows of days."""
    published = await requested_version(collector, request, token)
    query = Contrast.of(request, published.survey.oracle)
    require_labels(published)
    return JSONResponse(await collector.answers.compute(request, _facts, collector, published, query))


async def compare_among(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Compare the shares of some strings in two windows of days."""
    published = await requested_version(collector, request, token)
    query = Contrast.of(request, published.survey.oracle)
    async with candidates_body(collector, request, published) as body:
        return JSONResponse(await collector.answers.compute(request, _facts, collector, published, query, body))


def _facts(
    collector: Collector, published: PublishedSurvey, query: Contrast, body: bytes | None = None
) -> dict[str, Any]:
    candidates = parse_candidates(body, collector.settings.max_values)
    survey = published.survey
    windows = [DayWindow(published.entry.number, days) for days in query.windows]
    with snapshot_with(collector.store, published) as snapshot:
        for window in windows:
            require_minimum(window.count(snapshot), published)
        tallies = [window.tally(snapshot, survey.oracle) for window in windows]
    checkpoint()
    options = {"decoder": query.decoder} if query.decoder else {}
    before, after = (estimate(survey, tally, options, candidates) for tally in tallies)
    return comparison.facts(before, after, query.level, top=query.top)
