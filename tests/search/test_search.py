"""The rounds of a search: what a string answers, what a tally makes of the next round, what is said at the end."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fldp
from fldp.search import Round, Search
from fldp.search.prefix_code import Beginning

CLEAR = {"epsilon": 24.0, "oracle": "grr"}  # so little noise that a test does not see it
STRINGS = [b"", b"a", b"ab", b"abc", b"abcd", b"b", b"x", "é".encode(), b"\xff\x00", b"a" * 60]


def told(question, strings):
    """The tally of a round that everybody answers."""
    values = [question.value(string) for string in strings]
    return question.oracle.tally(question.oracle.privatize(values, rng=1))


def finished(search, people):
    """All rounds, each one answered by the same people, and what comes out."""
    now, seen = search.first, []
    while isinstance(now, Round):
        seen.append(now)
        now = now.next_round(told(now, people))
    return seen, now


def slow_value(question, string):
    """The value by trying all of them: the one whose bits begin the string's, with zeros after its end."""
    bits = question.search.code.encode(string) + "0" * 64
    fits = [value for value in range(question.none) if bits.startswith(question.bits(value))]
    ends = question.search.code.encode(string)
    fits = [value for value in fits if len(question.prefixes[value >> question.step]) <= len(ends)]
    assert len(fits) <= 1
    return fits[0] if fits else question.none


def rounds_of_all_kinds():
    search = Search(**CLEAR, k=2, alphabet="ab", bits=6)
    whole = tuple(map(search.code.encode, (b"a", b"", b"abc")))
    prefix = search.code.encode(b"bb")[:-1]
    return [search.first, search.later(2, ("0110", "0101", "1110"), 3), search.later(5, (*whole, prefix), 0)]


@pytest.mark.parametrize("question", rounds_of_all_kinds(), ids=["first", "middle", "last"])
def test_a_value_is_what_a_slow_loop_finds(question):
    letters = [bytes(letters) for length in range(5) for letters in product(b"abx", repeat=length)]
    for string in [*letters, *STRINGS]:
        assert question.value(string) == slow_value(question, string), string


FIRST = Search(**CLEAR, bits=12).first


@given(st.text(max_size=12))
def test_text_is_its_utf8(text):
    assert FIRST.value(text) == FIRST.value(text.encode())
    assert text.encode().startswith(FIRST.beginning(FIRST.value(text)).value)


def test_every_string_is_found_and_counted():
    """Of different lengths, one the beginning of another, empty, not UTF-8, out of the alphabet; and too long ones."""
    people = [string for weight, string in enumerate(STRINGS, 3) for _ in range(100 * weight)]
    search = Search(**CLEAR, k=10, alphabet="abc", bits=12, rounds=6)
    _, hitters = finished(search, people)
    rows = {hitter.beginning: round(hitter.share * len(people)) for hitter in hitters.top()}
    whole = {Beginning(string, whole=True): 100 * weight for weight, string in enumerate(STRINGS[:-1], 3)}
    assert whole.items() <= rows.items()
    ((long, count),) = rows.items() - whole.items()
    assert (count, long.whole) == (1200, False)
    assert STRINGS[-1].startswith(long.value)
    assert len(search.code.encode(long.value)) >= search.reach


def test_one_string_ends_the_search_early():
    seen, hitters = finished(Search(**CLEAR, rounds=10), [b"the"] * 500)
    assert [question.number for question in seen] == [1, 2, 3][: len(seen)]
    assert seen[-1].prefixes == (seen[0].search.code.encode(b"the"),)
    assert seen[-1].domain_size == 2
    (only,) = hitters.top()
    assert (only.text, only.certain) == ("the", True)
    assert only.share == pytest.approx(1)


def test_where_nothing_stands_out_nothing_is_found():
    search = Search(epsilon=1.0, oracle="oue", k=1, bits=8)
    level = fldp.Tally(search.first.oracle, np.full(257, 269), 1000)
    following = search.first.next_round(level)
    assert isinstance(following, fldp.HeavyHitters)
    assert (following.top(), following.candidates) == ([], ())


