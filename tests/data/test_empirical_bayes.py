"""Empirical Bayes: less total error than norm-sub, credible intervals that cover, and a label wherever it shows."""

import json

import numpy as np
import pytest

import fldp
from fldp.data.empirical_bayes import MIN_VALUES, CountNoise, Posterior, fitted_prior
from fldp.presentation.tables import as_json, estimate_notes
from support.promises import covers

POPULATIONS = {
    "zipf": lambda d: 200_000 / np.arange(1, d + 1) / np.log(d),
    "uniform": lambda d: np.full(d, 200_000 / d),
    "step": lambda d: np.where(np.arange(d) < 10, 10_000, 100_000 / d),
    "one": lambda d: np.where(np.arange(d) == 7, 200_000, 0),
}


def error(estimate, truth):
    """The total squared error."""
    return float(((estimate.counts - truth) ** 2).sum())


@pytest.mark.parametrize("make", [fldp.OUE, fldp.GRR, fldp.SUE], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize(
    ("name", "d", "most"), [("zipf", 1000, 0.9), ("uniform", 1000, 0.1), ("step", 1000, 0.9), ("one", 100, 1.1)]
)
@pytest.mark.long
def test_the_total_error_is_below_norm_subs(make, name, d, most):
    """Five surveys together. ``make acceptance`` has the paper's populations, and narrower limits."""
    truth, oracle = POPULATIONS[name](d).astype(np.int64), make(1.0, d)
    errors = np.zeros(2)
    covered = 0.0
    for run in range(5):
        plain = oracle.estimate(fldp.simulate(oracle, truth, rng=run))
        bayes = oracle.estimate(fldp.simulate(oracle, truth, rng=run), method="bayes")
        errors += error(bayes, truth), error(fldp.postprocess(plain, "norm-sub"), truth)
        covered += covers(bayes.interval(0.95), truth).mean() / 5
    assert errors[0] <= most * errors[1]
    assert covered >= 0.93


def test_the_prior_is_the_most_likely_with_its_mean():
    """Against all mixtures of two counts with that mean, tried one by one."""
    grid, chance = np.array([0.0, 2.0, 5.0]), np.random.default_rng(1)
    counts = chance.choice(grid, 400, p=[0.6, 0.3, 0.1]) + chance.normal(0, 1, 400)
    likely = np.exp(-((counts[:, None] - grid) ** 2) / 2)
    fitted = fitted_prior(likely, np.ones(400), grid, 1.1)
    assert fitted @ grid == pytest.approx(1.1, abs=1e-3)
    tried = [np.array([1 - a - b, a, b]) for b in np.linspace(0, 0.2, 201) if (a := (1.1 - 5 * b) / 2) >= 0]
    best = max(np.log(likely @ prior).sum() for prior in tried)
    assert np.log(likely @ fitted).sum() == pytest.approx(best, abs=0.05)


def test_a_clearly_seen_value_moves_little_and_rare_ones_to_each_other():
    truth = POPULATIONS["step"](1000).astype(np.int64)
    oracle = fldp.OUE(1.0, 1000)
    plain = oracle.estimate(fldp.simulate(oracle, truth, rng=1))
    bayes = fldp.postprocess(plain, "bayes")
    assert (bayes.method, bayes.biased, bayes.original is plain) == ("bayes", True, True)
    assert (abs(bayes.counts - plain.counts)[:10] <= 0.25 * plain.stderr[:10] + 1e-9).all()
    assert bayes.counts[10:].std() < 0.2 * plain.counts[10:].std()
    assert bayes.counts.min() >= 0
    assert bayes.found().tolist() == plain.found().tolist(), "tests are those of the unbiased estimate"
    low, high = bayes.interval(0.95).T
    assert ((low <= bayes.counts) & (bayes.counts <= high)).all()


def test_few_values_are_repaired_by_norm_sub_which_is_said():
    oracle = fldp.GRR(1.0, MIN_VALUES - 1)
    plain = oracle.estimate(fldp.simulate(oracle, [10] * (MIN_VALUES - 1), rng=1))
    repaired = fldp.postprocess(plain, "bayes")
    assert (repaired.method, repaired.biased) == ("norm-sub", True)
    assert np.array_equal(repaired.counts, fldp.postprocess(plain, "norm-sub").counts)
    assert "norm-sub is better here, and taken" in repaired.basis.remark
    assert repaired.basis.remark in estimate_notes(repaired)
    assert json.loads(as_json(repaired, 0.95, 1))["remark"] == repaired.basis.remark


def test_it_is_labelled_biased():
    oracle = fldp.GRR(1.0, 200)
    estimate = oracle.estimate(fldp.simulate(oracle, [10] * 200, rng=1), method="bayes")
    assert "bayes (biased)" in repr(estimate)
    assert any(note.startswith("By bayes: biased.") for note in estimate_notes(estimate))
    told = json.loads(as_json(estimate, 0.95, 1))
    assert (told["method"], told["biased"]) == ("bayes", True)


def test_the_mean_of_a_prior_is_the_known_mean_count():
    """Estimates add up to far less than 1,000 people here, by the noise of OUE; the prior knows how many answered."""
    oracle = fldp.OUE(1.0, 200)
    estimate = oracle.estimate(fldp.simulate(oracle, np.full(200, 5), rng=1))
    assert estimate.counts.sum() < 500
    ((_, posterior),) = estimate.shrunk.parts
    assert posterior.prior @ posterior.grid == pytest.approx(5, rel=1e-3)
    groups = fldp.Grouped(epsilon=2.0, base="oue", groups=[150, 120])
    estimate = groups.estimate(fldp.simulate(groups, np.r_[np.full(150, 10), np.full(120, 1)], rng=1))
    means = [posterior.prior @ posterior.grid for _, posterior in estimate.shrunk.parts]
    assert means == pytest.approx([10, 1], rel=1e-3)


def test_groups_have_priors_of_their_own_and_strings_no_total():
    oracle = fldp.Grouped(epsilon=2.0, base="oue", groups=[150, 150])
    truth = np.r_[np.full(150, 100), np.full(150, 1)]
    estimate = oracle.estimate(fldp.simulate(oracle, truth, rng=1), method="bayes")
    assert estimate.counts[:150] == pytest.approx(100, abs=15)
    assert estimate.counts[150:].mean() == pytest.approx(1, abs=0.5)
    strings = fldp.CMS(epsilon=4.0, hashes=64, width=256)
    reports = strings.privatize([f"s{k % 5}" for k in range(2000)], rng=1)
    names = [f"s{k}" for k in range(150)]
    candidates_estimate = strings.estimate(reports, candidates=names, method="bayes")
    plain = strings.estimate(reports, candidates=names)
    held = np.r_[np.full(5, 400), np.zeros(145)]
    assert error(candidates_estimate, held) < 0.7 * error(fldp.postprocess(plain, "norm-sub"), held)


def test_norm_sub_is_better_where_everybody_holds_one_value_of_few():
    """The limit that the page names; the error is still below that of the unbiased estimate."""
    oracle, truth, errors = fldp.GRR(4.0, 257), np.where(np.arange(257) == 7, 200_000, 0), np.zeros(3)
    for run in range(4):
        plain = oracle.estimate(fldp.simulate(oracle, truth, rng=run))
        repaired = [fldp.postprocess(plain, method) for method in ("bayes", "norm-sub")]
        errors += [error(each, truth) for each in (*repaired, plain)]
    assert 1.1 < errors[0] / errors[1] < 4
    assert errors[0] < errors[2]


def test_the_noise_of_candidates_grows_with_their_holders():
    """RAPPOR at epsilon 4, where all of 100 people hold one of 150 candidates: without the slope 1.5 of norm-sub's."""
    oracle = fldp.RAPPOR(epsilon=4.0, epsilon_permanent=8.0).among([f"s{k}" for k in range(150)])
    truth, errors = np.where(np.arange(150) == 7, 100, 0), np.zeros(2)
    for run in range(6):
        plain = oracle.estimate(fldp.simulate(oracle, truth, rng=run))
        errors += [error(fldp.postprocess(plain, method), truth) for method in ("bayes", "norm-sub")]
    assert errors[0] < 1.2 * errors[1]


@pytest.mark.parametrize(
    ("epsilon", "shares"),
    [(0.4, 1 / np.arange(1, 101)), (1.0, 1 / np.arange(1, 101)), (1.0, np.repeat([1.0, 0.0], 50))],
    ids=["zipf 0.4", "zipf", "half"],
)
@pytest.mark.long
def test_intervals_cover_where_the_values_do_not_tell_how_far_apart_they_are(epsilon, shares):
    """Six surveys of 10,000 people and 100 values, most of which drown in the noise.

    By the fitted prior alone, in which all counts are alike, intervals cover 0.88, 0.90 and 0.75, and in one survey
    none of them does; with the widest prior that is likely, 0.95 to 0.96.
    """
    truth, oracle = np.random.default_rng(1).multinomial(10_000, shares / shares.sum()), fldp.OUE(epsilon, 100)
    covered, widths = [], []
    for run in range(6):
        plain = oracle.estimate(fldp.simulate(oracle, truth, rng=run))
        ends = fldp.postprocess(plain, "bayes").interval(0.95)
        covered.append(covers(ends, truth).mean())
        widths.append(np.ptp(ends, axis=1).mean() / np.ptp(plain.interval(0.95), axis=1).mean())
    assert np.mean(covered) >= 0.93
    assert min(covered) >= 0.7
    assert np.mean(widths) < 0.5


@pytest.mark.parametrize(
    "oracle", [fldp.FHR(1.0, 300), fldp.HR(4.0, 300, blocks=4), fldp.IDUE(2.0, 300, budgets=[(0, 1)])]
)
def test_every_kind_of_law_has_a_posterior(oracle):
    truth = np.bincount(np.arange(3000) % 300 // 3, minlength=300)
    plain = oracle.estimate(fldp.simulate(oracle, truth, rng=1))
    repaired = fldp.postprocess(plain, "bayes")
    assert repaired.method == "bayes"
    assert error(repaired, truth) < error(plain, truth)


def test_a_posterior_is_bounded_by_the_reports():
    oracle = fldp.GRR(0.5, 4097)
    plain = oracle.estimate(fldp.simulate(oracle, np.bincount([3] * 300, minlength=4097), rng=1))
    part = plain.basis.evidence[0]
    posterior = Posterior.of(CountNoise(part, plain.counts, plain.stderr), 300 / 4097, 300.0)
    assert posterior.grid.max() <= 300 < plain.counts.max()
    assert 0 <= posterior.moved.min() <= posterior.moved.max() <= 300


def test_public_knowledge_helps_where_it_is_right_and_does_no_harm_where_it_is_wrong():
    """Last month's counts, nearly the same, against the same numbers shuffled; five surveys together."""
    truth, chance = POPULATIONS["zipf"](500).astype(np.int64), np.random.default_rng(1)
    right = truth * chance.uniform(0.9, 1.1, 500)
    wrong = chance.permutation(truth)
    oracle, errors, covered = fldp.OUE(1.0, 500), np.zeros(3), 0.0
    for run in range(5):
        plain = oracle.estimate(fldp.simulate(oracle, truth, rng=run))
        repaired = [fldp.postprocess(plain, "bayes", prior=prior) for prior in (None, right, wrong)]
        errors += [error(each, truth) for each in repaired]
        covered += covers(repaired[1].interval(0.95), truth).mean() / 5
    assert errors[1] < 0.5 * errors[0]
    assert errors[2] < 1.05 * errors[0]
    assert covered >= 0.93
    with pytest.raises(fldp.ParameterError, match="postprocess: prior must be 500 finite numbers, not all of them 0"):
        fldp.postprocess(plain, "bayes", prior=[1.0])
    with pytest.raises(fldp.ParameterError, match="prior must be left out, unless the method is 'bayes', got 'clip'"):
        fldp.postprocess(plain, "clip", prior=right)


@pytest.mark.parametrize("n", [100, 1000, 100_000])
@pytest.mark.long
def test_sums_cover_whichever_values_are_chosen(n):
    """Of 40 surveys 8 misses or more come in 8 of 10,000 where 5 % is true; counts lie in their own intervals."""
    weights = 1 / np.arange(1, 401) ** 1.1
    truth = np.random.default_rng(5).multinomial(n, weights / weights.sum())
    oracle, sets = fldp.OUE(1.0, 400), {"top": range(50), "rarest": range(350, 400), "mixed": range(0, 400, 8)}
    missed = dict.fromkeys(sets, 0)
    for run in range(40):
        shrunk = oracle.estimate(fldp.simulate(oracle, truth, rng=run), method="bayes")
        for name, values in sets.items():
            total = shrunk.sum(values)
            low, high = total.interval(0.95)
            assert low <= total.count <= high
            missed[name] += not low <= truth[values].sum() <= high
    assert max(missed.values()) < 8


def test_posterior_draws_of_chosen_sums_would_not_cover():
    """Why sums keep the error of the unbiased ones: values that somebody chose are not like all others."""
    weights = 1 / np.arange(1, 1024) ** 1.1
    truth = np.floor(200_000 * weights / weights.sum()).astype(np.int64)
    oracle, covered = fldp.OUE(1.0, 1023), {"random": 0, "top": 0, "rarest": 0}
    for run in range(20):
        ((_, prior),) = oracle.estimate(fldp.simulate(oracle, truth, rng=run)).shrunk.parts
        spread = prior.shares @ prior.grid**2 - (prior.shares @ prior.grid) ** 2
        variances = spread[prior.noise.bins[0]]
        sets = {"top": np.arange(100), "rarest": np.arange(923, 1023)}
        sets["random"] = np.random.default_rng(run).choice(1023, 100, replace=False)
        for name, values in sets.items():
            error = abs(prior.means[values].sum() - truth[values].sum())
            covered[name] += error <= 1.96 * np.sqrt(variances[values].sum())
    assert covered["random"] >= 14
    assert covered["top"] + covered["rarest"] <= 8
