"""Responder: answers one question one report at a time, in microseconds and without NumPy.

What does not depend on the value is computed once: the table of labels, the integer thresholds, the bytes before the
report. A call then draws a few words (``fldp.randomness.word_pool``) and compares.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from fldp.data.batch_frame import BatchFrame
from fldp.errors import DomainError, ParameterError, WireError
from fldp.responder.registry import checked_response, names, title_of
from fldp.responder.response import Report, Response
from fldp.support import canonical_json
from fldp.support.canonical_json import Json
from fldp.support.exact_numbers import share_text
from fldp.support.identifiers import VERSION
from fldp.support.validation import fail, is_integer

T = TypeVar("T")
_SURVEY_FORMAT = "fldp-survey-1"


class _Described(Protocol):
    """An oracle, as far as a responder needs one; ``fldp.oracles`` comes later and needs NumPy."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> dict[str, Json]: ...
    @property
    def _response(self) -> Response | None: ...


class _Asked(Protocol):
    """A survey, as far as a responder needs one."""

    @property
    def canonical(self) -> dict[str, Json]: ...
    @property
    def version(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...] | None: ...
    @property
    def oracle(self) -> _Described: ...


class Responder:
    """Turns one answer at a time into a private report: ``responder(answer)``, or ``encode`` for the bytes.

    It is made of an oracle or a survey, or of their JSON (``from_dict``), which loads neither NumPy nor Numba. An
    answer is a label where there are labels, else a number. Randomness comes from the operating system only.

    **Every call draws anew and gives away epsilon once more.** Of an oracle with an eta below 1, some reports of one
    person tell the answer for certain. ``fldp.Participant`` answers once, stores that and repeats it.

    A report is a number (RR, GRR, HR), a tuple of numbers (FHR, FWR, HRR, LWR, OLH; for SS the sorted set) or packed
    bits as bytes (SUE, OUE): what ``oracle.privatize`` would put into a row of ``Reports``.

    An oracle that ``follows`` a value which changes (LWR) draws all reports of a person from bytes that the caller
    stores: ``kept = responder.keep()`` once, before any answer, then ``responder.following(kept)`` is a responder of
    that person. All its reports together give away what the oracle's ``lasting_epsilon`` says, and that an answer
    changed may show.

    >>> import fldp
    >>> responder = Responder(fldp.GRR(epsilon=1.0, domain_size=5))
    >>> responder
    <responder of GRR(epsilon=1.0, domain_size=5), eta 1>
    >>> responder(3) in range(5)
    True
    >>> len(fldp.wire.decode(responder.encode(3))), len(fldp.wire.decode(responder.encode_all([3, 0, 0])))
    (1, 3)
    """

    __slots__ = ("_described", "_draw", "_frame", "_pack", "_response", "_size", "_values", "eta", "labels", "version")

    def __init__(self, question: "_Described | _Asked") -> None:
        asked, oracle = _parts(question)
        labels, version = (None, None) if asked is None else (asked.labels, asked.version)
        fields = {} if asked is None else asked.canonical
        _refuse_stages(fields)
        response = _for_repeat(fields, _own_response(oracle))
        self._set({"name": oracle.name, **oracle.parameters}, response, labels, version)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Json], *, version: str | None = None) -> "Responder":
        """Make a responder of the JSON of a survey, as a collector serves it, or of an oracle's description.

        ``version`` is the required version: the version of the survey that the program was written for.

        >>> responder = Responder.from_dict({"name": "rr", "epsilon": 1.0})
        >>> responder(1) in (0, 1)
        True
        """
        if not isinstance(fields, Mapping):
            raise fail("Responder", "the description", "the JSON object of a survey or of an oracle", fields)
        responder = object.__new__(cls)
        if "oracle" in fields:
            responder._set(*_of_survey(fields, version))
        elif version is not None:
            raise ParameterError("Responder: version= is for a survey, and this describes an oracle")
        else:
            parameters = {key: value for key, value in fields.items() if key != "name"}
            responder._set(dict(fields), checked_response(fields.get("name"), parameters), None, None)
        return responder

    def _set(
        self, described: dict[str, Json], response: Response, labels: Sequence[str] | None, version: str | None
    ) -> None:
        self._response = response
        self._described, self._draw, self._pack, self._size = described, response.draw, response.pack, response.size
        self.eta: Fraction = response.eta
        self.labels = None if labels is None else tuple(labels)
        self.version = version
        self._values = None if labels is None else {label: value for value, label in enumerate(labels)}
        header: dict[str, Json] = {"oracle": described}
        text = canonical_json.dumps(header if version is None else {**header, "survey": version})
        self._frame = BatchFrame(text, response.bits)

    @property
    def epsilon(self) -> float:
        """The epsilon of every report; several reports of one person add up."""
        return float(self._described["epsilon"])  # type: ignore[arg-type]

    @property
    def follows(self) -> bool:
        """Whether reports follow a value that changes, from bytes that are kept."""
        return self._response.keep is not None

    def keep(self) -> bytes:
        """Draw what one person keeps: store it before the first answer, never send it, never draw it again.

        >>> responder = Responder.from_dict({"name": "lwr", "epsilon": 0.5, "domain_size": 9, "epsilon_permanent": 1.0})
        >>> kept = responder.keep()
        >>> mine = responder.following(kept)
        >>> monday, tuesday = mine.encode(3), mine.encode(4)
        """
        return _kept_by(self._response.keep, self._described)()

    def following(self, kept: bytes) -> "Responder":
        """Return the responder of the person who keeps these bytes; each of its reports is a new one."""
        following = copy(self)
        following._draw = _kept_by(self._response.following, self._described)(kept)
        return following

    def report(self, answer: int | str) -> Report:
        """Return a new report of an answer: a label where there are labels, else a number.

        A call of the responder itself does the same; Python takes a little longer to call an object than its method.

        >>> Responder.from_dict({"name": "rr", "epsilon": 1.0}).report(1) in (0, 1)
        True
        """
        if self._values is not None:
            value = self._values.get(answer)  # type: ignore[arg-type]
            if value is None:
                raise DomainError("Responder: unknown label (not shown, to protect the answer)")
            return self._draw(value)
        if type(answer) is int and 0 <= answer < self._size:
            return self._draw(answer)
        return self._draw(self._checked(answer))

    __call__ = report

    def encode(self, answer: int | str) -> bytes:
        """Return a new report of an answer as a batch of one, ready to be sent (``docs/wire.md``)."""
        return self._frame.around(self._pack(self.report(answer)))

    def encode_all(self, answers: Iterable[int | str]) -> bytes:
        """Return new reports of several answers, of as many people, as one batch."""
        packed = [self._pack(self.report(answer)) for answer in answers]
        if not packed:
            raise DomainError("Responder: a batch must hold at least one answer")
        return self._frame.around_all(packed)

    def _checked(self, answer: object) -> int:
        """Accept a number of NumPy, too; True and False are not numbers."""
        if not is_integer(answer) or not 0 <= int(answer) < self._size:
            raise DomainError(
                f"Responder: an answer must be an integer from 0 to {self._size - 1} (not shown, to protect the answer)"
            )
        return int(answer)

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self._described.items() if key != "name")
        survey = "" if self.version is None else f", survey {self.version[:12]}"
        return f"<responder of {title_of(str(self._described['name']))}({shown}), eta {share_text(self.eta)}{survey}>"


