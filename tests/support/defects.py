"""Oracles with a planted defect each, and a correct set-valued one to plant a defect in.

``Subset`` is also the example of an oracle of somebody's own: it imports from ``fldp`` and ``fldp.oracles.kit`` alone.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from fldp import FHR, GRR, HR, OLH, OUE, PGR, RR, SS, URR
from fldp.oracles.kit import PureOracle, SetCoin, SubsetCoin, SymbolCoin, UnaryCoins, analysis, exp_lower

WORD = 2**64


class FlippedSign(FHR):
    """The decoder takes minus for plus."""

    def decode(self, tally, **options):
        return -FHR(self.epsilon, self.domain_size).estimator.decode(tally, **options)


class SwappedProbabilities(RR):
    """The client keeps the value with probability q."""

    def perturb(self, values, words, out):
        super().perturb(1 - values, words, out)


class SwappedInTheServer(GRR):
    """The server takes p for q."""

    @cached_property
    def estimator(self):
        right = super().estimator
        return replace(right, p=right.q, q=right.p)


class WrongVariance(OUE):
    """The standard errors are those of rare values, whatever the count."""

    def variance(self, n, count, **options):
        return super().variance(n, 0 * count, **options)


class NoCovariance(GRR):
    """The standard error of a sum treats the estimates as independent."""

    def covariance_of_sum(self, n, counts, members, **options):
        return 0.0


class OffByOneRow(FHR):
    """The client uses the row after its own."""

    def perturb(self, values, words, out):
        super().perturb((values + 1) % self.domain_size, words, out)


class BiasedMask(FHR):
    """The mask's highest bit is never drawn."""

    def perturb(self, values, words, out):
        super().perturb(values, words & np.uint64(WORD - 1 - (self._rows.rows >> 1 << 32)), out)


class SlightlyBiasedPosition(FHR):
    """The position is drawn by a modulo: one of them comes up half as often."""

    def perturb(self, values, words, out):
        position = words[:, 0] % np.uint64(2 * self._rows.rows - 1) % np.uint64(self._rows.rows)
        words = words.copy()
        words[:, 0] = words[:, 0] >> np.uint64(32) << np.uint64(32) | position
        super().perturb(values, words, out)


class ParityNotForced(FHR):
    """The mask stays as it was drawn, odd or even."""

    def perturb(self, values, words, out):
        i = words[:, 0] & np.uint64(self._rows.rows - 1)
        w = words[:, 0] >> np.uint64(32) & np.uint64(self._rows.rows - 1)
        out["plus"], out["minus"] = i, i ^ w


class TruePositionFirst(FHR):
    """The message of the paper: the true +1 position, the noisy sign, the true -1 position. The place tells all."""

    @property
    def report_dtype(self):
        return np.dtype([("index_x", np.uint8), ("sign", np.uint8), ("index_y", np.uint8)])

    def perturb(self, values, words, out):
        pairs = FHR(self.epsilon, self.domain_size).report_format.empty(len(values))
        always = words.copy()
        always[:, 1] = 0
        super().perturb(values, always, pairs)
        out["index_x"], out["index_y"] = pairs["plus"], pairs["minus"]
        out["sign"] = words[:, 1] < np.uint64(self.coin.keep)

    def count(self, data, state):
        pairs = FHR(self.epsilon, self.domain_size).report_format.empty(len(data))
        pairs["plus"] = np.where(data["sign"], data["index_x"], data["index_y"])
        pairs["minus"] = np.where(data["sign"], data["index_y"], data["index_x"])
        super().count(pairs, state)

    def check(self, data):
        return data["index_x"] != data["index_y"]

    def law(self, value, public=None):
        item, rows = value + self._rows.first, self._rows.rows
        odd = [(item & i).bit_count() & 1 for i in range(rows)]
        places = [(x, y) for x in range(rows) for y in range(rows) if not odd[x] and odd[y]]
        return {
            (x, sign, y): (self.coin.p if sign else self.coin.q) / len(places) for x, y in places for sign in (0, 1)
        }

    def outcome(self, report):
        return None, tuple(map(int, report.item()))

    def report(self, outcome, public=None):
        return np.array(outcome, self.report_dtype)


class ModuloBias(GRR):
    """Another symbol is drawn by a nibble modulo d - 1."""

    def perturb(self, values, words, out):
        another = (words[:, 0] & np.uint64(15)) % np.uint64(self.domain_size - 1)
        another += another >= values.astype(np.uint64)
        out[:] = np.where(words[:, 0] < np.uint64(self.coin.keep), values, another)


