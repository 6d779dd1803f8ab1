"""Tokens and tickets, stored as hashes only."""

import hashlib
import hmac
import re
import secrets
from datetime import datetime

from fldp.collector.config.clock import text
from fldp.collector.storage.protocol import CollectorStore, StoredToken

NAME = re.compile(r"[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?")  # of a survey
SCOPES = ("admin", "read", "send")
_TOKEN = re.compile(r"fldp_(admin|read|send)_[A-Za-z0-9_-]{43}")
_TICKET = re.compile(r"fldp_ticket_[A-Za-z0-9_-]{43}")


def digest(secret: str) -> bytes:
    """Return the stored hash of a token or a ticket. A secret of 256 bits needs neither salt nor a slow hash.

    >>> len(digest("fldp_read_x"))
    32
    """
    return hashlib.sha256(secret.encode()).digest()


def create_token(
    store: CollectorStore, now: datetime, scope: str, survey: str | None = None, expires: datetime | None = None
) -> tuple[str, StoredToken]:
    """Create a token and store its hash; return the secret, which is not stored."""
    secret = f"fldp_{scope}_{secrets.token_urlsafe(32)}"
    token = StoredToken(
        secrets.token_hex(8), digest(secret), scope, survey, text(now), None if expires is None else text(expires)
    )
    store.add_token(token)
    return secret, token


def create_tickets(store: CollectorStore, survey: int, count: int) -> list[str] | None:
    """Create single-use tickets and store their hashes; None if the survey was deleted."""
    tickets = [f"fldp_ticket_{secrets.token_urlsafe(32)}" for _ in range(count)]
    return tickets if store.add_tickets(survey, [digest(ticket) for ticket in tickets]) else None


def find_token(store: CollectorStore, secret: str, now: datetime) -> StoredToken | None:
    """Return the valid token of a secret, or None."""
    if not _TOKEN.fullmatch(secret):
        return None
    wanted = digest(secret)
    token = store.find_token(wanted)
    if token is None or not hmac.compare_digest(token.hash, wanted):
        return None
    expired = token.expires is not None and token.expires <= text(now)
    return None if expired or token.revoked is not None else token


def ticket_digest(ticket: str) -> bytes | None:
    """Return the hash of something that looks like a ticket."""
    return digest(ticket) if _TICKET.fullmatch(ticket) else None


def has_admin(store: CollectorStore, now: datetime) -> bool:
    """Return whether there is a token that may do everything."""
    return any(
        token.scope == "admin"
        and token.survey is None
        and token.revoked is None
        and (token.expires is None or token.expires > text(now))
        for token in store.tokens()
    )
