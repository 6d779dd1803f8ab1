"""Public functions refuse what they cannot use with one line of their own, never with an error from inside."""

import numpy as np
import pytest

import fldp

ORACLE = fldp.GRR(epsilon=1.0, domain_size=5)
REPORTS = ORACLE.privatize([0, 1, 2] * 10, rng=1)
ESTIMATE = ORACLE.estimate(REPORTS)
WAVE = fldp.Wave(epsilon=1.0, domain_size=16, width=3)
SEVERAL = fldp.questions([2, 3], epsilon=1.0)
NUMBER = {"name": "load", "question": "How long?", "number": {"low": 0, "high": 30}}
SURVEY = fldp.Survey.from_dict({**NUMBER, "oracle": {"epsilon": 1.0}})

OF_AN_ORACLE = {
    "check_oracle": fldp.check_oracle,
    "people_needed": lambda oracle: fldp.people_needed(oracle, 0.1),
    "poison": lambda oracle: fldp.poison(oracle, [0, 1], 5),
    "power_of": lambda oracle: fldp.power_of(oracle, 100, 0.1),
    "shuffled": lambda oracle: fldp.shuffled(oracle, 5000),
    "simulate": lambda oracle: fldp.simulate(oracle, [1] * 5),
}


@pytest.mark.parametrize("name", OF_AN_ORACLE)
@pytest.mark.parametrize(
    ("subject", "message"),
    [
        (None, "None is not an oracle; pass one such as fldp.GRR"),
        ("grr", "'grr' is not an oracle; pass one such as fldp.GRR"),
        (fldp.GRR, "<class 'fldp.oracles.plain.grr.GRR'> is not an oracle; pass one such as fldp.GRR"),
        (SURVEY, "is not an oracle; its attribute oracle is one"),
    ],
    ids=["nothing", "name", "class", "survey"],
)
def test_what_is_not_an_oracle(name, subject, message):
    with pytest.raises(fldp.ParameterError) as refusal:
        OF_AN_ORACLE[name](subject)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fldp.population(7), "population: each group must be an estimate, as oracle.estimate"),
        (lambda: fldp.population([REPORTS]), "population: each group must be an estimate"),
        (lambda: fldp.combine(7), "combine: what is combined must be a list of tallies, reports or estimates, got 7"),
        (lambda: fldp.postprocess(7, "clip"), "postprocess: the estimate must be an estimate"),
        (lambda: fldp.integrity(REPORTS, tally=[]), "integrity: tally must be the tally of the reports"),
        (lambda: fldp.recover(ESTIMATE), "recover: the source must be reports or a tally, got Estimate"),
        (lambda: fldp.recover(REPORTS, targets=1.5), "recover: values must be integers from 0 to 4, got 1.5"),
        (lambda: fldp.audit(ORACLE, values=7), "audit: values must be a list of 2 to 32 values, got 7"),
        (lambda: fldp.heavy_hitters(7, epsilon=1.0), "values must be a collection of strings, got a value"),
        (lambda: fldp.heavy_hitters([["a"]], epsilon=1.0), "a string must be UTF-8 text or bytes, got a value"),
        (lambda: fldp.power_of(ORACLE, 100, "x"), "power: change must be a number between -1 and 1"),
        (lambda: fldp.power_of(ORACLE, 100, 0), "power: change must be a number between -1 and 1, other than 0, got 0"),
        (lambda: fldp.power_of(ORACLE, 100, 0.1, share="x"), "power: share must be a number from 0 to 1, got 'x'"),
        (lambda: fldp.power_of(SEVERAL, 100, 0.1), "power: the oracle must be one for a single question"),
        (lambda: fldp.people_needed(ORACLE, 1e-9, power=0.9), "power: not even 2^53 people are enough"),
        (lambda: ESTIMATE.sum(1.5), "Estimate: values must be integers from 0 to 4, got 1.5"),
        (lambda: ORACLE.variance(-1, 0), "GRR: n must be a number of users, at least 0, got -1"),
        (lambda: ORACLE.variance(float("nan"), 0), "GRR: n must be a number of users, at least 0, got nan"),
        (lambda: ORACLE.variance(10, -1), "GRR: count must be from 0 to n = 10, got -1"),
        (lambda: ORACLE.variance(10, np.array([1, 2, 3, 4, 11])), "GRR: count must be from 0 to n = 10, got array("),
        (lambda: fldp.CMS(epsilon=1.0).variance(10, float("nan")), "CMS: count must be from 0 to n = 10, got nan"),
        (lambda: fldp.shuffled(WAVE, 5000), "Wave: what a crowd adds is not known"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, message):
    with pytest.raises(fldp.FldpError) as refusal:
        call()
    assert message in str(refusal.value)


@pytest.mark.parametrize("epsilon", [710.0, 1e5, 1e308])
def test_a_huge_epsilon(epsilon):
    """Its power of e is more than a float holds."""
    with pytest.raises(fldp.ParameterError, match="too large"):
        fldp.number(epsilon)
    with pytest.raises(fldp.FldpError, match="too large"):
        fldp.Survey.from_dict({**NUMBER, "oracle": {"epsilon": epsilon}})
    assert fldp.audit(lambda value: value, epsilon=epsilon, domain_size=3, samples=200, rng=1).holds


def test_a_sum_of_one_value():
    assert ESTIMATE.sum(3) == ESTIMATE.sum([3])
