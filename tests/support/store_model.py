"""A model of a store, and a machine that compares the two after every step of random interleavings.

Every report has a symbol of its own (GRR over a domain larger than all reports together), so the tally says of each
report how often it was counted. Fold steps are planned at one time and applied at another, perhaps twice: whatever
happens in between, every acknowledged report of every survey that was not deleted is counted once, on its day, and
nothing of a deleted one is left.
"""

import copy
import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import psycopg
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fldp import Reports, Survey, Tally
from fldp.collector.config.database_url import Database
from fldp.collector.service.folding import fold_day, fold_step, taking_step
from fldp.collector.service.lake_writer import CollectorLake
from fldp.collector.storage import backup
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.postgres.store import PostgresStore
from fldp.collector.storage.protocol import Admitted, StoredSurvey, StoreError, Submission, Withdrawal
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.tables import OWNED
from fldp.collector.storage.window import DayWindow
from fldp.distributed.lake.layout import THERE, day_file
from fldp.wire import parquet
from support.postgres_server import server

DOMAIN = 512
DAYS = ("2026-11-01", "2026-11-02")
TABLES = ("surveys", "segments", "tallies", "keys", "tickets", "tokens", "deletions", "past_versions")
KINDS = [("a", "raw"), ("b", "tally"), ("c", "raw")]


def _survey(name, retention):
    return Survey.from_dict(
        {
            "name": name,
            "question": "Which one?",
            "domain_size": DOMAIN,
            "oracle": {"name": "grr", "epsilon": 1.0},
            "collect": {"retention": retention, "minimum": 1},
        }
    )


SELDOM = ["publish"] * 3 + ["close", "reopen survey", "next round", "reopen", "backup", "restore", "lake", "lake"]
SURVEYS = [_survey(name, retention) for name, retention in KINDS]


@dataclass
class Live:
    """What the model knows of a survey that is stored."""

    number: int
    kind: int
    closed: bool = False
    reports: dict = field(default_factory=lambda: {day: Counter() for day in DAYS})
    merged: dict = field(default_factory=lambda: {day: Counter() for day in DAYS})
    keys: dict = field(default_factory=dict)  # what was acknowledged: body, content and the number of reports
    places: dict = field(default_factory=dict)  # the days of the keys
    withdrawn: set = field(default_factory=set)  # those of the keys that were withdrawn
    tickets: dict = field(default_factory=dict)  # whether it is spent

    @property
    def survey(self):
        return SURVEYS[self.kind]

    def total(self, day=None, *, withdrawn):
        """Return how many reports were acknowledged, and withdrawn or not, on a day or ever."""
        keys = [key for key in self.keys if (key in self.withdrawn) == withdrawn and day in (None, self.places[key])]
        return sum(self.keys[key].n for key in keys)

    def take_out(self, key):
        """Note that a key was withdrawn, if it was not before."""
        if key not in self.withdrawn:
            new, day = self.keys[key], self.places[key]
            self.withdrawn.add(key)
            counted = self.merged if new.merged else self.reports
            counted[day] -= _symbols(new.content)


@dataclass
class Model:
    """All surveys that are stored, by their numbers, and those whose deletion was interrupted."""

    live: dict = field(default_factory=dict)
    remains: set = field(default_factory=set)


def _folder():
    """Return a new folder, in memory where that can be: what a disk loses is not what this is about."""
    shared = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="fldp-model-", dir=shared if os.access(shared, os.W_OK) else None))


class SqliteFiles:
    """Stores in files of a folder, a new one for each example and for each restored backup."""

    def __init__(self):
        self.folder = _folder()
        self._number = 0
        self.empty()

    def empty(self):
        self._number += 1
        self.path = self.folder / f"{self._number}.db"

    def opened(self):
        return [SqliteStore(self.path)]

    def restore(self, file, stores):
        for store in stores:
            store.close()
        self.empty()
        backup.restore_file(file, self.path)
        return self.opened()

    def end(self):
        shutil.rmtree(self.folder)


@cache
def _database():
    url = server().database()
    PostgresStore(Database(url)).close()
    return url


