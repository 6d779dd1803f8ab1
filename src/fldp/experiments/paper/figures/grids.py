"""The paper's figures: one metric against epsilon, a row for each top k, a column for each dataset."""

from typing import Any

import numpy as np

from fldp.experiments.paper.evaluation import PUBLISHED
from fldp.experiments.paper.evidence import Evidence
from fldp.experiments.paper.figures.series import looks
from fldp.experiments.runner import metrics
from fldp.experiments.runner.table import Table
from fldp.presentation.figure_style import Look, above, legend, logarithmic, named, titled
from fldp.presentation.plot import INK, Figure, grid

NAMES = {
    "kld": "Kullback-Leibler divergence",
    "se": "Squared error",
    "re": "Relative error",
    "ncr": "Normalized cumulative rank",
}


def published(evidence: Evidence, metric: str) -> Figure:
    """Draw a figure of the paper with the paper's three oracles."""
    return _drawn(evidence, metric, PUBLISHED)


def extended(evidence: Evidence, metric: str) -> Figure:
    """Draw the same with the full decoder, with FWR at eta 1/2, and with the best plain LDP."""
    return _drawn(evidence, metric, tuple(looks(evidence.main)))


def _drawn(evidence: Evidence, metric: str, series: tuple[str, ...]) -> Figure:
    table = evidence.main.where(metric=metric, series=series)
    datasets, sizes = list(evidence.datasets), evidence.evaluation.main.top
    lines = 1 if len(series) <= len(PUBLISHED) else 2
    width, height = max(3.3 * len(datasets), 8.0), 2.35 * len(sizes) + above(lines)
    figure, panels = grid(width, height, len(sizes), len(datasets), above=above(lines), sharex=True)
    for row, k in zip(panels, sizes, strict=True):
        for axes, dataset in zip(row, datasets, strict=True):
            _panel(axes, table.where(dataset=dataset, k=k), metric)
            named(axes, f"{dataset[:1].upper()}{dataset[1:]}, top {k}")
        row[0].set_ylabel(metric.upper(), fontsize=9, color=INK)
    _epsilons(panels[-1], evidence)
    better = "lower is better" if metrics.get(metric).lower_is_better else "higher is better"
    runs = evidence.evaluation.main.runs
    titled(
        figure,
        f"{NAMES[metric]} ({metric.upper()}) over the top k, {better}. Mean of {runs} runs; band: one std. deviation",
    )
    legend(figure, panels[0][0], lines)
    return figure


def _panel(axes: Any, table: Table, metric: str) -> None:
    for series, look in looks(table).items():
        _line(axes, table.where(series=series), look)
    if metric == "ncr":
        axes.set_ylim(-0.03, 1.03)
    else:
        axes.set_yscale("log")
        logarithmic(axes.yaxis)


def _line(axes: Any, table: Table, look: Look) -> None:
    """Draw means and a band of one standard deviation, no lower than the least run, so that a logarithm exists."""
    summaries = table.summary("epsilon")
    x = np.array([each.key[0] for each in summaries])
    mean, spread = (np.array([getattr(each, name) for each in summaries]) for name in ("mean", "spread"))
    least = np.array([_least(table.where(epsilon=epsilon)["value"]) for epsilon in x])
    spread = np.nan_to_num(spread)
    axes.fill_between(x, np.maximum(mean - spread, least), mean + spread, color=look.colour, alpha=0.13, linewidth=0)
    axes.plot(x, mean, **look.style())


def _least(values: Any) -> float:
    good = values[~np.isnan(values)]
    return float(good.min()) if len(good) else float("nan")


def _epsilons(row: list[Any], evidence: Evidence) -> None:
    """Label the lowest panels, which stand for all above them."""
    epsilons = evidence.evaluation.main.epsilons
    for axes, (users, values) in zip(row, evidence.datasets.values(), strict=True):
        axes.set_xlabel(f"epsilon\n{users:,} users, {values:,} values", fontsize=9, color=INK)
        axes.set_xticks(epsilons if len(epsilons) < 6 else epsilons[::2])
        axes.xaxis.set_major_formatter(lambda tick, _: f"{tick:g}")
