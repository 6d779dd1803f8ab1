"""Intervals at every look: they cover as often as they say, whenever one stops; fixed ones do not.

Streams are simulated with fixed seeds. A bound of 5 % plus three standard errors of the simulation is exceeded by
chance in less than one of 700 runs with other seeds, if the truth were 5 %; it is below.
"""

from dataclasses import replace

import numpy as np
import pytest

import fldp
from fldp.data.anytime_estimate import watch
from fldp.data.anytime_intervals import best_ratio, multiplier, planned_reports, reach, start_of
from fldp.data.postprocess import postprocess

STREAMS, LOOKS, LAST = 2000, 1000, 10**6


@pytest.mark.parametrize(
    ("values", "fixed", "widths"),
    [
        (1, 1.96, (3.82, 3.035, 3.25, 3.57)),
        (100, 3.48, (5.02, 4.38, 4.53, 4.77)),
        (1023, 4.06, (5.49, 4.90, 5.04, 5.25)),
    ],
)
def test_the_widths_of_the_contract(values, fixed, widths):
    multipliers = [multiplier(share, 0.05 / values) for share in (0.1, 1, 10, 100)]
    assert multipliers == pytest.approx(widths, abs=0.006)
    assert min(multipliers) > 1.2 * fixed


def test_the_start_makes_the_interval_narrowest_at_the_planned_number():
    for miss in (0.05, 5e-4, 4.9e-5):
        best = multiplier(1, miss)
        for other in (0.8, 1.25):
            start = 1 / (best_ratio(miss) * other)
            assert float(reach(1.0, start, miss)) > best


def looks():
    return np.unique(np.geomspace(100, LAST, LOOKS).astype(np.int64))


def streams(oracle, share, generator):
    """Tallies of value 0 and of all reports at every look, by the law of the supports; a stream is a row."""
    estimator, steps = oracle.estimator, np.diff(np.concatenate([[0], looks()]))
    held = np.round(share * looks()).astype(np.int64)
    own = np.diff(np.concatenate([[0], held]))
    size = (STREAMS, len(steps))
    hits = generator.binomial(own, float(estimator.p), size) + generator.binomial(steps - own, float(estimator.q), size)
    supports = np.cumsum(hits, axis=1)
    p, q = float(estimator.p), float(estimator.q)
    return (supports - looks() * q) / (p - q), held


def variances(oracle, counts):
    n = looks().astype(float)
    return np.asarray(oracle.estimator.variance(n, np.clip(counts, 0, n)))


@pytest.mark.parametrize("oracle", [fldp.OUE(1.0, 100), fldp.GRR(1.0, 100), fldp.OUE(4.0, 100)], ids=repr)
@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.long
def test_who_looks_often_is_misled_by_fixed_intervals_and_not_by_these(oracle, share):
    estimates, held = streams(oracle, share, np.random.default_rng(1))
    errors, spread = np.abs(estimates - held), variances(oracle, estimates)
    start = float(oracle.estimator.variance(planned_reports(oracle), 0.0)) / best_ratio(0.05)
    missed = (errors > reach(spread, start, 0.05)).any(axis=1).mean()
    assert missed <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / STREAMS)
    assert (errors > 1.96 * np.sqrt(spread)).any(axis=1).mean() > 0.25


