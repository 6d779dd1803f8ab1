"""Sets of SS by random bits: the law in rationals by enumeration, the same sets by plain loops, and real batches."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, pairwise, product
from math import comb, sqrt

import numpy as np
import pytest

import fldp
from fldp.oracles.kit import analysis
from fldp.oracles.plain import random_sets
from fldp.oracles.plain.random_sets import RandomSets, place_coins
from fldp.randomness.coins import exp_lower
from fldp.randomness.word_pool import WordSource

NUMBERS = 1 << 32
SIZES = [(2, 1), (3, 2), (5, 1), (64, 20), (65, 20), (66, 65), (100, 70), (128, 3), (257, 60), (1024, 275)]


def number_of(place, places):
    """The second number that stands for a place: the first may be one that counts for none."""
    return -(-place * NUMBERS // places) + 1


def kernel_arguments(sets, words, tries):
    places, coins = sets.domain_size - 1, sets.coins
    constants = np.uint64((1 << places % 64) - 1), np.uint64(NUMBERS % places)
    planned = coins.planes, np.uint64(coins.threshold), *constants
    return words, tries, planned, np.uint64(sets.keep), np.uint64(places), random_sets._PLACE_OF


def drawn(sets, values, words, tries, kernel=random_sets.draw_sets.compiled):
    out = np.zeros((len(values), sets.size), np.uint16)
    count = kernel(np.array(values), *kernel_arguments(sets, words, np.array(tries, np.uint32)), out)
    return [tuple(row) for row in out.tolist()[:count]]


def naive(sets, values, words, tries):
    """The same by sets of Python, one place after the other."""
    places, coins, left, drawn_sets = sets.domain_size - 1, sets.coins, iter(tries), []
    blocks = places // 64 + 1

    def pick(allowed):
        for number in map(int, left):
            place, low = divmod(number * places, NUMBERS)
            if low >= NUMBERS % places and place in allowed:
                return place
        raise StopIteration

    try:
        for value, row in zip(values, words.tolist(), strict=True):
            planes = [row[1 + k * blocks : 1 + (k + 1) * blocks] for k in range(coins.planes)]
            numbers = [
                sum((plane[j >> 6] >> (j & 63) & 1) << k for k, plane in enumerate(planes)) for j in range(places)
            ]
            members, every = {j for j in range(places) if numbers[j] < coins.threshold}, {*range(places)}
            while len(members) > sets.size - 1:
                members.remove(pick(members))
            while len(members) < sets.size - 1:
                members.add(pick(every - members))
            another = pick(every - members)
            others = {places if place == value else place for place in members}
            last = places if another == value else another
            drawn_sets.append(tuple(sorted(others | {int(value) if row[0] < sets.keep else last})))
    except StopIteration:
        pass
    return drawn_sets


@pytest.mark.parametrize(("domain_size", "size"), SIZES)
@pytest.mark.parametrize("kernel", [random_sets.draw_sets.compiled, random_sets.draw_sets], ids=["compiled", "Python"])
def test_the_same_words_make_the_same_sets_as_plain_loops(domain_size, size, kernel):
    """Also where tries run out: the set that lacks some is not there."""
    sets, stream = RandomSets(domain_size, size, 1 << 63), fldp.Stream(domain_size)
    values = [0, 1, domain_size - 1, domain_size // 2, *np.random.default_rng(1).integers(0, domain_size, 16)]
    words = stream.words(20 * (1 + sets.coins.planes * ((domain_size - 1) // 64 + 1))).reshape(20, -1)
    for count in (1000 + 20 * domain_size, 30):
        tries = stream.words(count // 2).view(np.uint32)
        expected = naive(sets, values, words, tries)
        assert drawn(sets, values, words, tries, kernel) == expected
        assert len(expected) == 20 or count == 30


@pytest.mark.parametrize("places", [1, 2, 3, 5, 7, 64, 100, 1023, 1024, 2000])
def test_each_place_has_as_many_numbers_as_any_other(places):
    uneven, row = NUMBERS % places, np.zeros(places // 64 + 1, np.uint64)
    starts = [-(-place * NUMBERS // places) for place in range(places + 1)]
    for place, (start, stop) in enumerate(pairwise(starts)):
        is_uneven = start * places % NUMBERS < uneven  # and no other number of this place can be
        assert stop - start - is_uneven == NUMBERS // places
        tried = np.array([start, start + 1, stop - 1], np.uint32)
        arguments = np.uint64(0), tried, 0, np.uint64(places), np.uint64(uneven)
        assert random_sets.pick.compiled(row, *arguments) == (place, 2 if is_uneven else 1)


def choices(members, places, size):
    """Every way to correct the members and to draw one more place, with its chance."""
    allowed = [place for place in range(places) if (place in members) is (len(members) > size)]
    for place in allowed:
        chance = Fraction(1, len(allowed))
        if len(members) == size:
            yield (place,), chance
        else:
            for more, other in choices(members ^ {place}, places, size):
                yield (place, *more), chance * other


def ways(sets):
    """Every set of places that coins make members, every correction, every place for the last, both sides of the coin.

    Places that are tried in vain change nothing: of uniform tries, the first that is allowed is uniform among them.
    """
    places, coins = sets.domain_size - 1, sets.coins
    member, keep = Fraction(coins.threshold, 1 << coins.planes), Fraction(sets.keep, 1 << 64)
    for flags in product((0, 1), repeat=places):
        members = frozenset(place for place in range(places) if flags[place])
        share = member ** len(members) * (1 - member) ** (places - len(members))
        bits = sum(1 << place for place in range(places) if not flags[place])  # numbers with all bits, or none
        for picked, chance in choices(members, places, sets.size - 1) if share else ():
            tries = [number_of(place, places) for place in picked]
            for word, side in ((sets.keep - 1, keep), (sets.keep, 1 - keep)):
                yield [word] + [bits] * coins.planes, tries, share * chance * side


def law(sets, value):
    rows, tries, chances = zip(*ways(sets), strict=True)
    outcomes = drawn(sets, [value] * len(rows), np.array(rows, np.uint64), list(chain(*tries)))
    total = Counter()
    for outcome, chance in zip(outcomes, chances, strict=True):
        total[outcome] += chance
    return total


def uniform(sets, value):
    keep, others = Fraction(sets.keep, 1 << 64), sets.domain_size - 1
    shares = (1 - keep) / comb(others, sets.size), keep / comb(others, sets.size - 1)
    return {chosen: shares[value in chosen] for chosen in combinations(range(others + 1), sets.size)}


@pytest.mark.parametrize(
    ("epsilon", "domain_size", "size"),
    [(1.0, 5, None), (0.5, 6, None), (1.0, 6, 4), (1.0, 5, 4), (3.0, 5, None), (0.1, 3, None), (0.01, 2, None)],
)
@pytest.mark.parametrize("planes", [None, 2])
def test_sets_are_exactly_uniform_by_enumeration(epsilon, domain_size, size, planes):
    """With the coins that are taken, and with coins of 1/4, whatever the number of members should be."""
    oracle = fldp.SS(epsilon, domain_size, set_size=size)
    sets, laws = oracle._sets, []
    if planes:
        sets = RandomSets(domain_size, oracle._size, oracle.coin.keep)
        vars(sets)["coins"] = sets.coins._replace(planes=planes, threshold=1)
    for value in range(domain_size):
        laws.append(law(sets, value))
        assert laws[-1] == uniform(sets, value)
        by_words = analysis(oracle).law(value)
        assert all(
            oracle.coin.even <= chance / by_words[chosen] <= 1 / oracle.coin.even for chosen, chance in laws[-1].items()
        )
    for one, other in combinations(laws, 2):
        assert max(max(one[key] / other[key], other[key] / one[key]) for key in one) <= exp_lower(epsilon)


@cache
def hits_exactly(others, cells, draws, hit):
    """How likely so many uniform draws from the cells hit all of these ``hit`` others, and none of the rest."""
    left = cells - others
    return sum((-1) ** k * comb(hit, k) * Fraction(left + hit - k, cells) ** draws for k in range(hit + 1))


def single_law(monkeypatch, sets, value):
    """The law of a single set: every set of others that is hit, every correction, every other place, both coins."""
    others = [other for other in range(sets.domain_size) if other != value]
    cells, keep = 1 << (sets.domain_size - 1).bit_length(), Fraction(sets.keep, 1 << 64)
    draws, total = random_sets.draws_for(sets.domain_size, sets.size, cells), Counter()
    for flags in product((0, 1), repeat=len(others)):
        hit = [other for other, flag in zip(others, flags, strict=True) if flag]
        share = hits_exactly(len(others), cells, draws, len(hit))
        if not share:
            continue
        assert len(hit) <= draws
        numbers = np.array((hit + [value] * (draws + 24))[: draws + 24], np.uint16)  # the value itself hits no other
        for picked, chance in choices(frozenset(np.flatnonzero(flags).tolist()), len(others), sets.size - 1):
            picks = [others[place] for place in picked]
            monkeypatch.setattr(random_sets, "places_below", lambda cells, raw, picks=picks: iter(picks + others))
            for word, side in ((sets.keep - 1, keep), (sets.keep, 1 - keep)):
                scripted = WordSource(lambda word=word: word, lambda count, numbers=numbers: numbers.tobytes())
                total[sets.single(scripted)(value)] += share * chance * side
    return total


@pytest.mark.parametrize(
    ("epsilon", "domain_size", "size"), [(1.0, 5, None), (1.0, 4, 2), (1.0, 5, 4), (3.0, 5, None), (0.01, 2, None)]
)
def test_single_sets_are_exactly_uniform_by_enumeration(monkeypatch, epsilon, domain_size, size):
    sets = fldp.SS(epsilon, domain_size, set_size=size)._sets
    for value in range(domain_size):
        assert single_law(monkeypatch, sets, value) == uniform(sets, value)


def test_a_single_correction_that_prefers_places_is_another_law(monkeypatch):
    def first_one(flags, surplus, places):
        for _ in range(abs(surplus)):
            flags[flags.index(surplus > 0)] = surplus <= 0

    sets = RandomSets(5, 3, fldp.SS(1.0, 5, set_size=3).coin.keep)
    assert single_law(monkeypatch, sets, 4) == uniform(sets, 4)
    monkeypatch.setattr(random_sets, "correct", first_one)
    assert single_law(monkeypatch, sets, 4) != uniform(sets, 4)


@pytest.mark.parametrize(("domain_size", "size"), [(2, 1), (7, 3), (64, 20), (100, 99), (300, 80), (70_000, 5)])
def test_single_sets_are_sorted_sets_of_the_size(domain_size, size):
    draw, middle = RandomSets(domain_size, size, 1 << 63).single(), domain_size // 2
    for value in [0, middle, domain_size - 1] * 20:
        drawn_set = draw(value)
        assert len(drawn_set) == size
        assert drawn_set == tuple(sorted({*drawn_set}))
        assert 0 <= drawn_set[0] <= drawn_set[-1] < domain_size


def test_single_tries_skip_what_cannot_be_corrected():
    """Places that are members where others are wanted, and the other way round, and the value, which is neither."""
    flags = bytearray(b"\1\0\2\1\0")
    random_sets.correct(flags, 1, iter([1, 2, 4, 3, 0]))
    assert flags == b"\1\0\2\0\0"
    random_sets.correct(flags, -2, iter([0, 2, 4, 4, 1, 3]))
    assert flags == b"\1\1\2\0\1"


def test_a_responder_of_an_oracle_draws_by_numpy_and_one_of_its_description_does_not():
    oracle = fldp.SS(1.0, 50)
    assert fldp.Responder(oracle)._draw.__module__ == random_sets.__name__
    light = fldp.Responder.from_dict({"name": "ss", **oracle.parameters})
    assert light._draw.__module__ == "fldp.responder.set_responses"


def first_instead_of_random(row, size, tries, used, places, uneven):
    """Correct the number of members at the first places, not at random ones."""
    while (count := int(row[0]).bit_count()) != size:
        change = next(place for place in range(64) if int(row[0]) >> place & 1 == (count > size))
        row[0] ^= np.uint64(1 << change)
    return used


@pytest.mark.parametrize("planted", [False, True])
def test_a_correction_that_prefers_places_is_another_law(monkeypatch, planted):
    """In plain Python, one set after the other, with tries to spare."""
    sets, total = fldp.SS(1.0, 5, set_size=3)._sets, Counter()
    if planted:
        monkeypatch.setattr(random_sets, "resize", first_instead_of_random)
    spare = [number_of(place, 4) for place in range(4)]
    for row, tries, chance in ways(sets):
        (outcome,) = drawn(sets, [1], np.array([row], np.uint64), tries + spare, random_sets.draw_sets)
        total[outcome] += chance
    assert sum(total.values()) == 1
    assert (total == uniform(sets, 1)) is not planted


def statistic(counts, law, draws):
    """Pearson's, and its quantile for a false alarm in 10^9, by Wilson and Hilferty's cube (z = 6)."""
    free = len(law) - 1
    most = free * (1 - 2 / (9 * free) + 6 * sqrt(2 / (9 * free))) ** 3
    return sum((counts[outcome] - draws * float(p)) ** 2 / (draws * float(p)) for outcome, p in law.items()), most


@pytest.mark.parametrize("oracle", [fldp.SS(1.0, 7), fldp.SS(1.0, 7, set_size=4), fldp.SS(0.5, 9)], ids=repr)
@pytest.mark.parametrize("planted", [0, 1 << 59])
def test_batches_of_secure_randomness_have_the_law(oracle, planted, monkeypatch):
    """200,000 sets of one value: a false alarm in 10^9; a coin that is 3 % of all words off is found."""
    value, draws = 5, 200_000
    if planted:
        monkeypatch.setitem(
            vars(oracle), "_sets", RandomSets(oracle.domain_size, oracle._size, oracle.coin.keep + planted)
        )
    counts = Counter(map(tuple, oracle.privatize(np.full(draws, value)).data.tolist()))
    assert set(counts) == set(analysis(oracle).law(value))
    measured, most = statistic(counts, analysis(oracle).law(value), draws)
    assert (measured < most) is not bool(planted)


def test_tries_that_run_out_again_and_again_change_no_law():
    """Tries for a few sets only, so that most calls end early: a false alarm in 10^9."""
    oracle = fldp.SS(1.0, 7, set_size=4)
    scarce = RandomSets(7, 4, oracle.coin.keep)
    vars(scarce)["coins"] = scarce.coins._replace(tries=0.5, spread=0.0)
    out = oracle.report_format.empty(100_000)
    scarce.sample(np.full(100_000, 2), fldp.Stream(), out)
    measured, most = statistic(Counter(map(tuple, out.tolist())), analysis(oracle).law(2), 100_000)
    assert measured < most


def test_pairs_of_a_large_set_come_as_often_as_they_should():
    """All values of 300, and pairs at some distances: 6 standard errors, a false alarm in 10^6."""
    oracle, value, draws = fldp.SS(1.0, 300), 17, 20_000
    held = np.zeros((draws, 300), np.uint8)
    np.put_along_axis(held, oracle.privatize(np.full(draws, value)).data.astype(np.int64), 1, axis=1)
    estimator = oracle.estimator
    chances = np.full(300, float(estimator.q))
    chances[value] = float(estimator.p)
    assert np.all(np.abs(held.mean(axis=0) - chances) < 6 * np.sqrt(chances * (1 - chances) / draws))
    both = float(estimator.both_others)
    for distance in (1, 8, 64, 100):
        first = np.arange(20, 300 - distance)
        rate = (held[:, first] & held[:, first + distance]).mean()
        assert abs(rate - both) < 6 * sqrt(both * (1 - both) / draws)


@pytest.mark.parametrize(("places", "size"), [(1, 0), (2, 1), (1023, 274), (1023, 1022), (99_999, 26_893)])
def test_coins_take_few_planes_and_few_tries(places, size):
    coins = place_coins(places, size)
    assert 0 <= coins.threshold < 1 << coins.planes
    assert coins.tries <= 2 + 5 * sqrt(places) * places / (places - size)


def test_classes_of_others_are_drawn_by_their_own_perturb():
    class First(fldp.SS):
        def perturb(self, values, words, out):
            out[:] = np.arange(out.shape[1])

    assert First(1.0, 9).privatize(np.zeros(100_000, np.int64)).data.max() == 1
