"""Participant: the person's side. It answers once, stores the answer, repeats it, and keeps to the person's limits.

An answer is drawn at random, so a second one to the same question tells more than the first; of an FHR report, a dozen
tell everything. A participant therefore never draws twice for one version of a survey and one origin. It stores an
answer before it sends it, and returns the same bytes whenever it is asked again. Another version, name or epsilon
is another draw, allowed only while all draws together stay within limits that no server can change.

Whether, when and how often it answers never depends on the answer by a rule that a server chooses: a survey is refused
for what it is, never for lacking the person's answer (``fldp.participant.choice``).

Where a survey may be answered daily, the oracle responds in two stages: the permanent response is drawn once and
stored, and every report is drawn from it. That costs what the permanent response costs, once. Of an oracle that
follows a value which changes, what is stored is drawn before there is an answer and depends on none: the answer is
asked for each day, and the first one of a day counts. A survey that may be answered weekly or monthly does the same
with such oracles; with any other each period is a new draw at its full cost.

The true value is never stored: the file holds reports drawn from it, and nothing else about the person.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from fldp import wire
from fldp.data.reports import Reports
from fldp.errors import BudgetError, DomainError, FldpError, ParameterError, WireError
from fldp.oracles.base import ticket_words
from fldp.oracles.base.memoization import Memoization
from fldp.oracles.sampled import drawn_view
from fldp.oracles.sampled.sampled import of_questions
from fldp.participant import epochs, notes, pass_keeping
from fldp.participant.choice import Choice, asked_places
from fldp.participant.ledger import Charge, Ledger, Refusals
from fldp.participant.limits import Limits, Spent
from fldp.participant.notes import RelayedKeys
from fldp.participant.past_answers import (
    all_sent,
    as_withdrawn,
    is_withdrawn,
    newest,
    past_answers,
    require_not_withdrawn,
    with_new_day,
)
from fldp.participant.sqlite_store import FileStore
from fldp.participant.store import ChanceBook, RefusalBook, Store, count_refusal, find_answer
from fldp.participant.stored_answer import StoredAnswer, StoredDailyAnswer
from fldp.responder.responder import Responder
from fldp.support import canonical_json
from fldp.support.canonical_json import Json
from fldp.support.validation import MAX_LISTED, fail
from fldp.support.web_origin import origin_of
from fldp.survey.search_table import specified
from fldp.survey.survey import Survey

MAX_VALUES = 1 << 20  # of a domain, and bits of a report: what a stranger's survey may make a device work on

Confirm = Callable[[tuple[str, ...]], bool]


@dataclass(frozen=True)
class Answer:
    """An answer of a participant.

    ``report`` is one batch that names the survey's version (``docs/wire.md``), ready to be sent. ``key`` is the
    idempotency key to send it under, always the same one, so that it counts once however often it is sent. ``repeated``
    tells that it was drawn earlier and cost nothing now; the report of another day is a new one, and costs nothing
    either. ``notices`` are what the person confirmed. ``spent`` is what all answers on this topic give away to this
    origin, together.

    >>> answer = Answer(b"FLDP...", "a-key", repeated=True, notices=(), spent=Spent())
    >>> answer.repeated, str(answer.spent)
    (True, 'epsilon 0, eta 1, 0 answers')
    """

    report: bytes = field(repr=False)  # both lead to the person, and do not belong into a log
    key: str = field(repr=False)
    repeated: bool
    notices: tuple[str, ...]
    spent: Spent


class Participant:
    """Answers surveys for one person, and remembers.

    ``store`` is the name of a file, created if missing, or a store of the caller's (``fldp.participant_store``).
    ``limits`` are the person's own; no survey can change them. Randomness comes from the operating system only.

    >>> from fldp.participant_store import MemoryStore
    >>> from fldp.survey import Survey
    >>> survey = Survey.from_dict({
    ...     "name": "browser",
    ...     "question": "Which browser are you using?",
    ...     "labels": ["chrome", "firefox", "safari", "edge", "other"],
    ...     "oracle": {"name": "fhr", "epsilon": 1.0},
    ... })
    >>> participant = Participant(MemoryStore())
    >>> first = participant.answer(survey, "firefox", origin="https://collector.example")
    >>> again = participant.answer(survey, "firefox", origin="https://collector.example")
    >>> first.repeated, again.repeated, first.report == again.report
    (False, True, True)
    >>> print(participant.spent(origin="https://collector.example", topic="browser"))
    epsilon 1, eta 1/2, 1 answer
    """

    def __init__(self, store: str | Path | Store, *, limits: Limits | None = None) -> None:
        if not isinstance(store, str | Path | Store):
            raise fail("Participant", "store", "the name of a file, or a store with exclusive()", store)
        if not isinstance(limits, Limits | None):
            raise fail("Participant", "limits", "Limits", limits)
        self.limits = limits or Limits()
        self._store: Store = FileStore(store) if isinstance(store, str | Path) else store

    def answer(
        self,
        survey: Survey | Mapping[str, object],
        label: str | float | Mapping[str, object],
        *,
        origin: str,
        version: str | None = None,
        labels: Iterable[str] | None = None,
        otherwise: str | None = None,
        confirm: Confirm | None = None,
        ticket: str | None = None,
    ) -> Answer:
        """Answer a survey with a label, or repeat what was answered before, whatever the label is now.

        To several questions, ``label`` maps their names to answers: one draw, and one epsilon, for all of them. Where
        the survey asks less, only those that ``asked`` names need an answer.

        A survey that may be answered daily gets a new report each day, by UTC, made of what was kept at first. If its
        oracle follows a value that changes (LWR), that is a report of the label which is given first on that day.
        One that may be answered weekly or monthly gets a new draw in each of these periods, unless its oracle keeps
        something.

        ``survey`` may be what a server's JSON says, and ``version`` what it claims to be: a mismatch is refused. What
        the person must know first (few labels, or other labels than last time) is given to ``confirm``; if that does
        not return true, or there is nobody to ask, the survey is refused. A refusal is a ``BudgetError`` that says why.
        Whatever goes wrong, nothing is spent. ``ticket`` is needed where the survey says that tickets decide what is
        public in a report; the answer then belongs to that ticket. Where it takes passes, the one that is kept is used.

        ``labels`` are those that the program was written for, never taken from the survey: a survey with others is
        refused, whatever the answer is, and an answer outside them is a ``DomainError`` before the survey is looked
        at. An answer that the survey lacks is drawn as the label ``otherwise``, if that is given and the survey has it,
        else as a label drawn at random: a refusal would tell the server the answer. Nothing tells which one happened.
        """
        choice, asker = Choice.of(label, labels=labels, otherwise=otherwise), origin_of(origin)
        try:
            checked = _checked(survey, version)
            ticket = pass_keeping.shown(self._store, checked, asker, ticket)
            word = self._chance(checked, asker, ticket)
            return self._answer(checked, replace(choice, word=word), asker, confirm, ticket)
        except (
            BudgetError,
            DomainError,
            ParameterError,
            WireError,
        ):  # never because of the answer, only because of what is asked
            count_refusal(self._store, asker, _today())
            raise

    def asked(
        self,
        survey: Survey | Mapping[str, object],
        *,
        origin: str,
        version: str | None = None,
        ticket: str | None = None,
    ) -> tuple[str, ...]:
        """Return the names of the questions to ask: all, or where the survey asks less those that chance has chosen.

        Chance chooses once for a version of a survey and an origin, or the ticket does, and the store keeps that before
        anybody sees it: whoever could choose again would answer the questions they like. It costs nothing.

        >>> from fldp.participant_store import MemoryStore
        >>> asked = [{"name": name, "question": f"{name}?", "labels": ["no", "yes"]} for name in ("tea", "milk")]
        >>> fields = {"name": "drinks", "questions": asked, "tables": {"ask": "drawn"}, "oracle": {"epsilon": 1.0}}
        >>> participant, site = Participant(MemoryStore()), "https://collector.example"
        >>> names = participant.asked(fields, origin=site)
        >>> names == participant.asked(fields, origin=site), len(names)
        (True, 1)
        >>> participant.answer(fields, dict.fromkeys(names, "yes"), origin=site).repeated
        False
        """
        asker = origin_of(origin)
        try:
            checked = _checked(survey, version)
            ticket = pass_keeping.shown(self._store, checked, asker, ticket)
            places = asked_places(checked, self._chance(checked, asker, ticket))
        except (ParameterError, WireError):
            count_refusal(self._store, asker, _today())
            raise
        return tuple(each.name for place, each in enumerate(checked.questions) if places is None or place in places)

    def _chance(self, survey: Survey, origin: str, ticket: str | None) -> int | None:
        """Return the first word of the report where that is drawn before the answers; None where it is not."""
        if not survey.asks_less:
            return None
        _require_ticket(survey, ticket)
        if survey.derives and ticket:
            return int(ticket_words.public_words(ticket, survey.version, 1)[0])
        with self._store.exclusive() as book:
            if not isinstance(book, ChanceBook):
                raise fail("participant", "store", "one that keeps chances (fldp.participant_store)", self._store)
            word = book.chance(origin, survey.version)
            if word is None:
                word = drawn_view.draw_word()
                book.keep_chance(origin, survey.version, word)
            return word

    def _answer(
        self, asked: Survey, choice: Choice, origin: str, confirm: Confirm | None, ticket: str | None
    ) -> Answer:
        _require_ticket(asked, ticket)
        agreed: tuple[str, ...] = ()
        while True:
            with self._store.exclusive() as book:
                require_not_withdrawn(book, asked.name, asked.version, origin)
                charge, ledger = self._charge(asked, origin), book.ledger
                known = ledger.same(charge, kept=asked.keeps)
                stored = find_answer(book, known or charge)
                if stored is not None or known:
                    stored = stored or b""
                    answer, renewed = _again(asked, choice, newest(stored), ticket)
                    if renewed is not None:
                        book.replace(known or charge, with_new_day(stored, renewed))
                    spent = _spent(ledger, charge)
                    return Answer(answer.report, answer.key, repeated=renewed is None, notices=(), spent=spent)
                notices = self._examine(asked, choice, charge, ledger)
                if set(notices) <= set(agreed):
                    answer, new = _drawn(asked, choice, ticket)
                    book.add(charge, new)
                    spent = _spent(Ledger((*ledger.charges, charge)), charge)
                    return Answer(answer.report, answer.key, repeated=False, notices=notices, spent=spent)
            # Outside the lock, since a person takes time; the ledger may change meanwhile and is examined again.
            agreed = _confirmed(asked, notices, confirm)

    def _charge(self, survey: Survey, origin: str) -> Charge:
        """Return what an answer costs today, charged to the limits of its month where the person has some."""
        charge = _charge(survey, origin)
        return replace(charge, renews=bool(charge.epoch) and self.limits.month is not None)

    def spent(self, *, origin: str | None = None, topic: str | None = None) -> Spent:
        """Return the privacy loss of the answers so far: to an origin, on a topic, both, or all."""
        with self._store.exclusive() as book:
            asker = None if origin is None else origin_of(origin)
            return book.ledger.spent(origin=asker, topic=topic, today=_today())

    def history(self) -> tuple[Charge, ...]:
        """Return all answers in their order: to whom, on what, when, at which cost."""
        with self._store.exclusive() as book:
            return book.ledger.charges

    def withdraw(self, version: str, *, origin: str) -> tuple[StoredAnswer, ...]:
        """Mark the answers to a version as withdrawn, and return all batches that were sent, with their keys.

        A collector takes them out when each is posted to ``/v1/versions/{version}/withdrawals``, as ``Client.withdraw``
        does; until then they count. From here on the version is neither answered nor sent again: a new draw would
        cost again, and repeated sending and withdrawing could select the noise. The ledger keeps the cost, since the
        reports were seen. Without an answer to that version, nothing is returned; a second call returns the same.
        """
        with self._store.exclusive() as book:
            sent = past_answers(book, version, origin_of(origin))
            for charge, kept in sent:
                if not is_withdrawn(kept):
                    book.replace(charge, as_withdrawn(kept))
        return tuple(answer for _, kept in sent for answer in all_sent(kept))

    def withdrawn(self, version: str, *, origin: str) -> bool:
        """Return whether answers to a version were withdrawn."""
        with self._store.exclusive() as book:
            return any(is_withdrawn(kept) for _, kept in past_answers(book, version, origin_of(origin)))

    def pass_request(self, survey: Survey | Mapping[str, object], *, origin: str, version: str | None = None) -> bytes:
        """Return what asks the issuer of a survey for a pass, which ``Client.obtain_pass`` posts.

        Its secrets are drawn and stored first: without them the answer is of no use, and a ticket is spent on one
        request alone. So the same request is returned again, until ``keep_pass`` has the answer.
        """
        return pass_keeping.request(self._store, _checked(survey, version), origin_of(origin))

    def keep_pass(
        self, survey: Survey | Mapping[str, object], reply: bytes, *, origin: str, version: str | None = None
    ) -> str:
        """Keep the pass that the issuer's answer makes, and return it; a wrong answer is a ``WireError``."""
        return pass_keeping.keep(self._store, _checked(survey, version), origin_of(origin), reply)

    def pass_to(self, version: str, *, origin: str) -> str | None:
        """Return the pass to a version of a survey, None if it is not here."""
        return pass_keeping.find(self._store, version, origin_of(origin))

    def due(self, answer: "Answer", version: str, *, origin: str, longest: float) -> float:
        """Return when to send an answer that waits for up to ``longest`` seconds, in seconds since 1970.

        The moment is drawn and stored once: asked again, even after a crash, it is the same.
        """
        return notes.due(self._store, (origin_of(origin), version), answer.key, longest)

    def relayed_keys(self, *, origin: str) -> RelayedKeys | None:
        """Return the collector's keys that a relay handed out last, None where none are kept."""
        return notes.relayed_keys(self._store, origin_of(origin))

    def keep_relayed_keys(self, handed: RelayedKeys, *, origin: str) -> None:
        """Keep the collector's keys, in place of those before."""
        notes.keep_relayed_keys(self._store, origin_of(origin), handed)

    def keep_relayed(self, version: str, *, origin: str) -> None:
        """Keep that the answer to a version goes through a relay: directly, it would tell who sent it."""
        notes.keep_relayed(self._store, origin_of(origin), version)

    def is_relayed(self, version: str, *, origin: str) -> bool:
        """Return whether the answer to a version went through a relay, where the store keeps that."""
        return notes.is_relayed(self._store, origin_of(origin), version)

    def refusals(self) -> tuple[Refusals, ...]:
        """Return how often surveys were refused, by origin: an origin that keeps asking is suspicious.

        Nothing where the store is the caller's own and does not count them (``fldp.participant_store``).
        """
        with self._store.exclusive() as book:
            return book.refusals if isinstance(book, RefusalBook) else ()

    def count_refusal(self, *, origin: str) -> None:
        """Count a survey that the program refused itself, before asking the participant; never because of an answer."""
        count_refusal(self._store, origin_of(origin), _today())

    def _examine(self, survey: Survey, choice: Choice, charge: Charge, ledger: Ledger) -> tuple[str, ...]:
        """Refuse what the limits do not cover, and return what the person has to confirm; never by the answer."""
        reasons = (*_closed(survey), *choice.mismatches(survey), *_asked_before(survey, charge, ledger))
        reasons += (*self._exposing(survey), *ledger.refusals(charge, self.limits))
        if reasons:
            raise BudgetError(f"participant: {'; '.join(reasons)}")
        return ledger.notices(charge, self.limits)

    def _exposing(self, survey: Survey) -> tuple[str, ...]:
        least, left = self.limits.min_anonymity, survey.oracle.anonymity
        return (f"a report must leave at least {least} values possible, got {left}",) if left < least else ()


