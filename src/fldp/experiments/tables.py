"""The datasets as people and machines see them; the verdicts on the paper, in short."""

import json
from typing import TYPE_CHECKING

from rich.table import Table

from fldp.experiments.datasets import population
from fldp.support.canonical_json import Json

if TYPE_CHECKING:
    from fldp.experiments.paper.claims import Verdict


def facts_of(name: str) -> dict[str, Json]:
    """Return what is known of a dataset; nothing is fetched for it.

    >>> facts_of("zipf")["users"]
    593358
    """
    dataset = population.get(name)
    users, values = dataset.users, dataset.values
    if (users is None or values is None) and not dataset.needed:
        loaded = population.load(dataset.name)
        users, values = loaded.n, loaded.domain_size
    return {
        "name": dataset.name,
        "users": users,
        "values": values,
        "about": dataset.about,
        "parameters": dataset.parameters,
        "where": dataset.where() if dataset.where else None,
    }


def datasets_json() -> str:
    """Return the datasets as JSON."""
    return json.dumps({"datasets": [facts_of(name) for name in population.names()]}, ensure_ascii=False, indent=1)


def datasets_table() -> Table:
    """Return the datasets as a table."""
    table = Table(title="Datasets, with their totals at the default parameters", title_justify="left")
    table.add_column("name")
    for heading in ("users", "values"):
        table.add_column(heading, justify="right")
    table.add_column("what it is")
    for name in population.names():
        facts, parameters = facts_of(name), population.get(name).parameters
        totals = ("" if facts[key] is None else f"{facts[key]:,}" for key in ("users", "values"))
        takes = f" Takes {', '.join(parameters)}." if parameters else ""
        where = f" Data: {facts['where']}" if facts["where"] else ""
        table.add_row(name, *totals, f"{facts['about']}{takes}{where}")
    return table


def verdicts_table(verdicts: "list[Verdict]") -> Table:
    """Return every claim with its verdict and the number that decides it."""
    table = Table(title="The paper's claims", title_justify="left")
    for heading in ("claim", "where", "verdict", "the number that decides"):
        table.add_column(heading)
    for verdict in verdicts:
        table.add_row(verdict.name, verdict.where, verdict.outcome.value, verdict.number)
    return table
