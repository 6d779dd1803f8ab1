"""Text files beside a ledger: the words that chose which questions are asked, and passes.

A chance is drawn and stored before anybody sees what it asks; the secrets of a pass before anybody is asked for it.
No answer of a person is in them. The files are only read and replaced while the ledger is locked, so that no two
processes draw for one survey.
"""

import json
import re
from pathlib import Path

from fldp.errors import FldpError
from fldp.support.atomic_files import whole_file
from fldp.support.sqlite_errors import DAMAGED

_WORD = re.compile("[0-9a-f]{16}")


class TextFile:
    """Texts by origin and version of a survey; the file is made with the first of them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     texts = TextFile(Path(folder, "answers.db.texts"), "texts", re.compile("[a-z]+"))
    ...     texts.put("https://a.example", "00", "tea")
    ...     texts.find("https://a.example", "00"), texts.find("https://a.example", "01")
    ('tea', None)
    """

    def __init__(self, path: Path, kind: str, pattern: re.Pattern[str]) -> None:
        self.path, self._pattern = path, pattern
        self._format, self._field = f"fldp-{kind}-1", "words" if kind == "chances" else kind

    def find(self, origin: str, version: str) -> str | None:
        """Return the text of a version of a survey, or None."""
        return self._texts().get(f"{origin} {version}")

    def put(self, origin: str, version: str, text: str) -> None:
        """Store the text of a version of a survey; on the disk when this returns."""
        texts = {**self._texts(), f"{origin} {version}": text}
        try:
            with whole_file(self.path) as hidden:
                hidden.write_text(json.dumps({"format": self._format, self._field: texts}))
        except OSError as error:
            raise FldpError(f"{self.path}: cannot be written: {error.strerror}") from None

    def _texts(self) -> dict[str, str]:
        """Return all texts; a damaged file is refused, since over a fresh one all would be drawn again."""
        try:
            fields = json.loads(self.path.read_text())
            texts = fields[self._field] if fields["format"] == self._format else None
            if isinstance(texts, dict) and all(
                isinstance(text, str) and self._pattern.fullmatch(text) for text in texts.values()
            ):
                return texts
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise FldpError(f"{self.path}: cannot be read: {error.strerror}") from None
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
        raise FldpError(f"{self.path}: {DAMAGED}")


class ChanceFile:
    """The chances of a ledger.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     chances = ChanceFile(Path(folder, "answers.db.chances"))
    ...     chances.add("https://a.example", "00", 7)
    ...     chances.find("https://a.example", "00"), chances.find("https://a.example", "01")
    (7, None)
    """

    def __init__(self, path: Path) -> None:
        self._texts = TextFile(path, "chances", _WORD)

    def find(self, origin: str, version: str) -> int | None:
        """Return the word of a version of a survey, or None."""
        word = self._texts.find(origin, version)
        return None if word is None else int(word, 16)

    def add(self, origin: str, version: str, word: int) -> None:
        """Store the word of a version of a survey; on the disk when this returns."""
        self._texts.put(origin, version, f"{word:016x}")
