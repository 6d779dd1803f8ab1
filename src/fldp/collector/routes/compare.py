"""GET and POST .../compare: how shares changed from some days to others, and what may be chance."""

from starlette.responses import Response

from fldp.collector.http.calls import Call, reply, requested_version
from fldp.collector.http.candidates import candidates_body, parse_candidates, require_labels
from fldp.collector.http.query import compared_days
from fldp.collector.http.release_steps import require_whole
from fldp.collector.service import estimating
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import bad_parameter
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.service.windows import require_minimum, snapshot_with
from fldp.collector.storage.protocol import Days
from fldp.collector.storage.window import DayWindow
from fldp.interface.models import CompareQuery
from fldp.presentation.comparison import Change


async def compare(call: Call[CompareQuery, None]) -> Response:
    """Compare the shares of all values (with several questions, of one question) in two windows of days."""
    published = await requested_version(call)
    require_whole(call, published)
    windows = compared_days(call.query, published.survey.oracle)
    require_labels(published)
    _require_question(published, call.query.question)
    return reply(await call.compute(_facts, published, windows, call.query))


async def compare_among(call: Call[CompareQuery, None]) -> Response:
    """Compare the shares of some strings in two windows of days."""
    published = await requested_version(call)
    require_whole(call, published)
    windows = compared_days(call.query, published.survey.oracle)
    async with candidates_body(call, published) as body:
        return reply(await call.compute(_facts, published, windows, call.query, body))


def _require_question(published: PublishedSurvey, question: str | None) -> None:
    """Refuse to compare what is not one question."""
    names = [asked.name for asked in published.survey.questions or ()]
    if names and question not in names:
        raise bad_parameter(f"this survey asks several questions: name one of them with question=, such as {names[0]}")
    if question is not None and not names:
        raise bad_parameter("question is for surveys of several questions")


def _facts(
    collector: Collector,
    published: PublishedSurvey,
    days: tuple[Days, Days],
    query: CompareQuery,
    body: bytes | None = None,
) -> Change:
    candidates = parse_candidates(body, collector.settings.max_values)
    before, after = (DayWindow(published.entry.number, each) for each in days)
    with snapshot_with(collector.store, published) as snapshot:
        for window in (before, after):
            require_minimum(window.count(snapshot), published)
        oracle = published.survey.oracle
        tallies = before.tally(snapshot, oracle), after.tally(snapshot, oracle)
    checkpoint()
    return estimating.compare(published.survey, tallies, query, candidates)
