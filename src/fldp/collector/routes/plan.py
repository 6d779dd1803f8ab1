"""The route that plans: which oracle suits a survey that is about to be made, and what error to expect."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from fldp.collector.http.access import permit
from fldp.collector.http.bodies import json_of
from fldp.collector.http.query import parameters
from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import Problem, mistaken
from fldp.collector.storage.protocol import StoredToken
from fldp.support.validation import MistakeList, integer
from fldp.survey.rules import DIFFERING, STRINGS, check_labels, check_treatment

_NEEDED = {"users", "epsilon"}
_OF_VALUES = {"eta", *DIFFERING}
_OF_STRINGS = {"epsilon_permanent"}
_RULE = (
    f"users, epsilon and one of domain_size, labels or domain = {STRINGS!r}; "
    "beside values eta, sensitive, budgets or distance, beside strings epsilon_permanent"
)


async def plan(collector: Collector, request: Request, token: StoredToken) -> Response:
    """Say what every oracle would do for a question, as ``fldp plan`` does."""
    parameters(request)
    permit(token, None)
    fields = await json_of(collector, request)
    _check_keys(fields)
    if "domain" in fields:
        asked = {key: fields[key] for key in fields if key != "domain"}
        made = await collector.answers.compute(request, _planned_strings, asked)
    else:
        made = await collector.answers.compute(request, _planned, fields, collector.settings.max_values)
    return Response(made, media_type="application/json")


def _check_keys(fields: dict[str, Any]) -> None:
    """Refuse keys that do not belong together; what they say is checked by the planner."""
    domains = [key for key in ("domain_size", "labels", "domain") if key in fields]
    allowed = _OF_STRINGS if domains == ["domain"] else _OF_VALUES
    rest = fields.keys() - domains
    if len(domains) != 1 or not _NEEDED <= rest <= _NEEDED | allowed or fields.get("domain", STRINGS) != STRINGS:
        raise Problem(422, "malformed", f"the keys of a plan are {_RULE}")


def _planned_strings(asked: dict[str, Any]) -> str:
    from fldp.estimation.string_planner import facts, plan_strings

    return json.dumps(facts(plan_strings(**asked)))


def _planned(fields: dict[str, Any], most: int) -> str:
    """Plan for values: those that need more protection are named as a survey names them."""
    from fldp.estimation.planner import plan
    from fldp.presentation import plan as plan_view

    mistakes = MistakeList()
    labels, size = _domain(fields, most, mistakes)
    treatment = check_treatment(fields, labels, size, mistakes)
    if mistakes or size is None:
        raise mistaken(mistakes, "malformed")
    asked = {key: fields[key] for key in ("users", "epsilon", "eta") if key in fields}
    return plan_view.as_json(plan(domain_size=size, **asked, **treatment.parameters), None)


def _domain(
    fields: dict[str, Any], max_values: int, mistakes: MistakeList
) -> tuple[tuple[str, ...] | None, int | None]:
    """Return the labels, if there are any, and the number of values: None, with a mistake, if that is wrong."""
    labels, size = None, fields.get("domain_size")
    if "labels" in fields:
        labels, domain = check_labels("labels", fields["labels"], mistakes)
        size = domain and domain["domain_size"]
    if not mistakes:
        mistakes.check(("domain_size",), integer(2, max_values), size)
    return (None, None) if mistakes else (labels, size)
