"""The demo: the paper's Zipf population, privatized, shipped as bytes through a file, tallied, estimated."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from fldp import wire
from fldp.data.estimate import Estimate
from fldp.data.reports import Tally
from fldp.errors import FldpError
from fldp.experiments.datasets.synthetic import zipf
from fldp.oracles import FHR, OUE
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.exposure import exposure
from fldp.presentation.tables import show, text_bars
from fldp.support.atomic_files import open_output
from fldp.wire.files import read

T = TypeVar("T")


@dataclass(frozen=True)
class Shipped:
    """The tally of one oracle, the size of its file, and the seconds of both sides."""

    oracle: FrequencyOracle
    tally: Tally
    bytes_sent: int
    client: float
    server: float


def demo(epsilon: float, seed: int, folder: Path) -> None:
    """Run the main job, and print costs, errors and the largest estimates."""
    values = zipf(seed)
    truth = np.bincount(values, minlength=1023)
    folder.mkdir(parents=True, exist_ok=True)
    show(f"{len(values):,} users of the Zipf population over 1,023 values, epsilon {epsilon:g}, secure noise")
    fhr = ship(FHR(epsilon, 1023), values, folder / "fhr.fldp")
    oue = ship(OUE(epsilon, 1023), values, folder / "oue.fldp")
    full, paper = fhr.oracle.estimate(fhr.tally), fhr.oracle.estimate(fhr.tally, decoder="paper")
    plain = oue.oracle.estimate(oue.tally)
    rows = [("FHR, full", fhr, full), ("FHR, paper's", fhr, paper), ("OUE", oue, plain)]
    show("", cost_table(rows, truth), "", top_table(full, paper, plain, truth), "")
    show("Each interval holds for a value named beforehand; among the largest estimates, more than 5 % may miss.", "")
    show("What a report gives away:", f"FHR: {exposure(fhr.oracle)}", f"OUE: {exposure(oue.oracle)}", "")
    show(_picture(full, truth, folder / "top20.png"))


def ship(oracle: FrequencyOracle, values: NDArray[np.int64], path: Path) -> Shipped:
    """Privatize as the clients, ship through a file, tally as the server."""
    oracle.tally(oracle.privatize(values[:2]))  # compile first, so that compilation is not timed

    def send() -> None:
        with open_output(str(path)) as file, wire.Writer(file, oracle) as writer:
            for start in range(0, len(values), 1 << 16):
                writer.write(oracle.privatize(values[start : start + (1 << 16)]))

    _, client = _timed(send)
    content, server = _timed(lambda: read(str(path), oracle))
    return Shipped(oracle, content.tally, path.stat().st_size, client, server)


def cost_table(rows: list[tuple[str, Shipped, Estimate]], truth: NDArray[np.int64]) -> Table:
    """Return what each oracle costs, and its error."""
    table = Table(title="Cost, and root mean squared error of a count, in users", title_justify="left")
    table.add_column("")
    headings = "notion", "bits a report", "file, MB", "clients, s", "server, s", "expected error", "measured"
    for heading in headings:
        table.add_column(heading, justify="right")
    for name, shipped, estimate in rows:
        oracle = shipped.oracle
        notion = "LDP" if oracle.eta == 1 else f"FLDP, eta {oracle.eta}"
        expected = np.sqrt(np.mean(oracle.variance(estimate.n, truth, **estimate.options)))
        measured = np.sqrt(np.mean((estimate.counts - truth) ** 2))
        table.add_row(
            name,
            notion,
            f"{oracle.report_format.bits:,}",
            f"{shipped.bytes_sent / 1e6:.2f}",
            f"{shipped.client:.2f}",
            f"{shipped.server:.2f}",
            f"{expected:,.0f}",
            f"{measured:,.0f}",
        )
    return table


def top_table(full: Estimate, paper: Estimate, plain: Estimate, truth: NDArray[np.int64], k: int = 20) -> Table:
    """Return the ``k`` largest estimates beside the true counts."""
    table = Table(title=f"The {k} largest estimates of FHR, by both decoders of the same reports", title_justify="left")
    for heading in ("value", "true count", "FHR, full", "95 % interval", "covers", "FHR, paper's", "OUE"):
        table.add_column(heading, justify="right")
    for row in full.top(k):
        value = int(row["value"])
        covers = row["low"] <= truth[value] <= row["high"]
        table.add_row(
            str(value),
            f"{truth[value]:,}",
            f"{row['count']:,.0f}",
            f"{row['low']:,.0f} .. {row['high']:,.0f}",
            "yes" if covers else "no",
            f"{paper.counts[value]:,.0f}",
            f"{plain.counts[value]:,.0f}",
        )
    return table


def _picture(estimate: Estimate, truth: Any, path: Path) -> str:
    """Save the picture, or draw it as text where the plotting extra is not installed."""
    from fldp.presentation.plot import save_bars

    try:
        save_bars(estimate, path, truth=truth)
    except FldpError as error:
        return f"{text_bars(estimate, truth)}\n= estimate, ~ interval, | truth ({error})"
    return f"The picture, bars with error bars against the truth: {path}"


def _timed(action: Callable[[], T]) -> tuple[T, float]:
    start = perf_counter()
    return action(), perf_counter() - start