def test_values_that_no_string_has_are_never_kept():
    """All estimates are large, also those of bits that no string's code begins with."""
    search = Search(**CLEAR, k=4, alphabet="ab", bits=6)
    tally = fldp.Tally(search.first.oracle, [10] * 64 + [0], 640)
    second = search.first.next_round(tally)
    kept = {search.code.encode(b"")} | {*second.prefixes, *second.found}
    assert len(second.prefixes) + len(second.found) == search.width
    assert all(search.code.decode(bits) is not None for bits in kept)
    assert search.code.decode("000001") is None  # something after the end


def test_no_more_are_kept_than_asked_for_and_the_largest():
    search = Search(**CLEAR, k=1, alphabet="ab", bits=4)
    counts = [0] * 16 + [0]
    for place, count in {5: 50, 6: 40, 7: 30, 9: 20, 10: 10, 12: 5}.items():
        counts[place] = count
    second = search.first.next_round(fldp.Tally(search.first.oracle, counts, sum(counts)))
    assert search.width == 4
    assert second.prefixes == tuple(f"{place:04b}" for place in (5, 6, 7, 9))
    assert second.step == 2  # four prefixes of two bits more are sixteen


def test_a_tally_is_the_same_in_parts():
    question = Search(epsilon=4.0, bits=10).first
    reports = question.oracle.privatize([question.value(string) for string in STRINGS * 50], rng=3)
    parts = [question.oracle.tally(part) for part in (reports[300:], reports[:7], reports[7:300])]
    assert question.next_round(sum(parts)) == question.next_round(question.oracle.tally(reports))


def test_a_tally_of_another_round_is_refused():
    search = Search(epsilon=4.0, bits=10)
    with pytest.raises(fldp.MergeError):
        search.later(2, ("0", "1"), 3).next_round(fldp.Tally.empty(search.first.oracle))


@pytest.mark.parametrize("name", ["grr", "oue", "sue", "olh", "hr", "hrr", "ss", "pgr", "fhr", "fwr"])
def test_any_oracle_whose_values_can_be_listed(name):
    people = [b"yes"] * 600 + [b"no"] * 300 + [b"maybe"] * 100
    _, hitters = finished(Search(epsilon=7.0, oracle=name, k=3, alphabet="yesnomab", bits=8, rounds=4), people)
    assert [hitter.text for hitter in hitters.top()][:2] == ["yes", "no"]


def test_an_oracle_that_would_expose_somebody_in_the_last_round_is_replaced():
    seen, _ = finished(Search(epsilon=12.0, oracle="fwr", eta=0.5, k=1, bits=8), [b"the"] * 2000)
    assert [question.oracle.eta for question in seen[:-1]] == [0.5] * (len(seen) - 1)
    assert seen[-1].oracle.domain_size == 2
    assert seen[-1].oracle.eta == 1


