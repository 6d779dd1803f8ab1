"""The fair comparison: what an attacker gets from one report against the error that the report buys."""

from fractions import Fraction
from typing import Any

from fldp.experiments.paper.attacks import Tradeoff
from fldp.experiments.paper.evidence import Evidence
from fldp.presentation.figure_style import Look, above, legend, logarithmic, named, titled
from fldp.presentation.plot import INK, Figure, figures

MIN_ETA = Fraction(1, 2)
ERRORS = 0.05, 40.0
MARKED = 1.0  # the epsilon that gets a ring


def attack(evidence: Evidence) -> Figure:
    """Draw every oracle as a line over epsilon: error to the right, the attacker's success upwards."""
    figure, (left, right) = figures(10.4, 5.6, 2, above=above(3))
    lines = _lines(evidence)
    for look, attacks in lines.items():
        _line(left, look, attacks, [one.blind.gain for one in attacks])
        _line(right, look, attacks, [one.informed.after for one in attacks])
    for axes in (left, right):
        axes.set(xscale="log", xlim=ERRORS, xlabel="error: variance of a count / users, mean over values")
        logarithmic(axes.xaxis)
    left.set(yscale="log", ylim=(0.9, 60), ylabel="times as often right as without a report")
    logarithmic(left.yaxis)
    right.set(ylim=(0.9 * evidence.attacks[0].informed.before, None), ylabel="guess is right")
    _baseline(evidence, left, right)
    epsilons = sorted({one.oracle.epsilon for one in evidence.attacks})
    title = "One report: the attacker's success against the error it buys. Left and down is better. A mark for each"
    titled(figure, f"{title} epsilon, {epsilons[0]:g} to {epsilons[-1]:g}; ring: {MARKED:g}")
    legend(figure, left, 3)
    return figure


def _line(axes: Any, look: Look, attacks: list[Tradeoff], success: list[float]) -> None:
    errors = [one.errors[look.decoder] for one in attacks]
    axes.plot(errors, success, **look.style(zorder=3))
    for one, x, y in zip(attacks, errors, success, strict=True):
        if one.oracle.epsilon == MARKED and ERRORS[0] < x < ERRORS[1]:
            axes.plot(x, y, "o", markersize=8, markerfacecolor="none", markeredgecolor=look.colour, zorder=4)


def _baseline(evidence: Evidence, left: Any, right: Any) -> None:
    """Show how good a guess is without any report."""
    before = evidence.attacks[0].informed.before
    left.axhline(1.0, color=INK, linewidth=0.8, zorder=1)
    right.axhline(before, color=INK, linewidth=0.8, zorder=1)
    place = {"textcoords": "offset points", "ha": "right", "va": "top"}
    right.annotate("without a report", (ERRORS[1], before), (-4, -4), fontsize=9, color=INK, **place)
    named(left, "Best guess of an attacker who knows nothing else")
    named(right, f"Best guess of one who knows the population ({evidence.population.name})")
    right.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")


def _lines(evidence: Evidence) -> dict[Look, list[Tradeoff]]:
    """Return the attacks on every oracle with every eta and decoder, by epsilon."""
    by_look: dict[Look, list[Tradeoff]] = {}
    for one in sorted(evidence.attacks, key=lambda one: one.oracle.epsilon):
        if one.oracle.eta >= MIN_ETA or one.oracle.eta == 0:
            for decoder in one.errors:
                by_look.setdefault(Look(one.oracle.name, decoder, one.oracle.eta), []).append(one)
    return by_look
