"""Commits beside other collectors: what one of them holds a lock on fails alone, and soon.

A collector that freezes within a commit holds its keys, its tickets and the locks of its surveys until the server ends
its session. Whoever sends one of these keys to another collector has to try again; nobody else should notice.
"""

import time
from collections.abc import Callable, Sequence

from fldp.collector.storage.postgres.schema import REQUEST
from fldp.collector.storage.postgres.writes import LockedError
from fldp.collector.storage.protocol import Admitted, Submission, SubmissionResult

MAX_FAILURES = 64  # of committing in parts: a second, where the machine has time
PATIENT, WARY, HURRIED = REQUEST.lock, 100, 10  # milliseconds for a lock: at first, while some are held, and in parts
_SUSPECTED_SECONDS = 5.0  # that a lock is expected to be held for: the server takes it from one who is frozen in ten

Attempt = Callable[
    [Sequence[Submission], str, int], list[SubmissionResult]
]  # submissions, the day, and how patient to be


class Commits:
    """Commits submissions together, or in parts where a lock is in the way. For one thread at a time.

    What was held a moment ago is tried after all others, together, and hardly waited for: so it costs next to nothing.
    """

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._failures = 0
        self._held: dict[tuple[int, bytes], float] = {}  # keys, and until when they are suspected

    def commit(self, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
        """Return what became of each; ``HELD`` for those that another collector is in the way of."""
        now = time.monotonic()
        self._held = {place: until for place, until in self._held.items() if until > now}
        if not self._held:
            return self._others(submissions, day)
        order = sorted(range(len(submissions)), key=lambda index: _place(submissions[index]) in self._held)
        ordered = [submissions[index] for index in order]
        first = sum(_place(new) not in self._held for new in submissions)
        outcomes = [*self._others(ordered[:first], day), *self._suspects(ordered[first:], day)]
        return [outcome for _, outcome in sorted(zip(order, outcomes, strict=True), key=lambda pair: pair[0])]

    def _suspects(self, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
        try:
            outcomes = self._attempt(submissions, day, HURRIED) if submissions else []
        except LockedError:
            return _held(submissions)
        for new in submissions:
            self._held.pop(_place(new), None)
        return outcomes

    def _others(self, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
        try:
            return self._attempt(submissions, day, WARY if self._held else PATIENT) if submissions else []
        except LockedError:
            self._failures = 0
            return self._halves(submissions, day)

    def _halves(self, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
        """Halve what had to wait for a lock, until those are alone that it is about, or it was enough."""
        if len(submissions) == 1:
            self._held[_place(submissions[0])] = time.monotonic() + _SUSPECTED_SECONDS
        if len(submissions) == 1 or self._failures > MAX_FAILURES:
            return _held(submissions)
        half = len(submissions) // 2
        return [*self._part(submissions[:half], day), *self._part(submissions[half:], day)]

    def _part(self, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
        try:
            return self._attempt(submissions, day, HURRIED)
        except LockedError:
            self._failures += 1
            return self._halves(submissions, day)


def _place(new: Submission) -> tuple[int, bytes]:
    return new.survey, new.key


def _held(submissions: Sequence[Submission]) -> list[SubmissionResult]:
    return [SubmissionResult(Admitted.HELD)] * len(submissions)