def _checked(asked: Any, version: str | None) -> Survey:
    """Build a survey anew from its fields, since its maker is not to be trusted; compare the version it claims."""
    asked = asked.canonical if isinstance(asked, Survey) else asked
    fields = dict(asked) if isinstance(asked, Mapping) else {}
    _bounded("the number of values", fields.get("domain_size"))  # some oracles take long to make on a large domain
    survey = Survey.from_dict(fields or asked)
    _bounded("the number of bits of a report", survey.oracle.report_format.bits)
    if version is not None and version != survey.version:
        claimed = f"{version!r:.80}"
        raise WireError(f"participant: the version of survey {survey.name} must be {survey.version}, got {claimed}")
    return survey


def _require_ticket(survey: Survey, ticket: str | None) -> None:
    """Refuse to draw without a ticket where the collector would refuse the report for that."""
    if survey.derives and not ticket:
        raise ParameterError(f"participant: survey {survey.name} needs a ticket; pass ticket=")


def _check_ticket(survey: Survey, reports: Reports, ticket: str | None) -> None:
    """Refuse to send an answer with another ticket than it was drawn with: the collector would."""
    if survey.derives and ticket and not ticket_words.fits(survey.oracle, reports.data[0], ticket, survey.version):
        raise ParameterError(
            f"participant: survey {survey.name} must be sent with the ticket that it was answered with"
        )


