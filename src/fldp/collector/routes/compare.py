"""GET and POST .../compare: how shares changed from some days to others, and what may be chance."""

from collections.abc import Sequence

from starlette.responses import Response

from fldp.collector.http.calls import Call, reply, requested_version
from fldp.collector.http.candidates import candidates_body, parse_candidates, require_labels
from fldp.collector.http.query import compared_days
from fldp.collector.http.released import require_whole
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import Problem, bad_parameter
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.service.windows import estimate, require_minimum, snapshot_with
from fldp.collector.storage.protocol import Days
from fldp.collector.storage.window import DayWindow
from fldp.data.reports import Tally
from fldp.interface.models import CompareQuery
from fldp.oracles.sampled.tables import Tables
from fldp.presentation import comparison, questions


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
) -> comparison.Change:
    candidates = parse_candidates(body, collector.settings.max_values)
    survey = published.survey
    windows = [DayWindow(published.entry.number, each) for each in days]
    with snapshot_with(collector.store, published) as snapshot:
        for window in windows:
            require_minimum(window.count(snapshot), published)
        tallies = [window.tally(snapshot, survey.oracle) for window in windows]
    checkpoint()
    if query.question is not None:
        return _change_of(published, tallies, query)
    options = {"decoder": query.decoder} if query.decoder else {}
    before, after = (estimate(survey, tally, options, candidates) for tally in tallies)
    planned = survey.planned if query.anytime else None
    return comparison.facts(before, after, query.level, top=query.top, anytime=planned)


def _change_of(published: PublishedSurvey, tallies: Sequence[Tally], query: CompareQuery) -> comparison.Change:
    """Compare one of several questions, of which enough reports must be in both windows."""
    name, minimum = query.question or "", published.survey.collect["minimum"]
    planned = published.survey.planned if query.anytime else None
    asked = questions.AskedTables(name, level=query.level, minimum=minimum)
    estimates = []
    for tally in tallies:
        tables: object = published.survey.estimate(tally)
        assert isinstance(tables, Tables)
        try:
            asked.require(tables, [name])
        except questions.TooFewError as error:
            raise Problem(403, "too-few", str(error), minimum=minimum) from None
        estimates.append(questions.estimate_of(tables, name))
    change = comparison.facts(estimates[0], estimates[1], query.level, top=query.top, anytime=planned)
    change["question"] = name
    return change
