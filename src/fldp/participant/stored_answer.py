"""Stored answers: the batch that a participant sends, and the key that it is sent under.

The key makes sending idempotent: a collector that has seen it counts nothing again. It is drawn with the answer, from
the operating system, so it says nothing about the value, the person, or other answers, and only the collector that
gets the report ever sees it. It must not be computed from the report: many people send the same one (a coin has two
sides), and the collector would count all of them as one.

Where people may answer daily, the permanent response that all reports are drawn from is stored beside today's batch.
"""

import hashlib
import os
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field

from fldp.errors import WireError

_KEY_BYTES, _CHECKSUM, _SIZE, _DAY = 32, 8, 4, 10


@dataclass(frozen=True)
class StoredAnswer:
    """A batch and the random bytes of its key.

    >>> answer = StoredAnswer.with_new_key(b"a batch")
    >>> StoredAnswer.verified(answer.with_checksum) == answer, len(answer.key)
    (True, 43)
    """

    report: bytes = field(repr=False)
    _random: bytes = field(repr=False)

    @classmethod
    def with_new_key(cls, report: bytes) -> "StoredAnswer":
        """Give a batch a new key."""
        return cls(report, os.urandom(_KEY_BYTES))

    @classmethod
    def verified(cls, data: bytes) -> "StoredAnswer":
        """Read stored bytes, or raise ``WireError`` if their checksum does not match."""
        answer = cls(data[_KEY_BYTES + _CHECKSUM :], data[:_KEY_BYTES])
        if answer.with_checksum != data:
            raise WireError("stored answer: the checksum does not match")
        return answer

    @property
    def key(self) -> str:
        """The key, as the header ``Idempotency-Key`` takes it."""
        return urlsafe_b64encode(self._random).decode().rstrip("=")

    @property
    def with_checksum(self) -> bytes:
        """The bytes to store: the key, a checksum of everything, the batch."""
        checksum = hashlib.sha256(self._random + self.report).digest()[:_CHECKSUM]
        return self._random + checksum + self.report


@dataclass(frozen=True)
class StoredDailyAnswer:
    """An answer that is reported daily: its permanent response, the last day of a report, and that report.

    >>> daily = StoredDailyAnswer(b"a response", "2026-11-01", StoredAnswer.with_new_key(b"a batch"))
    >>> StoredDailyAnswer.verified(daily.with_checksum) == daily
    True
    """

    permanent: bytes = field(repr=False)
    day: str
    last: StoredAnswer

    @classmethod
    def verified(cls, data: bytes) -> "StoredDailyAnswer":
        """Read stored bytes, or raise ``WireError`` if their checksum does not match."""
        day, start = _CHECKSUM + _SIZE, _CHECKSUM + _SIZE + _DAY
        end = start + int.from_bytes(data[_CHECKSUM:day], "little")
        if data[:_CHECKSUM] != _checksum(data[_CHECKSUM:]) or not data[day:start].isascii():
            raise WireError("stored answer: the checksum does not match")
        return cls(data[start:end], data[day:start].decode("ascii"), StoredAnswer.verified(data[end:]))

    @property
    def with_checksum(self) -> bytes:
        """The bytes to store: a checksum, the size of the response, the day, the response, the last report."""
        size = len(self.permanent).to_bytes(_SIZE, "little")
        body = size + self.day.encode("ascii") + self.permanent + self.last.with_checksum
        return _checksum(body) + body


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()[:_CHECKSUM]
