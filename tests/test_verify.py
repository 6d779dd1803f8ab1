from fractions import Fraction

import pytest

import fldp
from fldp import verify
from fldp.thresholds import exp_lower


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.0])
@pytest.mark.parametrize("make", [fldp.GRR, fldp.SUE, fldp.OUE, fldp.OLH, fldp.SS, fldp.HR, fldp.PGR])
def test_plain_ldp(make, epsilon):
    found = verify(make(epsilon, 5))
    assert found.holds
    assert 0.999 * epsilon <= found.epsilon <= epsilon
    assert (found.eta, found.eta_mass, found.delta, found.anonymity) == (1, 1, 0, 5)


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 8, 12, 15])
@pytest.mark.parametrize("items", ["spread", "paper"])
def test_fhr(size, items):
    """(eps, 1/2) by cardinality and by mass, delta 1/2 as ordinary LDP, and the anonymity in closed form."""
    oracle = fldp.FHR(1.0, size, items=items, allow_exposure=True)
    found = verify(oracle)
    assert found.holds
    assert (found.eta, found.eta_mass, found.delta) == (Fraction(1, 2),) * 3
    assert found.anonymity == oracle.anonymity
    assert found.epsilon == 1.0


def test_range_sizes_are_those_of_the_design():
    laws = [fldp.FHR(1.0, 7).law(value) for value in range(7)]
    assert {len(law) for law in laws} == {8 * 8 // 2}
    assert len(laws[1].keys() & laws[4].keys()) == 8 * 8 // 4


def test_the_witness_attains_the_ratio():
    oracle = fldp.OLH(1.0, 4)
    seen = verify(oracle).witness
    one, two = oracle.law(seen.value, seen.public), oracle.law(seen.other, seen.public)
    assert one[seen.report] / two[seen.report] == seen.ratio == verify(oracle).ratio


def test_randomized_response_with_a_random_answer_is_not_what_we_do():
    """The paper's literal text, a uniform answer with probability 1-p, would have epsilon 1.86 at a declared 1."""

    class Literal(fldp.RR):
        def law(self, value, public=None):
            random = (1 - self.p) / 2
            return {value: self.p + random, 1 - value: random}

    found = verify(Literal(1.0))
    assert found.epsilon == pytest.approx(1.86, abs=0.005)
    assert not found.holds


def test_a_mechanism_that_publishes_has_no_anonymity():
    class Publish(fldp.GRR):
        def law(self, value, public=None):
            return {value: Fraction(1)}

    found = verify(Publish(1.0, 4))
    assert (found.eta, found.eta_mass, found.delta, found.anonymity, found.holds) == (0, 0, 1, 1, False)
    assert found.epsilon == 0.0


def test_epsilon_is_rounded_up():
    found = verify(fldp.RR(1.0))
    assert found.ratio < exp_lower(1.0)
    assert found.epsilon == 1.0


@pytest.mark.parametrize(
    "oracle",
    [
        fldp.OUE(1.0, 64),
        fldp.SS(1.0, 64),
        fldp.SS(1.0, 30),
        fldp.HR(1.0, 1025),
        fldp.FHR(1.0, 1023),
        fldp.GRR(1.0, 5000),
    ],
    ids=str,
)
def test_large_domains_are_refused(oracle):
    with pytest.raises(fldp.ParameterError, match="a law is enumerated for small domains only"):
        verify(oracle)
    with pytest.raises(fldp.ParameterError, match="a law is enumerated for small domains only"):
        oracle.law(0)


@pytest.mark.parametrize("value", [-1, 7, 1.0, "a", None])
@pytest.mark.parametrize("oracle", [fldp.GRR(1.0, 7), fldp.OUE(1.0, 7), fldp.FHR(1.0, 7), fldp.HR(1.0, 7)], ids=str)
def test_only_values_have_a_law(oracle, value):
    with pytest.raises(fldp.DomainError, match="values must be integers from 0 to 6"):
        oracle.law(value)


def test_a_conditional_law_needs_its_condition():
    with pytest.raises(
        fldp.ParameterError, match="OLH: public must be the seed that the law is conditional on, got None"
    ):
        fldp.OLH(1.0, 4).law(0)
