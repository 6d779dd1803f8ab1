"""Reading a survey: from a file, through TOML or JSON, to the checked arguments of a ``Survey``."""

import json
import tomllib
from pathlib import Path
from typing import Any

from fldp.survey.mistakes import Mistake, SurveyError, refuse
from fldp.survey.rules import check_survey


def read_text(path: Path) -> str:
    """Return the text of a survey's file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SurveyError(str(path), [Mistake(None, f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError:
        raise SurveyError(str(path), [Mistake(None, "is not UTF-8 text")]) from None


def parse_fields(text: str, *, is_json: bool, source: str) -> object:
    """Return the fields of a survey from its text; nothing of them is checked yet."""
    try:
        return json.loads(text) if is_json else tomllib.loads(text)
    except json.JSONDecodeError as error:
        mistake = Mistake(error.lineno, f"is not JSON: {error.msg}")
    except tomllib.TOMLDecodeError as error:
        mistake = _toml_mistake(str(error))
    except RecursionError:
        mistake = Mistake(None, "is nested too deeply")
    except ValueError:
        mistake = Mistake(None, "holds a number of too many digits")
    raise SurveyError(source, [mistake])


def check_fields(fields: object, source: str, *, text: str = "", folder: Path | None = None) -> dict[str, Any]:
    """Return the arguments of a ``Survey``; ``folder`` is where a file of labels is looked for."""
    arguments, mistakes = check_survey(fields, folder)
    refuse(mistakes, source, text)
    return arguments


def _toml_mistake(message: str) -> Mistake:
    """Take the line out of a message of the TOML parser."""
    text, _, place = message.partition(" (at line ")
    line = place.partition(",")[0]
    return Mistake(int(line) if line.isdigit() else None, f"is not TOML: {text[:200]}")  # a key has any length
