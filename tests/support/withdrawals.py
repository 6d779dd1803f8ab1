"""Random schedules of reports and withdrawals, and a slow judge: a list of what should be counted, added up anew."""

import random
from dataclasses import dataclass, field

from fldp import Reports, Survey, Tally
from fldp.collector.service.folding import fold_day, fold_step, taking_step
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.protocol import Admitted, StoredSurvey, Submission, Withdrawal
from fldp.collector.storage.window import DayWindow, kept_reports

DAYS = ("2026-11-01", "2026-11-02", "2026-11-03")
ORACLES = ({"name": "grr", "epsilon": 1.0}, {"name": "olh", "epsilon": 2.0}, {"name": "fhr", "epsilon": 1.0})


def published(store, oracle, retention, name="withdrawn"):
    """Publish a survey of eight values, so that many reports are equal."""
    collect = {"retention": retention, "minimum": 1}
    asked = {"name": name, "question": "Which one?", "domain_size": 7, "oracle": oracle, "collect": collect}
    survey = Survey.from_dict(asked)
    return survey, store.publish(StoredSurvey.new(survey, "2026-11-01T00:00:00Z"))[0].number


def taking(new, **more):
    """Return the withdrawal of a submission."""
    return Withdrawal(new.survey, new.key, new.body, new.content, secret=new.secret, tallied=new.tallied, **more)


@dataclass
class Schedule:
    """Random steps on one or more stores of one database, each compared with the list of what should be counted."""

    stores: list
    survey: Survey
    number: int
    seed: int
    sent: list = field(default_factory=list)  # submissions and their days
    withdrawn: set = field(default_factory=set)

    def __post_init__(self):
        self.random = random.Random(self.seed)

    @property
    def store(self):
        return self.random.choice(self.stores)

    def run(self, steps):
        """Do random steps, and look after each of them."""
        for _ in range(steps):
            self.random.choice([self.send, self.send, self.take, self.take, self.fold, self.take_early])()
            self.look()
        for day in DAYS:
            fold_day(self.store, self.number, day, self.survey)
        self.look()
        assert self.store.pending() == []
        assert fsck(self.store)[1] == []

    def new(self):
        key = b"key %d" % len(self.sent)
        reports = self.survey.oracle.privatize([self.random.randrange(7) for _ in range(self.random.randint(1, 40))])
        is_merged = self.random.random() < 0.15
        tallied = not is_merged and self.survey.collect["retention"] == "tally" and len(self.sent) % 2 == 0
        content = self.survey.oracle.tally(reports) if is_merged or tallied else reports
        return Submission(self.number, key, b"body of " + key, content, secret=key, tallied=tallied)

    def send(self):
        new, day = self.new(), self.random.choice(DAYS)
        self.sent.append((new, day))
        assert self.store.commit([new, new], day)[0].verdict is Admitted.ACCEPTED

    def take(self):
        """Withdraw one or two of what was sent, perhaps again, on any day."""
        if not self.sent:
            return
        chosen = [self.random.choice(self.sent)[0] for _ in range(2)]
        for new, outcome in zip(chosen, self.store.commit(list(map(taking, chosen)), DAYS[-1]), strict=True):
            assert (outcome.verdict, outcome.accepted) == (Admitted.WITHDRAWN, new.n)
            self.withdrawn.add(new.key)

    def take_early(self):
        """Withdraw what has not come yet; it is refused when it comes."""
        new = self.new()
        store, self.number = self.store, self.number
        early = Submission(self.number, b"early " + new.key, new.body, new.content, secret=b"early " + new.key)
        outcomes = [*store.commit([taking(early)], DAYS[0]), *store.commit([early], DAYS[0])]
        assert {(outcome.verdict, outcome.accepted) for outcome in outcomes} == {(Admitted.WITHDRAWN, 0)}

    def fold(self):
        """Fold a day, or one row of it."""
        store, day = self.store, self.random.choice(DAYS)
        if self.random.random() < 0.5:
            fold_day(store, self.number, day, self.survey)
            return
        tail = store.tail(self.number, day, 1)
        step = fold_step(store, self.number, day, self.survey, tail) if tail else None
        step = step or taking_step(store, self.number, day, self.survey)
        if step:
            assert store.fold(step)

    def look(self):
        """Compare all that can be read with what was never sent at all by those who withdrew."""
        with self.store.snapshot() as snapshot:
            for days in [(day, day) for day in DAYS] + [(DAYS[0], DAYS[-1])]:
                kept, gone = self.expected(days)
                window = DayWindow(self.number, days)
                assert window.tally(snapshot, self.survey.oracle) == kept
                assert (window.count(snapshot), window.withdrawn(snapshot)) == (kept.n, gone)
                if self.survey.collect["retention"] == "raw":
                    reports = list(kept_reports(snapshot, self.number, days, self.survey.oracle))
                    own = self.expected(days, merged=False)[0]
                    assert sum(map(self.survey.oracle.tally, reports), Tally.empty(self.survey.oracle)) == own

    def expected(self, days, *, merged=True):
        """Add up, one by one, what was sent and not withdrawn; return it with how many were withdrawn."""
        total, gone, oracle = Tally.empty(self.survey.oracle), 0, self.survey.oracle
        for new, day in self.sent:
            if not days[0] <= day <= days[1]:
                continue
            if new.key in self.withdrawn:
                gone += new.n
            elif isinstance(new.content, Reports):
                total += oracle.tally(new.content)
            elif merged:
                total += new.content
        return total, gone