class PostgresTables:
    """Two stores on one database, as two collectors have; its tables are emptied for each example."""

    def __init__(self):
        self.folder = _folder()
        self.url = _database()
        self.empty()

    def empty(self):
        with psycopg.connect(self.url, autocommit=True, options="-c search_path=fldp") as connection:
            tables = {row[0] for row in connection.execute("SELECT relname FROM pg_class WHERE relkind = 'r'")}
            connection.execute(f"TRUNCATE {', '.join(table for table in TABLES if table in tables)}")

    def opened(self):
        return [PostgresStore(Database(self.url), connections=4) for _ in range(2)]

    def restore(self, file, stores):
        self.empty()
        backup.restore(file, stores[0])
        return stores

    def end(self):
        shutil.rmtree(self.folder)


class StoreMachine(RuleBasedStateMachine):
    """Random operations on stores; ``place`` says on which."""

    place = SqliteFiles

    def __init__(self):
        super().__init__()
        self.where = self.place()
        self.stores = self.where.opened()
        self.model = Model()
        self.plans, self.backups, self.symbol, self.key, self.turn = [], [], 0, 0, 0
        self.fresh, self.overtaken = 0, False  # whether there is something to plan; whether something came since

    def teardown(self):
        try:
            if not self.model.remains:
                assert fsck(self.store)[1] == []
        finally:
            for store in self.stores:
                store.close()
            self.where.end()

    @property
    def store(self):
        """Any one of the stores: they take turns."""
        self.turn += 1
        return self.stores[self.turn % len(self.stores)]

    # ------------------------------------------------------------------------------------------------- helpers

    def choose(self, data, which=lambda live: True):
        numbers = sorted(number for number, live in self.model.live.items() if which(live))
        return self.model.live[data.draw(st.sampled_from(numbers), "survey")]

    def symbols(self, count):
        taken = [(self.symbol + k) % DOMAIN for k in range(count)]
        self.symbol += count
        assert self.symbol < DOMAIN
        return taken

    def submission(self, live, count, **more):
        self.key += 1
        key, content = b"key %d" % self.key, _reports(live.survey, self.symbols(count))
        if self.key % 3:  # as collectors have it: then a commit may be one of new rows
            key = hashlib.sha256(key).digest()
        if live.survey.collect["retention"] == "tally" and count and self.key % 2:  # as where that is smaller
            content, more["tallied"] = live.survey.oracle.tally(content), True
        return Submission(live.number, key, key, content, secret=key, **more)

    def settle(self, live, new, day):
        """Note that a submission was acknowledged, so that there is something to plan, twice at most."""
        self.fresh, self.overtaken = 2, True
        live.keys[new.key], live.places[new.key] = new, new.day or day
        (live.merged if new.merged else live.reports)[new.day or day] += _symbols(new.content)

    # ------------------------------------------------------------------------------------------------- surveys

    @initialize()
    def two_surveys(self):
        self.publish(0)
        self.publish(1)

    def publish(self, kind):
        survey = SURVEYS[kind]
        new = StoredSurvey(0, survey.version, survey.name, json.dumps(survey.canonical), "2026", None)
        entry, fresh = self.store.publish(new)
        known = [live.number for live in self.model.live.values() if live.kind == kind]
        assert fresh == (not known)
        assert [entry.number] == known or (not known and entry.number not in self.model.live)
        if fresh:
            assert entry.number not in self.model.remains
            self.model.live[entry.number] = Live(entry.number, kind)

    def close_survey(self, live):
        self.store.close_surveys([live.number], "2026")
        live.closed = True

    def reopen_survey(self, live):
        """It takes reports again, beside all that it has; one that is open stays so."""
        self.store.reopen_survey(live.number)
        live.closed = False
        assert self.store.find(live.survey.version).closed is None

    def delete(self, live):
        self.store.delete_surveys([live.number])
        del self.model.live[live.number]
        self.model.remains.clear()

    def delete_interrupted(self, live, after):
        store = self.store
        real, left = store._purge_some, [after]

        def failing(table, number):
            left[0] -= 1
            if left[0] < 0:
                raise StoreError("interrupted")
            return real(table, number)

        store._purge_some = failing
        try:
            store.delete_surveys([live.number])
            self.model.remains.clear()
        except StoreError:
            self.model.remains.add(live.number)
        finally:
            del store._purge_some
        del self.model.live[live.number]

    def complete_deletions(self, number):
        del number  # what is found is deleted, whoever it belonged to
        self.store.purge()
        self.model.remains.clear()

    def repeat_deletion(self, number):
        self.store.delete_surveys([number])
        self.model.remains.clear()

    def next_round(self, live):
        """A round of a search ends: it is closed, its successor published, and tickets that are not spent go there."""
        kind = min(set(range(len(KINDS))) - {other.kind for other in self.model.live.values()})
        survey = SURVEYS[kind]
        new = StoredSurvey(0, survey.version, survey.name, json.dumps(survey.canonical), "2026", None)
        done = self.store.succeed(live.number, new)
        assert done == (not live.closed)
        if done:
            number = self.store.find(survey.version).number
            moved = {ticket: spent for ticket, spent in live.tickets.items() if not spent}
            live.closed, live.tickets = True, {t: spent for t, spent in live.tickets.items() if spent}
            self.model.live[number] = Live(number, kind, tickets=moved)

    @precondition(lambda self: len(self.model.live) > 1 or self.model.remains)
    @rule(data=st.data(), after=st.sampled_from([None, None, None, 0, 2, 4]))
    def delete_some(self, data, after):
        """Delete a survey, one that is being folded if there is one; or complete what was not deleted to the end."""
        planned = {step.survey for step in self.plans} & set(self.model.live)
        numbers = sorted(self.model.remains | (planned or set(self.model.live)))
        number = data.draw(st.sampled_from(numbers), "survey")
        if number in self.model.remains:
            (self.complete_deletions if after else self.repeat_deletion)(number)
        elif after is None:
            self.delete(self.model.live[number])
        else:
            self.delete_interrupted(self.model.live[number], after)

    # ------------------------------------------------------------------------------------------------- reports

    @precondition(lambda self: self.model.live)
    @rule(data=st.data(), day=st.sampled_from(DAYS), sizes=st.lists(st.integers(0, 3), min_size=1, max_size=3))
    def commit(self, data, day, sizes):
        chosen = [(self.choose(data), size) for size in sizes]
        sent = [(live, self.submission(live, size)) for live, size in chosen]
        outcomes = self.store.commit([new for _, new in sent], day)
        for (live, new), outcome in zip(sent, outcomes, strict=True):
            assert outcome.verdict is (Admitted.CLOSED if live.closed else Admitted.ACCEPTED)
            if not live.closed:
                self.settle(live, new, day)

    @precondition(lambda self: self.model.live)
    @rule(data=st.data(), day=st.sampled_from(DAYS), what=st.sampled_from(["again", "conflict", "ticket", "merge"]))
    def send_otherwise(self, data, day, what):
        if what == "merge":
            self.merge(data, day, data.draw(st.integers(1, 3), "count"))
        elif what == "ticket":
            self.use_ticket(data, day, data.draw(st.integers(0, 1), "count"))
        elif any(live.keys for live in self.model.live.values()):
            self.send_again(data, day, what == "conflict")

    def send_again(self, data, day, conflicting):
        """A key that was acknowledged comes again, with the same body or another."""
        live = self.choose(data, lambda live: live.keys)
        before = live.keys[data.draw(st.sampled_from(sorted(live.keys)), "key")]
        body = b"another" if conflicting else before.body
        again = replace(before, body=body)
        (outcome,) = self.store.commit([again], day)
        gone = before.key in live.withdrawn
        assert outcome.verdict is (
            Admitted.CONFLICT if conflicting else Admitted.WITHDRAWN if gone else Admitted.REPEATED
        )
        assert outcome.accepted == (0 if conflicting or gone else before.n)

    # --------------------------------------------------------------------------------------------- withdrawals

    @precondition(lambda self: self.model.live)
    @rule(
        data=st.data(),
        day=st.sampled_from(DAYS),
        what=st.sampled_from(["same", "same", "conflict", "twice", "early", "together"]),
    )
    def withdraw(self, data, day, what):
        """A key that was acknowledged is withdrawn, perhaps once more, on whatever day; or one that never was."""
        if what in ("early", "together"):
            self.withdraw_new(self.choose(data), day, together=what == "together")
        elif any(live.keys for live in self.model.live.values()):
            live = self.choose(data, lambda live: live.keys)
            self.withdraw_known(live, live.keys[data.draw(st.sampled_from(sorted(live.keys)), "key")], day, what)

    def withdraw_known(self, live, before, day, what):
        body = b"another" if what == "conflict" else before.body
        taken = _taking(before, body)
        for outcome in self.store.commit([taken] * (2 if what == "twice" else 1), day):
            assert outcome.verdict is (Admitted.CONFLICT if what == "conflict" else Admitted.WITHDRAWN)
            assert outcome.accepted == (0 if what == "conflict" else before.n)
        if what != "conflict":
            self.fresh, self.overtaken = 2, True
            live.take_out(before.key)

    def withdraw_new(self, live, day, *, together):
        """What never came is withdrawn, and comes then; or it comes and is withdrawn in one commit."""
        new = self.submission(live, 2)
        taken = _taking(new, new.body)
        if together and not live.closed:
            outcomes = self.store.commit([new, taken, new], day)
            assert [outcome.verdict for outcome in outcomes] == [Admitted.ACCEPTED, *[Admitted.WITHDRAWN] * 2]
            self.settle(live, new, day)
            live.take_out(new.key)
        else:
            outcomes = [*self.store.commit([taken], day), *self.store.commit([new, taken], day)]
            assert [(each.verdict, each.accepted) for each in outcomes] == [(Admitted.WITHDRAWN, 0)] * 3

    def use_ticket(self, data, day, count):
        live = self.choose(data)
        if not live.tickets:
            self.issue_tickets(live)
        self.spend_ticket(live, data.draw(st.sampled_from(sorted(live.tickets)), "ticket"), day, count)

    def issue_tickets(self, live):
        tickets = [b"ticket %d" % symbol for symbol in self.symbols(2)]
        self.store.add_tickets(live.number, tickets)
        live.tickets.update(dict.fromkeys(tickets, False))

    def spend_ticket(self, live, ticket, day, count):
        """A report with a ticket, or nothing at all, which costs none."""
        new = self.submission(live, count, ticket=ticket)
        (outcome,) = self.store.commit([new], day)
        spent = live.tickets[ticket] and count
        assert outcome.verdict is (Admitted.CLOSED if live.closed else Admitted.SPENT if spent else Admitted.ACCEPTED)
        if outcome.verdict is Admitted.ACCEPTED:
            live.tickets[ticket] |= bool(count)
            self.settle(live, new, day)

    def merge(self, data, day, count):
        """A tally of another collector is added, also to a survey that is closed."""
        live = self.choose(data)
        symbols = self.symbols(count)
        tally = live.survey.oracle.tally(_reports(live.survey, symbols))
        key = b"tally %d" % symbols[0]
        new = Submission(live.number, key, b"tally", tally, day=day, secret=key)
        (outcome,) = self.store.commit([new], day)
        assert (outcome.verdict, outcome.accepted) == (Admitted.ACCEPTED, count)
        self.settle(live, new, day)

    # ------------------------------------------------------------------------------------------------- folding

    @precondition(lambda self: self.fresh)
    @rule(most_bytes=st.sampled_from([1, 1 << 20]))
    def plan_folds(self, most_bytes):
        """Work steps out for all that waits, as a round of compaction does before it is overtaken."""
        store, self.fresh, self.overtaken = self.store, self.fresh - 1, False
        for number, day, _ in store.pending():
            survey = self.model.live[number].survey
            tail = store.tail(number, day, most_bytes)
            step = fold_step(store, number, day, survey, tail) if tail else taking_step(store, number, day, survey)
            self.plans += [step] if step else []

    @precondition(lambda self: self.plans and self.overtaken)
    @rule(data=st.data(), keep=st.booleans())
    def apply_folds(self, data, keep):
        """Apply steps that were planned before the last reports came, and perhaps once more later."""
        self.overtaken = False
        for place in data.draw(st.permutations(range(len(self.plans))), "order"):
            self.store.fold(self.plans[place])
        if not keep:
            self.plans.clear()

    @precondition(lambda self: self.fresh and self.model.live)
    @rule(data=st.data(), day=st.sampled_from(DAYS))
    def fold_whole_day(self, data, day):
        live = self.choose(data)
        fold_day(self.store, live.number, day, live.survey)

    # -------------------------------------------------------------------------------------------------- copies

    @precondition(lambda self: self.fresh or len(self.model.live) < 2)
    @rule(data=st.data(), what=st.sampled_from(SELDOM))
    def do_seldom(self, data, what):
        """Do one of the things that are rare beside reports and compaction."""
        live = self.choose(data) if self.model.live else None
        if what == "publish":
            self.publish(data.draw(st.integers(0, len(KINDS) - 1), "kind"))
        elif what == "close" and live:
            self.close_survey(live)
        elif what == "reopen survey" and live:
            self.reopen_survey(live)
        elif what == "next round" and live and len(self.model.live) < len(KINDS):
            self.next_round(live)
        elif what == "reopen":
            self.reopen()
        elif what == "backup":
            self.backup()
        elif what == "restore" and self.backups:
            self.restore(*data.draw(st.sampled_from(self.backups), "backup"))
        elif what == "lake" and live:
            self.write_lake_day(live, data.draw(st.sampled_from(DAYS), "day"))

    def reopen(self):
        for store in self.stores:
            store.close()
        self.stores = self.where.opened()

    def backup(self):
        file = self.where.folder / f"backup {len(self.backups)}"
        backup.backup(self.store, file)
        kept = copy.deepcopy(self.model.live)
        self.backups.append((file, kept))

    def restore(self, file, kept):
        """Go back to a backup. Row numbers begin anew, as in a new process, so nothing is planned any more."""
        self.stores = self.where.restore(file, self.stores)
        self.model = Model(copy.deepcopy(kept))
        self.plans.clear()

    def write_lake_day(self, live, day):
        store = self.store
        entry = store.find(live.survey.version)
        counts = live.reports[day].total(), live.total(day, withdrawn=True)
        if live.survey.collect["retention"] != "raw" or counts == (0, 0):
            return
        root = self.where.folder / "lake"
        lake = CollectorLake(store, root)
        lake.write_day(entry, day)
        if not counts[0]:
            assert not day_file(root, entry.version, day).exists()
            return
        assert lake.write_day(entry, day) == THERE
        with day_file(root, entry.version, day).open("rb") as file:
            _, _, parts = parquet.read(file, live.survey.oracle, entry.version)
            written = Counter(symbol for part in parts for symbol in part.data.tolist())
        assert written == live.reports[day]

    # ----------------------------------------------------------------------------------------------- invariants

    @invariant()
    def every_acknowledged_report_is_counted_once(self):
        store = self.store
        with store.snapshot() as snapshot:
            assert {entry.number for entry in snapshot.entries()} == set(self.model.live)
            for live in self.model.live.values():
                for day in DAYS:
                    tally = DayWindow(live.number, (day, day)).tally(snapshot, live.survey.oracle)
                    expected = live.reports[day] + live.merged[day]
                    assert tally.n == expected.total()
                    assert {int(k): int(tally.state[k]) for k in np.flatnonzero(tally.state)} == expected
                    assert snapshot.withdrawn(live.number, (day, day)) == live.total(day, withdrawn=True)
                counts = live.total(withdrawn=False), live.total(withdrawn=True)
                assert snapshot.acknowledged(live.number) == counts
        listed = store.counts(), store.withdrawn_counts()
        for live in self.model.live.values():
            counts = live.total(withdrawn=False), live.total(withdrawn=True)
            assert tuple(listing.get(live.number, 0) for listing in listed) == counts

    @invariant()
    def nothing_of_a_deleted_survey_is_left(self):
        query = " UNION ".join(f"SELECT survey FROM {table}" for table in OWNED)
        owners = {row[0] for row in self.asked(query)}
        assert owners <= self.model.remains | set(self.model.live)

    def asked(self, query):
        store = self.store
        if isinstance(store, PostgresStore):
            return store._select(query)
        with store._reading() as connection:
            return connection.execute(query).fetchall()


