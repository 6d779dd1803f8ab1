"""The audit log: one line for each administrative request, of who did what to which survey, and when."""

from dataclasses import asdict, dataclass

from starlette.types import Scope

from fldp.collector.service.logs import audit
from fldp.interface.operations import Operation
from fldp.support.identifiers import SURVEY_NAME, VERSION

EVENT = "administration"


@dataclass
class AuditEntry:
    """The fields of a line besides its time: never a secret, and of a path only the names in it.

    ``by`` and ``scope`` belong to the token that asked, null if there was no valid one. ``target`` is the token that
    was made or revoked; ``count`` is how many tickets were made or reports merged.
    """

    action: str
    survey: str | None = None
    version: str | None = None
    by: str | None = None
    scope: str | None = None
    target: str | None = None
    count: int | None = None
    status: int = 0
    schema: int = 1


def is_audited(operation: Operation) -> bool:
    """Whether requests are administration: whatever takes an admin token, and the export of reports."""
    return operation.access == "admin" or operation.name == "export"


def begin(scope: Scope, operation: Operation) -> None:
    """Begin the line of a request with what its path names. Other requests have an entry, too, which nobody writes."""
    name, version = scope["path_params"].get("name"), scope["path_params"].get("id")
    scope["state"]["audited"] = is_audited(operation)
    scope["state"]["audit"] = AuditEntry(
        operation.name,
        name if SURVEY_NAME.matches(name) else None,
        version if VERSION.matches(version) else None,
    )


def write(scope: Scope, status: int) -> None:
    """Write the line of a request that is administration, whatever came of it."""
    if scope["state"].get("audited"):
        audit.info(EVENT, extra={**asdict(scope["state"]["audit"]), "status": status})
