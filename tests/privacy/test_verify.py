import random
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest

import fldp
from fldp import verify
from fldp.oracles.kit import Band, Profile, analysis
from fldp.presentation.tables import verification_facts
from fldp.privacy.laws import read_table
from fldp.privacy.notions import parse
from fldp.privacy.pair_profiles import pair_profiles
from fldp.privacy.verifier import shrink, verifiable
from fldp.randomness.coins import exp_lower
from support import cases
from support.call_counts import calls
from support.defects import TooLargeEta, TrueValueFirstOpenly

each_case = pytest.mark.parametrize("oracle", [oracle for _, oracle in cases.CASES.values()], ids=cases.CASES)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.0])
@pytest.mark.parametrize("make", [fldp.GRR, fldp.SUE, fldp.OUE, fldp.OLH, fldp.SS, fldp.HR, fldp.PGR])
def test_plain_ldp(make, epsilon):
    verification = verify(make(epsilon, 5))
    assert verification.holds
    assert 0.999 * epsilon <= verification.epsilon <= epsilon
    assert (verification.eta, verification.eta_mass, verification.delta, verification.anonymity) == (1, 1, 0, 5)


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 8, 12, 15])
@pytest.mark.parametrize("items", ["spread", "paper"])
def test_fhr(size, items):
    """(eps, 1/2) by cardinality and by mass, delta 1/2 as ordinary LDP, and the anonymity in closed form."""
    oracle = fldp.FHR(1.0, size, items=items, allow_exposure=True)
    verification = verify(oracle)
    assert verification.holds
    assert (verification.eta, verification.eta_mass, verification.delta) == (Fraction(1, 2),) * 3
    assert verification.anonymity == oracle.anonymity
    assert verification.epsilon == 1.0


