"""Coins by few random bits and corrections: their law in rationals by enumeration, plain loops, and real batches."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import comb, perm, prod, sqrt

import numpy as np
import pytest

import fldp
from fldp.oracles.kit import analysis
from fldp.oracles.plain import corrected_coins
from fldp.oracles.plain.corrected_coins import BLOCK, BLOCK_WORDS, COUNTED, CorrectedCoins, CountOf
from fldp.oracles.plain.weighted_draws import NUMBERS
from support.weighted_law import law_of

ORACLES = {
    f"{make.__name__}, eps = {epsilon}": make(epsilon, 9)
    for make in (fldp.OUE, fldp.SUE)
    for epsilon in (0.01, 0.5, 1.0, 2.0, 5.0, 20.0)
}
CHANCES = {name: oracle.coins.q for name, oracle in ORACLES.items()} | {
    "a half": Fraction(1, 2),
    "a quarter": Fraction(1, 4),
    "nearly one": Fraction(2**20 - 1, 2**20),
    "seven eighths, more or less": Fraction(7, 8) + Fraction(1, 2**20),
}
KERNELS = {"compiled": lambda kernel: kernel.compiled, "Python": lambda kernel: kernel}


@pytest.mark.parametrize("chance", CHANCES.values(), ids=CHANCES)
def test_planes_and_corrections_make_the_wanted_probability(chance):
    coins = CorrectedCoins.best(chance)
    assert 0 <= coins.correction < Fraction(1, 10)
    one = coins.base + (1 - coins.base) * coins.correction
    assert (1 - one if coins.flipped else one) == chance


def all_bits(planes):
    """Planes of bytes in which the 2^planes numbers occur once each, at the first bits; at least two of 8 bytes."""
    bits = np.zeros((max(2, planes), max(64, 1 << planes)), np.uint8)
    for k in range(planes):
        bits[k, : 1 << planes] = [number >> k & 1 for number in range(1 << planes)]
    return np.packbits(bits, axis=1, bitorder="little")


@pytest.mark.parametrize("chance", CHANCES.values(), ids=CHANCES)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_of_all_bits_of_the_planes_the_base_are_ones(chance, kernel):
    """Without corrections, over every choice of the bits of one coin."""
    coins = CorrectedCoins.best(chance)
    out, *planes = all_bits(coins.planes)
    arguments = np.zeros(1, np.int64), np.zeros(0, np.uint16), np.zeros(len(out) // 8, np.uint64), (0, -1), out
    assert kernel(corrected_coins.throw_blocks)(np.array(planes), coins.ors, np.uint8(0), *arguments) == (1, -1)
    ones = np.unpackbits(out, bitorder="little")[: 1 << coins.planes].sum()
    assert Fraction(int(ones), 1 << coins.planes) == coins.base


def binomial(size, chance):
    return [comb(size, ones) * chance**ones * (1 - chance) ** (size - ones) for ones in range(size + 1)]


@pytest.mark.parametrize("chance", CHANCES.values(), ids=CHANCES)
def test_corrections_are_counted_by_the_binomial_law(chance):
    counts = CorrectedCoins.best(chance).counts
    assert law_of(counts) == binomial(COUNTED, counts.chance)


def test_a_chance_that_is_a_little_off_is_another_law():
    chance = CorrectedCoins.best(CHANCES["OUE, eps = 1.0"]).correction
    assert law_of(CountOf(chance + Fraction(1, 2**60))) != binomial(COUNTED, chance)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_counts_are_added_up_as_by_plain_loops(kernel):
    counts, rng = CountOf(Fraction(1, 40)), np.random.default_rng(1)
    numbers = rng.integers(0, NUMBERS, (50, 256)).astype(np.uint16)
    limit = sum(counts.shares)
    numbers[3, 5] = numbers[3, 9] = numbers[40, 255] = limit
    numbers[41, 0] = NUMBERS - 1
    missing, totals = np.empty(numbers.size, np.intp), np.empty(50, np.int64)
    listed = kernel(corrected_coins.add_up)(numbers, counts._table, counts._limit, missing, totals)
    have = numbers < limit
    assert missing[:listed].tolist() == np.nonzero(~have)[0].tolist()
    assert totals.tolist() == [int(counts._table[row[own]].sum()) for row, own in zip(numbers, have, strict=True)]


def test_second_draws_are_added_to_the_totals_of_their_rows(monkeypatch):
    counts = CountOf(Fraction(1, 80))
    numbers = np.zeros((4, 64), np.uint16)  # number 0 has no corrections
    numbers[1, 2] = numbers[1, 3] = numbers[3, 0] = NUMBERS - 1
    monkeypatch.setattr(CountOf, "_more_draws", lambda counts, count, stream: np.array([1, 10, 100][:count]))
    totals = np.empty(4, np.int64)
    counts.add(numbers, fldp.Stream(1), totals)
    assert totals.tolist() == [0, 11, 0, 100]


def places_of(marks):
    return np.flatnonzero(np.unpackbits(marks.view(np.uint8), bitorder="little")).tolist()


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_every_number_has_a_bit_of_its_own(kernel):
    numbers, marks = np.random.default_rng(1).permutation(BLOCK).astype(np.uint16), np.zeros(BLOCK_WORDS, np.uint64)
    chosen = numbers[:2000]
    assert kernel(corrected_coins.mark)(marks, 2000, numbers, 0) == (0, 2000)
    assert places_of(marks) == np.sort(chosen).tolist()
    left = kernel(corrected_coins.mark)(marks, BLOCK, numbers, 0)
    assert left == (2000, BLOCK)
    assert len(places_of(marks)) == BLOCK


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_numbers_that_differ_are_counted_at_the_end(kernel):
    numbers, marks = (
        np.random.default_rng(1).integers(0, BLOCK, 2000).astype(np.uint16),
        np.zeros(BLOCK_WORDS, np.uint64),
    )
    assert kernel(corrected_coins.mark_all)(marks, numbers) == len({*numbers.tolist()}) < 2000
    assert places_of(marks) == sorted({*numbers.tolist()})


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_marks_are_the_first_numbers_that_differ(kernel):
    """Also where numbers run out, and there are more later."""
    rng = np.random.default_rng(2)
    for wanted in (0, 1, 7, 12):
        numbers = rng.integers(0, 16, 400).astype(np.uint16)
        expected = sorted(list(dict.fromkeys(numbers.tolist()))[:wanted])
        for step in (400, 5, 1):
            marks, left = np.zeros(1, np.uint64), wanted
            for start in range(0, 400, step):
                left, used = kernel(corrected_coins.mark)(marks, left, numbers[start : start + step], 0)
                assert used <= step
            assert left == 0
            assert places_of(marks) == expected


def law_of_byte(chance):
    """The law of the first eight coins of a block: every number of corrections, in every order of their places."""
    counts, places, weights = [], [], []
    for count, share in enumerate(binomial(8, chance)):
        for order in permutations(range(8), count):
            counts.append(count)
            places += order
            weights.append(share / perm(8, count))
    out, planes = np.zeros(8 * len(counts), np.uint8), np.zeros((1, 8 * len(counts)), np.uint8)
    arguments = np.array(counts), np.array(places, np.uint16), np.zeros(1, np.uint64), (0, -1), out
    end = corrected_coins.throw_blocks.compiled(planes, np.zeros(1, np.uint8), np.uint8(0), *arguments)
    assert end == (len(counts), -1)
    total = Counter()
    for byte, weight in zip(out[::8].tolist(), weights, strict=True):
        total[byte] += weight
    return total


def test_corrected_bytes_are_eight_independent_coins_by_enumeration():
    """Places that come again change nothing: of uniform places, the first that is new is uniform among the new ones."""
    chance = Fraction(9931, 393216)
    total = law_of_byte(chance)
    coins = {
        byte: prod((chance if byte >> k & 1 else 1 - chance for k in range(8)), start=Fraction(1))
        for byte in range(256)
    }
    assert total == coins


def repeats_count(marks, left, numbers, used):
    """Mark as many numbers as are wanted, whether they differ or not."""
    for number in numbers[used : used + left]:
        marks[0] |= np.uint64(1 << int(number))
    return 0, used + left


@pytest.mark.parametrize("planted", [False, True])
def test_places_that_count_twice_are_another_law(monkeypatch, planted):
    """Three of eight coins, by every five numbers: uniform among those that suffice, unless repeats count."""
    if planted:
        monkeypatch.setattr(corrected_coins, "mark", repeats_count)
    total = Counter()
    for numbers in product(range(8), repeat=5):
        out, marks = np.zeros(8, np.uint8), np.zeros(1, np.uint64)
        arguments = np.array([3]), np.array(numbers, np.uint16), marks, (0, -1), out
        done, _ = corrected_coins.throw_blocks(np.zeros((1, 8), np.uint8), np.zeros(1, np.uint8), 0, *arguments)
        if done:
            total[int(out[0])] += 1
    uniform = {byte for byte in range(256) if byte.bit_count() == 3} == {*total} and len({*total.values()}) == 1
    assert uniform is not planted


@pytest.mark.parametrize("chance", [Fraction(269, 1000), Fraction(7, 8) + Fraction(1, 1000), Fraction(1, 3000)])
def test_blocks_are_thrown_as_by_plain_loops_however_many_numbers_there_are(chance):
    """Three blocks, the last of them cut short, by numbers that never run out, or again and again."""
    coins, rng = CorrectedCoins.best(chance), np.random.default_rng(3)
    size, blocks = 32, 3
    drawn = rng.integers(0, 256, (max(1, coins.planes), blocks * size)).astype(np.uint8) * bool(coins.planes)
    numbers, counts = rng.integers(0, 8 * size, 3000).astype(np.uint16), np.array([5, 0, 40])
    others = drawn[1:] if coins.planes > 1 else np.zeros((1, blocks * size), np.uint8)
    rest, expected = iter(numbers.tolist()), []
    for block in range(blocks):
        places = set()
        while len(places) < counts[block]:
            places.add(next(rest))
        for coin in range(8 * size):
            bits = [int(plane[block * size + (coin >> 3)]) >> (coin & 7) & 1 for plane in drawn]
            one = bits[0]
            for k in range(1, len(bits)):
                one = one | bits[k] if coins._threshold >> k & 1 else one & bits[k]
            expected.append((one | (coin in places)) ^ coins.flipped)
    for step in (3000, 7, 1):
        out, planes, marks = drawn[0, :-9].copy(), others, np.zeros(size // 8, np.uint64)
        at, start = (0, -1), 0
        while at[0] < blocks:
            part = numbers[start : start + step]
            at = corrected_coins.throw_blocks.compiled(
                planes, coins.ors, np.uint8(255 * coins.flipped), counts, part, marks, at, out
            )
            start += step
        assert np.unpackbits(out, bitorder="little").tolist() == expected[: 8 * len(out)]


def sample(mechanism, values, stream):
    out = mechanism.report_format.empty(len(values))
    mechanism.sample_many(mechanism._corrected.memory(len(values), out.shape[1]), values, stream, out)
    return out


@pytest.mark.parametrize("size", [2, 7, 8, 9, 31, 33, 1000, 70_001])
@pytest.mark.parametrize("make", [fldp.OUE, fldp.SUE])
def test_rows_of_other_values_differ_in_their_own_bits_alone(make, size):
    """The words of a batch do not depend on its values, and neither does any bit but the true one."""
    mechanism, rng = make(1.0, size)._mechanism, np.random.default_rng(size)
    users = 300 if size < 10_000 else 5
    ours, theirs = rng.integers(0, size, (2, users))
    one, two = (sample(mechanism, values, fldp.Stream(3)) for values in (ours, theirs))
    assert mechanism.report_format.check(one).all()
    differing = np.unpackbits(one ^ two, axis=1, bitorder="little")
    differing[np.arange(users), ours] = differing[np.arange(users), theirs] = 0
    assert not differing.any()


def statistic(counts, law, draws):
    """Pearson's, and its quantile for a false alarm in 10^9, by Wilson and Hilferty's cube (z = 6)."""
    free = len(law) - 1
    most = free * (1 - 2 / (9 * free) + 6 * sqrt(2 / (9 * free))) ** 3
    return sum((counts[outcome] - draws * float(p)) ** 2 / (draws * float(p)) for outcome, p in law.items()), most


@pytest.mark.parametrize(
    "oracle", [fldp.OUE(1.0, 4), fldp.SUE(2.0, 4), fldp.OUE(0.5, 8), fldp.OUE(3.0, 4), fldp.SUE(0.1, 7)], ids=repr
)
@pytest.mark.parametrize("planted", [0, Fraction(1, 32)])
def test_batches_of_secure_randomness_have_the_law(oracle, planted, monkeypatch):
    """100,000 reports of one value: a false alarm in 10^9; a probability that is 3 % off is found."""
    value, draws = 1, 100_000
    assert oracle._mechanism.sampler(draws) != oracle._mechanism.sample_few
    if planted:
        biased = CorrectedCoins.best(oracle.coins.q + planted)
        monkeypatch.setitem(vars(oracle._mechanism), "_corrected", biased)
    counts = np.bincount(oracle.privatize(np.full(draws, value)).data[:, 0], minlength=256)
    measured, most = statistic(counts, analysis(oracle).law(value), draws)
    assert (measured < most) is not bool(planted)


def test_numbers_that_run_out_again_and_again_change_no_law(monkeypatch):
    """Numbers for a few corrections only: a false alarm in 10^9."""
    oracle, draws = fldp.OUE(1.0, 4), 100_000
    monkeypatch.setattr(CorrectedCoins, "numbers", lambda coins, blocks: 64)
    out = sample(oracle._mechanism, np.full(draws, 2), fldp.Stream())
    measured, most = statistic(np.bincount(out[:, 0], minlength=256), analysis(oracle).law(2), draws)
    assert measured < most


@pytest.mark.parametrize("oracle", [fldp.OUE(1.0, 1000), fldp.SUE(1.0, 1000), fldp.OUE(6.0, 1000)], ids=repr)
def test_bits_of_large_reports_are_independent(oracle):
    """Bits, pairs of bits, and the spread of the number of ones of a report: 6 standard errors, a false alarm in 10^6.

    A wrong number of corrections in a block shows in the spread.
    """
    draws, q = 20_000, float(oracle.coins.q)
    bits = np.unpackbits(oracle.privatize(np.full(draws, 17)).data, axis=1, bitorder="little")[:, 18:1000]
    assert np.all(np.abs(bits.mean(axis=0) - q) < 6 * sqrt(q * (1 - q) / draws))
    for distance in (1, 8, 64, 500):
        both = (bits[:, :-distance] & bits[:, distance:]).mean()
        pairs = bits[:, distance:].size / 3  # overlapping pairs, to be safe
        assert abs(both - q * q) < 6 * (sqrt(q * q * (1 - q * q) / pairs) + 2 * q * sqrt(q * (1 - q) / bits.size))
    ones, size = bits.sum(axis=1), bits.shape[1]
    assert abs(ones.var() / (size * q * (1 - q)) - 1) < 6 * sqrt(2.1 / draws + 1 / (draws * size * q * (1 - q)))


class Counting(fldp.Stream):
    """A stream that counts the words it gave."""

    count = 0

    def fill(self, out):
        self.count += out.size
        super().fill(out)


@pytest.mark.parametrize(("make", "most"), [(fldp.OUE, 2.7), (fldp.SUE, 3.3)])
def test_a_batch_takes_few_bits_a_value(make, most):
    """OUE: two planes and 16 bits for 2.5 % of the values; SUE: three planes and 16 bits for 0.4 %."""
    mechanism, stream = make(1.0, 1024)._mechanism, Counting(1)
    sample(mechanism, np.zeros(20_000, np.int64), stream)
    assert 64 * stream.count / (20_000 * 1024) < most
