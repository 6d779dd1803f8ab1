"""FHR: flexible Hadamard response, with the paper's decoder and one that uses the whole report."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.numerics.kernels import ONE, U64, Kernel
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard, xor_pairs
from fldp.numerics.word_kernels import parity
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.symbol_reports import symbol_dtype
from fldp.oracles.flexible.walsh import ALLOW_EXPOSURE, Noise, Walsh, settle_exposure
from fldp.randomness.coins import SymbolCoin
from fldp.randomness.stream import Words
from fldp.responder.fhr_items import Items
from fldp.support.validation import Described, one_of

_HALF_WORD = U64(32)


@Kernel
def draw_pairs(values: Any, words: Any, first: Any, mask: Any, keep: Any, out: Any) -> None:
    """Draw for each value one position where its row is +1 and one where it is -1, and swap them by a coin.

    Word 0 holds a position ``i`` and a mask ``w``, word 1 the coin. ``w`` is made odd: ``parity(w & t) = 1`` for the
    item ``t``. Then ``i`` and ``i ^ w`` have opposite signs in row ``t``.
    """
    for k in range(len(values)):
        item = U64(values[k]) + first
        i = words[2 * k] & mask
        w = (words[2 * k] >> _HALF_WORD) & mask
        # If w is even, flip the lowest set bit of the item in it: two masks map to one, so w is uniform over the odd
        # masks. ``parity - 1`` is all ones for an even w and zero for an odd one: no branch, constant time.
        w ^= item & (~item + ONE) & (parity(w & item) - ONE)
        swap = parity(i & item) ^ U64(words[2 * k + 1] >= keep)
        flip = w & (~swap + ONE)
        out[2 * k] = i ^ flip
        out[2 * k + 1] = i ^ w ^ flip


@Kernel
def add_pairs(pairs: Any, mask: Any, signs: Any, masks: Any) -> None:
    """Add each report to the vector of signs, and subtract it from the vector of masks, at its mask."""
    for k in range(len(pairs) // 2):
        plus, minus = U64(pairs[2 * k]) & mask, U64(pairs[2 * k + 1]) & mask
        signs[plus] += 1
        signs[minus] -= 1
        masks[plus ^ minus] -= 1


@add_pairs.by_numpy
def _count_pairs(pairs: Any, mask: Any, signs: Any, masks: Any) -> None:
    plus, minus = (pairs.reshape(-1, 2).T & mask).astype(np.int64)
    size = len(signs)
    signs += np.bincount(plus, minlength=size) - np.bincount(minus, minlength=size)
    masks -= np.bincount(plus ^ minus, minlength=size)


@Kernel
def check_pairs(pairs: Any, mask: Any, good: Any) -> None:
    """Write for each pair whether its positions differ and are at most ``mask``, a power of two less one."""
    for k in range(len(good)):
        plus, minus = U64(pairs[2 * k]), U64(pairs[2 * k + 1])
        good[k] = ((plus | minus) <= mask) & (plus != minus)


@check_pairs.by_numpy
def _compare_pairs(pairs: Any, mask: Any, good: Any) -> None:
    plus, minus = pairs.reshape(-1, 2).T
    good[:] = ((plus | minus) <= mask) & (plus != minus)


@dataclass(frozen=True, eq=False)
class PairSigns(Walsh):
    """Estimates from the signs and the masks of pairs of positions."""

    decoders = ("full", "paper")

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        """Estimates of items s and t have covariance -(1-w)^2 times the count of item s^t.

        How many ordered pairs of members have each XOR is an autocorrelation: two transforms.
        """
        del n
        weight = self.weight(**options)
        if weight == 1:
            return 0.0
        marks = np.zeros(self.order, np.int64)
        marks[self.items] = members
        return -((1 - weight) ** 2) * float(xor_pairs(marks)[self.items] @ counts)


@dataclass(frozen=True, repr=False)
class FHR(FrequencyOracle):
    """Flexible Hadamard response: two positions of opposite sign in the value's row of a Hadamard matrix.

    Value ``v`` is item ``t`` (see ``fldp.responder.fhr_items``), ``H[t][i] = (-1)^popcount(t & i)``. The report
    is the ordered pair (a position of +1, a position of -1), both uniform, swapped with probability ``1/(e^eps+1)``. It
    is (eps, 1/2)-FLDP: a pair that two items can both produce has probabilities within ``e^eps``, and half of one
    item's pairs are such.

    **That is weaker than eps-LDP.** The mask ``w = plus ^ minus`` has ``parity(w & t) = 1`` without any noise, so each
    report rules out about half of the domain with certainty, at every eps; ``anonymity`` is the least number of
    values that remain. A dozen or so independent reports of one value determine it: answer once, and repeat that.

    The server can decode the same reports in two ways. ``decoder="paper"`` uses the noisy signs,
    ``decoder="full"`` (the default) also the noise-free masks, for a smaller error at no further cost in privacy.

    ``items="paper"`` uses the paper's rows, ``t = v + 1``, instead of the spread ones. Where a single report can give
    the value away, the constructor refuses, unless ``allow_exposure=True``.

    Zhao et al.: FLDP: Flexible strategy for local differential privacy, arXiv 2203.14875.

    Report: two positions | | (eps, 1/2)-FLDP
    Fields: the position of +1, then the position of -1, *after* the coin: ``r`` each, ``r`` = the bits of ``d``
    Words: 2 | position in bits 0.., mask in bits 32..; a coin as for RR
    Best fake: a first position of +1 for all targets (0 always is one), and a mask that is odd for as many as can
      be | by one transform; ``r (w c + 1 - w)`` if it can be odd for all

    >>> oracle = FHR(epsilon=1.0, domain_size=1023)
    >>> oracle.eta, oracle.anonymity, oracle.report_format.bits
    (Fraction(1, 2), 512, 20)
    >>> tally = oracle.tally(oracle.privatize([5] * 1000, rng=7))
    >>> paper, full = oracle.estimate(tally, decoder="paper"), oracle.estimate(tally)
    >>> bool((full.stderr < paper.stderr).all())
    True
    """

    items: str = "spread"
    allow_exposure: bool = False

    examples = ((1.0, 5), (1.0, 1023), (0.4, 1024), (2.0, 7, "paper"), (1.0, 2, "spread", True))
    name = "fhr"
    words = 2
    params = {  # noqa: RUF012
        **FrequencyOracle.params,
        "items": Described(one_of("spread", "paper"), "spread (default) or paper"),
        "allow_exposure": ALLOW_EXPOSURE,
    }

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin that keeps or swaps the pair."""
        return SymbolCoin.build(self.title, self.epsilon, 2)

    @cached_property
    def _rows(self) -> Items:
        """The rows of the matrix that represent the values."""
        return Items.spread(self.domain_size) if self.items == "spread" else Items.paper(self.domain_size)

    def _settle_parameters(self) -> None:
        settle_exposure(self)

    @property
    def eta(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def anonymity(self) -> int:
        return self._rows.anonymity

    @cached_property
    def report_format(self) -> ReportFormat:
        position = symbol_dtype(self._rows.rows)
        dtype = np.dtype([("plus", position), ("minus", position)])

        def report(outcome: tuple[int, int], public: None = None) -> Array:
            del public
            return np.array(outcome, dtype)

        return ReportFormat(dtype, ((self._rows.bits, 2),), self._check, lambda row: (None, row.item()), report)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return TallyFormat((2, self._rows.rows), _adds_up)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        first, mask = U64(self._rows.first), U64(self._rows.rows - 1)
        draw_pairs.over(len(values))(values, words.reshape(-1), first, mask, U64(self.coin.keep), _positions(out))

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        add_pairs.for_work(2 * len(data))(
            _positions(np.ascontiguousarray(data)), U64(self._rows.rows - 1), state[0], state[1]
        )

    def _check(self, data: Array) -> NDArray[np.bool_]:
        """Every pair of different positions is possible: each mask but 0 is odd for some item."""
        good = np.empty(len(data), np.bool_)
        check_pairs.for_work(2 * len(data))(_positions(np.ascontiguousarray(data)), U64(self._rows.rows - 1), good)
        return good

    @cached_property
    def estimator(self) -> PairSigns:
        c, first = float(1 / (2 * self.coin.p - 1)), self._rows.first
        noise = Noise(leak=1.0, response=c * c / 2, own=c * c - 1, p=float(self.coin.p), leaked=2, symbols=2)
        items_of = partial(np.arange, first, first + self.domain_size, dtype=np.uint64)
        return PairSigns(self.domain_size, noise, self._rows.rows, items_of, self._parts, self._characters)

    def _parts(self, tally: Tally) -> tuple[Floats, Floats]:
        used = slice(self._rows.first, self._rows.first + self.domain_size)
        signs, masks = walsh_hadamard(tally.state)[:, used]
        return masks.astype(np.float64), signs / float(2 * (2 * self.coin.p - 1))

    def _characters(self, data: Array) -> tuple[NDArray[np.uint64], Floats]:
        """The likelihood of item t is proportional to ``1 - H[t][w] + (2p-1) (H[t][plus] - H[t][minus])``."""
        plus, minus = data["plus"].astype(np.uint64), data["minus"].astype(np.uint64)
        sure = float(2 * self.coin.p - 1)
        return np.stack([plus ^ minus, plus, minus], axis=1), np.tile([-1.0, sure, -sure], (len(data), 1))


def _adds_up(state: NDArray[np.int64], n: int) -> bool:
    """Each report adds 1 and -1 to the signs and -1 to a mask other than 0."""
    signs, masks = state
    bounded = bool((np.abs(signs) <= n).all() and (masks <= 0).all())
    return bounded and int(masks[0]) == 0 and int(signs.sum()) == 0 and int(masks.sum()) == -n


def _positions(data: Array) -> Array:
    """View contiguous records of two positions as one flat array."""
    return data.view(data.dtype["plus"])
