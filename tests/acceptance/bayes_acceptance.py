"""Empirical Bayes against norm-sub, on the populations of the paper and on uniform data."""

import os
from itertools import product

import numpy as np
import pytest

import fldp
from fldp.experiments.datasets.population import load
from support.promises import covers, write_table

SHARES = {"zipf": 0.70, "uniform": 0.05, "brown": 0.60, "online": 0.87}
ORACLES = {
    "OUE": lambda epsilon, d: fldp.OUE(epsilon, d),
    "FHR": lambda epsilon, d: fldp.FHR(epsilon, d),
    "FWR, eta 1/2": lambda epsilon, d: fldp.FWR(epsilon, d, eta=0.5),
    "GRR": lambda epsilon, d: fldp.GRR(epsilon, d),
}
RUNS = 3
EPSILONS = (0.4, 1.0, 2.0)
HEAD = "total error, of norm-sub's | top 20, of the unbiased's | norm-sub's top 20 | coverage at 95 %"


def population(name):
    """The counts of a population."""
    if name == "uniform":
        return np.random.default_rng(3).multinomial(593_358, np.full(1023, 1 / 1023))
    return load(name).counts


@pytest.mark.skipif(not os.environ.get("FLDP_DATA"), reason="FLDP_DATA names no folder")
def test_shares_of_the_error_of_norm_sub():
    rows = {key: [row(*key, epsilon) for epsilon in EPSILONS] for key in product(SHARES, ORACLES)}
    write_table("bayes", lines(rows))
    too_much = [key for key, measured in rows.items() if max(each[0] for each in measured) > SHARES[key[0]]]
    uncovered = [key for key, measured in rows.items() if min(each[3] for each in measured) < 0.93]
    assert (too_much, uncovered) == ([], [])


def row(data, name, epsilon):
    """Return the shares of the error, and the coverage, of all runs together."""
    truth = population(data)
    oracle, top = ORACLES[name](epsilon, len(truth)), np.argsort(-truth, kind="stable")[:20]
    error, covered = dict.fromkeys(("unbiased", "bayes", "norm-sub"), 0.0), 0.0
    for run in range(RUNS):
        plain = oracle.estimate(fldp.simulate(oracle, truth, rng=run))
        bayes, repaired = (fldp.postprocess(plain, method) for method in ("bayes", "norm-sub"))
        for each in (plain, bayes, repaired):
            error[each.method] += (each.counts - truth) ** 2
        covered += covers(bayes.interval(0.95), truth).mean() / RUNS
    tops = [error[method][top].sum() / error["unbiased"][top].sum() for method in ("bayes", "norm-sub")]
    return error["bayes"].sum() / error["norm-sub"].sum(), *tops, covered


def lines(rows):
    """The table as Markdown; the figures of a cell are for epsilon 0.4, 1 and 2."""
    yield f"| population | oracle | {HEAD} |"
    yield "|---" * 6 + "|"
    for (data, oracle), measured in rows.items():
        shown = (" / ".join(f"{each[k]:.3g}" for each in measured) for k in range(4))
        yield f"| {data} | {oracle} | {' | '.join(shown)} |"
