"""Agreement of views about one question: what is claimed of a report is so by its law, and alarms are rare."""

import numpy as np
import pytest

import fldp
from fldp.oracles.kit import analysis
from fldp.oracles.sampled.agreement import agreement
from fldp.privacy.honesty.binomial_tests import judge_sums
from fldp.privacy.honesty.sequential_tests import judge_sums as judge_sums_anytime

SMALL = {
    **{
        base: fldp.Sampled(epsilon=1.0, answers=(3, 2), views=((0,), (1,), (0, 1)), weights=(3, 2, 1), base=base)
        for base in ("ss", "grr", "oue", "pgr", "hrr")
    },
    "three": fldp.Sampled(epsilon=2.0, answers=(3, 2, 2), views=2, base="grr"),
    "wave": fldp.Sampled(epsilon=1.0, answers=(4, 2), views=((0,), ("wave", 0, 2), ("cells", 0, 2), (1,), (0, 1))),
}
each_small = pytest.mark.parametrize("oracle", SMALL.values(), ids=SMALL)


def shares_of(oracle):
    return np.array([float(share) for share in analysis(oracle).public_view_shares()])


def claim_of(oracle, tally):
    return agreement(oracle, tally, shares_of(oracle))


@each_small
def test_a_term_has_mean_0_whoever_sends_it_and_no_more_than_is_claimed(oracle):
    """Exactly, over all reports of all records; the bounds are reached, so that none is larger than it must be."""
    highest, lowest, squares = [], [], []
    for record in range(oracle._values_end):
        mean = square = 0.0
        digits = oracle.record_code.decode(np.array([record]))
        for view, (seen, member) in enumerate(zip(oracle.design.views, oracle.members, strict=True)):
            about, value = analysis(member), int(seen.values(digits)[0])
            publics = list(about.publics())
            for public in publics:
                for outcome, chance in about.law(value, public).items():
                    report = oracle._tagged.join(view, member.report_format.report(outcome, public)[None])
                    term = claim_of(oracle, oracle.tally(fldp.Reports(oracle, report))).sums
                    weight = float(chance) * shares_of(oracle)[view] / len(publics)
                    mean, square = mean + weight * term, square + weight * term**2
                    highest.append(term)
                    lowest.append(-term)
        assert mean == pytest.approx(0, abs=1e-9)
        squares.append(square)
    claim = claim_of(oracle, oracle.tally(oracle.privatize([0], rng=1)))
    assert (np.max(squares, axis=0) <= claim.squares * (1 + 1e-9)).all()
    assert (np.max(squares, axis=0) >= claim.squares * 0.7).all()
    assert np.max(highest, axis=0) == pytest.approx(claim.most[0])
    assert np.max(lowest, axis=0) == pytest.approx(claim.most[1])


def test_a_sum_is_the_difference_of_two_margins():
    """Of two views that are about a question: each margin by its own reports, weighed by how many came."""
    oracle = fldp.Sampled(epsilon=2.0, answers=(3, 2), views=((0,), (0, 1)), weights=(1, 3))
    tally = oracle.tally(oracle.privatize([[0, 1]] * 500 + [[2, 0]] * 700, rng=3))
    alone, both = (
        member.estimate(part) for member, part in zip(oracle.members, oracle.estimator.split(tally), strict=True)
    )
    first = alone.counts - alone.counts.sum() / 3
    second = both.counts.reshape(3, 2).sum(axis=1) - both.counts.sum() / 3
    assert claim_of(oracle, tally).sums == pytest.approx(first * 4 - second * 4 / 3)


@pytest.mark.parametrize("people", [30, 300, 3000])
def test_honest_people_are_rarely_called_dishonest(people):
    """At 5 %: 100 surveys of uneven answers that go together; 5 % would be 5, and 14 come in 5 of 10,000 tests."""
    oracle = fldp.Sampled(epsilon=2.0, answers=(3, 2, 2), views=2, weights=(1, 5, 9))
    counts = np.zeros(oracle.answers, np.int64)
    counts[0, 0, 0], counts[2, 1, 1] = people - people // 3, people // 3
    p_values = [judge_sums(claim_of(oracle, fldp.simulate(oracle, counts, rng=run))).p_value for run in range(100)]
    assert sum(p_value <= 0.05 for p_value in p_values) < 14


def test_honest_streams_pass_at_every_look():
    oracle = fldp.Sampled(epsilon=2.0, answers=(3, 2), views=((0,), (1,), (0, 1)), weights=(4, 2, 1))
    alarms = 0
    for run in range(20):
        data = oracle.privatize([[1, 0]] * 4000, rng=run).data
        whole, least = None, 1.0
        for start in range(0, 4000, 400):
            part = oracle.tally(fldp.Reports(oracle, data[start : start + 400]))
            whole = part if whole is None else whole + part
            least = min(least, judge_sums_anytime(claim_of(oracle, whole)).p_value)
        alarms += least <= 0.05
    assert alarms < 6  # 1 expected at most; 6 come in 4 of 10,000


def test_fakes_that_push_an_answer_in_one_view_only_are_seen():
    """They keep the views that chance gave them, so that no view has too many reports."""
    oracle = fldp.Sampled(epsilon=1.0, answers=(4, 4, 4), views=2)
    rows = np.random.default_rng(5).integers(0, 4, (12_000, 3))
    honest = oracle.privatize(rows, rng=5)
    own = oracle._tagged.tags(honest.data) == 0
    pair = oracle.members[0]
    pushed = np.array([fldp.poison(pair, [0, 1, 2, 3], 1, rng=k).data[0] for k in range(400)])
    data = honest.data.copy()
    data[np.flatnonzero(own)[:400]] = oracle._tagged.join(0, pushed)
    assert fldp.integrity(honest).passed
    for anytime in (False, True):
        findings = fldp.integrity(oracle.tally(fldp.Reports(oracle, data)), anytime=anytime)
        flagged = {finding.test: finding for finding in findings.flagged}
        assert "views" not in flagged
        assert flagged["agreement"].worst.startswith("question 0, answer 0 in view 0 x 1: +")


def test_questions_in_one_view_only_make_no_claim():
    oracle = fldp.Sampled(epsilon=1.0, answers=(4, 4), views=1)
    tally = oracle.tally(oracle.privatize([[0, 1]] * 50, rng=1))
    assert claim_of(oracle, tally) is None
    assert "agreement" not in {finding.test for finding in fldp.integrity(tally).findings}
    many = fldp.Sampled(epsilon=1.0, answers=(200, 3), views=((0,), (1,), (0, 1)))
    sums = claim_of(many, many.tally(many.privatize([[7, 1]] * 50, rng=1))).sums
    assert len(sums) == 50 + 3  # runs of four answers
