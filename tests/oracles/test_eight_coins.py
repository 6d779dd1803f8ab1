"""Eight coins at once: their law, in rationals, is that of the thresholds, and batches are drawn by it."""

from fractions import Fraction
from itertools import accumulate
from math import prod, sqrt

import numpy as np
import pytest

import fldp
from fldp.oracles.kit import analysis
from fldp.oracles.plain import unary, weighted_draws
from fldp.oracles.plain.eight_coins import EightCoins
from fldp.oracles.plain.weighted_draws import NUMBERS, WORDS
from support.weighted_law import law_of

COINS = {
    "OUE, eps = 1": fldp.OUE(1.0, 9)._mechanism._others,
    "SUE, eps = 1": fldp.SUE(1.0, 9)._mechanism._others,
    "OUE, eps = 0.01": fldp.OUE(0.01, 9)._mechanism._others,
    "OUE, eps = 20, more planes": fldp.OUE(20.0, 9)._mechanism._others,
    "a half": EightCoins(20, 1 << 19),
    "a quarter: no second draw": EightCoins(20, 1 << 18),
    "an eighth": EightCoins(20, 1 << 17),
    "the least": EightCoins(20, 1),
}


class Told:
    """A stream that hands out the words it was told."""

    def __init__(self, words):
        self.left = np.array(words, np.uint64)

    def words(self, count):
        words, self.left = self.left[:count], self.left[count:]
        assert len(words) == count
        return words


def chance(coins, byte):
    """The product over the bits, one after the other."""
    one = Fraction(coins.threshold, 1 << coins.planes)
    return prod((one if byte >> k & 1 else 1 - one for k in range(8)), start=Fraction(1))


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
def test_the_law_is_that_of_the_thresholds(coins):
    assert law_of(coins) == [chance(coins, byte) for byte in range(256)]
    assert min(coins.shares + coins.more_shares + coins.still_lacking) >= 0


def test_a_threshold_that_is_off_by_one_is_another_law():
    coins = COINS["OUE, eps = 1"]
    assert law_of(EightCoins(coins.planes, coins.threshold + 1)) != [chance(coins, byte) for byte in range(256)]


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
def test_each_byte_has_its_numbers(coins):
    """All numbers there are, one after the other, compiled, by NumPy and in plain Python."""
    numbers, limit = np.arange(NUMBERS, dtype=np.uint16).reshape(256, 256), sum(coins.shares)
    for kernel in (weighted_draws.look_up.compiled, weighted_draws._take, weighted_draws.look_up):
        out, missing = np.empty((256, 256), np.uint8), np.empty(NUMBERS, np.intp)
        count = kernel(numbers, coins._table, np.uint32(limit), missing, out)
        assert missing[:count].tolist() == list(range(limit, NUMBERS))
        assert np.bincount(out.reshape(-1)[:limit], minlength=256).tolist() == coins.shares


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
def test_each_byte_has_its_words_and_what_is_left_over(coins, monkeypatch):
    """At both ends of the words of every byte, beyond all of them, and at both ends of what is left over."""
    ends = list(accumulate(coins.more_shares))
    words = [
        word for end, share in zip(ends, coins.more_shares, strict=True) if share for word in (end - share, end - 1)
    ]
    expected = [byte for byte, share in enumerate(coins.more_shares) if share for _ in range(2)]
    left = [(sum(coins.still_lacking[:byte]), byte) for byte, lack in enumerate(coins.still_lacking) if lack]
    left += [(sum(coins.still_lacking[: byte + 1]) - 1, byte) for _, byte in left]
    asked = iter([number for number, _ in left])
    monkeypatch.setattr(weighted_draws.secrets, "randbelow", lambda below: next(asked) % below)
    told = words + [max(ends[-1], WORDS - 1 - k) for k in range(len(left))]
    drawn = coins._more_draws(len(told), Told(told)) if told else np.empty(0)
    assert drawn.tolist() == expected + [byte for _, byte in left]
    assert next(asked, None) is None


