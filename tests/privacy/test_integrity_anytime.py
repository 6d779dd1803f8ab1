"""Tests of integrity that are watched: honest reports are accused no more often than stated, over all looks together.

Seeds are fixed. With others, a run of honest streams would fail a bound here by chance in less than one of 700 cases if
the stated rate were the true one; the true one is below it.
"""

import numpy as np
import pytest

import fldp
from fldp.oracles.base.claims import CellClaim, ChanceClaim, SumClaim, SumsClaim, TotalClaim
from fldp.privacy.honesty.sequential_tests import (
    SIZES,
    judge_cells,
    judge_chance,
    judge_sum,
    judge_sums,
    judge_total,
    log_bets,
    sum_bets,
)

ALPHA, STREAMS = 0.01, 1000


def at_most(rate, runs):
    return rate + 3 * np.sqrt(rate * (1 - rate) / runs)


def cumulated(p, generator, last=10**6, looks=250):
    n = np.unique(np.geomspace(100, last, looks).astype(np.int64))
    steps = np.diff(np.concatenate([[0], n]))
    return n.astype(float), np.cumsum(generator.binomial(steps, p, (STREAMS, len(n))), axis=1).astype(float)


@pytest.mark.parametrize("high", [0.27, 0.001, 0.5, 0.97])
def test_one_cell_at_its_bound_alarms_no_more_often_than_stated(high):
    n, counts = cumulated(high, np.random.default_rng(1))
    shape = counts.shape
    every = [np.broadcast_to(part, shape).ravel() for part in (counts, n, np.array(high), np.array(high))]
    above, below = log_bets(*every).reshape(2, *shape)
    for bet in (above, below):
        assert (bet > -np.log(ALPHA)).any(axis=1).mean() <= at_most(ALPHA, STREAMS)


def test_a_fixed_test_that_is_watched_alarms_far_more_often():
    n, counts = cumulated(0.27, np.random.default_rng(1))
    z = (counts - n * 0.27) / np.sqrt(n * 0.27 * 0.73)
    assert (z > 2.326).any(axis=1).mean() > 5 * ALPHA  # each by itself is of 1 %


def test_an_excess_is_found():
    """With 3 % more than allowed, a few times as many reports as one look would need."""
    n, counts = cumulated(0.30, np.random.default_rng(2), last=10**5)
    shape = counts.shape
    every = [np.broadcast_to(part, shape).ravel() for part in (counts, n, np.array(0.1), np.array(0.27))]
    above = log_bets(*every)[0].reshape(shape)
    assert ((above > -np.log(ALPHA)).any(axis=1)).mean() > 0.99


def test_sums_and_totals_that_are_watched():
    generator, wrong, summed, runs = np.random.default_rng(3), 0, 0, 300
    n = np.unique(np.geomspace(100, 10**5, 60).astype(int))
    for _ in range(runs):
        ones = np.cumsum(generator.binomial(np.diff(np.concatenate([[0], n])), 0.5))
        others = np.cumsum(generator.binomial(9 * np.diff(np.concatenate([[0], n])), 0.2))
        findings = [
            judge_total(TotalClaim("t", "", int(a + b), [(int(k), 0.5), (9 * int(k), 0.2)]))
            for a, b, k in zip(ones, others, n, strict=True)
        ]
        wrong += min(finding.p_value for finding in findings) <= ALPHA
        sums = [SumClaim("s", "", 2.0 * a, int(k), 1.0, (1.0, 1.0)) for a, k in zip(ones, n, strict=True)]
        summed += min(judge_sum(claim).p_value for claim in sums) <= ALPHA
    assert wrong / runs <= at_most(ALPHA, runs)
    assert summed / runs <= at_most(ALPHA, runs)
    assert judge_total(TotalClaim("t", "", 6000, [(10_000, 0.5)])).p_value < 1e-9
    assert judge_sum(SumClaim("s", "", 12_000.0, 10_000, 1.0, (3.0, 3.0))).p_value < 1e-9
    assert float(sum_bets(np.array([500.0]), 1000, np.array([1.0]), 1.0)[0]) > 50