def _parts(question: Any) -> tuple[_Asked | None, _Described]:
    """Return the survey, if it is one, and the oracle."""
    kind = type(question)  # not the thing itself: an oracle computes some of its members when they are asked for
    if hasattr(kind, "canonical") and hasattr(kind, "version"):
        return question, question.oracle
    if hasattr(kind, "perturb") and hasattr(kind, "parameters"):
        return None, question
    raise fail("Responder", "the question", "an oracle or a survey; from_dict takes their JSON", question)


def _own_response(oracle: _Described) -> Response:
    response = oracle._response
    if response is None:
        raise ParameterError(
            f"Responder: the oracle must be one of {', '.join(names())}, got {oracle.name!r}; "
            "others draw by oracle.privatize"
        )
    return response


def _of_survey(
    fields: Mapping[str, Json], version: str | None
) -> tuple[dict[str, Json], Response, list[str] | None, str]:
    """Check what a survey's JSON says, and that it is the version which the program expects."""
    oracle, labels = fields.get("oracle"), fields.get("labels")
    if fields.get("format") != _SURVEY_FORMAT or not isinstance(oracle, Mapping) or "collect" not in fields:
        raise ParameterError(
            f"Responder: the survey must be its whole JSON with format {_SURVEY_FORMAT!r}, as a collector serves it "
            "and Survey.canonical has it"
        )
    _refuse_stages(fields)
    if labels is not None and not (isinstance(labels, list) and len({*map(str, labels)}) == len(labels) > 1):
        raise ParameterError("Responder: the survey's labels must be a list of different texts")
    actual = canonical_json.identifier(dict(fields))
    if version is not None and VERSION("Responder", "version", version) != actual:
        raise WireError(f"Responder: the version of the survey must be {version}, got {actual}")
    size = {"domain_size": fields.get("domain_size") if labels is None else len(labels)}
    described = {**oracle, **({} if oracle.get("name") == "rr" else size)}
    parameters = {key: value for key, value in described.items() if key != "name"}
    response = _for_repeat(fields, checked_response(described.get("name"), parameters))
    if labels is not None and response.size != len(labels):
        raise fail("Responder", "the number of labels", str(response.size), len(labels))
    return described, response, labels, actual


def _refuse_stages(fields: Mapping[str, Json]) -> None:
    """Refuse surveys whose reports need more than the answer."""
    collect = fields.get("collect")
    rules: Mapping[str, Json] = collect if isinstance(collect, Mapping) else {}
    if "search" in fields or fields.get("domain") is not None:
        raise ParameterError("Responder: the survey must list its values; strings and searches are for Participant")
    if rules.get("derive"):
        raise ParameterError("Responder: the survey derives from tickets; answer it by Participant, with ticket=")


def _for_repeat(fields: Mapping[str, Json], response: Response) -> Response:
    """Draw the reports of a repeated survey only from the kept part."""
    collect = fields.get("collect")
    repeat = collect.get("repeat", "once") if isinstance(collect, Mapping) else "once"
    if repeat != "once" and response.keep is not None:
        return replace(response, draw=_needs_basis)
    if repeat == "daily":
        raise ParameterError("Responder: the survey is answered daily from a stored response; answer it by Participant")
    return response


def _needs_basis(value: int) -> Report:
    del value
    raise ParameterError(
        "Responder: the survey is answered again and again; keep() once, store that, and answer by following(kept)"
    )


def _kept_by(part: T | None, described: Mapping[str, Json]) -> T:
    if part is None:
        raise ParameterError(
            f"Responder: nothing is kept of {title_of(str(described['name']))}; every report is a new draw"
        )
    return part