def test_range_sizes_are_those_of_the_design():
    laws = [analysis(fldp.FHR(1.0, 7)).law(value) for value in range(7)]
    assert {len(law) for law in laws} == {8 * 8 // 2}
    assert len(laws[1].keys() & laws[4].keys()) == 8 * 8 // 4


def test_the_witness_attains_the_ratio():
    oracle = fldp.OLH(1.0, 4)
    seen = verify(oracle).witness
    one, two = analysis(oracle).law(seen.value, seen.public), analysis(oracle).law(seen.other, seen.public)
    assert one[seen.report] / two[seen.report] == seen.ratio == verify(oracle).ratio


def test_randomized_response_with_a_random_answer_is_not_what_we_do():
    """The paper's literal text, a uniform answer with probability 1-p, would have epsilon 1.86 at a declared 1."""

    class Literal(fldp.RR):
        def law(self, value, public=None):
            random = (1 - self.coin.p) / 2
            return {value: self.coin.p + random, 1 - value: random}

    verification = verify(Literal(1.0))
    assert verification.epsilon == pytest.approx(1.86, abs=0.005)
    assert not verification.holds


def test_a_mechanism_that_publishes_has_no_anonymity():
    class Publish(fldp.GRR):
        def law(self, value, public=None):
            return {value: Fraction(1)}

    verification = verify(Publish(1.0, 4))
    assert (
        verification.eta,
        verification.eta_mass,
        verification.delta,
        verification.anonymity,
        verification.holds,
    ) == (0, 0, 1, 1, False)
    assert verification.epsilon == 0.0


def test_epsilon_is_rounded_up():
    verification = verify(fldp.RR(1.0))
    assert verification.ratio < exp_lower(1.0)
    assert verification.epsilon == 1.0


@pytest.mark.parametrize("oracle", [fldp.SS(1.0, 1 << 20), fldp.OLH(1.0, 10**6)], ids=repr)
def test_large_domains_are_refused(oracle):
    with pytest.raises(fldp.ParameterError, match="is too large to enumerate"):
        verify(oracle)


@pytest.mark.parametrize(
    "oracle", [fldp.OUE(1.0, 64), fldp.HR(1.0, 1025), fldp.FHR(1.0, 1023), fldp.GRR(1.0, 5000)], ids=repr
)
def test_large_laws_are_not_enumerated(oracle):
    with pytest.raises(fldp.ParameterError, match="is too large to enumerate"):
        analysis(oracle).law(0)


@pytest.mark.parametrize("value", [-1, 7, 1.0, "a", None])
@pytest.mark.parametrize("oracle", [fldp.GRR(1.0, 7), fldp.OUE(1.0, 7), fldp.FHR(1.0, 7), fldp.HR(1.0, 7)], ids=repr)
def test_only_values_have_a_law(oracle, value):
    with pytest.raises(fldp.DomainError, match="values must be integers from 0 to 6"):
        analysis(oracle).law(value)


def test_a_conditional_law_needs_its_condition():
    with pytest.raises(
        fldp.ParameterError, match="OLH: public must be the seed that the law is conditional on, got None"
    ):
        analysis(fldp.OLH(1.0, 4)).law(0)


@pytest.mark.parametrize(("size", "members"), [(2, 1), (6, 1), (7, None), (8, 5), (9, 8), (12, None)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_profile_of_sets_bounds_the_enumerated_ones_closely(size, members, epsilon):
    oracle = fldp.SS(epsilon, size, set_size=members)
    bound, verified = analysis(oracle).profile(), verify(oracle)
    assert sum(band.mass for band in bound.bands) == sum(band.other for band in bound.bands) == bound.overlap == 1
    assert bound.ratio <= exp_lower(epsilon)
    for enumerated in verified.profiles.values():
        assert 0 <= bound.ratio / enumerated.ratio - 1 < 1e-15
        assert bound.reports == enumerated.reports
        assert abs(bound.excess(Fraction(1)) - enumerated.excess(Fraction(1))) < 1e-15


def test_sets_are_verified_at_their_size():
    verified = verify(fldp.SS(1.0, 1000))
    assert (verified.anonymity, verified.epsilon, verified.holds, verified.delta) == (1000, 1.0, True, 0)


def by_ratio(profile):
    """What is left of a profile of some of the public randomness: ratios with their masses, without the counts."""
    return {band.ratio: (band.mass, band.other) for band in profile.bands}


@each_case
def test_shortcuts_equal_enumeration(oracle):
    """The profile in closed form is that of every pair of values, by enumeration of the law."""
    small = shrink(oracle)
    verification = verify(small)
    assert (analysis(oracle).profile() is None) == (oracle.name == "olh")
    if oracle.name in ("ss", "olh"):  # the profile of SS is a bound
        return
    kinds = {
        analysis(small).profile(*pair) for pair in permutations(analysis(small).sample_values(0, small.domain_size), 2)
    }
    assert kinds >= {analysis(small).profile(*pair) for pair in verification.profiles}
    for pair, enumerated in verification.profiles.items():
        known = analysis(small).profile(*pair)
        if analysis(small).publics_are_all:
            assert enumerated == known, pair
        else:
            assert by_ratio(enumerated).keys() <= by_ratio(known).keys(), pair
            assert enumerated.shared_mass <= 1
    if analysis(small).publics_are_all:
        assert verification.overlaps == {share: part for share, part in analysis(small).overlaps().items() if part}


@pytest.mark.parametrize(
    ("oracle", "eta", "left"),
    [
        (fldp.FHR(1.0, 1023), Fraction(1, 2), 512),
        (fldp.FWR(1.0, 1023, 0.25), Fraction(1, 4), Fraction(1026, 4)),
        (fldp.OUE(1.0, 1023), 1, 1023),
        (fldp.PGR(1.0, 1023), 1, 1023),
        (fldp.HR(1.0, 1023), 1, 1023),
        (fldp.GRR(1.0, 100_000), 1, 100_000),
        (fldp.HR(1.0, 1023, blocks=64), 1, 1023),
    ],
    ids=repr,
)
def test_large_domains(oracle, eta, left):
    """By the shortcut, at the size that is asked for."""
    verification = verify(oracle)
    assert verification.holds
    assert (verification.eta, verification.eta_mass, verification.delta, verification.anonymity_mean) == (
        eta,
        eta,
        1 - eta,
        left,
    )
    assert 0.999 <= verification.epsilon <= 1
    assert verification.anonymity == oracle.anonymity
    assert not verification.judge(fldp.LDP(0.9)).holds


def test_a_wrong_shortcut_is_caught():
    """That the two ways can differ at all: a coin that is a little off."""
    profile = analysis(fldp.GRR(1.0, 5)).profile()
    assert profile != analysis(fldp.GRR(1.0001, 5)).profile()
    assert profile != analysis(fldp.GRR(1.0, 6)).profile()


def test_gaming_eta_by_count():
    """Almost always publish; once in 10^9 emit noise from a large common set: eta by count is near 1."""
    rare, noise = Fraction(1, 10**9), 1000

    def law(value):
        return {("value", value): 1 - rare, **{("noise", k): rare / noise for k in range(noise)}}

    verification = verify(law, domain_size=4)
    assert verification.eta == Fraction(1000, 1001)
    assert verification.eta_mass == rare
    assert (verification.anonymity, verification.epsilon, verification.delta_at(1.0)) == (1, 0.0, 1 - rare)
    assert verification.anonymity_mean == 1 + 3 * rare
    refused = verification.judge(fldp.FLDP(1.0, 0.9))
    assert not refused.holds
    assert "1000/1001 of their reports, 1e-09 by probability, where 0.9 is promised" in str(refused)


def test_gaming_eta_by_mass():
    """Publish or emit noise, by a fair coin: eta by mass is 1/2, as good as FHR on paper, and nobody is left."""
    noise = {("noise", k): Fraction(1, 20) for k in range(10)}
    verification = verify(lambda value: {("value", value): Fraction(1, 2), **noise}, domain_size=7)
    fhr = verify(fldp.FHR(1.0, 7))
    assert verification.eta_mass == fhr.eta_mass == Fraction(1, 2)
    assert verification.eta > fhr.eta
    assert (verification.anonymity, fhr.anonymity) == (1, 4)
    assert verification.anonymity_mean == fhr.anonymity_mean == 4
    assert verification.judge(fldp.FLDP(1.0, 0.5)).holds


def brute_delta(rows, bound):
    """The largest excess of any event, over all sets of reports."""
    worst = Fraction(0)
    for one, two in permutations(rows, 2):
        for size in range(len(one) + 1):
            for event in combinations(range(len(one)), size):
                worst = max(worst, sum(one[k] for k in event) - bound * sum(two[k] for k in event))
    return worst


def random_rows(seed, values=3, reports=4):
    drawn = random.Random(seed)
    rows = [[drawn.choice((0, 1, 2, 3, 5)) for _ in range(reports)] for _ in range(values)]
    return [[Fraction(k, sum(row)) for k in row] if sum(row) else [Fraction(1, reports)] * reports for row in rows]


@pytest.mark.parametrize("seed", range(12))
def test_delta_against_all_events(seed):
    rows = random_rows(seed)
    verification = verify(rows)
    for epsilon in (0.0, 0.1, 0.5, 1.0, 3.0):
        assert verification.delta_at(epsilon) == brute_delta(rows, exp_lower(epsilon))
    corners = verification.delta_curve
    assert corners[0][0] == 1
    assert corners[-1][1] == max(brute_delta(rows, corners[-1][0] + k) for k in (0, 5, 1000))
    for bound, delta in corners:
        assert delta == brute_delta(rows, bound)
    for (left, high), (right, low) in pairwise(corners):
        assert left < right
        for part in (Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)):
            assert high + (low - high) * part == brute_delta(rows, left + (right - left) * part)


@pytest.mark.parametrize("seed", range(12))
def test_the_rest_against_plain_loops(seed):
    rows = random_rows(seed, values=4, reports=5)
    verification = verify(rows)
    ranges = [{k for k, share in enumerate(row) if share} for row in rows]
    ordered = list(permutations(range(4), 2))
    shared = {pair: sum(rows[pair[0]][k] for k in ranges[pair[0]] & ranges[pair[1]]) for pair in ordered}
    assert verification.eta_mass == min(shared.values())
    assert verification.eta == min(
        Fraction(len(ranges[s] & ranges[t]), max(len(ranges[s]), len(ranges[t]))) for s, t in ordered
    )
    left = [sum(k in values for values in ranges) for k in range(5)]
    assert verification.anonymity == min(count for count in left if count)
    assert verification.anonymity_mean == sum(row[k] * left[k] for row in rows for k in range(5)) / 4
    ratios = [rows[s][k] / rows[t][k] for s, t in ordered for k in ranges[s] & ranges[t]]
    assert verification.ratio == max([*ratios, 1])
    assert verification.strong == all(ranges[s] & ranges[t] for s, t in ordered)


def test_delta_is_what_eta_by_mass_leaves():
    for oracle in (fldp.FHR(0.5, 7), fldp.FWR(1.0, 6, 0.25, allow_exposure=True), fldp.OUE(1.0, 4)):
        verification = verify(oracle)
        assert verification.delta_at(verification.epsilon) == verification.delta_at(20.0) == 1 - verification.eta_mass
        assert verification.delta_at(0.1) > 1 - verification.eta_mass


@pytest.mark.parametrize(
    ("oracle", "notion", "holds"),
    [
        (fldp.FHR(1.0, 7), fldp.FLDP(1.0, 0.5), True),
        (fldp.FHR(1.0, 7), fldp.FLDP(0.99, 0.5), False),
        (fldp.FHR(1.0, 7), fldp.FLDP(1.0, 0.51), False),
        (fldp.FHR(1.0, 7), fldp.LDP(50.0), False),
        (fldp.FHR(1.0, 7), fldp.ApproximateLDP(1.0, 0.5), True),
        (fldp.FHR(1.0, 7), fldp.ApproximateLDP(50.0, 0.49), False),
        (fldp.OUE(1.0, 5), fldp.LDP(1.0), True),
        (fldp.OUE(1.0, 5), fldp.FLDP(1.0, 1), True),
        (fldp.OUE(1.0, 5), fldp.ApproximateLDP(0.5, 0.0), False),
        (fldp.OUE(1.0, 5), fldp.GroupedLDP(1.0, [2, 3]), True),
        (fldp.Grouped(1.0, base="oue", groups=(2, 3)), fldp.GroupedLDP(1.0, [2, 3]), True),
        (fldp.Grouped(1.0, base="oue", groups=(2, 3)), fldp.GroupedLDP(0.9, [2, 3]), False),
        (fldp.Grouped(1.0, base="oue", groups=(2, 3)), fldp.GroupedLDP(1.0, [3, 2]), False),
        (fldp.Grouped(1.0, base="oue", groups=(2, 3)), fldp.FLDP(1.0, 0.01), False),
        (fldp.Grouped(1.0, base="oue", groups=(2, 3)), fldp.FLDP(1.0, 0), True),
        (fldp.OUE(1.0, 100), fldp.GroupedLDP(1.0, [50, 50]), True),
        (fldp.OUE(1.0, 100), fldp.GroupedLDP(0.9, [50, 50]), False),
    ],
)
def test_notions(oracle, notion, holds):
    judged = verify(oracle).judge(notion)
    assert judged.holds == holds
    assert (judged.pair is None) == holds


@pytest.mark.parametrize("text", ["LDP(1)", "FLDP(1, 1/2)", "ApproximateLDP(0.5, 1e-6)", "GroupedLDP(2, [3, 2])"])
def test_claims_are_read(text):
    assert type(parse(text)).__name__ == text.partition("(")[0]


@pytest.mark.parametrize("text", ["", "LDP", "LDP()", "LDP(1, 2)", "FLDP(1)", "DP(1)", "FLDP(1, 1/0)", "LDP(x)"])
def test_bad_claims(text):
    with pytest.raises(fldp.ParameterError, match="a claim must be such as"):
        parse(text)


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ([[1, 0]], "a law must have at least 2 values, got 1"),
        ([[1, 0], [0.5, 0.4]], "the probabilities of value 1 must add up to 1, got 0.9"),
        ([[1, 0], [2, -1]], "the probability of report 1 under value 1 must be a number from 0 on, got -1"),
        ([[1, 0], ["x", 0]], "must be a number from 0 on, got 'x'"),
        ([[float("nan"), 1], [1, 0]], "must be a number from 0 on, got nan"),
        ([1, 2], "a law must be an oracle, a function or a table of probabilities"),
        ("ab", "a law must be an oracle, a function or a table of probabilities, got 'str'"),
        (lambda value: {value: 1}, "a function needs domain_size"),
    ],
)
def test_bad_laws(subject, message):
    with pytest.raises(fldp.FldpError, match=message):
        verify(subject)


