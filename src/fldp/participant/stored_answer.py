"""What a participant keeps of an answer: the batch that is sent, and the key that it is sent under.

The key makes sending idempotent: a collector that has seen it counts nothing again. It is drawn with the answer, from
the operating system, so it says nothing about the value, the person, or other answers, and only the collector that
gets the report ever sees it. It must not be computed from the report: many people send the same one (of a coin
there are two), and the collector would count all of them as one.

Where people may answer daily, what is kept beside today's batch and key is the response that all reports are made of.
"""

import hashlib
import os
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field

from fldp.errors import WireError

_BYTES, _CHECK = 32, 8
_SIZE, _DAY = 4, 10


@dataclass(frozen=True)
class Kept:
    """A batch and the random bytes of its key.

    >>> kept = Kept.drawn(b"a batch")
    >>> Kept.opened(kept.sealed) == kept, len(kept.key)
    (True, 43)
    """

    report: bytes = field(repr=False)
    _random: bytes = field(repr=False)

    @classmethod
    def drawn(cls, report: bytes) -> "Kept":
        """Give a batch a new key."""
        return cls(report, os.urandom(_BYTES))

    @classmethod
    def opened(cls, sealed: bytes) -> "Kept":
        """Read what was sealed, or raise ``WireError``."""
        made = cls(sealed[_BYTES + _CHECK :], sealed[:_BYTES])
        if made.sealed != sealed:
            raise WireError("kept: the check of a stored answer does not match")
        return made

    @property
    def key(self) -> str:
        """The key, as the header ``Idempotency-Key`` takes it."""
        return urlsafe_b64encode(self._random).decode().rstrip("=")

    @property
    def sealed(self) -> bytes:
        """The bytes to store: the key, a check of everything, the batch."""
        check = hashlib.sha256(self._random + self.report).digest()[:_CHECK]
        return self._random + check + self.report


@dataclass(frozen=True)
class Lasting:
    """An answer that is reported daily: what its reports are made of, the last day of one, and that report.

    >>> lasting = Lasting(b"what is kept", "2026-11-01", Kept.drawn(b"a batch"))
    >>> Lasting.opened(lasting.sealed) == lasting
    True
    """

    basis: bytes = field(repr=False)
    day: str
    last: Kept

    @classmethod
    def opened(cls, sealed: bytes) -> "Lasting":
        """Read what was sealed, or raise ``WireError``."""
        size = int.from_bytes(sealed[_CHECK : _CHECK + _SIZE], "little")
        day, basis = _CHECK + _SIZE, _CHECK + _SIZE + _DAY
        try:
            made = cls(
                sealed[basis : basis + size], sealed[day:basis].decode("ascii"), Kept.opened(sealed[basis + size :])
            )
        except UnicodeDecodeError:
            made = None
        if made is None or made.sealed != sealed:
            raise WireError("kept: the check of a stored answer does not match")
        return made

    @property
    def sealed(self) -> bytes:
        """The bytes to store: a check of everything, the size of the basis, the day, the basis, the last report."""
        whole = len(self.basis).to_bytes(_SIZE, "little") + self.day.encode("ascii") + self.basis + self.last.sealed
        return hashlib.sha256(whole).digest()[:_CHECK] + whole