class RoundedTheWrongWay(GRR):
    """The probability of another symbol is rounded down, so the ratio is above e^eps."""

    @property
    def coin(self):
        right = super().coin
        return SymbolCoin(right.symbols, right.keep + right.symbols - 1, right.other - 1)


class UnaryRoundedTheWrongWay(OUE):
    """q goes down instead of up."""

    @property
    def coins(self):
        right = super().coins
        return UnaryCoins(right.planes, right.true_threshold, right.other_threshold - 1)


class PointsRoundedTheWrongWay(PGR):
    """The words come out even below the bound instead of above."""

    @property
    def coin(self):
        right = super().coin
        return SetCoin(right.inside, right.outside, right.own + right.outside, right.other - right.inside)


class AnotherPoint(PGR):
    """The client takes the point after its own."""

    def perturb(self, values, words, out):
        super().perturb((values + 1) % self.domain_size, words, out)


class LinesForgotten(PGR):
    """The standard error of a sum treats any three values alike."""

    def covariance_of_sum(self, n, counts, members, **options):
        right = PGR(self.epsilon, self.domain_size).estimator
        return right.covariance_of_sum(n, np.full(len(counts), n / len(counts)), members)


class LeakySeed(OLH):
    """The low byte of the published seed is the value."""

    def perturb(self, values, words, out):
        words = words.copy()
        words[:, 0] = words[:, 0] >> np.uint64(8) << np.uint64(8) | values.astype(np.uint64)
        super().perturb(values, words, out)


class SeedIsCoin(OLH):
    """The published seed is the coin, too, so the noise can be undone."""

    def perturb(self, values, words, out):
        words = words.copy()
        words[:, 1] = words[:, 0]
        super().perturb(values, words, out)


