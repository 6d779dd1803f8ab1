r"""CSV cells that spreadsheets show and do not run.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, and a formula can send the sheet
to a stranger. Labels are chosen by whoever makes a survey, and the strings of a search by whoever answers it. So text
that would begin a formula gets an apostrophe before it, which spreadsheets take for "this is text". A ``;``, a tab or
the end of a line may begin a cell, too, if the reader's settings say so, and what follows is treated alike.

The apostrophe is added at the start of each such part, once, and only there, so it can be taken away again. JSON and
Parquet hold every label unchanged.

>>> escape_cell("=1+1"), escape_cell("a = b"), escape_cell("'=1+1"), escape_cell("'tis")
("'=1+1", 'a = b', "''=1+1", "'tis")
>>> unescape_cell("'=1+1"), unescape_cell("'tis")
('=1+1', "'tis")
"""

import re
from collections.abc import Mapping

_START = r"(^|[;\t\r\n])"
_PASSED_OVER = "[\\s\"'`\u2018-\u201f\x00\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufe0f\ufeff]*"
_FORMULA = rf"(?={_PASSED_OVER}[=+\-@\uff1d\uff0b\uff0d\uff20])"  # also in their wide forms
_CONTROL = r"(?='*[\t\r\n])"  # at the start of a cell, whatever follows
_UNESCAPED = re.compile(rf"{_START}{_FORMULA}|^{_CONTROL}")
_ESCAPED = re.compile(rf"{_START}'{_FORMULA}|^'{_CONTROL}")


def escape_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs."""
    return _UNESCAPED.sub(r"\1'", text)


def unescape_cell(cell: str) -> str:
    """Return the text of a cell: the inverse of ``escape_cell``."""
    return _ESCAPED.sub(r"\1", cell)


def escape_row(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row with its texts escaped; numbers stay numbers, below zero too.

    >>> escape_row({"label": "-1", "count": -1.5})
    {'label': "'-1", 'count': -1.5}
    """
    return {name: escape_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()}
