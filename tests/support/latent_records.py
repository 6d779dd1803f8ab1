"""People whose answers to all questions go together a little, and how far tables are from what they hold."""

import numpy as np


def latent(n, questions, answers, seed):
    """People in three classes, each with its own shares, from Dirichlet(1/2): every pair goes together a little."""
    rng = np.random.default_rng(seed)
    kind, shares = rng.integers(0, 3, n), rng.dirichlet(np.full(answers, 0.5), (3, questions))
    cumulated = np.cumsum(shares, axis=2)[kind][:, :, :-1]
    return (rng.random((n, questions))[:, :, None] > cumulated).sum(axis=2)


def table(rows, a, b, answers):
    """Return the true shares of two questions together."""
    shares = np.zeros((answers, answers))
    np.add.at(shares, (rows[:, a], rows[:, b]), 1 / len(rows))
    return shares


def square_error(tables, rows, answers):
    """Return the mean square error of the cells of all pairs, times the number of people."""
    errors = [((tables.shares((a, b)) - table(rows, a, b, answers)) ** 2).mean() for a, b in tables.crosses]
    return float(np.mean(errors)) * len(rows)
