"""Which oracle: what error to expect, what it costs, what it gives away; and the questions the other way round.

All errors here are standard errors of an estimated *frequency*: of a count, divided by the number of users.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from fldp.data.anytime_intervals import multiplier, planned_reports
from fldp.data.comparison import z_score
from fldp.data.dataframes import Columns, Framed, by_column
from fldp.errors import ParameterError
from fldp.estimation.expected_error import (
    build,
    epsilon_needed,
    least_where,
    plain_epsilon,
    required,
    standard_error,
    users_constraint,
    users_needed,
)
from fldp.oracles import get_listed, listed_names
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.memoization import following, lasting_epsilon, steady_epsilon
from fldp.oracles.base.treatment import Treatment, treatment_of
from fldp.oracles.exposure import exposure
from fldp.oracles.shuffle_privacy import Shuffled, crowd_of
from fldp.responder.kept_responses import MAX_KEPT_BITS
from fldp.support.canonical_json import Json
from fldp.support.display import Displayed
from fldp.support.exact_numbers import share_text
from fldp.support.validation import counted, fail, positive

FREQUENT = 0.01  # the share of the users that hold the frequent item of the tables
LEVEL = 0.95
_CLOSE = 1.05
_LASTING = "those that follow an answer which may change, and give away least in all reports together"


@dataclass(frozen=True)
class Row:
    """What to expect of one oracle, decoded in one way, with this number of users.

    >>> import fldp
    >>> row = Row(fldp.FHR(epsilon=1.0, domain_size=1023), "paper", users=1_000_000)
    >>> round(row.error_rare, 5), round(row.detectable, 5), round(row.plain_epsilon, 2)
    (0.00153, 0.003, 1.23)
    """

    oracle: FrequencyOracle
    decoder: str | None
    users: int

    @property
    def name(self) -> str:
        """What to call it: the oracle's name, and the decoder's or the number of hash bits where it has several."""
        if self._hash_bits is not None:
            return f"{self.oracle.name}, {counted(self._hash_bits, 'hash bit')}"
        return self.oracle.name if self.decoder is None else f"{self.oracle.name}, {self.decoder}"

    @property
    def parameters(self) -> dict[str, Json]:
        """The parameters that the oracle has besides an epsilon, a number of values and an eta."""
        if self._hash_bits is not None:
            return {"epsilon_permanent": steady_epsilon(self.oracle), "hash_bits": self._hash_bits}
        return treatment_of(self.oracle)

    @property
    def _hash_bits(self) -> int | None:
        """The bits of the symbols that an answer is kept for, where reports follow a value that changes."""
        stages = following(self.oracle)
        return None if stages is None else stages.answers.bit_length() - 1

    @property
    def is_default(self) -> bool:
        """Whether this is how the oracle decodes unless told otherwise."""
        return self.decoder in (None, *self.oracle.estimator.decoders[:1])

    def error(self, frequency: float) -> float:
        """Return the standard error of the estimated frequency of a value that has this frequency."""
        return standard_error(self.oracle, self.users, frequency, self.decoder)

    @property
    def error_rare(self) -> float:
        """The error of a value that nobody holds."""
        return self.error(0.0)

    @property
    def error_frequent(self) -> float:
        """The error of a value that 1 % of the users hold."""
        return self.error(FREQUENT)

    @property
    def error_mean(self) -> float:
        """The root mean squared error over all values, where all are equally frequent.

        For most oracles this holds for any population: their variance is linear in the count, the same for every value.
        """
        options = {} if self.decoder is None else {"decoder": self.decoder}
        return math.sqrt(self.oracle.estimator.mean_variance(self.users, **options)) / self.users

    @property
    def detectable(self) -> float | None:
        """The smallest frequency distinguishable from zero at 95 %; None if there is none.

        That is where a frequency is 1.96 standard errors: an estimate that comes out as expected has a 95 %
        interval, two-sided as ``Estimate.interval`` gives it, that just leaves out zero.
        """
        z = z_score(LEVEL)
        if z * self.error(1.0) > 1:
            return None
        return least_where(lambda frequency: z * self.error(frequency) <= frequency, 0.0, 1.0)

    @property
    def bits(self) -> int:
        """The bits of a report on the wire."""
        return self.oracle.report_format.bits

    @property
    def words(self) -> int:
        """The random words that a client takes for a report."""
        return self.oracle.words

    @property
    def server_work(self) -> str:
        """How the work of the server grows."""
        return analysis(self.oracle).server_work

    @property
    def epsilon(self) -> float:
        """The epsilon of a report."""
        return self.oracle.epsilon

    @property
    def eta(self) -> Fraction:
        """The eta of a report."""
        return self.oracle.eta

    @property
    def anonymity(self) -> int:
        """The least number of values that a report leaves possible."""
        return self.oracle.anonymity

    @property
    def plain_epsilon(self) -> float:
        """The epsilon of plain LDP with the same error."""
        return plain_epsilon(self.oracle, self.decoder)

    @property
    def reach(self) -> float:
        """Half the interval of the share that is known worst, as the dashboard shows it: all at once, at every look."""
        worst = max(self.error_rare, self.error_mean, self.error_frequent)
        share = self.users / planned_reports(self.oracle)
        return worst * multiplier(share, (1 - LEVEL) / self.oracle.domain_size)

    @property
    def crowd(self) -> Shuffled | None:
        """What a crowd of these users, half of them honest, adds where only totals are seen; None if it is not told."""
        return None if following(self.oracle) else crowd_of(self.oracle, self.users)

    @property
    def crowd_epsilon(self) -> float | None:
        """The epsilon of a report where only totals are seen; None if it is not told."""
        return None if self.crowd is None else self.crowd.epsilon

    def users_needed(self, error: float) -> int:
        """Return the users needed for this error."""
        return users_needed(self.oracle, error, self.decoder)

    def epsilon_needed(self, error: float) -> float:
        """Return the epsilon needed for this error."""
        oracle = self.oracle
        return epsilon_needed(
            oracle.name,
            domain_size=oracle.domain_size,
            users=self.users,
            error=error,
            eta=oracle.eta,
            decoder=self.decoder,
            **self.parameters,
        )


@dataclass(frozen=True)
class Plan(Framed, Displayed):
    """The oracles that can answer a question, the least mean error first, and which one to take.

    ``print`` shows the table of ``fldp plan``, ``to_pandas`` and its like have a row for each way to decode an oracle.

    >>> import fldp
    >>> plan = fldp.plan(domain_size=5, users=10_000, epsilon=2.0)
    >>> plan.recommended.name, round(plan.recommended.error_mean, 4)
    ('grr', 0.0059)
    >>> plan.skipped["rr"]
    'RR: domain_size must be 2 (GRR takes more), got 5'
    """

    domain_size: int
    users: int
    epsilon: float
    eta: float
    rows: tuple[Row, ...]
    skipped: Mapping[str, str]
    treatment: Treatment = field(default_factory=Treatment)
    epsilon_permanent: float | None = None

    @property
    def eligible(self) -> list[Row]:
        """The rows with at least the requested eta, and those made for values that differ in protection.

        For people who are asked repeatedly, only rows whose reports together give away the least; above epsilon 1,
        where more symbols make up for it, also rows whose reports give away up to twice as much.
        """
        if self.epsilon_permanent is not None:
            least = min(lasting_epsilon(row.oracle) for row in self.rows)
            most = 2 * least if self.epsilon > 1 else least
            return [row for row in self.rows if lasting_epsilon(row.oracle) <= most]
        return [row for row in self.rows if row.eta >= self.eta or treatment_of(row.oracle)]

    @property
    def recommended(self) -> Row:
        """The row with the least mean error among the eligible; of equal ones, that with the shortest reports."""
        return self.eligible[0]

    @property
    def shortest(self) -> Row:
        """The row with the shortest reports among the eligible whose error is within 5 % of the least."""
        close = [row for row in self.eligible if row.error_mean <= _CLOSE * self.recommended.error_mean]
        return min(close, key=lambda row: row.bits)

    @property
    def reason(self) -> str:
        """Why this row, and what a report gives away."""
        best = self.recommended
        requirement = "plain LDP (eta 1)" if self.eta == 1 else f"an eta of at least {self.eta:g}"
        if self.treatment.parameters:
            requirement = f"the protection that was declared ({', '.join(self.treatment.parameters)})"
        among = f"all with {requirement}" if self.epsilon_permanent is None else _LASTING
        sentences = [f"{best.name} has the least mean error of {among}; its eta is {share_text(best.eta)}."]
        sentences.append(exposure(best.oracle))
        if best.epsilon < self.epsilon:
            sentences.append(
                f"It protects all values alike, by epsilon {best.epsilon:g}: as much as those need that need most."
            )
        if best.eta < 1:
            sentences.append(f"OUE, which is plain LDP, has the same error at epsilon {best.plain_epsilon:.2f}.")
        shorter = self.shortest
        if 2 * shorter.bits <= best.bits:
            bits = f"{shorter.bits:,} bits a report instead of {best.bits:,}"
            sentences.append(f"{shorter.name} is within {100 * (_CLOSE - 1):.0f} % of that error with {bits}.")
        return " ".join(sentences)

    def _columns(self) -> Columns:
        return by_column(_COLUMNS, [self._facts(row) for row in self.rows])

    def _facts(self, row: Row) -> dict[str, object]:
        named = {"oracle": row.oracle.name, "eligible": row in self.eligible, "recommended": row == self.recommended}
        same = {name: getattr(row, name) for name in _COLUMNS if name not in named}
        return {**same, **named, "eta": float(row.eta)}

    def __repr__(self) -> str:
        question = f"{self.users} users, {self.domain_size} values, epsilon {self.epsilon:g}"
        return f"<plan for {question}: {self.recommended.oracle!r} of {len(self.rows)} ways>"


_COLUMNS = (
    *("oracle", "decoder", "recommended", "eligible", "error_rare", "error_frequent", "error_mean", "detectable"),
    *("bits", "words", "epsilon", "eta", "plain_epsilon", "anonymity", "server_work"),
    "crowd_epsilon",
)


def plan(
    *,
    domain_size: int,
    users: int,
    epsilon: float,
    eta: float | None = None,
    sensitive: Iterable[int] | None = None,
    budgets: Mapping[int, float] | Sequence[tuple[int, float]] | None = None,
    distance: str | None = None,
    epsilon_permanent: float | None = None,
) -> Plan:
    """Compare all oracles for a question, and recommend one.

    ``eta`` is the least acceptable eta; None stands for plain LDP only. An oracle with a choice of eta takes the least
    that it accepts among ``eta`` and 1, 1/2, 1/4, ... above it. Oracles that accept none are in ``skipped``, with the
    reason.

    Values may need different protection: ``sensitive`` lists the sensitive values, ``budgets`` the values with a budget
    below ``epsilon``, and ``distance`` names a distance between values. Then the plan includes oracles made for this,
    and every other oracle with the largest epsilon that gives the same protection.

    ``epsilon_permanent`` is for people who are asked repeatedly and whose answer may change: the epsilon of all reports
    of an answer that stays the same. Then the plan has only oracles that follow a changing value.

    >>> import fldp
    >>> fldp.plan(domain_size=100, users=10_000, epsilon=0.5, epsilon_permanent=1.0).recommended.oracle
    LWR(epsilon=0.5, domain_size=100, epsilon_permanent=1.0)
    >>> fldp.plan(domain_size=100, users=10_000, epsilon=1.0, sensitive=[3, 7]).recommended.oracle
    URR(epsilon=1.0, domain_size=100, sensitive=[3, 7])
    >>> fldp.plan(domain_size=1023, users=593_358, epsilon=1.0, eta=0.5).recommended.oracle
    FWR(epsilon=1.0, domain_size=1023, eta=0.5)
    """
    users_constraint("plan", "users", users)
    for name, value in (("domain_size", domain_size), ("epsilon", epsilon)):
        FrequencyOracle.params[name]("plan", name, value)
    treatment, least = Treatment(sensitive, budgets, distance), _share(1 if eta is None else eta)
    treatment.check_domain(domain_size)
    if treatment.parameters and least < 1:
        raise fail("plan", "eta", f"left out where values differ by {next(iter(treatment.parameters))}", eta)
    if epsilon_permanent is not None:
        if treatment.parameters or least < 1:
            raise ParameterError(
                "plan: where people are asked again and again, all values are protected alike, by eta 1"
            )
        return _lasting_plan(domain_size, users, epsilon, epsilon_permanent)
    oracles, skipped = _suited_oracles(domain_size, epsilon, least, treatment)
    rows = [Row(oracle, decoder, users) for oracle in oracles for decoder in oracle.estimator.decoders or (None,)]
    advice = Plan(domain_size, users, float(epsilon), float(least), tuple(sorted(rows, key=_rank)), skipped, treatment)
    if not advice.eligible:
        raise ParameterError(f"plan: no oracle takes this; for example {next(iter(skipped.values()))}")
    return advice


def _suited_oracles(
    domain_size: int, epsilon: float, eta: Fraction, treatment: Treatment
) -> tuple[list[FrequencyOracle], dict[str, str]]:
    """Return the oracles that take these parameters, and why the others do not."""
    oracles, skipped = [], {}
    for name in sorted(listed_names(), key=lambda name: len(required(get_listed(name))) > 2):
        try:
            oracles.append(_suited(name, domain_size, epsilon, eta, treatment))
        except ParameterError as error:
            skipped[name] = str(error)
    return oracles, skipped


def _lasting_plan(domain_size: int, users: int, epsilon: float, permanent: float) -> Plan:
    """Return the plan for people who are asked again and again: oracles that follow a value, with all hash bits."""
    names = [name for name in listed_names() if {"epsilon_permanent", "hash_bits"} <= get_listed(name).params.keys()]
    oracles = (
        build(name, domain_size, epsilon, epsilon_permanent=permanent, hash_bits=bits)
        for name in names
        for bits in range(1, MAX_KEPT_BITS + 1)
    )
    rows = tuple(sorted((Row(oracle, None, users) for oracle in oracles), key=_rank))
    return Plan(domain_size, users, float(epsilon), 1.0, rows, {}, epsilon_permanent=float(permanent))


def _rank(row: Row) -> tuple[float, int]:
    """Order by error, then by bits; what is equal to six digits is equal, so that rounding does not choose."""
    return float(f"{row.error_mean:.6g}"), row.bits


def _share(eta: float) -> Fraction:
    if positive("plan", "eta", eta) > 1:
        raise fail("plan", "eta", "at most 1", eta)
    return Fraction(eta)


def _suited(name: str, domain_size: int, epsilon: float, least: Fraction, treatment: Treatment) -> FrequencyOracle:
    """Build an oracle with the least eta that it accepts; one that treats all values alike by what some need most."""
    more = {key: value for key, value in treatment.parameters.items() if key in get_listed(name).params}
    if not more:
        epsilon = treatment.plain_epsilon(epsilon, domain_size)
    halvings = [Fraction(1, 1 << k) for k in range(32) if Fraction(1, 1 << k) > least]
    refusal = ParameterError(name)
    for eta in (least, *reversed(halvings)):
        try:
            return build(name, domain_size, epsilon, eta, **more)
        except ParameterError as error:
            refusal = error
    raise refusal
