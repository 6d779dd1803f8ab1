"""Subset selection (SS): report a set of values that contains the true one with probability p."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array
from fldp.data.values import Values
from fldp.numerics.kernels import U64, ZERO, Kernel
from fldp.numerics.types import Floats
from fldp.numerics.word_kernels import multiply_high
from fldp.oracles.base.frequency_oracle import MAX_VALUES, FrequencyOracle
from fldp.oracles.base.oracle import Sampler
from fldp.oracles.base.support_counts import Supports
from fldp.oracles.base.symbol_reports import add_symbols, symbol_counts, symbol_sets
from fldp.oracles.plain.random_sets import RandomSets
from fldp.randomness.coins import SubsetCoin, exp_lower
from fldp.randomness.stream import Words
from fldp.responder.response import Response
from fldp.responder.set_responses import best_size
from fldp.support.validation import Described, fail, integer, optional

_SEVEN, _EIGHT = U64(7), U64(8)


@Kernel
def draw_subsets(values: Any, words: Any, keep: Any, others: Any, out: Any) -> None:
    """Draw a set for each value, which contains the value if its coin is below ``keep``.

    Word 0 is the coin; then there is one word for each other member, so the last word is unused if the value is in the
    set. There are ``others`` other values.
    """
    marks, row = np.empty((others + _EIGHT) & ~_SEVEN, np.uint8), np.empty(out.shape[1] + 1, out.dtype)
    for i in range(len(values)):
        marks[:] = 0
        value, named = U64(values[i]), U64(words[i, 0] < keep)
        marks[value] = named
        mark_others(value, words[i, 1:], U64(out.shape[1]) - named, others, marks)
        write_marked(marks, row)
        out[i] = row[:-1]


@Kernel
def mark_others(value: Any, words: Any, members: Any, others: Any, marks: Any) -> None:
    """Mark ``members`` values other than ``value``, by Floyd's algorithm.

    The other values are numbered from 0 in order. Each step draws a number below a bound that grows by one from step to
    step up to ``others``; if that number is taken, the step takes the largest number below the bound instead.
    """
    # Constant time: an unused word takes the same steps as the others, with ``used`` = 0 in place of a branch.
    bound = others - members
    for k in range(len(words)):
        used = U64(bound < others)
        last = bound + U64(bound >= value)
        bound += used
        drawn = used * multiply_high(words[k], bound)
        drawn += U64(drawn >= value)
        drawn += U64(marks[drawn]) * used * (last - drawn)
        marks[drawn] |= used


@Kernel
def write_marked(marks: Any, row: Any) -> None:
    """Write the marked values sorted: the order in which they were drawn would tell the true one.

    Every value is written, and the next one over it unless it is marked; the row has room for one more.
    """
    eights, place = marks.view(np.uint64), ZERO
    for eight in range(len(eights)):
        if eights[eight] != ZERO:
            for symbol in range(U64(8 * eight), U64(8 * eight + 8)):
                row[place] = symbol
                place += U64(marks[symbol])


def even_size(epsilon: float, domain_size: int) -> int:
    """Return the size of sets with the least error on average over all contrasts of values, ties to the smaller.

    That is what counts where the total is known anyway: ``Z^2/(w (d - w))`` with ``Z = d + (e^eps - 1) w``.

    >>> even_size(1.0, 6), best_size(1.0, 6), even_size(1.0, 16)
    (2, 1, 4)
    """
    power = exp_lower(epsilon)
    low = max(1, int(domain_size / (power + 1)))

    def error(size: int) -> Fraction:
        return (domain_size + (power - 1) * size) ** 2 / (size * (domain_size - size))

    return min((low, low + 1)[: domain_size - low], key=error)


@dataclass(frozen=True, eq=False)
class SetSupports(Supports):
    """Supports of sets of one size; ``both_own`` and ``both_others`` say how likely a set holds two given values."""

    both_own: Fraction = field(kw_only=True)
    both_others: Fraction = field(kw_only=True)

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        """A set has a fixed size, so its members push each other out: once for the true value, once among the others.

        Ordered pairs of members: a holder of one has ``2 (m - 1)`` with the true value and ``(m - 1) (m - 2)`` without.
        """
        del options
        p, q, m = self.p, self.q, int(members.sum())
        true, others = self.both_own - p * q, self.both_others - q * q
        inside = float(counts[members].sum())
        held = inside * float(2 * (m - 1) * true + (m - 1) * (m - 2) * others)
        unheld = (n - inside) * float(m * (m - 1) * others)
        return (held + unheld) / float((p - q) ** 2)


@dataclass(frozen=True, repr=False)
class SS(FrequencyOracle):
    """Subset selection: a set of ``w`` values, sorted, that holds the true one with probability ``p``.

    ``p = w e^eps/(w e^eps + d - w)``, ``q = (w - p)/(d - 1)``, and ``w`` is near ``d/(e^eps+1)``. All sets that hold
    the true value are alike, and so are all others; the first are ``e^eps`` times as likely as the second, so it is
    eps-LDP. Of the eps-LDP oracles here it has the least error at medium eps, and the largest reports.

    The members are drawn by multiply-high, so sets are alike only up to ``w d/2^64``. The coin makes up for it:
    see ``fldp.randomness.coins.SubsetCoin``. Where that would cost too much, which takes a domain of many millions or a
    minute epsilon, the constructor refuses. Where nobody gives the words, sets of either kind are exactly alike, by the
    same coin: ``fldp.oracles.plain.random_sets`` and ``fldp.responder.set_responses``. ``set_size`` is ``w``, the best
    for rare values unless given.

    Ye, Barg: Optimal schemes for discrete distribution estimation under locally differential privacy, IEEE
    Transactions on Information Theory 2018. Wang et al.: Mutual information optimally local private discrete
    distribution estimation, arXiv 1607.08025. Bentley, Floyd: A sample of brilliance, CACM 1987.

    Report: a set of values
    Fields: the ``w`` values of the set in rising order: the bits of ``d - 1`` each
    Words: 1 + w | a coin that names the value or not; then Floyd's sample of the others, one word a step, by
      multiply-high
    Best fake: a set with as many targets as it has room for | ``(min(r, w) - r q) / (p - q)``

    >>> oracle = SS(epsilon=1.0, domain_size=12)
    >>> oracle._size, oracle.report_format.bits
    (3, 12)
    >>> oracle.privatize([1, 2, 3])
    <3 reports of SS(epsilon=1.0, domain_size=12)>
    """

    set_size: int | None = field(default=None, kw_only=True)

    examples = ((1.0, 10), (0.1, 2), (4.0, 7), (0.5, 65), (3.0, 1000))
    name = "ss"
    params = {  # noqa: RUF012
        **FrequencyOracle.params,
        "set_size": Described(optional(integer(1, MAX_VALUES)), "values in a set; the best for rare ones unless given"),
    }

    def _settle_parameters(self) -> None:
        if self.set_size is not None and self.set_size >= self.domain_size:
            raise fail(self.title, "set_size", f"below the number of values, {self.domain_size}", self.set_size)
        if self.set_size == best_size(min(self.epsilon, 64.0), self.domain_size):
            object.__setattr__(self, "set_size", None)  # the default: the same oracle, whether stated or not

    @cached_property
    def _size(self) -> int:
        """The number ``w`` of values in a set."""
        return self.set_size or best_size(min(self.epsilon, 64.0), self.domain_size)

    @cached_property
    def coin(self) -> SubsetCoin:
        """The realised coin."""
        return SubsetCoin.build(self.title, self.epsilon, self._size, self.domain_size)

    @property
    def words(self) -> int:
        return 1 + self._size

    @cached_property
    def report_format(self) -> ReportFormat:
        return symbol_sets(self.domain_size, self._size)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return symbol_counts(self.domain_size, self._size)

    @cached_property
    def estimator(self) -> SetSupports:
        """``q`` is the share of sets that hold a given other value, up to a factor within ``w d/2^64`` of 1."""
        p, size, others = self.coin.p, self._size, self.domain_size - 1
        pairs = others * max(1, others - 1)  # of two values there are no two others
        return SetSupports(
            self.domain_size,
            p,
            (size - p) / others,
            both_own=p * Fraction(size - 1, others),
            both_others=(size - 1) * (p * (size - 2) + (1 - p) * size) / pairs,
        )

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        draw_subsets.over(len(values), self._size)(values, words, U64(self.coin.keep), U64(self.domain_size - 1), out)

    @cached_property
    def _response(self) -> Response | None:
        """Draw a single set by NumPy, which is loaded anyway, in two thirds of the time that plain Python takes."""
        response = super()._response
        return response and replace(response, draw=self._sets.single())

    def _sampler(self, users: int) -> Sampler | None:
        return None if self._is_few(users) else self._sets.sample

    @cached_property
    def _sets(self) -> RandomSets:
        return RandomSets(self.domain_size, self._size, self.coin.keep)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_symbols.for_work(data.size)(np.ascontiguousarray(data).reshape(-1), state)
