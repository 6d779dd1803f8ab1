"""The demo: the paper's Zipf population through privatize, tally and estimate."""

from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from fldp.estimate import Estimate
from fldp.experiments.data import zipf
from fldp.oracles import FHR

T = TypeVar("T")


def demo(console: Console, epsilon: float = 1.0, seed: int = 0) -> Estimate:
    """Run the main job, print what happened, and return the estimate."""
    values = zipf(seed)
    oracle = FHR(epsilon=epsilon, domain_size=1023)
    oracle.tally(oracle.privatize(values[:2]))  # compile, so that the times below are those of the work
    reports, privatizing = _timed(lambda: oracle.privatize(values))
    tally, tallying = _timed(lambda: oracle.tally(reports))
    estimate, estimating = _timed(lambda: oracle.estimate(tally))
    console.print(f"[bold]{oracle!r}[/] on {len(values):,} users of the Zipf population (1,023 values)")
    console.print(
        f"privatize {privatizing:.3f} s, tally {tallying:.3f} s, estimate {estimating:.3f} s; "
        f"{oracle.report_bits} bits a report, {reports.nbytes / 1e6:.1f} MB of reports in memory"
    )
    console.print(top_table(estimate, np.bincount(values, minlength=oracle.domain_size)))
    console.print(
        f"What each report gave away: this is (epsilon {epsilon:g}, eta {oracle.eta})-FLDP, which is weaker than "
        f"epsilon-LDP. Every report rules out about half of the values with certainty; "
        f"at least {oracle.anonymity} of {oracle.domain_size} remain possible.",
        soft_wrap=True,
    )
    return estimate


def top_table(estimate: Estimate, truth: NDArray[np.int64], k: int = 20, level: float = 0.95) -> Table:
    """Return the ``k`` largest estimates beside the true counts."""
    table = Table(title=f"The {k} largest estimates", title_justify="left")
    for heading in ("value", "true count", "estimate", f"{level:.0%} interval", "inside"):
        table.add_column(heading, justify="right")
    for row in estimate.top(k, level):
        true = int(truth[row["value"]])
        inside = row["low"] <= true <= row["high"]
        table.add_row(
            str(row["value"]),
            f"{true:,}",
            f"{row['count']:,.0f}",
            f"{row['low']:,.0f} .. {row['high']:,.0f}",
            "yes" if inside else "no",
        )
    return table


def _timed(action: Callable[[], T]) -> tuple[T, float]:
    start = perf_counter()
    return action(), perf_counter() - start
