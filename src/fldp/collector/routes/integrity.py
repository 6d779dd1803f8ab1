"""GET .../integrity: whether the reports of some days look as honest ones do."""

from starlette.responses import Response

from fldp.collector.http.calls import Call, reply, requested_version
from fldp.collector.http.query import days_of
from fldp.collector.http.release_steps import visible_days
from fldp.collector.service import estimating
from fldp.collector.service.answers import checkpoint
from fldp.collector.service.collector import Collector
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.service.windows import reports_of, snapshot_with
from fldp.collector.storage.protocol import Days
from fldp.collector.storage.window import ALL
from fldp.interface.models import WindowQuery
from fldp.support.canonical_json import Json


async def integrity(call: Call[WindowQuery, None]) -> Response:
    """Test the reports of a window, or their tally where the reports are not stored or are too many.

    All days together are watched, so the false-alarm rate holds for all looks; for a window it holds for one look.
    """
    published = await requested_version(call)
    window = days_of(call.query)
    days = await visible_days(call, published, window)
    return reply(await call.compute(_tested, published, days, anytime=window == ALL))


def _tested(collector: Collector, published: PublishedSurvey, days: Days, *, anytime: bool) -> dict[str, Json]:
    with snapshot_with(collector.store, published) as snapshot:
        tally, reports = reports_of(snapshot, published, days)
    checkpoint()
    return estimating.integrity(published.survey, tally, reports, anytime=anytime)
