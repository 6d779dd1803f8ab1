"""A survey for people who keep records: an entry for registries of deployments, and a data protection sheet.

Both are filled from the survey and its privacy card. What only the organisation knows is left open, and said to be.
"""

import json

import fldp
from fldp.data.scale import MEAN, Scale
from fldp.errors import ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.memoization import following, lasting_epsilon
from fldp.participant.headroom import headroom
from fldp.participant.limits import Limits
from fldp.presentation.card_text import sections
from fldp.privacy.notions import declared
from fldp.privacy.privacy_card import Card
from fldp.support.canonical_json import Json
from fldp.survey.survey import Survey
from fldp.wire.description import describe

FORMAT = "fldp-registry-1"
_OPEN = "________"
_TRUST = (
    "Answers are perturbed on the person's device. The collector is not trusted with answers; it is trusted to count "
    "honestly. Who sends, and when, is not hidden by the mechanism."
)
_LIMITS = (
    "A device with the default limits gives one collector at most epsilon {:g}, at eta {} or more, whatever that asks."
)
_REMAINS = (
    "The mechanism does not hide who took part and when, and nobody can tell who lied. A report that became public "
    "stays public."
)
_SENT = "One report{}, drawn at random, and a random number that lets it count once. The answer itself stays there."
_TICKETS = (
    " A pass comes with it; nobody can tell who got that pass.",
    " The person's ticket comes with it: whoever knows who got which ticket knows whose report it is while it arrives.",
)
_TAKEN_BACK = "A person can have a report taken out of the count. Results that were published before keep it."
_PERIODS = ("weekly", "monthly")
_EACH = {"daily": " a day", "weekly": " a week", "monthly": " a month"}
_NOBODY = " Nobody can answer with these limits: {}."
_READERS = ", for those who may read, in steps of {:,} reports of whole days; an administrator sees all at any time"
_RELAYED = " Reports come through a relay, so the collector sees no address."


def as_registry(card: Card, contact: str | None = None) -> str:
    """Return the entry as JSON."""
    return json.dumps(entry(card, contact), ensure_ascii=False, indent=1) + "\n"


def entry(card: Card, contact: str | None = None) -> dict[str, Json]:
    """Return the entry for a registry; docs/registry.md explains its fields."""
    survey = _survey(card)
    return {
        "format": FORMAT,
        "deployment": {
            "name": survey.name,
            "version": survey.version,
            "purpose": survey.description,
            "opens": survey.collect["opens"],
            "closes": survey.collect["closes"],
        },
        "unit_of_privacy": unit(survey),
        "model": {"kind": "local", "trust": _TRUST + (_RELAYED if survey.needs_relay else "")},
        "mechanism": describe(survey.oracle),
        "privacy": {
            "notion": str(declared(card.oracle)),
            "epsilon": card.oracle.epsilon,
            "eta": float(card.oracle.eta),
            "delta": 0.0,
            "lasting_epsilon": lasting_epsilon(survey.oracle) if survey.keeps else None,
            "change_visible": _change_visible(survey),
            "least_values_left": card.least_left,
            "best_guess_before": card.guess.before,
            "best_guess_after": card.guess.after,
            "guessed_among": card.oracle.domain_size,
        },
        "budget_over_time": budget(survey),
        "data": data(survey),
        "accuracy": {"people": card.users, "share_is_known_to": _reach(card)},
        "release": {
            "minimum_of_reports": survey.collect["minimum"],
            "steps_of_reports": survey.release,
            "reports_are_kept": survey.collect["retention"] == "raw",
        },
        "contact": contact,
        "software": f"fldp {fldp.__version__}",
    }


def data(survey: Survey) -> dict[str, Json]:
    """Return what is asked: of strings nobody knows how many there are, and of several questions each has its own."""
    if survey.questions:
        questions: list[Json] = [
            {"question": asked.text, "values": asked.size, **_range(asked.number)} for asked in survey.questions
        ]
        return {"question": survey.question, "values": None, "questions": questions}
    values = survey.domain_size if survey.search is None else None
    return {"question": survey.question, "values": values, **_range(survey.number)}


def _range(scale: Scale | None) -> dict[str, Json]:
    """Return the range of a number, where one is asked for."""
    return {} if scale is None else {"number": {"low": scale.low, "high": scale.high, "unit": scale.unit}}


def unit(survey: Survey) -> str:
    """Return what is protected: all that one person answers, or one of the answers."""
    if _follows(survey):
        return "each report of one person to this survey; all of them together while the answer stays the same"
    if survey.keeps:
        return "all reports of one person to this survey, which are made of one answer"
    if survey.questions:
        what = "one person's answers to all questions of this survey, together"
    else:
        what = f"{'one' if survey.repeat in _PERIODS else 'the'} answer of one person to this survey"
    return f"{what}, which a device gives once{_EACH.get(survey.repeat, '')}"


def budget(survey: Survey) -> dict[str, Json]:
    """Return what a device with the default limits gives away in all, which no collector can raise."""
    limits = Limits()
    scopes = {"topic": limits.topic, "collector": limits.origin, "everything": limits.total}
    return {
        "answers": _answers(survey),
        "default_limits_allow_it": not headroom(survey).warnings,
        "default_limits_of_a_device": {
            scope: {"epsilon": float(limit.max_epsilon), "eta": float(limit.min_eta)} for scope, limit in scopes.items()
        },
    }


def _answers(survey: Survey) -> str:
    if _follows(survey):
        return f"{survey.repeat}, made from what is kept; no epsilon covers whether an answer changes"
    if survey.keeps:
        return f"{survey.repeat}, made of one kept answer"
    return f"{survey.repeat}, each drawn anew at another epsilon" if survey.repeat in _PERIODS else "once"


