"""Write js/src/support/constants.ts, what Python and JavaScript must agree on, from Python: ``make javascript``."""

import json
from pathlib import Path
from typing import Any

from fldp.client import messages, retry
from fldp.data import fingerprints
from fldp.numerics import projective_space
from fldp.oblivious import bhttp, ohttp, relayed_requests
from fldp.oracles import grouped
from fldp.oracles.base import frequency_oracle, record_oracle, treatment
from fldp.oracles.flexible import fwr, fwr_items
from fldp.oracles.plain import hadamard_response, wave
from fldp.oracles.sampled import sampled, views
from fldp.oracles.strings import count_mean_sketch
from fldp.oracles.unequal import exponential
from fldp.participant import limits, participant, past_answers
from fldp.randomness import budget_coins
from fldp.responder import kept_responses, symbol_responses
from fldp.search import rounds
from fldp.support import identifiers
from fldp.survey import pass_rules, questions_table, rules
from fldp.telemetry import metrics, modes
from fldp.wire import batch

FILE = Path(__file__).parents[1] / "js" / "src" / "support" / "constants.ts"
_BIGINTS = ("BALANCE_STEPS", "MAX_COMBINATIONS", "MAX_SYMBOLS")
_HEAD = "/** What Python and JavaScript agree on. `make javascript` writes this file from Python. */\n"


def _limit(limit: limits.Limit) -> dict[str, float]:
    return {"maxEpsilon": float(limit.max_epsilon), "minEta": float(limit.min_eta), "maxAnswers": limit.max_answers}


def _limits(default: limits.Limits) -> dict[str, Any]:
    names = {"topic": "topic", "origin": "origin", "total": "total", "monthTotal": "month_total", "year": "year"}
    parts = {name: _limit(getattr(default, own)) for name, own in names.items()}
    return {**parts, "minAnonymity": default.min_anonymity, "minLabels": default.min_labels}


