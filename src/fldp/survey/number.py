"""The table ``number`` of a survey: what a number may be, and the oracle that asks for it.

A person writes the range, and an epsilon. The rest is planned once, when the survey is read for the first time: its
canonical form names the cells, the views and their weights, so the version pins them and no client plans.
"""

from collections.abc import Mapping

from fldp.data.scale import MEAN, Scale, scale_of
from fldp.estimation.number_planner import mean_width, number_views, weights_of
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


def number_oracle(scale: Scale, epsilon: float) -> Oracle:
    """Return the oracle that asks for a number: one wide wave for a mean, views of the cells for a distribution.

    >>> number_oracle(Scale(0, 1, goal="mean"), 1.0)
    Wave(epsilon=1.0, domain_size=256, width=128)
    >>> number_oracle(Scale(0, 1), 1.0)
    Sampled(epsilon=1.0, answers=[32], views=[[0], ['wave', 0, 5]], weights=[1843, 2253])
    """
    if scale.goal == MEAN:
        return Wave(epsilon=epsilon, domain_size=scale.size, width=mean_width(epsilon, scale.size))
    views, shares = zip(*number_views(0, scale.size, epsilon), strict=True)
    entries, weights = tuple(map(tuple, views)), tuple(weights_of(shares))
    return Sampled(epsilon=epsilon, answers=(scale.size,), views=entries, weights=weights)


def suits(oracle: Oracle, scale: Scale) -> bool:
    """Whether an oracle that a survey names asks for the cells of its number, or for its points."""
    if isinstance(oracle, Sampled):
        return oracle.answers == (scale.size,) and scale.goal != MEAN
    return isinstance(oracle, Wave) and oracle.domain_size == scale.size
