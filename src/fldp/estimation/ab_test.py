"""A test of one value that was named beforehand, among all that a comparison has."""

from dataclasses import replace

import numpy as np

from fldp.data.anytime_intervals import AnytimeComparison, AnytimeSide
from fldp.data.comparison import Comparison
from fldp.data.values import as_values


def only(change: Comparison, value: int) -> Comparison:
    """Return the comparison of one value alone: it pays nothing for the others. Name it before you look.

    >>> change = Comparison(np.array([0.0, 0.03]), np.array([0.01, 0.0145]))
    >>> change.significant(), only(change, 1).significant()
    (array([False, False]), array([ True]))
    """
    place = int(as_values("compare", value, len(change.difference), secret=False)[0])
    kept = slice(place, place + 1)
    degrees = change.degrees[kept] if isinstance(change.degrees, np.ndarray) else change.degrees
    alone = replace(
        change,
        difference=change.difference[kept],
        stderr=change.stderr[kept],
        degrees=degrees,
        shares=None if change.shares is None else (change.shares[0][kept], change.shares[1][kept]),
        labels=None if change.labels is None else change.labels[kept],
        jump=np.broadcast_to(change.jump, change.difference.shape)[kept],
        slope=np.broadcast_to(change.slope, change.difference.shape)[kept],
    )
    if isinstance(alone, AnytimeComparison):
        return replace(alone, sides=tuple(_one_side(side, kept) for side in alone.sides))
    return alone


def _one_side(side: AnytimeSide, kept: slice) -> AnytimeSide:
    start, jump = (np.broadcast_to(each, side.variances.shape)[kept] for each in (side.start, side.jump))
    return replace(side, variances=side.variances[kept], start=start, jump=jump)
