"""The route that plans: which oracle suits a survey that is about to be made, and what error to expect."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from fldp.collector.access import permit
from fldp.collector.body import json_of
from fldp.collector.collector import Collector
from fldp.collector.problem import Problem
from fldp.collector.query import parameters
from fldp.collector.store import Token
from fldp.survey_rules import STRINGS

_KEYS = {"domain_size", "users", "epsilon"}
_RULE = "users, epsilon, and either domain, which is strings, or domain_size, with eta if there is one"


async def plan(collector: Collector, request: Request, token: Token) -> Response:
    """Say what every oracle would do for a question, as ``fldp plan`` does."""
    parameters(request)
    permit(token, None)
    fields = await json_of(collector, request)
    if fields.get("domain") == STRINGS and fields.keys() == {"domain", "users", "epsilon"}:
        made = await collector.heavy(_planned_strings, fields["users"], fields["epsilon"])
        return Response(made, media_type="application/json")
    if fields.keys() | {"eta"} != _KEYS | {"eta"}:
        raise Problem(422, "malformed", f"the keys of a plan are {_RULE}")
    size, most = fields["domain_size"], collector.settings.max_values
    if isinstance(size, int) and size > most:
        raise Problem(422, "malformed", f"domain_size must be at most {most}")
    made = await collector.heavy(_planned, fields)
    return Response(made, media_type="application/json")


def _planned_strings(users: Any, epsilon: Any) -> str:
    from fldp.string_plan import facts, plan_strings

    return json.dumps(facts(plan_strings(users=users, epsilon=epsilon)))


def _planned(fields: dict[str, Any]) -> str:
    from fldp import plan_view
    from fldp.plan import plan

    return plan_view.as_json(plan(**fields), None)
