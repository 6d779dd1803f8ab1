"""A survey, its reports, and what a parser makes of them: for tests that hand parsers all kinds of things."""

from fldp import Survey
from support.collector_requests import specification
from support.hostile_text import REFUSALS

FIELDS = specification(minimum=10)
SURVEY = Survey.from_dict(FIELDS)
REPORTS = SURVEY.privatize(["edge", "other"], rng=1)


def read(parse, data):
    """Return what was read, or None where it was refused."""
    try:
        return parse(data)
    except REFUSALS:
        return None