class PublishesInLargeDomains(OUE):
    """Beyond eight values, another bit is always set: the law of small domains does not show it."""

    def perturb(self, values, words, out):
        super().perturb(values, words, out)
        if self.domain_size > 8:
            places = (values + 3) % self.domain_size
            out[np.arange(len(values)), places // 8] |= (1 << places % 8).astype(np.uint8)


class Padded(OLH):
    """The value is in a byte between the fields."""

    @property
    def report_dtype(self):
        return np.dtype([("seed", np.uint64), ("symbol", np.uint8)], align=True)


@dataclass(frozen=True, repr=False)
class Subset(PureOracle):
    """Subset selection of two values: the true one is in the set with probability p. The set is sent sorted."""

    name = "test-subset"
    size = 2
    field_bits = (8, 8)
    report_dtype = np.dtype(np.uint8)
    report_shape = (2,)
    words = 1

    @property
    def coin(self):
        """Every set with the value in it has e^eps times the probability of one without."""
        return SymbolCoin.build(self.title, self.epsilon, 2)

    @property
    def p(self):
        inside, outside = comb(self.domain_size - 1, 1), comb(self.domain_size - 1, 2)
        return self.coin.p * inside / (self.coin.p * inside + self.coin.q * outside)

    @property
    def q(self):
        others = self.domain_size - 1
        return self.p / others + (1 - self.p) * Fraction(2, others)

    @property
    def outcomes(self):
        return comb(self.domain_size, 2)

    def perturb(self, values, words, out):
        sets = np.array(list(combinations(range(self.domain_size), 2)))
        for value in np.unique(values):
            ends = np.cumsum([float(share) for share in Subset.law(self, value).values()])
            mine = values == value
            out[mine] = sets[np.searchsorted(ends[:-1], words[mine, 0] / 2.0**64, side="right")]

    def count(self, data, state):
        state += np.bincount(data.reshape(-1), minlength=self.domain_size)

    def check(self, data):
        return (data[:, 0] < data[:, 1]) & (data[:, 1] < self.domain_size)

    def covariance_of_sum(self, n, counts, members, **options):
        """From the law itself, since the example has no need to be fast."""
        if members.sum() < 2:
            return 0.0
        total = 0.0
        for value in np.flatnonzero(counts):
            law = self.law(int(value))
            hits = {outcome: sum(bool(members[v]) for v in outcome) for outcome in law}
            mean = sum(share * hits[outcome] for outcome, share in law.items())
            square = sum(share * (hits[outcome] - mean) ** 2 for outcome, share in law.items())
            each = sum(p * (1 - p) for p in ((self.p if v == value else self.q) for v in np.flatnonzero(members)))
            total += float(counts[value]) * float((square - each) / (self.p - self.q) ** 2)
        return total

    def law(self, value, public=None):
        sets = list(combinations(range(self.domain_size), 2))
        inside = self.p / (self.domain_size - 1)
        outside = (1 - self.p) / comb(self.domain_size - 1, 2)
        return {pair: inside if value in pair else outside for pair in sets}

    def outcome(self, report):
        return None, tuple(map(int, report))

    def report(self, outcome, public=None):
        return np.array(outcome, np.uint8)


class TrueValueFirst(Subset):
    """The true value comes first in the set, as in a package of this field; the law knows it not."""

    def perturb(self, values, words, out):
        super().perturb(values, words, out)
        swap = out[:, 1] == values
        out[swap] = out[swap][:, ::-1]

    def check(self, data):
        return data[:, 0] != data[:, 1]


class TrueValueFirstOpenly(TrueValueFirst):
    """The same, with the law that belongs to it: only the privacy check can tell."""

    @property
    def outcomes(self):
        return 2 * comb(self.domain_size, 2)

    def law(self, value, public=None):
        plain = super().law(value)
        return {(pair if value != pair[1] else pair[::-1]): share for pair, share in plain.items()}


class UnevenSets(SS):
    """The coin takes the sets for exactly uniform, which they are not."""

    @property
    def coin(self):
        assert super().coin
        odds = exp_lower(self.epsilon) * self._size / (self.domain_size - self._size)
        return SubsetCoin(self._size, self.domain_size, int(WORD * odds / (1 + odds)))


class SeldomNamed(SS):
    """One report in eight never names the value."""

    def perturb(self, values, words, out):
        always = words.copy()
        always[:, 0] = np.where(words[:, 0] % np.uint64(8), words[:, 0], np.uint64(WORD - 1))
        super().perturb(values, always, out)


class IndependentMembers(SS):
    """The standard error of a sum takes the members of a set for independent."""

    def covariance_of_sum(self, n, counts, members, **options):
        return 0.0


class CoinNotUsed(HR):
    """The position stays where it was drawn, whatever the coin."""

    def perturb(self, values, words, out):
        out[:] = words[:, 0] & np.uint64(self._symbols - 1)


class RowOfTheValue(HR):
    """Row v instead of v + 1 in the client: value 0 has no sign."""

    def perturb(self, values, words, out):
        super().perturb(np.maximum(values - 1, 0), words, out)


class UncorrelatedSigns(HR):
    """The standard error of a sum forgets that the product of two rows is a row."""

    def covariance_of_sum(self, n, counts, members, **options):
        return 0.0


class BarelyPossible(FHR):
    """What a report rules out stays possible, if only by a rounding error."""

    def likelihoods(self, data):
        return analysis(FHR(self.epsilon, self.domain_size)).likelihoods(data) + 1e-16


class TooLargeEta(URR):
    """Eta counts the reports that reveal nothing, and forgets how often a value is revealed."""

    @property
    def eta(self):
        return Fraction(len(self.sensitive), len(self.sensitive) + 1)


PLANTED = {
    TooLargeEta(1.0, 7, sensitive=(0, 1)): "check_privacy",
    BarelyPossible(1.0, 7): "check_likelihoods",
    LeakySeed(1.0, 7): "check_purity",
    SeedIsCoin(1.0, 7): "check_law",
    PublishesInLargeDomains(1.0, 100): "check_estimates",
    Padded(1.0, 7): "check_reports",
    UnevenSets(1.0, 8): "check_privacy",
    SeldomNamed(1.0, 8): "check_law",
    IndependentMembers(1.0, 7): "check_moments",
    CoinNotUsed(1.0, 7): "check_law",
    RowOfTheValue(1.0, 7): "check_law",
    UncorrelatedSigns(1.0, 7): "check_moments",
    FlippedSign(1.0, 7): "check_moments",
    SwappedProbabilities(1.0): "check_law",
    SwappedInTheServer(1.0, 7): "check_",
    WrongVariance(1.0, 7): "check_moments",
    NoCovariance(1.0, 7): "check_moments",
    OffByOneRow(1.0, 7): "check_law",
    BiasedMask(1.0, 7): "check_law",
    SlightlyBiasedPosition(1.0, 7): "check_law",
    ParityNotForced(1.0, 7): "check_",
    TrueValueFirst(1.0, 7): "check_law",
    TrueValueFirstOpenly(1.0, 7): "check_privacy",
    TruePositionFirst(1.0, 7): "check_privacy",
    ModuloBias(1.0, 7): "check_law",
    RoundedTheWrongWay(1.0, 7): "check_privacy",
    UnaryRoundedTheWrongWay(1.0, 7): "check_privacy",
    PointsRoundedTheWrongWay(0.5, 7): "check_privacy",
    AnotherPoint(0.5, 7): "check_law",
    LinesForgotten(0.5, 7): "check_moments",
}