def constants() -> dict[str, tuple[str, Any]]:
    """Return the constants by name, each with what it says."""
    start = [*batch.MAGIC, batch.FORMAT, batch.REPORTS]
    again = sorted((*retry._NOT_DONE, *retry._UNKNOWN))
    patience = retry.Patience()
    return {
        "BATCH_START": ("What a batch begins with: FLDP, the format, the kind for reports.", start),
        "CHECKSUM_BYTES": ("The number of bytes of a checksum.", batch.CHECK),
        "CHUNK_BYTES": ("The maximum number of bytes of a chunk.", batch._CHUNK_BYTES),
        "MAX_HEADER": ("The maximum number of bytes of a batch's header.", batch._MAX_HEADER),
        "MAX_VALUES": (
            "The maximum number of values of a domain, and of bits of a report, that a device works on for a stranger.",
            participant.MAX_VALUES,
        ),
        "MAX_LISTED": ("The maximum number of values of any list.", frequency_oracle.MAX_VALUES),
        "MAX_POWER": ("The largest parameter that is a power of two.", hadamard_response.MAX_BLOCKS),
        "MAX_SYMBOLS": ("The maximum number of symbols that OLH hashes to.", symbol_responses.MAX_SYMBOLS),
        "MAX_POINTS": ("The maximum number of points of a projective space.", projective_space.MAX_POINTS),
        "MAX_HASH_BITS": ("The maximum number of parities under the coin of FWR.", fwr.MAX_HASH_BITS),
        "MAX_KEPT_BITS": ("The maximum number of parities under the coins of LWR.", kept_responses.MAX_KEPT_BITS),
        "MAX_MASKS": ("The maximum number of masks of a report of FWR.", fwr.MAX_MASKS),
        "SCATTER_SEEDS": ("The seeds of the items of FWR, for domains of 2 to 255 values.", fwr_items._SEEDS.hex()),
        "MAX_GROUPS": ("The maximum number of groups of Grouped.", grouped.MAX_GROUPS),
        "MAX_SENSITIVE": ("The maximum number of sensitive values.", treatment.MAX_SENSITIVE),
        "MAX_BUDGETS": ("The maximum number of values with budgets of their own.", treatment.MAX_BUDGETS),
        "BALANCE_STEPS": ("A balance of budgets is a number of these.", budget_coins.STEPS),
        "MAX_NEAR": (
            "The maximum number of values of Exponential: a channel has a row for each.",
            exponential.MAX_NEAR,
        ),
        "MAX_CONDITION": (
            "The largest condition of the channel; beyond it, rounding would show in the estimates.",
            int(exponential._MAX_CONDITION),
        ),
        "MAX_WAVE": ("The maximum number of values of a wave, and cells of a number.", wave.MAX_CELLS),
        "MAX_CELLS": (
            "The maximum number of buckets of a sketch, over all hash functions.",
            count_mean_sketch.MAX_CELLS,
        ),
        "MAX_STEP": ("The maximum number of bits that a round of a search adds.", rounds.MAX_STEP),
        "MAX_STRING_BYTES": ("The maximum number of bytes of a string that may be an answer.", fingerprints.MAX_BYTES),
        "SURVEY_FORMAT": ("The format of a survey that its version is a hash of.", rules.FORMAT),
        "SURVEY_NAME": ("The names of surveys.", identifiers.SURVEY_NAME),
        "LANGUAGE": ("The tags of languages.", identifiers.LANGUAGE),
        "MAX_TEXT": ("The maximum number of characters of a survey's texts.", rules.MAX_TEXT),
        "MAX_LABEL": ("The maximum number of characters of a label.", rules.MAX_LABEL),
        "MAX_LABELS": ("The maximum number of labels of a survey.", rules.MAX_LABELS),
        "MAX_QUESTIONS": ("The maximum number of questions of a survey.", record_oracle.MAX_QUESTIONS),
        "MAX_COMBINATIONS": ("There are fewer records of several answers than this.", record_oracle.MAX_COMBINATIONS),
        "MAX_VIEWS": ("The maximum number of views of a record.", views.MAX_VIEWS),
        "MAX_VIEW_VALUES": ("The maximum number of values of a view.", views.MAX_VIEW_VALUES),
        "MAX_WEIGHT": ("The maximum sum of the weights of all views.", sampled.MAX_WEIGHT),
        "MAX_ANSWERS": ("The maximum number of answers of one question of several.", questions_table.MAX_ANSWERS),
        "MAX_MINIMUM": ("The largest number of reports below which nothing is shown.", rules.MAX_MINIMUM),
        "RELEASES": ("How many more reports it may take before those who read see them.", [*rules.RELEASES]),
        "ISSUER_KEY_LENGTH": ("The number of characters of an issuer's key.", pass_rules.KEY_LENGTH),
        "LIMITS": ("A person's limits, where none are given.", _limits(limits.Limits())),
        "MONTH": (
            "The limit of each month on one origin, where a program wants limits that renew.",
            _limit(limits.Limits.renewing().month or limits.Limit(1, 1)),
        ),
        "MAX_EARLIER": (
            "The maximum number of batches of other days that can be taken back.",
            past_answers.MAX_EARLIER,
        ),
        "METRICS_FORMAT": ("The format of a program's metrics.", metrics.FORMAT),
        "CI": ("The variables that continuous integration sets.", [*modes.CI]),
        "MAX_RETRIES": ("How often a request is repeated.", patience.retries),
        "FIRST_DELAY": (
            "The longest wait before the first repetition, in milliseconds.",
            int(1000 * retry._FIRST_DELAY),
        ),
        "MAX_DELAY": ("The longest wait before any, in milliseconds.", int(1000 * patience.longest)),
        "MAX_JSON": ("The maximum number of bytes of an answer that is kept in memory.", messages.MAX_JSON),
        "RETRY_STATUSES": ("What a collector answers that may act on a repetition.", again),
        "MESSAGE_SIZES": ("The sizes that messages through a relay are filled up to, in bytes.", [*bhttp.SIZES]),
        "MAX_KEYS_BYTES": ("The maximum number of bytes of a gateway's keys.", ohttp.MAX_KEYS_BYTES),
        "MAX_REPLY_BYTES": ("The maximum number of bytes of a reply through a relay.", ohttp.MAX_REPLY_BYTES),
        "RELAYED_HEADERS": (
            "The headers of requests that go through a relay.",
            [name.lower() for name in relayed_requests.HEADERS],
        ),
    }


def _written(value: object) -> str:
    """Return a value as TypeScript, in the style of the formatter."""
    match value:
        case identifiers.Identifier():
            return f"/^{value.pattern}$/"
        case dict():
            inner = "".join(f"  {name}: {_inline(part)},\n" for name, part in value.items())
            return f"{{\n{inner}}}"
    return _inline(value)


def _inline(value: object) -> str:
    match value:
        case dict():
            return f"{{ {', '.join(f'{name}: {_inline(part)}' for name, part in value.items())} }}"
        case float() if value.is_integer():
            return str(int(value))
        case int() if value >= 1 << 17:
            return f"{value:_}"  # a number, and no sum: a bundler drops one that a file does not use
    return json.dumps(value)


def _constant(name: str, about: str, value: object) -> str:
    written = f"{value}n" if name in _BIGINTS else _written(value)
    gap = "\n  " if len(written) > 100 and "\n" not in written else " "  # as the formatter breaks a long line
    return f"\n/** {about} */\nexport const {name} ={gap}{written};\n"


def text() -> str:
    """Return the text of the file."""
    return _HEAD + "".join(_constant(name, *described) for name, described in constants().items())


if __name__ == "__main__":
    FILE.write_text(text())
