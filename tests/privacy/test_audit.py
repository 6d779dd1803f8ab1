"""The audit accuses what is wrong, and what is right no more often than it says.

Seeds are fixed. Audits of honest mechanisms run at a confidence of 0.9999, so one with a seed that nobody chose would
accuse with a probability of at most 1e-4; the calibration has a false-alarm rate of 1e-6.
"""

from fractions import Fraction
from itertools import chain, product
from math import comb, log

import numpy as np
import pytest

import fldp
from fldp import Stream
from fldp.numerics.binomial_bounds import incomplete_beta, lower_bound, upper_bound, wilson
from fldp.oracles import get, listed_names
from fldp.oracles.kit import analysis
from fldp.privacy import choose_values, repeated
from fldp.privacy.auditor.decision_tree import questions
from fldp.privacy.auditor.declared_scores import declared
from fldp.privacy.auditor.event_choice import AuditedClaim, cut
from fldp.privacy.auditor.events import families
from fldp.privacy.auditor.independence import Pairing, random_pairs
from fldp.privacy.auditor.outputs import OutputRows
from support import broken_mechanisms as broken

SURE = 0.9999


# ---------------------------------------------------------------------------------------------------- bounds


def tail(hits, trials, p):
    """The exact probability of at least so many hits."""
    p = Fraction(p)
    return sum(comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(hits, trials + 1))


@pytest.mark.parametrize(("hits", "trials"), [(1, 1), (1, 3), (3, 3), (2, 7), (20, 20), (11, 40), (1, 90), (60, 61)])
@pytest.mark.parametrize("error", [1e-9, 1e-4, 0.025, 0.4])
def test_bounds_are_conservative_and_tight(hits, trials, error):
    """Judged by exact binomial sums: never on the wrong side, and within 1e-5 of where they should be."""
    low = lower_bound(hits, trials, error)
    assert tail(hits, trials, low) <= Fraction(error)
    assert tail(hits, trials, low * (1 + 1e-5)) > Fraction(error) or low * (1 + 1e-5) >= 1
    high = upper_bound(trials - hits, trials, error)
    assert 1 - tail(trials - hits + 1, trials, high) <= Fraction(error)
    assert high == pytest.approx(1 - low, abs=1e-9)


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [
        (0, 10, 0, 0.3085),
        (1, 20, 0.0013, 0.2487),
        (5, 10, 0.1871, 0.8129),
        (8, 10, 0.4439, 0.9748),
        (10, 10, 0.6915, 1),
    ],
)
def test_bounds_of_the_tables(hits, trials, low, high):
    """The two-sided 95 % intervals that are printed in tables."""
    assert lower_bound(hits, trials, 0.025) == pytest.approx(low, abs=5e-5)
    assert upper_bound(hits, trials, 0.025) == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize("trials", [10**4, 10**6, 10**7])
def test_bounds_of_many_trials(trials):
    """Close to Wilson's, and the tail comes out as asked; where one hit is all there is, in closed form."""
    hits, error = trials // 3, 1e-5
    low, high = lower_bound(hits, trials, error), upper_bound(hits, trials, error)
    near = [float(end) for end in wilson(hits, trials, 4.264890793922825)]
    assert [low, high] == pytest.approx(near, abs=20 / trials)
    assert incomplete_beta(low, hits, trials - hits + 1) == pytest.approx(error, rel=1e-5)
    assert upper_bound(0, trials, error) == pytest.approx(1 - error ** (1 / trials), rel=1e-5)


def test_the_incomplete_beta_function_is_a_binomial_tail():
    for trials, hits, p in product((1, 5, 30), (1, 4, 17), (0.001, 0.3, 0.5, 0.97)):
        if hits <= trials:
            assert incomplete_beta(p, hits, trials - hits + 1) == pytest.approx(float(tail(hits, trials, p)), rel=1e-12)
    assert (incomplete_beta(0.0, 2, 3), incomplete_beta(1.0, 2, 3)) == (0, 1)


@pytest.mark.parametrize(
    ("hits", "trials", "error"), [(-1, 5, 0.1), (6, 5, 0.1), (0, 0, 0.1), (1, 5, 0), (1, 5, 1), (1.0, 5, 0.1)]
)
def test_bad_counts(hits, trials, error):
    with pytest.raises(fldp.ParameterError, match="bounds: "):
        lower_bound(hits, trials, error)


