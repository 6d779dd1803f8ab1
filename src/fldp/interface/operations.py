"""Operations: every route of a collector, who may use it, what it takes and what it answers.

This is the one list of them. The collector routes by it, the OpenAPI document and the table in the documents are
written from it, and the client builds its requests and checks its replies with it. A new route is a handler of the
same name in ``fldp.collector.routes``, an entry here, and a model where none fits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fldp.interface import models
from fldp.oblivious.ohttp import KEYS_TYPE, REPLY_TYPE, REQUEST_TYPE
from fldp.passes.tokens import REPLY_TYPE as PASS_REPLY
from fldp.passes.tokens import REQUEST_TYPE as PASS_REQUEST

JSON, HTML, BYTES, TEXT = "application/json", "text/html", "application/octet-stream", "text/plain"
CSV, PARQUET, PROBLEM = "text/csv", "application/vnd.apache.parquet", "application/problem+json"
ACCESS = {
    "public": "all",
    "read": "`read`",
    "admin": "`admin`",
    "local": "`read`, or this machine unless there are `trusted_proxies`",
    "sender": "as the survey says: all, `send`, or a ticket",
}
_PARAMETERS = {"name": models.SurveyName, "id": models.Version, "token": models.TokenId, "file": str}


@dataclass(frozen=True)
class Operation:
    """A method on a path. ``reply`` is the model of a JSON answer; ``media`` are the other types that it may have.

    ``query`` is None where the parameters of the address are not looked at. A ``tagged`` answer has an entity tag, and
    a client that names it is told 304 while nothing has changed. What is not ``repeatable`` makes something new each
    time that it is asked. ``refusals`` are its own statuses, besides those
    that follow from access, path, query and body.
    """

    name: str
    method: str
    path: str
    access: str
    summary: str
    query: type[models.Query] | None = models.Query
    body: type[models.Body] | str | None = None
    reply: object = None
    media: tuple[str, ...] = ()
    statuses: tuple[int, ...] = (200,)
    refusals: tuple[int, ...] = ()
    tagged: bool = False
    repeatable: bool = True
    headers: Mapping[str, object] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, object]:
        """The types of what stands in braces in the path."""
        names = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        return {name: _PARAMETERS["token" if "/tokens/" in self.path else name] for name in names}

    @property
    def statuses_of_refusals(self) -> tuple[int, ...]:
        """The statuses of all refusals: 400 for a connection that ends within the request, 503 for too many at once."""
        statuses = {400, 503, *self.refusals}
        statuses |= set() if self.access == "public" else {401, 403}
        statuses |= {404} if self.parameters else set()
        statuses |= {422} if self.query else set()
        statuses |= {408, 413, 415, 422} if self.body else set()
        return tuple(sorted(statuses - {*self.statuses}))


_KEY = {"Idempotency-Key": models.Key}
_ESTIMATES = (CSV, PARQUET)
OPERATIONS = (
    Operation("healthz", "GET", "/healthz", "public", "the process answers", None, reply=models.Status),
    Operation(
        "readyz",
        "GET",
        "/readyz",
        "public",
        "something was written to the store within the last second, and reports are folded",
        None,
        reply=models.Status,
    ),
    Operation("metrics", "GET", "/metrics", "local", "counters for Prometheus", media=(TEXT,)),
    Operation("document", "GET", "/openapi.json", "public", "the description of all routes", None, reply=dict),
    Operation(
        "create_survey",
        "POST",
        "/v1/surveys",
        "admin",
        "publish a survey; the same one again changes nothing",
        body=models.SurveySpecification,
        reply=models.SurveyState,
        statuses=(200, 201),
    ),
    Operation(
        "surveys",
        "GET",
        "/v1/surveys",
        "read",
        "all versions of all surveys, the newest first",
        reply=list[models.SurveyRow],
    ),
    Operation(
        "versions",
        "GET",
        "/v1/surveys/{name}/versions",
        "public",
        "all versions that the survey ever had, the newest first; of deleted ones, that they were there",
        reply=list[models.VersionRow],
    ),
    Operation(
        "plan",
        "POST",
        "/v1/plan",
        "admin",
        "what every oracle would do for a question, as `fldp plan` says; see *plans* below",
        body=models.PlanQuestion,
        reply=models.PlanReply,
    ),
    Operation(
        "survey",
        "GET",
        "/v1/surveys/{name}",
        "public",
        "what it asks: its newest open version, or `?version=`",
        models.VersionQuery,
        reply=models.SurveyDocument,
    ),
    Operation(
        "delete_survey",
        "DELETE",
        "/v1/surveys/{name}",
        "admin",
        "delete `?version=` or `?all=true`, with everything that belongs to it",
        models.DeleteQuery,
        statuses=(204,),
    ),
    Operation(
        "close_survey",
        "POST",
        "/v1/surveys/{name}/close",
        "admin",
        "close all versions, or `?version=`",
        models.VersionQuery,
        reply=models.SurveyState,
    ),
    Operation(
        "reopen_survey",
        "POST",
        "/v1/surveys/{name}/reopen",
        "admin",
        "open the newest version again, or `?version=`; not after its `closes`, nor a round of a search (409 `final`)",
        models.VersionQuery,
        reply=models.SurveyState,
        refusals=(409,),
    ),
    Operation(
        "send_reports",
        "POST",
        "/v1/versions/{id}/reports",
        "sender",
        "count a batch ([wire.md](wire.md)), once",
        body=BYTES,
        reply=models.Accepted,
        refusals=(409, 410, 429),
        headers=_KEY | {"Fldp-Ticket": str | None},
    ),
    Operation(
        "withdraw_reports",
        "POST",
        "/v1/versions/{id}/withdrawals",
        "sender",
        "take out what the same key and body had counted ([withdrawal.md](withdrawal.md)); twice is the same as once",
        models.WithdrawalQuery,
        body=BYTES,
        reply=models.Withdrawn,
        refusals=(409, 429),
        headers=_KEY | {"Fldp-Ticket": str | None},
    ),
    Operation(
        "send_oblivious",
        "POST",
        "/v1/ohttp",
        "public",
        "answer an encrypted request that a relay carries ([anonymity.md](anonymity.md)); needs the setting `ohttp`",
        body=REQUEST_TYPE,
        media=(REPLY_TYPE,),
        refusals=(404,),
    ),
    Operation(
        "gateway_keys",
        "GET",
        "/v1/ohttp/keys",
        "public",
        "the public keys for such requests, the newest first; needs the setting `ohttp`",
        media=(KEYS_TYPE,),
        refusals=(404,),
    ),
    Operation(
        "estimates",
        "GET",
        "/v1/versions/{id}/estimates",
        "read",
        "estimates with standard errors and intervals, as JSON, CSV or Parquet",
        models.EstimatesQuery,
        reply=models.Estimates,
        media=_ESTIMATES,
        tagged=True,
    ),
    Operation(
        "estimates_among",
        "POST",
        "/v1/versions/{id}/estimates",
        "read",
        'the same of `{"candidates": [...]}`, where the answers are strings; with `post=bayes` and `{"prior": [...]}`, '
        "mixed with what was expected",
        models.EstimatesQuery,
        body=models.EstimatesBody,
        reply=models.Estimates,
        media=_ESTIMATES,
    ),
    Operation(
        "tally",
        "GET",
        "/v1/versions/{id}/tally",
        "read",
        "the tally as bytes ([wire.md](wire.md))",
        models.WindowQuery,
        media=(BYTES,),
        tagged=True,
    ),
    Operation(
        "days",
        "GET",
        "/v1/versions/{id}/days",
        "read",
        "the UTC days that have reports, and how many; `null` below the minimum",
        reply=list[models.DayCount],
    ),
    Operation(
        "compare",
        "GET",
        "/v1/versions/{id}/compare",
        "read",
        "what changed between two windows",
        models.CompareQuery,
        reply=models.Changes,
    ),
    Operation(
        "compare_among",
        "POST",
        "/v1/versions/{id}/compare",
        "read",
        'the same of `{"candidates": [...]}`, where the answers are strings',
        models.CompareQuery,
        body=models.Candidates,
        reply=models.Changes,
    ),
    Operation(
        "integrity",
        "GET",
        "/v1/versions/{id}/integrity",
        "read",
        "whether the reports look honest ([integrity.md](integrity.md))",
        models.WindowQuery,
        reply=models.Integrity,
    ),
    Operation(
        "export",
        "GET",
        "/v1/versions/{id}/export",
        "read",
        "the raw reports as Parquet, where the survey keeps them",
        models.WindowQuery,
        media=(PARQUET,),
        refusals=(409,),
    ),
    Operation(
        "merge",
        "POST",
        "/v1/versions/{id}/merge",
        "admin",
        "count a tally of another collector, once",
        models.MergeQuery,
        body=BYTES,
        reply=models.Accepted,
        refusals=(409, 410),
        headers=_KEY,
    ),
    Operation(
        "withdraw_merge",
        "POST",
        "/v1/versions/{id}/merge/withdrawals",
        "admin",
        "take out a tally that the same key, body and `?day=` had counted",
        models.MergeQuery,
        body=BYTES,
        reply=models.Withdrawn,
        refusals=(409,),
        headers=_KEY,
    ),
    Operation(
        "create_tickets",
        "POST",
        "/v1/versions/{id}/tickets",
        "admin",
        "make single-use tickets; they are shown this once",
        body=models.TicketOrder,
        reply=models.Tickets,
        statuses=(201,),
        repeatable=False,
    ),
    Operation(
        "issue_pass",
        "POST",
        "/v1/versions/{id}/passes",
        "sender",
        "sign a pass blindly for a ticket ([anonymity.md](anonymity.md#passes)); the same request again gets the same",
        body=PASS_REQUEST,
        media=(PASS_REPLY,),
        refusals=(429,),
        headers={"Fldp-Ticket": str | None},
    ),
    Operation(
        "create_issuer",
        "POST",
        "/v1/issuers",
        "admin",
        "make a key that signs passes; a survey that is to take them names it",
        reply=models.IssuerKey,
        statuses=(201,),
        repeatable=False,
    ),
    Operation("tokens", "GET", "/v1/tokens", "admin", "all tokens, never the secrets", reply=list[models.TokenFacts]),
    Operation(
        "create_token",
        "POST",
        "/v1/tokens",
        "admin",
        "make a token; it is shown this once",
        body=models.TokenOrder,
        reply=models.NewToken,
        statuses=(201,),
        repeatable=False,
    ),
    Operation(
        "revoke_token",
        "DELETE",
        "/v1/tokens/{id}",
        "admin",
        "revoke a token; twice is the same as once",
        statuses=(204,),
    ),
    Operation(
        "dashboard", "GET", "/", "public", "the dashboard, which asks for a token ([pages.md](pages.md))", media=(HTML,)
    ),
    Operation(
        "answer_page",
        "GET",
        "/s/{name}",
        "public",
        "the page on which a person answers ([pages.md](pages.md))",
        None,
        media=(HTML,),
        statuses=(200, 404),
    ),
    Operation(
        "static",
        "GET",
        "/static/{file}",
        "public",
        "a file of the pages",
        media=("text/javascript", "text/css", "image/svg+xml"),
        tagged=True,
    ),
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}


def table(operations: Iterable[Operation] = OPERATIONS) -> str:
    """Return the table of routes in the documents, in Markdown."""
    rows = [f"| `{o.method} {o.path}` | {ACCESS[o.access]} | {o.summary}{_query_text(o)} |" for o in operations]
    return "\n".join(["| route | who | what |", "|---|---|---|", *rows]) + "\n"


def _query_text(operation: Operation) -> str:
    names = operation.query.__struct_encode_fields__ if operation.query else ()
    untold = [name for name in names if f"?{name}=" not in operation.summary]
    return f", `?{' '.join(f'{name}=' for name in untold)}`" if untold else ""
