"""Error against epsilon and against users: theory as lines, measurements as points on them."""

from math import sqrt
from typing import Any

import numpy as np

from fldp.experiments.paper.claims.accuracy import CROSSOVER
from fldp.experiments.paper.claims.measured_variances import measured
from fldp.experiments.paper.evidence import Evidence
from fldp.experiments.paper.figures import theory
from fldp.experiments.paper.figures.series import looks
from fldp.presentation.figure_style import Look, above, legend, logarithmic, named, titled
from fldp.presentation.plot import INK, Figure, figures

EPSILONS = tuple(float(x) for x in np.linspace(0.3, 3.0, 109))
BASE = "OUE"


def variance(evidence: Evidence) -> Figure:
    """Draw the variance against epsilon, and again relative to OUE, with the crossover that the paper names."""
    figure, (left, right) = figures(10.4, 5.2, 2, above=above(2))
    for series, look in looks(evidence.main).items():
        _variances(evidence, series, look, left, relative=False)
        _variances(evidence, series, look, right, relative=True)
    for axes in (left, right):
        axes.set(yscale="log", xlabel="epsilon", xlim=(EPSILONS[0], EPSILONS[-1]))
        logarithmic(axes.yaxis)
    left.set_ylabel("variance / users")
    right.set_ylabel("variance / that of OUE")
    right.set_yticks([0.05, 0.1, 0.2, 0.5, 1, 2])
    named(left, "Variance of a count, mean over all values")
    named(right, "The same, relative to OUE")
    _crossover(evidence, left, right)
    titled(figure, f"Variance against epsilon: lines are theory, points are measured on {evidence.population.name}")
    legend(figure, left, 2)
    return figure


def _variances(evidence: Evidence, series: str, look: Look, axes: Any, *, relative: bool) -> None:
    """Draw the line and the points of a series."""
    main, size = evidence.evaluation.main, evidence.population.domain_size
    x, y = theory.line(main, series, size, EPSILONS)
    rows = [row for row in measured(evidence, series) if row.dataset == evidence.population.name]
    epsilons, values = [row.epsilon for row in rows], np.array([row.value for row in rows])
    line, points = np.ones(len(x)), np.ones(len(values))
    if relative:
        line, points = (np.array([theory.variance(main, BASE, size, e) for e in some]) for some in (x, epsilons))
    axes.plot(x, np.array(y) / line, **look.plain())
    bars = values * np.array([row.error for row in rows]) / points
    axes.errorbar(epsilons, values / points, bars, elinewidth=1, **look.style(linestyle="none", zorder=4, label="_"))
    axes.plot([], [], **look.style())


def _crossover(evidence: Evidence, left: Any, right: Any) -> None:
    """Mark where the paper's decoder and OUE cross."""
    there = theory.variance(evidence.evaluation.main, BASE, evidence.population.domain_size, CROSSOVER)
    for axes, y in ((left, there), (right, 1.0)):
        axes.axvline(CROSSOVER, color=INK, linewidth=0.8, zorder=1)
        axes.plot(CROSSOVER, y, "o", markersize=10, markerfacecolor="none", markeredgecolor=INK, zorder=5)
    right.annotate(
        f"epsilon {CROSSOVER:.2f}: FHR as\npublished crosses OUE",
        (CROSSOVER, 1.05),
        (0.55, 1.75),
        fontsize=9,
        color=INK,
        arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.7},
    )


def users(evidence: Evidence) -> Figure:
    """Draw the error and the rank of the top values against the number of users, at one epsilon."""
    figure, (left, right) = figures(10.4, 4.9, 2, above=above(2))
    table = evidence.users
    for series, look in looks(table).items():
        _errors(evidence, series, look, left)
        ranks = table.where(series=series, metric="ncr").summary("n")
        right.plot([each.key[0] for each in ranks], [each.mean for each in ranks], **look.style())
    left.set(xscale="log", yscale="log", xlabel="users", ylabel="error")
    right.set(xscale="log", xlabel="users", ylabel="NCR", ylim=(-0.03, 1.03))
    named(left, "Root mean squared error of a frequency: lines are theory")
    named(right, f"Normalized cumulative rank of the top {table['k'].max()}")
    for axis in (left.xaxis, left.yaxis, right.xaxis):
        logarithmic(axis)
    epsilon, size = table["epsilon"][0], table["domain_size"][0]
    runs = evidence.evaluation.users.runs
    titled(figure, f"Error against users at epsilon {epsilon:g}, Zipf's law over {size:,} values; mean of {runs} runs")
    legend(figure, left, 2)
    return figure


def _errors(evidence: Evidence, series: str, look: Look, axes: Any) -> None:
    rows = evidence.users.where(series=series, metric="mse")
    summaries = rows.summary("n", "domain_size", "epsilon")
    n = np.array([each.key[0] for each in summaries])
    share = theory.variance(evidence.evaluation.users, series, *summaries[0].key[1:])
    axes.plot(n, np.sqrt(share / n), **look.plain())
    axes.plot(n, [sqrt(each.mean) for each in summaries], **look.style(linestyle="none", zorder=4, label="_"))
    axes.plot([], [], **look.style())
