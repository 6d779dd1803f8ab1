"""The command that makes people up, to try the others on."""

from collections.abc import Mapping
from typing import Annotated

import typer

from fldp.cli.shell import app
from fldp.errors import ParameterError
from fldp.support.atomic_files import open_output
from fldp.support.validation import integer

PERCENT = {"car": 42, "public transport": 26, "bicycle": 17, "on foot": 9, "works at home": 6}
COLUMNS = ("site", "commute", "km", "ticket")
TICKET = {"north": {"no": 4, "yes": 1}, "south": {"no": 2, "yes": 3}}
PAGES = ("news", "mail", "maps", "weather", "music", "shop", "bank", "games", "books", "trains", "recipes", "chess")


@app.command()
def sample(
    output: Annotated[str, typer.Option("--output", "-o", help="The CSV file; - is standard output.")] = "-",
    people: Annotated[int, typer.Option(help="How many people to make up, 100 at least.")] = 20_000,
    seed: Annotated[int, typer.Option(help="The seed of their order.")] = 0,
    strings: Annotated[
        bool, typer.Option("--strings", help="Pages that people open, which a survey lists nowhere.")
    ] = False,
    questions: Annotated[
        bool, typer.Option("--questions", help="Answers to four questions: a column for each, one of them a number.")
    ] = False,
) -> None:
    """Write made-up answers for trying the other commands: how people get to work.

    Of every 100, 42 drive, 26 take public transport, 17 cycle, 9 walk and 6 work at home. With --strings, the page
    that each of them opens most: each of twelve half as often as the one before it. With --questions, at which of
    two sites they work, how they get there, over how many km, and whether they would use a free ticket.
    """
    number = integer(100, 10_000_000)("sample", "people", people)
    if strings and questions:
        raise ParameterError("fldp: give --strings or --questions, not both")
    if questions:
        with open_output(output) as file:
            file.writelines(f"{','.join(row)}\n".encode() for row in (COLUMNS, *staff(number, seed)))
        return
    column, weights = ("page", _halves()) if strings else ("commute", PERCENT)
    with open_output(output) as file:
        file.writelines(f"{line}\n".encode() for line in (column, *population(weights, number, seed)))


def staff(people: int, seed: int) -> list[tuple[str, ...]]:
    """Return people with an answer to each question of ``COLUMNS``, in an order that the seed decides.

    Of those in the south three in five would use a free ticket, of those in the north one in five.

    >>> rows = staff(1000, seed=1)
    >>> [round(sum(row[3] == "yes" for row in rows if row[0] == site) / 500, 2) for site in ("north", "south")]
    [0.2, 0.6]
    """
    import numpy as np

    sites = population({"north": 1, "south": 1}, people, seed)
    ways = population(PERCENT, people, seed + 1)
    wanted = {site: iter(population(TICKET[site], sites.count(site), seed + 2)) for site in TICKET}
    generator = np.random.default_rng(seed)
    km = np.where(np.array(ways) == "works at home", 0.0, generator.gamma(2.0, 6.0, people)).round(1)
    return [
        (site, way, f"{distance:g}", next(wanted[site])) for site, way, distance in zip(sites, ways, km, strict=True)
    ]


def _halves() -> dict[str, int]:
    return {page: 1 << (len(PAGES) - rank) for rank, page in enumerate(PAGES)}


def population(weights: Mapping[str, int], people: int, seed: int) -> list[str]:
    """Return the answer of each person, in an order that the seed decides; the shares are exact.

    >>> answers = population(PERCENT, 100, seed=1)
    >>> answers.count("car"), answers.count("works at home"), len(answers)
    (42, 6, 100)
    """
    import numpy as np

    from fldp.randomness.stream import Stream

    ends = np.cumsum(list(weights.values())) * people // sum(weights.values())
    answers = np.repeat(list(weights), np.diff(ends, prepend=0))
    order = np.argsort(Stream(seed).child("sample").words(people), kind="stable")
    return [str(answer) for answer in answers[order]]
