"""A process that asks for all surveys of ``support.renewing_limits`` on a few days, and prints the keys that it got."""

import sys
from fractions import Fraction

from fldp.errors import BudgetError
from fldp.participant.limits import Limit, Limits, Spent
from fldp.participant.periodic import PeriodicSurvey, answer_period
from fldp.participant.sqlite_store import FileStore
from support.renewing_limits import MONTH, MONTH_TOTAL, SURVEYS, YEAR

LIMITS = Limits(month=Limit(MONTH, 1), month_total=Limit(MONTH_TOTAL, 1), year=Limit(YEAR, 1))


def light(survey):
    """Return a survey of a sequence as the ledger without NumPy takes it."""
    cost = Spent(Fraction(survey.epsilon), Fraction(1), 1)
    named = (survey.origin, f"s{survey.number}", f"s{survey.number}", f"{survey.number:064}")
    return PeriodicSurvey(*named, ("a", "b", "c"), cost, survey.repeat)


class Device:
    """A ledger on this side, in stores that are made anew when it is cleared; they take turns, as processes do."""

    def __init__(self, make):
        self.make, self.stores = make, []

    def clear(self, day):
        self.stores = self.make(day)

    def ask(self, survey, day):
        self.stores = [*self.stores[1:], self.stores[0]]
        keep = (lambda: b"kept") if survey.kept else None
        try:
            return answer_period(self.stores[0], light(survey), LIMITS, lambda kept: b"batch", keep=keep, today=day).key
        except BudgetError:
            return None

    def rows(self):
        with self.stores[0].exclusive() as book:
            return [(c.name, c.epoch, c.cost.epsilon, c.renews) for c in book.ledger.charges]


def main(path, order):
    store, fresh = FileStore(path), [survey for survey in SURVEYS if not survey.kept]
    for day in ("2026-12-01", "2026-12-08", "2026-12-31", "2027-01-04"):
        for survey in fresh if order == "up" else reversed(fresh):
            try:
                answer = answer_period(store, light(survey), LIMITS, lambda kept: b"batch", today=day)
            except BudgetError:
                continue
            print(survey.number, day, answer.key)


if __name__ == "__main__":
    main(*sys.argv[1:])
