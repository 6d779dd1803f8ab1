"""Input-discriminative unary encoding (IDUE), for values with budgets of their own."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array
from fldp.data.values import Values
from fldp.numerics.kernels import U64
from fldp.oracles.base.bit_reports import LANES, add_bits, bit_rows
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.support_counts import SupportsByKind
from fldp.oracles.base.symbol_reports import support_counts
from fldp.oracles.base.treatment import Budgets, own_budgets, read_budgets
from fldp.oracles.plain.unary import throw_each
from fldp.randomness.budget_coins import STEPS, LevelCoins, best_balance
from fldp.randomness.coins import BITS, degenerate, exp_lower
from fldp.randomness.stream import Words
from fldp.support.validation import Described, fail, integer, optional

_MIN_POWER = 1 + Fraction(1, 1 << 60)


@dataclass(frozen=True, repr=False)
class IDUE(FrequencyOracle):
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
        if exp_lower(self._levels[0]) < _MIN_POWER:
            raise degenerate(self.title, self._levels[0])
        if self.balance is None:
            sizes = tuple(np.bincount(self._kind_of, minlength=len(self._levels)).tolist())
            object.__setattr__(self, "balance", best_balance(self._levels, sizes))

    @cached_property
    def _levels(self) -> tuple[float, ...]:
        """All budgets, sorted."""
        return tuple(sorted({self.epsilon, *(budget for _, budget in self.budgets)}))

    @cached_property
    def _kind_of(self) -> NDArray[np.intp]:
        """The level of every value."""
        kinds = np.full(self.domain_size, len(self._levels) - 1, np.intp)
        for value, budget in self.budgets:
            kinds[value] = self._levels.index(budget)
        return kinds

    @cached_property
    def coins(self) -> LevelCoins:
        """The realised coins of all levels."""
        assert self.balance is not None
        return LevelCoins.build(self.title, self._levels, self.balance)

    @property
    def words(self) -> int:
        return 1 + self.coins.planes * -(-self.domain_size // 64)

    @cached_property
    def report_format(self) -> ReportFormat:
        return bit_rows(self.domain_size)

    @cached_property
    def estimator(self) -> SupportsByKind:
        kinds = tuple((self.coins.p(level), self.coins.q(level)) for level in range(len(self._levels)))
        return SupportsByKind(self.domain_size, kinds, self._kind_of, independent=True)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return support_counts(self.domain_size)

    @cached_property
    def _masks(self) -> NDArray[np.uint64]:
        """The thresholds of all values as bit planes, 64 values to a word; 0 for the padding of the last word."""
        limits = np.zeros(-(-self.domain_size // 64) * 64, np.uint64)
        limits[: self.domain_size] = np.array(self.coins.other, np.uint64)[self._kind_of]
        planes = np.arange(self.coins.planes, dtype=np.uint64)[:, None]
        bits = (limits >> planes & U64(1)).astype(np.uint8)
        return np.packbits(bits, axis=1, bitorder="little").view("<u8")

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        true = np.array(self.coins.true, np.uint64)[self._kind_of]
        throw_each.over(len(values))(values, words, self._masks, true, out)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_bits.for_work(8 * data.size)(np.ascontiguousarray(data), LANES, state)
