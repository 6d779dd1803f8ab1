"""Which oracle over strings: what error to expect of a string, and how long reports are.

Errors are standard errors of an estimated *frequency*, the largest that they can be, whatever others answer.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fldp.data.comparison import z_score
from fldp.estimation.expected_error import least_where, required, users_constraint
from fldp.estimation.planner import LEVEL
from fldp.oracles import get, listed_names, names
from fldp.oracles.base.string_oracle import StringOracle
from fldp.oracles.base.ticket_words import can_derive
from fldp.oracles.exposure import exposure
from fldp.support.canonical_json import Json
from fldp.wire.description import describe


@dataclass(frozen=True)
class StringRow:
    """What to expect of one oracle with this number of users.

    >>> import fldp
    >>> row = StringRow(fldp.HCMS(epsilon=2.0), users=10_000)
    >>> round(row.error_rare, 4), round(row.detectable, 4)
    (0.0132, 0.0256)
    """

    oracle: StringOracle
    users: int

    def error(self, frequency: float) -> float:
        """Return the standard error of the estimated frequency of a string that has this frequency."""
        return float(np.sqrt(self.oracle.variance(self.users, frequency * self.users)) / self.users)

    @property
    def error_rare(self) -> float:
        """The error of a string that nobody holds."""
        return self.error(0.0)

    @property
    def detectable(self) -> float | None:
        """The smallest frequency distinguishable from zero at 95 %; None if there is none."""
        z = z_score(LEVEL)
        if z * self.error(1.0) > 1:
            return None
        return least_where(lambda frequency: z * self.error(frequency) <= frequency, 0.0, 1.0)


def plan_strings(*, users: int, epsilon: float, epsilon_permanent: float | None = None) -> list[StringRow]:
    """Return what every oracle over strings would do that needs no more than this, the least error first.

    ``epsilon_permanent`` is for people who are asked again and again: what all reports of one of them keep together.
    Then there are only oracles that promise it.

    >>> [row.oracle.name for row in plan_strings(users=10_000, epsilon=2.0)]
    ['cms', 'hcms']
    >>> [row.oracle.name for row in plan_strings(users=10_000, epsilon=2.0, epsilon_permanent=4.0)]
    ['rappor']
    """
    users_constraint("plan", "users", users)
    parameters = {"epsilon": epsilon} | ({} if epsilon_permanent is None else {"epsilon_permanent": epsilon_permanent})
    classes = [get(name) for name in names() if name not in listed_names()]
    oracles: list[Any] = [cls(**parameters) for cls in classes if set(required(cls)) == parameters.keys()]
    return sorted((StringRow(oracle, users) for oracle in oracles), key=lambda row: row.error_rare)


def facts(rows: list[StringRow]) -> dict[str, Json]:
    """Return a plan as JSON has it; the first row is recommended.

    >>> facts(plan_strings(users=10_000, epsilon=2.0))["reason"]
    'cms has the least error; its reports have 1,034 bits. hcms has 1.36 times that error with 21 bits.'
    """
    best, *others = rows
    sentences = [f"{best.oracle.name} has the least error; its reports have {best.oracle.report_format.bits:,} bits."]
    for row in others:
        times = f"{row.error_rare / best.error_rare:.2f} times that error"
        sentences.append(f"{row.oracle.name} has {times} with {row.oracle.report_format.bits:,} bits.")
    lasting = {}
    stages = best.oracle.memoization
    if stages is not None:
        lasting = {"epsilon_permanent": stages.lasting_epsilon}
        sentences.append(f"All reports of one person together keep epsilon {stages.lasting_epsilon:g}, however many.")
    return {
        "domain": "strings",
        "users": best.users,
        "epsilon": best.oracle.epsilon,
        **lasting,
        "level": LEVEL,
        "reason": " ".join(sentences),
        "rows": [_row(row, row is best) for row in rows],
    }


def _row(row: StringRow, recommended: bool) -> dict[str, Json]:
    return {
        "oracle": describe(row.oracle),
        "eligible": True,
        "recommended": recommended,
        "error_rare": row.error_rare,
        "detectable": row.detectable,
        "bits": row.oracle.report_format.bits,
        "eta": float(row.oracle.eta),
        "exposure": exposure(row.oracle),
        "derives": can_derive(row.oracle),
    }
