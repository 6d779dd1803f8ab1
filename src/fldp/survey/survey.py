"""Survey: a question, its labels, an oracle, and the rules of collecting; as a file, as JSON, as a version.

The version of a survey is the SHA-256 of its canonical JSON: everything that a participant answers to. Change a word of
it and it is another version, with other reports.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.reports import Reports, Tally
from fldp.errors import ParameterError
from fldp.oracles.base import ticket_words
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.treatment import Treatment, treatment_of
from fldp.randomness.stream import Stream
from fldp.search.rounds import Round
from fldp.support import canonical_json
from fldp.survey.mistakes import Mistake, MistakeList
from fldp.survey.question import Question
from fldp.survey.rules import COLLECT_DEFAULTS, STRINGS, check_survey
from fldp.survey.search_table import described
from fldp.survey.text import check_labels_visible, check_texts
from fldp.wire.description import describe


class SurveyError(ParameterError):
    """A survey with mistakes in it: the first of them are in ``mistakes``, and how many more there are."""

    def __init__(self, source: str, mistakes: list[Mistake]) -> None:
        self.source, self.mistakes = source, mistakes
        super().__init__(f"{source}: " + "; ".join(map(str, mistakes)))


@dataclass(frozen=True)
class Survey:
    """A survey, immutable.

    >>> survey = Survey.from_dict({
    ...     "name": "browser",
    ...     "question": "Which browser are you using?",
    ...     "labels": ["chrome", "firefox", "safari", "edge", "other"],
    ...     "oracle": {"name": "fhr", "epsilon": 1.0},
    ... })
    >>> survey.oracle
    FHR(epsilon=1.0, domain_size=5)
    >>> survey.encode(["safari", "edge"])
    array([2, 3])
    >>> survey.version[:8]
    '2dff65b8'
    """

    name: str
    question: str
    oracle: Oracle
    labels: tuple[str, ...] | None = None
    title: str | None = None
    description: str | None = None
    topic: str | None = None
    collect: Mapping[str, Any] = field(default_factory=lambda: dict(COLLECT_DEFAULTS))
    search: Round | None = None
    treatment: Treatment = field(default_factory=Treatment, compare=False)  # for plans: the oracle has its part

    @classmethod
    def load(cls, path: str | Path, *, draft: bool = False) -> "Survey":
        """Read a survey from a TOML file, or from JSON where the name ends so; all mistakes are reported at once.

        A ``draft`` must also have texts without hidden characters and labels that can be told apart by eye. Surveys
        that exist already need not: their versions depend on every character.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise SurveyError(str(path), [Mistake(None, f"cannot be read: {error.strerror}")]) from None
        except UnicodeDecodeError:
            raise SurveyError(str(path), [Mistake(None, "is not UTF-8 text")]) from None
        return cls.parse(text, is_json=path.suffix == ".json", source=str(path), folder=path.parent, draft=draft)

    @classmethod
    def parse(
        cls, text: str, *, is_json: bool, source: str = "survey", folder: Path | None = None, draft: bool = False
    ) -> "Survey":
        """Read a survey from its text."""
        try:
            fields = json.loads(text) if is_json else tomllib.loads(text)
        except json.JSONDecodeError as error:
            raise SurveyError(source, [Mistake(error.lineno, f"is not JSON: {error.msg}")]) from None
        except tomllib.TOMLDecodeError as error:
            raise SurveyError(source, [_syntax(str(error))]) from None
        except RecursionError:
            raise SurveyError(source, [Mistake(None, "is nested too deeply")]) from None
        except ValueError:
            raise SurveyError(source, [Mistake(None, "holds a number of too many digits")]) from None
        survey = cls._made(fields, source, text, folder)
        if draft:
            survey.check_draft(source, text)
        return survey

    @classmethod
    def from_dict(cls, fields: Any, source: str = "survey") -> "Survey":
        """Make a survey from what its JSON says."""
        return cls._made(fields, source, "", None)

    @classmethod
    def _made(cls, fields: Any, source: str, text: str, folder: Path | None) -> "Survey":
        checked, found = check_survey(fields, folder)
        if found.count:
            raise SurveyError(source, found.placed(text))
        return cls(**checked)

    def check_draft(self, source: str = "survey", text: str = "") -> None:
        """Refuse texts that a new survey must not have: hidden characters, and labels that look alike."""
        found = MistakeList()
        texts = {key: getattr(self, key) for key in ("question", "title", "description")}
        check_texts({key: value for key, value in texts.items() if value is not None}, found)
        check_labels_visible("labels", self.labels or (), found)
        if found.count:
            raise SurveyError(source, found.placed(text))

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """Everything that a participant answers to, as JSON."""
        texts = {name: getattr(self, name) for name in ("title", "description", "topic")}
        return {
            "format": "fldp-survey-1",
            "name": self.name,
            "question": self.question,
            **{name: text for name, text in texts.items() if text is not None},
            **self.domain,
            "oracle": {name: value for name, value in describe(self.oracle).items() if name != "domain_size"},
            "collect": dict(self.collect),
        }

    @property
    def domain(self) -> dict[str, Any]:
        """What may be answered: the labels, the number of values, or any string; and to which round of a search."""
        if self.labels is not None:
            return {"labels": list(self.labels)}
        if self.search is not None:
            return {"domain": STRINGS, "search": described(self.search)}
        return {"domain": STRINGS} if self.domain_size is None else {"domain_size": self.domain_size}

    @cached_property
    def version(self) -> str:
        """The identifier of exactly this survey."""
        return canonical_json.identifier(self.canonical)

    @property
    def daily(self) -> bool:
        """Whether a person may answer once a day, from what was kept the first time."""
        return self.collect.get("repeat") == "daily"

    @property
    def domain_size(self) -> int | None:
        """The number of values; None where they are strings."""
        return self.asked.domain_size

    @property
    def differing(self) -> dict[str, Any]:
        """How values differ in the protection that they need: as declared, or else as the oracle treats them."""
        return self.treatment.parameters or treatment_of(self.oracle)

    @cached_property
    def asked(self) -> Question:
        """The oracle with the labels, or the round of a search, that give its values their meaning."""
        return Question(self.oracle, self.labels, self.search)

    def value(self, label: str) -> int | str | None:
        """Return the value of a label, or None if there is no such label; a string is its own value."""
        return self.asked.value(label)

    @property
    def value_type(self) -> Any:
        """The type of an array of values."""
        return self.asked.value_type

    def encode(self, labels: Iterable[str]) -> NDArray[Any]:
        """Turn labels into values; an unknown one is an error."""
        return self.asked.encode(labels, f"survey {self.name}")

    def label(self, value: Any) -> str:
        """Return the label of a value."""
        return self.asked.label(value)

    @property
    def derives(self) -> bool:
        """Whether tickets decide what is public in a report."""
        return bool(self.collect.get("derive"))

    def privatize(self, labels: Iterable[str], *, rng: int | Stream | None = None) -> Reports:
        """Turn labels into reports."""
        return self.oracle.privatize(self.encode(labels), rng=rng)

    def privatize_with(self, ticket: str, label: str) -> Reports:
        """Turn one label into the report of this ticket, where tickets decide what is public in it."""
        return ticket_words.privatize(self.oracle, self.encode([label])[0], ticket, self.version)

    def estimate(self, tally: Tally | Reports, **options: Any) -> Estimate:
        """Estimate how many participants hold each label; where answers are strings, each of ``candidates``."""
        return self.asked.estimate(tally, **options)

    def at(self, search: Round) -> "Survey":
        """Return the version of this survey that asks another round of its search."""
        return replace(self, search=search, oracle=search.oracle)


def _syntax(message: str) -> Mistake:
    """Take the line out of a message of the TOML parser."""
    text, _, place = message.partition(" (at line ")
    line = place.partition(",")[0]
    return Mistake(int(line) if line.isdigit() else None, f"is not TOML: {text[:200]}")  # a key has any length
