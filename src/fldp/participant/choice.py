"""Choice: a person's answer as the program states it, and the value that stands for it in a stranger's survey.

A collector chooses the labels that it offers. If an answer outside them were refused, the collector could learn the
answer without any noise: it offers half of all labels, sees who stays silent, and halves again. So whether an answer
is drawn never depends on both the answer and the survey:

* What the program itself rules out (text that no survey may hold, or a label that its own ``labels`` lack) is an error
  before any survey is looked at. No collector has a part in that rule.
* What the program expects of the survey (``labels``) is compared with the survey alone.
* An answer that the survey lacks is drawn as ``otherwise`` if the survey has that label, else as a label drawn
  uniformly at random. Both are functions of the answer ahead of the mechanism, so epsilon and eta hold as they are.

With a share ``u`` of people outside ``d`` labels and without ``otherwise``, ``u / d`` is added to the frequency of
each label.
"""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fldp.data.fingerprints import MAX_BYTES, utf8
from fldp.errors import DomainError
from fldp.oracles.sampled import drawn_view
from fldp.oracles.sampled.sampled import of_questions
from fldp.support.validation import fail
from fldp.survey.survey import Survey


@dataclass(frozen=True)
class Choice:
    """An answer, the label that replaces it where a survey lacks it, and the labels that the program expects.

    ``texts`` are the answer and its replacement, as far as the program allows them; they are in no ``repr``.

    >>> Choice.of("lynx", labels=["firefox", "other"], otherwise="other")
    Choice(labels=frozenset({...}))
    >>> Choice.of("lynx", labels=["firefox", "other"])
    Traceback (most recent call last):
    fldp.errors.DomainError: participant: the label must be one of the program's own labels (not shown)
    """

    texts: tuple[str, ...] = field(repr=False)
    labels: frozenset[str] | None = None
    answers: Mapping[str, object] | None = field(default=None, repr=False)  # to several questions, by their names
    word: int | None = field(default=None, repr=False)  # what chose the questions that are asked, where only some are

    @classmethod
    def of(
        cls,
        label: str | float | Mapping[str, object],
        *,
        labels: Iterable[str] | None = None,
        otherwise: str | None = None,
    ) -> "Choice":
        """Check what the program states, before any survey."""
        if isinstance(label, Mapping):
            if labels is not None or otherwise is not None:
                raise fail("participant", "labels and otherwise", "left out with answers to several questions", labels)
            return cls((), None, dict(label))
        own = None if labels is None else _own_labels(labels)
        if otherwise is not None and (utf8(otherwise) is None or (own is not None and otherwise not in own)):
            raise fail("participant", "otherwise", "a label, and one of labels where those are given", otherwise)
        text = repr(label) if isinstance(label, float) else label
        texts = (text,) if otherwise is None else (text, otherwise)
        allowed = tuple(text for text in texts if _is_text(text) and (own is None or text in own))
        if not allowed:
            rule = f"a text of 1 to {MAX_BYTES} bytes" if own is None else "one of the program's own labels"
            raise DomainError(f"participant: the label must be {rule} (not shown)")
        return cls(allowed, own)

    def mismatches(self, survey: Survey) -> tuple[str, ...]:
        """Return why the labels are not what the program expects, if so; the answer has no part in it."""
        if self.labels is None or (survey.labels is not None and self.labels == set(survey.labels)):
            return ()
        return (f"survey {survey.name} must have the {len(self.labels)} labels that the program expects",)

    def value(self, survey: Survey) -> int | str:
        """Return the value that is perturbed: the same steps for every answer, so that all take the same time."""
        if survey.questions or self.answers is not None:
            return survey.record(self.answers, asked_places(survey, self.word))
        size = survey.domain_size
        value: int | str = secrets.randbelow(size) if size is not None else self.texts[0]
        for text in reversed(self.texts):  # the answer itself comes last, and has the last word
            known = survey.value(text, clamp=True)  # never refused by a range, which the collector chooses
            value = value if known is None else known
        return value


def asked_places(survey: Survey, word: int | None) -> tuple[int, ...] | None:
    """Return the questions that a word asks, by their places; None where all are asked."""
    return None if word is None else drawn_view.questions_of(of_questions("participant", survey.oracle), word)


def _own_labels(labels: Any) -> frozenset[str]:
    """Accept the labels that the program expects."""
    texts = () if isinstance(labels, str | bytes) or not isinstance(labels, Iterable) else tuple(labels)
    if not texts or not all(map(_is_text, texts)):
        raise fail("participant", "labels", "a list of the labels that the program expects", labels)
    return frozenset(texts)


def _is_text(text: Any) -> bool:
    """Whether a survey of strings could hold this: a rule of fldp, the same for every survey."""
    return isinstance(text, str) and utf8(text) is not None