def _follows(survey: Survey) -> bool:
    return survey.keeps and following(survey.oracle) is not None


def _change_visible(survey: Survey) -> float | None:
    """Return how likely it is that a change of the answer shows at all, which neither epsilon nor delta covers."""
    stages = following(survey.oracle) if survey.keeps else None
    return None if stages is None else float(stages.change_visible)


def _survey(card: Card) -> Survey:
    if card.survey is None:
        raise ParameterError("card: an entry or a sheet is about a survey: give its file, not an oracle")
    return card.survey


def as_sheet(card: Card, contact: str | None = None) -> str:
    """Return one page for a data protection officer, in Markdown: filled where the survey says it, open elsewhere."""
    survey = _survey(card)
    facts = {
        **_organised(survey, contact),
        **_asked(card, survey),
        "What leaves a device": _sent(survey),
        **{section.heading: " ".join(section.lines) for section in sections(card)[: 3 if card.first else 2]},
        "Promise": _promise(card, survey),
        "Who sees an address": _address(survey),
        "What is kept": _kept(survey),
        "What is shown": _shown(survey),
        "How exact it is": _exact(card),
        "Taking it back": _TAKEN_BACK,
        "A person's limits": _limits(survey),
        "What remains": _REMAINS,
        "Assessed by, on": _OPEN,
    }
    heading = f"# Data protection sheet: {survey.title or survey.name}"
    about = f"Survey `{survey.name}`, version `{survey.version[:12]}`. The organisation fills in {_OPEN}."
    rows = (f"| {name} | {text.replace('|', chr(92) + '|')} |" for name, text in facts.items())
    return "\n".join([heading, "", about, "", "| | |", "|---|---|", *rows]) + "\n"


def _organised(survey: Survey, contact: str | None) -> dict[str, str]:
    """Return the rows of which the organisation knows more than the survey does."""
    return {
        "Purpose": survey.description or _OPEN,
        "Controller and contact": contact or _OPEN,
        "Legal basis": _OPEN,
        "Who is asked": _OPEN,
        "When": f"From {survey.collect['opens'] or _OPEN} to {survey.collect['closes'] or _OPEN}",
    }


def _asked(card: Card, survey: Survey) -> dict[str, str]:
    """Return the row of the question, or of the questions."""
    if survey.questions:
        each = (f"{asked.text} ({_kind(asked.number, asked.size)})" for asked in survey.questions)
        return {"Questions": " ".join(each)}
    if survey.needs_candidates:
        return {"Question": f"{survey.question} (any text; guesses below are among {card.oracle.domain_size} texts)"}
    if survey.search is not None:
        most = card.oracle.domain_size - 1  # one more stands for all other texts
        return {"Question": f"{survey.question} (any text; a round asks for at most {most:,} beginnings)"}
    return {"Question": f"{survey.question} ({_kind(survey.number, card.oracle.domain_size)})"}


def _kind(scale: Scale | None, size: int) -> str:
    """Return what may be answered: one of so many answers, or a number of a range."""
    if scale is None:
        return f"{size:,} possible answers"
    unit = "" if scale.unit is None else f" {scale.unit}"
    steps = "points" if scale.goal == MEAN else "cells"
    return f"a number from {scale.low:g} to {scale.high:g}{unit}, reported as one of {size:,} {steps}"


def _has_tickets(survey: Survey) -> bool:
    return survey.collect["submit"] in ("ticket", "pass")


def _sent(survey: Survey) -> str:
    ticket = _TICKETS[survey.pass_terms is None] if _has_tickets(survey) else ""
    return _SENT.format(_EACH.get(survey.repeat, "")) + ticket


def _limits(survey: Survey) -> str:
    """Return the limits of a device, and whether they allow an answer at all."""
    most = _LIMITS.format(float(Limits().origin.max_epsilon), Limits().origin.min_eta)
    return most + "".join(_NOBODY.format(warning) for warning in headroom(survey).warnings[:1])


def _exact(card: Card) -> str:
    return f"With {card.users:,} people, a share is known to {100 * _reach(card):.2g} percentage points (95 %)."


def _reach(card: Card) -> float:
    return card.deals[0].reach if card.deals else card.reaches[0]


def _promise(card: Card, survey: Survey) -> str:
    numbers = f"epsilon {card.oracle.epsilon:g}, eta {float(card.oracle.eta):g}, delta 0"
    sentence = f"{declared(card.oracle)}: {numbers}. The unit of privacy: {unit(survey)}."
    weaker = None if card.certain else analysis(survey.oracle).unprotected  # what is certain has a row of its own
    sentence = f"{sentence} {weaker}" if weaker else sentence
    if _follows(survey):
        return sentence
    if survey.keeps:
        return f"{sentence} All reports together have epsilon {lasting_epsilon(survey.oracle):g}."
    return f"{sentence} Answers add up: k of them have k times that epsilon." if survey.repeat in _PERIODS else sentence


def _address(survey: Survey) -> str:
    if survey.needs_relay:
        return "The relay, which cannot read reports. The collector does not."
    return "The collector's machine, which does not store it, and any proxy in front of it, which may."


def _kept(survey: Survey) -> str:
    what = "reports and counts" if survey.collect["retention"] == "raw" else "counts without the reports"
    tickets = " and tickets" if _has_tickets(survey) else ""
    return f"Until the survey is deleted: {what}, by day; hashes of random numbers{tickets}."


def _shown(survey: Survey) -> str:
    steps = _READERS.format(survey.release) if survey.release else ""
    return f"Estimates from at least {survey.collect['minimum']} reports{steps}."
