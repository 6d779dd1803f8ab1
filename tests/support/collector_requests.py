"""Surveys and batches as they are sent to a collector."""

import json
import secrets

from fldp import wire

SPECIFICATION = {
    "name": "browser",
    "question": "Which browser are you using?",
    "labels": ["chrome", "firefox", "safari", "edge", "other"],
    "oracle": {"name": "fhr", "epsilon": 1.0},
}


def specification(name="browser", oracle=None, **collect):
    fields = {**SPECIFICATION, "name": name, "oracle": oracle or SPECIFICATION["oracle"], "collect": collect}
    return json.loads(json.dumps(fields))


def key():
    return secrets.token_urlsafe(24)


def batch(survey, count=1, label=None):
    return wire.encode(survey.privatize([label or survey.label(0)] * count), survey.version)
