"""Shares of a population: a table, notes, JSON."""

from rich.table import Table

from fldp.estimation.population import PopulationShares
from fldp.presentation.tables import visible
from fldp.support.canonical_json import Json


def facts(shares: PopulationShares, level: float) -> dict[str, Json]:
    """Return the shares for JSON."""
    low, high = shares.interval(level).T
    labels = shares.labels or [str(value) for value in range(len(shares.shares))]
    return {
        "people": sum(shares.n),
        "eta": shares.eta,
        "level": level,
        "groups": [{"n": n, "weight": weight} for n, weight in zip(shares.n, shares.weights, strict=True)],
        "design_effect": shares.design_effect,
        "rows": [
            {
                "label": labels[value],
                "share": float(shares.shares[value]),
                "stderr": float(shares.stderr[value]),
                "noise": float(shares.noise[value] ** 0.5),
                "sampling": float(shares.sampling[value] ** 0.5),
                "low": float(low[value]),
                "high": float(high[value]),
            }
            for value in range(len(shares.shares))
        ],
    }


def table(shares: PopulationShares, level: float, k: int = 20) -> Table:
    """Return the largest shares as a table."""
    size = len(shares.shares)
    shown = Table(title=f"The {min(k, size):,} largest of {size:,} shares of the population", title_justify="left")
    shown.add_column("value")
    for heading in ("share", "std. error", f"{100 * level:.4g} % interval", "noise alone", "sampling alone"):
        shown.add_column(heading, justify="right")
    low, high = shares.interval(level).T
    labels = shares.labels or [str(value) for value in range(size)]
    for value in (-shares.shares).argsort(kind="stable")[:k].tolist():
        parts = (shares.stderr[value], shares.noise[value] ** 0.5, shares.sampling[value] ** 0.5)
        error, noise, sampling = (f"{part:.3%}" for part in parts)
        interval = f"{low[value]:.3%} .. {high[value]:.3%}"
        shown.add_row(visible(str(labels[value])), f"{shares.shares[value]:.3%}", error, interval, noise, sampling)
    return shown


def notes(shares: PopulationShares) -> list[str]:
    """Return what the shares rest on."""
    lines = [
        f"From {sum(shares.n):,} people, assumed to be drawn at random from the population"
        + (f", in {len(shares.n)} groups by their weights." if len(shares.n) > 1 else "."),
        "Each interval holds for its value alone, and for one look. People who do not answer are not in it.",
    ]
    if len(shares.n) > 1:
        lines.append(f"Design effect of the weights: {shares.design_effect:.3g} (1 where groups answered alike).")
    return lines
