"""Counting: a submission is committed once, with others that wait, and answered."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from fldp.collector.config.clock import Clock, day, text
from fldp.collector.service.group_commit import BusyError, GroupCommitter
from fldp.collector.service.load_limits import Budget
from fldp.collector.service.metrics import Metrics
from fldp.collector.service.problems import Problem, busy
from fldp.collector.service.survey_cache import SurveyCache
from fldp.collector.storage.protocol import (
    Admitted,
    CollectorStore,
    PassOrder,
    Submission,
    SubmissionResult,
    SubmittedRow,
    Withdrawal,
    request_hashes,
)
from fldp.wire.single_reports import SingleReports

_REFUSED: dict[Admitted, tuple[int, str | None, str]] = {
    Admitted.CONFLICT: (409, "conflict", "this Idempotency-Key was used with another body"),
    Admitted.CLOSED: (403, "closed", "the survey takes no reports now"),
    Admitted.SPENT: (403, "ticket-spent", "this ticket or pass was spent on something else"),
    Admitted.GONE: (404, None, "there is no such version"),
    Admitted.WITHDRAWN: (410, "withdrawn", "what this Idempotency-Key sent was withdrawn, and is not counted again"),
    Admitted.UNDATED: (
        409,
        "undated",
        "this was counted by an earlier release, which kept no day of it: say ?day=, the UTC day on which it was sent;"
        " where the survey keeps no reports, or none like these are kept of that day, it cannot be taken out",
    ),
    Admitted.UNTICKETED: (401, "ticket", "nothing was sent with this Idempotency-Key yet, so a ticket is needed"),
    Admitted.OUTDATED: (503, "unavailable", "a collector of an earlier release is still connected to the database"),
}

_HEADERS = {401: {"WWW-Authenticate": "Fldp-Ticket"}, 503: {"Retry-After": "60"}}
_IMPOSSIBLE = SubmissionResult(Admitted.IMPOSSIBLE)


def _refusal(verdict: Admitted) -> Problem:
    status, kind, detail = _REFUSED[verdict]
    return Problem(status, kind, detail, _HEADERS.get(status))


class SingleReport(NamedTuple):
    """A body that should be one report, as it came. All that are committed together are read together."""

    survey: int
    singles: SingleReports
    secret: bytes  # the key itself
    body: bytes

    @property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        return len(self.body)


def checked(waiting: Sequence[Submission | SingleReport]) -> list[Submission | None]:
    """Return the same with single reports read, all of a survey in one go; None for one that no client can send."""
    together: dict[SingleReports, list[tuple[int, SingleReport, bytes]]] = {}
    submissions: list[Submission | None] = [None] * len(waiting)
    for place, each in enumerate(waiting):
        if not isinstance(each, SingleReport):
            submissions[place] = each
        elif packed := each.singles.packed(each.body):
            together.setdefault(each.singles, []).append((place, each, packed))
    for singles, listed in together.items():
        reports, good = singles.decode([packed for _, _, packed in listed])
        for row, ((place, single, _), is_good) in enumerate(zip(listed, good.tolist(), strict=True)):
            if is_good:
                hashes = request_hashes(b"reports", single.secret, single.body)
                submissions[place] = SubmittedRow(single.survey, *hashes, single.secret, (reports, row))
    return submissions


class Counting:
    """Commits submissions to a store. ``written`` is called, on the writer's thread, when reports were written."""

    def __init__(
        self, store: CollectorStore, clock: Clock, metrics: Metrics, written: Callable[[], None], *, max_waiting: int
    ) -> None:
        self._store, self._clock, self._metrics, self._written = store, clock, metrics, written
        self.writer: GroupCommitter[Submission | SingleReport] = GroupCommitter(self._commit, most_waiting=max_waiting)

    async def count(self, submission: Submission, version: str, surveys: SurveyCache, buffered: Budget) -> int:
        """Have a submission committed; return how many reports were accepted, or refuse it."""
        outcome = await self._settled(submission, version, surveys, buffered)
        if outcome.verdict in _REFUSED:
            raise _refusal(outcome.verdict)
        return outcome.accepted

    async def withdraw(self, withdrawal: Withdrawal, version: str, surveys: SurveyCache, buffered: Budget) -> int:
        """Have a withdrawal committed; return how many reports were taken out, now or before, or refuse it."""
        outcome = await self._settled(withdrawal, version, surveys, buffered)
        if outcome.verdict is not Admitted.WITHDRAWN:
            raise _refusal(outcome.verdict)
        return outcome.accepted

    async def order_pass(self, order: PassOrder, version: str, surveys: SurveyCache, buffered: Budget) -> None:
        """Have a ticket spent on a pass, now or before on the same one, or refuse it."""
        outcome = await self._settled(order, version, surveys, buffered)
        verdict = Admitted.SPENT if outcome.verdict is Admitted.CONFLICT else outcome.verdict
        if verdict in _REFUSED:
            raise _refusal(verdict)

    async def _settled(
        self, submission: Submission, version: str, surveys: SurveyCache, buffered: Budget
    ) -> SubmissionResult:
        outcome = await self._write(submission, buffered)
        if outcome.verdict is Admitted.GONE:
            # Perhaps another collector has deleted the survey and published it anew, under another number.
            published = await surveys.get(version, fresh=True)
            closed = submission.merged is None and published.state(text(self._clock())) != "open"
            outcome = await self._write(replace(submission, survey=published.entry.number, closed=closed), buffered)
        if outcome.verdict is Admitted.HELD:
            raise busy("another collector is writing the same, try again")
        return outcome

    def put_single(self, report: SingleReport) -> "asyncio.Future[SubmissionResult]":
        """Begin to commit a single report."""
        try:
            return self.writer.put(report)
        except BusyError as error:
            raise busy(str(error)) from None

    async def _write(self, submission: Submission, buffered: Budget) -> SubmissionResult:
        size = submission.size  # reports take more as arrays than they did as bytes
        buffered.take(size)
        try:
            return await self.writer.write(submission)
        except BusyError as error:
            raise busy(str(error)) from None
        finally:
            buffered.give(size)

    def _commit(self, waiting: Sequence[Submission | SingleReport]) -> list[SubmissionResult]:
        submissions = checked(waiting)
        possible = [submission for submission in submissions if submission is not None]
        outcomes = self._write_all(possible) if possible else []
        if len(possible) == len(submissions):
            return outcomes
        answers = iter(outcomes)
        return [_IMPOSSIBLE if submission is None else next(answers) for submission in submissions]

    def _write_all(self, submissions: Sequence[Submission]) -> list[SubmissionResult]:
        outcomes = self._store.commit(submissions, day(self._clock()))
        accepted = sum(outcome.accepted for outcome in outcomes if outcome.verdict is Admitted.ACCEPTED)
        if accepted:
            self._written()
        self._metrics.count("fldp_commits_total")
        self._metrics.count("fldp_submissions_total", len(submissions))
        self._metrics.count("fldp_reports_total", accepted)
        if withdrawals := sum(isinstance(each, Withdrawal) for each in submissions):
            self._metrics.count("fldp_withdrawals_total", withdrawals)
        return outcomes
