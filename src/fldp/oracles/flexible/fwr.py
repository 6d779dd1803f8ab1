"""FWR: flexible Walsh response, parities of the item under public masks, some exact, some randomized."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.numerics.kernels import U64
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.symbol_reports import symbol_dtype
from fldp.oracles.flexible import fwr_items
from fldp.oracles.flexible.fwr_kernels import add_characters, draw_parities, gray_code
from fldp.oracles.flexible.walsh import ALLOW_EXPOSURE, Noise, Walsh, agreeing, settle_exposure
from fldp.randomness.coins import SymbolCoin
from fldp.randomness.stream import Words
from fldp.responder.parity_responses import MAX_HASH_BITS, MAX_MASKS, best_hash_bits, halving
from fldp.support.validation import Described, fail, integer, optional

MAX_SCATTERED = 1 << 22  # values: anonymity is computed by a transform over all of them
_MAX_CELLS = 1 << 20  # entries of a table of reports by values


class Chances(Protocol):
    """A coin among symbols, as far as estimates need one: how likely the true symbol and each other one are."""

    @property
    def p(self) -> Fraction: ...
    @property
    def q(self) -> Fraction: ...


@dataclass(frozen=True, eq=False)
class ParityReports:
    """Reports of masks that everybody may know, and of the parities of the item under them.

    The first ``leaks`` parities are exact; the other ``bits`` form a symbol that goes through the coin. Where
    ``exposes``, a leak may hold for no value of the domain, which only trying all values shows.
    """

    domain_size: int
    leaks: int
    bits: int
    coin: Chances
    exposes: bool = False

    @property
    def masks(self) -> int:
        """The number of masks of a report."""
        return self.leaks + self.bits

    @property
    def rows(self) -> int:
        """The order ``D`` of the transform."""
        return 1 << fwr_items.bits_of(self.domain_size)

    @cached_property
    def items(self) -> NDArray[np.uint64]:
        """The item of every value."""
        return fwr_items.scatter(np.arange(self.domain_size), self.domain_size)

    @property
    def mask_words(self) -> int:
        """The number of words that the masks take."""
        return (self.masks + 1) // 2

    @cached_property
    def report_format(self) -> ReportFormat:
        number = symbol_dtype(max(self.rows, 1 << self.masks))
        dtype = np.dtype([*((f"mask{j}", number) for j in range(self.masks)), ("bits", number)])

        def outcome(row: Any) -> tuple[tuple[int, ...], int]:
            *masks, bits = row.item()
            return tuple(masks), bits

        def report(outcome: int, public: tuple[int, ...]) -> Array:
            return np.array((*public, outcome), dtype)

        fields = (fwr_items.bits_of(self.domain_size), self.masks), (self.masks, 1)
        return ReportFormat(dtype, fields, self._check, outcome, report, public_words=self.mask_words)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return TallyFormat((2 if self.leaks else 1, self.rows), self._adds_up)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        products = np.arange(1 << self.masks)
        offsets = np.where(products >> self.leaks, state.size - self.rows, 0).astype(np.uint64)
        rows = numbers(np.ascontiguousarray(data))
        add_characters.compiled(
            rows, U64(self.masks), gray_code(self.masks), offsets, U64(self.rows - 1), state.reshape(-1)
        )

    def _check(self, data: Array) -> NDArray[np.bool_]:
        """Masks are below ``rows``, and wherever leaked masks cancel out, so do their parities."""
        good = np.asarray(data["bits"] < 1 << self.masks)
        masks = [data[f"mask{j}"] for j in range(self.masks)]
        for mask in masks:
            good &= mask < self.rows
        # Parity is linear: if the XOR of some leaked masks is 0, so is the XOR of their parities for every item.
        for chosen in product((0, 1), repeat=self.leaks):
            place, sign = np.zeros(len(data), np.int64), np.zeros(len(data), np.int64)
            for j in np.flatnonzero(chosen).tolist():
                place ^= masks[j]
                sign ^= data["bits"] >> j & 1
            good &= (place != 0) | (sign == 0)
        if self.exposes:
            places, step = np.flatnonzero(good), max(1, _MAX_CELLS // self.domain_size)
            for part in (places[start : start + step] for start in range(0, len(places), step)):
                good[part] = agreeing(
                    *self.parities(data[part], 0, self.leaks), self.items.astype(data.dtype["bits"])
                ).any(axis=1)
        return good

    def _adds_up(self, state: NDArray[np.int64], n: int) -> bool:
        """Each report adds +1 or -1 for every product of parities, which bounds entries and fixes sums modulo 2."""
        every = [(1 << self.leaks) - 1, (1 << self.masks) - (1 << self.leaks)][-len(state) :]
        return all(
            bool((np.abs(part) <= n * count).all()) and (int(part.sum()) - n * count) % 2 == 0
            for part, count in zip(state, every, strict=True)
        )

    def parities(self, data: Array, first: int, last: int) -> tuple[Array, Array]:
        """Return masks ``first`` to ``last`` of reports and the parities reported under them."""
        number = data.dtype["bits"]
        masks = np.empty((len(data), last - first), number)
        for j in range(first, last):
            masks[:, j - first] = data[f"mask{j}"]
        return masks, (data["bits"][:, None] >> np.arange(first, last, dtype=number) & 1).astype(np.uint8)

    @cached_property
    def estimator(self) -> Walsh:
        """The estimator of these parities."""
        K, g, p = 1 << self.leaks, 1 << self.bits, self.coin.p
        gap = p - Fraction(1, g)
        noise = Noise(
            leak=1 / (K - 1) if K > 1 else float("inf"),
            response=float(Fraction(g - 1, g * g) / gap**2 / K),
            own=float(p * (1 - p) / gap**2),
            p=float(p),
            leaked=K,
            symbols=g,
        )
        return Walsh(self.domain_size, noise, self.rows, lambda: self.items, self._parts, self._characters)

    def _parts(self, tally: Tally) -> tuple[Floats | float, Floats]:
        K, g = 1 << self.leaks, 1 << self.bits
        response = walsh_hadamard(tally.state[-1])[self.items] / float(K * g * (self.coin.p - Fraction(1, g)))
        return (walsh_hadamard(tally.state[0])[self.items] / (K - 1) if K > 1 else 0.0), response

    def _characters(self, data: Array) -> tuple[NDArray[np.uint64], Floats]:
        """A product of leaked parities has coefficient 1, one with randomized parities in it ``p - q``."""
        masks = np.stack([data[f"mask{j}"].astype(np.uint64) for j in range(self.masks)], axis=1)
        chosen = np.arange(1, 1 << self.masks)
        positions = np.zeros((len(data), len(chosen)), np.uint64)
        for j in range(self.masks):
            positions ^= masks[:, j : j + 1] * (chosen >> j & 1).astype(np.uint64)
        odd = np.bitwise_count(data["bits"].astype(np.int64)[:, None] & chosen) & 1
        size = np.where(chosen >> self.leaks, float(self.coin.p - self.coin.q), 1.0)
        return positions, size * (1.0 - 2.0 * odd)


@dataclass(frozen=True, eq=False)
class Parities(ParityReports):
    """The mechanism of FWR: such reports, each with masks of its own."""

    coin: SymbolCoin

    @property
    def words(self) -> int:
        return self.mask_words + 1

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        items = fwr_items.scatter(values, self.domain_size)
        draw_parities.over(len(values))(
            items, words.reshape(-1), self.masks, U64(self.leaks), U64(self.rows - 1),
            U64(self.coin.keep), U64(self.coin.other), numbers(out),
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class FWR(FrequencyOracle):
    """Flexible Walsh response: ``k`` exact parities of the item, and ``m`` through randomized response.

    ``k + m`` masks are drawn at random and published. The parities of the value's item (see
    ``fldp.oracles.flexible.fwr_items``) under the first ``k`` are the *leak*; those under the others form one of ``g =
    2^m`` symbols, which goes through generalised randomized response with eps. That is exactly (eps, eta = 2^-k)-FLDP:
    two values share the reports whose leak is the same for both, and among those only the coin tells them apart.

    ``eta=1`` (the default) is ordinary eps-LDP with an error close to OUE's from short reports. **A smaller eta is
    weaker than LDP**: each report rules out all but about a share eta of the domain with certainty; ``anonymity``
    bounds what remains. ``hash_bits`` is ``m``, the best for eps unless given.

    Report: masks and parities | 33 (eta = 1/2) | (eps, eta)-FLDP, eta = 1, 1/2, 1/4, ...; eps-LDP at eta = 1
    Fields: the masks, ``r`` = the bits of ``d - 1`` each, then the parities under them as one number, the first
      mask's lowest
    Words: ceil((k+m)/2) + 1 | two masks from each word; then a coin as for GRR on the symbol of the parities
    Best fake: masks under which all targets have one parity (0 always is one), and those parities | ``r`` times
      what a full agreement adds

    >>> oracle = FWR(epsilon=1.0, domain_size=1023, eta=0.5)
    >>> oracle._leaks, oracle._bits, oracle.anonymity, oracle.report_format.bits
    (1, 2, 511, 33)
    >>> round(oracle.variance(1, 0), 3), round(FWR(epsilon=1.0, domain_size=1023).variance(1, 0), 2)
    (0.649, 3.69)
    """

    eta: Fraction = Fraction(1)
    hash_bits: int | None = None
    allow_exposure: bool = False

    examples = ((1.0, 8, 0.5), (1.0, 1023), (2.0, 100, 0.25), (0.4, 600, 0.5, 3))
    name = "fwr"
    params = {  # noqa: RUF012
        **FrequencyOracle.params,
        "eta": Described(halving, "1 (plain LDP, the default), 0.5, 0.25, ...", read=float),
        "hash_bits": Described(optional(integer(1, MAX_HASH_BITS)), f"parities under the coin, 1 to {MAX_HASH_BITS}"),
        "allow_exposure": ALLOW_EXPOSURE,
    }

    def _settle_parameters(self) -> None:
        if self.hash_bits == best_hash_bits(self.epsilon):
            object.__setattr__(self, "hash_bits", None)  # the default: the same oracle, whether stated or not
        if self._leaks + self._bits > MAX_MASKS:
            raise fail(
                self.title, "eta", f"at least 1/{1 << (MAX_MASKS - self._bits)} with {self._bits} hash bits", self.eta
            )
        if self._leaks and self.domain_size > MAX_SCATTERED and self.domain_size & (self.domain_size - 1):
            rule = f"at most {MAX_SCATTERED}, or a power of two, where eta is below 1"
            raise fail(self.title, "domain_size", rule, self.domain_size)
        settle_exposure(self)

    @cached_property
    def _leaks(self) -> int:
        """The number ``k`` of exact parities."""
        return self.eta.denominator.bit_length() - 1

    @cached_property
    def _bits(self) -> int:
        """The number ``m`` of randomized parities."""
        return self.hash_bits or best_hash_bits(self.epsilon)

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin among the symbols."""
        return SymbolCoin.build(self.title, self.epsilon, 1 << self._bits)

    @property
    def anonymity(self) -> int:
        return fwr_items.anonymity(self.domain_size, self._leaks)

    @cached_property
    def _parities(self) -> Parities:
        """The mechanism."""
        return Parities(self.domain_size, self._leaks, self._bits, self.coin, self.allow_exposure)

    @property
    def _mechanism(self) -> Parities:
        return self._parities

    @property
    def estimator(self) -> Walsh:
        return self._parities.estimator


