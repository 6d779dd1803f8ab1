"""Tables: what reports of ``Sampled`` tell about every question, and about questions together.

Every number is a linear combination of the decoded shares of the views, so its variance is known exactly: see
``Tables.covariance``. Tables are unbiased, negative cells stay negative; ``fldp.postprocess(tables, "consistent")``
repairs them on request.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fldp.data.anytime_intervals import MAX_PLANNED, check_unbiased, enough, factors
from fldp.data.comparison import POPULATION, RESPONDENTS
from fldp.data.estimate import Basis, Estimate, Total
from fldp.data.projections import METHODS
from fldp.data.reports import Tally
from fldp.data.values import as_list, as_values
from fldp.errors import DomainError, ParameterError
from fldp.numerics.bounded_laws import Bounded, Steps
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.sampled.cross import Cross
from fldp.oracles.sampled.effects import Effects, Questions
from fldp.oracles.sampled.raking import CONSISTENT, raked
from fldp.oracles.sampled.ratios import Ratios, ratios
from fldp.oracles.sampled.views import Block, Entry
from fldp.support.display import Displayed
from fldp.support.validation import fraction, integer, is_integer, one_of

if TYPE_CHECKING:
    from fldp.oracles.sampled.associations import Associations
    from fldp.oracles.sampled.sampled import Sampled

_CELLS = 1 << 22  # of weights at a time
_norm_sub = METHODS["norm-sub"]

Shown = Callable[["Tables", int], object]
SharesOf = Callable[[Questions], Floats]  # the shares of all cells of a table


@dataclass(frozen=True)
class Asked:
    """A question of tables: its name, its labels, and how it is shown if not as an estimate.

    The last answer of an ``optional`` question is "no answer".
    """

    name: str
    labels: tuple[str, ...] | None = None
    optional: bool = False
    shown: Shown | None = None


@dataclass(frozen=True, eq=False)
class TableEstimate(Estimate):
    """The estimated counts of the answers to one question, from all views that are about it."""

    tables: "Tables" = field(kw_only=True, repr=False)
    question: int = field(kw_only=True)
    planned: int | None = field(default=None, kw_only=True)  # reports, where intervals hold at every look

    def watched(self, planned: int) -> "TableEstimate":
        """Return the same with intervals that hold for all answers and at every look, as reports come in.

        They are narrowest after as many reports of all people as are planned, which is decided before the first one.
        """
        check_unbiased(self)
        return replace(self, planned=integer(1, MAX_PLANNED)("Estimate", "planned", planned))

    def interval(self, level: float = 0.95, *, simultaneous: bool = False, anytime: int | None = None) -> Floats:
        """Return intervals of the counts; for all answers and at every look, if it is watched."""
        if anytime is None and self.planned is not None:
            return self.interval(level, simultaneous=True, anytime=self.planned)
        if anytime is None:
            return super().interval(level, simultaneous=simultaneous)
        check_unbiased(self)
        miss = (1 - fraction("Estimate", "level", level)) / (len(self.counts) if simultaneous else 1)
        planned = enough(self.oracle, integer(1, MAX_PLANNED)("Estimate", "anytime", anytime))
        z, larger = factors(self.n / planned, miss)
        (law,) = self._laws
        return np.stack(law.ends(z, self.counts, larger * self.stderr), axis=1)

    def _variance_after(self, reports: int) -> Floats:
        return np.asarray(self.stderr**2 * (reports / self.n))  # chance puts the same shares of people into the views

    def sum(self, values: Iterable[int]) -> Total:
        chosen = as_list(values)
        if self.original is not None:
            return super().sum(chosen)
        members = np.zeros(len(self.counts))
        members[as_values("Estimate", chosen, len(self.counts), secret=False)] = 1.0
        if members.all():
            return Total(float(self.n), 0.0)
        share, variance = self.tables.linear((self.question,), members)
        steps = self.tables.steps((self.question,), members[None])
        return Total(self.n * share, self.n * sqrt(variance), steps=steps.times(self.n))

    @cached_property
    def _laws(self) -> tuple[Bounded, ...]:
        return self.tables.laws(self.question, self.counts)

    def _share_variances(self, people: str) -> Floats:
        return self.tables.variances((self.question,), people=people)

    def _jumps_beside(self, stderr: Floats) -> Floats:
        del stderr  # the noise depends on who is in which view
        (law,) = self._laws
        return np.where(law.jump > self.stderr / 2, law.jump, 0.0)

    @property
    def _informants(self) -> int:
        return self.tables.about((self.question,))

    def answered(self, level: float = 0.95) -> Ratios:
        """Return the shares among those who answered an optional question, with intervals by Fieller's method."""
        if not self.tables.questions[self.question].optional:
            raise ParameterError(f"answered: {self.tables.questions[self.question].name!r} is not optional")
        size = len(self.counts)
        rest = np.array([1.0] * (size - 1) + [0.0])
        pairs = np.stack([np.stack([np.eye(size)[value], rest]) for value in range(size - 1)])
        labels = None if self.labels is None else tuple(self.labels[:-1])
        return ratios(self.tables, (self.question,), pairs, level, (size - 1,), (labels,))


