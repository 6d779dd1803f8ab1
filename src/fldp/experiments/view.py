"""The datasets as people and machines see them."""

import json
from typing import Any

from rich.table import Table

from fldp.experiments import population


def datasets_facts() -> list[dict[str, Any]]:
    """Return what is known of every dataset; nothing is fetched for it.

    >>> [facts["users"] for facts in datasets_facts() if facts["name"] == "zipf"]
    [593358]
    """
    return [_facts(population.get(name)) for name in population.names()]


def _facts(dataset: population.Dataset) -> dict[str, Any]:
    users, values = dataset.users, dataset.values
    if (users is None or values is None) and not dataset.needed:
        made = population.load(dataset.name)
        users, values = made.n, made.domain_size
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
    return json.dumps({"datasets": datasets_facts()}, ensure_ascii=False, indent=1)


def datasets_table() -> Table:
    """Return the datasets as a table."""
    table = Table(title="Datasets, with their totals at the parameters they have by themselves", title_justify="left")
    table.add_column("name")
    for heading in ("users", "values"):
        table.add_column(heading, justify="right")
    table.add_column("what it is")
    for facts in datasets_facts():
        totals = ("" if facts[name] is None else f"{facts[name]:,}" for name in ("users", "values"))
        takes = f" Takes {', '.join(facts['parameters'])}." if facts["parameters"] else ""
        where = f" {facts['where']}" if facts["where"] else ""
        table.add_row(facts["name"], *totals, f"{facts['about']}{takes}{where}")
    return table
