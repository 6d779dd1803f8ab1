"""Canonical JSON: one text for each value, so that its hash can be an identifier.

The form follows RFC 8785: keys in order, no white space, numbers and strings as ECMAScript writes them. A browser
gets the same bytes from ``JSON.stringify`` with sorted keys.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


def dumps(value: Json) -> bytes:
    """Return the canonical form of a JSON value.

    >>> dumps({"b": [1.0, 0.000001, 1e-7, 1e21], "a": "é"}).decode()
    '{"a":"é","b":[1,0.000001,1e-7,1e+21]}'
    """
    return _text(value).encode()


def identifier(value: Json) -> str:
    """Return the SHA-256 of the canonical form, as hexadecimal digits.

    >>> identifier({})[:8]
    '44136fa3'
    """
    return hashlib.sha256(dumps(value)).hexdigest()


def _text(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(key)}:{_text(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """Write a float as ECMAScript does: the same shortest digits as Python, other rules for the exponent."""
    if not math.isfinite(value):
        raise ValueError(f"canonical: {value} is not a JSON number")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole.lstrip("0")) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    if not whole.strip("0"):
        point -= len(fraction) - len(fraction.lstrip("0"))
    digits = digits.rstrip("0")
    return sign + _place(digits, point)


def _place(digits: str, point: int) -> str:
    """Put the decimal point after ``point`` digits, or use an exponent."""
    if 0 < point <= 21:
        padded = digits.ljust(point, "0")
        return padded[:point] + (f".{padded[point:]}" if padded[point:] else "")
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    tail = f".{digits[1:]}" if digits[1:] else ""
    return f"{digits[0]}{tail}e{point - 1:+d}"