# ------------------------------------------------------------------------------------------- rows and events


@pytest.mark.parametrize(
    ("outputs", "numbers"),
    [
        ([1, -1, 2**70], [[1, 0, 0], [2**64 - 1, 0, 0], [0, 64, 0]]),
        ([True, np.bool_(False)], [[1], [0]]),
        (["ab", ""], [[2, 97, 98], [0, 0, 0]]),
        ([b"\x07", None], [[1, 7], [0, 0]]),
        ([(1, (2, 3)), (1, ())], [[2, 1, 2, 2, 3], [2, 1, 0, 0, 0]]),
        ([{3, 1}, frozenset({2})], [[2, 1, 3], [1, 2, 0]]),
        (np.array([[1, 2], [3, 4]], ">i2"), [[1, 2], [3, 4]]),
        (np.array([-1, 5], np.int8), [[255], [5]]),
        (np.array([(1, [2, 3])], [("a", "u1"), ("b", "u2", 2)]), [[1, 2, 3]]),
        ([np.array([4, 5])], [[2, 4, 5]]),
    ],
)
def test_any_output_becomes_numbers(outputs, numbers):
    assert OutputRows.of(outputs, len(outputs)).numbers.tolist() == numbers


def test_floats_keep_their_order_and_are_shown_as_they_were():
    numbers = np.array([-np.inf, -2.5, -0.0, 0.0, 1e-300, 7.25, np.inf])
    for outputs in (numbers, numbers.tolist(), numbers.astype(np.float32)):
        rows = OutputRows.of(outputs, 7)
        assert (np.diff(rows.numbers[:, 0].astype(object)) >= 0).all()
        assert rows.columns[0].show(rows.numbers[1, 0]) == "-2.5"
    assert OutputRows.of([-3, 4], 2).columns[0].show(2**64 - 3) == "-3"


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ([1, 2, 3], "audit: outputs must be one for each value, got 3 for 2 values"),
        (7, "audit: outputs must be one for each value, got int"),
        ([object(), 1], "audit: outputs must be numbers, texts, bytes, or tuples, .* got object"),
        (np.empty((2, 0)), "audit: outputs must hold at least one number"),
    ],
)
def test_bad_outputs(outputs, message):
    with pytest.raises(fldp.DomainError, match=message):
        OutputRows.of(outputs, 2)