def test_a_function_must_return_rows():
    with pytest.raises(fldp.DomainError, match=r"the law of value 0 must be a row of probabilities, got 0\.5"):
        verify(lambda value: 0.5, domain_size=2)


def test_tables_of_files(tmp_path):
    path = tmp_path / "law.csv"
    path.write_text("3/4, 1/4\n\n1/4, 3/4\n")
    assert verify(read_table(path)).ratio == 3
    path.write_text("1,0\n1\n")
    with pytest.raises(fldp.DomainError, match=r"law.csv must be of the same length, got \[1, 2\]"):
        read_table(path)
    path.write_bytes(b"\xff")
    with pytest.raises(fldp.DomainError, match=r"law.csv cannot be read: it is not CSV"):
        read_table(path)
    with pytest.raises(fldp.DomainError, match=r"nowhere.csv cannot be read: No such file or directory"):
        read_table(tmp_path / "nowhere.csv")


def test_laws_of_many_kinds():
    table = [[0.75, 0.25], [0.25, 0.75]]
    mappings = [{"a": Fraction(3, 4), "b": Fraction(1, 4)}, {"a": Fraction(1, 4), "b": Fraction(3, 4)}]
    for subject in (table, np.array(table), mappings, [["3/4", "0.25"], ["1/4", "3/4"]]):
        verification = verify(subject, notion=fldp.LDP(1.1))
        assert (verification.ratio, verification.holds) == (3, True)
    assert verify(lambda value: table[value], domain_size=2).ratio == 3
    assert verify([[0.1] * 10, [0.1] * 10]).ratio == 1  # ten times 0.1 is not 1, and that is nobody's fault


