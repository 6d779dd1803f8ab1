"""Every case of the table, through every generic check."""

import numpy as np
import pytest

import fldp
from fldp.conformance.checks import CHECKS, check_law, check_likelihoods, check_moments, check_privacy
from fldp.oracles.kit import analysis
from fldp.privacy.verifier import shrink
from support import cases, naive

EVERY = {**cases.CASES, **cases.STRING_CASES}
each_case = pytest.mark.parametrize(("family", "oracle"), EVERY.values(), ids=EVERY)


OF_SMALL = (check_privacy, check_law, check_likelihoods, check_moments)  # these look at few values of a large domain


def conformance():
    """Every check of every oracle, a test for each oracle; of large domains that are one small domain, once.

    Estimates are simulated for every other case: their laws and variances are exact in all of them.
    """
    seen = set()
    for number, (name, (_, oracle)) in enumerate(EVERY.items()):
        exempt = (*cases.EXEMPT.get(oracle.name, ()), *(["check_estimates"] if number % 2 else []))
        checks = [check for check in CHECKS if check.__name__ not in exempt]
        subjects = {check: (check, shrink(oracle) if check in OF_SMALL else oracle) for check in checks}
        yield pytest.param([check for check in checks if subjects[check] not in seen], oracle, id=name)
        seen.update(subjects.values())


@pytest.mark.parametrize(("checks", "oracle"), list(conformance()))
@pytest.mark.long
def test_conformance(checks, oracle):
    for check in checks:
        check(oracle, seed=20260)


@each_case
def test_equals_naive_loops(family, oracle):
    """Bit for bit the same reports from the same words, and the same estimates from those."""
    users = 200 if oracle.domain_size <= 65 else 12
    values = np.random.default_rng(3).integers(0, oracle.domain_size, users)
    values[0], values[1] = 0, oracle.domain_size - 1
    words = fldp.Stream(11).words(users * oracle.words)
    expected = naive.privatize(oracle, values.tolist(), words)
    reports = oracle.privatize(values, rng=11)
    assert [oracle.report_format.outcome(row) for row in reports.data] == expected
    tally = oracle.tally(reports)
    for options in [{}, *({"decoder": decoder} for decoder in oracle.estimator.decoders)]:
        counts = oracle.estimate(tally, **options).counts
        np.testing.assert_allclose(counts, naive.estimate(oracle, expected, **options), rtol=1e-9, atol=1e-7)


def enumerated_law(family, oracle, value):
    """The law of the code: what it answers at both ends of every region of its words, weighed by their size."""
    law, public = {}, None
    for rows, share in family.atoms(oracle, value):
        words = np.array(rows, np.uint64)
        out = oracle.report_format.empty(len(rows))
        oracle.perturb(np.full(len(rows), value), words, out)
        outcomes = {oracle.report_format.outcome(row) for row in out}
        assert len(outcomes) == 1, f"words {rows} are in one region but give {outcomes}"
        public, outcome = outcomes.pop()
        law[outcome] = law.get(outcome, 0) + share
    return public, law


@pytest.mark.parametrize(
    ("family", "oracle"),
    [pytest.param(*case, id=name) for name, case in EVERY.items() if case[1].domain_size <= case[0].enumerate_to],
)
def test_law_by_enumeration(family, oracle):
    for value in sorted({0, 1, oracle.domain_size // 2, oracle.domain_size - 1}):
        public, law = enumerated_law(family, oracle, value)
        assert sum(law.values()) == 1
        assert law == analysis(oracle).law(value, public)


def test_every_oracle_has_a_row():
    assert {oracle.name for _, oracle in EVERY.values()} | {*cases.OF_RECORDS} == set(fldp.oracles.names())
