"""questions: which views of several questions to draw, how often, and with which oracle, for the least error.

All errors come from one formula, the mean variance of a share over the cells of a table at uniform shares, people
included, times the number of people:

    V(T) = 1/D_T^2  sum over sets U of T's questions of  product of (d_a - 1) / tau_U
    tau_U = sum over views v with all of U of  w_v / sigma_v^2

The importance of a table weighs its error. Weights of views come out of a few multiplications, additions, divisions and
square roots of plain floats in a fixed order, so that a survey has the same version wherever it is planned. For the
same reason floats are added up in loops: ``sum`` rounds differently from Python 3.12 on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod, sqrt

from fldp.data.dataframes import Columns, Framed
from fldp.errors import ParameterError
from fldp.estimation.expected_error import users_constraint
from fldp.numerics.chi_square import chi_square_quantile, noncentrality_with
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.record_oracle import as_answers
from fldp.oracles.flexible.fwr import FWR
from fldp.oracles.sampled.sampled import Sampled, of_questions
from fldp.oracles.sampled.views import BASES, MAX_VIEWS, Block, base_oracle
from fldp.support.display import Displayed
from fldp.support.exact_numbers import exact
from fldp.support.validation import fail, integer, one_of, positive

ALL, NONE = "all", "none"
SCALE = 4096  # weights are whole numbers of this, all together
_STEPS, _CLOSE, _NEAR = 500, 1.0001, 1.05
_MAX_TOGETHER, _MAX_BLOCK = 5, 4096
_WIDE = 2.0  # from this epsilon on, pairs that nobody asked for may help those that somebody did

Questions = tuple[int, ...]
Crosses = str | Sequence[Sequence[int]]


@dataclass(frozen=True)
class Wanted:
    """The tables that are wanted, each with its importance, and the constants of the formula."""

    answers: tuple[int, ...]
    tables: tuple[tuple[Questions, float], ...]

    @cached_property
    def constants(self) -> dict[Questions, float]:
        """What each effect costs: its degrees of freedom, times the importance of the tables that are made of it."""
        costs: dict[Questions, float] = {}
        for table, importance in self.tables:
            cells = prod(self.answers[a] for a in table)
            for effect in subsets(table):
                freedom = prod(self.answers[a] - 1 for a in effect)
                costs[effect] = costs.get(effect, 0.0) + freedom * (importance / (cells * cells))
        return costs


def subsets(questions: Questions) -> Iterator[Questions]:
    """Yield all sets of some of these questions, the small ones first."""
    for size in range(1, len(questions) + 1):
        yield from combinations(questions, size)


def sigma_squared(oracle: FrequencyOracle) -> float:
    """Return the variance of an effect of one report at uniform shares, from the integers of the coins."""
    return oracle.domain_size * analysis(oracle).spread()


@dataclass(frozen=True)
class ViewDesign:
    """Blocks with their shares, and the error that they give."""

    wanted: Wanted
    blocks: tuple[Questions, ...]
    sigmas: tuple[float, ...]
    shares: tuple[float, ...]

    @cached_property
    def _tau(self) -> dict[Questions, float]:
        precision: dict[Questions, float] = {}
        for block, sigma, share in zip(self.blocks, self.sigmas, self.shares, strict=True):
            for effect in subsets(block):
                precision[effect] = precision.get(effect, 0.0) + share / sigma
        return precision

    def tau(self, effect: Questions) -> float:
        """Return how much one report tells about an effect, on average."""
        return self._tau.get(effect, 0.0)

    @cached_property
    def score(self) -> float:
        """The weighted sum of the errors of all wanted tables; infinite where one cannot be made."""
        total = 0.0
        for effect, constant in self.wanted.constants.items():
            known = self.tau(effect)
            if not known:
                return float("inf")
            total += constant / known
        return total

    def error(self, table: Questions) -> float:
        """Return the mean variance of a share of this table, times the number of people."""
        answers, total = self.wanted.answers, 0.0
        for effect in subsets(table):
            known = self.tau(effect)
            if not known:
                return float("inf")
            total += prod(answers[a] - 1 for a in effect) / known
        cells = prod(answers[a] for a in table)
        return total / (cells * cells)


def weighed(wanted: Wanted, blocks: Sequence[Questions], sigmas: Sequence[float]) -> ViewDesign:
    """Return the blocks with the shares of the least error, by multiplicative steps from equal ones."""
    numbers = {effect: k for k, effect in enumerate(wanted.constants)}
    constants = list(wanted.constants.values())
    inside = [[numbers[effect] for effect in subsets(block) if effect in numbers] for block in blocks]
    shares = [1.0 / len(blocks)] * len(blocks)
    for _ in range(_STEPS):
        tau = _information(inside, sigmas, shares, len(constants))
        if not all(tau):
            break
        score, slopes = _slopes(constants, tau, inside, sigmas)
        if max(slopes) <= _CLOSE * score:
            break
        raised, total = [share * sqrt(slope) for share, slope in zip(shares, slopes, strict=True)], 0.0
        for part in raised:
            total += part
        shares = [part / total for part in raised]
    return ViewDesign(wanted, tuple(blocks), tuple(sigmas), tuple(shares))


def _information(
    inside: Sequence[Sequence[int]], sigmas: Sequence[float], shares: Sequence[float], effects: int
) -> list[float]:
    """Return how much one report tells about each effect, on average."""
    tau = [0.0] * effects
    for block, sigma, share in zip(inside, sigmas, shares, strict=True):
        part = share / sigma
        for k in block:
            tau[k] += part
    return tau


def _slopes(
    constants: Sequence[float], tau: Sequence[float], inside: Sequence[Sequence[int]], sigmas: Sequence[float]
) -> tuple[float, list[float]]:
    """Return the score, and how fast it falls with the share of each block."""
    score, costs = 0.0, []
    for constant, known in zip(constants, tau, strict=True):
        score += constant / known
        costs.append(constant / (known * known))
    slopes = []
    for block, sigma in zip(inside, sigmas, strict=True):
        slope = 0.0
        for k in block:
            slope += costs[k]
        slopes.append(slope / sigma)
    return score, slopes


def covering(questions: int, together: int) -> list[Questions]:
    """Return blocks of ``together`` questions that have all pairs about equally often.

    All of them where they are pairs or single; else greedily: the least used question first, then the one that is least
    covered with those chosen, ties to the least used, then to the smallest.

    >>> covering(4, 2), len(covering(20, 4))
    ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], 124)
    """
    if together <= 2:
        return list(combinations(range(questions), together))
    pairs, used = [[0] * questions for _ in range(questions)], [0] * questions
    blocks: dict[Questions, None] = {}
    for _ in range(-(-4 * questions * (questions - 1) // (together * (together - 1)))):
        chosen = [min(range(questions), key=lambda a: (used[a], a))]
        while len(chosen) < together:
            rest = [a for a in range(questions) if a not in chosen]
            chosen.append(min(rest, key=lambda a: (sum(pairs[a][b] for b in chosen), used[a], a)))
        for a in chosen:
            used[a] += 1
            for b in chosen:
                pairs[a][b] += a != b
        blocks[tuple(sorted(chosen))] = None
    return sorted(blocks)


def candidates(wanted: Wanted, crosses: str | tuple[Questions, ...], epsilon: float) -> Iterator[list[Questions]]:
    """Yield the lists of blocks to try."""
    answers, count = wanted.answers, len(wanted.answers)
    singles, pairs = covering(count, 1), covering(count, min(2, count))
    if isinstance(crosses, str) and len(set(answers)) == 1:
        for together in range(1, min(_MAX_TOGETHER, count) + 1):
            if answers[0] ** together <= _MAX_BLOCK or together == 1:
                yield covering(count, together)
        return
    if isinstance(crosses, str):
        yield singles
        chosen = pairs if count > 1 else []
    else:
        chosen = sorted(set(crosses) | set(pairs)) if epsilon >= _WIDE and count > 1 else sorted(set(crosses))
    small = [pair for pair in chosen if prod(answers[a] for a in pair) <= _MAX_BLOCK or pair in (crosses or ())]
    if small:
        yield [*singles, *small]


@dataclass(frozen=True, eq=False)
class QuestionPlan(Framed, Displayed):
    """A plan for several questions: the oracle, and the errors of all tables for this many people.

    ``rows`` has a row for each table: its questions, the people in views that have all of them, and the standard error
    of one share. ``smallest`` is the least association, as Cramer's V, that a test at 5 % finds in 4 of 5 surveys.
    """

    oracle: Sampled
    design: ViewDesign
    users: int

    @property
    def people(self) -> list[tuple[list[str | int], float]]:
        """Every view, and how many people it will have on average."""
        design = self.oracle.design
        total, parts = sum(design.weights), zip(design.entries, design.weights, strict=True)
        return [(entry, self.users * weight / total) for entry, weight in parts]

    @property
    def tables(self) -> list[Questions]:
        """All tables that can be estimated of one and of two questions."""
        count = len(self.oracle.answers)
        every = [*covering(count, 1), *(covering(count, 2) if count > 1 else [])]
        return [table for table in every if self.design.error(table) < float("inf")]

    def stderr(self, table: Questions) -> float:
        """Return the standard error of one share of a table, on average over its cells, at equal shares."""
        return sqrt(self.design.error(table) / self.users)

    def smallest(self, table: Questions) -> float:
        """Return the least Cramer's V of two questions that a test at 5 % finds with 80 % power."""
        sizes = [self.oracle.answers[a] for a in table]
        freedom = prod(size - 1 for size in sizes)
        noncentrality = noncentrality_with(0.8, chi_square_quantile(0.95, freedom), freedom)
        # At equal shares the form of V is a multiple of the identity, and so is the covariance of the deviation.
        spread = 1 / (self.design.tau(table) * self.users)
        return min(1.0, sqrt(noncentrality * spread / (min(sizes) - 1)))

    def _columns(self) -> Columns:
        tables = self.tables
        return {
            "questions": [" x ".join(map(str, table)) for table in tables],
            "stderr": [self.stderr(table) for table in tables],
            "smallest": [self.smallest(table) if len(table) > 1 else None for table in tables],
        }

    def __repr__(self) -> str:
        return f"<plan of {len(self.oracle.answers)} questions for {self.users} users: {self.oracle!r}>"


