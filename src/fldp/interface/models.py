"""Models of requests, queries and replies: the types that the collector encodes and the client checks."""

from datetime import date
from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from fldp.data.postprocess import NAMES
from fldp.oracles.base.treatment import DISTANCES, MAX_BUDGETS, MAX_SENSITIVE
from fldp.oracles.unequal.exponential import MAX_NEAR
from fldp.support.identifiers import IDEMPOTENCY_KEY, SCOPES, SURVEY_NAME, VERSION
from fldp.survey.rules import STRINGS

MAX_ROWS = 2**31
MAX_TICKETS = 100_000
MAX_USERS = 2**53
MAX_PRIOR, MAX_EXPECTED = 2**25, 2.0**53  # entries, and each of them

Version = Annotated[str, Meta(pattern=f"^{VERSION.pattern}$", extra_json_schema={"x-rule": VERSION.rule})]
SurveyName = Annotated[str, Meta(pattern=f"^{SURVEY_NAME.pattern}$", extra_json_schema={"x-rule": SURVEY_NAME.rule})]
TokenId = Annotated[str, Meta(pattern="^[0-9a-f]{16}$")]
Key = Annotated[
    str,
    Meta(
        pattern=f"^{IDEMPOTENCY_KEY.pattern}$",
        description="chosen at random by the client, at least 128 bits; the same key and body are counted once",
    ),
]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
State = Literal["open", "closed", "scheduled"]
Scope = Literal["admin", "read", "send"]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(gt=0, le=1)]
Level = Annotated[float, Meta(ge=0.01, le=0.999999, description="of the intervals")]
Top = Annotated[int, Meta(ge=1, le=MAX_ROWS, description="only the largest, and how many")]
Decoder = Annotated[str, Meta(description="one of the oracle's decoders, where it has several")]
Label = Annotated[str, Meta(min_length=1, max_length=200)]
Candidate = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": 1024})]  # bytes, checked where counted
Prior = Annotated[
    list[Annotated[float, Meta(ge=0, le=MAX_EXPECTED)]],
    Meta(
        min_length=1,
        max_length=MAX_PRIOR,
        description="with post=bayes: public counts or shares that were expected, one for each value or candidate",
    ),
]
Value = Annotated[str | int, Meta(description="a label, or the number of a value without labels")]
Labels = Annotated[list[Label], Meta(min_length=2)]
DomainSize = Annotated[int, Meta(ge=2, description="at most the setting max_values")]
Domain = Literal["strings"]
Sensitive = Annotated[
    list[Value],
    Meta(min_length=1, max_length=MAX_SENSITIVE, description="the only answers that have to be hidden"),
]
Budgets = Annotated[
    dict[str, Positive],
    Meta(
        min_length=1, max_length=MAX_BUDGETS, description="answers with a smaller epsilon of their own, by their labels"
    ),
]
BudgetPairs = Annotated[
    list[Annotated[tuple[int, float], Meta(extra_json_schema={"x-rule": "a pair"})]],
    Meta(min_length=1, max_length=MAX_BUDGETS, description="the same by the numbers of values: pairs with epsilons"),
]
Distance = Annotated[
    Literal["line", "ring"],
    Meta(description=f"near answers are hidden more than far ones; its oracle takes up to {MAX_NEAR} values"),
]
Anytime = Annotated[bool, Meta(description="intervals that hold for all values and at every look")]
PostProcessing = Annotated[
    Literal["clip", "norm-sub", "simplex", "bayes"], Meta(description="post-processing, which is biased")
]
# A type checker reads no computed list of literals, so these are written out, and compared with what they repeat.
assert (get_args(Scope), get_args(Domain), get_args(get_args(Distance)[0])) == (SCOPES, (STRINGS,), tuple(DISTANCES))
assert get_args(get_args(PostProcessing)[0]) == NAMES


