"""Streams of reports about a number, looked at again and again: how often some look is wrong."""

import numpy as np

import fldp
from fldp.data.scale import Scale
from fldp.estimation.number_shares import as_number
from fldp.survey.number import number_oracle

PLANNED, QUANTILE = 1000, 0.5


def misses_of(goal, streams, looks, bins, epsilon=1.0):
    """Count the streams in which an interval misses the truth of those who answered so far, at some look."""
    scale = Scale(0, 1, bins=bins) if goal == "distribution" else Scale(0, 1, goal="mean")
    oracle, generator = number_oracle(scale, epsilon), np.random.default_rng(1)
    missed = dict.fromkeys(("mean", "band", "histogram", "quantile", "one look"), 0)
    for stream in range(streams):
        numbers = generator.beta(5, 2, looks[-1])
        numbers[: (stream % 2) * looks[-1] // 3] = 0.0  # every second one begins with a third of zeros
        cells = scale.encode(numbers, rng=stream) if goal == "mean" else scale.encode(numbers)
        data, wrong = oracle.privatize(cells, rng=10_000 + stream).data, set()
        tally, start = oracle.tally(fldp.Reports(oracle, data[:0])), 0
        for n in looks.tolist():
            tally, start = tally + oracle.tally(fldp.Reports(oracle, data[start:n])), n
            plain = as_number(oracle.estimate(tally), scale)
            wrong |= set(_wrong(plain, np.bincount(cells[:n], minlength=scale.size) / n))
        for figure in wrong:
            missed[figure] += 1
    return missed


def _wrong(plain, truth):
    """Yield the figures whose interval misses the truth."""
    watched, mean = plain.watched(PLANNED), truth @ plain.scale.centres
    for name, value in (("mean", watched.mean()), ("one look", plain.mean())):
        if not value.low <= mean <= value.high:
            yield name
    if plain.scale.goal == "mean":
        return
    heights, band = np.concatenate([[0.0], np.cumsum(truth)]), watched.band()
    if ((heights < band["low"] - 1e-9) | (heights > band["high"] + 1e-9)).any():
        yield "band"
    low, high = watched.histogram().interval(simultaneous=True).T
    if ((truth < low - 1e-9) | (truth > high + 1e-9)).any():
        yield "histogram"
    quantile, place = watched.quantile(QUANTILE), int(np.searchsorted(heights, QUANTILE))
    if not quantile.low <= plain.scale.bounds[place - 1] or not plain.scale.bounds[place] <= quantile.high:
        yield "quantile"