def test_without_a_promise_nothing_holds_or_fails():
    with pytest.raises(fldp.ParameterError, match="this law promises nothing; pass notion="):
        verify([[1, 0], [0, 1]]).holds  # noqa: B018
    with pytest.raises(fldp.ParameterError, match=r"notion must be a notion such as LDP\(1.0\), got 1.0"):
        verify([[1, 0], [0, 1]], notion=1.0)
    with pytest.raises(fldp.ParameterError, match="groups must be of 2 values in all"):
        verify([[1, 0], [0, 1]]).judge(fldp.GroupedLDP(1.0, [2, 2]))


def test_large_groups_are_verified_as_they_are():
    """With the coins of the groups that are asked for, and the group of one that is last."""
    oracle = fldp.Grouped(1.0, base="grr", groups=(300, 200, 200, 200, 200, 1), allow_exposure=True)
    verification = verify(oracle)
    assert verification.holds
    assert (verification.domain_size, verification.anonymity, verification.eta, verification.delta) == (1101, 1, 0, 1)
    assert verification.anonymity_mean == Fraction(300**2 + 4 * 200**2 + 1, 1101)
    assert verification.ratio == max(analysis(fldp.GRR(1.0, size)).profile().ratio for size in (200, 300))
    assert verification.judge(fldp.GroupedLDP(1.0, [300, 200, 200, 200, 200, 1])).holds
    assert verification.judge(fldp.GroupedLDP(1.0, [200, 300, 200, 200, 200, 1])).pair == (200, 300)
    assert verification.judge(fldp.GroupedLDP(1.0, [100, 200, 100, 100, 200, 200, 200, 1])).holds
    assert verification.judge(fldp.GroupedLDP(0.9, [300, 200, 200, 200, 200, 1])).pair == (0, 1)


