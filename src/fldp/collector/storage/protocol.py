"""The interface of a store, and the rows that it holds. ``sqlite`` and ``postgres`` implement it.

A store knows bytes and numbers. What they mean to an oracle is in ``segments``, ``windows`` and ``folding``.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Protocol

from fldp.data.reports import Reports, Tally
from fldp.errors import CollectorError, FldpError
from fldp.support import canonical_json
from fldp.support.progress import Progress
from fldp.survey.survey import Survey

REPORTS, TALLY = 1, 2  # kinds of segments: what is added, and
TAKEN_REPORTS, TAKEN_TALLY = 3, 4  # what is to be taken out again; their n is negative, so sums of n are exact


class StoreError(CollectorError):
    """The database did not do what it was asked; nothing of it was done."""


@dataclass(frozen=True)
class StoredSurvey:
    """The row of a published survey."""

    number: int
    version: str
    name: str
    specification: str
    created: str
    closed: str | None

    @classmethod
    def new(cls, survey: Survey, now: str) -> "StoredSurvey":
        """Return what is stored of a survey when it is published; the store gives it a number."""
        return cls(0, survey.version, survey.name, canonical_json.dumps(survey.canonical).decode(), now, None)

    def parse(self) -> Survey:
        """Return the survey that the specification describes."""
        try:
            return Survey.from_dict(json.loads(self.specification))
        except (FldpError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise StoreError(f"store: the specification of version {self.version} cannot be read") from None


@dataclass(frozen=True)
class Listing:
    """A published survey without its specification, which may be megabytes long."""

    number: int
    version: str
    name: str
    closed: bool


@dataclass(frozen=True)
class StoredToken:
    """What is known of a token; never the token."""

    id: str
    hash: bytes
    scope: str
    survey: str | None
    created: str
    expires: str | None = None
    revoked: str | None = None


@dataclass(frozen=True)
class StoredKey:
    """A private key of the gateway."""

    number: int
    private: bytes = field(repr=False)
    created: str


@dataclass(frozen=True)
class StoredIssuer:
    """A key that signs passes: ``private`` if it is this collector's, and the one version that it signs for."""

    key_id: bytes
    private: bytes | None = field(repr=False)
    created: str
    version: str | None = None


class PastVersion(NamedTuple):
    """What anybody may know of a version of a survey, also after its deletion."""

    version: str
    created: str
    closed: str | None
    deleted: bool


@dataclass(frozen=True)
class Segment:
    """Packed reports of one day, or the state of a merged tally; added, or with a negative ``n`` to be taken out."""

    kind: int
    n: int
    data: bytes
    id: int = 0
    day: str = ""

    @property
    def takes(self) -> bool:
        """Whether it takes out what was counted before."""
        return self.kind in (TAKEN_REPORTS, TAKEN_TALLY)


class KnownKey(NamedTuple):
    """What is stored of a key: the hash of its body, the answer, the hash of its day, and whether it was withdrawn.

    Rows of earlier releases have no hash of a day.
    """

    body: bytes
    accepted: int
    day: bytes | None = None
    withdrawn: int = 0


@dataclass(frozen=True)
class Submission:
    """What one request wants to be counted: reports, or a tally from another collector.

    ``closed`` says that the survey takes no reports now. A key that was acknowledged before is answered all the same.
    ``secret`` is the key itself, of which only hashes are stored: one of them finds the day again, with the key alone.
    With ``is_pass``, ``ticket`` is the hash of a pass: the store has never seen it, unless it is spent.
    ``tallied`` says that ``content`` is the tally of a batch of reports, to a survey that keeps none.
    """

    counts: ClassVar[bool] = True  # whether there is something to count

    survey: int
    key: bytes
    body: bytes
    content: Reports | Tally
    ticket: bytes | None = None
    day: str | None = None
    closed: bool = False
    secret: bytes = field(default=b"", repr=False)
    is_pass: bool = False
    tallied: bool = False

    @property
    def merged(self) -> Tally | None:
        """The tally of another collector, if it is one: a closed survey takes that, too."""
        return self.content if isinstance(self.content, Tally) and not self.tallied else None

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.content.n if isinstance(self.content, Tally) else len(self.content)

    @property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        return self.content.state.nbytes if isinstance(self.content, Tally) else self.content.nbytes


class SubmittedRow(Submission):
    """What a request with a single report wants to be counted: one row of reports that were checked together."""

    reports: Reports
    row: int

    def __init__(self, survey: int, key: bytes, body: bytes, secret: bytes, place: tuple[Reports, int]) -> None:
        fields = vars(self)  # the class is frozen
        fields["survey"], fields["key"], fields["body"], fields["secret"] = survey, key, body, secret
        fields["reports"], fields["row"] = place

    @property
    def content(self) -> Reports:
        """The report, by itself."""
        return self.reports[self.row]

    @property
    def n(self) -> int:
        """The number of reports."""
        return 1


