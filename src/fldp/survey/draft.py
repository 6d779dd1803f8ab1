"""Drafts: a first survey from data, with its labels and an oracle that suits them."""

import json
from collections.abc import Iterable
from math import sqrt

from fldp.errors import FldpError
from fldp.estimation.planner import plan
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.survey.rules import MAX_LABELS
from fldp.survey.survey import Survey
from fldp.wire.cells import Cells

_MAX_BITS = 4096  # more is a lot to send


def draft(chunks: Iterable[Cells], name: str, question: str, epsilon: float) -> tuple[str, int]:
    """Return the text of a survey, and the number of values it was drafted from.

    >>> text, users = draft([["no", "yes", None, "maybe", "no"]], "vote", "How?", 1.0)
    >>> users
    4
    >>> print(text.splitlines()[3])
    labels = ["maybe", "no", "yes"]
    """
    labels: set[str] = set()
    users = 0
    for cells in chunks:
        present = [cell.strip() for cell in cells if cell is not None and cell.strip()]
        labels.update(present)
        users += len(present)
        if len(labels) > MAX_LABELS:
            raise FldpError(
                f"survey init: there are more than {MAX_LABELS:,} different labels, the most that a survey has"
            )
    if len(labels) < 2:
        raise FldpError(f"survey init: at least 2 different labels are needed, got {len(labels)}")
    text = _text(sorted(labels), users, name, question, epsilon)
    Survey.parse(text, is_json=False, source="survey init", draft=True)
    return text, users


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
    lines = [
        f"name = {_quoted(name)}",
        f"question = {_quoted(question)}",
        "# In the order of the alphabet, so that it says nothing about how frequent they are.",
        f"labels = [{', '.join(map(_quoted, labels))}]",
        "",
        "[oracle]",
        f"# With {users:,} reports, the standard error of the count of a rare value:",
        *(f"#   {_cost(oracle, users)}" for oracle in options),
        f'name = "{options[0].name}"',
        f"epsilon = {epsilon!r}",
    ]
    return "\n".join(lines) + "\n"


def _cost(oracle: FrequencyOracle, users: int) -> str:
    error = sqrt(oracle.variance(users, 0))
    notion = "LDP" if oracle.eta == 1 else f"FLDP with eta {oracle.eta}, weaker than LDP"
    return f"{oracle.name:<4} {error:10,.1f}   {oracle.report_format.bits:,} bits a report, {notion}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
