"""Downloads: answers that are streamed into a file, in little memory, whole or not at all."""

from pathlib import Path
from typing import BinaryIO

from fldp.errors import CollectorError, FldpError
from fldp.support.progress import Progress, ignore
from fldp.support.validation import fail, one_of

FORMATS = {"csv": (b"value,label,", b"\n"), "json": (b"{", b"}"), "parquet": (b"PAR1", b"PAR1")}  # start and end
_ENDINGS = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".pq": "parquet"}
MAX_EXPORT, MAX_ESTIMATES = 1 << 40, 1 << 30


def format_of(path: str | Path, asked: str | None) -> str:
    """Return the format that is asked for, or that the name of a file says.

    >>> format_of("estimates.pq", None), format_of("-", "csv")
    ('parquet', 'csv')
    """
    if asked is not None:
        return str(one_of(*FORMATS)("Client", "format", asked))
    form = _ENDINGS.get(Path(path).suffix.lower())
    if form is None:
        raise fail("Client", "path", f"a name that ends in one of {', '.join(_ENDINGS)}, or give format=", str(path))
    return form


class Saved:
    """A file that an answer is saved in, from its beginning at every attempt."""

    def __init__(self, file: BinaryIO, form: str, progress: Progress = ignore) -> None:
        self._file, self._form, self._progress = file, form, progress
        self.size, self._start, self._end = 0, b"", b""

    def __call__(self, part: bytes | None) -> None:
        try:
            self._restart() if part is None else self._add(part)
        except OSError as error:  # not to be taken for one of the network
            raise FldpError(f"{self._file.name}: cannot be written: {error.strerror}") from None

    def _add(self, part: bytes) -> None:
        self._file.write(part)
        self.size += len(part)
        self._start = (self._start + part[:16])[:16] if len(self._start) < 16 else self._start
        self._end = (self._end + part[-4:])[-4:]
        self._progress(len(part))

    def _restart(self) -> None:
        if self.size and not self._file.seekable():
            raise FldpError(f"{self._file.name}: the answer broke off, and what was written cannot be undone")
        if self.size:
            self._file.seek(0)
            self._file.truncate()
        self._progress(-self.size)
        self.size, self._start, self._end = 0, b"", b""

    def check(self) -> None:
        """Refuse what does not begin and end as such a file does."""
        start, end = FORMATS[self._form]
        if not (self._start.startswith(start) and self._end.endswith(end)):
            raise CollectorError(f"the answer is not a whole file of {self._form}")
