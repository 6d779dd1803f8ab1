"""Docstrings on the documentation site: sessions are blocks of code, facts about an oracle a list, documents links."""

import re
from pathlib import Path
from typing import Any

import griffe

DOCS = Path(__file__).parents[1] / "docs"
# What the cells of a fact after the first are; tools/oracle_tables.py makes columns of them.
_CELLS = {"Report": ("", "bits: ", "notion: "), "Fields": ("",), "Words": ("", ""), "Best fake": ("", "leverage: ")}
_SESSION = re.compile(r"(?:^|(?<=\n\n))(>>> .*?)(?=\n\n|\Z)", re.DOTALL)
_FACT = re.compile(rf"^({'|'.join(_CELLS)}): (.*(?:\n +.*)*)", re.MULTILINE)
_DOCUMENT = re.compile(r"(`*)docs/([\w/]+)\.md\1")


class Sessions(griffe.Extension):
    """Fences the sessions of every docstring, lists its facts, and links the documents that it names."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one thing of the package."""
        if obj.docstring:
            fenced = _SESSION.sub(r"```pycon\n\1\n```", obj.docstring.value)
            obj.docstring.value = linked(_FACT.sub(_bullet, fenced))


def linked(text: str) -> str:
    """Link the documents that a docstring names, from a page of the reference."""
    return _DOCUMENT.sub(_link, text)


def _bullet(match: re.Match[str]) -> str:
    cells = [" ".join(cell.split()) for cell in match[2].split("|")]
    return f"* {match[1]}: " + "; ".join(
        f"{label}{cell}" for label, cell in zip(_CELLS[match[1]], cells, strict=False) if cell
    )


def _link(match: re.Match[str]) -> str:
    title = (DOCS / f"{match[2]}.md").read_text().partition("\n")[0].removeprefix("# ")
    return f"[{title}](../{match[2]}.md)"
