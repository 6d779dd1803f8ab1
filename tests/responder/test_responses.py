"""One report in plain Python: the same report as ``perturb`` from the same words, and the exact law by enumeration."""

from collections import Counter
from fractions import Fraction
from functools import cache
from io import BytesIO
from itertools import combinations, product
from math import comb, prod, sqrt

import numpy as np
import pytest

import fldp
from fldp.oracles.kit import analysis
from fldp.randomness.coins import exp_lower
from fldp.randomness.word_pool import WordSource
from fldp.responder import fwr_item, registry, set_responses
from support import cases
from support.scripted_words import Script

OURS = {name: case for name, case in cases.CASES.items() if case[1].name in registry.names()}
BY_WORDS = {name: case for name, case in OURS.items() if case[1].name != "ss"}


def edges(oracle):
    """Words at which coins decide: the ends of all words, and the neighbours of the thresholds."""
    coin = getattr(oracle, "coin", None) or (oracle.memoization.coins.second if oracle.memoization else oracle.coins)
    near = [getattr(coin, name) for name in ("keep", "true_threshold") if hasattr(coin, name)]
    near += [near[0] + k * coin.other for k in (1, 2)] if hasattr(coin, "other") else []
    return [0, 2**64 - 1, *(word % 2**64 for edge in near for word in (edge - 1, edge))]


