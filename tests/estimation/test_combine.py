"""combine: unbiased, with the variance that it states, whatever the oracles."""

from dataclasses import replace

import numpy as np
import pytest

import fldp
from fldp import combine
from fldp.oracles.kit import analysis
from support.promises import concentrated, most_broken

COUNTS = np.array([500, 250, 40, 10])


def test_the_variance_is_exact_over_all_lots():
    """Six users, two oracles of three users each: every lot and every report, weighed by its probability."""
    from itertools import combinations, product

    values, oracles = (0, 0, 0, 0, 1, 1), (fldp.RR(0.5), fldp.RR(2.0))
    truth, outcomes = np.bincount(values), []
    for chosen in combinations(range(6), 3):
        sides = [[values[k] for k in chosen], [values[k] for k in range(6) if k not in chosen]]
        spread = [list(states(oracle, side)) for oracle, side in zip(oracles, sides, strict=True)]
        for (one, share), (two, other) in product(*spread):
            combined = combine([fldp.Tally(oracles[0], one, 3), fldp.Tally(oracles[1], two, 3)], weights="variance")
            outcomes.append((share * other / 20, combined.counts))
    shares, counts = np.array([share for share, _ in outcomes]), np.array([each for _, each in outcomes])
    assert shares.sum() == pytest.approx(1)
    assert shares @ counts == pytest.approx(truth, abs=1e-9)
    assert shares @ (counts - truth) ** 2 == pytest.approx(stated(oracles, (3, 3), truth), rel=1e-9)


def states(oracle, values):
    """Every tally of two values, with its probability."""
    chances = {(0, 0): 1.0}
    for value in values:
        grown = {}
        for state, share in chances.items():
            for symbol, chance in analysis(oracle).law(value).items():
                key = tuple(count + (k == symbol) for k, count in enumerate(state))
                grown[key] = grown.get(key, 0) + share * float(chance)
        chances = grown
    return chances.items()


def stated(oracles, sizes, truth):
    """The formula of the documentation, with the mean of the variance over lots, which is linear in the counts."""
    n = sum(sizes)
    inverse = [size / oracle.variance(1, 0.0) for oracle, size in zip(oracles, sizes, strict=True)]
    factors = [part / sum(inverse) * n / size for part, size in zip(inverse, sizes, strict=True)]
    noise = sum(
        f**2 * np.array([oracle.variance(size, count * size / n) for count in truth])
        for f, oracle, size in zip(factors, oracles, sizes, strict=True)
    )
    return noise + truth * (n - truth) / (n * (n - 1)) * sum(
        s * (f - 1) ** 2 for f, s in zip(factors, sizes, strict=True)
    )


def test_estimates_are_unbiased_and_their_errors_are_as_stated():
    """300 runs of users in tallies by lot: mean within 6 standard errors, spread within 6 of its own.

    10 comparisons: for a right program and a seed nobody chose, about one run in 5e7 fails.
    """
    oracles = (fldp.OUE(0.5, 4), fldp.GRR(1.5, 4), fldp.URR(2.0, 4, sensitive=[3]))
    users, chance = np.repeat(np.arange(4), COUNTS), np.random.default_rng(5)
    estimates, errors, sums = [], [], []
    for run in range(300):
        parts = np.split(chance.permutation(users), [400, 700])
        tallies = [
            fldp.simulate(oracle, np.bincount(part, minlength=4), rng=3 * run + k)
            for k, (oracle, part) in enumerate(zip(oracles, parts, strict=True))
        ]
        combined = combine(tallies, weights="variance")
        estimates.append(combined.counts)
        errors.append(combined.stderr**2)
        total = combined.sum([0, 2])
        sums.append((total.count - 540, total.stderr))
    estimates, stated = np.array(estimates), np.mean(errors, axis=0)
    spread = estimates.std(axis=0, ddof=1)
    assert (abs(estimates.mean(axis=0) - COUNTS) < 6 * spread / 300**0.5).all()
    assert (abs(spread**2 / stated - 1) < 6 * (2 / 300) ** 0.5).all()
    total, error = np.array(sums).T
    assert abs(total.mean()) < 6 * total.std() / 300**0.5
    assert abs(total.var() / np.mean(error**2) - 1) < 6 * (2 / 300) ** 0.5


def test_the_weights_do_not_look_at_the_data():
    oracles = (fldp.OUE(0.5, 3), fldp.OUE(2.0, 3))
    one, two = (
        [fldp.simulate(oracle, counts, rng=k) for k, oracle in enumerate(oracles)]
        for counts in ([900, 90, 10], [5, 5, 990])
    )
    weighed = [combine(each, weights="variance").weights for each in (one, two)]
    assert (weighed[0] == weighed[1]).all()
    assert weighed[0] @ [1, 1] == pytest.approx(1)
    assert combine(one).weights == pytest.approx([0.5, 0.5])


