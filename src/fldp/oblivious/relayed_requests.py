"""Requests that may go through a relay: to read surveys and to answer them. No token: it would tell who asks."""

from fldp.support.identifiers import SURVEY_NAME, VERSION

HEADERS = ("Content-Type", "Idempotency-Key", "Fldp-Ticket")


def may_pass(method: str, path: str) -> bool:
    """Return whether a request may go through a relay; its client refuses others, and so does the gateway.

    >>> may_pass("GET", "/v1/surveys/browser"), may_pass("GET", "/v1/surveys"), may_pass("GET", "/metrics")
    (True, False, False)
    """
    match method, path.split("/"):
        case "GET", ["", "v1", "surveys", name]:
            return bool(SURVEY_NAME.matches(name))
        case "POST", ["", "v1", "versions", version, "reports" | "withdrawals" | "passes"]:
            return bool(VERSION.matches(version))
    return False
