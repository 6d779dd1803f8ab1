"""Error against eta, and what a smaller eta gives to an attacker."""

from fractions import Fraction
from typing import Any

from fldp.experiments.paper.evidence import Evidence
from fldp.experiments.paper.figures import theory
from fldp.experiments.paper.figures.series import looks
from fldp.presentation.figure_style import Look, above, legend, logarithmic, named, titled
from fldp.presentation.plot import INK, Figure, figures

MARKS = ("o", "s", "D", "^", "v")


def eta(evidence: Evidence) -> Figure:
    """Draw the error of FWR against eta with FHR beside it, and how much better one report lets an attacker guess."""
    figure, (left, right) = figures(10.4, 4.9, 2, above=above(1))
    every = looks(evidence.etas)
    for epsilon, mark in zip(evidence.evaluation.etas.epsilons, MARKS, strict=False):
        for series, look in every.items():
            left.plot(*_error(evidence, series, epsilon), mark, **_point(look))
        _family(evidence, epsilon, left, right, mark)
    shares = sorted({float(look.eta) for look in every.values()}, reverse=True)
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="eta", xlim=(2.6, shares[-1] / 1.3))
        axes.set_xticks(shares, [str(Fraction(share)) for share in shares])
        axes.set_xticks([], minor=True)
        logarithmic(axes.yaxis)
    left.set_ylabel("variance / users")
    right.set_ylabel("times as often right")
    named(left, f"Variance of a count, mean over all values of {evidence.population.name}: the line is theory")
    named(right, "The best guess from one report, knowing nothing else")
    _named(left, every)
    titled(figure, "A smaller eta buys accuracy (left) and is paid in privacy (right)")
    legend(figure, left)
    return figure


def _point(look: Look) -> dict[str, Any]:
    """Return how a measured point looks: hollow for the paper's decoder."""
    hollow = look.decoder == "paper"
    edge, fill = (look.colour, "white") if hollow else ("white", look.colour)
    return {"color": look.colour, "markersize": 6.5, "markerfacecolor": fill, "markeredgecolor": edge, "zorder": 4}


def _error(evidence: Evidence, series: str, epsilon: float) -> tuple[list[float], list[float]]:
    """Return where a series is drawn, and its measured error."""
    summaries = evidence.etas.where(series=series, epsilon=epsilon).summary("eta", "n", "oracle", "decoder")
    places = [_place(Look(each.key[2], each.key[3], Fraction(each.key[0]))) for each in summaries]
    return places, [each.mean * each.key[1] for each in summaries]


def _place(look: Look) -> float:
    """Return the eta; of FHR a little less, so that no mark hides another."""
    aside = {"paper": 1.3, "full": 1.15}.get(look.decoder, 1.0)
    return float(look.eta) / aside


def _family(evidence: Evidence, epsilon: float, left: Any, right: Any, mark: str) -> None:
    """Draw the lines of FWR at one epsilon, and the guesses at FWR and at FHR."""
    family = {series: look for series, look in looks(evidence.etas).items() if look.oracle == "fwr"}
    size = evidence.population.domain_size
    etas = [float(look.eta) for look in family.values()]
    errors = [theory.variance(evidence.evaluation.etas, series, size, epsilon) for series in family]
    guesses = [guess(evidence, look, epsilon) for look in family.values()]
    for axes, y in ((left, errors), (right, guesses)):
        axes.plot(etas, y, "-", color=next(iter(family.values())).colour, linewidth=1.5)
        place = {"textcoords": "offset points", "va": "center", "ha": "right"}
        axes.annotate(f"epsilon {epsilon:g}", (etas[0], y[0]), (-8, 0), fontsize=9, color=INK, **place)
    for look in looks(evidence.etas).values():
        if look.decoder != "paper":
            right.plot(_place(look), guess(evidence, look, epsilon), mark, **_point(look))


def guess(evidence: Evidence, look: Look, epsilon: float) -> float:
    """Return how many times as often the best guess is right after one report, for somebody who knows nothing else."""
    values = (
        attack.blind.gain
        for attack in evidence.attacks
        if (attack.oracle.name, attack.oracle.eta, attack.oracle.epsilon) == (look.oracle, look.eta, epsilon)
    )
    return next(values, float("nan"))


def _named(axes: Any, every: dict[str, Look]) -> None:
    """Add an entry to the legend for each oracle and decoder; the epsilons are written at the lines."""
    kinds = {"FWR": "fwr", "FHR as published (eta 1/2)": "paper", "FHR, full decoder (eta 1/2)": "full"}
    for name, kind in kinds.items():
        look = next((look for look in every.values() if kind in (look.oracle, look.decoder)), None)
        if look is not None:
            axes.plot([], [], "o", label=name, **_point(look))
