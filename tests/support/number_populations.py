"""Five populations of numbers in [0, 1] on which distributions are judged, and the distance of two CDFs."""

import numpy as np

SCALE = {"low": 0.0, "high": 1.0}


def _beta(draw, n):
    return draw.beta(5, 2, n)


def _income(draw, n):
    return np.minimum(draw.lognormal(-1.6, 0.6, n), 1.0)


def _bimodal(draw, n):
    second = draw.random(n) < 0.4
    return np.clip(np.where(second, draw.normal(0.75, 0.05, n), draw.normal(0.3, 0.08, n)), 0, 1)


def _zeros(draw, n):
    return np.where(draw.random(n) < 0.3, 0.0, draw.beta(2, 4, n))


def _uniform(draw, n):
    return draw.random(n)


POPULATIONS = {"beta": _beta, "income": _income, "bimodal": _bimodal, "zeros": _zeros, "uniform": _uniform}


def numbers(name, n, seed=0):
    """Return the numbers of ``n`` people."""
    return POPULATIONS[name](np.random.default_rng(seed), n)


def distances(number, people, bins=None):
    """The mean and the largest distance between the monotone CDF and that of the people, on 4,096 points.

    Ours is linear inside cells. Theirs is exact, or linear inside this many bins: then a spike has a width.
    """
    points = (np.arange(4096) + 0.5) / 4096
    bounds, heights = number.scale.bounds, number._monotone
    jumps = np.arange(len(bounds)) * 1e-12  # so that a value apart is a jump, and not two heights at one place
    ours = np.interp(points, bounds + jumps, heights)
    at = points if bins is None else np.arange(bins + 1) / bins
    theirs = np.searchsorted(np.sort(people), at, side="right" if bins is None else "left") / len(people)
    if bins is not None:
        theirs = np.interp(points, at, np.concatenate([theirs[:-1], [1.0]]))
    apart = np.abs(ours - theirs)
    return float(apart.mean()), float(apart.max())