@dataclass(frozen=True)
class Withdrawal(Submission):
    """What one request wants to be taken out: what its key and body had counted before.

    ``day`` is what the sender says, and matters for keys of earlier releases alone. With ``needs_ticket``, a key that
    nothing is known of is noted only for a ticket, which is spent.
    """

    needs_ticket: bool = False


@dataclass(frozen=True)
class PassOrder(Submission):
    """What spends a ticket on a pass: it counts nothing. The same key and body again are answered alike."""

    counts: ClassVar[bool] = False


def day_hash(secret: bytes, day: str) -> bytes:
    """Return what is stored of the day of a key; it reveals nothing without the key.

    >>> day_hash(b"key", "2026-11-01") == day_hash(b"key", "2026-11-02")
    False
    """
    return hashlib.sha256(b"day\0" + secret + b"\0" + day.encode()).digest()


def request_hashes(kind: bytes, key: bytes, body: bytes) -> tuple[bytes, bytes]:
    """Return the stored hashes of a key and of a body; the latter reveals nothing without the key."""
    mixed = hashlib.sha256(b"body\0%s\0%s\0" % (kind, key))
    mixed.update(body)
    return hashlib.sha256(b"key\0" + key).digest(), mixed.digest()


class Admitted(Enum):
    """What became of a submission."""

    ACCEPTED = "accepted"
    REPEATED = "repeated"
    CONFLICT = "conflict"
    CLOSED = "closed"
    SPENT = "spent"
    GONE = "gone"
    IMPOSSIBLE = "impossible"  # its oracle cannot produce it; no store says so
    HELD = "held"  # another collector holds a lock on it: nothing is known of it yet
    WITHDRAWN = "withdrawn"  # taken out, now or before
    UNDATED = "undated"  # to be taken out, and nobody knows of which day
    UNTICKETED = "unticketed"  # to be taken out before it came, without the ticket that this takes
    OUTDATED = "outdated"  # a collector of an earlier release may still write, and would misread a withdrawal


@dataclass(frozen=True)
class SubmissionResult:
    """A verdict, with the number of reports that were accepted or withdrawn, now or when that was first asked for."""

    verdict: Admitted
    accepted: int = 0


@dataclass(frozen=True)
class Fold:
    """One step of folding: rows that go, rows that come in their place, and what the tally of the day gains or loses.

    ``left`` are rows that stay to be folded. ``is_whole`` says that nothing else was there to be added.
    """

    survey: int
    day: str
    removed: tuple[int, ...]
    added: tuple[Segment, ...]
    gained: Tally
    lost: Tally | None = None
    left: tuple[Segment, ...] = ()
    is_whole: bool = False


Days = tuple[str, str]  # the first and the last, both included
Row = tuple[Any, ...]  # of a table; in a damaged file a column may be of any type


class Snapshot(Protocol):
    """All that is stored at one moment, however much is written meanwhile."""

    def entries(self) -> list[StoredSurvey]:
        """Return all surveys, the newest first."""

    def has(self, survey: int) -> bool:
        """Return whether there is a survey of this number."""

    def tallies(self, survey: int, days: Days) -> Iterator[tuple[str, int, bytes]]:
        """Yield the day, number and stored state of every folded day."""

    def segments(self, survey: int, days: Days, *, folded: bool) -> Iterator[Segment]:
        """Yield the segments that are folded already, or those that are not, day by day."""

    def count(self, survey: int, days: Days) -> int:
        """Return how many reports there are, merged ones included. Cheap."""

    def withdrawn(self, survey: int, days: Days) -> int:
        """Return how many reports were withdrawn, merged ones included. It only grows. Cheap."""

    def days(self, survey: int) -> list[tuple[str, int]]:
        """Return the days that have had reports, the first first, with how many there are, merged ones included. Cheap.

        All reports of a day may be withdrawn: then there are 0.
        """

    def count_reports(self, survey: int, days: Days) -> int:
        """Return how many reports are kept as they came. Cheap."""

    def acknowledged(self, survey: int) -> tuple[int, int]:
        """Return the sum of all answers given, without what was withdrawn, and the sum of that."""

    def amount(self, table: str) -> int:
        """Return how many rows of a table belong to somebody."""

    def rows(self, table: str) -> Iterator[Row]:
        """Yield these rows, as ``tables`` says."""

    def stored(self, table: str) -> Iterator[Row]:
        """Yield all rows of a table, in no order, not checked; those that belong to nobody any more too."""

    def totals(self, table: str) -> tuple[int, int] | None:
        """Return how many rows a table must have, and what their checksums must add up to, if the store knows."""

    def last_number(self) -> int:
        """Return the largest number that a survey ever had, 0 if there was none."""

    def lost_surveys(self) -> set[int]:
        """Return the numbers that rows belong to without a survey, or a deletion that is known."""

    def damage(self) -> list[str]:
        """Return what the database finds wrong with itself."""