@dataclass(frozen=True, repr=False)
class HRR(FrequencyOracle):
    """Hadamard randomized response: one parity under a public mask, through a coin. FWR with eta 1 and one hash bit.

    Cormode, Kulkarni, Srivastava: Answering range queries under local differential privacy, VLDB 2019, describe it so.

    Report: a mask and a parity
    Fields: the mask, ``r`` = the bits of ``d - 1``; the parity under it: 1
    Words: 2 | the mask; then a coin as for GRR on the parity
    Best fake: a mask under which all targets have one parity (0 always is one), and that parity | ``r`` times what
      a full agreement adds

    >>> HRR(epsilon=1.0, domain_size=1000).report_format.bits
    11
    """

    eta: Fraction = Fraction(1)
    hash_bits: int = 1
    allow_exposure: bool = False

    examples = ((1.0, 8), (0.5, 1000))
    name = "hrr"
    params = {  # noqa: RUF012
        **FWR.params,
        "eta": lambda owner, name, value: halving(owner, name, value) if value == 1 else _only(owner, name, value),
        "hash_bits": integer(1, 1),
    }

    def _settle_parameters(self) -> None:
        settle_exposure(self)

    @cached_property
    def coin(self) -> SymbolCoin:
        """The realised coin on the parity."""
        return SymbolCoin.build(self.title, self.epsilon, 2)

    @cached_property
    def _parities(self) -> Parities:
        """The mechanism."""
        return Parities(self.domain_size, 0, 1, self.coin)

    @property
    def _mechanism(self) -> Parities:
        return self._parities

    @property
    def estimator(self) -> Walsh:
        return self._parities.estimator


def _only(owner: str, name: str, value: object) -> Any:
    raise fail(owner, name, "1; FWR has others", value)


def numbers(data: Array) -> Array:
    """View contiguous records of one number type as a flat array."""
    return data.view(data.dtype["bits"])
