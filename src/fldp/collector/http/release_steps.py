"""Results released in steps: what a reader may see of such a survey."""

from datetime import timedelta

from fldp.collector.config.clock import day
from fldp.collector.http.calls import Call
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import Problem
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.service.windows import released_days, snapshot_with
from fldp.collector.storage.protocol import Days
from fldp.collector.storage.window import ALL


def is_stepped(call: Call[object, object], published: PublishedSurvey) -> bool:
    """Whether this token sees results in steps only; an admin token sees what the collector sees."""
    return published.survey.release is not None and (call.token is None or call.token.scope != "admin")


def require_whole(call: Call[object, object], published: PublishedSurvey) -> None:
    """Refuse parts of a survey to those who see it in steps: parts can be subtracted."""
    if is_stepped(call, published):
        detail = f"of this survey only all results together are shown, in steps of {published.survey.release} reports"
        raise Problem(403, "release", detail)


async def visible_days(call: Call[object, object], published: PublishedSurvey, days: Days) -> Days:
    """Return the days that this token sees of those asked for."""
    if not is_stepped(call, published):
        return days
    if days != ALL:
        require_whole(call, published)
    return await call.collector.quick(_released, call.collector, published)


def _released(collector: Collector, published: PublishedSurvey) -> Days:
    with snapshot_with(collector.store, published) as snapshot:
        return released_days(snapshot, published, day(collector.clock() - timedelta(days=1)))
