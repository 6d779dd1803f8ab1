"""More from the same reports: biased, labelled so, and better in total."""

import numpy as np
import pytest

import fldp
from fldp.experiments.datasets.synthetic import zipf
from fldp.oracles.flexible import em
from fldp.oracles.flexible.em import maximum_likelihood
from fldp.oracles.kit import analysis


@pytest.mark.parametrize(
    "oracle",
    [fldp.FHR(1.0, 7), fldp.FWR(1.0, 8, 0.5), fldp.FWR(2.0, 6), fldp.FWR(0.5, 7, 0.25, 1, allow_exposure=True)],
    ids=repr,
)
def test_characters_are_the_law(oracle):
    """The sum of Walsh functions is proportional to the exact probability of the report, for every value."""
    for public in list(analysis(oracle).publics())[::37]:
        laws = [analysis(oracle).law(value, public) for value in range(oracle.domain_size)]
        for outcome in set().union(*laws):
            positions, coefficients = oracle.estimator.characters(
                np.array([oracle.report_format.report(outcome, public)])
            )
            sums = []
            for item in oracle.estimator.items.tolist():
                signs = [(-1) ** (item & place).bit_count() for place in positions[0].tolist()]
                sums.append(1 + float(np.dot(signs, coefficients[0])))
            law = np.array([float(law.get(outcome, 0)) for law in laws])
            assert sums == pytest.approx(law * (sum(sums) / law.sum()), abs=1e-9)


def test_em_climbs_the_likelihood():
    oracle = fldp.FWR(1.0, 16, 0.5)
    reports = oracle.privatize(np.repeat(np.arange(16), np.arange(16) * 20), rng=2)
    positions, coefficients = oracle.estimator.characters(reports.data)
    items = oracle.estimator.items.astype(np.int64)

    def likelihood(counts):
        spectrum = np.array([sum(c * (-1) ** (int(t) & x).bit_count() for c, t in zip(counts, items, strict=True))
                             for x in range(16)]) / len(reports)  # fmt: skip
        return np.log(1 + (coefficients * spectrum[positions.astype(np.int64)]).sum(axis=1)).sum()

    start, fits = np.full(16, len(reports) / 16), []
    for steps in (1, 2, 5, 20, 100):
        counts, _ = maximum_likelihood(oracle.estimator, reports, start, most=steps, tolerance=0)
        assert counts.min() >= 0
        assert counts.sum() == pytest.approx(len(reports))
        fits.append(likelihood(counts))
    assert fits == sorted(fits)


@pytest.mark.parametrize("oracle", [fldp.FWR(1.0, 1023, 0.5), fldp.FHR(1.0, 1023)], ids=repr)
def test_em_on_the_zipf_population(oracle):
    """The squared error of all values together is less than a third of the linear estimate's; a tenth was seen."""
    values = zipf()[:20_000]
    estimate = oracle.estimate(oracle.privatize(values, rng=3), method="em")
    truth = np.bincount(values, minlength=1023)
    errors = [float(((each.counts - truth) ** 2).sum()) for each in (estimate, estimate.original)]
    assert errors[0] <= errors[1] / 3
    assert estimate.convergence.converged


@pytest.mark.long
def test_em_ends_at_the_maximum():
    """Judged by a bound that holds for any counts, and by many steps of plain EM from another start."""
    oracle = fldp.FWR(1.0, 200, 0.5)
    truth = np.bincount(np.minimum(zipf()[:20_000], 199), minlength=200)
    reports = oracle.privatize(np.repeat(np.arange(200), truth), rng=3)
    steps = []
    estimate = em.estimate_by("em", oracle.estimator, reports, {}, steps.append)
    assert estimate.convergence.converged
    assert estimate.convergence.iterations == len(steps)
    assert 0 <= estimate.convergence.change <= 1
    assert (estimate.method, estimate.biased, estimate.original.biased) == ("em", True, False)
    walsh, shares = oracle.estimator, np.full(200, 1 / 200)
    for _ in range(100):
        shares = em._climb(walsh, reports, shares).step
    at = [em._climb(walsh, reports, each) for each in (estimate.counts / 20_000, shares)]
    assert at[0].likely >= at[1].likely - estimate.convergence.change
    start = em._climb(walsh, reports, fldp.postprocess(estimate.original, "norm-sub").counts / 20_000)
    assert at[0].likely > start.likely, "norm-sub is not the maximum"
    assert em.point_gap(start, 20_000) > 1


def test_adaptive_weights_help_frequent_values():
    """A value that 80 % hold: over 400 runs the mean squared error falls well below that of the linear estimate."""
    oracle = fldp.FWR(1.0, 16, 0.5)
    counts = np.zeros(16, np.int64)
    counts[3], counts[5] = 800, 200
    reports = oracle.privatize(np.tile(np.repeat(np.arange(16), counts), 400), rng=5)
    errors = {"linear": [], "adaptive": []}
    for k in range(400):
        tally = oracle.tally(reports[1000 * k : 1000 * (k + 1)])
        for method, measured in errors.items():
            measured.append(oracle.estimate(tally, method=method).counts[3] - 800)
    linear, adaptive = (np.mean(np.square(errors_by_run)) for errors_by_run in errors.values())
    assert adaptive < 0.8 * linear


def test_bad_use():
    oracle = fldp.FWR(1.0, 16, 0.5)
    tally = oracle.tally(oracle.privatize([1, 2, 3]))
    with pytest.raises(fldp.ParameterError, match="FWR: method 'em' needs the reports; a tally does not have them"):
        oracle.estimate(tally, method="em")
    with pytest.raises(fldp.ParameterError, match="one of 'linear', 'adaptive', 'em', 'bayes', got 'best'"):
        oracle.estimate(tally, method="best")
    with pytest.raises(fldp.ParameterError, match="GRR: method must be one of 'linear', 'bayes', got 'em'"):
        fldp.GRR(1.0, 5).estimate(fldp.GRR(1.0, 5).tally(np.zeros(1, np.uint8)), method="em")