def _bounded(what: str, number: Any) -> None:
    if isinstance(number, int) and number > MAX_VALUES:
        raise fail("participant", what, f"at most {MAX_VALUES}", number)


def _charge(survey: Survey, origin: str) -> Charge:
    labels: dict[str, Json] = survey.domain if survey.labels is None else {"labels": sorted(survey.labels)}
    if survey.search is not None:
        labels = {"search": specified(survey.search.search)}  # in all rounds the same
    return Charge(
        origin,
        survey.topic or survey.name,
        survey.version,
        Spent.on(survey.oracle, lasting=survey.keeps),
        canonical_json.identifier(labels),
        _size(survey),
        day := _today(),
        survey.name,
        epochs.epoch_of(survey.repeat, day),
    )


def _size(survey: Survey) -> int:
    """Return how many answers there are; strings, and the answers to several questions, are more than any list has."""
    if len(survey.questions) == 1:
        return survey.questions[0].size
    return MAX_LISTED if survey.domain_size is None else survey.domain_size


def _today() -> str:
    return epochs.today()


def _period(survey: Survey) -> str:
    """Return the first day of the period in which there is one report of what is kept."""
    return epochs.first_day(survey.repeat, _today())


def _spent(ledger: Ledger, charge: Charge) -> Spent:
    return ledger.spent(origin=charge.origin, topic=charge.topic, today=charge.day)


