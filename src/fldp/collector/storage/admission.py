"""Admission: decides on the submissions of one commit. Every store uses it, so that all decide alike."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from fldp.collector.storage.checksums import HASH_BYTES, key_with_checksum
from fldp.collector.storage.protocol import (
    REPORTS,
    TAKEN_REPORTS,
    TAKEN_TALLY,
    TALLY,
    Admitted,
    KnownKey,
    Row,
    Segment,
    Submission,
    SubmissionResult,
    SubmittedRow,
    Withdrawal,
    day_hash,
)
from fldp.collector.storage.segments import (
    batches,
    in_order,
    packed,
    split,
    state_tally,
    state_with_checksum,
    taken_reports,
    tally_segment,
    verified_state,
)
from fldp.data.reports import Reports, Tally

Place = tuple[int, bytes]  # a survey, and the hash of a key
Placed = tuple[int, str, Segment]  # a survey, a day, and what is stored of it
_ONE_ACCEPTED = SubmissionResult(Admitted.ACCEPTED, 1)
_MAX_PLAIN = 1 << 31  # reports: SQLite gets their number and a checksum of 32 bits as one number
_MAX_SORTED = 1024  # reports: to sort more of them, only to learn that they had come before, would be a waste


@dataclass
class Admission:
    """Decides on submissions one after the other, and gathers what is to be written when all are decided.

    A store says what it knows: what is stored of a key, whether a survey is closed (None: there is none), whether a
    ticket is spent (None: it is not stored, as no pass is before it is spent), which days of a survey have reports, and
    the segments of a day. All of that must hold until the commit. ``day`` is the day of the commit.
    """

    day: str
    known: Callable[[int, bytes], KnownKey | None]
    closed: Callable[[int], bool | None]
    spent: Callable[[int, bytes], bool | None]
    days: Callable[[int], Iterable[str]]
    held: Callable[[int, str], Iterable[Segment]]
    _keys: dict[Place, KnownKey] = field(default_factory=dict)
    _stored: set[Place] = field(default_factory=set)  # the places that are not new
    _tickets: set[Place] = field(default_factory=set)
    _passes: set[Place] = field(default_factory=set)
    _accepted: list[Submission] = field(default_factory=list)
    _taken: list[tuple[str, Withdrawal]] = field(default_factory=list)  # with their days

    def admit(self, new: Submission) -> SubmissionResult:
        """Decide on one. Its key comes first: what was acknowledged once stays acknowledged."""
        place = new.survey, new.key
        known = self._keys.get(place) or self.known(*place)
        if isinstance(new, Withdrawal):
            return self._take_back(new, known)
        if known is not None:
            return _again(new, known)
        closed = self.closed(new.survey)
        if closed is None:
            return SubmissionResult(Admitted.GONE)
        if new.closed or (closed and new.merged is None):
            return SubmissionResult(Admitted.CLOSED)
        if new.ticket is not None and (new.n or not new.counts) and not self._spend(new, new.ticket):
            return SubmissionResult(Admitted.SPENT)
        n = new.n
        self._keys[place] = KnownKey(new.body, n, day_hash(new.secret, new.day or self.day) if new.secret else None)
        if new.counts:
            self._accepted.append(new)
        return _accepted(n)

    def _spend(self, new: Submission, ticket: bytes) -> bool:
        """Spend the ticket or pass of a submission; False if it is spent, or was never issued. Nothing costs none."""
        place, now = (new.survey, ticket), self._passes if new.is_pass else self._tickets
        if place in now or self.spent(*place) is not (None if new.is_pass else False):
            return False
        now.add(place)
        return True

    # ------------------------------------------------------------------------------------------- withdrawals

    def _take_back(self, new: Withdrawal, known: KnownKey | None) -> SubmissionResult:
        """Decide on a withdrawal: it takes out what its key and body had counted, once."""
        if self.closed(new.survey) is None:
            return SubmissionResult(Admitted.GONE)
        if known is None:
            return self._forestall(new)
        if known.body != new.body:
            return SubmissionResult(Admitted.CONFLICT)
        if not known.withdrawn:
            day = self._day_of(new, known) if new.n else self.day
            if day is None:
                return SubmissionResult(Admitted.UNDATED)
            self._mark(new, known, day)
        return SubmissionResult(Admitted.WITHDRAWN, known.accepted)

    def _mark(self, new: Withdrawal, known: KnownKey, day: str) -> None:
        place = new.survey, new.key
        if place not in self._keys:
            self._stored.add(place)
        self._keys[place] = known._replace(withdrawn=1)
        self._taken.append((day, new))

    def _forestall(self, new: Withdrawal) -> SubmissionResult:
        """Note a key that nothing is known of: what comes under it later is not counted."""
        if new.needs_ticket and new.ticket is None:
            return SubmissionResult(Admitted.UNTICKETED)
        if new.needs_ticket and new.ticket is not None and not self._spend(new, new.ticket):
            return SubmissionResult(Admitted.SPENT)
        self._keys[new.survey, new.key] = KnownKey(new.body, 0, None, 1)
        return SubmissionResult(Admitted.WITHDRAWN)

    def _day_of(self, new: Withdrawal, known: KnownKey) -> str | None:
        """Return the day that a key was counted on: the one whose hash is stored with it."""
        if known.day is None:
            return new.day if new.day is not None and self._is_held(new, new.day) else None
        days = (self.day, *self.days(new.survey))
        return next((day for day in days if day_hash(new.secret, day) == known.day), None)

    def _is_held(self, new: Withdrawal, day: str) -> bool:
        """Whether all reports of a withdrawal are stored under a day, and not withdrawn by others yet."""
        if not isinstance(new.content, Reports):
            return False
        oracle, segments = new.content.oracle, list(self.held(new.survey, day))
        same = [taken.content for other, taken in self._taken if (taken.survey, other) == (new.survey, day)]
        before = [content for content in same if isinstance(content, Reports)]
        missing = in_order(Reports.concatenate([taken_reports(oracle, segments), *before, new.content]))
        for batch in batches(oracle, segments):
            _, missing = split(in_order(batch), missing)
        return not len(missing)

    # ---------------------------------------------------------------------------------------- what is written

    @property
    def keys(self) -> list[tuple[int, bytes, bytes, int, bytes | None, int]]:
        """The new keys: survey, key, and what is known of it. They are sorted, so no order of arrival is left."""
        keys = self._keys
        return [(*place, *keys[place]) for place in sorted(keys.keys() - self._stored if self._stored else keys)]

    @property
    def marks(self) -> list[tuple[int, bytes, bytes, int, bytes | None, int]]:
        """The keys that were stored before and are withdrawn now."""
        return [(*place, *self._keys[place]) for place in sorted(self._stored)]

    @property
    def tickets(self) -> list[Place]:
        """The tickets that are spent now."""
        return sorted(self._tickets)

    @property
    def passes(self) -> list[Place]:
        """The passes that are spent now; nothing is stored of them yet."""
        return sorted(self._passes)

    def segments(self) -> list[Placed]:
        """Return the new segments, all reports of a survey together and sorted, so no order of arrival is left."""
        merged: list[Placed] = []
        together = Together()
        for new in self._accepted:
            if not isinstance(new, SubmittedRow) and new.merged:
                merged.append((new.survey, new.day or self.day, tally_segment(new.merged)))
            else:
                together.add(new)
        return [*merged, *together.segments(self.day), *self._takings()]

    def _takings(self) -> list[Placed]:
        merged: list[Placed] = []
        by_day: dict[str, Together] = {}
        for day, taken in self._taken:
            if taken.merged:
                merged.append((taken.survey, day, tally_segment(taken.merged, TAKEN_TALLY)))
            else:
                by_day.setdefault(day, Together(takes=True)).add(taken)
        sorted_segments = (placed for day, together in by_day.items() for placed in together.segments(day))
        return merged + sorted(sorted_segments, key=lambda placed: placed[:2])


@dataclass
class Together:
    """Reports that one commit stores of one day, of each survey together; or, with ``takes``, that it takes out."""

    rows: list[SubmittedRow] = field(default_factory=list)
    takes: bool = False
    _batches: dict[int, list[Reports]] = field(default_factory=dict)
    _tallies: dict[int, list[Tally]] = field(default_factory=dict)

    def add(self, new: Submission) -> None:
        """Add a single report, a batch of them, or its tally."""
        if isinstance(new, SubmittedRow):
            self.rows.append(new)
        elif isinstance(new.content, Tally):
            self._tallies.setdefault(new.survey, []).append(new.content)
        else:
            self._batches.setdefault(new.survey, []).append(new.content)

    def segments(self, day: str) -> list[Placed]:
        """Return their segments: reports sorted, or one tally where a batch of the survey is tallied already."""
        self._join_rows()
        surveys = sorted(self._batches.keys() | self._tallies.keys())
        return [(survey, day, part) for survey in surveys for part in self._of(survey)]

    def _join_rows(self) -> None:
        places: dict[tuple[int, int], list[SubmittedRow]] = {}
        for new in self.rows:
            places.setdefault((new.survey, id(new.reports)), []).append(new)
        for (survey, _), some in places.items():
            self._batches.setdefault(survey, []).append(_joined(some))

    def _of(self, survey: int) -> list[Segment]:
        batches, tallies = self._batches.get(survey, []), self._tallies.get(survey)
        if tallies is None:
            return packed(batches, TAKEN_REPORTS if self.takes else REPORTS)
        oracle = tallies[0].oracle
        whole = sum(map(oracle.tally, batches), sum(tallies, Tally.empty(oracle)))
        return [tally_segment(whole, TAKEN_TALLY if self.takes else TALLY)]


def _joined(rows: Sequence[SubmittedRow]) -> Reports:
    """Return rows of the same reports as reports of their own."""
    reports = rows[0].reports
    if len(rows) == len(reports):  # nearly always: then it is all of them
        return reports
    return Reports.trusted(reports.oracle, reports.data[[new.row for new in rows]])


class NotAllNew(Exception):  # noqa: N818 - not a mistake
    """A key is stored already, or a survey takes no reports."""


@dataclass(frozen=True)
class NewRows:
    """What is written of submissions whose keys are all new: nearly every commit has nothing else.

    A store writes it without having looked for the keys. If one of them is stored already, or comes twice, or a survey
    is closed or gone, the store undoes everything, and an ``Admission`` decides.
    """

    keys: list[Row]  # with their checksums, sorted, so no order of arrival is left
    segments: list[Placed]
    surveys: list[int]
    outcomes: list[SubmissionResult]  # of each submission, in their order

    @classmethod
    def of(cls, submissions: Sequence[Submission], day: str) -> "NewRows | None":
        """Return what is written of these submissions; None if there is anything to decide but whether they are new."""
        rows = [new for new in submissions if isinstance(new, SubmittedRow) and new.secret]
        others = [] if len(rows) == len(submissions) else [new for new in submissions if _is_plain(new)]
        if not submissions or len(rows) + len(others) != len(submissions):
            return None
        keys = [
            key_with_checksum((new.survey, new.key, new.body, new.n, day_hash(new.secret, day), 0))
            for new in submissions
        ]
        together = Together(rows)
        for new in others:
            together.add(new)
        surveys, segments = sorted({new.survey for new in submissions}), together.segments(day)
        outcomes = [_accepted(new.n) for new in submissions] if others else [_ONE_ACCEPTED] * len(rows)
        return cls(sorted(keys), segments, surveys, outcomes) if segments else None

    @property
    def hashes(self) -> bytes:
        """The hashes of all keys as one value: of each the key, its body and its day."""
        return b"".join([part for row in self.keys for part in (row[1], row[2], row[4])])


def _is_plain(new: Submission) -> bool:
    """Whether a submission counts some reports, or the tally of a batch, today, and spends nothing for it."""
    if type(new) is not Submission or not new.secret or new.closed or new.ticket is not None or new.day is not None:
        return False
    hashed = len(new.key) == len(new.body) == HASH_BYTES
    return hashed and (new.n <= _MAX_SORTED or new.tallied) and new.merged is None and new.n < _MAX_PLAIN


def _accepted(n: int) -> SubmissionResult:
    return _ONE_ACCEPTED if n == 1 else SubmissionResult(Admitted.ACCEPTED, n)


def _again(new: Submission, known: KnownKey) -> SubmissionResult:
    """Decide on a key that was seen before."""
    if known.body != new.body:
        return SubmissionResult(Admitted.CONFLICT)
    if known.withdrawn:
        return SubmissionResult(Admitted.WITHDRAWN)
    return SubmissionResult(Admitted.REPEATED, known.accepted)


StoredSum = tuple[int, bytes, int]  # the number and the stored state of a day's tally, and how many were withdrawn


def stored_sum(before: StoredSum | None, more: Tally, lost: Tally | None = None) -> StoredSum:
    """Return a stored tally plus another one, without what it loses.

    >>> import fldp
    >>> tally = Tally(fldp.RR(epsilon=1.0), [1, 0], 1)
    >>> stored_sum(stored_sum(None, tally), tally)[0]
    2
    """
    n, state, withdrawn = more.n, more.state.astype("<i8").ravel(), 0
    if before is not None:
        n, state, withdrawn = before[0] + n, verified_state(*before[:2]) + state, before[2]
    if lost is not None:
        n, state, withdrawn = n - lost.n, state - lost.state.ravel(), withdrawn + lost.n
        state_tally(more.oracle, state, n)  # which raises where this cannot be
    return n, state_with_checksum(n, state), withdrawn
