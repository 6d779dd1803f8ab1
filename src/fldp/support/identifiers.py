"""Identifiers that programs exchange: for each one pattern and the words for it, used as a constraint.

A pattern reads the same in Python, in ECMAScript and in JSON Schema.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

from fldp.support.validation import fail


@dataclass(frozen=True)
class Identifier:
    """A kind of identifier.

    >>> SURVEY_NAME("survey", "name", "browser-2026")
    'browser-2026'
    >>> SURVEY_NAME.matches("Browser")
    False
    """

    pattern: str
    rule: str

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.ASCII)

    def matches(self, value: object) -> TypeGuard[str]:
        """Whether a value is an identifier of this kind."""
        return isinstance(value, str) and self._compiled.fullmatch(value) is not None

    def __call__(self, owner: str, name: str, value: object) -> str:
        """Accept an identifier of this kind: the constraint."""
        if not self.matches(value):
            raise fail(owner, name, self.rule, value)
        return value

    @property
    def schema(self) -> dict[str, str]:
        """The kind as JSON Schema.

        >>> VERSION.schema
        {'type': 'string', 'pattern': '^[0-9a-f]{64}$'}
        """
        return {"type": "string", "pattern": f"^{self.pattern}$"}


LANGUAGE = Identifier(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}", "the tag of a language, like en, de or pt-BR")
SURVEY_NAME = Identifier(
    "[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?",
    "1 to 64 of the characters a-z, 0-9, - and _, with a letter or digit at both ends",
)
VERSION = Identifier("[0-9a-f]{64}", "64 hexadecimal digits in lower case")
IDEMPOTENCY_KEY = Identifier(
    "[A-Za-z0-9_-]{22,128}", "22 to 128 of the characters A-Z, a-z, 0-9, - and _, at least 128 bits chosen at random"
)
SCOPES = ("admin", "read", "send")
TOKEN = Identifier(f"fldp_({'|'.join(SCOPES)})_[A-Za-z0-9_-]{{43}}", "a token of a collector")
TOKEN_ID = Identifier("[A-Za-z0-9_-]{1,64}", "1 to 64 letters, digits, - and _")
TICKET = Identifier("fldp_ticket_[A-Za-z0-9_-]{43}", "a ticket of a collector")
PASS = Identifier("fldp_pass_[A-Za-z0-9_-]{472}", "a pass to a survey")
