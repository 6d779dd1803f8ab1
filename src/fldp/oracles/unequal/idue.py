"""Input-discriminative unary encoding (IDUE), for values with budgets of their own."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat
from fldp.data.reports import Array
from fldp.data.values import Values
from fldp.numerics.kernels import U64
from fldp.numerics.types import Floats
from fldp.oracles.base.bit_reports import LANES, add_bits, bit_rows
from fldp.oracles.base.frequency_oracle import FrequencyOracle, Law
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.support_counts import Chances, SupportsByKind, UnevenOracle
from fldp.oracles.base.treatment import Budgets, own_budgets, read_budgets
from fldp.oracles.plain.unary import throw_each
from fldp.randomness.budget_coins import STEPS, LevelCoins, best_balance
from fldp.randomness.coins import BITS, degenerate, exp_lower
from fldp.randomness.stream import Words
from fldp.support.validation import Described, fail, integer, optional

_MIN_POWER = 1 + Fraction(1, 1 << 60)


@dataclass(frozen=True, repr=False)
class IDUE(UnevenOracle):
    """Unary encoding for values with different budgets: a bit for each value, randomized by the budget of that value.

    ``budgets`` maps the values that need more protection to budgets below ``epsilon``. Two values are protected by the
    smaller of their budgets: MinID-LDP, and so eps-LDP for any two. The bits of the other values are more accurate in
    return, at most as accurate as if their epsilon were twice the least budget. ``p`` and ``q`` depend on the budget;
    ``fldp.randomness.budget_coins`` derives them and shows that they are optimal.

    ``balance`` says how much accuracy the values with the least budget give to the others, from 512 (OUE with that
    budget) to 1023. By default it is optimal where no value is frequent.

    Gu, Li, Xiong, Cao: Providing input-discriminative protection for local differential privacy, ICDE 2020.

    Report: a bit per value | 1,023 | ID-LDP: a budget for each value
    Fields: ``d`` bits, value 0 first
    Words: 1 + planes x ceil(d/64) | as SUE, with thresholds by the budget of each value
    Best fake: the bits of all targets, filled up as for OUE | the sum of ``(1 - q_t) / (p_t - q_t)``

    >>> oracle = IDUE(epsilon=4.0, domain_size=100, budgets={3: 1.0, 7: 1.0})
    >>> oracle
    IDUE(epsilon=4.0, domain_size=100, budgets=[[3, 1.0], [7, 1.0]], balance=804)
    >>> each = oracle.variance(1, np.zeros(100))
    >>> [round(float(each[value]), 2) for value in (3, 0)]
    [19.95, 1.49]
    """

    budgets: Budgets = field(kw_only=True)
    balance: int | None = field(default=None, kw_only=True)

    examples = (
        {"epsilon": 2.0, "domain_size": 5, "budgets": {0: 0.5}},
        {"epsilon": 4.0, "domain_size": 70, "budgets": {3: 1.0, 64: 2.5, 69: 1.0}},
        {"epsilon": 1.5, "domain_size": 9, "budgets": {8: 1.25}, "balance": 900},
    )
    name = "idue"
    server_work = "O(n d)"
    params = {  # noqa: RUF012
        **FrequencyOracle.params,
        "budgets": Described(own_budgets, "values with budgets such as 0:0.5,3:1", read=read_budgets),
        "balance": Described(
            optional(integer(STEPS // 2, STEPS - 1)),
            f"from {STEPS // 2} to {STEPS - 1}, the best for these budgets by default",
        ),
    }

    def _settle_parameters(self) -> None:
        for value, budget in self.budgets:
            if value >= self.domain_size:
                raise fail(self.title, "a value in budgets", f"below {self.domain_size}", value)
            if not budget < self.epsilon:
                raise fail(self.title, "a budget in budgets", f"below epsilon, {self.epsilon:g}", budget)
        if not self.epsilon < BITS:
            raise degenerate(self.title, self.epsilon)
        if exp_lower(self.levels[0]) < _MIN_POWER:
            raise degenerate(self.title, self.levels[0])
        if self.balance is None:
            sizes = tuple(np.bincount(self.kind_of, minlength=len(self.levels)).tolist())
            object.__setattr__(self, "balance", best_balance(self.levels, sizes))

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """All budgets, sorted."""
        return tuple(sorted({self.epsilon, *(budget for _, budget in self.budgets)}))

    @cached_property
    def kind_of(self) -> NDArray[np.intp]:
        kinds = np.full(self.domain_size, len(self.levels) - 1, np.intp)
        for value, budget in self.budgets:
            kinds[value] = self.levels.index(budget)
        return kinds

    @cached_property
    def coins(self) -> LevelCoins:
        """The realised coins of all levels."""
        assert self.balance is not None
        return LevelCoins.build(self.title, self.levels, self.balance)

    @cached_property
    def kinds(self) -> tuple[Chances, ...]:
        return tuple((self.coins.p(level), self.coins.q(level)) for level in range(len(self.levels)))

    @property
    def promise(self) -> tuple[Any, ...]:
        return "IDLDP", self.epsilon, self.budgets

    @property
    def unprotected(self) -> str:
        few = len(self.budgets)
        return (
            f"Answers are not protected alike: {few:,} of {self.domain_size:,} by a budget of their own, from "
            f"{self.levels[0]:g}, and any two others by epsilon {self.epsilon:g}."
        )

    @property
    def words(self) -> int:
        return 1 + self.coins.planes * -(-self.domain_size // 64)

    @cached_property
    def report_format(self) -> ReportFormat:
        return bit_rows(self.domain_size)

    @cached_property
    def estimator(self) -> SupportsByKind:
        return SupportsByKind(self.domain_size, self.kinds, self.kind_of, independent=True)

    @property
    def outcomes(self) -> int:
        return 1 << self.domain_size

    @cached_property
    def _masks(self) -> NDArray[np.uint64]:
        """The thresholds of all values as bit planes, 64 values to a word; 0 for the padding of the last word."""
        limits = np.zeros(-(-self.domain_size // 64) * 64, np.uint64)
        limits[: self.domain_size] = np.array(self.coins.other, np.uint64)[self.kind_of]
        planes = np.arange(self.coins.planes, dtype=np.uint64)[:, None]
        bits = (limits >> planes & U64(1)).astype(np.uint8)
        return np.packbits(bits, axis=1, bitorder="little").view("<u8")

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        true = np.array(self.coins.true, np.uint64)[self.kind_of]
        throw_each.over(len(values))(values, words, self._masks, true, out)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_bits.compiled(np.ascontiguousarray(data), LANES, state)

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Bands by the bits of the two values; all other bits have the same law under both."""
        own, others = (self.kinds[self.kind_of[each]] for each in (value, other))
        return _two_bits(own, others, self.domain_size - 2)

    def likelihoods(self, data: Array) -> Floats:
        """Up to a common factor, a value is likely or not by its own bit alone."""
        bits = np.unpackbits(data, axis=1, count=self.domain_size, bitorder="little")
        ones = np.array([float(p / q) for p, q in self.kinds])[self.kind_of]
        zeros = np.array([float((1 - p) / (1 - q)) for p, q in self.kinds])[self.kind_of]
        return np.where(bits, ones, zeros)

    def law(self, value: int, public: Any = None) -> Law:
        del public
        self.check_enumerable(value)
        chances = [self.kinds[kind][k != value] for k, kind in enumerate(self.kind_of.tolist())]
        return dict(enumerate(_products(chances)))

    def resized(self, domain_size: int) -> "IDUE":
        """Return the oracle on the first values that have budgets, and one without, as many as fit."""
        if domain_size >= self.domain_size:
            return self
        values = [value for value, _ in self.budgets][: max(1, domain_size - 2)]
        few = tuple((place, dict(self.budgets)[value]) for place, value in enumerate(values))
        return replace(self, domain_size=max(domain_size, len(values) + 1), budgets=few)


@lru_cache(maxsize=4096)
def _two_bits(own: Chances, others: Chances, rest: int) -> Profile:
    """Return the profile of two values by their own bits, with ``rest`` other bits."""
    (p, q), (r, s) = own, others
    bands = (
        Band(1 << rest, (p if a else 1 - p) * (s if b else 1 - s), (q if a else 1 - q) * (r if b else 1 - r))
        for a, b in product((0, 1), repeat=2)
    )
    return Profile.of(bands, 4 << rest)


def _products(chances: list[Fraction]) -> Iterator[Fraction]:
    """Yield the probability of every row of independent bits, in the order of the rows as numbers."""
    products = [Fraction(1)]
    for chance in chances:
        products = [share * (1 - chance) for share in products] + [share * chance for share in products]
    yield from products