@pytest.mark.parametrize("oracle", [case[1] for case in BY_WORDS.values()], ids=BY_WORDS)
def test_the_same_words_make_the_same_report_as_in_a_batch(oracle):
    script, stream = Script(oracle), fldp.Stream(5)
    values = sorted({0, 1, oracle.domain_size // 2, oracle.domain_size - 1})
    rows = stream.words(30 * oracle.words).reshape(30, oracle.words)
    coin = 0 if oracle.name in ("sue", "oue") else -1
    for row, word in zip(rows, edges(oracle), strict=False):
        row[coin] = word
    for value in values:
        out = oracle.report_format.empty(len(rows))
        oracle.perturb(np.full(len(rows), value), rows, out)
        expected = [oracle.report_format.outcome(row) for row in out]
        assert [script.outcome(value, row) for row in rows] == expected


SMALL = {name: case for name, case in BY_WORDS.items() if case[1].domain_size <= case[0].enumerate_to}


@pytest.mark.parametrize(("family", "oracle"), SMALL.values(), ids=SMALL)
def test_law_by_enumeration(family, oracle):
    """What it answers at both ends of every region of its words, weighed by their size, is the law of the oracle."""
    script = Script(oracle)
    for value in sorted({0, 1, oracle.domain_size - 1}):
        law, public = Counter(), None
        for rows, share in family.atoms(oracle, value):
            (public, outcome), *rest = {script.outcome(value, row) for row in rows}
            assert not rest, f"words {rows} are in one region"
            law[outcome] += share
        assert law == analysis(oracle).law(value, public)


@pytest.mark.parametrize("oracle", [fldp.OUE(1.0, 1 << 20), fldp.SUE(0.5, 1 << 20), fldp.OUE(np.log(3), 1 << 20)])
def test_every_number_of_a_bit_is_compared_with_the_threshold(oracle):
    """On a domain of ``2^20`` values, value ``j`` gets the number ``j``: all numbers there are, in one report."""
    planes, threshold = oracle.coins.planes, oracle.coins.other_threshold
    numbers = np.arange(1 << 20, dtype=np.uint64)
    assert planes == 20
    bits = [
        np.packbits((numbers >> np.uint64(k) & np.uint64(1)).astype(np.uint8), bitorder="little") for k in range(20)
    ]
    told = WordSource(lambda: 0, lambda count: b"".join(plane.tobytes() for plane in bits[20 - count // (1 << 17) :]))
    report = registry.response(oracle.name, oracle.parameters, source=told).draw(0)
    ones = np.unpackbits(np.frombuffer(report, np.uint8), bitorder="little")
    assert ones[0] == 1  # the true bit, for the word 0
    assert np.flatnonzero(ones).tolist() == list(range(threshold))


@cache
def exactly(places, cells, draws, hit):
    """How likely so many uniform draws from the cells hit all of these ``hit`` places, and none of the others."""
    left = cells - places
    return sum((-1) ** k * comb(hit, k) * Fraction(left + hit - k, cells) ** draws for k in range(hit + 1))


def subsets_law(monkeypatch, epsilon, domain_size, value):
    """The law of SS by going through all sets of places that draws hit, coins and picks, each weighed by its chance."""
    oracle, law, asked, choices = fldp.SS(epsilon, domain_size), Counter(), [], []
    places = range(domain_size - 1)

    def pick(kept, member, _):
        """Take the place that the script says, among all that the real one draws from with equal chance."""
        allowed = [place for place in places if (place in kept[0]) is member]
        depth = len(taken)
        if depth == len(choices):
            choices.append([0, len(allowed)])
        taken.append(Fraction(1, len(allowed)))
        return allowed[choices[depth][0]]

    monkeypatch.setattr(set_responses, "pick", pick)
    for flags, named in product(product((0, 1), repeat=len(places)), (0, 1)):
        hit = bytes(place for place in places if flags[place])
        told = WordSource(
            lambda named=named: (1 - named) * (2**64 - 1),
            lambda count, hit=hit: asked.append(count) or (hit + b"\xff" * 256)[:count],
        )
        draw = registry.response("ss", oracle.parameters, source=told).draw
        choices.clear()
        picked = Counter()
        while True:
            taken = []
            drawn = draw(value)
            share = exactly(len(places), 256, asked[-1] - 1, len(hit))  # a byte more than it draws is never read
            picked[drawn] += prod(taken, start=Fraction(1))
            while choices and choices[-1][0] + 1 == choices[-1][1]:
                choices.pop()
            if not choices:
                break
            choices[-1][0] += 1
        share *= oracle.coin.p if named else 1 - oracle.coin.p
        law.update({chosen: share * chance for chosen, chance in picked.items()})
    return {chosen: share for chosen, share in law.items() if share}


@pytest.mark.parametrize(("epsilon", "domain_size"), [(1.0, 5), (0.5, 6), (3.0, 5), (0.1, 3), (0.01, 2)])
def test_sets_are_exactly_uniform_by_enumeration(monkeypatch, epsilon, domain_size):
    oracle = fldp.SS(epsilon, domain_size)
    p, size, others = oracle.coin.p, oracle._size, domain_size - 1
    even, laws = oracle.coin.even, []
    for value in range(domain_size):
        expected = {
            chosen: p / comb(others, size - 1) if value in chosen else (1 - p) / comb(others, size)
            for chosen in combinations(range(domain_size), size)
        }
        law = subsets_law(monkeypatch, epsilon, domain_size, value)
        assert law == expected
        batch = analysis(oracle).law(value)
        assert all(even <= law[chosen] / batch[chosen] <= 1 / even for chosen in expected)
        laws.append(law)
    for one, other in combinations(laws, 2):
        assert max(max(one[chosen] / other[chosen], other[chosen] / one[chosen]) for chosen in one) <= exp_lower(
            epsilon
        )


def test_a_place_is_picked_from_members_or_others_with_equal_chance():
    kept = [bytearray(b"\1\2\5")]
    for member in (False, True):
        firsts = Counter(
            set_responses.pick(kept, member, iter([first, *range(7)]))
            for first in range(7)
            if (first in kept[0]) is member
        )
        assert firsts == {place: 1 for place in range(7) if (place in kept[0]) is member}


def test_a_bit_of_each_draw_halves_the_blocks():
    """All bits of three draws on two levels: every draw falls into each of four blocks with the same chance."""
    counted = Counter()
    for one, two in product(range(8), repeat=2):
        first = one.bit_count()
        second = [two] * (first > 0) + [two >> first] * (first < 3)  # no byte for a half without draws
        read = BytesIO(bytes(bits | 0xF8 for bits in (one, *second))).read  # bits beyond the draws do not count
        counted[tuple(set_responses.shares(3, 2, read))] += 1
    assert counted == Counter(tuple(blocks.count(k) for k in range(4)) for blocks in product(range(4), repeat=3))


@pytest.mark.parametrize(("places", "members"), [(255, 60), (256, 60), (257, 60), (600, 200), (600, 500), (1023, 1)])
def test_the_places_that_are_drawn_are_those_of_a_plain_loop(places, members):
    for seed in range(20):
        sizes, read = [], fldp.Stream(seed).words(1000).tobytes()
        kept = set_responses.drawer(
            places, members, lambda count, read=read, sizes=sizes: sizes.append(count) or read[:count]
        )()
        blocks, stream = len(kept), BytesIO(read[: sizes[0]])
        levels = (blocks - 1).bit_length()
        few = min(members, places - members)
        draws = round(np.log1p(-few / places) / np.log1p(-1 / (256 << levels)))
        drawn = set()
        for block, count in enumerate(set_responses.shares(draws, levels, stream.read)):
            drawn |= {256 * block + byte for byte in stream.read(count)}
        chosen = drawn & {*range(places)} if few == members else {*range(places)} - drawn
        assert [256 * block + byte for block, there in enumerate(kept) for byte in there] == sorted(chosen)
        assert blocks == places // 256 + 1


@pytest.mark.parametrize("bound", [1, 2, 3, 100, 1022, 1024, 65536])
def test_places_below_a_bound_are_uniform(bound):
    """Every number of 16 bits once: each place comes as often as any other."""
    pieces = iter([np.arange(start, start + 64, dtype=np.uint16).tobytes() for start in range(0, 65536, 64)])
    places, seen = set_responses.places_below(bound, lambda count: next(pieces)), Counter()
    with pytest.raises(RuntimeError):  # the script ends, and the places would not
        seen.update(places)
    assert len(seen) == bound
    assert len(set(seen.values())) == 1


def chi_square(counts, law, draws):
    """Pearson's statistic, and its 1 - 1e-9 quantile by Wilson and Hilferty's cube (z = 6)."""
    statistic = sum((counts[outcome] - draws * float(p)) ** 2 / (draws * float(p)) for outcome, p in law.items())
    free = len(law) - 1
    return statistic, free * (1 - 2 / (9 * free) + 6 * sqrt(2 / (9 * free))) ** 3


@pytest.mark.parametrize(
    "oracle",
    [
        *(
            fldp.RR(1.0),
            fldp.GRR(1.0, 5),
            fldp.OUE(1.0, 4),
            fldp.SUE(1.0, 4),
            fldp.SS(1.0, 7),
            fldp.SS(1.0, 7, set_size=4),
            fldp.HR(1.0, 6),
        ),
        *(fldp.PGR(1.0, 6), fldp.FHR(1.0, 5)),
    ],
    ids=lambda oracle: oracle.name,
)
@pytest.mark.long
def test_single_calls_have_the_law(oracle):
    """20,000 calls of ``privatize`` for one value, as people call it; secure randomness, a false alarm in 10^9."""
    value, draws = oracle.domain_size - 1, 20_000
    split = oracle.report_format.outcome
    counts = Counter(split(oracle.privatize(value).data[0])[1] for _ in range(draws))
    law = analysis(oracle).law(value)
    assert set(counts) <= set(law)
    statistic, most = chi_square(counts, law, draws)
    assert statistic < most


@pytest.mark.parametrize("oracle", [fldp.OLH(1.0, 9), fldp.FWR(1.0, 9), fldp.FWR(1.0, 9, 0.5), fldp.HRR(1.0, 9)])
@pytest.mark.long
def test_single_calls_have_the_law_given_what_is_public(oracle):
    """The likelihood of each report under its public part, summed: its mean and variance are known exactly.

    Each report adds the logarithm of its law, less its mean under that law. 4,000 of them, 6 standard errors: a false
    alarm in 10^8 or less. A uniform public part is checked by its bits.
    """
    value, draws, total, variance, ones = 5, 4_000, 0.0, 0.0, Counter()
    for _ in range(draws):
        public, outcome = oracle.report_format.outcome(oracle.privatize(value).data[0])
        law = {each: float(p) for each, p in analysis(oracle).law(value, public).items()}
        mean = sum(p * np.log(p) for p in law.values())
        total += np.log(law[outcome]) - mean
        variance += sum(p * (np.log(p) - mean) ** 2 for p in law.values())
        ones.update(place for place in range(4) if (public if isinstance(public, int) else public[0]) >> place & 1)
    assert abs(total) < 6 * sqrt(variance)
    assert all(abs(ones[place] - draws / 2) < 6 * sqrt(draws / 4) for place in range(4))


@pytest.mark.parametrize("domain_size", [2, 3, 5, 6, 17, 64, 100, 255, 256, 600, 1000, 1023, 5000])
def test_items_of_fwr_are_those_of_the_oracle(domain_size):
    from fldp.oracles.flexible import fwr_items

    items = fwr_items.scatter(np.arange(domain_size), domain_size).tolist()
    assert list(map(fwr_item.item_of(domain_size), range(domain_size))) == items
    assert fwr_item.plain_bias(domain_size) == fwr_items.largest_bias(domain_size)
