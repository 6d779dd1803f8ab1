"""One column of a spreadsheet, read by openpyxl row by row, within limits on what a file may unpack to."""

import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from fldp.errors import FldpError
from fldp.support.optional_imports import load
from fldp.support.progress import progress

MAX_BYTES = 1 << 30  # of all parts, unpacked
MAX_ROWS = 1 << 20  # of a sheet: a row may claim any number, and openpyxl yields empty ones up to it
_STEP = 1 << 12


def read_column(file: BinaryIO, heading: str) -> Iterator[str]:
    """Yield the text of every cell under a heading of the first sheet; cells that hold nothing are left out."""
    openpyxl = load("openpyxl", "datasets")
    try:
        _check_parts(file)
        rows = _rows(openpyxl.load_workbook(file, read_only=True, data_only=True).worksheets[0])
        headings = next(rows, ())
        if heading not in headings:
            raise FldpError(f"spreadsheet: the first row has no {heading!r}")
        place = headings.index(heading)
        yield from (str(row[place]) for row in rows if place < len(row) and row[place] is not None)
    except FldpError:
        raise
    except Exception as error:  # openpyxl raises whatever its parsers raise
        raise FldpError(f"spreadsheet: is not a whole .xlsx: {error}") from None


def _check_parts(file: BinaryIO) -> None:
    """Refuse a file that unpacks to too much, or that defines entities, which no spreadsheet does."""
    with zipfile.ZipFile(file) as parts:
        size = sum(part.file_size for part in parts.infolist())
        if size > MAX_BYTES:
            raise FldpError(f"spreadsheet: its parts must have at most {MAX_BYTES:,} bytes, got {size:,}")
        for part in parts.infolist():
            with parts.open(part) as content:
                if b"<!DOCTYPE" in content.read(_STEP):
                    raise FldpError("spreadsheet: has a document type, which a spreadsheet never has")


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    with progress("reading the spreadsheet", sheet.max_row) as advance:
        sheet.reset_dimensions()  # what the file says of its size need not be so
        for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
            if number > MAX_ROWS:
                raise FldpError(f"spreadsheet: must have at most {MAX_ROWS:,} rows")
            if number % _STEP == 0:
                advance(_STEP)
            yield row
