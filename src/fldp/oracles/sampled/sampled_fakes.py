"""Fakes among the reports of ``Sampled``: they choose what a report is about, and what it says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fldp.data.reports import Array
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.numbered_strategy import Numbered
from fldp.oracles.base.strategy import Generator, Strategy, TargetCells
from fldp.oracles.sampled.effects import Effects
from fldp.oracles.sampled.sampled import Sampled
from fldp.oracles.sampled.views import Block
from fldp.oracles.tagged import split_tags


@dataclass(frozen=True, eq=False)
class ViewFakes(Strategy):
    """The best reports of every view, where a report of a view that is drawn with share ``w`` counts ``1/w`` times.

    The estimated share of some cells is a constant plus a sum over the decoded shares of all views, each a mean over
    the people in the view. So the fewer these are, the more one of them counts. Worths hold for a few fakes among
    many people: fakes that crowd into a view become many of its people, and each of them counts for less.
    """

    oracle: Sampled
    constant: float
    shares: Floats  # of the views
    parts: Sequence[Strategy]

    @property
    def _any_view(self) -> Numbered:
        return Numbered(self.oracle, self.parts, self.oracle._tagged.join)

    def best(self) -> float:
        return self.constant + self._any_view.best()

    def craft(self, count: int, generator: Generator) -> Array:
        return self._any_view.craft(count, generator)

    def blind_mean(self) -> float:
        return self.constant + self._any_view.blind_mean()

    def blind(self, count: int, generator: Generator) -> Array:
        return self._any_view.blind(count, generator)

    def best_given(self, data: Array) -> Array:
        """Keep the views, and masks where these are public, too."""
        reports, generator = np.empty_like(data), np.random.Generator(np.random.PCG64(0))
        for view, rows in split_tags(self.oracle._tagged.tags(data)):
            part = self.parts[view]
            if self._decides_all:
                best = part.best_given(self.oracle._tagged.unpack(view, data[rows])[0])
            else:
                best = part.craft(len(rows), generator)
            reports[rows] = self.oracle._tagged.join(view, best)
        return reports

    @property
    def _decides_all(self) -> bool:
        """Whether a ticket decides more of a report than its view."""
        return self.oracle.report_format.public_words > 1

    def best_on_average(self) -> float:
        each = (part.best_on_average() if self._decides_all else part.best() for part in self.parts)
        return self.constant + float(self.shares @ np.fromiter(each, np.float64))


def view_fakes(oracle: Sampled, cells: TargetCells, shares: Floats) -> ViewFakes | None:
    """Return the fakes that promote cells of a table; None where the best reports of a view are not known."""
    questions = tuple(sorted(cells))
    _check_together(oracle, questions)
    effects = Effects(oracle.answers, oracle.design.views, oracle.members, oracle.design.weights)
    constant, maps = effects.maps(questions, wanted(oracle, cells)[None])
    parts = list(_parts(oracle, {view: rows[0] for view, rows in maps.items()}, shares))
    known = [part for part in parts if part is not None]
    return ViewFakes(oracle, float(constant[0]), shares, known) if len(known) == len(parts) else None


def wanted(oracle: Sampled, cells: TargetCells) -> Floats:
    """Return the table of these questions: 1 in the cells that are promoted, else 0."""
    questions = sorted(cells)
    table = np.zeros([oracle.answers[question] for question in questions])
    table[np.ix_(*(list(cells[question]) for question in questions))] = 1.0
    return table


def _parts(oracle: Sampled, maps: dict[int, Floats], shares: Floats) -> Iterator[Strategy | None]:
    for view, member in enumerate(oracle.members):
        weights = maps.get(view, np.zeros(member.domain_size))
        yield analysis(member).fakes_weighing(weights / shares[view])


def _check_together(oracle: Sampled, questions: tuple[int, ...]) -> None:
    blocks = [view for view in oracle.design.views if isinstance(view, Block)]
    if len(questions) > 1 and not any(set(questions) <= set(view.questions) for view in blocks):
        names = " and ".join(map(str, questions))
        raise ParameterError(f"poison: questions {names} are not asked together in any view")