@pytest.mark.parametrize("size", [2, 7, 8, 9, 31, 32, 33, 1000])
@pytest.mark.parametrize("make", [fldp.OUE, fldp.SUE])
def test_rows_of_other_values_differ_in_their_own_bits_alone(make, size):
    """The words of a batch do not depend on its values, and neither does any bit but the true one."""
    mechanism, rng = make(1.0, size)._mechanism, np.random.default_rng(size)
    ours, theirs = rng.integers(0, size, (2, 300))
    one, two = (mechanism.report_format.empty(300) for _ in range(2))
    mechanism.sample_few(ours, fldp.Stream(3), one)
    mechanism.sample_few(theirs, fldp.Stream(3), two)
    assert mechanism.report_format.check(one).all()
    differing = np.unpackbits(one ^ two, axis=1, bitorder="little")
    differing[np.arange(300), ours] = differing[np.arange(300), theirs] = 0
    assert not differing.any()


def test_true_bits_are_settled_alike_by_numpy_and_by_the_kernel():
    rng = np.random.default_rng(1)
    values, words = rng.integers(0, 21, 500), fldp.Stream(1).words(500)
    rows = rng.integers(0, 256, (500, 3), np.uint8)
    true, padding = np.uint64(1 << 62), np.uint64(0b11100000)
    expected = np.unpackbits(rows, axis=1, bitorder="little")
    expected[np.arange(500), values] = words < true
    expected[:, 21:] = 0
    for settle in (unary.settle_bits, unary.settle_bits.compiled, unary._settle_all):
        out = rows.copy()
        settle(values, words, true, padding, out)
        assert np.array_equal(np.unpackbits(out, axis=1, bitorder="little"), expected)


def statistic(counts, law, draws):
    """Pearson's, and its quantile for a false alarm in 10^9, by Wilson and Hilferty's cube (z = 6)."""
    free = len(law) - 1
    most = free * (1 - 2 / (9 * free) + 6 * sqrt(2 / (9 * free))) ** 3
    return sum((counts[outcome] - draws * float(p)) ** 2 / (draws * float(p)) for outcome, p in law.items()), most


@pytest.mark.parametrize("oracle", [fldp.OUE(1.0, 4), fldp.SUE(2.0, 4), fldp.OUE(0.5, 8)], ids=repr)
@pytest.mark.parametrize("planted", [0, 1 << 15])
def test_batches_of_secure_randomness_have_the_law(oracle, planted, monkeypatch):
    """100,000 reports of one value: a false alarm in 10^9; a threshold that is 3 % of all numbers off is found."""
    value, draws = 1, 100_000
    if planted:
        biased = EightCoins(oracle.coins.planes, oracle.coins.other_threshold + planted)
        monkeypatch.setitem(vars(oracle._mechanism), "_others", biased)
    monkeypatch.setattr(oracle._mechanism.__class__, "sampler", lambda mechanism, users: mechanism.sample_few)
    counts = np.bincount(oracle.privatize(np.full(draws, value)).data[:, 0], minlength=256)
    measured, most = statistic(counts, analysis(oracle).law(value), draws)
    assert (measured < most) is not bool(planted)


def test_classes_of_others_are_drawn_by_their_own_perturb():
    class Silent(fldp.OUE):
        def perturb(self, values, words, out):
            out[:] = 0

    assert not Silent(1.0, 9).privatize([1, 2, 3]).data.any()


class Counting(fldp.Stream):
    """A stream that counts the words that it gave."""

    count = 0

    def fill(self, out):
        self.count += out.size
        super().fill(out)


@pytest.mark.parametrize("make", [fldp.OUE, fldp.SUE])
def test_a_batch_takes_two_bits_a_value(make):
    """32 words for 1,024 values, one for the true bit, and one for every second draw, of which there are few."""
    mechanism, stream = make(1.0, 1024)._mechanism, Counting(1)
    mechanism.sample_few(np.zeros(1000, np.int64), stream, mechanism.report_format.empty(1000))
    assert 33_000 <= stream.count <= 34_000
