"""The table ``number`` of a survey: what a number may be, and the oracle that asks for it.

A person writes the range, and an epsilon. The rest is planned once, when the survey is read for the first time: its
canonical form names the cells, the views and their weights, so the version pins them and no client plans.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from fldp.data.scale import DISTRIBUTION, MEAN, Scale, scale_of
from fldp.estimation.number_planner import WEIGHTS, number_oracle, number_views
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.plain.wave import Wave
from fldp.oracles.sampled.sampled import Sampled
from fldp.support.validation import MistakeList, Path, positive

NUMBER, SAMPLED = "number", Sampled.name


def check_number(path: Path, table: object, mistakes: MistakeList) -> Scale | None:
    """Return the scale of a table, or None with its mistakes noted."""
    return mistakes.attempt(lambda: scale_of(table), path)


def planned(table: Mapping[str, object], scale: Scale, mistakes: MistakeList) -> Oracle | None:
    """Return the oracle of a number whose survey names an epsilon alone."""
    mistakes.unknown(("oracle",), table, {"epsilon"}, "given for a number, but epsilon, unless a name is, too")
    epsilon = mistakes.check(("oracle", "epsilon"), positive, table.get("epsilon"))
    if epsilon is None or mistakes:
        return None
    return mistakes.attempt(lambda: number_oracle(scale, epsilon), ("oracle",))


def pinned(table: Mapping[str, Any], scale: Scale, mistakes: MistakeList) -> Oracle | None:
    """Return the oracle of a distribution as a version names it: its base, views and weights."""
    mistakes.unknown(("oracle",), table, {"name", "epsilon", "base", "views", "weights", "eta"}, "given for a number")
    for name in ("epsilon", "views"):
        if name not in table:
            mistakes.note(("oracle", name), f"oracle.{name} is missing")
    if scale.goal == MEAN:
        mistakes.add(("oracle", "name"), f"{Wave.name!r}, or left out, where the goal is the mean", table["name"])
    if mistakes:
        return None
    parameters = {name: value for name, value in table.items() if name != "name"}
    return mistakes.attempt(lambda: Sampled(answers=(scale.size,), **parameters), ("oracle",))


def with_waves(oracle: Sampled, numbers: Collection[int]) -> Sampled:
    """Return an oracle whose views of single numbers are partly waves.

    >>> oracle = Sampled(epsilon=1.0, answers=(32, 4), views=((0,), (1,), (0, 1)), weights=(1000, 1000, 2096))
    >>> with_waves(oracle, [0]).design.entries, with_waves(oracle, [0]).design.weights
    ([[0], ['wave', 0, 5], [1], [0, 1]], (450, 550, 1000, 2096))
    """
    views: list[tuple[str | int, ...]] = []
    weights: list[int] = []
    times = 1 if oracle.weights else WEIGHTS  # equal weights are 1 each, which cannot be split
    for entry, weight in zip(oracle.design.entries, oracle.design.weights, strict=True):
        parts: list[tuple[list[int | str], float]] = [(list(entry), 1.0)]
        if len(entry) == 1 and entry[0] in numbers:
            question = int(entry[0])
            parts = number_views(question, oracle.answers[question], oracle.epsilon)
        views += [tuple(part) for part, _ in parts]
        weights += [max(1, round(times * weight * share)) for _, share in parts]
    return replace(oracle, views=tuple(views), weights=tuple(weights))


def number(epsilon: float, *, bins: int | None = None, goal: str = DISTRIBUTION) -> Oracle:
    """Return the oracle that a survey of a number uses, for its distribution over cells or for its mean.

    The values are the numbers of the cells, from 0 on; for a mean, the points of the range, both ends included.

    >>> number(epsilon=1.0, bins=16)
    Sampled(epsilon=1.0, answers=[16], views=[[0], ['wave', 0, 3]], weights=[1843, 2253])
    """
    scale = Scale(0, 1, bins=bins, goal=goal)
    return number_oracle(scale, positive("number", "epsilon", epsilon))


def suits(oracle: Oracle, scale: Scale) -> bool:
    """Whether an oracle that a survey names asks for the cells of its number, or for its points."""
    return oracle.name == Wave.name and analysis(oracle).domain_size == scale.size