def _symbols(content):
    return Counter((np.flatnonzero(content.state) if isinstance(content, Tally) else content.data).tolist())


def _taking(new, body):
    return Withdrawal(new.survey, new.key, body, new.content, secret=new.key, tallied=new.tallied)


def _reports(survey, symbols):
    return Reports(survey.oracle, np.array(symbols, survey.oracle.report_format.dtype))


class PostgresMachine(StoreMachine):
    """The same on PostgreSQL, with two collectors."""

    place = PostgresTables


PROFILE = settings(
    derandomize=True,
    deadline=None,
    database=None,
    stateful_step_count=40,
    suppress_health_check=list(HealthCheck),
)


def compare(kind, examples, *, start=None, **more):
    """Compare a kind of store with the model, over as many random interleavings, which begin at a number if given."""
    machine = MACHINES[kind] if start is None else seed(start)(lambda: MACHINES[kind]())
    run_state_machine_as_test(machine, settings=settings(PROFILE, max_examples=examples, **more))


def soak(examples=2000):
    """Compare both kinds over many interleavings that are new at each run; for ``make soak``."""
    for kind in MACHINES:
        compare(kind, examples, derandomize=False, print_blob=True)
        print(f"{kind}: {examples:,} interleavings of 40 steps, all as the model says", flush=True)


MACHINES = {"sqlite": StoreMachine, "postgres": PostgresMachine}