def questions(
    answers: Sequence[int],
    epsilon: float,
    cross: Crosses = NONE,
    *,
    importance: Sequence[float] | None = None,
    cross_importance: Sequence[float] | None = None,
    base: str | None = None,
    eta: float = 1,
) -> Sampled:
    """Return the oracle for several questions with the least error, which asks all of them in one report.

    ``answers`` are the numbers of answers. ``cross`` says which questions are wanted together: ``"all"`` pairs,
    ``"none"``, or a list of pairs. ``importance`` weighs the errors of single questions, and
    ``cross_importance`` the errors of the listed pairs; all 1 unless given. One epsilon covers all answers together.

    >>> questions([4, 4, 2], epsilon=1.0, cross="all").weights
    (318, 318, 302, 1068, 1045, 1045)
    """
    return _chosen(answers, epsilon, cross, importance, cross_importance, base, eta)[0]


def plan_questions(
    answers: Sequence[int],
    epsilon: float,
    users: int,
    cross: Crosses = NONE,
    **options: object,
) -> QuestionPlan:
    """Return a plan for several questions: the oracle of ``questions``, and the errors to expect.

    >>> plan = plan_questions([4] * 10, 1.0, 100_000, "all")
    >>> round(plan.design.error((0, 1)), 1), round(plan.design.error((0,)), 1)
    (94.1, 51.9)
    """
    count = users_constraint("plan", "users", users)
    chosen = {"importance": None, "cross_importance": None, "base": None, "eta": 1, **options}
    oracle, design = _chosen(answers, epsilon, cross, *chosen.values())  # type: ignore[arg-type]
    return QuestionPlan(oracle, design, count)


