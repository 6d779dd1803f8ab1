"""Drafts: a first survey from data, with its labels and an oracle that suits them."""

import json
import re
from collections.abc import Iterable
from math import sqrt

from fldp.errors import FldpError
from fldp.estimation.planner import plan
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.survey.rules import COLLECT_DEFAULTS, MAX_LABEL, MAX_LABELS, is_label
from fldp.survey.survey import Survey
from fldp.wire.cells import Cells, PlacedCells

_MAX_BITS = 4096  # more is a lot to send
_MANY = 20  # labels, from which on it can be told that they are identifiers
_MAX_DISTINCT = 0.9  # of the values of a question
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")


def draft(
    chunks: Iterable[Cells], name: str, question: str, epsilon: float, *, identifiers: bool = False
) -> tuple[str, int]:
    """Return the text of a survey, and the number of values it was drafted from.

    A survey is public with all of its labels, so those that look like identifiers of people are refused, unless
    ``identifiers`` says that they are none or may be published.

    >>> text, users = draft([["no", "yes", None, "maybe ", "no"]], "vote", "How?", 1.0)
    >>> users
    4
    >>> print(next(line for line in text.splitlines() if line.startswith("labels")))
    labels = ["maybe", "no", "yes"]
    """
    labels: set[str] = set()
    users = 0
    for cells in chunks:
        present = [cell.strip() for cell in cells if cell is not None and cell.strip()]
        _check_labels(set(present) - labels, cells)
        labels.update(present)
        users += len(present)
        if len(labels) > MAX_LABELS:
            raise FldpError(
                f"survey init: there are more than {MAX_LABELS:,} different labels, the most that a survey has"
            )
    if len(labels) < 2:
        raise FldpError(f"survey init: at least 2 different labels are needed, got {len(labels)}")
    if not identifiers:
        check_identifiers(labels, users)
    text = _text(sorted_labels(labels), users, name, question, epsilon)
    Survey.parse(text, is_json=False, source="survey init", draft=True)
    return text, users


def _check_labels(labels: set[str], cells: Cells) -> None:
    """Refuse a cell that cannot be a label, by its place."""
    bad = {label for label in labels if not is_label(label)}
    for position, cell in enumerate(cells) if bad else ():
        if cell is not None and cell.strip() in bad:
            check_label(
                cells.place(position) if isinstance(cells, PlacedCells) else f"value {position + 1}", cell.strip()
            )


def check_label(place: str, cell: str) -> None:
    """Refuse a cell that cannot be a label, by its place."""
    if not is_label(cell):
        rule = f"a label is one line of 1 to {MAX_LABEL} characters, without control characters"
        raise FldpError(f"survey init: {place} has {cell!r:.80}; {rule}")


def check_identifiers(labels: set[str], users: int) -> None:
    """Refuse labels that look like identifiers: almost as many as values, or e-mail addresses."""
    remedy = (
        "a survey is public with all of its labels. Take another --column, "
        "ask for strings (domain = 'strings'), or say --force if these may be published"
    )
    emails = sum(_EMAIL.fullmatch(label) is not None for label in labels)
    if emails:
        raise FldpError(f"survey init: {emails:,} of {len(labels):,} labels look like e-mail addresses; {remedy}")
    if len(labels) >= _MANY and len(labels) > _MAX_DISTINCT * users:
        warning = f"{len(labels):,} different labels in {users:,} values look like identifiers of people"
        raise FldpError(f"survey init: {warning}; {remedy}")


def sorted_labels(labels: set[str]) -> list[str]:
    """Return labels in the order of the alphabet, and numbers by their size.

    >>> sorted_labels({"10", "9", "-1"}), sorted_labels({"10", "9", "more"})
    (['-1', '9', '10'], ['10', '9', 'more'])
    """
    numeric = all(re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?", label, re.ASCII) for label in labels)
    return sorted(labels, key=lambda label: (float(label) if numeric else 0, label))


def candidates(domain_size: int, epsilon: float) -> list[FrequencyOracle]:
    """Return oracles for a survey, first the suggested one: the most accurate that is epsilon-LDP.

    >>> candidates(5, 2.0)[0]
    GRR(epsilon=2.0, domain_size=5)
    """
    rows = plan(domain_size=domain_size, users=1, epsilon=epsilon).rows
    short = [row.oracle for row in rows if row.is_default and row.bits <= _MAX_BITS]
    return sorted(short, key=lambda oracle: -oracle.eta)


def _text(labels: list[str], users: int, name: str, question: str, epsilon: float) -> str:
    options = candidates(len(labels), epsilon)
    costs = "\n".join(f"#   {_cost(oracle, users)}" for oracle in options)
    return f"""\
# A survey. docs/survey.md explains every key, and fldp survey check FILE finds mistakes.
name = {quoted(name)}  # part of the address of its page: a-z, 0-9, - and _
question = {quoted(question)}
# title = "..."  # above the question
# description = "..."  # below the question
# In the order of the alphabet, or of size, so that it says nothing about how frequent they are.
labels = [{", ".join(map(quoted, labels))}]

[oracle]
# With {users:,} reports, the standard error of the count of a rare value:
{costs}
name = "{options[0].name}"
epsilon = {epsilon!r}  # less is more private, and needs more people
{rules_text()}"""


def rules_text() -> str:
    """Return the rules of collecting as a file has them, each with a comment."""
    return f"""
[collect]
submit = "{COLLECT_DEFAULTS["submit"]}"  # who may answer: "open", "ticket" (by personal link) or "token" (programs)
minimum = {COLLECT_DEFAULTS["minimum"]}  # nothing is shown of fewer reports
retention = "{COLLECT_DEFAULTS["retention"]}"  # what is kept: "raw", every report; "tally", only their sums
# origins = ["https://example.org"]  # pages of others that may show it
# opens = 2030-01-01T00:00:00Z
# closes = 2030-02-01T00:00:00Z
"""


def _cost(oracle: FrequencyOracle, users: int) -> str:
    error = sqrt(oracle.variance(users, 0))
    notion = "LDP" if oracle.eta == 1 else f"FLDP with eta {oracle.eta}, weaker than LDP"
    bits = oracle.report_format.bits
    return f"{oracle.name:<4} {error:10,.1f}   {bits:,} bit{'' if bits == 1 else 's'} a report, {notion}"


def quoted(text: str) -> str:
    r"""Return a text as TOML: as JSON, which leaves one control character as it is.

    >>> print(quoted('say "hi"\x7f'))
    "say \"hi\"\u007f"
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
