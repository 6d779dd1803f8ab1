"""Chances: the words that chose which questions of a survey are asked, in a file beside the ledger.

A word is drawn and stored before anybody sees what it asks. Nothing about a person is in it. The file is only read and
replaced while the ledger is locked, so that no two processes draw for one survey.
"""

import json
import re
from pathlib import Path

from fldp.errors import FldpError
from fldp.support.atomic_files import whole_file
from fldp.support.sqlite_errors import DAMAGED

_FORMAT = "fldp-chances-1"
_WORD = re.compile("[0-9a-f]{16}")


class ChanceFile:
    """The chances of a ledger, by origin and version of a survey; the file is made with the first of them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     chances = ChanceFile(Path(folder, "answers.db.chances"))
    ...     chances.add("https://a.example", "00", 7)
    ...     chances.find("https://a.example", "00"), chances.find("https://a.example", "01")
    (7, None)
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def find(self, origin: str, version: str) -> int | None:
        """Return the word of a version of a survey, or None."""
        word = self._words().get(f"{origin} {version}")
        return None if word is None else int(word, 16)

    def add(self, origin: str, version: str, word: int) -> None:
        """Store the word of a version of a survey; on the disk when this returns."""
        words = {**self._words(), f"{origin} {version}": f"{word:016x}"}
        try:
            with whole_file(self.path) as hidden:
                hidden.write_text(json.dumps({"format": _FORMAT, "words": words}))
        except OSError as error:
            raise FldpError(f"{self.path}: cannot be written: {error.strerror}") from None

    def _words(self) -> dict[str, str]:
        """Return all words; a damaged file is refused, since over a fresh one chance would choose again."""
        try:
            fields = json.loads(self.path.read_text())
            words = fields["words"] if fields["format"] == _FORMAT else None
            if isinstance(words, dict) and all(
                isinstance(word, str) and _WORD.fullmatch(word) for word in words.values()
            ):
                return words
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise FldpError(f"{self.path}: cannot be read: {error.strerror}") from None
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
        raise FldpError(f"{self.path}: {DAMAGED}")