def test_large_domains_are_judged_at_once():
    assert verify(fldp.OUE(1.0, 100_000)).judge(fldp.GroupedLDP(1.0, [50_000, 50_000])).holds
    assert not verify(fldp.HR(4.0, 1023, blocks=64)).judge(fldp.GroupedLDP(3.9, [1000, 23])).holds


@pytest.mark.parametrize("epsilon", [1e9, 65, -1, False, "x", None])
def test_epsilons_that_nobody_promises(epsilon):
    with pytest.raises(fldp.ParameterError, match="epsilon must be"):
        fldp.LDP(epsilon)
    with pytest.raises(fldp.ParameterError, match="verify: epsilon must be"):
        verify([[1, 0], [0, 1]]).delta_at(epsilon)


def test_numbers_of_all_kinds():
    verification = verify([np.array([0.75, 0.25], np.float32), [np.float64(0.25), 0.75]])
    assert verification.ratio == 3
    assert verification.delta_at(Fraction(1, 3)) == verification.delta_at(1 / 3)
    assert verify(lambda value: np.eye(2)[value], domain_size=np.int64(2)).eta == 0
    hardly = verify([[0.5, 0.5], [5e-324, 1.0]]).judge(fldp.LDP(1.0))
    assert hardly.reason == "a report is more than 10^300 times as likely, above e^1"
    with pytest.raises(fldp.ParameterError, match="notion must be a notion"):
        verify([[1, 0], [0, 1]]).judge("x")