def test_the_sum_by_users_is_the_sum_of_the_counts():
    """It needs no assumption: users who chose the first oracle may hold other values than the rest."""
    oracles = (fldp.OUE(1.0, 3), fldp.GRR(2.0, 3))
    tallies = [
        fldp.simulate(oracle, counts, rng=1) for oracle, counts in zip(oracles, ([900, 0, 0], [0, 50, 50]), strict=True)
    ]
    apart = [tally.oracle.estimate(tally) for tally in tallies]
    combined = combine(tallies)
    assert combined.counts == pytest.approx(apart[0].counts + apart[1].counts)
    assert combined.stderr == pytest.approx(np.hypot(apart[0].stderr, apart[1].stderr))


def test_the_error_of_a_sum_of_one_value_is_that_of_the_value():
    """Exactly, where no estimate is negative: the chance of the lot is in both."""
    oracles = (fldp.GRR(1.0, 3), fldp.GRR(4.0, 3))
    combined = combine([fldp.simulate(oracle, [4000, 3000, 3000], rng=1) for oracle in oracles])
    for value in range(3):
        total = combined.sum([value])
        assert (total.count, total.stderr) == pytest.approx((combined.counts[value], combined.stderr[value]), rel=1e-9)


def test_one_tally_is_its_own_estimate():
    oracle = fldp.FHR(1.0, 5)
    tally = fldp.simulate(oracle, [50, 20, 10, 10, 10], rng=2)
    plain, estimate = oracle.estimate(tally), combine([tally])
    assert estimate.counts == pytest.approx(plain.counts)
    assert estimate.stderr == pytest.approx(plain.stderr)
    assert estimate.sum([0, 1]).stderr == pytest.approx(plain.sum([0, 1]).stderr)
    fixed = fldp.postprocess(estimate, "norm-sub")
    assert fixed.biased
    assert fixed.sum([0, 1]).original.count == pytest.approx(estimate.sum([0, 1]).count)
    assert fixed.counts.sum() == pytest.approx(100)


def test_answers_to_different_questions_are_not_combined():
    """As many labels are not the same labels; a tally does not say its own, and takes those of the others."""
    tally = fldp.simulate(fldp.GRR(1.0, 2), [5, 5], rng=1)
    plain = tally.oracle.estimate(tally)
    one, two = (replace(plain, labels=labels) for labels in (("yes", "no"), ("no", "yes")))
    with pytest.raises(fldp.MergeError, match="combine: tallies must be of the same labels, got 'yes' and 'no'"):
        combine([one, two])
    assert combine([tally, one]).labels == ("yes", "no")
    sketch = fldp.CMS(1.0, hashes=4, width=16)
    reports = sketch.privatize(["a", "b"] * 50, rng=1)
    apart = [sketch.estimate(reports, candidates=list(names)) for names in ("ab", "ac", "abc")]
    for other in (*apart[1:], plain):
        with pytest.raises(fldp.MergeError, match="combine: tallies must be of"):
            combine([apart[0], other])
    assert combine([apart[0], apart[0]]).counts == pytest.approx(2 * apart[0].counts)


def test_bad_input():
    tally = fldp.simulate(fldp.RR(1.0), [5, 5], rng=1)
    several = fldp.Sampled(1.0, answers=[2, 3], views=2)
    reports = several.privatize([[0, 1]] * 50, rng=1)
    for tallies, message in (
        ([reports], "combine: each part must be .*of one question, not of several"),
        ([several.estimate(reports)], "combine: each part must be .*of one question, not of several"),
        ([several.estimate(reports)[0]], "combine: each part must be .*of one question, not of several"),
        ([], "combine: at least one tally is needed"),
        ([3], "combine: each part must be a tally"),
        ([combine([tally])], "combine: each part must be a tally"),
        ([fldp.postprocess(tally.oracle.estimate(tally), "clip")], "combine: each part must be a tally"),
        ([tally, fldp.simulate(fldp.GRR(1.0, 3), [1, 1, 1], rng=1)], "over the same ungrouped values"),
        ([fldp.simulate(fldp.Grouped(1.0, base="rr", groups=[2, 2]), [1, 1, 1, 1], rng=1)], "ungrouped"),
    ):
        with pytest.raises(fldp.FldpError, match=message):
            combine(tallies)
    with pytest.raises(fldp.ParameterError, match="combine: weights must be one of 'users', 'variance', got 'best'"):
        combine([tally], weights="best")


