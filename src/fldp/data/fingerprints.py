"""Strings as values: which are accepted, and the fingerprint that represents one inside an oracle.

A string is its 1 to 1,024 UTF-8 bytes. Nothing is normalised or truncated, because normalisation tables change with
every version of Unicode, and a browser and a server would disagree about new characters. Whoever wants ``Example.org``
and ``example.org`` counted together has to make them equal first.

The *fingerprint* is a 63-bit public hash. It protects nothing: noise does that. Two strings hardly ever share one:
among a million strings the chance of any collision is 5e-8.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.values import refusal, shown
from fldp.errors import DomainError

MAX_BYTES = 1024
MAX_CANDIDATES = 1_000_000
FINGERPRINTS = 1 << 63

Fingerprints = NDArray[np.int64]


def utf8(string: object) -> bytes | None:
    r"""Return the UTF-8 bytes of a ``str`` or ``bytes``; None if it is not an acceptable string.

    >>> utf8("ü"), utf8(b"\xff"), utf8(""), utf8("\ud800"), utf8(7)
    (b'\xc3\xbc', None, None, None, None)
    """
    try:
        data = string.encode() if isinstance(string, str) else bytes(string) if isinstance(string, bytes) else b""
        data.decode()
    except UnicodeError:
        return None
    return data if 0 < len(data) <= MAX_BYTES else None


def fingerprint(data: bytes) -> int:
    """Return the first eight bytes of the SHA-256, little-endian, without the top bit.

    >>> hex(fingerprint(b"abc"))
    '0x6acf018fbf1678ba'
    """
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "little") % FINGERPRINTS


def fingerprints(owner: str, strings: object, what: str = "values") -> Fingerprints:
    """Turn one string, a list, an array or a Series of them into fingerprints; errors show all but ``values``.

    >>> fingerprints("CMS", ["a", b"a"]).tolist()
    [..., ...]
    >>> fingerprints("CMS", "")
    Traceback (most recent call last):
    fldp.errors.DomainError: CMS: values must be strings of 1 to 1024 bytes of UTF-8, got a value of type str \
(not shown, to protect the answer)
    """
    items = _items(owner, strings, what)
    marks = np.empty(len(items), np.int64)
    for position, item in enumerate(items):
        data = utf8(item)
        if data is None:
            raise _refusal(owner, what, item, position if len(items) > 1 else None)
        marks[position] = fingerprint(data)
    return marks


def _items(owner: str, strings: object, what: str) -> list[Any]:
    if isinstance(strings, str | bytes):
        return [strings]
    if isinstance(strings, dict | set | frozenset) or not isinstance(strings, Iterable):
        raise _refusal(owner, what, strings)
    if isinstance(strings, np.ndarray) and strings.ndim != 1:
        raise DomainError(f"{owner}: {what} must be one string or a one-dimensional batch, got shape {strings.shape}")
    items = list(strings)
    if not items:
        raise DomainError(f"{owner}: {what} must hold at least one string, got an empty batch")
    return items


def _refusal(owner: str, what: str, value: object, position: int | None = None) -> DomainError:
    rule = f"{owner}: {what} must be strings of 1 to {MAX_BYTES} bytes of UTF-8"
    return refusal(rule, value, position, secret=what == "values")


def as_candidates(owner: str, candidates: object) -> tuple[str, ...]:
    """Coerce the candidates of an estimate to texts: at least one, all with different fingerprints.

    >>> as_candidates("CMS", ["firefox", b"chrome"])
    ('firefox', 'chrome')
    """
    if isinstance(candidates, str | bytes):
        raise DomainError(f"{owner}: candidates must be a list of strings, got {shown(candidates)}")
    items = _items(owner, candidates, "candidates")
    if len(items) > MAX_CANDIDATES:
        raise DomainError(f"{owner}: candidates must be at most {MAX_CANDIDATES:,}, got {len(items):,}")
    marks = fingerprints(owner, items, "candidates")
    order = np.argsort(marks, kind="stable")
    again = np.flatnonzero(np.diff(marks[order]) == 0)
    if len(again):
        first, second = sorted(order[again[0] : again[0] + 2].tolist())
        raise DomainError(
            f"{owner}: candidates must be all different, got {shown(items[first])} at positions {first} and {second}"
        )
    return tuple(item if isinstance(item, str) else item.decode() for item in items)
