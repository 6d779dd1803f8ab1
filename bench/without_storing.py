"""The collector with one change: it answers without storing. Takes the arguments of ``fldp``."""

from collections.abc import Sequence

from fldp.cli import main
from fldp.collector.storage.protocol import Admitted, Submission, SubmissionResult
from fldp.collector.storage.sqlite.store import SqliteStore


def forget(store: SqliteStore, submissions: Sequence[Submission], day: str) -> list[SubmissionResult]:
    """Say that all was counted."""
    del store, day
    return [SubmissionResult(Admitted.ACCEPTED, submission.n) for submission in submissions]


if __name__ == "__main__":
    SqliteStore.commit = forget  # type: ignore[method-assign]
    main()
