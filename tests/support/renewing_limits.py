"""A slow judge of limits that renew, written from their description: it knows no code of the ledger."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction

from hypothesis import strategies as st

MONTH, MONTH_TOTAL, YEAR = Fraction(2), Fraction(4), Fraction(5)  # a small year, so that it is reached


def week(day):
    return [day + timedelta(days=number - day.weekday()) for number in range(7)]


def epoch_of(repeat, day):
    """Return the epoch of a day as text, and the month that it counts in: that of most of its days."""
    if repeat == "monthly":
        return f"{day:%Y-%m}", (day.year, day.month)
    months = [(each.year, each.month) for each in week(day)]
    return f"{day:%G-W%V}", max(months, key=months.count)


@dataclass
class Life:
    """A ledger from its birth until it is cleared: what was charged to which month, and the batches."""

    born: date
    charges: list = field(default_factory=list)
    batches: dict = field(default_factory=dict)
    days: list = field(default_factory=list)
    keys: set = field(default_factory=set)

    def youth(self):
        """Return the months in which nothing is charged: those that anything answered by its first day counts in."""
        return max(epoch_of(repeat, self.born)[1] for repeat in ("weekly", "monthly"))

    def sums(self, origin, month):
        here = [charge for charge in self.charges if charge[0] == origin]
        in_month = sum((e for _, m, e in here if m == month), Fraction(0))
        everywhere = sum((e for _, m, e in self.charges if m == month), Fraction(0))
        return in_month, everywhere, here

    def allows(self, origin, month, epsilon):
        in_month, everywhere, here = self.sums(origin, month)
        windows = [{(y, m) for y, m in following(start)} for start in starts(month)]
        years = [sum((e for _, m, e in here if m in window), epsilon) for window in windows]
        young = month <= self.youth()
        return not young and in_month + epsilon <= MONTH and everywhere + epsilon <= MONTH_TOTAL and max(years) <= YEAR


def following(start):
    year, month = start
    return [(year + (month - 1 + number) // 12, (month - 1 + number) % 12 + 1) for number in range(12)]


def starts(month):
    """Return the first months of all twelve months in a row that a month is in."""
    year, number = month
    return [(year - (1 if number - back < 1 else 0), (number - back - 1) % 12 + 1) for back in range(12)]


def excesses(lives):
    """Return the months of all lives together that have more than their limits, by origin and in all."""
    by_origin, in_all = defaultdict(Fraction), defaultdict(Fraction)
    for life in lives:
        for origin, month, epsilon in life.charges:
            by_origin[origin, month] += epsilon
            in_all[month] += epsilon
    over = [key for key, epsilon in by_origin.items() if epsilon > MONTH]
    return over + [key for key, epsilon in in_all.items() if epsilon > MONTH_TOTAL]


@dataclass(frozen=True)
class Asked:
    """A survey of a sequence. One that is kept is charged once."""

    number: int
    origin: str
    repeat: str
    epsilon: str
    kept: bool = False


ORIGINS = [f"https://{name}.example" for name in ("a", "b", "c")]
SURVEYS = [
    Asked(number, ORIGINS[number % 3], ("monthly", "weekly")[number % 2], ("1", "0.4", "0.7", "0.1", "2")[number % 5])
    for number in range(10)
] + [Asked(10, ORIGINS[0], "monthly", "1.4", kept=True), Asked(11, ORIGINS[1], "weekly", "0.8", kept=True)]


ROUNDS = st.tuples(  # some time passes, or the clock is put back; rarely all is cleared; then a few are asked
    st.sampled_from([0, 1, 3, 7, 15, 31, 31, 62, 200, -1, -8, -40, -200]),
    st.sampled_from([False] * 9 + [True]),
    st.lists(st.sampled_from(SURVEYS), max_size=5),
)


def flat(rounds):
    """Return the steps of rounds."""
    for days, cleared, asked in rounds:
        yield ("wait", (days,))
        if cleared:
            yield ("clear", ())
        yield from (("ask", (survey,)) for survey in asked)


STEPS = st.lists(ROUNDS, max_size=25).map(lambda rounds: [("wait", (62,)), *flat(rounds)])
FULL_YEAR = [  # a clock that is put back must not open twelve months that a later answer has filled
    ("wait", (62,)),
    ("ask", (SURVEYS[4],)),
    ("wait", (150,)),
    ("ask", (SURVEYS[4],)),
    ("wait", (-60,)),
    ("ask", (SURVEYS[4],)),
]
FULL_DECEMBER = [  # a week of the end of November counts in December, before and after a ledger is cleared
    ("wait", (-30,)),
    ("clear", ()),
    ("wait", (44,)),
    *[("ask", (survey,)) for survey in SURVEYS],
    ("clear", ()),
    ("wait", (2,)),
    *[("ask", (survey,)) for survey in SURVEYS],
]


@dataclass
class Judge:
    """Plays a sequence on a device, and says what it had to do at each step."""

    device: object
    today: date = date(2026, 11, 16)
    lives: list = field(default_factory=list)
    trusted: bool = True  # no clock was put back before a ledger was cleared: then nobody can know what is spent

    def __post_init__(self):
        self.clear()

    def wait(self, days):
        self.today += timedelta(days=days)

    def clear(self):
        days = [day for life in self.lives for day in life.days]
        self.trusted = self.trusted and all(day <= self.today for day in days)
        self.lives.append(Life(self.today))
        self.device.clear(str(self.today))

    def ask(self, survey):
        life, (epoch, month) = self.lives[-1], epoch_of(survey.repeat, self.today)
        known = life.batches.get((survey.number, "" if survey.kept else epoch))
        key = self.device.ask(survey, str(self.today))
        if known is None and not life.allows(survey.origin, month, Fraction(survey.epsilon)):
            assert key is None, f"{survey} on {self.today} must be refused"
            return
        assert key is not None, f"{survey} on {self.today} must be answered"
        begins = min(week(self.today)) if survey.repeat == "weekly" else self.today.replace(day=1)
        if known is None or (survey.kept and begins > known[1]):
            assert key not in life.keys, "a new epoch has a new batch"
            life.keys.add(key)
            life.batches[survey.number, "" if survey.kept else epoch] = (key, begins)
        else:
            assert key == known[0], "an epoch has one batch"
        if known is None:
            life.charges.append((survey.origin, month, Fraction(survey.epsilon)))
            life.days.append(self.today)

    def check(self):
        """No month has more than its limits: in any ledger, and over all of them where the clock can be trusted."""
        assert not [over for life in self.lives for over in excesses([life])]
        assert not self.trusted or not excesses(self.lives)

    def play(self, steps):
        for name, argument in steps:
            getattr(self, name)(*argument)
        self.check()
        return self.lives