class CollectorStore(Protocol):
    """A database of surveys, reports and tokens, safe to use from several threads."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open a view of this moment."""

    def publish(self, entry: StoredSurvey) -> tuple[StoredSurvey, bool]:
        """Add a survey unless its version is there; return it as stored, and whether it is new."""

    def find(self, version: str) -> StoredSurvey | None:
        """Return a survey by its version."""

    def find_number(self, number: int) -> StoredSurvey | None:
        """Return a survey by its number."""

    def named(self, name: str) -> list[StoredSurvey]:
        """Return all versions of a survey, the newest first."""

    def listing(self, version: str) -> Listing | None:
        """Return a survey by its version, without its specification. Cheap, however long that is."""

    def listings(self, name: str | None = None) -> list[Listing]:
        """Return all versions of a survey, or of all, the newest first, without their specifications. Cheap, too."""

    def counts(self) -> dict[int, int]:
        """Return the number of reports of every survey that has any."""

    def withdrawn_counts(self) -> dict[int, int]:
        """Return the number of withdrawn reports of every survey that has had any."""

    def succeed(self, number: int, successor: StoredSurvey) -> bool:
        """Close a survey and publish its successor, which gets the tickets that are not spent, in one transaction.

        False, and nothing is done, if it is closed or gone already: so a survey has one successor at most.
        """

    def versions(self, name: str) -> list[PastVersion]:
        """Return all versions that a survey ever had, the newest first; deleted ones too."""

    def close_surveys(self, numbers: Sequence[int], now: str) -> None:
        """Close surveys, except those that are closed."""

    def reopen_survey(self, number: int) -> None:
        """Open a survey again that its owner closed; nothing of it has changed meanwhile."""

    def delete_surveys(self, numbers: Sequence[int]) -> None:
        """Delete surveys, so that nothing is left of them when this returns but that there was such a version."""

    def deletions(self) -> list[StoredSurvey]:
        """Return the deletions that are not complete: number, version and name of what was deleted. Cheap."""

    def purge(self) -> None:
        """Delete what an interrupted deletion has left, and nothing else: what lost its survey otherwise is damage."""

    def commit(self, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
        """Count submissions. What is accepted is durable when this returns, all of it in one transaction if it can."""

    def probe(self) -> None:
        """Write something small, durably, that leaves nothing behind."""

    def pending(self) -> list[tuple[int, str, int]]:
        """Return the surveys and days that have reports to add or to take out, and how many."""

    def tail(self, survey: int, day: str, most_bytes: int) -> list[Segment]:
        """Return segments to add next: at least one if there is any."""

    def room(self, survey: int, day: str, most_bytes: int) -> list[Segment]:
        """Return folded segments that are small enough to take more, and the merged tally of the day."""

    def folding(self) -> AbstractContextManager[bool]:
        """Acquire the compaction lock; False if another collector holds it. Folding twice is only wasted work."""

    def fold(self, step: Fold) -> bool:
        """Do a step of folding in one transaction; False if its rows are not there any more."""

    def scrub(self) -> None:
        """Leave no trace beside the tables of what was folded or deleted, as far as the database can just now."""

    def add_tickets(self, survey: int, tickets: Sequence[bytes]) -> bool:
        """Add tickets, by their hashes; False, and none is added, if the survey was deleted."""

    def has_ticket(self, survey: int, ticket: bytes) -> bool:
        """Return whether this ticket was issued, spent or not."""

    def add_token(self, token: StoredToken) -> None:
        """Add a token."""

    def find_token(self, digest: bytes) -> StoredToken | None:
        """Return what is known of a token by its hash."""

    def tokens(self) -> list[StoredToken]:
        """Return all tokens, the oldest first."""

    def revoke_token(self, identifier: str, now: str) -> bool:
        """Revoke a token; False if there is none of this identifier."""

    def gateway_keys(self) -> list[StoredKey]:
        """Return the private keys of the gateway, the newest first; at most two."""

    def add_gateway_key(self, key: StoredKey) -> None:
        """Add a key unless another collector has added this number; of those before, the newest alone is kept."""

    def find_issuer(self, key_id: bytes) -> StoredIssuer | None:
        """Return what is stored of a key that signs passes."""

    def add_issuer(self, issuer: StoredIssuer) -> None:
        """Add a key that signs passes."""

    def bind_issuer(self, key_id: bytes, version: str, now: str) -> bool:
        """Have a key sign for this version for good; False if it signs for another one, also one that was deleted."""

    def load(self, snapshot: Snapshot, advance: Progress) -> None:
        """Take over all that another store holds, in one transaction, if this one holds nothing."""

    def objections(self) -> list[str]:
        """Return what is known from outside the database against it: commits that it has lost."""

    def accept(self) -> None:
        """Accept the present database, whatever the witness says against it."""

    def inspect(self) -> list[str]:
        """Return what is wrong with the database as a whole, before it is served; it takes less than ``fsck``."""

    def size(self) -> int:
        """Return the bytes that the database takes."""

    def close(self) -> None:
        """Let go of the database."""