@pytest.mark.parametrize(
    "oracle",
    [fldp.FWR(1.0, 100), fldp.FWR(1.0, 100, 0.5), fldp.FHR(1.0, 100), fldp.HR(1.0, 100)],
    ids=repr,
)
@pytest.mark.long
def test_coverage_of_reports_that_come_in_for_all_values_at_once(oracle):
    """By whole oracles: tallies of growing numbers of people, all values together."""
    generator, missed, runs = np.random.default_rng(2), 0, 200
    sizes = [100, 200, 400, 800, 1600, 3200, 6400]
    for _ in range(runs):
        values = np.minimum(generator.geometric(0.1, sizes[-1]) - 1, oracle.domain_size - 1)
        reports, tally, before, wrong = oracle.privatize(values, rng=int(generator.integers(2**63))), None, 0, False
        for n in sizes:
            more = oracle.tally(reports[before:n])
            tally, before = more if tally is None else tally + more, n
            truth = np.bincount(values[:n], minlength=oracle.domain_size)
            low, high = oracle.estimate(tally).interval(0.95, simultaneous=True, anytime=10_000).T
            wrong |= bool(((truth < low) | (truth > high)).any())
        missed += wrong
    assert missed / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def pair(n=20_000):
    oracle = fldp.OUE(2.0, 4)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    values = np.repeat(np.arange(4), (shares * n).astype(int))
    moved = np.repeat(np.arange(4), (np.array([0.3, 0.4, 0.2, 0.1]) * n).astype(int))
    return [oracle.estimate(oracle.tally(oracle.privatize(v, rng=k))) for k, v in enumerate((values, moved))]


def test_a_comparison_that_is_watched():
    before, after = pair()
    once, watched = before.compare(after), before.compare(after, anytime=10_000)
    assert watched.planned == 10_000
    assert (watched.p_values >= once.p_values).all()
    assert watched.significant().tolist() == [True, True, False, False]
    inside, outside = once.interval(simultaneous=True), watched.interval(simultaneous=True)
    assert (outside[:, 0] < inside[:, 0]).all()
    assert (outside[:, 1] > inside[:, 1]).all()
    for miss in (0.2, 0.05, 0.001):  # a p-value is the least miss whose interval leaves 0 out, at the usual start
        best = 0.05 / 4 / 2
        half = sum(side.half(miss / 2, best) for side in watched.sides)
        assert ((np.abs(watched.difference) > half) == (watched.p_values < miss)).all()


@pytest.mark.parametrize("sizes", [(1, 1), (1, 4)])
def test_comparisons_of_the_same_people_find_nothing_whenever_one_looks(sizes):
    """Of 1,000 pairs of streams without any change; more than 5 % plus three standard errors is a false alarm."""
    generator, oracle, runs = np.random.default_rng(3), fldp.GRR(1.0, 10), 1000
    p, q = float(oracle.estimator.p), float(oracle.estimator.q)
    steps = np.diff(np.concatenate([[0], np.geomspace(100, 10**5, 100).astype(int)]))
    start = float(oracle.estimator.variance(10_000, 0.0))
    wrong = np.zeros(runs, bool)
    whole, half = 0.0, 0.0
    for times in sizes:
        n = np.cumsum(steps) * times
        held = generator.binomial(steps * times, 0.2, (runs, len(steps)))
        hits = generator.binomial(held, p) + generator.binomial(steps * times - held, q)
        counts = (np.cumsum(hits, axis=1) - n * q) / (p - q)
        shares = np.clip(counts / n, 0, 1)
        spread = np.asarray(oracle.estimator.variance(n.astype(float), np.clip(counts, 0, n))) + n * shares * (
            1 - shares
        )
        whole = counts / n - whole
        half = half + reach(spread, start / best_ratio(0.025), 0.025) / n
    wrong = (np.abs(whole) > half).any(axis=1)
    assert wrong.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_tables_and_files_of_a_watched_estimate():
    estimate = pair()[0]
    shown = watch(estimate, 10_000)
    low, high = estimate.interval(0.95, simultaneous=True, anytime=10_000).T
    assert shown.table()["low"].tolist() == low.tolist()
    assert shown.to_pandas()["high"].tolist() == high.tolist()
    alone = watch(estimate, 10_000, simultaneous=False)
    assert alone.table()["low"].tolist() == estimate.interval(0.95, anytime=10_000)[:, 0].tolist()


def test_a_sum_that_is_watched():
    estimate = pair()[0]
    total = estimate.sum([0, 1])
    low, high = total.interval(anytime=10_000)
    inner = total.interval()
    assert low < inner[0] < total.count < inner[1] < high
    start = 2 * start_of(estimate, 10_000) / best_ratio(0.05)
    assert high - total.count == pytest.approx(float(reach(total.stderr**2, start, 0.05)))


