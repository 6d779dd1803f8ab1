"""GET and POST .../compare: how shares changed from some days to others, and what may be chance."""

from starlette.responses import Response

from fldp.collector.http.calls import Call, reply, requested_version
from fldp.collector.http.candidates import candidates_body, parse_candidates, require_labels, require_one_question
from fldp.collector.http.query import compared_days
from fldp.collector.http.released import require_whole
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.collector import Collector
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.service.windows import estimate, planned_for, require_minimum, snapshot_with
from fldp.collector.storage.protocol import Days
from fldp.collector.storage.window import DayWindow
from fldp.interface.models import CompareQuery
from fldp.presentation import comparison


async def compare(call: Call[CompareQuery, None]) -> Response:
    """Compare the shares of all values in two windows of days."""
    published = await requested_version(call)
    require_whole(call, published)
    windows = compared_days(call.query, published.survey.oracle)
    require_labels(published)
    require_one_question(published)
    return reply(await call.compute(_facts, published, windows, call.query))


async def compare_among(call: Call[CompareQuery, None]) -> Response:
    """Compare the shares of some strings in two windows of days."""
    published = await requested_version(call)
    require_whole(call, published)
    windows = compared_days(call.query, published.survey.oracle)
    async with candidates_body(call, published) as body:
        return reply(await call.compute(_facts, published, windows, call.query, body))


def _facts(
    collector: Collector,
    published: PublishedSurvey,
    days: tuple[Days, Days],
    query: CompareQuery,
    body: bytes | None = None,
) -> comparison.Change:
    candidates = parse_candidates(body, collector.settings.max_values)
    survey = published.survey
    windows = [DayWindow(published.entry.number, each) for each in days]
    with snapshot_with(collector.store, published) as snapshot:
        for window in windows:
            require_minimum(window.count(snapshot), published)
        tallies = [window.tally(snapshot, survey.oracle) for window in windows]
    checkpoint()
    options = {"decoder": query.decoder} if query.decoder else {}
    before, after = (estimate(survey, tally, options, candidates) for tally in tallies)
    planned = planned_for(published) if query.anytime and published.survey.number is None else None  # as of estimates
    return comparison.facts(before, after, query.level, top=query.top, anytime=planned)
