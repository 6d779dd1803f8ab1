"""Tokens and tickets, stored as hashes only."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from fldp.collector.config.clock import parse_time, text
from fldp.collector.storage.protocol import CollectorStore, StoredToken
from fldp.errors import FldpError
from fldp.support.atomic_files import whole_file
from fldp.support.identifiers import SCOPES, SURVEY_NAME, TICKET, TOKEN
from fldp.support.validation import Constraint, MistakeList, fail, one_of, optional


def digest(secret: str) -> bytes:
    """Return the stored hash of a token or a ticket. A secret of 256 bits needs neither salt nor a slow hash.

    >>> len(digest("fldp_read_x"))
    32
    """
    return hashlib.sha256(secret.encode()).digest()


@dataclass(frozen=True)
class TokenTerms:
    """The terms of a new token: its scope, one survey or all, and when it expires, if ever."""

    scope: str
    survey: str | None
    expires: datetime | None

    @classmethod
    def check(cls, fields: Mapping[str, object], now: datetime, mistakes: MistakeList) -> "TokenTerms":
        """Read the terms of a new token, as a request or a command gives them; they are good if nothing is mistaken.

        >>> mistakes = MistakeList()
        >>> _ = TokenTerms.check({"scope": "root", "expires": "soon"}, datetime(2026, 11, 1), mistakes)
        >>> mistakes.messages[0]
        "scope must be one of 'admin', 'read', 'send', got 'root'"
        >>> mistakes.messages[1]
        "expires must be a time in the future, such as 2030-01-01T00:00:00Z, got 'soon'"
        """

        def to_come(owner: str, name: str, value: Any) -> datetime:
            time = parse_time(value) if isinstance(value, str) else None
            if time is None or time <= now:
                raise fail(owner, name, "a time in the future, such as 2030-01-01T00:00:00Z", value)
            return time

        rules: dict[str, Constraint] = {
            "scope": one_of(*SCOPES),
            "survey": optional(SURVEY_NAME),
            "expires": optional(to_come),
        }
        mistakes.unknown((), fields, rules, "a key of a token")
        checked: dict[str, Any] = {
            name: mistakes.check((name,), rule, fields.get(name)) for name, rule in rules.items()
        }
        return cls(**checked)


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


@contextmanager
def secret_file(path: Path) -> Iterator[Callable[[str], object]]:
    """Yield what writes a secret into a new file that only its owner can read; a file that is there stays as it is.

    Checks that nothing is there before the block runs, which makes the secret: none is wasted.
    """
    taken = FldpError(f"{path}: already exists, and is not overwritten; move it away, or name another file")
    if path.exists():
        raise taken
    try:
        with whole_file(path, replace=False) as hidden:
            yield lambda secret: hidden.write_text(f"{secret}\n", encoding="ascii")
    except FileExistsError:
        raise taken from None
    except OSError as error:
        raise FldpError(f"{path}: cannot be written: {error.strerror}") from None


def create_tickets(store: CollectorStore, survey: int, count: int) -> list[str] | None:
    """Create single-use tickets and store their hashes; None if the survey was deleted."""
    tickets = [f"fldp_ticket_{secrets.token_urlsafe(32)}" for _ in range(count)]
    return tickets if store.add_tickets(survey, [digest(ticket) for ticket in tickets]) else None


def find_token(store: CollectorStore, secret: str, now: datetime) -> StoredToken | None:
    """Return the valid token of a secret, or None."""
    if not TOKEN.matches(secret):
        return None
    hashed = digest(secret)
    token = store.find_token(hashed)
    if token is None or not hmac.compare_digest(token.hash, hashed):
        return None
    expired = token.expires is not None and token.expires <= text(now)
    return None if expired or token.revoked is not None else token


def ticket_digest(ticket: str) -> bytes | None:
    """Return the hash of a ticket, or None if it cannot be one."""
    return digest(ticket) if TICKET.matches(ticket) else None


def has_admin(store: CollectorStore, now: datetime) -> bool:
    """Whether there is a valid token that may do everything."""
    return any(
        token.scope == "admin"
        and token.survey is None
        and token.revoked is None
        and (token.expires is None or token.expires > text(now))
        for token in store.tokens()
    )
