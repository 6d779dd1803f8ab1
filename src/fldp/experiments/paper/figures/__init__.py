"""The figures of the reproduction, by name: what each shows, and the function of the evidence that draws it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fldp.experiments.paper.evidence import Evidence
from fldp.experiments.paper.figures import attack_against_error, bars, curves, etas, grids
from fldp.presentation.plot import Figure

__all__ = ["PICTURES", "Picture"]


@dataclass(frozen=True)
class Picture:
    """A figure: its name, which its files share, what it shows, and how it is drawn."""

    name: str
    caption: str
    draw: Callable[[Evidence], Figure]


def _of_paper(metric: str, number: int) -> Picture:
    caption = f"Figure {number} of the paper, {grids.NAMES[metric].lower()}: OUE, OLH, and FHR as published."
    return Picture(metric, caption, partial(grids.published, metric=metric))


def _extended(metric: str) -> Picture:
    caption = (
        f"{grids.NAMES[metric]} again, with FHR's full decoder and FWR at eta 1/2, and with FWR at eta 1 and PGR, "
        "the best plain LDP."
    )
    return Picture(f"{metric}-extended", caption, partial(grids.extended, metric=metric))


_VARIANCE = (
    "Variance against epsilon. FHR as published is below OUE up to epsilon 1.76. The full decoder of the same reports "
    "and FWR at the same eta are below both in the paper's whole range. Solid lines are plain LDP."
)
_USERS = "Error against users: for all of them it falls as one over the root of the users."
_ETA = (
    "Error against eta, the least share of reports that two values have in common. With each halving of it a report "
    "rules out half of the values that were left, for certain."
)
_COSTS = "The complexity table, measured: bits of a report, time of the client, time of the server."
_ATTACK = (
    "The fair comparison: what an attacker gets from one report against the error that it buys, for all oracles. Which "
    "notion is ahead depends on what the attacker knows already. One who knows the population guesses its most "
    "frequent value anyway, so the right panel says little about rare values. Grouped is OUE inside eight groups."
)

PICTURES: dict[str, Picture] = {
    picture.name: picture
    for picture in (
        *(_of_paper(metric, number) for number, metric in enumerate(grids.NAMES, 2)),
        *(_extended(metric) for metric in grids.NAMES),
        Picture("variance", _VARIANCE, curves.variance),
        Picture("users", _USERS, curves.users),
        Picture("eta", _ETA, etas.eta),
        Picture("costs", _COSTS, bars.costs),
        Picture("attack", _ATTACK, attack_against_error.attack),
    )
}
