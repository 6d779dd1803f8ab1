"""Past answers: all that was sent from one row of a ledger, so that all of it can be taken back.

A row keeps the bytes of one stored answer. Where a new report takes the place of the last one, such as on another day,
the last one with its key joins the earlier ones behind it: without key and batch nobody could withdraw it. A mark
before all of it says that the answer was withdrawn: it costs what it did, and is neither sent nor drawn again.
"""

from fldp.errors import BudgetError, WireError
from fldp.participant.ledger import Charge
from fldp.participant.store import Book, find_answer
from fldp.participant.stored_answer import StoredAnswer, StoredDailyAnswer

MAX_EARLIER = 400  # batches of other days
_WITHDRAWN, _DAYS = b"fldp withdrawn\0", b"fldp days\0"
_SIZE = 4


def is_withdrawn(kept: bytes) -> bool:
    """Whether an answer was withdrawn.

    >>> kept = StoredAnswer.with_new_key(b"a batch").with_checksum
    >>> is_withdrawn(kept), is_withdrawn(as_withdrawn(kept)), newest(as_withdrawn(kept)) == kept
    (False, True, True)
    """
    return kept.startswith(_WITHDRAWN)


def as_withdrawn(kept: bytes) -> bytes:
    """Return the bytes to keep of an answer that was withdrawn."""
    return kept if is_withdrawn(kept) else _WITHDRAWN + kept


def newest(kept: bytes) -> bytes:
    """Return the bytes of the stored answer itself, without the mark and without earlier batches."""
    return _parts(kept)[0]


def with_new_day(kept: bytes, new: bytes) -> bytes:
    """Return the bytes to keep when a new answer takes the place of the newest.

    >>> first, second = (StoredAnswer.with_new_key(batch) for batch in (b"Monday's", b"Tuesday's"))
    >>> kept = with_new_day(first.with_checksum, second.with_checksum)
    >>> [answer.report for answer in all_sent(kept)]
    [b"Tuesday's", b"Monday's"]
    """
    last, *earlier = _parts(kept)
    batches = [_sent(last).with_checksum, *earlier][:MAX_EARLIER]
    return _DAYS + b"".join(len(part).to_bytes(_SIZE, "little") + part for part in (new, *batches))


def all_sent(kept: bytes) -> tuple[StoredAnswer, ...]:
    """Return every batch that was sent, with its key, the newest first."""
    return tuple(map(_sent, _parts(kept)))


def past_answers(book: Book, version: str, origin: str) -> list[tuple[Charge, bytes]]:
    """Return what is stored of all answers to a version, in all weeks or months."""
    charges = [charge for charge in book.ledger.charges if (charge.origin, charge.version) == (origin, version)]
    answers = [(charge, find_answer(book, charge)) for charge in charges]
    return [(charge, kept) for charge, kept in answers if kept is not None]


def require_not_withdrawn(book: Book, name: str, version: str, origin: str) -> None:
    """Refuse to answer a survey whose answer was withdrawn, in a later week or month too."""
    if any(is_withdrawn(kept) for _, kept in past_answers(book, version, origin)):
        raise BudgetError(
            f"participant: the answer to survey {name} was withdrawn, and cannot be given again:"
            " another draw would give away more, and cost again"
        )


def _parts(kept: bytes) -> list[bytes]:
    kept = kept.removeprefix(_WITHDRAWN)
    if not kept.startswith(_DAYS):
        return [kept]
    parts, start = list[bytes](), len(_DAYS)
    while start < len(kept):
        end = start + _SIZE + int.from_bytes(kept[start : start + _SIZE], "little")
        parts.append(kept[start + _SIZE : end])
        start = end
    if start != len(kept):
        raise WireError("stored answer: its parts are cut off")
    return parts


def _sent(stored: bytes) -> StoredAnswer:
    """Return the batch of a stored answer of either form; each has a checksum of its own."""
    try:
        return StoredAnswer.verified(stored)
    except WireError:
        return StoredDailyAnswer.verified(stored).last
