"""Plans: which oracle suits a survey that is about to be made, and what error to expect."""

import json
from collections.abc import Mapping
from typing import Any

from fldp.collector.service.collector import Collector
from fldp.collector.service.problems import Problem, mistaken
from fldp.support.validation import MistakeList, integer
from fldp.survey.number import NUMBER, check_number
from fldp.survey.number import planned as planned_oracle
from fldp.survey.questions_table import described
from fldp.survey.rules import DIFFERING, STRINGS, check_labels, check_several, check_treatment

_LASTING = "epsilon_permanent"
_OWN = {
    "labels": {"eta", _LASTING, *DIFFERING},
    "domain_size": {"eta", _LASTING, *DIFFERING},
    "domain": {_LASTING},
    "number": set[str](),
    "questions": {"tables"},
}
_REASON = "the views, weights and base with the least error of all tables that are wanted"
_RULE = (
    f"users, epsilon, one of domain_size, labels, domain = {STRINGS!r}, number, questions; "
    "values: eta, sensitive, budgets, distance; these, strings: epsilon_permanent; questions: tables"
)


def check_keys(fields: Mapping[str, object]) -> None:
    """Refuse keys that do not belong together; what they say is checked by the planner."""
    domains = fields.keys() & _OWN.keys()
    known = {"users", "epsilon", *domains}.union(*(_OWN[key] for key in domains))
    if len(domains) != 1 or fields.keys() - known:
        raise Problem(422, "malformed", f"keys of a plan are {_RULE}")


def planned(collector: Collector, fields: Mapping[str, object]) -> str:
    """Return what every oracle would do for a question, as JSON."""
    if "domain" in fields:
        return _planned_strings(fields)
    if "questions" in fields:
        return _planned_questions(fields)
    return _planned_number(fields) if "number" in fields else _planned_values(fields, collector.settings.max_values)


def _planned_strings(fields: Mapping[str, Any]) -> str:
    from fldp.estimation.string_planner import facts, plan_strings

    return json.dumps(facts(plan_strings(**{name: value for name, value in fields.items() if name != "domain"})))


def _planned_questions(fields: Mapping[str, Any]) -> str:
    """Plan for several questions, as a survey file names them: a row for each table, and the oracle of them all."""
    from fldp.estimation.question_planner import planned
    from fldp.presentation.questions import plan_facts

    mistakes = MistakeList()
    known = {key: fields[key] for key in ("questions", "tables") if key in fields}
    arguments = check_several({**known, "oracle": {"epsilon": fields["epsilon"]}}, None, mistakes)
    if mistakes:
        raise mistaken(mistakes, "malformed")
    facts: dict[str, Any] = plan_facts(planned(arguments["oracle"], fields["users"]))
    rows = facts.pop("tables")
    return json.dumps({**facts, "epsilon": fields["epsilon"], "level": 0.95, "reason": _REASON, "rows": rows})


def _planned_number(fields: Mapping[str, Any]) -> str:
    """Plan for a number: what is known with its cells, and with fewer and more; and the oracle of its own."""
    from fldp.data.scale import DISTRIBUTION
    from fldp.estimation.number_planner import best_bins, plan_number
    from fldp.oracles.exposure import exposure
    from fldp.presentation.number import plan_facts, plan_sentence

    mistakes = MistakeList()
    scale = check_number((NUMBER,), fields[NUMBER], mistakes)
    oracle = None if scale is None else planned_oracle({"epsilon": fields["epsilon"]}, scale, mistakes)
    if scale is None or oracle is None:
        raise mistaken(mistakes, "malformed")
    plan = plan_number(
        fields["users"], fields["epsilon"], bins=scale.bins or len(scale.edges or ()) - 1, goal=scale.goal
    )
    facts = {"users": plan.users, "epsilon": plan.epsilon, "level": 0.95, "rows": plan_facts(plan)["rows"]}
    report = {"eta": float(oracle.eta), "bits": oracle.report_format.bits, "gives_away": exposure(oracle)}
    more = {"domain_size": scale.size, "oracle": described(oracle), "reason": plan_sentence(plan)}
    best = {"best_bins": best_bins(plan.users, plan.epsilon)} if scale.goal == DISTRIBUTION else {}
    return json.dumps({**facts, **report, **more, **best})


def _planned_values(fields: Mapping[str, Any], max_values: int) -> str:
    """Plan for values: those that need more protection are named as a survey names them."""
    from fldp.estimation.planner import plan
    from fldp.presentation import plan as plan_view

    mistakes = MistakeList()
    labels, size = _domain(fields, max_values, mistakes)
    treatment = check_treatment(fields, labels, size, mistakes)
    if mistakes or size is None:
        raise mistaken(mistakes, "malformed")
    known = {key: fields[key] for key in ("users", "epsilon", "eta", _LASTING) if key in fields}
    declared = {name: getattr(treatment, name) for name in treatment.parameters}
    return plan_view.as_json(plan(domain_size=size, **known, **declared), None)


def _domain(
    fields: Mapping[str, Any], max_values: int, mistakes: MistakeList
) -> tuple[tuple[str, ...] | None, int | None]:
    """Return the labels, if there are any, and the number of values: None, with a mistake, if that is wrong."""
    labels, size = None, fields.get("domain_size")
    if "labels" in fields:
        labels, domain = check_labels("labels", fields["labels"], mistakes)
        size = domain and domain["domain_size"]
    if not mistakes:
        mistakes.check(("domain_size",), integer(2, max_values), size)
    return (None, None) if mistakes else (labels, size)
