"""One column of a spreadsheet: an .xlsx is a zip of XML, and is read here as a stream."""

import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO
from xml.parsers import expat

from fldp.errors import FldpError
from fldp.support.progress import progress

MAX_BYTES = 1 << 30  # of one part, unpacked
_PIECE = 1 << 20
_SHEET, _STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"


def read_column(file: BinaryIO, heading: str) -> Iterator[str]:
    """Yield the text of every cell under a heading of the first sheet; cells that hold nothing are left out."""
    try:
        with zipfile.ZipFile(file) as parts:
            strings = _Strings()
            if _STRINGS in parts.namelist():
                for _ in _parsed(parts, _STRINGS, strings):
                    pass
            sheet = _Cells(heading, strings.texts)
            yield from _parsed(parts, _SHEET, sheet)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, OSError, zlib.error) as error:
        raise FldpError(f"spreadsheet: is not a whole .xlsx: {error}") from None
    except expat.ExpatError as error:
        raise FldpError(f"spreadsheet: is not XML: {error}") from None
    if sheet.column is None:
        raise FldpError(f"spreadsheet: the first row has no {heading!r}")


def _parsed(parts: zipfile.ZipFile, name: str, reader: "_Strings | _Cells") -> Iterator[str]:
    """Feed a part to a reader, and yield what the reader gives on the way."""
    size = parts.getinfo(name).file_size
    if size > MAX_BYTES:
        raise FldpError(f"spreadsheet: {name} must be at most {MAX_BYTES:,} bytes, got {size:,}")
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse  # entities could be defined in one, and spreadsheets have none
    with parts.open(name) as part, progress("reading the spreadsheet", size) as advance:
        while piece := part.read(_PIECE):
            parser.Parse(piece, False)
            advance(len(piece))
            yield from reader.take()
    parser.Parse(b"", True)
    yield from reader.take()


def _refuse(*ignored: Any) -> None:
    del ignored
    raise FldpError("spreadsheet: has a document type, which a spreadsheet never has")


class _Strings:
    """The texts that cells refer to by number; a text may come in several runs, and with a reading that is no part."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._runs: list[str] = []
        self._taking = self._reading = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        del attributes
        self._reading |= name == "rPh"
        self._taking = name == "t" and not self._reading

    def text(self, text: str) -> None:
        if self._taking:
            self._runs.append(text)

    def end(self, name: str) -> None:
        self._taking = False
        self._reading &= name != "rPh"
        if name == "si":
            self.texts.append("".join(self._runs))
            self._runs = []

    def take(self) -> list[str]:
        return []


class _Cells:
    """The cells of the column whose heading, in the first row, is the one asked for."""

    def __init__(self, heading: str, strings: list[str]) -> None:
        self.column: str | None = None
        self._heading, self._strings = heading, strings
        self._place = self._kind = ""
        self._runs: list[str] = []
        self._texts: list[str] = []
        self._taking, self._first = False, True

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self._place = attributes.get("r", "").rstrip("0123456789")
            self._kind, self._runs = attributes.get("t", "n"), []
        elif name in ("v", "t"):
            self._taking = self._first or self._place == self.column

    def text(self, text: str) -> None:
        if self._taking:
            self._runs.append(text)

    def end(self, name: str) -> None:
        self._taking = False
        if name == "row":
            self._first = False
        elif name == "c" and self._runs:
            self._cell(self._shared() if self._kind == "s" else "".join(self._runs))
            self._runs = []

    def _cell(self, text: str) -> None:
        if not self._first:
            self._texts.append(text)
        elif text == self._heading:
            self.column = self._place

    def _shared(self) -> str:
        number = "".join(self._runs).strip()
        if not number.isdigit() or int(number) >= len(self._strings):
            raise FldpError(f"spreadsheet: a cell refers to text number {number}, where there are {len(self._strings)}")
        return self._strings[int(number)]

    def take(self) -> list[str]:
        texts, self._texts = self._texts, []
        return texts