@pytest.mark.parametrize("cells", [1, 7])
def test_every_bet_of_a_test_is_paid_for(cells):
    """The p-value is the inverse of the best bet, times the number of bets: one above and one below for each cell."""
    usual = np.zeros(cells - 1)
    counts, sums = np.append(usual + 500, 600).astype(int), np.append(usual, 150.0)
    cell = judge_cells(CellClaim("c", "", counts, 1000, 0.5, 0.5))
    best = float(log_bets(*(np.array([part]) for part in (600.0, 1000.0, 0.5, 0.5)))[0, 0])
    assert cell.p_value == pytest.approx(2 * cells * np.exp(-best), rel=1e-9)
    ones, most = np.ones(cells), np.full(cells, 2.0)
    many = judge_sums(SumsClaim("s", "", sums, 1000, ones, (most, most), str))
    bet = float(sum_bets(150.0, 1000, 1.0, 2.0))
    assert many.p_value == pytest.approx(2 * cells * np.exp(-bet), rel=1e-9)
    one = judge_sum(SumClaim("s", "", 1150.0, 1000, 1.0, (2.0, 2.0)))
    assert one.p_value == pytest.approx(2 * np.exp(-bet), rel=1e-9)
    total = judge_total(TotalClaim("t", "", 600, [(1000, 0.5)]))
    rates = 2 * SIZES  # of a fair coin, whose standard deviation is a half
    won = np.exp(rates * 600 - 1000 * np.log1p(0.5 * np.expm1(rates)))
    assert total.p_value == pytest.approx(2 / won.mean(), rel=1e-9)
    assert max(part.p_value for part in (cell, many, one, total)) < 0.01


def test_repeats_of_seeds_that_are_watched():
    """The p-value of all looks is larger than that of one, and still small."""
    twice = judge_chance(ChanceClaim("repeats", "", "", 2.7e-8), 10**6)
    assert 2.7e-8 < twice.p_value < 1e-3
    assert judge_chance(ChanceClaim("repeats", "", "none", 1.0), 10**6).p_value == 1.0


HONEST = [
    *(cls(1.0, 8) for cls in (fldp.GRR, fldp.OUE, fldp.SUE, fldp.OLH, fldp.SS, fldp.HR, fldp.HRR, fldp.PGR, fldp.FWR)),
    fldp.RR(1.0),
    fldp.FHR(1.0, 8),
    fldp.FWR(1.0, 16, 0.5),
    fldp.HR(2.0, 16, 4),
    fldp.URR(1.0, 8, sensitive=[1, 2]),
    fldp.URAPPOR(1.0, 8, sensitive=[1, 2]),
    fldp.IDUE(2.0, 8, budgets={0: 1.0}),
    fldp.Exponential(2.0, 8, distance="line"),
    fldp.Grouped(1.0, base="oue", groups=[4, 4]),
]


@pytest.mark.parametrize("oracle", HONEST, ids=repr)
def test_honest_streams_of_every_oracle_pass_at_every_look(oracle):
    """Five streams with twenty looks at a rate of 0.001: one alarm would be a coincidence of one in two hundred."""
    generator = np.random.default_rng(5)
    for stream in range(5):
        values = generator.integers(0, oracle.domain_size, 2000)
        reports, tally = oracle.privatize(values, rng=stream), None
        for start in range(0, 2000, 100):
            more = oracle.tally(reports[start : start + 100])
            tally = more if tally is None else tally + more
            assert fldp.integrity(tally, anytime=True).passed
        assert fldp.integrity(reports, anytime=True).passed


def test_fakes_are_seen_by_every_kind_of_test():
    oracle = fldp.OUE(1.0, 20)
    honest = oracle.privatize([3] * 2000, rng=7)
    fake = fldp.Reports(oracle, np.full((200, 3), [255, 0, 0], np.uint8))
    findings = fldp.integrity(fldp.Reports.concatenate([honest, fake]), anytime=True)
    assert findings.anytime
    assert [finding.test for finding in findings.flagged] == ["supports", "total", "weights", "pairs"]
    impossible = fldp.integrity(fldp.Tally(fldp.GRR(1.0, 5), [500, 0, 0, 0, 0], 500), anytime=True)
    assert not impossible.passed