def test_the_planned_number_has_a_floor():
    """Before a value that nobody holds was supported ten times, its law is far from normal."""
    wide = fldp.GRR(1.0, 65_537)
    q = float(wide.estimator.q)
    assert planned_reports(wide) == int(np.ceil(10 / (q * (1 - q))))
    assert planned_reports(fldp.OUE(1.0, 10), minimum=500) == 50_000


def test_biased_estimates_and_bad_numbers_are_refused():
    estimate = pair()[0]
    biased = postprocess(estimate, "norm-sub")
    for ask in (
        lambda: biased.interval(anytime=10_000),
        lambda: watch(biased, 10_000),
        lambda: biased.compare(estimate, anytime=10_000),
        lambda: biased.sum([0]).interval(anytime=10_000),
    ):
        with pytest.raises(fldp.ParameterError, match=r"anytime is for .*unbiased"):
            ask()
    with pytest.raises(fldp.ParameterError, match="anytime must be an integer"):
        estimate.interval(anytime=0)


def test_a_watched_comparison_has_a_term_for_one_report():
    """At epsilon 8 chance hardly supports a value that nobody holds: both sides have Bernstein's form."""
    oracle = fldp.GRR(8.0, 4)
    before, after = (oracle.estimate(fldp.Tally(oracle, [n, 0, 0, 0], n)) for n in (100, 300))
    change = before.compare(after, anytime=100)
    jumps = before._jumps / before.n + after._jumps / after.n
    assert (jumps > 0).all()
    plain = replace(change, sides=tuple(replace(side, jump=0.0) for side in change.sides))
    wider = np.diff(change.interval(0.95), axis=1) - np.diff(plain.interval(0.95), axis=1)
    z_squared = -2 * np.log(0.025)  # at least, of each side
    assert (wider[1:, 0] >= 2 * jumps[1:] * z_squared / 6).all()
    assert (change.p_values >= plain.p_values).all()


def test_a_collision_is_no_count_and_no_change():
    """Of 100 strings, two share one of four buckets, and all of 2,000 people hold the first one of them.

    Such a collision comes in a third of such surveys. It makes the other count a quarter of all people too large, at
    every look; when everybody changes to a third string, it falls by as much. By a normal law that was a miss, and a
    change.
    """
    oracle, truth = colliding(), np.eye(100, dtype=np.int64) * 2000
    before, after = (oracle.estimate(fldp.simulate(oracle, truth[k], rng=k)) for k in (0, 2))
    assert before.counts[1] > 400
    for looks in (None, 10_000):
        low, high = before.interval(0.95, simultaneous=True, anytime=looks).T
        assert ((low <= truth[0]) & (truth[0] <= high)).all()
    assert np.flatnonzero(before.found()).tolist() == [0]
    assert watch(before, 10_000).reach == pytest.approx(float((high - low).max()) / 2 / 2000)
    for anytime in (None, 10_000):
        change = before.compare(after, anytime=anytime)
        assert not change.significant()[1]
        assert change.interval(simultaneous=True)[1, 1] > 0
    assert np.flatnonzero(before.compare(after).significant()).tolist() == [0, 2]
    low, high = before.sum(range(1, 100)).interval()
    assert low <= 0 <= high


def colliding():
    """A sketch among 100 strings, of which the first shares a bucket with the second alone."""
    oracle = fldp.CMS(4.0, hashes=4, width=1024)
    buckets = [oracle._sketch.buckets(int(mark)) for mark in oracle.among(map(str, range(3000))).marks]
    shared = np.array([(row == buckets[0]).sum() for row in buckets])
    others = [int(np.flatnonzero(shared == 1)[0]), *np.flatnonzero(shared == 0)[:98].tolist()]
    return oracle.among(map(str, [0, *others]))