def _asked_before(survey: Survey, charge: Charge, ledger: Ledger) -> tuple[str, ...]:
    """Return why a search is refused that was answered before: it asks everybody once, in one of its rounds."""
    if survey.search is None:
        return ()
    days = [earlier.day for earlier in ledger.related(charge) if earlier.labels == charge.labels]
    return (f"search {survey.name} was answered on {days[0]}: one round only",) if days else ()


def _closed(survey: Survey) -> tuple[str, ...]:
    """Return why a survey takes no answers now, so that nothing is spent on one that will not count."""
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    opens, closes = survey.collect["opens"], survey.collect["closes"]
    if opens and now < opens:
        return (f"survey {survey.name} must be open, and opens at {opens}",)
    if closes and now >= closes:
        return (f"survey {survey.name} must be open, and closed at {closes}",)
    return ()


def _confirmed(survey: Survey, notices: tuple[str, ...], confirm: Confirm | None) -> tuple[str, ...]:
    """Return the notices if the person confirms them."""
    rule = f"participant: survey {survey.name} must be confirmed ({'; '.join(notices)})"
    if confirm is None:
        raise BudgetError(f"{rule}: nobody was asked; pass confirm=")
    if not confirm(notices):
        raise BudgetError(f"{rule}: declined")
    return notices


