"""Admission: decides on the submissions of one commit. Every store uses it, so that all decide alike."""

from collections.abc import Callable
from dataclasses import dataclass, field

from fldp.collector.storage.protocol import Admitted, Segment, Submission, SubmissionResult
from fldp.collector.storage.segments import packed, state_with_checksum, tally_segment, verified_state
from fldp.data.reports import Reports, Tally


@dataclass
class Admission:
    """Decides on submissions one after the other, and gathers what is to be written when all are decided.

    A store says what it knows: the body and answer of a key, whether a survey is closed (None: there is none), and
    whether a ticket is unspent. All of that must hold until the commit.
    """

    known: Callable[[int, bytes], tuple[bytes, int] | None]
    closed: Callable[[int], bool | None]
    unspent: Callable[[int, bytes], bool]
    _keys: dict[tuple[int, bytes], tuple[bytes, int]] = field(default_factory=dict)
    _tickets: set[tuple[int, bytes]] = field(default_factory=set)
    _accepted: list[Submission] = field(default_factory=list)

    def admit(self, new: Submission) -> SubmissionResult:
        """Decide on one. Its key comes first: what was acknowledged once stays acknowledged."""
        known = self._keys.get((new.survey, new.key)) or self.known(new.survey, new.key)
        if known is not None:
            return (
                SubmissionResult(Admitted.REPEATED, known[1])
                if known[0] == new.body
                else SubmissionResult(Admitted.CONFLICT)
            )
        closed = self.closed(new.survey)
        if closed is None:
            return SubmissionResult(Admitted.GONE)
        if new.closed or (closed and isinstance(new.content, Reports)):
            return SubmissionResult(Admitted.CLOSED)
        if new.ticket is not None and new.n and not self._spend(new.survey, new.ticket):  # nothing costs no ticket
            return SubmissionResult(Admitted.SPENT)
        self._keys[new.survey, new.key] = (new.body, new.n)
        self._accepted.append(new)
        return SubmissionResult(Admitted.ACCEPTED, new.n)

    def _spend(self, survey: int, ticket: bytes) -> bool:
        if (survey, ticket) in self._tickets or not self.unspent(survey, ticket):
            return False
        self._tickets.add((survey, ticket))
        return True

    @property
    def keys(self) -> list[tuple[int, bytes, bytes, int]]:
        """The new keys: survey, key, body, answer. They are sorted, so no order of arrival is left."""
        return [(*place, *answer) for place, answer in sorted(self._keys.items())]

    @property
    def tickets(self) -> list[tuple[int, bytes]]:
        """The tickets that are spent now."""
        return sorted(self._tickets)

    def segments(self, day: str) -> list[tuple[int, str, Segment]]:
        """Return the new segments, all reports of a survey together and sorted, so no order of arrival is left."""
        segments: list[tuple[int, str, Segment]] = []
        together: dict[int, list[Reports]] = {}
        for new in self._accepted:
            if isinstance(new.content, Tally):
                segments.append((new.survey, new.day or day, tally_segment(new.content)))
            else:
                together.setdefault(new.survey, []).append(new.content)
        for survey in sorted(together):
            segments += [(survey, day, part) for part in packed(together[survey])]
        return segments


def stored_sum(before: tuple[int, bytes] | None, more: Tally) -> tuple[int, bytes]:
    """Return the number and stored state of a stored tally plus another one.

    >>> import fldp
    >>> tally = Tally(fldp.RR(epsilon=1.0), [1, 0], 1)
    >>> stored_sum(stored_sum(None, tally), tally)[0]
    2
    """
    n, state = more.n, more.state.astype("<i8").ravel()
    if before is not None:
        n, state = before[0] + n, verified_state(*before) + state
    return n, state_with_checksum(n, state)
