"""Utility-optimised RAPPOR (URAPPOR)."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array
from fldp.data.values import Values
from fldp.numerics.kernels import U64
from fldp.oracles.base.bit_reports import LANES, add_bits, byte_fields, number_of, padding_mask
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.symbol_reports import within
from fldp.oracles.plain.unary import throw
from fldp.oracles.unequal.utility import OTHER, SENSITIVE, UTILITY_PARAMS, NamingSupports, SensitiveValues, least_share
from fldp.randomness.coins import BITS, UnaryCoins, exp_lower
from fldp.randomness.stream import Words

_SCALE = 1 << BITS


@dataclass(frozen=True, repr=False)
class URAPPOR(FrequencyOracle):
    """Utility-optimised RAPPOR: a bit for each sensitive value; any other value is named, or nothing is.

    The bits are basic RAPPOR on the sensitive values: the true one is 1 with ``p = e^(eps/2)/(e^(eps/2)+1)``,
    every other with ``q = 1 - p``. A value that is not sensitive has no true bit; it is named beside the bits with
    probability ``1 - d``, where ``d = p/(q e^eps) = e^(-eps/2)``. A report that names nothing is at most ``e^eps``
    times as likely under one value as under another: between two sensitive values by both bits, and between a sensitive
    one and another by ``p/(q d) = e^eps``. So it is eps-ULDP.

    A report has a bit for each sensitive value and the number of the value that it names, 0 for none. That is far
    shorter than a bit for each value.

    Murakami, Kawamoto: Utility-optimized local differential privacy mechanisms for distribution estimation, USENIX
    Security 2019.

    Report: bits; the fewer sensitive values, the fewer bits | depends | eps-ULDP: only the values named sensitive are
      protected
    Fields: a bit for each of the ``s`` sensitive values, in their order; the number of the value that is named,
      counting those that are not sensitive from 1, or 0: the bits of ``d - s``
    Words: 1 + planes x (floor(s/64) + 1) | word 0 throws the true bit, or whether a value that is not sensitive is
      named; then planes as for SUE
    Best fake: the bits of the ``s`` sensitive targets, and the name of another one, if there is any | ``s (1 - q) /
      (p - q)``, and ``1/(1 - e^(-eps/2))`` for the name

    >>> oracle = URAPPOR(epsilon=1.0, domain_size=1000, sensitive=[3, 7, 9])
    >>> round(float(oracle._revealed), 3), oracle.report_format.bits
    (0.393, 13)
    >>> oracle.privatize([0, 3, 50])
    <3 reports of URAPPOR(epsilon=1.0, domain_size=1000, sensitive=[3, 7, 9])>
    """

    sensitive: tuple[int, ...] = field(kw_only=True)

    examples = (
        {"epsilon": 1.0, "domain_size": 9, "sensitive": (1, 4, 8)},
        {"epsilon": 4.0, "domain_size": 600, "sensitive": (*range(7), 599)},
        {"epsilon": 0.5, "domain_size": 80, "sensitive": range(64)},
    )
    name = "urappor"
    params = UTILITY_PARAMS
    anonymity = 1

    @cached_property
    def _places(self) -> SensitiveValues:
        """The sensitive values, and the others."""
        return SensitiveValues.of(self, self.sensitive)

    def _settle_parameters(self) -> None:
        _ = self._places

    @cached_property
    def coins(self) -> UnaryCoins:
        """The realised coins of the bits."""
        return UnaryCoins.build(self.title, self.epsilon, symmetric=True)

    @cached_property
    def _shown(self) -> int:
        """Number of 64-bit words for which a non-sensitive value is named. Rounded down, which rounds ``d`` up."""
        return int(_SCALE * (1 - self.coins.p / (self.coins.q * exp_lower(self.epsilon))))

    @property
    def _revealed(self) -> Fraction:
        """The probability that a report of a non-sensitive value reveals it."""
        return Fraction(self._shown, _SCALE)

    @property
    def eta(self) -> Fraction:
        return least_share(self._revealed, Fraction(1, 2))

    @property
    def _others(self) -> int:
        return self.domain_size - len(self.sensitive)

    @property
    def words(self) -> int:
        return 1 + self.coins.planes * self._blocks

    @property
    def _blocks(self) -> int:
        """64-bit words for the bits of all sensitive values, and one more bit that says whether the value is named."""
        return len(self.sensitive) // 64 + 1

    @property
    def _bytes(self) -> tuple[int, int]:
        """The number of bytes of the bits in memory, and of the number after them."""
        return -(-len(self.sensitive) // 8), -(-self._others.bit_length() // 8)

    @cached_property
    def report_format(self) -> ReportFormat:
        fields = byte_fields(len(self.sensitive)) + byte_fields(self._others.bit_length())
        return ReportFormat(
            np.dtype(np.uint8), fields, self._check, self._outcome, self._report, shape=(sum(self._bytes),)
        )

    @cached_property
    def tally_format(self) -> TallyFormat:
        others = self._places.kind_of == OTHER
        return TallyFormat((self.domain_size,), lambda state, n: within(state, n) and int(state[others].sum()) <= n)

    @cached_property
    def estimator(self) -> NamingSupports:
        return NamingSupports(
            self.domain_size,
            ((self.coins.p, self.coins.q), (self._revealed, Fraction(0))),
            self._places.kind_of,
            independent=True,
            revealed=self._revealed,
        )

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        """Randomize the bits, and one more after them that says whether a non-sensitive value is named."""
        few, (bits, size), coins = len(self.sensitive), self._bytes, self.coins
        hidden, ranks = self._places.places(values)
        named = np.zeros(len(values), np.int64)
        for kind, true, ones in ((SENSITIVE, coins.true_threshold, few % 64), (OTHER, self._shown, few % 64 + 1)):
            rows = np.flatnonzero(hidden == (kind == SENSITIVE))
            places = ranks[rows] if kind == SENSITIVE else np.full(len(rows), few)
            thrown, own = np.zeros((len(rows), 8 * self._blocks), np.uint8), np.ascontiguousarray(words[rows])
            last = U64((1 << ones) - 1)
            throw.over(len(rows))(places, own, coins.planes, U64(true), U64(coins.other_threshold), last, thrown)
            flags = thrown[:, few // 8] >> (few % 8) & 1
            thrown[:, few // 8] &= 0xFF ^ (1 << few % 8)
            out[rows, :bits] = thrown[:, :bits]
            named[rows] = np.where(flags, ranks[rows] + 1, 0)
        out[:, bits:] = named[:, None] >> (8 * np.arange(size)) & 0xFF

    @cached_property
    def _other_values(self) -> NDArray[np.intp]:
        """The non-sensitive values, sorted."""
        return np.flatnonzero(self._places.kind_of == OTHER)

    def _named(self, data: Array) -> NDArray[np.int64]:
        """Return the number of the value that each report names, counted from 1; 0 for none."""
        bits, size = self._bytes
        return np.asarray((data[:, bits:].astype(np.int64) << (8 * np.arange(size))).sum(axis=1))

    def _supported(self, data: Array) -> NDArray[np.uint8]:
        """Return which values each report supports: the set bits, and the value that it names."""
        supports = np.zeros((len(data), self.domain_size), np.uint8)
        bits = np.unpackbits(data[:, : self._bytes[0]], axis=1, count=len(self.sensitive), bitorder="little")
        supports[:, self._places.kind_of == SENSITIVE] = bits
        supports[:, self._places.kind_of == OTHER] = self._named(data)[:, None] == np.arange(1, self._others + 1)
        return supports

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        supports = np.zeros(len(self.sensitive), np.int64)
        add_bits.compiled(np.ascontiguousarray(data[:, : self._bytes[0]]), LANES, supports)
        state[list(self.sensitive)] += supports
        named = self._named(data)
        np.add.at(state, self._other_values[named[named > 0] - 1], 1)

    def _check(self, data: Array) -> NDArray[np.bool_]:
        unused = data[:, self._bytes[0] - 1] & padding_mask(len(self.sensitive))
        return np.asarray((unused == 0) & (self._named(data) <= self._others))

    def _outcome(self, report: Any) -> tuple[Any, Any]:
        return None, (number_of(report[: self._bytes[0]]), int(self._named(report[None])[0]))

    def _report(self, outcome: Any, public: Any = None) -> Array:
        del public
        data = b"".join(number.to_bytes(size, "little") for number, size in zip(outcome, self._bytes, strict=True))
        return np.frombuffer(data, np.uint8)
