"""Stores against a model of them, over interleavings that no single test would think of."""

import pytest
from hypothesis import Phase

from fldp.collector.storage import admission
from fldp.collector.storage.postgres import store as postgres
from fldp.collector.storage.postgres import writes as postgres_writes
from fldp.collector.storage.protocol import Admitted, Submission, SubmissionResult
from fldp.collector.storage.sqlite import file as sqlite_file
from fldp.collector.storage.sqlite import store as sqlite
from fldp.collector.storage.sqlite import writes as sqlite_writes
from fldp.data.reports import Tally
from support.collector_store import STORES
from support.store_model import compare

EXAMPLES = {"sqlite": 50, "postgres": 10}


@pytest.mark.parametrize("kind", STORES)
def test_a_store_does_what_the_model_says(kind):
    compare(kind, EXAMPLES[kind])


def reuse_numbers(monkeypatch):
    """SQLite gives row numbers again."""
    steps = [
        step.replace("PRIMARY KEY AUTOINCREMENT,  -- never", "PRIMARY KEY,  --") for step in sqlite_file.migrations()
    ]
    assert steps != sqlite_file.migrations()
    monkeypatch.setattr(sqlite_file, "migrations", lambda: steps)


def trust_numbers(monkeypatch):
    """SQLite gives row numbers again, and a step removes whatever has its numbers: this is how reports were lost."""
    reuse_numbers(monkeypatch)

    def fold(connection, step):
        removed = [connection.execute("DELETE FROM segments WHERE id = ?", (row,)).rowcount for row in step.removed]
        if sum(removed) != len(step.removed):
            raise sqlite_writes.OutdatedStep
        sqlite_writes._insert(connection, [(step.survey, step.day, part) for part in step.added], folded=True)
        sqlite_writes._gain(connection, step)

    monkeypatch.setattr(sqlite_writes, "fold", fold)


def skip_the_count(monkeypatch):
    """A step is applied although its rows are not there any more."""

    def fold(connection, step):
        connection.executemany("DELETE FROM segments WHERE id = ?", [(row,) for row in step.removed])
        sqlite_writes._insert(connection, [(step.survey, step.day, part) for part in step.added], folded=True)
        sqlite_writes._gain(connection, step)

    monkeypatch.setattr(sqlite_writes, "fold", fold)


def skip_the_count_on_postgres(monkeypatch):
    """The same, on PostgreSQL."""

    def fold(connection, step):
        connection.execute("DELETE FROM segments WHERE id = ANY(%s)", (list(step.removed),))
        postgres_writes._insert(connection, [(step.survey, step.day, part) for part in step.added], folded=True)
        postgres_writes._gain(connection, step)

    monkeypatch.setattr(postgres, "fold", fold)


def forget_tallies(monkeypatch):
    """A deletion leaves tallies."""
    monkeypatch.setattr(sqlite, "OWNED", ("segments", "keys", "tickets"))


def answer_before_looking(monkeypatch):
    """A key that comes again in a later commit is counted again."""
    real = admission.Admission.admit

    def admit(self, new):
        outcome = real(self, new)
        if outcome.verdict is Admitted.REPEATED:
            self._accepted.append(new)
        return outcome

    monkeypatch.setattr(admission.Admission, "admit", admit)


def spend_on_nothing(monkeypatch):
    """An empty batch spends a ticket."""
    real = admission.Admission.admit

    def admit(self, new):
        spends = new.ticket is not None and not new.n and self.closed(new.survey) is False
        if spends and not self._spend(new, new.ticket):
            return SubmissionResult(Admitted.SPENT)
        return real(self, new)

    monkeypatch.setattr(admission.Admission, "admit", admit)


def lose_reports_beside_a_tally(monkeypatch):
    """What shares a commit with a tallied batch of its survey is lost."""
    real = admission.Together._of

    def alone(self, survey):
        return (
            real(admission.Together(_tallies=self._tallies), survey) if survey in self._tallies else real(self, survey)
        )

    monkeypatch.setattr(admission.Together, "_of", alone)


def take_tallied_after_closing(monkeypatch):
    """A closed survey takes a tallied batch as if it were a tally of another collector."""
    any_tally = property(lambda self: self.content if isinstance(self.content, Tally) else None)
    monkeypatch.setattr(Submission, "merged", any_tally)


# The last is where the random interleavings begin: with these it is noticed after few of them.
BREAKAGES = [
    ("sqlite", reuse_numbers, 16),
    ("sqlite", trust_numbers, 6),
    ("sqlite", skip_the_count, 1),
    ("postgres", skip_the_count_on_postgres, 5),
    ("sqlite", forget_tallies, 1),
    ("sqlite", answer_before_looking, 2),
    ("sqlite", spend_on_nothing, 5),
    ("sqlite", lose_reports_beside_a_tally, 1),
    ("sqlite", take_tallied_after_closing, 1),
]


@pytest.mark.parametrize(
    ("kind", "breakage", "start"), [pytest.param(*one, id=f"{one[0]}-{one[1].__name__}") for one in BREAKAGES]
)
def test_the_model_notices(kind, breakage, start, monkeypatch):
    breakage(monkeypatch)
    with pytest.raises(AssertionError):
        compare(kind, 4 * EXAMPLES[kind], start=start, phases=[Phase.generate], report_multiple_bugs=False)