@dataclass(frozen=True, eq=False)
class Tables(Displayed):
    """The estimates of all questions, ``tables["os"]``, and of questions together, ``tables.cross("os", "load")``.

    ``n`` people reported. ``people`` are those whom chance put into each view. Margins of all tables agree.

    >>> import fldp
    >>> oracle = fldp.Sampled(epsilon=2.0, answers=[2, 3, 2], views=2)
    >>> tables = oracle.estimate(oracle.privatize([[0, 2, 1]] * 3000 + [[1, 0, 0]] * 1000, rng=7))
    >>> tables.crosses, tables.n
    ([(0, 1), (0, 2), (1, 2)], 4000)
    >>> bool(np.allclose(tables.cross(0, 1).counts.sum(axis=1), tables[0].counts))
    True
    """

    oracle: "Sampled"
    n: int
    people: tuple[int, ...]
    decoded: tuple[Floats | None, ...] = field(repr=False)
    questions: tuple[Asked, ...] = ()
    method: str = "unbiased"
    original: "Tables | None" = field(default=None, repr=False)
    repaired: Mapping[Questions, Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, oracle: "Sampled", tally: Tally) -> "Tables":
        """Return the tables of a tally."""
        parts = zip(oracle.members, oracle.estimator.split(tally), strict=True)
        decoded = tuple(member.estimator.decode(part) / part.n if part.n else None for member, part in parts)
        asked = tuple(Asked(str(a)) for a in range(len(oracle.answers)))
        return cls(oracle, tally.n, oracle.estimator.people(tally), decoded, asked)

    def about(self, questions: Sequence[int]) -> int:
        """Return how many reports are about all of these questions."""
        views = zip(self.oracle.design.views, self.people, strict=True)
        return sum(count for view, count in views if set(questions) <= set(view.questions))

    def named(self, questions: Sequence[Asked]) -> "Tables":
        """Return the same tables with the names of a survey's questions."""
        return replace(self, questions=tuple(questions))

    # -------------------------------------------------------------------------------------------- what there is

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all questions."""
        return tuple(asked.name for asked in self.questions)

    @property
    def views(self) -> list[tuple[Entry, int]]:
        """Every view, and how many people it has."""
        return [(view.entry, count) for view, count in zip(self.oracle.design.views, self.people, strict=True)]

    @cached_property
    def _together(self) -> list[set[int]]:
        return [set(view.questions) for view in self.oracle.design.views if isinstance(view, Block)]

    @cached_property
    def crosses(self) -> list[Questions]:
        """All pairs of questions that some view has together."""
        pairs = combinations(range(len(self.oracle.answers)), 2)
        return [pair for pair in pairs if any(set(pair) <= block for block in self._together)]

    def index(self, question: int | str) -> int:
        """Return the number of a question, given that or its name."""
        if is_integer(question) and 0 <= question < len(self.questions):
            return int(question)
        if question in self.names:
            return self.names.index(str(question))
        raise ParameterError(f"tables: the question must be one of {', '.join(self.names)}, got {question!r}")

    def _indices(self, questions: Iterable[int | str]) -> Questions:
        places = tuple(map(self.index, questions))
        if list(places) != sorted(set(places)):
            raise ParameterError(f"tables: questions must be different, and in their order, got {places}")
        if len(places) > 1 and not any(set(places) <= block for block in self._together):
            raise self._apart(places)
        return places

    def _apart(self, questions: Questions) -> ParameterError:
        names = " and ".join(repr(self.names[a]) for a in questions)
        crossed = ", ".join(" x ".join(self.names[a] for a in pair) for pair in self.crosses[:8])
        more = f", and {len(self.crosses) - 8} more" if len(self.crosses) > 8 else ""
        choices = f"this survey crosses {crossed}{more}" if crossed else "this survey crosses none"
        return ParameterError(f"cross: {names} are not asked together in any view; {choices}")

    # ------------------------------------------------------------------------------------------ shares, variances

    @cached_property
    def _effects(self) -> Effects:
        return Effects(self.oracle.answers, self.oracle.design.views, self.oracle.members, self.people)

    def shares(self, questions: Iterable[int | str]) -> Floats:
        """Return the estimated shares of all cells of a table, an axis for each question."""
        chosen = self._indices(questions)
        known = self.repaired.get(chosen)
        return known if known is not None else self._unbiased(chosen)

    def plausible(self, questions: Questions) -> Floats:
        """Return shares to put into formulas of variances: not negative, and adding up to 1."""
        table = self._unbiased(questions)
        return _norm_sub(table.reshape(-1), 1.0).reshape(table.shape)

    def _unbiased(self, questions: Questions) -> Floats:
        """Return the unbiased shares; those of a table with many cells are computed once."""
        if questions not in self._known_tables:
            self._known_tables[questions] = self._effects.table(questions, self.decoded)
            self._known_tables[questions].setflags(write=False)
        return self._known_tables[questions]

    @cached_property
    def _known_tables(self) -> dict[Questions, Floats]:
        return {}

    def linear(
        self, questions: Iterable[int | str], weights: Floats, *, people: str = RESPONDENTS
    ) -> tuple[float, float]:
        """Return a linear combination of the cells of a table, and its variance; weights in the shape of the table."""
        chosen = self._indices(questions)
        variance = self.variances(chosen, np.asarray(weights, np.float64)[None], people=people)[0]
        return float((self.shares(chosen) * weights).sum()), float(variance)

    def variances(
        self, questions: Iterable[int | str], weights: Floats | None = None, *, people: str = RESPONDENTS
    ) -> Floats:
        """Return the variances of linear combinations of the cells of a table; by default, of all cells in order."""
        chosen = self._indices(questions)
        shape = tuple(self.oracle.answers[a] for a in chosen)
        rows = np.eye(prod(shape)).reshape(-1, *shape) if weights is None else weights
        step = max(1, _CELLS // max(view.size for view in self.oracle.design.views))
        parts = [self._some_variances(chosen, rows[k : k + step], people) for k in range(0, len(rows), step)]
        return np.concatenate(parts)

    def _some_variances(self, questions: Questions, weights: Floats, people: str) -> Floats:
        """Return variances at repaired shares; where noise depends on who holds what, not below those at unbiased ones.

        Repaired shares of few people are too even. In a geometry, some values have far more noise than the mean of all.
        """
        _, maps = self._effects.maps(questions, weights)
        at_repaired = self._variances_at(self.plausible, questions, weights, maps, people)
        if self._is_even(maps):
            return at_repaired
        return np.maximum(at_repaired, self._variances_at(self._unbiased, questions, weights, maps, people))

    def _is_even(self, numbers: Iterable[int]) -> bool:
        """Whether the noise of these views does not depend on who holds what."""
        return all(analysis(self.oracle.members[k]).pair_noise() is not None for k in numbers)

    def _variances_at(
        self, shares_of: SharesOf, questions: Questions, weights: Floats, maps: Mapping[int, Floats], people: str
    ) -> Floats:
        between, own = self._factors(people)
        noise, sampled = np.zeros(len(weights)), np.zeros(len(weights))
        for k, rows in maps.items():
            shares, count = self._view_shares(k, shares_of), self.people[k]
            noise += analysis(self.oracle.members[k]).linear_variances(rows, shares) / count
            sampled += between * _variances_of(rows, shares) / count
        flat = weights.reshape(len(weights), -1)
        return noise + np.maximum(sampled - own * _variances_of(flat, shares_of(questions).reshape(-1)), 0.0)

    def steps(self, questions: Iterable[int | str], weights: Floats, *, people: str = RESPONDENTS) -> Steps:
        """Return what intervals of linear combinations of the cells of a table need beside the variance.

        A jump is the mean over the parts of the variance: the noise of each view, and who was put into which view.
        """
        chosen = self._indices(questions)
        _, maps = self._effects.maps(chosen, weights)
        parts = [self._jumps_in(k, rows) for k, rows in maps.items()]
        variance, moved = (np.sum(each, axis=0) for each in zip(*parts, strict=True))
        return Steps(moved / np.maximum(variance, 1e-300), *self._slopes(chosen, weights, maps, people))

    def _slopes(
        self, questions: Questions, weights: Floats, maps: Mapping[int, Floats], people: str
    ) -> tuple[Floats, Floats]:
        """Return by how much the variance grows for each unit that the truth is above the estimate, and below it.

        If a part ``a`` of the people were at the largest weight, at a distance ``D``, the mean would be ``a D`` larger
        and the variance among people ``(1 - a)(variance + a D^2)``: its slope is ``D - variance / D`` at most. For an
        answer with share ``f`` that is ``1 - 2 f``, as in Wilson's interval. How much a variance among people counts
        follows from how many of them a view has.
        """
        flat, shares = weights.reshape(len(weights), -1), self.plausible(questions).reshape(-1)
        mean, spread = flat @ shares, np.maximum(_variances_of(flat, shares), 0.0)
        between, own = self._factors(people)
        ranges = np.sum([np.ptp(rows, axis=1) ** 2 / self.people[k] for k, rows in maps.items()], axis=0)
        counted = np.maximum(between * ranges / np.maximum(np.ptp(flat, axis=1) ** 2, 1e-300) - own, 0.0)
        farthest = (flat.max(axis=1) - mean, mean - flat.min(axis=1))
        up, down = (counted * np.maximum(far - spread / np.maximum(far, 1e-12), 0.0) for far in farthest)
        return up, down

    def _jumps_in(self, number: int, rows: Floats) -> tuple[Floats, Floats]:
        """Return the variance that a view adds, and that times how much one of its reports moves."""
        about, count = analysis(self.oracle.members[number]), self.people[number]
        shares = self._view_shares(number, self.plausible)
        noise = np.maximum(about.linear_variances(rows, shares), 0.0) / count
        sampled = _variances_of(rows, shares) / count if self.n > count else 0.0 * noise  # nobody is elsewhere
        moved = noise * about.typical_jumps(rows, shares) + sampled * np.ptp(rows, axis=1)
        return noise + sampled, moved / count

    def laws(self, question: int, counts: Floats) -> tuple[Bounded, ...]:
        """Return the law of the counts of a question: a report of a view with few people counts for many.

        Each holder adds to the variance, since chance puts them into one view or another: of an answer that nobody gave
        in a view, many may be elsewhere.
        """
        _, maps = self._effects.maps((question,), np.eye(len(counts)))
        jumps = [_largest(self.oracle.members[k], rows) / self.people[k] for k, rows in maps.items()]
        rise, fall = self._slopes((question,), np.eye(len(counts)), maps, RESPONDENTS)
        law = Bounded.of(counts, 0.0, self.n * np.max(jumps, axis=0))
        return (replace(law, slope=self.n * rise, fall=self.n * fall),)

    def covariance(
        self,
        questions: Iterable[int | str],
        weights: Floats | None = None,
        *,
        people: str = RESPONDENTS,
        held: Mapping[Questions, Floats] | None = None,
    ) -> Floats:
        """Return the covariance of linear combinations of the cells of a table; by default, of all cells in order.

        Given how many people each view has, it is exact except that estimated shares replace the true ones. It covers
        the noise of the reports and the assignment to views; for a population beyond those who reported, also the
        sampling. ``held`` are shares of tables to use instead of the estimated ones.
        """
        chosen = self._indices(questions)
        shape = tuple(self.oracle.answers[a] for a in chosen)
        rows = np.eye(prod(shape)).reshape(-1, *shape) if weights is None else weights
        return self._covariance_at(self.plausible, chosen, rows, people, held)

    def larger_covariance(self, questions: Iterable[int | str], weights: Floats) -> Floats:
        """Return a covariance that is at least as large, for every sum, as those at repaired and at unbiased shares.

        As in ``variances``, repaired shares alone are enough where noise does not depend on who holds what.
        """
        chosen = self._indices(questions)
        at_repaired = self._covariance_at(self.plausible, chosen, weights, RESPONDENTS)
        if self._is_even(self._effects.maps(chosen, weights)[1]):
            return at_repaired
        return at_repaired + _positive(self._covariance_at(self._unbiased, chosen, weights, RESPONDENTS) - at_repaired)

    def _covariance_at(
        self,
        shares_of: SharesOf,
        questions: Questions,
        rows: Floats,
        people: str,
        held: Mapping[Questions, Floats] | None = None,
    ) -> Floats:
        _, maps = self._effects.maps(questions, rows)
        between, own = self._factors(people)
        total = np.zeros((len(rows), len(rows)))
        for k, part in maps.items():
            shares = self._view_shares(k, shares_of, held)
            noise = analysis(self.oracle.members[k]).linear_covariance(part, shares)
            total += (noise + between * _covariance_of(part, shares)) / self.people[k]
        if own:
            total -= own * _covariance_of(rows.reshape(len(rows), -1), shares_of(questions).reshape(-1))
        return total

    def _factors(self, people: str) -> tuple[float, float]:
        """Return two factors: of the variance between people in a view, and of the variance among all who reported."""
        one_of(RESPONDENTS, POPULATION)("tables", "people", people)
        if people == POPULATION or self.n < 2:
            return 1.0, 0.0
        return self.n / (self.n - 1), 1 / (self.n - 1)

    def _view_shares(self, number: int, shares_of: SharesOf, held: Mapping[Questions, Floats] | None = None) -> Floats:
        """Return the shares of a view's values, from those of tables."""
        view = self.oracle.design.views[number]
        if held and view.questions in held and isinstance(view, Block):
            return held[view.questions].reshape(-1)
        known = self._known_views.setdefault(shares_of.__name__, {})
        if number not in known:
            table = shares_of(view.questions)
            if not isinstance(view, Block):
                table = view.project(view.questions[0], self.oracle.answers) @ table
            known[number] = table.reshape(-1)
        return known[number]

    @cached_property
    def _known_views(self) -> dict[str, dict[int, Floats]]:
        return {}

    # ----------------------------------------------------------------------------------------------------- results

    def __getitem__(self, question: int | str) -> "TableEstimate":
        """Return the estimate of one question; of a number, what its kind of question shows."""
        number = self.index(question)
        shown = self.questions[number].shown
        return self.estimate(number) if shown is None else shown(self, number)  # type: ignore[return-value]

    def estimate(self, question: int | str) -> TableEstimate:
        """Return the estimated counts of the answers to one question."""
        number = self.index(question)
        plain = self if self.original is None else self.original
        estimate = TableEstimate(
            self.oracle,  # type: ignore[arg-type]
            plain.shares((number,)) * self.n,
            np.sqrt(plain.variances((number,))) * self.n,
            self.n,
            labels=self.questions[number].labels,
            basis=Basis(totals=(self.n,)),
            tables=plain,
            question=number,
        )
        if self.original is None:
            return estimate
        return replace(estimate, counts=self.shares((number,)) * self.n, method=self.method, original=estimate)

    def cross(self, question: int | str, other: int | str) -> Cross:
        """Return the table of two questions together, the first one's answers as rows."""
        rows, columns = self.index(question), self.index(other)
        if rows == columns:
            raise ParameterError(f"cross: name two different questions, got {self.names[rows]!r} twice")
        self._indices(sorted((rows, columns)))
        return Cross(self, rows, columns)

    def associations(self, level: float = 0.95) -> "Associations":
        """Return the association of every pair of questions that some view has, adjusted for their number (Holm)."""
        from fldp.oracles.sampled.associations import all_associations

        return all_associations(self.original or self, level)

    def postprocessed(self, method: str) -> "Tables":
        """Return biased tables without negative cells whose margins still agree: what ``postprocess`` returns."""
        one_of(CONSISTENT)("postprocess", "method", method)
        source = self.original or self
        singles = [(a,) for a in range(len(self.oracle.answers))]
        fixed: dict[Questions, Floats] = {
            single: _norm_sub(source.shares(single), 1.0) for single in singles if source.has(single)
        }
        for a, b in source.crosses:
            if source.has((a, b)):
                fixed[a, b] = raked(source.shares((a, b)), fixed[(a,)], fixed[(b,)])
        return replace(source, method=method, original=source, repaired=fixed)

    def has(self, questions: Questions) -> bool:
        """Whether there are reports about these questions together."""
        try:
            self._effects.maps(questions, np.ones((1, *(self.oracle.answers[a] for a in questions))))
        except DomainError:
            return False
        return True

    def __repr__(self) -> str:
        return f"<tables of {len(self.questions)} questions from {self.n} reports of {self.oracle!r}>"


def _largest(member: FrequencyOracle, rows: Floats) -> Floats:
    """Return the most that a report adds to the sum of the estimates with each row of weights, or takes away."""
    plans = ([analysis(member).fakes_weighing(side * row) for side in (1, -1)] for row in rows)
    return np.array([max(0.0 if plan is None else plan.best() for plan in both) for both in plans])


def _variances_of(rows: Floats, shares: Floats) -> Floats:
    """Return the variance of every row of numbers over people with these shares."""
    return np.asarray(rows**2 @ shares - (rows @ shares) ** 2)


def _positive(matrix: Floats) -> Floats:
    """Return the part of a symmetric matrix that is not negative.

    >>> _positive(np.array([[0.0, 2.0], [2.0, 0.0]])).round(9).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    sizes, directions = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray(directions * np.maximum(sizes, 0.0) @ directions.T)


def _covariance_of(rows: Floats, shares: Floats) -> NDArray[np.float64]:
    mean = rows @ shares
    return np.asarray((rows * shares) @ rows.T - np.outer(mean, mean))
