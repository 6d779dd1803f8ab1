"""Notes beside the answers of a person: when one that waits is due, whether it goes through a relay, and keys of that.

None has an answer in it, and none costs anything. A store that keeps no notes works: its keys are fetched anew in each
run, a moment is drawn anew where the program was interrupted while it waited, and nobody remembers the relay.
"""

import json
import random
import time
from typing import NamedTuple

from fldp.participant.store import NoteBook, Store

_RELAY, _DUE, _WAY = "relay", "due", "way"
_chance = random.SystemRandom()


class RelayedKeys(NamedTuple):
    """Keys of a collector as the relay at an address handed them out, and when, in seconds since 1970.

    >>> RelayedKeys.decode(RelayedKeys("https://relay.example", b"keys", 1.5).encoded)
    RelayedKeys(relay='https://relay.example', keys=b'keys', at=1.5)
    """

    relay: str
    keys: bytes
    at: float

    @property
    def encoded(self) -> str:
        """The text to keep."""
        return json.dumps([self.relay, self.keys.hex(), self.at])

    @classmethod
    def decode(cls, text: str) -> "RelayedKeys | None":
        """Read what was kept, or return None for what is something else."""
        try:
            relay, keys, at = json.loads(text)
            return cls(str(relay), bytes.fromhex(keys), float(at))
        except (ValueError, TypeError, OverflowError, RecursionError):
            return None


def relayed_keys(store: Store, origin: str) -> RelayedKeys | None:
    """Return the keys of a collector that were handed out last, None where none are kept."""
    with store.exclusive() as book:
        text = book.note(origin, _RELAY) if isinstance(book, NoteBook) else None
        return None if text is None else RelayedKeys.decode(text)


def keep_relayed_keys(store: Store, origin: str, handed: RelayedKeys) -> None:
    """Keep the keys of a collector, where the store keeps notes."""
    with store.exclusive() as book:
        if isinstance(book, NoteBook):
            book.keep_note(origin, _RELAY, handed.encoded)


def keep_relayed(store: Store, origin: str, version: str) -> None:
    """Keep that the answer to a version goes through a relay, where the store keeps notes."""
    with store.exclusive() as book:
        if isinstance(book, NoteBook):
            book.keep_note(origin, f"{_WAY} {version}", _RELAY)


def is_relayed(store: Store, origin: str, version: str) -> bool:
    """Return whether it is kept that the answer to a version goes through a relay."""
    with store.exclusive() as book:
        return isinstance(book, NoteBook) and book.note(origin, f"{_WAY} {version}") is not None


def due(store: Store, place: tuple[str, str], key: str, longest: float) -> float:
    """Return when the answer of a key is to be sent, in seconds since 1970: drawn once, and the same when asked again.

    ``place`` is its origin and version. A clock that was set back since makes nobody wait for longer than ``longest``.
    """
    origin, about, latest = place[0], f"{_DUE} {place[1]}", time.time() + longest
    with store.exclusive() as book:
        if not isinstance(book, NoteBook):
            return latest - _chance.uniform(0, longest)
        kept = _moment(book.note(origin, about), key)
        if kept is None:
            kept = latest - _chance.uniform(0, longest)
            book.keep_note(origin, about, json.dumps([key, kept]))
    return min(kept, latest)


def _moment(text: str | None, key: str) -> float | None:
    """Return the moment that a note gives for this key, None if it is about another answer or malformed."""
    try:
        noted, moment = json.loads(text or "[]")
        return float(moment) if noted == key else None
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