def planned(oracle: Oracle, users: int) -> QuestionPlan:
    """Return the errors to expect of an oracle of several questions that exists already."""
    asked, count = of_questions("plan", oracle), users_constraint("plan", "users", users)
    views = [
        (view.questions, sigma_squared(member), float(weight))
        for view, member, weight in zip(asked.design.views, asked.members, asked.design.weights, strict=True)
        if isinstance(view, Block)
    ]
    total = float(sum(asked.design.weights))
    blocks, sigmas, weights = zip(*views, strict=True)
    every = tuple(((a,), 1.0) for a in range(len(asked.answers)))
    shares = tuple(weight / total for weight in weights)
    return QuestionPlan(asked, ViewDesign(Wanted(asked.answers, every), blocks, sigmas, shares), count)


def _chosen(
    answers: Sequence[int],
    epsilon: float,
    cross: Crosses,
    importance: Sequence[float] | None,
    cross_importance: Sequence[float] | None,
    base: str | None,
    eta: float,
) -> tuple[Sampled, ViewDesign]:
    sizes, bound = as_answers("questions", "answers", answers), positive("questions", "epsilon", epsilon)
    pairs = _pairs(sizes, cross)
    wanted = _wanted(sizes, pairs, importance, cross_importance)
    first, *others = _bases(base, eta)
    lists = list(candidates(wanted, pairs, bound))
    best = min(_designs(wanted, lists, bound, first, eta), key=lambda each: each.score)
    if best.score == float("inf"):
        rule = "ask fewer, with fewer answers, or with another epsilon"
        raise ParameterError(f"questions: no oracle can ask these questions at epsilon {bound:g}; {rule}")
    # The views have the least error. Among bases that are nearly as good, the shortest report wins.
    near = [(_oracle(sizes, bound, best, first, eta), best)]
    for name in others:
        design = min(_designs(wanted, [list(best.blocks)], bound, name, eta), key=lambda each: each.score)
        if design.score <= _NEAR * best.score:
            near.append((_oracle(sizes, bound, design, name, eta), design))
    return min(near, key=lambda each: each[0].report_format.bits)


