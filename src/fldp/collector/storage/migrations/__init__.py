"""Migrations: the steps that make the tables of a database, and bring older ones up to date."""

from importlib import resources


def steps(database: str) -> list[str]:
    """Return the steps for a kind of database, in their order.

    >>> len(steps("sqlite")) >= 1
    True
    """
    folder = resources.files("fldp.collector.storage") / "migrations" / database
    return [step.read_text(encoding="utf-8") for step in sorted(folder.iterdir(), key=lambda file: file.name)]
