"""Survey: a question, its labels, an oracle and the rules of collecting.

The version of a survey is the SHA-256 of its canonical JSON, everything that a participant answers to. Changing a word
makes another version, with reports of its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.reports import Reports, Tally
from fldp.oracles.base import ticket_words
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.treatment import Treatment, treatment_of
from fldp.randomness.stream import Stream
from fldp.search.rounds import Round
from fldp.support import canonical_json
from fldp.support.canonical_json import Json
from fldp.support.display import Displayed
from fldp.support.validation import MistakeList
from fldp.survey.mistakes import SurveyError, refuse
from fldp.survey.parsing import check_fields, parse_fields, read_text
from fldp.survey.question import Question
from fldp.survey.rules import COLLECT_DEFAULTS, FORMAT, STRINGS
from fldp.survey.search_table import described
from fldp.survey.visible_text import check_labels_visible, check_texts
from fldp.wire.description import describe

__all__ = ["Survey", "SurveyError"]


@dataclass(frozen=True)
class Survey(Displayed):
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
    language: str | None = None  # that of its texts, and of the page on which it is answered

    @classmethod
    def load(cls, path: str | Path, *, draft: bool = False) -> "Survey":
        """Read a survey from a TOML file, or a JSON file if its name ends in ``.json``; report all mistakes at once.

        A ``draft`` must also have texts without hidden characters and labels that can be told apart by eye. Surveys
        that exist already need not: their versions depend on every character.
        """
        path = Path(path)
        source, text = str(path), read_text(path)
        return cls.parse(text, is_json=path.suffix == ".json", source=source, folder=path.parent, draft=draft)

    @classmethod
    def parse(
        cls, text: str, *, is_json: bool, source: str = "survey", folder: Path | None = None, draft: bool = False
    ) -> "Survey":
        """Read a survey from its text."""
        fields = parse_fields(text, is_json=is_json, source=source)
        survey = cls(**check_fields(fields, source, text=text, folder=folder))
        if draft:
            survey.check_draft(source, text)
        return survey

    @classmethod
    def from_dict(cls, fields: object, source: str = "survey") -> "Survey":
        """Read a survey from its JSON object."""
        return cls(**check_fields(fields, source))

    def check_draft(self, source: str = "survey", text: str = "") -> None:
        """Refuse texts that a new survey must not have: hidden characters, and labels that look alike."""
        mistakes = MistakeList()
        texts = {key: getattr(self, key) for key in ("question", "title", "description")}
        check_texts({key: value for key, value in texts.items() if value is not None}, mistakes)
        check_labels_visible("labels", self.labels or (), mistakes)
        refuse(mistakes, source, text)

    @cached_property
    def canonical(self) -> dict[str, Json]:
        """Everything that a participant answers to, as a JSON object."""
        texts = {name: getattr(self, name) for name in ("title", "description", "topic", "language")}
        return {
            "format": FORMAT,
            "name": self.name,
            "question": self.question,
            **{name: text for name, text in texts.items() if text is not None},
            **self.domain,
            "oracle": {name: value for name, value in describe(self.oracle).items() if name != "domain_size"},
            "collect": dict(self.collect),
        }

    @property
    def domain(self) -> dict[str, Json]:
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
        """Whether a person may answer once a day, from the permanent response of the first time."""
        return self.collect.get("repeat") == "daily"

    @property
    def domain_size(self) -> int | None:
        """The number of values; None where they are strings."""
        return self.asked.domain_size

    @property
    def needs_candidates(self) -> bool:
        """Whether answers are any string, so that estimates are of candidates."""
        return self.domain_size is None

    @property
    def differing(self) -> dict[str, Json]:
        """How values differ in protection: as declared, or else as the oracle treats them."""
        return self.treatment.parameters or treatment_of(self.oracle)

    @cached_property
    def asked(self) -> Question:
        """The oracle with the labels, or the round of a search, that give its values their meaning."""
        return Question(self.oracle, self.labels, self.search)

    def value(self, label: str) -> int | str | None:
        """Return the value of a label, or None if there is no such label; a string is its own value."""
        return self.asked.value(label)

    @property
    def value_type(self) -> type[object]:
        """The type of an array of values."""
        return self.asked.value_type

    def encode(self, labels: Iterable[str]) -> NDArray[np.int64 | np.object_]:
        """Turn labels into values; an unknown one is an error."""
        return self.asked.encode(labels, f"survey {self.name}")

    def label(self, value: int | str) -> str:
        """Return the label of a value."""
        return self.asked.label(value)

    @property
    def release(self) -> int | None:
        """How many more reports it takes before those who read see them; None where they see every report at once."""
        return self.collect.get("release")

    @property
    def derives(self) -> bool:
        """Whether the public randomness of a report derives from its ticket."""
        return bool(self.collect.get("derive"))

    def privatize(self, labels: Iterable[str], *, rng: int | Stream | None = None) -> Reports:
        """Turn labels into reports."""
        return self.oracle.privatize(self.encode(labels), rng=rng)

    def privatize_with(self, ticket: str, label: str) -> Reports:
        """Turn one label into a report whose public randomness derives from a ticket."""
        return ticket_words.privatize(self.oracle, self.encode([label])[0], ticket, self.version)

    def estimate(self, tally: Tally | Reports, **options: object) -> Estimate:
        """Estimate how many participants hold each label; where answers are strings, each of ``candidates``."""
        return self.asked.estimate(tally, **options)

    def at(self, search: Round) -> "Survey":
        """Return the version of this survey that asks another round of its search."""
        return replace(self, search=search, oracle=search.oracle)

    def __repr__(self) -> str:
        return f"<survey {self.name}, version {self.version[:12]}, with {self.oracle!r}>"
