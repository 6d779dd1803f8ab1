"""Survey: a question, its labels, an oracle and the rules of collecting.

The version of a survey is the SHA-256 of its canonical JSON, everything that a participant answers to. Changing a word
makes another version, with reports of its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fldp.data.anytime_intervals import PLANNED
from fldp.data.estimate import Estimate
from fldp.data.reports import Reports, Tally
from fldp.data.scale import Scale
from fldp.errors import DomainError
from fldp.oracles.base import ticket_words
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.treatment import Treatment, treatment_of
from fldp.passes.tokens import PassTerms
from fldp.randomness.stream import Stream
from fldp.search.rounds import Round
from fldp.support import canonical_json
from fldp.support.canonical_json import Json
from fldp.support.display import Displayed
from fldp.support.validation import MistakeList
from fldp.survey import pass_rules
from fldp.survey.mistakes import SurveyError, refuse
from fldp.survey.parsing import check_fields, parse_fields, read_text
from fldp.survey.question import Question
from fldp.survey.questions import RecordQuestion, SurveyQuestion
from fldp.survey.questions_table import described as described_oracle
from fldp.survey.rules import COLLECT_DEFAULTS, FORMAT, REPEATS, STRINGS, CollectRules, check_plain, keeps
from fldp.survey.search_table import described
from fldp.survey.visible_text import check_labels_visible, check_texts

__all__ = ["Survey", "SurveyError"]


@dataclass(frozen=True)
class Survey(Displayed):
    """A survey, immutable. ``load``, ``parse`` and ``from_dict`` check every field; the constructor checks none.

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
    collect: CollectRules = field(default_factory=COLLECT_DEFAULTS.copy)
    search: Round | None = None
    treatment: Treatment = field(default_factory=Treatment, compare=False)  # for plans: the oracle has its part
    language: str | None = None  # of its texts, and of the answer page
    number: Scale | None = None  # where a number is asked for: its range and its cells
    questions: tuple[SurveyQuestion, ...] = ()  # where there are several
    ask: str = "all"  # of several questions: all, or "drawn": the questions of the view that chance has drawn

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
        """Refuse what a new survey must not have: hidden characters, labels that look alike, etas of many weeks."""
        mistakes = MistakeList()
        texts = {key: getattr(self, key) for key in ("question", "title", "description")}
        check_texts({key: value for key, value in texts.items() if value is not None}, mistakes)
        if self.number is not None and self.number.unit is not None:
            check_texts({"unit": self.number.unit}, mistakes)
        check_labels_visible("labels", self.labels or (), mistakes)
        check_plain(self.repeat, self.oracle, mistakes)
        for place, asked in enumerate(self.questions):
            check_texts({f"questions[{place}].question": asked.text}, mistakes)
            check_labels_visible(f"questions[{place}].labels", asked.labels or (), mistakes)
        refuse(mistakes, source, text)

    @cached_property
    def canonical(self) -> dict[str, Json]:
        """Everything that a participant answers to, as a JSON object."""
        texts = {name: getattr(self, name) for name in ("title", "description", "topic", "language")}
        return {
            "format": FORMAT,
            "name": self.name,
            **({} if self.questions else {"question": self.question}),
            **{name: text for name, text in texts.items() if text is not None},
            **self.domain,
            "oracle": described_oracle(self.oracle),
            "collect": dict(self.collect),
        }

    @property
    def domain(self) -> dict[str, Json]:
        """What may be answered: the labels, the number of values, or any string; and to which round of a search."""
        if self.questions:
            asked: list[Json] = [question.canonical for question in self.questions]
            return {"questions": asked, **({} if self.ask == "all" else {"tables": {"ask": self.ask}})}
        if self.labels is not None:
            return {"labels": list(self.labels)}
        if self.number is not None:
            return {"number": self.number.described}
        if self.search is not None:
            return {"domain": STRINGS, "search": described(self.search)}
        return {"domain": STRINGS} if self.domain_size is None else {"domain_size": self.domain_size}

    @cached_property
    def version(self) -> str:
        """The identifier of exactly this survey."""
        return canonical_json.identifier(self.canonical)

    @property
    def repeat(self) -> str:
        """How often a person may answer: once, daily, weekly or monthly."""
        return str(self.collect.get("repeat", REPEATS[0]))

    @property
    def daily(self) -> bool:
        """Whether a person may answer once a day, from the permanent response of the first time."""
        return self.repeat == "daily"

    @property
    def keeps(self) -> bool:
        """Whether all reports of a person are drawn from what is kept of the first time, and cost nothing more."""
        return self.repeat != REPEATS[0] and keeps(self.oracle)

    @property
    def domain_size(self) -> int | None:
        """The number of values; None where they are strings."""
        return self.asked.domain_size

    @property
    def needs_candidates(self) -> bool:
        """Whether answers are any string, so that estimates are of candidates."""
        return self.domain_size is None and not self.questions

    @property
    def differing(self) -> dict[str, Json]:
        """How values differ in protection: as declared, or else as the oracle treats them."""
        return self.treatment.parameters or treatment_of(self.oracle)

    @cached_property
    def asked(self) -> Question:
        """The oracle with the labels, the round of a search, or the questions that give its values their meaning."""
        if self.questions:
            return RecordQuestion(self.oracle, questions=self.questions)
        return Question(self.oracle, self.labels, self.search, self.number)

    def value(self, label: str, *, clamp: bool = False) -> int | str | None:
        """Return the value of a label, or None if there is no such label; a string is its own value.

        A number outside its range counts as the nearest end, with ``clamp`` also where the survey refuses it.
        """
        return self.asked.value(label, clamp=clamp)

    @property
    def value_type(self) -> type[object]:
        """The type of an array of values."""
        return self.asked.value_type

    def encode(
        self, labels: Iterable[str | float], *, rng: int | Stream | None = None
    ) -> NDArray[np.int64 | np.object_]:
        """Turn labels, or numbers where one is asked for, into values; an unknown one is an error.

        Several questions take mappings from their names.
        ``rng`` decides how numbers are rounded where their mean is asked for: of no use but in experiments.
        """
        return self.asked.encode(labels, f"survey {self.name}", rng)

    def label(self, value: int | str) -> str:
        """Return the label of a value."""
        return self.asked.label(value)

    def record(self, answers: Mapping[str, object] | None, asked: Iterable[int] | None = None) -> int:
        """Return the record of a person's answers to several questions; an answer that it lacks is one at random.

        ``asked`` are the questions that need an answer, by their places; all of them unless given.
        """
        several = self.asked
        if not isinstance(several, RecordQuestion):
            raise DomainError(f"survey {self.name}: it asks one question, so the answer must be a text (not shown)")
        if answers is None:
            raise DomainError(f"survey {self.name}: it asks several questions, so name an answer to each (not shown)")
        return several.drawn_value(answers, asked)

    @property
    def asks_less(self) -> bool:
        """Whether a person is asked only the questions that the report is about, which chance chooses first."""
        return self.ask == "drawn" and bool(self.questions)

    @property
    def release(self) -> int | None:
        """How many more reports it takes before those who read see them; None where they see every report at once."""
        return self.collect.get("release")

    @property
    def planned(self) -> int:
        """The number of reports that intervals for every look are planned with: fixed by the survey, not by data."""
        return PLANNED * int(self.collect["minimum"])

    @property
    def derives(self) -> bool:
        """Whether the public randomness of a report derives from its ticket or pass."""
        return bool(self.collect.get("derive"))

    @cached_property
    def pass_terms(self) -> PassTerms | None:
        """What all passes to this version have in common; None where it takes none."""
        return pass_rules.terms_of(self.collect, self.version)

    @property
    def needs_relay(self) -> bool:
        """Whether reports are taken through a relay only, so that the collector never sees who sends them."""
        return bool(self.collect.get("oblivious"))

    def privatize(self, labels: Iterable[str | float], *, rng: int | Stream | None = None) -> Reports:
        """Turn labels, or numbers where one is asked for, into reports."""
        if self.number is None:
            return self.oracle.privatize(self.encode(labels), rng=rng)
        stream = Stream.of(rng)
        return self.oracle.privatize(self.encode(labels, rng=stream.child("rounding")), rng=stream)

    def privatize_with(self, ticket: str, label: str) -> Reports:
        """Turn one label into a report whose public randomness derives from a ticket."""
        return ticket_words.privatize(self.oracle, self.encode([label])[0], ticket, self.version)

    def estimate(self, tally: Tally | Reports, **options: object) -> Estimate:
        """Estimate how many participants hold each label; where answers are strings, each of ``candidates``.

        Several questions give ``Tables``: ``estimate["os"]`` is the estimate of one of them.
        """
        return self.asked.estimate(tally, **options)

    def at(self, search: Round) -> "Survey":
        """Return the version of this survey that asks another round of its search."""
        return replace(self, search=search, oracle=search.oracle)

    def __repr__(self) -> str:
        return f"<survey {self.name}, version {self.version[:12]}, with {self.oracle!r}>"
