"""Periodic answers without NumPy: one batch for each week or month, stored and charged in one transaction.

A telemetry client knows its surveys when it is built, and draws by ``fldp.Responder``. What it needs of a participant
is the ledger: whether the person's limits cover one more answer, and the same answer again whenever it is asked for.
This module is that, on the same file, with the same rows and by the same rules as ``fldp.Participant``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from fldp.errors import BudgetError, FldpError, WireError
from fldp.participant import epochs
from fldp.participant.ledger import Charge
from fldp.participant.limits import Limits, Spent
from fldp.participant.past_answers import newest, require_not_withdrawn, with_new_day
from fldp.participant.store import Book, Store, count_refusal, find_answer
from fldp.participant.stored_answer import StoredAnswer, StoredDailyAnswer
from fldp.support import canonical_json
from fldp.support.identifiers import VERSION
from fldp.support.validation import one_of
from fldp.support.web_origin import origin_of

T = TypeVar("T")
Draw = Callable[[bytes], bytes]
Keep = Callable[[], bytes]


@dataclass(frozen=True)
class PeriodicSurvey:
    """What a ledger has to know of a survey that is repeated weekly or monthly.

    ``cost`` is the cost of one draw, or of all reports together where they are made of what is kept.
    """

    origin: str
    name: str
    topic: str
    version: str
    labels: tuple[str, ...]
    cost: Spent
    repeat: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", origin_of(self.origin))
        VERSION("PeriodicSurvey", "version", self.version)
        one_of(*epochs.MAX_EPOCHS)("PeriodicSurvey", "repeat", self.repeat)

    def charge(self, day: str, limits: Limits) -> Charge:
        """Return what an answer on a day costs, and which limits it is charged to."""
        epoch, renews = epochs.epoch_of(self.repeat, day), limits.month is not None
        labels = canonical_json.identifier({"labels": sorted(self.labels)})
        size = len(self.labels)
        return Charge(self.origin, self.topic, self.version, self.cost, labels, size, day, self.name, epoch, renews)


def answer_period(
    store: Store,
    survey: PeriodicSurvey,
    limits: Limits,
    draw: Draw,
    *,
    keep: Keep | None = None,
    today: str | None = None,
) -> StoredAnswer:
    """Return the answer of this period: drawn and stored now, or the one that is stored already.

    ``draw`` returns the bytes of a batch. It is called once at most, while nobody else can change the ledger, and only
    if the limits cover the answer. An oracle of which something is kept has ``keep``, which is called once, ever; what
    it returned is given to ``draw`` in each period, and nothing is charged but the first. By a clock that was put back,
    a fresh draw belongs to its own epoch; of what is kept, the last report is repeated.

    An answer that the limits do not cover, or that a person would have to confirm, is a ``BudgetError``.
    """
    day = epochs.today() if today is None else epochs.checked_day("answer_period", "today", today)
    try:
        with store.exclusive() as book:
            require_not_withdrawn(book, survey.name, survey.version, survey.origin)
            charge, ledger = survey.charge(day, limits), book.ledger
            known = ledger.same(charge, kept=keep is not None)
            if known is not None:
                return _again(book, known, survey, draw if keep else None, day)
            reasons = (*ledger.refusals(charge, limits), *ledger.notices(charge, limits))
            if reasons:
                raise BudgetError(f"participant: {'; '.join(reasons)}")
            return _added(book, charge, survey, draw, keep)
    except BudgetError:
        count_refusal(store, survey.origin, day)
        raise


def _added(book: Book, charge: Charge, survey: PeriodicSurvey, draw: Draw, keep: Keep | None) -> StoredAnswer:
    """Draw the first answer of an epoch, or of all of them where something is kept."""
    if keep is None:
        answer = StoredAnswer.with_new_key(draw(b""))
        book.add(charge, answer.with_checksum)
        return answer
    renewed = _renewed(survey, keep(), draw, charge.day)
    book.add(charge, renewed.with_checksum)
    return renewed.last


def _again(book: Book, charge: Charge, survey: PeriodicSurvey, draw: Draw | None, day: str) -> StoredAnswer:
    """Return the stored answer; of what is kept, in a later period a new report."""
    if draw is None:
        return _read(StoredAnswer.verified, book, charge)
    before = _read(StoredDailyAnswer.verified, book, charge)
    if epochs.first_day(survey.repeat, day) <= before.day:
        return before.last
    renewed = _renewed(survey, before.permanent, draw, day)
    book.replace(charge, with_new_day(find_answer(book, charge) or b"", renewed.with_checksum))
    return renewed.last


def _renewed(survey: PeriodicSurvey, kept: bytes, draw: Draw, day: str) -> StoredDailyAnswer:
    return StoredDailyAnswer(kept, epochs.first_day(survey.repeat, day), StoredAnswer.with_new_key(draw(kept)))


def _read(verified: Callable[[bytes], T], book: Book, charge: Charge) -> T:
    """Read what is stored of an answer; one that is damaged is never drawn again."""
    try:
        return verified(newest(find_answer(book, charge) or b""))
    except WireError:
        raise FldpError(
            f"participant: the stored answer to survey {charge.name} is damaged; restore it from a copy"
        ) from None