SHAPES = {
    "one narrow": lambda g: g.integers(0, 9, 300, dtype=np.uint8),
    "three": lambda g: g.integers(0, 6, (300, 3), dtype=np.uint16),
    "many bytes": lambda g: g.integers(0, 256, (300, 20), dtype=np.uint8),
    "seed and symbol": lambda g: np.stack([g.integers(0, 2**64, 300, np.uint64), g.integers(0, 4, 300, np.uint64)], 1),
    "floats": lambda g: g.normal(size=300),
    "texts": lambda g: ["ab"[: k % 3] for k in g.integers(0, 9, 300)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_events_are_counted_as_they_hold(shape):
    """Counting all events at once gives what going through the rows for one of them gives."""
    rows = OutputRows.of(SHAPES[shape](np.random.default_rng(3)), 300)
    parts = [part for family in families(rows).values() for part in family]
    assert len(parts) >= 4
    for part in parts:
        counts = part.count(rows)
        for k in {0, len(counts) - 1, *np.random.default_rng(4).integers(0, len(counts), 25).tolist()}:
            assert counts[k] == np.count_nonzero(part.holds(rows, k)), (type(part), part.words(k))


def test_events_are_what_their_words_say():
    rows = OutputRows.of(np.array([[3, 5], [3, 3], [0, 6]], np.uint8), 3)
    said = {}
    for part in chain.from_iterable(families(rows).values()):
        said |= {part.words(k): part.holds(rows, k).tolist() for k in range(len(part.count(rows)))}
    assert said["number 0 = 3"] == [True, True, False]
    assert said["number 1 <= 5"] == [True, True, False]
    assert said["5 is among the numbers"] == [True, False, False]
    assert said["bit 1 of number 1 is set"] == [False, True, True]
    assert said["at most 3 bits are set"] == [False, False, True]
    assert said["number 0 < number 1"] == [True, False, True]
    assert said["number 0 = number 1"] == [False, True, False]
    assert said["number 1 & 3 is odd"] == [True, False, True]
    assert said["(number 0 ^ number 1) & 6 is odd"] == [False, False, False]
    assert said["(number 0 & 1) ^ (number 1 & 4) is odd"] == [False, True, True]
    assert said["bit 0 of number 0 and bit 1 of number 1 differ"] == [True, False, True]


def test_the_cut_is_the_best_one():
    generator = np.random.default_rng(5)
    mine, theirs = generator.integers(3, 20, 400) * 1.0, generator.integers(0, 17, 400) * 1.0
    claim = AuditedClaim(0.5, 0.9)
    ratio, place = cut(mine, theirs, claim, 2.0)
    tried = {
        c: (wilson((mine >= c).sum(), 400, 2.0)[0] - 0.1) / wilson((theirs >= c).sum(), 400, 2.0)[1] for c in range(20)
    }
    assert tried[place] == pytest.approx(ratio)
    assert ratio == pytest.approx(max(tried.values()))


def test_a_tree_may_ask_where_a_wide_number_lies():
    """Even if that tells nothing by itself."""
    numbers = np.random.default_rng(6).integers(0, 2**64, (2000, 1), np.uint64)
    rows = OutputRows.of(numbers, 2000)
    parts = families(rows)["positions"]
    counts = [np.stack([part.count(rows)] * 2) for part in parts]
    asked = [event.words for event in questions(parts, counts, (rows, rows), lambda rows: np.zeros(len(rows)))]
    cuts = np.sort([int(words.split("<=")[1]) for words in asked if "<=" in words]) / 2.0**64
    assert np.diff(cuts, prepend=0, append=1).max() < 0.1


def test_pairs_are_disjoint():
    for pairing in [Pairing(0, False), *(Pairing(lag, late) for lag in (1, 2, 7, 32) for late in (False, True))]:
        left, right = pairing.pairs(100)
        assert len({*left.tolist(), *right.tolist()}) == 2 * len(left)
        assert set((right - left).tolist()) == {pairing.lag or 100}
    left, right = random_pairs(101, Stream(1))
    assert len({*left.tolist(), *right.tolist()}) == 100


@pytest.mark.parametrize(
    "oracle", [fldp.GRR(1.0, 4), fldp.OUE(1.0, 4), fldp.OLH(1.0, 4), fldp.FHR(1.0, 7), fldp.FWR(1.0, 8, 0.5)], ids=repr
)
def test_supports_are_the_declared_law(oracle):
    """Up to a factor that is the same for all values."""
    reports = oracle.privatize([1] * 20, rng=1)
    likelihoods = np.exp(declared(oracle)(reports, [0, 1, 3]))
    for row, report in zip(likelihoods, reports.data, strict=True):
        public, outcome = oracle.report_format.outcome(report)
        law = [float(analysis(oracle).law(value, public).get(outcome, 0)) for value in (0, 1, 3)]
        assert row / row.sum() == pytest.approx(np.array(law) / sum(law))


# ------------------------------------------------------------------------------------------------- the audit


@pytest.mark.parametrize("defect", broken.BROKEN)
def test_planted_defects_are_found(defect):
    make, claim, seen_by = broken.BROKEN[defect]
    audit_result = fldp.audit(make(Stream(5)), samples=8000, rng=1, **claim)
    assert seen_by <= {finding.family for finding in audit_result.violations}
    assert not audit_result.holds


@pytest.mark.parametrize("name", listed_names())
def test_honest_oracles_pass_and_the_audit_is_not_blind(name):
    """It certifies most of their epsilon, so half as much again would have been seen."""
    more = {
        "rr": {},
        "grouped": {"base": "oue", "groups": (2, 4)},
        "urr": {"domain_size": 5, "sensitive": (1, 4)},
        "urappor": {"domain_size": 5, "sensitive": (1, 4)},
        "idue": {"domain_size": 5, "budgets": {0: 0.9}},
        "exponential": {"domain_size": 6, "distance": "ring"},
        "wave": {"domain_size": 6, "width": 1},
        "lwr": {"domain_size": 5, "epsilon_permanent": 2.0},
    }.get(name, {"domain_size": 5})
    oracle = get(name)(epsilon=1.0, **more)
    audit_result = fldp.audit(oracle, samples=8000, confidence=SURE, rng=2)
    assert audit_result.holds
    assert audit_result.epsilon_lower_bound > 0.5
    assert not fldp.audit(oracle, epsilon=0.4, samples=8000, rng=2).holds


@pytest.mark.parametrize(
    "oracle",
    [
        fldp.OUE(2.0, 200),
        fldp.OLH(0.5, 1000),
        fldp.SS(1.0, 64),
        fldp.FHR(2.0, 300),
        fldp.FWR(1.0, 300, 0.25),
        fldp.PGR(1.0, 200),
    ],
    ids=repr,
)
def test_honest_oracles_pass_on_larger_domains(oracle):
    assert fldp.audit(oracle, samples=4000, confidence=SURE, rng=3).holds


@pytest.mark.parametrize("mechanism", broken.HONEST)
def test_honest_mechanisms_of_others_pass(mechanism):
    make, claim = broken.HONEST[mechanism]
    assert fldp.audit(make(Stream(5)), samples=8000, confidence=SURE, rng=1, **claim).holds


def noise_only(stream):
    """Says nothing about the value, in many ways."""
    return lambda values: (stream.words(3 * len(values)) % np.uint64(40)).reshape(-1, 3)


@pytest.mark.parametrize(
    ("make", "claim"),
    [
        (lambda _: fldp.RR(1.0), {}),
        (noise_only, {"epsilon": 1e-6, "values": [0, 1, 2]}),
    ],
    ids=["at the boundary", "many events"],
)
def test_false_accusations_are_as_rare_as_stated(make, claim):
    """At confidence 0.8, right at what is claimed. More than the limit would come up once in a million."""
    runs, error = 120, 0.2
    accused = 0
    for run in range(runs):
        stream = Stream(run)
        mechanism = make(stream.child("mechanism"))
        accused += not fldp.audit(mechanism, samples=200, confidence=1 - error, rng=stream, **claim).holds
    assert accused == 0 or incomplete_beta(error, accused, runs - accused + 1) > 1e-6


def test_what_only_a_declared_law_can_see():
    """A hash hides the value from everybody who does not know it; its supports show it."""
    oracle, stream = broken.defects.SeedIsCoin(1.0, 100), Stream(3)

    def privatize(values):
        return oracle.privatize(values, rng=stream)

    claim = {"epsilon": 1.0, "domain_size": 100, "samples": 8000, "rng": 1}
    assert fldp.audit(privatize, **claim).holds
    assert not fldp.audit(privatize, supports=declared(oracle), **claim).holds
    assert not fldp.audit(privatize, oracle=fldp.OLH(1.0, 100), samples=8000, rng=1).holds


def test_labels_and_texts():
    """Values and outputs may be anything."""
    stream = Stream(2)

    def privatize(values):
        lie = broken.uniform(stream, len(values)) < 1 / 3
        return [("no" if value == "yes" else "yes") if flip else value for value, flip in zip(values, lie, strict=True)]

    assert fldp.audit(privatize, epsilon=log(2), values=["yes", "no"], samples=8000, rng=1, confidence=SURE).holds
    audit_result = fldp.audit(privatize, oracle=fldp.RR(0.5), values=["yes", "no"], samples=8000, rng=1)
    assert {finding.value for finding in audit_result.violations} <= {"yes", "no"}
    assert "supports" not in [finding.family for finding in audit_result.findings]
    assert 0.5 < audit_result.epsilon_lower_bound < log(2)


def test_what_an_audit_says():
    ticks = []
    audit_result = fldp.audit(fldp.GRR(1.0, 3), samples=1001, rng=1, progress=ticks.append)
    assert (audit_result.samples, audit_result.values, audit_result.confidence) == (1004, (0, 1, 2), 0.99)
    assert sum(ticks) == 2 * 3 * 1004
    assert repr(audit_result) == "<audit of epsilon 1, eta 1: no violation found>"
    assert audit_result == fldp.audit(fldp.GRR(1.0, 3), samples=1001, rng=1)
    for finding in audit_result.findings:
        share = (1 - audit_result.confidence) / (2 * len(audit_result.findings))
        assert finding.low == lower_bound(finding.hits, finding.trials, share)
        assert finding.high == upper_bound(finding.other_hits, finding.other_trials, share)
        assert finding.violated == (finding.excess > 0) == False  # noqa: E712
    assert fldp.audit(fldp.GRR(1.0, 3), samples=1001, rng=1, confidence=1 - 2**-52).holds
    bad = fldp.audit(lambda values: values, epsilon=1.0, domain_size=3, samples=1000)
    assert "violated by outputs, positions" in repr(bad)


def test_the_values_that_are_compared():
    assert choose_values(2) == (0, 1)
    assert choose_values(6) == (0, 1, 2, 3, 4, 5)
    for size in (7, 8, 1000):
        chosen = choose_values(size, rng=1)
        assert {0, 1, size // 2, size - 1} <= set(chosen)
        assert len(set(chosen)) == len(chosen) == 6
        assert max(chosen) < size


def test_a_black_box_may_use_its_memory_again():
    stream, buffer = Stream(8), np.empty(2000, np.uint64)

    def privatize(values):
        buffer[:] = stream.words(len(values)) % np.uint64(7)
        return buffer

    audit_result = fldp.audit(privatize, epsilon=0.1, values=[0, 1], samples=8000, rng=1, confidence=SURE)
    assert audit_result.holds
    assert {finding.hits for finding in audit_result.findings} != {
        finding.other_hits for finding in audit_result.findings
    }


def test_outputs_of_changing_length():
    """A set whose size tells the value."""
    stream = Stream(4)

    def privatize(values):
        more = stream.words(len(values)) % np.uint64(2)
        return [set(range(int(value) + 1 + int(one))) for value, one in zip(values, more, strict=True)]

    audit_result = fldp.audit(privatize, epsilon=1.0, domain_size=3, samples=2000, rng=1)
    assert "length" in audit_result.findings[0].event + audit_result.findings[1].event


def too_few(outputs, values):
    return np.zeros(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 1.0}, "audit: pass the values to compare: values, domain_size, or the oracle"),
        ({"domain_size": 5}, "audit: pass the claim: epsilon \\(and eta\\), or the oracle"),
        ({"epsilon": -1, "domain_size": 5}, "audit: epsilon must be a positive, finite number, got -1"),
        ({"epsilon": 1, "eta": 1.5, "domain_size": 5}, "audit: eta must be a number above 0 and at most 1, got 1.5"),
        ({"epsilon": 1, "eta": 0, "domain_size": 5}, "audit: eta must be a positive, finite number, got 0"),
        ({"epsilon": 1, "domain_size": 1}, "audit: domain_size must be an integer from 2 to"),
        ({"epsilon": 1, "values": [1, 1]}, "audit: values must be 2 to 32 different ones, got \\(1, 1\\)"),
        ({"epsilon": 1, "values": [1]}, "audit: values must be 2 to 32 different ones"),
        (
            {"epsilon": 1, "domain_size": 5, "samples": 10},
            "audit: samples must be an integer from 100 to 10000000, got 10",
        ),
        (
            {"epsilon": 1, "domain_size": 5, "confidence": 1},
            "audit: confidence must be a number between 0 and 1, got 1",
        ),
        ({"epsilon": 1, "domain_size": 5, "rng": "x"}, "Stream: rng must be None"),
        (
            {"epsilon": 1, "domain_size": 5, "supports": too_few},
            "audit: supports must be an array of shape \\(5000, 5\\), got \\(3,\\)",
        ),
    ],
)
def test_bad_use(options, message):
    with pytest.raises(fldp.ParameterError, match=message):
        fldp.audit(lambda values: values, **options)


def test_more_bad_use():
    with pytest.raises(
        fldp.ParameterError, match="audit: what is audited must be an oracle or a function of values, got 7"
    ):
        fldp.audit(7, epsilon=1.0, domain_size=5)
    with pytest.raises(
        fldp.ParameterError, match="audit: outputs of 100,000 bytes each, 100,000 of them, must fit in 2 GiB"
    ):
        fldp.audit(lambda values: np.zeros((len(values), 100_000), np.uint8), epsilon=1.0, domain_size=5)
    with pytest.raises(fldp.ParameterError, match="audit: outputs of 1,075,764 bytes each, 120,000 of them"):
        fldp.audit(fldp.SS(1.0, 10**6))
    with pytest.raises(fldp.DomainError, match=r"audit: outputs must be reports of GRR.*, got int64 of shape"):
        fldp.audit(lambda values: values, oracle=fldp.GRR(1.0, 5))
    with pytest.raises(fldp.ParameterError, match="audit: times must be an integer from 1 to 1000, got 0"):
        repeated(lambda values: lambda: values, 0)
