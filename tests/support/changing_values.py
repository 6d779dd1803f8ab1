"""People who report every day about values that change: the errors of the estimates of each day."""

import numpy as np

import fldp

CHANGES = 0.2  # the share of people who draw another value each day


def day_errors(oracle, people, runs, days):
    """Return for each day the mean squared error of all estimated counts, divided by the variance of the formula.

    Values follow a Zipf-like population. What people keep is drawn once in a run.
    """
    d = oracle.domain_size
    shares = 1 / np.arange(1, d + 1)
    squared = np.zeros(days)
    for run in range(runs):
        chance, stream = np.random.default_rng(run), fldp.Stream(run)
        held = chance.choice(d, people, p=shares / shares.sum())
        kept = oracle.memoization.keep(people, rng=stream.child("kept"))
        for day in range(days):
            changed = chance.random(people) < CHANGES
            held = np.where(changed, chance.choice(d, people, p=shares / shares.sum()), held)
            counts = np.bincount(held, minlength=d)
            estimate = oracle.estimate(oracle.memoization.respond(kept, held, rng=stream.child("day", day)))
            squared[day] += ((estimate.counts - counts) ** 2 / oracle.variance(people, counts)).mean() / runs
    return squared
