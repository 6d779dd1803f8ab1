"""The paper's panels: whether the line of FHR is the best of three, on one dataset, over the top k, by one metric.

FHR is compared with OUE and with OLH at every epsilon. The *lead* is the difference of the means in standard errors
(Welch), positive where FHR is better. Leads of one panel are put together below and above the crossover, as a sum
divided by the root of their number; the smaller of the two, over OUE and over OLH, counts. Two standard errors make
it ahead or behind; by chance a panel without any difference is ahead in one of 44 cases.
"""

from dataclasses import dataclass
from math import sqrt

from fldp.experiments.paper.claims.accuracy import CROSSOVER
from fldp.experiments.paper.claims.claim import Outcome
from fldp.experiments.paper.evidence import Evidence
from fldp.experiments.runner import metrics
from fldp.experiments.runner.table import Summary

AHEAD = 2.0
SURE = 3.0  # for a step back from one epsilon to the next, of which there are hundreds
RIVALS = ("OUE", "OLH")
OURS = "FHR, paper"
MOST = ("se", "re")  # of these the paper says: lowest overall, lowest in most cases


@dataclass(frozen=True)
class Panel:
    """How FHR as published came out in one panel.

    ``best`` counts the epsilons at which its mean is the best of the three, of ``points``. ``below`` and ``above`` are
    its leads on either side of the crossover, in standard errors; None where there is no epsilon.
    """

    metric: str
    dataset: str
    k: int
    best: int
    points: int
    below: float | None
    above: float | None

    @property
    def outcome(self) -> Outcome:
        """Holds: ahead below the crossover and best where the paper says. Corrected: ahead, but only below it."""
        if self.below is None or abs(self.below) < AHEAD:
            return Outcome.OPEN
        if self.below < 0:
            return Outcome.FAILS
        wanted = self.points / 2 if self.metric in MOST else self.points - 0.5
        return Outcome.HOLDS if self.best > wanted else Outcome.CORRECTED


def panels(evidence: Evidence, metric: str) -> list[Panel]:
    """Return all panels of a metric, dataset by dataset."""
    sizes = evidence.evaluation.main.top
    return [_panel(evidence, metric, dataset, k) for dataset in evidence.datasets for k in sizes]


def _panel(evidence: Evidence, metric: str, dataset: str, k: int) -> Panel:
    rows = evidence.main.where(metric=metric, dataset=dataset, k=k, series=(OURS, *RIVALS))
    summaries = {each.key: each for each in rows.summary("series", "epsilon")}
    sign = 1 if metrics.get(metric).lower_is_better else -1
    epsilons = sorted({epsilon for _, epsilon in summaries})
    best = sum(
        all(sign * summaries[OURS, e].mean < sign * summaries[rival, e].mean for rival in RIVALS) for e in epsilons
    )
    leads = {e: [sign * lead(summaries[OURS, e], summaries[rival, e]) for rival in RIVALS] for e in epsilons}
    sides = ([leads[e] for e in epsilons if (e < CROSSOVER) == below] for below in (True, False))
    return Panel(metric, dataset, k, best, len(epsilons), *map(together, sides))


def lead(ours: Summary, rival: Summary) -> float:
    """Return by how many standard errors our mean is below the rival's; 0 where the spread is not known.

    >>> round(lead(Summary((), 1.0, 0.3, 9), Summary((), 2.0, 0.4, 16)), 2)
    7.07
    """
    if min(ours.runs, rival.runs) < 2:
        return 0.0
    error = sqrt(ours.spread**2 / ours.runs + rival.spread**2 / rival.runs)
    return (rival.mean - ours.mean) / error if error else 0.0


def together(leads: list[list[float]]) -> float | None:
    """Return the lead over several epsilons, over the rival over whom it is smaller.

    >>> together([[1.0, 2.0], [3.0, 1.0]]), together([])
    (2.12..., None)
    """
    if not leads:
        return None
    return min(float(sum(column)) / sqrt(len(column)) for column in zip(*leads, strict=True))
