"""Oracles that define or read members under the names from before oracles were small."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import fldp
from fldp.oracles.kit import FrequencyOracle, ReportFormat, StringOracle, Supports, analysis, symbols
from support import cases, defects
from support.former_oracle import Shy

EVERY = (*cases.CASES.values(), *cases.STRING_CASES.values())
OLD = (
    ("report_dtype", lambda oracle: oracle.report_format.dtype),
    ("report_shape", lambda oracle: oracle.report_format.shape),
    ("field_bits", lambda oracle: tuple(oracle.report_format.widths.tolist())),
    ("field_widths", lambda oracle: oracle.report_format.widths),
    ("check", lambda oracle: oracle.report_format.check),
    ("outcome", lambda oracle: oracle.report_format.outcome),
    ("report", lambda oracle: oracle.report_format.report),
    ("public_words", lambda oracle: oracle.report_format.public_words),
    ("tally_shape", lambda oracle: oracle.tally_format.shape),
    ("check_state", lambda oracle: oracle.tally_format.check),
    ("mean_variance", lambda oracle: oracle.estimator.mean_variance),
    ("variances", lambda oracle: oracle.estimator.variances),
    ("least_variances", lambda oracle: oracle.estimator.least_variances),
    ("covariance_of_sum", lambda oracle: oracle.estimator.covariance_of_sum),
    ("draw_state", lambda oracle: oracle.estimator.draw_state),
)


@pytest.mark.parametrize(("name", "new"), OLD, ids=lambda item: item if isinstance(item, str) else "")
def test_old_reads_work_and_name_the_replacement(name, new):
    oracle = fldp.OLH(1.0, 9)
    with pytest.warns(
        DeprecationWarning, match=rf"Oracle\.{name} moved: oracle\.(report_format|tally_format|estimator)\."
    ):
        assert np.all(getattr(oracle, name) == new(oracle))


@pytest.mark.parametrize(
    ("oracle", "name"),
    [
        (fldp.SS(1.0, 9), "size"),
        (fldp.OLH(1.0, 9), "symbols"),
        (fldp.FHR(1.0, 9), "rows"),
        (fldp.HRR(1.0, 9), "parities"),
        (fldp.CMS(1.0), "response"),
        (fldp.RAPPOR(1.0, 2.0), "design"),
        (fldp.Sampled(1.0, answers=(2, 3), views=1), "combinations"),
    ],
    ids=str,
)
def test_internals_are_read_under_their_old_names_with_a_warning(oracle, name):
    with pytest.warns(DeprecationWarning, match=rf"{oracle.title}\.{name} is internal"):
        assert getattr(oracle, name) is not None
    assert name not in dir(oracle)


def test_what_never_existed_is_an_error():
    with pytest.raises(AttributeError, match="'GRR' object has no attribute 'nothing'"):
        _ = fldp.GRR(1.0, 3).nothing
    with pytest.raises(AttributeError, match="'GRR' object has no attribute 'rows'"):
        _ = fldp.GRR(1.0, 3).rows
    with pytest.raises(ImportError, match=r"symbols\(\.\.\.\)"):
        from fldp.oracles.kit import SymbolOracle  # noqa: F401


def test_a_class_of_old_members_has_formats():
    oracle = defects.Subset(1.0, 5)
    layout = oracle.report_format
    assert (layout.dtype, layout.shape, layout.fields, layout.bits) == (np.uint8, (2,), ((8, 1), (8, 1)), 16)
    assert layout is oracle.report_format
    assert layout.outcome(layout.report((1, 3))) == (None, (1, 3))
    assert layout.check(np.array([[1, 3], [3, 1]])).tolist() == [True, False]
    assert pickle.loads(pickle.dumps(oracle)) == oracle
    assert oracle.tally_format.shape == (5,)


def test_a_class_may_change_a_part_of_what_it_inherits():
    class Wide(fldp.GRR):
        report_dtype = np.uint32

        def check_state(self, state, n):
            return n < 5

    oracle = Wide(1.0, 5)
    assert oracle.report_format.dtype == np.uint32
    assert oracle.report_format.bits == 3
    assert oracle.privatize([1, 2]).data.dtype == np.uint32
    with pytest.raises(fldp.DomainError, match="no 5 reports add up"):
        fldp.Tally(oracle, np.array([5, 0, 0, 0, 0]), 5)


def test_an_overridden_statistic_reaches_the_estimator():
    class Doubled(fldp.GRR):
        def variance(self, n, count, **options):
            return 2 * super().variance(n, count, **options)

        def draw_state(self, counts, generator):
            return None

    plain, oracle, tally = fldp.GRR(1.0, 3), Doubled(1.0, 3), np.array([50, 30, 20])
    assert oracle.variance(9, 3) == oracle.estimator.variance(9, 3) == 2 * plain.variance(9, 3)
    assert oracle.estimator.mean_variance(9) == 2 * plain.estimator.mean_variance(9)
    errors = [each.estimate(fldp.Tally(each, tally, 100)).stderr for each in (oracle, plain)]
    np.testing.assert_allclose(errors[0], 2**0.5 * errors[1])
    assert oracle.estimator.draw_state(tally, np.random.default_rng(1)) is None
    assert fldp.simulate(oracle, tally, rng=1).n == 100


def test_too_few_old_members_are_an_error_that_names_the_format():
    @dataclass(frozen=True, repr=False)
    class Half(fldp.GRR):
        report_format = symbols(3)

    class Incomplete(FrequencyOracle):
        report_dtype = np.dtype(np.uint8)

    assert Half(1.0, 5).report_format.bits == 2
    with pytest.raises(NotImplementedError, match="Incomplete: define report_format, tally_format, words, perturb"):
        _ = Incomplete(1.0, 5).tally_format
    with pytest.raises(TypeError, match=r"Incomplete: define report_format, a ReportFormat; it lacks fields, check"):
        _ = Incomplete(1.0, 5).report_format


@pytest.mark.parametrize(
    "oracle", {oracle.name: oracle for _, oracle in EVERY}.values(), ids=lambda oracle: oracle.name
)
def test_a_format_agrees_with_itself(oracle):
    layout = oracle.report_format
    assert isinstance(layout, ReportFormat)
    assert layout.bits == int(layout.widths.sum()) == oracle.report_format.bits
    data = oracle.privatize([0] * 3, rng=1).data
    assert data.nbytes == 3 * layout.nbytes
    assert layout.check(data).all()
    for row in data:
        public, outcome = layout.outcome(row)
        assert np.array_equal(layout.report(outcome, public), row)


def test_an_oracle_in_the_form_of_before_works():
    oracle = Shy(epsilon=1.0, domain_size=5, parts=2)
    fldp.check_oracle(oracle)
    about = analysis(oracle)
    assert about.law(2) == oracle.law(2)
    assert about.outcomes == 5
    assert isinstance(oracle.estimator, Supports)
    assert [finding.test for finding in fldp.integrity(oracle.privatize([0] * 50, rng=1)).findings] == ["supports"]
    assert fldp.verify(oracle).epsilon == pytest.approx(0.5, abs=1e-6)


def test_a_string_oracle_in_the_form_of_before_is_told_what_to_define():
    class Former(StringOracle):
        def fit(self, tally, marks, **options):
            raise AssertionError

    Former.params = {"epsilon": fldp.CMS.params["epsilon"]}
    with pytest.raises(NotImplementedError, match="Former: define estimator, a StringEstimator with fit, variance"):
        _ = Former(1.0).estimator
