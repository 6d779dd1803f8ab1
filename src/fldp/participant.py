"""Participant: the person's side. Answers once, remembers the answer, repeats it, and keeps to the person's limits.

An answer is drawn at random, so a second one to the same question tells more than the first; of an FHR report, a dozen
tell everything. A participant therefore never draws twice for one version of a survey and one origin. It stores what
it sent before it sends it, and gives back those same bytes whenever it is asked again. Another version, name or epsilon
is another draw, allowed only while all draws together stay within limits that no server can change.

The true value is never stored: the file holds what the collector has seen, and nothing else about the person.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fldp import canonical, wire
from fldp.constraints import fail
from fldp.errors import BudgetError, DomainError, FldpError, WireError
from fldp.kept import Kept
from fldp.oracle import MOST_VALUES as MOST_LISTED
from fldp.origin import origin_of
from fldp.participant_file import FileStore
from fldp.participant_store import Store
from fldp.privacy.ledger import Charge, Ledger
from fldp.privacy.limits import Limits, Spent
from fldp.survey import Survey

MOST_VALUES = 1 << 20  # of a domain, and bits of a report: what a stranger's survey may make a device work on

Confirm = Callable[[tuple[str, ...]], bool]


@dataclass(frozen=True)
class Answer:
    """What a participant answered.

    ``report`` is one batch that names the survey's version (``docs/wire.md``), ready to be sent. ``key`` is the
    idempotency key to send it under, always the same one, so that it counts once however often it is sent. ``repeated``
    tells that it was drawn earlier and cost nothing now. ``notices`` are what the person confirmed. ``spent`` is what
    all answers on this topic give away to this origin, together.

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

    ``store`` is the name of a file, made if there is none, or a store of the caller's (``fldp.participant_store``).
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
        survey: Survey | Mapping[str, Any],
        label: str,
        *,
        origin: str,
        version: str | None = None,
        confirm: Confirm | None = None,
    ) -> Answer:
        """Answer a survey with a label, or repeat what was answered before, whatever the label is now.

        ``survey`` may be what a server's JSON says, and ``version`` what it claims to be: a mismatch is refused. What
        the person must know first (few labels, or others than the last time) is given to ``confirm``; if that does
        not return true, or there is nobody to ask, the survey is refused. A refusal is a ``BudgetError`` that says why.
        Whatever goes wrong, nothing is spent.
        """
        asked = _checked(survey, version)
        _known(asked, label)
        charge = _charge(asked, origin_of(origin))
        agreed: tuple[str, ...] = ()
        while True:
            with self._store.exclusive() as book:
                ledger, kept = book.ledger, book.find(charge.origin, charge.version)
                spent = ledger.spent(origin=charge.origin, topic=charge.topic)
                if kept is not None or ledger.knows(charge):
                    found = _repeated(asked, kept)
                    return Answer(found.report, found.key, repeated=True, notices=(), spent=spent)
                notices = self._examined(asked, charge, ledger)
                if set(notices) <= set(agreed):
                    drawn = _drawn(asked, label)
                    book.add(charge, drawn.sealed)
                    return Answer(drawn.report, drawn.key, repeated=False, notices=notices, spent=spent + charge.cost)
            agreed = _confirmed(asked, notices, confirm)  # outside of the block: a person takes time

    def spent(self, *, origin: str | None = None, topic: str | None = None) -> Spent:
        """Return what the answers so far give away together: to an origin, on a topic, both, or all."""
        with self._store.exclusive() as book:
            return book.ledger.spent(origin=None if origin is None else origin_of(origin), topic=topic)

    def history(self) -> tuple[Charge, ...]:
        """Return all answers in their order: to whom, on what, when, at which cost."""
        with self._store.exclusive() as book:
            return book.ledger.charges

    def _examined(self, survey: Survey, charge: Charge, ledger: Ledger) -> tuple[str, ...]:
        """Refuse what the limits do not cover, and return what the person has to confirm."""
        reasons = (*_closed(survey), *self._exposing(survey), *ledger.refusals(charge, self.limits))
        if reasons:
            raise BudgetError(f"participant: {'; '.join(reasons)}")
        return ledger.notices(charge, self.limits)

    def _exposing(self, survey: Survey) -> tuple[str, ...]:
        least, left = self.limits.min_anonymity, survey.oracle.anonymity
        return (f"a report must leave at least {least} values possible, got {left}",) if left < least else ()


def _checked(given: Any, version: str | None) -> Survey:
    """Make a survey anew from what it says, since its maker is not to be trusted; compare the version it claims."""
    given = given.canonical if isinstance(given, Survey) else given
    fields = dict(given) if isinstance(given, Mapping) else {}
    _bounded("the number of values", fields.get("domain_size"))  # some oracles take long to make on a large domain
    survey = Survey.from_dict(fields or given)
    _bounded("the number of bits of a report", survey.oracle.report_bits)
    if version is not None and version != survey.version:
        claimed = f"{version!r:.80}"
        raise WireError(f"participant: the version of survey {survey.name} must be {survey.version}, got {claimed}")
    return survey


def _known(survey: Survey, label: str) -> None:
    """Refuse a label that the survey does not have, without showing it: it may be what the person holds."""
    if not isinstance(label, str) or survey.value(label) is None:
        raise DomainError(f"participant: the label must be one of survey {survey.name}, got another one (not shown)")


def _bounded(what: str, number: Any) -> None:
    if isinstance(number, int) and number > MOST_VALUES:
        raise fail("participant", what, f"at most {MOST_VALUES}", number)


def _charge(survey: Survey, origin: str) -> Charge:
    labels = survey.domain if survey.labels is None else {"labels": sorted(survey.labels)}
    return Charge(
        origin,
        survey.topic or survey.name,
        survey.version,
        Spent.on(survey.oracle),
        canonical.identifier(labels),
        MOST_LISTED if survey.domain_size is None else survey.domain_size,  # strings: more than any list
        f"{datetime.now(UTC):%Y-%m-%d}",
    )


def _closed(survey: Survey) -> tuple[str, ...]:
    """Say that a survey takes no answers now, so that nothing is spent on one that will not count."""
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    opens, closes = survey.collect["opens"], survey.collect["closes"]
    if opens and now < opens:
        return (f"survey {survey.name} must be open, got one that opens at {opens}",)
    if closes and now >= closes:
        return (f"survey {survey.name} must be open, got one that closed at {closes}",)
    return ()


def _confirmed(survey: Survey, notices: tuple[str, ...], confirm: Confirm | None) -> tuple[str, ...]:
    said = f"participant: survey {survey.name} must be confirmed ({'; '.join(notices)})"
    if confirm is None:
        raise BudgetError(f"{said}, got nobody to ask; pass confirm=")
    if not confirm(notices):
        raise BudgetError(f"{said}, got a no")
    return notices


def _drawn(survey: Survey, label: str) -> Kept:
    """Return what is kept of a new answer: the batch that is sent, and a key to send it under.

    An oracle whose answers may differ from visit to visit keeps the state that must not, and ``_repeated`` draws the
    rest from it; there is none such yet.
    """
    return Kept.drawn(wire.encode(survey.privatize([label]), survey.version))


def _repeated(survey: Survey, sealed: bytes | None) -> Kept:
    """Return what is sent again; what is kept has its own checks, and is never replaced, even where it is lost."""
    try:
        kept = Kept.opened(sealed or b"")
        if len(wire.decode(kept.report, survey.oracle, survey.version)) == 1:
            return kept
    except WireError:
        pass
    raise FldpError(f"participant: the stored answer to survey {survey.name} is damaged; restore it from a copy")
