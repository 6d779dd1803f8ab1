"""Projective geometry response (PGR): a point of a finite geometry, probably opposite to the value's own point."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.numerics.kernels import ONE, U64, ZERO, Kernel, has_compiler, pays
from fldp.numerics.projective_geometry import hyperplane_sums, opposite
from fldp.numerics.projective_space import Space, best_space
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Sampler
from fldp.oracles.base.support_counts import Supports
from fldp.oracles.base.symbol_reports import add_symbols, symbol_counts, symbols
from fldp.oracles.plain.turned_points import MAX_PLACES, TurnedPoints
from fldp.randomness.coins import SetCoin
from fldp.randomness.stream import Words

_MAX_ENTRIES = 1 << 21  # of a table: 4 MiB, or 8 where points do not fit into 16 bits
_ENTRIES_A_USER = 32  # of a table that is made for a batch, for each of its users
_AT_ONCE = 64  # values whose points are sorted at once

# Constant time: the kernels below take the same steps for every value and every word. ``U64(condition)`` is 1 or 0, and
# terms that must not count are multiplied by 0 instead of skipped.


@Kernel
def opposite_digit(point: Any, tail: Any, top: Any, order: Any, digits: Any) -> Any:
    """Return the digit that, appended to ``point``, makes it opposite to 1 followed by the digits of ``tail``.

    ``tail`` is below ``top``, a power of ``order``. Its first digit meets the last one of the point, and so on; the
    appended digit meets the 1. No point has more than ``digits`` digits.
    """
    # Peel the digits of the point off from its end (point 1 + q j + l is point j with the digit l appended) and those
    # of the tail from its front, and add up their products. Point 0 is the leading 1, which meets one more digit.
    product = ZERO
    for _ in range(digits):
        more = U64(point > ZERO)
        top -= more * (top - top // order)
        product = (product + more * ((point - more) % order) * (tail // top)) % order
        tail -= more * (tail - tail % top)
        point = (point - more) // order
    last = top // order
    product += tail // (last + U64(last == ZERO))
    return (order - product % order) % order


@Kernel
def point_of(kept: Any, rank: Any, tail: Any, top: Any, width: Any, order: Any, digits: Any) -> Any:
    """Return point number ``rank`` among those opposite to a value with ``b`` leading zeros, or among the others.

    ``width`` is ``order^b``. All points of ``b`` digits are opposite. In longer ones, the digits before it determine
    the digit before the last ``b``; in the others, that digit is any but the determined one. The digits before it are a
    point, too. Which one is chosen first, so that its products, most of the work, are added up once.
    """
    others, first = ONE - kept, (width - ONE) // (order - ONE)
    place = rank - kept * first * U64(rank >= first)
    high, low = place // width, place % width
    longer = kept * U64(rank >= first) + others * U64(high > ZERO)
    left = high - others * longer
    above, any_digit = left // (order - ONE), left % (order - ONE)
    digit = opposite_digit(kept * high + others * above, tail, top, order, digits)
    inside = (ONE - longer) * rank + longer * (first + (ONE + high * order + digit) * width + low)
    outside = first + longer * (ONE + above * order + any_digit + U64(any_digit >= digit)) * width + low
    return kept * inside + others * outside


@Kernel
def draw_points(
    values: Any, words: Any, order: Any, digits: Any, rest: Any, own: Any, other: Any, keep: Any, out: Any
) -> None:
    """Draw a point for each value: each opposite point has ``own`` words, each of the ``rest`` has ``other``."""
    for i in range(len(values)):
        tail, top = U64(values[i]), ONE  # the digits of the value after its leading 1, and order^(their number)
        for _ in range(digits):
            more = U64(tail >= top)
            tail -= more * top
            top += more * (top * order - top)
        width = rest // top
        kept = U64(words[i] < keep)
        rank = kept * words[i] // own + (ONE - kept) * (words[i] - keep) // other
        out[i] = point_of(kept, rank, tail, top, width, order, digits)


@Kernel
def look_points_up(values: Any, words: Any, inside: Any, own: Any, other: Any, keep: Any, table: Any, out: Any) -> None:
    """Draw the same points from a table that has for each value the ``inside`` opposite points and then the others."""
    size = U64(table.shape[1])
    flat = table.reshape(-1)
    for i in range(len(values)):
        rest = U64(words[i] >= keep)
        rank = (words[i] - rest * keep) // (own - rest * (own - other)) + rest * inside
        out[i] = flat[U64(values[i]) * size + rank]


@dataclass(frozen=True, eq=False)
class PointSupports(Supports):
    """Supports of points, found by a transform of their counts."""

    is_uneven: ClassVar[bool] = True

    space: Space = field(kw_only=True)
    coin: SetCoin = field(kw_only=True)

    def decode(self, tally: Tally, **options: Option) -> Floats:
        del options
        supports = hyperplane_sums(tally.state, self.space)[: self.size]
        return np.asarray((supports - tally.n * float(self.q)) / float(self.p - self.q))

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        """Variance of the sum minus the variances of its terms. Users beyond the counts count as average outsiders."""
        del options
        p, q = self.p, self.q
        each = float(members.sum() * q * (1 - q)) + members * float(p * (1 - p) - q * (1 - q))
        extra = self._variance_of_supports(members) - each
        usual = float(extra[~members].mean() if not members.all() else extra.mean())
        return float(n * usual + counts @ (extra - usual)) / float((p - q) ** 2)

    def _variance_of_supports(self, members: NDArray[np.bool_]) -> Floats:
        """Return for every value the variance of the number of members that a report of it supports.

        That number depends on the point alone: one transform. The sum of its square over the points opposite to a value
        is another. In how many points three sets meet depends on whether the values lie on a line, so there is no
        shorter formula. Centring before squaring avoids cancellation.
        """
        marks = np.zeros(self.space.size)
        marks[: self.size] = members
        supported = hyperplane_sums(marks, self.space)
        centre = supported.mean()
        squares = (supported - centre) ** 2
        inside = hyperplane_sums(squares, self.space)[: self.size]
        mean = members.sum() * float(self.q) + members * float(self.p - self.q) - centre
        return np.asarray(
            inside * float(self.coin.p - self.coin.q) + squares.sum() * float(self.coin.q) - mean**2, np.float64
        )


@dataclass(frozen=True, repr=False)
class PGR(FrequencyOracle):
    """Projective geometry response: a point, with ``e^eps`` to 1 for those opposite to the point of the value.

    The points form the projective space of ``t`` digits modulo a prime near ``e^eps + 1``
    (``fldp.numerics.projective_geometry``); value ``v`` is point ``v``. A report supports the values that it is
    opposite to. Of the ``K`` points ``c`` are opposite to a value, and ``m`` to any two, so ``p = e^eps c / Z`` and ``q
    = ((e^eps - 1) m + c) / Z`` with ``Z = (e^eps - 1) c + K``. It is eps-LDP because under every value every point has
    one of the same two probabilities, which are at most ``e^eps`` to 1.

    The error is near OUE's and the report about as short as one value. The server counts points and does one
    transform of the ``K`` counts for all values at once.

    Feldman, Nelson, Nguyen, Talwar: Private frequency estimation via projective geometry, ICML 2022.

    Report: a point of a finite geometry
    Fields: the point: the bits of ``K - 1``
    Words: 1 | coin ``u``: below ``keep`` the opposite point number ``u // own``, else the other point number ``(u -
      keep) // other``
    Best fake: the point that is opposite to most targets, by one transform | ``(most supported - r q) / (p - q)``

    >>> oracle = PGR(epsilon=1.0, domain_size=1023)
    >>> oracle._space, oracle._space.size, oracle.report_format.bits
    (Space(order=3, dimension=7), 1093, 11)
    >>> oracle.privatize([1, 2, 3])
    <3 reports of PGR(epsilon=1.0, domain_size=1023)>
    """

    examples = ((1.0, 5), (1.0, 1024), (0.1, 40), (2.0, 300), (8.0, 257))
    name = "pgr"
    words = 1

    @cached_property
    def _space(self) -> Space:
        """The space of the points."""
        return best_space(min(self.epsilon, 64.0), self.domain_size)

    @cached_property
    def coin(self) -> SetCoin:
        """The realised coin."""
        return SetCoin.build(self.title, self.epsilon, self._space.set_size, self._space.rest_size)

    @cached_property
    def report_format(self) -> ReportFormat:
        return symbols(self._space.size)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return symbol_counts(self._space.size)

    @cached_property
    def estimator(self) -> PointSupports:
        size, shared = self._space.set_size, self._space.meet_size
        p, q = self.coin.p * size, self.coin.p * shared + self.coin.q * (size - shared)
        return PointSupports(self.domain_size, p, q, space=self._space, coin=self.coin)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        order, rest, digits = U64(self._space.order), U64(self._space.rest_size), self._space.dimension
        own, other, keep = U64(self.coin.own), U64(self.coin.other), U64(self.coin.keep)
        if self._has_table(len(values)):
            inside = U64(self._space.set_size)
            look_points_up.compiled(values, words[:, 0], inside, own, other, keep, self._table, out)
            return
        draw_points.over(len(values))(values, words[:, 0], order, digits, rest, own, other, keep, out)

    def _sampler(self, users: int) -> Sampler | None:
        is_worth_it = self._space.size <= min(MAX_PLACES, users) and pays(users)
        return self._turned.sample if is_worth_it else None

    @cached_property
    def _turned(self) -> TurnedPoints:
        return TurnedPoints(self._space, self.coin)

    def _has_table(self, users: int) -> bool:
        """Whether a table is worth its memory and the time it takes to make, and is not interpreted."""
        entries = self.domain_size * self._space.size
        return has_compiler() and users * _ENTRIES_A_USER >= entries <= _MAX_ENTRIES

    @cached_property
    def _table(self) -> Array:
        """For every value the points opposite to it in order, and then the others."""
        parts = []
        for start in range(0, self.domain_size, _AT_ONCE):
            values = np.arange(start, min(start + _AT_ONCE, self.domain_size))
            opposed = opposite(values, np.arange(self._space.size), self._space)
            parts.append(np.argsort(~opposed, axis=1, kind="stable").astype(self.report_format.dtype))
        return np.concatenate(parts)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_symbols.for_work(data.size)(np.ascontiguousarray(data), state)