def of_strings(epsilon, people, seed):
    oracle = fldp.RAPPOR(epsilon=epsilon, epsilon_permanent=2 * epsilon)
    reports = oracle.privatize(["a"] * (4 * people // 5) + ["b"] * (people // 5), rng=seed)
    return oracle.estimate(reports, candidates=["a", "b", "c", "d"])


def test_one_part_keeps_its_interval():
    """The upper end of RAPPOR has the error that a count would have there; a combination must not forget that."""
    part = of_strings(4.0, 100, seed=1)
    assert part._laws[0].slope.max() > 0.5
    for simultaneous in (False, True):
        kept = combine([part]).interval(simultaneous=simultaneous)
        assert kept == pytest.approx(part.interval(simultaneous=simultaneous))


def test_slopes_add_up_by_the_chance_to_be_in_a_part():
    """One more holder is in a part with the chance ``n_k/n``, where the variance grows by ``f_k^2 slope_k``."""
    parts = [of_strings(1.0, 200, seed=1), of_strings(4.0, 100, seed=2)]
    combined = combine(parts, weights="variance")
    factors = combined.weights * 300 / np.array([200, 100])
    expected = sum(f**2 * part._laws[0].slope * part.n / 300 for f, part in zip(factors, parts, strict=True))
    assert combined._laws[0].slope == pytest.approx(expected)


@pytest.mark.parametrize("weights", ["users", "variance"])
def test_sums_of_few_people_cover(weights):
    """Two groups of 15, most of whom hold the value that is left out, 200 surveys: at most 27 misses.

    Of a program that just keeps its promise, 0.05, more come in one of 10^6 tests. A normal law missed in a fifth of
    such surveys.
    """
    oracles, chance = (fldp.OUE(8.0, 5), fldp.OUE(8.0, 5)), np.random.default_rng(3)
    users, misses = np.repeat(np.arange(5), concentrated(30, 5)), 0
    for run in range(200):
        parts = np.split(chance.permutation(users), 2)
        drawn = zip(oracles, parts, strict=True)
        tallies = [
            fldp.simulate(oracle, np.bincount(part, minlength=5), rng=2 * run + k)
            for k, (oracle, part) in enumerate(drawn)
        ]
        low, high = combine(tallies, weights=weights).sum(range(1, 5)).interval()
        misses += not low <= (users > 0).sum() <= high
    assert misses < most_broken(200, 0.05, 1e-6)


def test_the_steps_of_a_sum_follow_from_its_parts():
    """What one report moves counts as much as its tally does; a further holder is in a tally with chance ``n_k/n``."""
    parts = [fldp.simulate(fldp.OUE(epsilon, 5), [5 * k, 9, 1, 0, 0], rng=k) for k, epsilon in ((1, 1.0), (3, 3.0))]
    combined = combine(parts, weights="variance")
    sums, users = [part.sum([1, 2]).steps for part in combined.parts], np.array([15, 25])
    factors, steps = combined.weights * 40 / users, combined.sum([1, 2]).steps
    assert steps.jump == pytest.approx(max(f * each.jump for f, each in zip(factors, sums, strict=True)))
    for name in ("rise", "fall"):
        slopes = [getattr(each, name) for each in sums]
        assert getattr(steps, name) == pytest.approx(factors**2 * users / 40 @ slopes)
    assert steps.rise > 0
    assert [steps.fall, sums[0].fall] == [0.0, 0.0]


@pytest.mark.long
@pytest.mark.parametrize("weights", ["users", "variance"])
def test_combined_estimates_of_strings_cover(weights):
    """RAPPOR at epsilon 1 and 4, 100 people each by lot, four in five of whom hold one candidate: 100 surveys.

    Of a program that just keeps its promise, 0.05, 19 misses of a candidate come in one of 10^6 tests. The spread of
    the estimates is the stated one within 6 of its own standard errors, or less.
    """
    oracles = [fldp.RAPPOR(epsilon=epsilon, epsilon_permanent=2 * epsilon) for epsilon in (1.0, 4.0)]
    people, names, truth = np.array(["a"] * 160 + ["b"] * 40), ["a", "b", "c", "d"], np.array([160, 40, 0, 0])
    chance, combined = np.random.default_rng(1), []
    for run in range(100):
        drawn = enumerate(zip(oracles, np.split(chance.permutation(people), 2), strict=True))
        reports = [oracle.privatize(part.tolist(), rng=2 * run + k) for k, (oracle, part) in drawn]
        parts = [oracle.estimate(each, candidates=names) for oracle, each in zip(oracles, reports, strict=True)]
        combined.append(combine(parts, weights=weights))
    ends = np.array([each.interval() for each in combined])
    assert ((ends[..., 0] > truth) | (ends[..., 1] < truth)).sum(axis=0).max() < most_broken(100, 0.05, 1e-6)
    spread, stated = (
        np.var([each.counts for each in combined], axis=0),
        np.mean([e.stderr**2 for e in combined], axis=0),
    )
    assert (spread / stated < 1 + 6 * (2 / 100) ** 0.5).all()
    assert (spread / stated > 0.5).all()


def test_sketches_with_the_same_hash_functions_err_alike():
    """Four groups of 2,000 people who all hold one of 50 strings, under 60 choices of 16 hash functions.

    The mean square error is the stated variance within a third; as if collisions were independent, it was 2.6 times
    that, and ``found`` named a string that nobody holds nearly always. Of a program that just keeps its promise, 15
    false finds or misses of 60 come in one of 10^6 tests.
    """
    names, truth = list(map(str, range(50))), np.eye(50, dtype=np.int64)[0] * 2000
    squares, stated, false_finds, missed, sums = [], [], 0, 0, 0
    for run in range(60):
        oracles = [fldp.HCMS(8.0 + k, hashes=16, width=256, hash_seed=run).among(names) for k in range(4)]
        combined = combine([fldp.simulate(oracle, truth, rng=9 * run + k) for k, oracle in enumerate(oracles)])
        squares.append((combined.counts[1:] ** 2).mean())
        stated.append((combined.stderr[1:] ** 2).mean())
        false_finds += bool(combined.found()[1:].any())
        low, high = combined.interval(simultaneous=True).T
        missed += not ((low <= 4 * truth) & (4 * truth <= high)).all()
        low, high = combined.sum(range(10, 40)).interval()
        sums += not low <= 0 <= high
    assert 2 / 3 < np.mean(squares) / np.mean(stated) < 4 / 3
    assert max(false_finds, missed, sums) < most_broken(60, 0.05, 1e-6)


def test_filters_with_the_same_hash_functions_err_alike_about_strings_that_are_not_listed():
    """Four groups of 2,000 people, three quarters of whom hold strings that are no candidates, under 60 choices.

    The mean square error is 0.75 of the stated variance, of the combined estimate as of each part; as if the parts
    erred independently, it was 2.9 times that. 15 false finds or misses of 60 come in one of 10^6 tests.
    """
    names, truth = ["a", "b", "c"], np.array([2000, 0, 0])
    values = ["a"] * 500 + ["x"] * 700 + ["y"] * 500 + ["z"] * 300
    squares, stated, false_finds, missed, sums = [], [], 0, 0, 0
    for run in range(60):
        oracles = [fldp.RAPPOR(4 + k / 2, 8.0, bits=32, cohorts=8, hash_seed=run) for k in range(4)]
        reports = [oracle.privatize(values, rng=9 * run + k) for k, oracle in enumerate(oracles)]
        parts = [oracle.estimate(part, candidates=names) for oracle, part in zip(oracles, reports, strict=True)]
        combined = combine(parts)
        squares.append((combined.counts[1:] ** 2).mean())
        stated.append((combined.stderr[1:] ** 2).mean())
        false_finds += bool(combined.found()[1:].any())
        low, high = combined.interval(simultaneous=True).T
        missed += not ((low <= truth) & (truth <= high)).all()
        low, high = combined.sum([1, 2]).interval()
        sums += not low <= 0 <= high
    assert 1 / 2 < np.mean(squares) / np.mean(stated) < 4 / 3
    assert max(false_finds, missed, sums) < most_broken(60, 0.05, 1e-6)


def test_filters_of_listed_strings_err_independently():
    estimator, counts = fldp.RAPPOR(4.0, 8.0, bits=32, cohorts=8).among(["a", "b"]).estimator, np.array([500.0, 100.0])
    assert estimator.collisions(600, counts, dispersion=1.0) is None
    _, variances = estimator.collisions(600, counts, dispersion=4.0)
    assert variances == pytest.approx(3 * estimator.variance(600, counts))


def test_sketches_with_hash_functions_of_their_own_err_independently():
    oracles = [fldp.CMS(4.0, hashes=4, width=64, hash_seed=seed).among(["a", "b"]) for seed in (1, 2)]
    parts = [oracle.estimate(fldp.simulate(oracle, [500, 0], rng=k)) for k, oracle in enumerate(oracles)]
    assert combine(parts).stderr ** 2 == pytest.approx(sum(part.stderr**2 for part in parts))
    again = combine([parts[0], parts[0]])
    assert (again.stderr**2 > 2 * parts[0].stderr ** 2).all()
    assert (again.stderr <= 2 * parts[0].stderr).all()
    assert again.sum([0]).stderr == pytest.approx(again.stderr[0])
    assert again._laws[0].jump == pytest.approx(2 * parts[0]._laws[0].jump)
    assert again.sum([0, 1]).steps.jump == pytest.approx(2 * parts[0].sum([0, 1]).steps.jump)
