"""The shapes of what is sent and answered, as JSON Schema."""

from typing import Any

from fldp.oracles.base.treatment import DISTANCES, MAX_BUDGETS, MAX_SENSITIVE
from fldp.oracles.unequal.exponential import MAX_NEAR
from fldp.support import identifiers
from fldp.survey.rules import STRINGS

VERSION, NAME = identifiers.VERSION.schema, identifiers.SURVEY_NAME.schema
DAY: dict[str, Any] = {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
_TEXT, _NUMBER, _COUNT = {"type": "string"}, {"type": "number"}, {"type": "integer", "minimum": 0}
_TIME: dict[str, Any] = {"type": "string", "format": "date-time"}
_MAYBE_TIME: dict[str, Any] = {"type": ["string", "null"], "format": "date-time"}
_STATE = {"type": "string", "enum": ["open", "closed", "scheduled"]}
_SCOPE = {"type": "string", "enum": [*identifiers.SCOPES]}


def reference(name: str) -> dict[str, Any]:
    """Return a reference to a shape."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(properties: dict[str, Any], *, optional: tuple[str, ...] = (), closed: bool = True) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": not closed,
    }


def _list(of: dict[str, Any], **limits: int) -> dict[str, Any]:
    return {"type": "array", "items": of, **limits}


_LABEL = {"type": "string", "minLength": 1, "maxLength": 200}
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_VALUE = {"type": ["string", "integer"], "description": "a label, or the number of a value that has none"}
_DIFFERING: dict[str, Any] = {
    "sensitive": {
        **_list(_VALUE, minItems=1, maxItems=MAX_SENSITIVE),
        "description": "the only answers that have to be hidden",
    },
    "budgets": {
        "type": "object",
        "additionalProperties": _POSITIVE,
        "minProperties": 1,
        "maxProperties": MAX_BUDGETS,
        "description": "answers that have a smaller epsilon of their own, by their labels",
    },
    "distance": {
        "type": "string",
        "enum": [*DISTANCES],
        "description": f"near answers are hidden more than far ones; its own oracle takes up to {MAX_NEAR} values",
    },
}
_DOMAINS = {
    "labels": _list(_LABEL, minItems=2),
    "domain_size": {"type": "integer", "minimum": 2, "description": "at most the setting max_values"},
    "domain": {"const": STRINGS},
}

_TOKEN = {
    "id": _TEXT,
    "scope": _SCOPE,
    "survey": {"type": ["string", "null"]},
    "created": _TIME,
    "expires": _MAYBE_TIME,
    "revoked": _MAYBE_TIME,
}

SCHEMAS: dict[str, Any] = {
    "Problem": _object(
        {
            "type": _TEXT,
            "title": _TEXT,
            "status": {"type": "integer"},
            "detail": _TEXT,
            "index": _COUNT,
            "mistakes": _list(_TEXT),
            "minimum": _COUNT,
        },
        optional=("index", "mistakes", "minimum"),
    ),
    "Status": _object({"status": _TEXT}),
    "Survey": _object(
        {
            "name": NAME,
            "question": {"type": "string", "minLength": 1, "maxLength": 2000},
            "title": _TEXT,
            "description": _TEXT,
            "topic": NAME,
            **_DOMAINS,
            **_DIFFERING,
            "search": {"type": "object"},
            "oracle": _object({"name": _TEXT, "epsilon": _NUMBER}, optional=("name",), closed=False),
            "collect": {"type": "object"},
            "format": _TEXT,
        },
        optional=("title", "description", "topic", *_DOMAINS, *_DIFFERING, "search", "collect", "format"),
    ),
    "Published": _object(
        {"name": NAME, "version": VERSION, "created": _TIME, "closed": _MAYBE_TIME, "state": _STATE, "submit": _TEXT}
    ),
    "Surveys": _list(
        _object(
            {
                "name": NAME,
                "version": VERSION,
                "question": _TEXT,
                "created": _TIME,
                "closed": _MAYBE_TIME,
                "state": _STATE,
                "decoders": _list(_TEXT),
                "methods": _list(_TEXT),
                "n": _COUNT,
            }
        )
    ),
    "Shown": _object({"version": VERSION, "survey": reference("Survey"), "state": _STATE}),
    "Accepted": _object({"accepted": _COUNT}),
    "Estimates": _object(
        {
            "oracle": {"type": "object"},
            "eta": _NUMBER,
            "anonymity": _COUNT,
            "n": _COUNT,
            "options": {"type": "object"},
            "method": _TEXT,
            "biased": {"type": "boolean"},
            "level": _NUMBER,
            "rest": _object({"count": _NUMBER, "stderr": _NUMBER}),
            "rows": _list(
                _object(
                    {
                        "value": _COUNT,
                        "label": _TEXT,
                        "count": _NUMBER,
                        "stderr": _NUMBER,
                        "low": _NUMBER,
                        "high": _NUMBER,
                        "frequency": _NUMBER,
                    }
                )
            ),
        },
        optional=("rest",),
    ),
    "Candidates": _object({"candidates": _list({"type": "string", "minLength": 1, "maxLength": 1024})}),
    "Days": _list(_object({"day": DAY, "n": {"type": ["integer", "null"], "minimum": 1}})),
    "Contrast": _object(
        {
            "n": _COUNT,
            "other_n": _COUNT,
            "level": _NUMBER,
            "people": {"type": "string", "enum": ["population"]},
            "values": _COUNT,
            "changed": _COUNT,
            "rows": _list(
                _object(
                    {
                        "value": _COUNT,
                        "label": _TEXT,
                        "share": _NUMBER,
                        "other_share": _NUMBER,
                        "difference": _NUMBER,
                        "low": _NUMBER,
                        "high": _NUMBER,
                        "p_value": _NUMBER,
                        "changed": {"type": "boolean"},
                    }
                )
            ),
        }
    ),
    "Integrity": _object(
        {
            "oracle": {"type": "object"},
            "n": _COUNT,
            "source": {"type": "string", "enum": ["reports", "tally"]},
            "false_alarm": _NUMBER,
            "passed": {"type": "boolean"},
            "p_value": _NUMBER,
            "conclusion": _TEXT,
            "tests": _list(
                _object(
                    {
                        "test": _TEXT,
                        "claim": _TEXT,
                        "worst": _TEXT,
                        "p_value": _NUMBER,
                        "flagged": {"type": "boolean"},
                    }
                )
            ),
            "blind": _list(_TEXT),
        }
    ),
    "Question": _object(
        {
            **_DOMAINS,
            **_DIFFERING,
            "users": {"type": "integer", "minimum": 1, "maximum": 2**53},
            "epsilon": _POSITIVE,
            "eta": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            "epsilon_permanent": {**_POSITIVE, "description": "of all reports of a person; where answers are strings"},
        },
        optional=(*_DOMAINS, *_DIFFERING, "eta", "epsilon_permanent"),
    ),
    "Plan": _object(
        {
            "domain_size": _COUNT,
            "domain": _TEXT,
            "users": _COUNT,
            "epsilon": _NUMBER,
            "eta": _NUMBER,
            "epsilon_permanent": _NUMBER,
            "sensitive": _list(_COUNT),
            "budgets": _list(_list(_NUMBER, minItems=2, maxItems=2)),
            "distance": _TEXT,
            "level": _NUMBER,
            "reason": _TEXT,
            "rows": _list({"type": "object"}),
            "skipped": {"type": "object"},
        },
        optional=("domain_size", "domain", "eta", "epsilon_permanent", *_DIFFERING, "skipped"),
    ),
    "Wanted": _object({"count": {"type": "integer", "minimum": 1, "maximum": 100_000}}),
    "Tickets": _object({"tickets": _list(_TEXT)}),
    "Tokens": _list(_object(_TOKEN)),
    "TokenWanted": _object({"scope": _SCOPE, "survey": NAME, "expires": _TIME}, optional=("survey", "expires")),
    "NewToken": _object({"token": _TEXT, **_TOKEN}),
}
