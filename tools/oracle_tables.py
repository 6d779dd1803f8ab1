"""Write the tables of oracles in the documents, from the classes: ``make tables``.

A table stands between two markers. Its rows come from lines of the docstrings: ``Report``, ``Fields``, ``Words`` and
``Best fake``, cells divided by ``|``. Columns of a lake come from the types of reports.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from fldp.oracles.base.oracle import Oracle
from fldp.oracles.registry import built_in, examples
from fldp.wire.arrow_reports import names

ROOT = Path(__file__).parents[1]
LINES = ("Report", "Fields", "Words", "Best fake")
_ROOMS = ("plain", "flexible", "grouped", "sampled", "unequal", "strings")
_MARKED = re.compile(r"(<!-- oracles: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
Row = tuple[str, ...]


def line(cls: type[Oracle], name: str) -> Row:
    """Return the cells of a line of the docstring; without that line, there is none."""
    match = re.search(rf"^{name}: (.*(?:\n +.*)*)", inspect.cleandoc(cls.__doc__ or ""), re.MULTILINE)
    text = " ".join(match[1].split()).replace("``", "`") if match else ""
    return tuple(cell.strip() for cell in text.split("|")) if text else ()


def _report(cls: type[Oracle]) -> Row:
    """Return what a report is, its bits and its notion; bits of a usual oracle are computed."""
    what, *rest = line(cls, "Report") or ("",)
    bits, notion = [*rest, "", ""][:2]
    return what, bits or f"{cls(epsilon=1.0, domain_size=1023).report_format.bits:,}", notion or "eps-LDP"  # type: ignore[call-arg]


def _columns(cls: type[Oracle]) -> Row:
    """Return the columns of a lake; of numbered ones, the first two."""
    oracle = max(examples(cls), key=lambda each: len(names(each)))
    numbered = [name for name in names(oracle) if name[-1].isdigit()]
    shown = [f"`{name}`" for name in names(oracle) if name not in numbered[2:]]
    if numbered[2:]:
        shown.insert(2, "…")
    kind = (
        "bytes of a fixed length"
        if oracle.report_format.shape
        else "an unsigned integer"
        if len(shown) == 1
        else "unsigned integers"
    )
    return (f"{', '.join(shown)}: {kind}",)


_TABLES: dict[str, tuple[str, Callable[[type[Oracle]], Row], str]] = {
    "reports": ("oracle | what a report is | bits, d = 1,023, eps = 1 | notion", _report, "`{cls.__name__}`"),
    "fields": (
        "oracle | numbers of a report, with their widths in bits",
        lambda cls: line(cls, "Fields"),
        "`{cls.name}`",
    ),
    "words": ("oracle | words | how", lambda cls: line(cls, "Words"), "{cls.__name__}"),
    "columns": ("oracle | columns", _columns, "`{cls.name}`"),
    "fakes": (
        "oracle | the best report | leverage of maximal gain",
        lambda cls: line(cls, "Best fake"),
        "{cls.__name__}",
    ),
}


def ordered(classes: Iterable[type[Oracle]]) -> list[type[Oracle]]:
    """Return the classes in the order of their rooms."""
    return sorted(classes, key=lambda cls: (_ROOMS.index(cls.__module__.split(".")[2]), cls.name))


def table(name: str) -> str:
    """Return a table; oracles with the same cells share a row."""
    head, cells, label = _TABLES[name]
    rows: dict[Row, list[str]] = {}
    for cls in ordered(built_in()):
        rows.setdefault(cells(cls), []).append(label.format(cls=cls))
    lines = [head, "|".join(["---"] * (head.count("|") + 1))]
    lines += [" | ".join((", ".join(oracles), *row)) for row, oracles in rows.items()]
    return "".join(f"|{text}|\n" if text.startswith("-") else f"| {text} |\n" for text in lines)


def document(text: str) -> str:
    """Return the text of a document with its tables as they should be."""
    return _MARKED.sub(lambda match: match[1] + table(match[2]) + match[3], text)


def documents() -> list[Path]:
    """Return the documents that have tables of oracles."""
    every = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    return sorted(path for path in every if _MARKED.search(path.read_text()))


def main() -> None:
    """Write the tables of all documents anew."""
    for path in documents():
        path.write_text(document(path.read_text()))


if __name__ == "__main__":
    main()