class Query(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Parameters of an address. A subclass lists them; an operation without parameters takes this one."""


class VersionQuery(Query, frozen=True):
    """One version of a survey."""

    version: Annotated[Version, Meta(description="one version, else all of them or the newest")] | None = None


class DeleteQuery(VersionQuery, frozen=True):
    """What to delete: one version, or all."""

    all: Annotated[Literal["true"], Meta(description="all versions")] | None = None


class WindowQuery(Query, frozen=True, rename={"since": "from", "until": "to"}):
    """A window of UTC days."""

    since: Annotated[date, Meta(description="the first UTC day")] | None = None
    until: Annotated[date, Meta(description="the last UTC day, included")] | None = None


class EstimatesQuery(WindowQuery, frozen=True, rename={"since": "from", "until": "to"}):
    """Which estimates, and how."""

    top: Top | None = None
    level: Level = 0.95
    decoder: Decoder | None = None
    post: PostProcessing | None = None
    method: Annotated[str, Meta(description="one of a string oracle's methods, where it has several")] | None = None
    question: Annotated[str, Meta(description="of several questions: this one alone")] | None = None
    cross: Annotated[str, Meta(description="of several questions: the table of two, as `os,plan`")] | None = None
    associations: Annotated[bool, Meta(description="of several questions: which pairs go together")] | None = None
    consistent: (
        Annotated[bool, Meta(description="of several questions: no negative cell, margins agree; biased")] | None
    ) = None
    format: Annotated[Literal["json", "csv", "parquet"], Meta(description="else by Accept, else JSON")] | None = None
    anytime: Anytime = False


class CompareQuery(WindowQuery, frozen=True, rename={"since": "from", "until": "to"}):
    """Two windows to compare, and how."""

    other_from: Annotated[date, Meta(description="the first UTC day of the other window")] | None = None
    other_to: Annotated[date, Meta(description="the last UTC day of the other window, included")] | None = None
    top: Top | None = None
    level: Level = 0.95
    decoder: Decoder | None = None
    question: Annotated[str, Meta(description="of several questions: which one")] | None = None
    anytime: Anytime = False


class MergeQuery(Query, frozen=True):
    """Where to count a tally."""

    day: Annotated[date, Meta(description="the UTC day to count it under; today")] | None = None


class WithdrawalQuery(Query, frozen=True):
    """Where to take reports out."""

    day: (
        Annotated[date, Meta(description="the UTC day they were sent on; needed for reports to an earlier release")]
        | None
    ) = None


class Body(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A JSON object that a client sends."""


class SmallBody(Body, frozen=True):
    """A body that is read before its handler runs. One that may be large is read by its handler, in a thread."""


class OracleChoice(Struct, frozen=True, kw_only=True):
    """An oracle by name, with its parameters; without a name the planner chooses."""

    epsilon: float
    name: str | UnsetType = UNSET


Questions = Annotated[
    list[dict[str, Any]], Meta(description="several questions, in place of one", min_length=1, max_length=64)
]
NumberRange = Annotated[dict[str, Any], Meta(description="of a number: its range, its cells, its unit")]
Crossing = Annotated[dict[str, Any], Meta(description="which of several questions are crossed, and how they are asked")]


class SurveySpecification(Body, frozen=True):
    """A survey, as its file says it; what the fields mean is checked by the survey's own rules."""

    name: SurveyName
    oracle: OracleChoice
    question: Annotated[str, Meta(min_length=1, max_length=2000)] | UnsetType = UNSET
    questions: Questions | UnsetType = UNSET
    tables: Crossing | UnsetType = UNSET
    number: NumberRange | UnsetType = UNSET
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    topic: SurveyName | UnsetType = UNSET
    language: Annotated[str, Meta(description="the tag of a language, like en, de or pt-BR")] | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET
    domain_size: DomainSize | UnsetType = UNSET
    domain: Domain | UnsetType = UNSET
    sensitive: Sensitive | UnsetType = UNSET
    budgets: Budgets | UnsetType = UNSET
    distance: Distance | UnsetType = UNSET
    search: dict[str, Any] | UnsetType = UNSET
    collect: dict[str, Any] | UnsetType = UNSET
    format: str | UnsetType = UNSET


class PlanQuestion(SmallBody, frozen=True):
    """What to plan for."""

    users: Annotated[int, Meta(ge=1, le=MAX_USERS)]
    epsilon: Positive
    labels: Labels | UnsetType = UNSET
    domain_size: DomainSize | UnsetType = UNSET
    domain: Domain | UnsetType = UNSET
    number: NumberRange | UnsetType = UNSET
    questions: Questions | UnsetType = UNSET
    tables: Crossing | UnsetType = UNSET
    sensitive: Sensitive | UnsetType = UNSET
    budgets: Budgets | BudgetPairs | UnsetType = UNSET
    distance: Distance | UnsetType = UNSET
    eta: Share | UnsetType = UNSET
    epsilon_permanent: (
        Annotated[Positive, Meta(description="of all reports of a person: of strings, or of an answer that stays")]
        | UnsetType
    ) = UNSET


class Candidates(Body, frozen=True):
    """The strings to count."""

    candidates: list[Candidate]


class EstimatesBody(Body, frozen=True):
    """What estimates are asked for that is too long for an address: the strings to count, and what was expected."""

    candidates: list[Candidate] | UnsetType = UNSET
    prior: Prior | UnsetType = UNSET


class TicketOrder(SmallBody, frozen=True):
    """How many tickets to make."""

    count: Annotated[int, Meta(ge=1, le=MAX_TICKETS)]


class TokenOrder(SmallBody, frozen=True):
    """The token to make."""

    scope: Scope
    survey: SurveyName | None = None
    expires: Time | None = None


class ReplyModel(Struct, frozen=True, kw_only=True):
    """A JSON object that a collector answers with. A client ignores fields that it does not know."""


class ProblemReply(ReplyModel, frozen=True):
    """A refusal (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    index: Count | UnsetType = UNSET
    mistakes: list[str] | UnsetType = UNSET
    minimum: Count | UnsetType = UNSET


class Status(ReplyModel, frozen=True):
    """How the collector is."""

    status: str


class SurveyState(ReplyModel, frozen=True):
    """A version of a survey, and whether it takes reports."""

    name: SurveyName
    version: Version
    created: Time
    closed: Time | None
    state: State
    submit: str


class SurveyRow(ReplyModel, frozen=True):
    """A version of a survey in a list of them."""

    name: SurveyName
    version: Version
    question: str
    created: Time
    closed: Time | None
    state: State
    decoders: list[str]
    methods: list[str]
    n: Count
    withdrawn: Count | UnsetType = UNSET


class VersionRow(ReplyModel, frozen=True):
    """A version that a survey has or had."""

    version: Version
    created: Time
    closed: Time | None
    deleted: bool


# A client hands it to the survey's own rules, which know every oracle; here it is any object.
Specification = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": "#/components/schemas/SurveySpecification"})]


class SurveyDocument(ReplyModel, frozen=True):
    """What a survey asks."""

    version: Version
    survey: Specification
    state: State


class Accepted(ReplyModel, frozen=True):
    """How many reports were counted."""

    accepted: Count


class Withdrawn(ReplyModel, frozen=True):
    """How many reports were taken out, now or when this was first asked for."""

    withdrawn: Count


class Rest(ReplyModel, frozen=True):
    """The values outside a list of candidates, together."""

    count: float
    stderr: float


class EstimateRow(ReplyModel, frozen=True):
    """The estimate of one value."""

    value: Count
    label: str
    count: float
    stderr: float
    low: float
    high: float
    frequency: float


class Planned(ReplyModel, frozen=True):
    """The number of reports at which intervals that hold at every look are narrowest."""

    planned: Count


Note = Annotated[str, Meta(description="where reports are too few, a sentence with the number that would do")]


class NumberValue(ReplyModel, frozen=True):
    """A figure of a number with its interval; no standard error where it is not known."""

    what: str
    value: float
    stderr: float | None
    low: float
    high: float
    unit: str | None
    note: str | None
    q: float | UnsetType = UNSET


class NumberCellRow(ReplyModel, frozen=True):
    """The share of people in a cell of a number."""

    start: float
    end: float
    share: float
    stderr: float
    low: float
    high: float


class NumberEdge(ReplyModel, frozen=True):
    """The share of people below an edge, in a band that holds for all edges at once."""

    edge: float
    cdf: float
    stderr: float
    low: float
    high: float


class NumberFigures(ReplyModel, frozen=True):
    """What is estimated of a number: its mean; of a distribution also quantiles, cells and CDF."""

    goal: Literal["distribution", "mean"]
    unit: str | None
    low: float
    high: float
    mean: NumberValue
    quantiles: list[NumberValue] | UnsetType = UNSET
    cells: list[NumberCellRow] | UnsetType = UNSET
    cdf: list[NumberEdge] | UnsetType = UNSET


Rows = list[dict[str, Any]]


class Estimates(ReplyModel, frozen=True):
    """Estimates with standard errors and intervals; of several questions, of each, of two, or their associations."""

    oracle: dict[str, Any]
    eta: float
    anonymity: Count
    n: Count
    options: dict[str, Any]
    method: str
    biased: bool
    level: float
    rows: list[EstimateRow]
    rest: Rest | UnsetType = UNSET
    note: Note | UnsetType = UNSET
    anytime: Planned | UnsetType = UNSET
    withdrawn: Count | UnsetType = UNSET
    simultaneous: bool | UnsetType = UNSET
    remark: str | UnsetType = UNSET
    number: NumberFigures | UnsetType = UNSET
    gives_away: str | UnsetType = UNSET
    views: Rows | UnsetType = UNSET
    question: str | UnsetType = UNSET
    questions: Rows | UnsetType = UNSET
    answered: Rows | UnsetType = UNSET
    cross: list[str] | UnsetType = UNSET
    cells: Rows | UnsetType = UNSET
    row_shares: Rows | UnsetType = UNSET
    marks: list[list[int]] | UnsetType = UNSET
    independence: dict[str, Any] | UnsetType = UNSET
    association: dict[str, Any] | UnsetType = UNSET
    associations: Rows | UnsetType = UNSET


class DayCount(ReplyModel, frozen=True):
    """A day with reports; how many, unless they are fewer than the survey's minimum."""

    day: date
    n: Annotated[int, Meta(ge=1)] | None
    withdrawn: Count | UnsetType = UNSET


class ChangeRow(ReplyModel, frozen=True):
    """How the share of one value changed."""

    value: Count
    label: str
    share: float
    other_share: float
    difference: float
    low: float
    high: float
    p_value: float
    changed: bool


class Changes(ReplyModel, frozen=True):
    """How the shares changed from one window to another."""

    n: Count
    other_n: Count
    level: float
    people: Literal["population"]
    values: Count
    changed: Count
    rows: list[ChangeRow]
    anytime: Planned | UnsetType = UNSET
    question: str | UnsetType = UNSET


class IntegrityTest(ReplyModel, frozen=True):
    """One test of what honest reports look like."""

    test: str
    claim: str
    worst: str
    p_value: float
    flagged: bool


class Integrity(ReplyModel, frozen=True):
    """Whether reports look as honest ones do."""

    oracle: dict[str, Any]
    n: Count
    source: Literal["reports", "tally"]
    false_alarm: float
    passed: bool
    p_value: float
    conclusion: str
    tests: list[IntegrityTest]
    blind: list[str]
    anytime: bool | UnsetType = UNSET


class PlanReply(ReplyModel, frozen=True):
    """What every oracle would do for a question."""

    users: Count
    epsilon: float
    level: float
    reason: str
    rows: list[dict[str, Any]]
    domain_size: Count | UnsetType = UNSET
    domain: str | UnsetType = UNSET
    eta: float | UnsetType = UNSET
    epsilon_permanent: float | UnsetType = UNSET
    sensitive: list[Count] | UnsetType = UNSET
    budgets: list[tuple[int, float]] | UnsetType = UNSET
    distance: str | UnsetType = UNSET
    skipped: dict[str, Any] | UnsetType = UNSET
    oracle: dict[str, Any] | UnsetType = UNSET
    bits: Count | UnsetType = UNSET
    gives_away: str | UnsetType = UNSET
    views: Rows | UnsetType = UNSET
    best_bins: Count | UnsetType = UNSET


class Tickets(ReplyModel, frozen=True):
    """Tickets, shown this once."""

    tickets: list[str]


class IssuerKey(ReplyModel, frozen=True):
    """The public key of an issuer of passes, as a survey names it."""

    issuer_key: str


class TokenFacts(ReplyModel, frozen=True):
    """A token without its secret."""

    id: str
    scope: Scope
    survey: str | None
    created: Time
    expires: Time | None
    revoked: Time | None


class NewToken(TokenFacts, frozen=True):
    """A token with its secret, shown this once."""

    token: str