def _drawn(survey: Survey, choice: Choice, ticket: str | None) -> tuple[StoredAnswer, bytes]:
    """Return a new answer, and the bytes to store of it."""
    value = choice.value(survey)
    if survey.keeps:
        return _renewed(survey, _kept(survey, value), value)
    answer = StoredAnswer.with_new_key(wire.encode(_privatized(survey, value, ticket, choice.word), survey.version))
    return answer, answer.with_checksum


def _kept(survey: Survey, value: int | str) -> bytes:
    """Draw what is kept for all reports: the permanent response of a value, or a basis, which depends on no value."""
    stages = _stages(survey)
    if stages.follows:
        return Responder(survey).keep()
    kept = stages.keep(np.array([value], survey.value_type))
    return wire.encode(Reports.trusted(survey.oracle, kept.data), survey.version)


def _stages(survey: Survey) -> Memoization:
    stages = survey.oracle.memoization
    assert stages is not None  # the rules refuse a survey that keeps without any
    return stages


def _privatized(survey: Survey, value: int | str, ticket: str | None, word: int | None) -> Reports:
    if survey.derives and ticket:
        return ticket_words.privatize(survey.oracle, value, ticket, survey.version)
    if word is not None:
        return drawn_view.privatize(of_questions("participant", survey.oracle), int(value), word)
    return survey.oracle.privatize(np.array([value], survey.value_type))