def test_the_shortest_reports_of_those_that_are_nearly_as_good():
    assert Search(epsilon=1.0).first.oracle == fldp.PGR(epsilon=1.0, domain_size=65537)
    assert Search(epsilon=1.0, eta=0.5).first.oracle.eta == 0.5
    assert Search(epsilon=1.0, oracle="fwr", eta=0.25).first.oracle == fldp.FWR(1.0, 65537, eta=0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "Search: epsilon must be a positive, finite number, got 0"),
        ({"k": 0}, "Search: k must be an integer from 1 to 4096, got 0"),
        ({"rounds": 0}, "Search: rounds must be an integer from 1 to 64, got 0"),
        ({"bits": 30}, "Search: bits must be an integer from 4 to 18, got 30"),
        ({"k": 100, "bits": 8}, "Search: bits must be at least 9 for k 100, got 8"),
        ({"alphabet": 7}, "PrefixCode: alphabet must be a text of characters, got 7"),
        ({"oracle": "rr"}, "RR: domain_size must be 2 (GRR takes more), got 65537"),
        ({"oracle": "grouped"}, "Grouped: needs base, groups, which a plan does not have"),
        ({"oracle": "fwr", "eta": 0.3}, "FWR: eta must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(fldp.ParameterError) as error:
        _ = Search(**{"epsilon": 1.0} | options).first
    assert str(error.value).startswith(message)


# What is said at the end


def last(strings, epsilon=2.0, **options):
    search = Search(epsilon=epsilon, bits=8, **options)
    return search.later(5, tuple(map(search.code.encode, strings)), 0)


def test_nobody_is_certain_of_what_nobody_holds():
    """1,000 last rounds of 16 candidates that nobody holds, at 0.9: in at most 10 % is any certain. A false alarm takes
    4 standard deviations, 6e-5."""
    question = last([f"w{number}".encode() for number in range(16)], oracle="fwr")
    runs, wrong = 1000, 0
    for seed in range(runs):
        tally = fldp.simulate(question.oracle, [0] * 16 + [2000], rng=seed)
        wrong += any(hitter.certain for hitter in question.next_round(tally).top(16, level=0.9))
    assert wrong <= runs * 0.1 + 4 * math.sqrt(runs * 0.09)
    assert wrong >= runs * 0.06  # and it is not for nothing that so many are certain elsewhere


@pytest.mark.parametrize("oracle", ["grr", "oue", "pgr", "ss"])
@pytest.mark.parametrize("n", [1, 3, 20, 200])
def test_certain_is_exact_however_few_there_are(oracle, n):
    """From the law: of a candidate that nobody holds, the supports are binomial."""
    question, level = last([b"a", b"b", b"c", b"d"], epsilon=3.0, oracle=oracle), 0.9
    p, q = question.oracle.estimator.p, question.oracle.estimator.q
    error = Fraction(0)
    for supports in range(n + 1):
        estimate = replace(EMPTY, oracle=question.oracle, counts=np.full(5, float((supports - n * q) / (p - q))), n=n)
        if fldp.HeavyHitters(4, tuple(map(question.beginning, range(4))), estimate, n).top(level=level)[0].certain:
            error += math.comb(n, supports) * q**supports * (1 - q) ** (n - supports)
    assert error <= Fraction(1, 10) / 4
    assert n < 200 or error > Fraction(1, 10) / 8  # and not in vain


EMPTY = fldp.Estimate(fldp.RR(1.0), np.zeros(5), np.zeros(5), 1)


def all_hold(following, counts):
    """Whether the intervals of a, b, c, ... all cover the shares of the population."""
    ends = {hitter.text: hitter.interval for hitter in following.top(level=0.9)}
    shares = zip(sorted(ends), counts / counts.sum(), strict=False)
    return all(ends[name][0] <= share <= ends[name][1] for name, share in shares)


def test_all_intervals_hold_together_and_include_who_was_asked():
    """1,000 searches' ends over a random third of a population, at 0.9. At 4 standard deviations: 6e-5."""
    counts = np.array([3000, 1500, 600, 300, 600])
    question = last([b"a", b"b", b"c", b"d"], epsilon=6.0, oracle="oue")
    generator, held, alone = np.random.default_rng(7), 0, 0
    for seed in range(1000):
        drawn = generator.multivariate_hypergeometric(counts, 2000)
        following = question.next_round(fldp.simulate(question.oracle, drawn, rng=seed))
        assert following.population == 2000
        held += all_hold(replace(following, population=6000), counts)
        alone += all_hold(following, counts)
    assert 900 - 4 * 9.5 <= held <= 950
    assert alone < 800  # without the chance of who was asked, they would be far too short


def test_the_top_is_sorted_and_cut():
    question = last([b"a", b"b", b"c"], epsilon=8.0, oracle="grr", k=2)
    following = question.next_round(fldp.Tally(question.oracle, [10, 500, 400, 90], 1000))
    assert [hitter.text for hitter in following.top()] == ["b", "c"]
    assert [hitter.text for hitter in following.top(3)] == ["b", "c", "a"]
    assert repr(following) == "<3 candidates of a search for 2>"
    with pytest.raises(fldp.ParameterError, match="level must be a number between 0 and 1, got 2"):
        following.top(level=2)
