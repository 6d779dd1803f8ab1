"""Exact numbers: rationals from numbers and texts, and back."""

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational

from fldp.support import canonical_json
from fldp.support.validation import is_number

_MAX_TEXT, _MAX_EXPONENT = 1000, 1000


def exact(number: object) -> Fraction:
    """Return the exact value of a number, or of a text such as ``1/3``; an absurdly long one is a ValueError.

    >>> exact("1/3"), exact(0.5)
    (Fraction(1, 3), Fraction(1, 2))
    """
    if is_number(number) and hasattr(number, "item"):  # a number of NumPy, which is not loaded for this
        number = number.item()
    if not (is_number(number) or isinstance(number, str | Decimal)):
        raise TypeError
    if isinstance(number, str | Decimal):
        power = re.search(r"[eE][+-]?(\d+)", str(number))
        if len(str(number)) > _MAX_TEXT or (power and int(power[1]) > _MAX_EXPONENT):
            raise ValueError
    return Fraction(number)


def decimal(number: float | Fraction) -> Fraction:
    """Return the decimal number that a float is written as, not the double beside it.

    >>> decimal(0.1), decimal(0.1) + decimal(0.2) == decimal(0.3), 0.1 + 0.2 == 0.3
    (Fraction(1, 10), True, False)
    """
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    return Fraction(repr(float(number)))


def number_text(number: float | Fraction) -> str:
    """Return a number as a decimal where a short one is exact, as a fraction otherwise.

    >>> number_text(Fraction(11, 10)), number_text(Fraction(2)), number_text(Fraction(1, 3))
    ('1.1', '2', '1/3')
    """
    text = f"{float(number)!r}".removesuffix(".0")
    return text if Fraction(text) == number else str(number)


def share_text(eta: Fraction) -> str:
    """Return a share in words: a power of two as a fraction, any other as a decimal number.

    >>> share_text(Fraction(1, 8)), share_text(Fraction(67, 125)), share_text(Fraction(1))
    ('1/8', '0.536', '1')
    """
    is_power = eta.numerator == 1 and eta.denominator.bit_count() == 1
    return str(eta) if is_power else canonical_json.dumps(float(eta)).decode()