@pytest.mark.parametrize("cell", ["1e-100000000", "1" * 2000, "1e999999"])
def test_absurd_numbers_are_refused(cell):
    with pytest.raises(fldp.DomainError, match="must be a number from 0 on"):
        verify([[cell, 1], [1, 0]])


def test_tables_that_take_forever_are_refused():
    with pytest.raises(fldp.ParameterError, match="values times probabilities exceed 16,777,216"):
        verify([[1, 0]] * 5000)


@pytest.mark.parametrize(
    ("oracle", "verdict"),
    [
        (fldp.SS(1.0, 10), "holds"),
        (fldp.SS(1.0, 500), "holds"),
        (fldp.SS(1.0, 1 << 17), "holds on 8 values; for 131,072 it is not proved"),
        (fldp.OLH(1.0, 500), "holds"),
        (fldp.questions([4, 40], epsilon=1.0), "holds on these records"),
        (fldp.number(1.0, bins=512), "holds on these records"),
    ],
    ids=repr,
)
def test_a_verdict_says_what_it_is_about(oracle, verdict):
    """A law that is too large is checked on fewer values, with another coin: that proves nothing about all of them."""
    assert verification_facts(fldp.verify(verifiable(oracle)), oracle)["verdict"] == verdict


class LargerCrowd(fldp.FHR):
    """A report is said to leave six values; it leaves four."""

    @property
    def anonymity(self):
        return 6


@pytest.mark.parametrize(
    ("oracle", "told"),
    [
        (
            TooLargeEta(1.0, 7, sensitive=(0, 1)),
            ": two values can share 0.538 of their reports, less than the oracle says",
        ),
        (LargerCrowd(1.0, 7), ": a report can leave 4 values possible, fewer than the oracle says"),
        (TrueValueFirstOpenly(1.0, 7), ""),
    ],
)
def test_the_shell_says_in_what_way_an_oracle_keeps_less_than_it_says(oracle, told):
    assert verification_facts(verify(oracle), oracle)["verdict"] == f"DOES NOT HOLD{told}"


def naive_profile(one, two, total):
    """Compare two laws report by report."""
    bands = [
        Band(1, Fraction(share, total), Fraction(other.get(report, 0), total))
        for part, other in zip(one, two, strict=True)
        for report, share in part.items()
    ]
    return Profile.of(bands, sum(map(len, two)))


@pytest.mark.parametrize("kinds", [1, 2, 3, 7, 8, 40])
def test_pairs_that_share_a_profile_have_it(kinds):
    """Few probabilities, whose pairs are counted, and many, whose codes are sorted, with reports that some cannot make.

    These are no laws, as their shares do not add up; the comparison does not ask.
    """
    generator = random.Random(kinds)
    laws = [
        [
            {report: generator.randint(1, kinds) for report in range(6) if generator.random() < 0.8}
            for public in range(2)
        ]
        for value in range(12)
    ]
    laws += laws[:4]
    profiles = pair_profiles(laws, 100)
    expected = {pair: naive_profile(laws[pair[0]], laws[pair[1]], 100) for pair in permutations(range(16), 2)}
    assert dict(profiles) == expected
    assert len(profiles) == len(expected) == sum(profiles.counts)
    first = {}
    for pair, profile in profiles.items():
        first.setdefault(id(profile), pair)
    assert profiles.first == list(first.values())
    assert [profiles[pair] for pair in profiles.first] == profiles.different


@pytest.mark.parametrize("pair", [(0, 0), (0, 3), (-1, 0), (3, 1)])
def test_a_value_has_no_profile_against_itself_or_against_none(pair):
    profiles = verify(fldp.GRR(1.0, 3)).profiles
    assert pair not in profiles
    with pytest.raises(KeyError):
        profiles[pair]


def test_no_step_is_taken_for_each_pair():
    """Laws are compared all at once: 128 values have 16,256 pairs."""
    laws = [[{value % 7: 2, 7: 1, 8: 1}] for value in range(128)]
    assert calls(lambda: pair_profiles(laws, 4)) < 20 * len(laws)


def test_a_law_takes_few_steps():
    """A limit is a fifth above what was counted: 62, for each of 16 seeds and each value."""
    verify(fldp.OLH(1.0, 16))
    assert calls(lambda: verify(fldp.OLH(1.0, 128)).holds) < 74 * 16 * 128
