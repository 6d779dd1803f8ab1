"""Who sees what of a report, on the way that it takes: the table of the card. The answer page has the same."""

from collections.abc import Sequence

from fldp.survey.survey import Survey

Rows = tuple[tuple[str, ...], ...]  # the first has the headings of the columns

_COLUMNS = ("who", "your address, the time", "which survey", "your report")
_DIRECT: Rows = (
    _COLUMNS,
    ("your network", "that you visit this collector, and when", "no", "no"),
    ("the collector", "yes; it promises not to keep them", "yes", "yes"),
)
_RELAYED: Rows = (
    _COLUMNS,
    ("your network", "that you use a relay, and when", "no", "no"),
    ("the relay", "yes", "no", "no"),
    ("the collector", "the relay's address, when it arrives", "yes", "yes"),
    ("relay and collector together", "yes", "yes", "yes"),
)
_SAME = "The report says the same about your answer to everybody who reads it."
_KEYS = (
    "The relay also hands out the collector's public key. A relay that handed out another one could read reports; "
    "everybody can compare the two."
)
_ALONE = (
    "A relay hides you among those who send at about the same time. If you are the only one within an hour, the time "
    "gives you away."
)


_ISSUER = ("the issuer of passes", "yes, and your ticket", "yes", "no")
_BLIND = (
    "Your ticket is exchanged for a pass that its issuer signs without seeing it. When the report comes with the pass, "
    "nobody can tell which ticket it was."
)
_TIME = "The time can still tell: whoever answers just after a ticket was exchanged may be its holder."
_ADDRESS = (
    "Your address and the time can still tell: the collector sees who exchanges a ticket, and who sends a report just "
    "after."
)


def who_sees(survey: Survey) -> Rows:
    """Return the table for the way that the reports of a survey take: by a relay where it demands one."""
    rows = _RELAYED if survey.needs_relay else _DIRECT
    return (*rows, _ISSUER) if "issuer" in survey.collect else rows


def beside(survey: Survey) -> tuple[str, ...]:
    """Return what the table does not show."""
    passes = () if survey.pass_terms is None else (_BLIND, _TIME if survey.needs_relay else _ADDRESS)
    if survey.needs_relay:
        together = "If those who run relay and collector work together, they know all of this."
        return (*passes, together, _KEYS, _ALONE, _SAME)
    return (*passes, "A client that sends through a relay hides your address from the collector.", _SAME)


def spoken(rows: Rows) -> tuple[str, ...]:
    """Return the rows as lines, for where there is no table.

    >>> spoken((("who", "which survey", "your report"), ("the relay", "no", "no")))
    ('The relay: which survey: no; your report: no.',)
    """
    return tuple(f"{who[0].upper()}{who[1:]}: {_cells(rows[0][1:], cells)}." for who, *cells in rows[1:])


def _cells(columns: Sequence[str], cells: Sequence[str]) -> str:
    return "; ".join(f"{column}: {cell}" for column, cell in zip(columns, cells, strict=True))