def _renewed(survey: Survey, permanent: bytes, value: int | str) -> tuple[StoredAnswer, bytes]:
    """Return this period's answer, drawn from what is kept, and the bytes to store of it."""
    answer = StoredAnswer.with_new_key(_reported(survey, permanent, value))
    return answer, StoredDailyAnswer(permanent, _period(survey), answer).with_checksum


def _reported(survey: Survey, permanent: bytes, value: int | str) -> bytes:
    """Return a new batch: of the value of this period, where reports follow it, else of the permanent response."""
    stages = _stages(survey)
    if stages.follows:
        responder = Responder(survey).following(permanent)
        return responder.encode(value if survey.labels is None else survey.labels[int(value)])
    response = wire.decode(permanent, survey.oracle, survey.version)
    return wire.encode(stages.respond(response), survey.version)


def _again(survey: Survey, choice: Choice, stored: bytes, ticket: str | None) -> tuple[StoredAnswer, bytes | None]:
    """Return the answer to send again, and in another period the bytes to store in place of the old ones."""
    try:
        if not survey.keeps:
            return _sound(survey, StoredAnswer.verified(stored), ticket), None
        daily = StoredDailyAnswer.verified(stored)
        if _period(survey) > daily.day and not _closed(survey):  # a clock that goes back repeats
            return _renewed(survey, daily.permanent, choice.value(survey))
        return _sound(survey, daily.last, ticket), None
    except WireError:
        raise FldpError(
            f"participant: the stored answer to survey {survey.name} is damaged; restore it from a copy"
        ) from None


def _sound(survey: Survey, answer: StoredAnswer, ticket: str | None) -> StoredAnswer:
    """Return a stored answer if it is one report of the survey; a damaged one is never drawn again."""
    reports = wire.decode(answer.report, survey.oracle, survey.version)
    if len(reports) != 1:
        raise WireError("stored answer: it must be one report")
    _check_ticket(survey, reports, ticket)
    return answer
