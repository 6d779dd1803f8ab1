"""POST /v1/plan: which oracle suits a survey that is about to be made, and what error to expect."""

from msgspec import UNSET
from msgspec.structs import asdict
from starlette.responses import Response

from fldp.collector.http.access import permit
from fldp.collector.http.calls import Call
from fldp.collector.service.planning import check_keys, planned
from fldp.interface.models import PlanQuestion, Query
from fldp.interface.operations import JSON


async def plan(call: Call[Query, PlanQuestion]) -> Response:
    """Say what every oracle would do for a question, as ``fldp plan`` does."""
    permit(call.token, None)
    fields = {name: value for name, value in asdict(call.body).items() if value is not UNSET}
    check_keys(fields)
    return Response(await call.compute(planned, fields), media_type=JSON)
