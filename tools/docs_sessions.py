"""Docstrings on the documentation site: sessions are blocks of code, and the facts about an oracle a list."""

import re
from typing import Any

import griffe

_SESSION = re.compile(r"(?:^|(?<=\n\n))(>>> .*?)(?=\n\n|\Z)", re.DOTALL)

_FACT = re.compile(r"^(Report|Fields|Words|Best fake): ", re.MULTILINE)


class Sessions(griffe.Extension):
    """Puts fences around the sessions of every docstring, and a bullet before every fact."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one thing of the package."""
        if obj.docstring:
            fenced = _SESSION.sub(r"```pycon\n\1\n```", obj.docstring.value)
            obj.docstring.value = _FACT.sub(r"* \1: ", fenced)