def _bases(base: str | None, eta: float) -> list[str]:
    """Return the bases to try, the one with the least error first."""
    if base is not None:
        return [str(one_of(*BASES)("questions", "base", base))]
    return [FWR.name] if eta != 1 else [name for name in BASES if name != FWR.name]


def _designs(
    wanted: Wanted, lists: Sequence[list[Questions]], epsilon: float, base: str, eta: float
) -> Iterator[ViewDesign]:
    known: dict[int, float] = {}
    for blocks in lists:
        if len(blocks) > MAX_VIEWS:
            continue
        sizes = [prod(wanted.answers[a] for a in block) for block in blocks]
        try:
            for size in sizes:
                if size not in known:
                    known[size] = sigma_squared(base_oracle(base, epsilon, size, exact(eta)))
        except ParameterError:  # an epsilon, or an eta, that the base cannot realise here
            continue
        yield weighed(wanted, blocks, [known[size] for size in sizes])
    yield ViewDesign(wanted, (), (), ())  # nothing at all


def _oracle(answers: tuple[int, ...], epsilon: float, design: ViewDesign, base: str, eta: float) -> Sampled:
    """Return the oracle with whole weights; what would hardly ever be drawn is left out."""
    weights = [round(SCALE * share) for share in design.shares]
    kept = [(block, weight) for block, weight in zip(design.blocks, weights, strict=True) if weight]
    views, drawn = zip(*kept, strict=True)
    return Sampled(epsilon=epsilon, answers=answers, views=views, weights=drawn, base=base, eta=eta)  # type: ignore[arg-type]


def _pairs(answers: tuple[int, ...], cross: object) -> str | tuple[Questions, ...]:
    """Return which pairs are wanted: all, none, or a list."""
    if cross in (ALL, NONE, (), []):
        return ALL if cross == ALL and len(answers) > 1 else NONE
    rule = f"'all', 'none', or pairs of questions from 0 to {len(answers) - 1}"
    if isinstance(cross, str) or not isinstance(cross, Iterable):
        raise fail("questions", "cross", rule, cross)
    pairs = []
    for pair in cross:
        numbers = sorted(integer(0, len(answers) - 1)("questions", "a question of cross", a) for a in pair)
        if len(numbers) != 2 or numbers[0] == numbers[1] or tuple(numbers) in pairs:
            raise fail("questions", "cross", rule, list(pair))
        pairs.append(tuple(numbers))
    return tuple(pairs)


def _wanted(
    answers: tuple[int, ...],
    pairs: str | tuple[Questions, ...],
    importance: Sequence[float] | None,
    cross_importance: Sequence[float] | None,
) -> Wanted:
    crossed = covering(len(answers), 2) if pairs == ALL else [] if isinstance(pairs, str) else list(pairs)
    singles = _weights("importance", importance, len(answers))
    both = _weights("cross_importance", cross_importance, len(crossed))
    tables = [((a,), weight) for a, weight in enumerate(singles)]
    return Wanted(answers, (*tables, *zip(crossed, both, strict=True)))


def _weights(name: str, weights: Sequence[float] | None, count: int) -> list[float]:
    if weights is None:
        return [1.0] * count
    if len(weights) != count:
        raise fail("questions", name, f"{count} numbers", len(weights))
    return [positive("questions", f"a number of {name}", weight) for weight in weights]
