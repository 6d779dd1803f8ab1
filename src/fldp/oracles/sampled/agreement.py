"""Agreement: what different views say about the same question differs by noise only, whatever people answer.

Chance puts each person into view ``v`` with probability ``w``, and a decoded report is unbiased. So a report in the
view, over ``w``, less one in any other view, over its ``w``, has mean 0 for every person. Sums of such terms over all
reports are judged by bounds on their variance and size, which hold for every number of people and at every look.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fldp.data.reports import Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.claims import SumsClaim
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.sampled.sampled import Sampled
from fldp.oracles.sampled.views import Block, RecordView

_MOST = 64  # figures of a question that are compared
_CLAIM = "what different views say about a question differs by noise only"


class _Part(NamedTuple):
    """A view with its oracle, its share of all reports, and the tally of its reports."""

    view: RecordView
    member: FrequencyOracle
    share: float
    tally: Tally


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over reports, and how large the term of one report can be: above, below, and the mean of its square."""

    sums: Floats
    squares: Floats
    above: Floats
    below: Floats


def agreement(oracle: Sampled, tally: Tally, shares: Floats) -> SumsClaim | None:
    """Claim that the views of every question agree; None where no two views about a question can be compared."""
    tallies = zip(oracle.design.views, oracle.members, shares, oracle.estimator.split(tally), strict=True)
    known = [_Part(*each) for each in tallies]
    names: list[str] = []
    claims: list[_Sums] = []
    for question in range(len(oracle.answers)):
        parts = [part for part in known if question in part.view.questions and _is_bounded(part.member)]
        if len(parts) < 2:
            continue
        labels, weights = _figures(oracle.answers[question], [part.view for part in parts])
        figures = _sums(weights, question, oracle.answers, parts)
        for place in range(len(parts) if len(parts) > 2 else 1):  # of two, each differs as much from the other
            claims.append(_against_others(figures, place))
            names += [f"question {question}, {each} in view {parts[place].view.label}" for each in labels]
    if not claims:
        return None
    sums, squares, above, below = (
        np.concatenate([getattr(each, part) for each in claims]) for part in ("sums", "squares", "above", "below")
    )
    return SumsClaim("agreement", _CLAIM, sums, tally.n, squares, (above, below), names.__getitem__)


def _is_bounded(member: FrequencyOracle) -> bool:
    """Whether the largest term of a report is known."""
    return analysis(member).fakes_weighing(np.zeros(member.domain_size)) is not None


def _figures(size: int, views: list[RecordView]) -> tuple[list[str], Floats]:
    """Return what is compared, in words and as weights of the answers: their shares, or of numbers their CDF."""
    joined = int(np.lcm.reduce([getattr(view, "joined", 1) for view in views]))
    each = joined * max(1, -(-size // (joined * _MOST)))
    starts = range(0, size, each)
    runs = np.array([np.arange(size) // each == start // each for start in starts], np.float64)
    names = [f"answer {start}" if each == 1 else f"answers from {start} to {start + each - 1}" for start in starts]
    if not all(isinstance(view, Block) for view in views):
        runs, names = np.cumsum(runs, axis=0)[:-1], [f"answers below {start}" for start in starts[1:]]
    return names, runs - runs.mean(axis=1, keepdims=True)


def _sums(weights: Floats, question: int, answers: tuple[int, ...], parts: list[_Part]) -> _Sums:
    """Return the sums of every view, a row each, in which a report counts over the share of its view."""
    rows = np.array([list(_of_view(weights, question, answers, part)) for part in parts])
    return _Sums(*np.moveaxis(rows, 2, 0))


def _of_view(
    weights: Floats, question: int, answers: tuple[int, ...], part: _Part
) -> Iterator[tuple[float, float, float, float]]:
    about, of_answers = analysis(part.member), part.view.project(question, answers)
    decoded = part.member.estimator.decode(part.tally) if part.tally.n else np.zeros(part.view.size)
    for row in weights:
        inside = of_answers @ row / of_answers.sum(axis=1)
        above, below = (plan.best() for side in (1, -1) if (plan := about.fakes_weighing(side * inside)) is not None)
        square = about.largest_square(inside)
        yield float(inside @ decoded) / part.share, square / part.share, above / part.share, below / part.share


def _against_others(figures: _Sums, place: int) -> _Sums:
    """Return the sums of one view less the mean of all others, weighed by how exact they are."""
    factor = -1 / figures.squares
    factor[place] = 0.0
    factor /= -factor.sum(axis=0)
    factor[place] = 1.0
    ends = np.stack([factor * figures.above, -factor * figures.below])
    return _Sums(
        (factor * figures.sums).sum(axis=0),
        (factor**2 * figures.squares).sum(axis=0),
        ends.max(axis=(0, 1)),
        -ends.min(axis=(0, 1)),
    )
