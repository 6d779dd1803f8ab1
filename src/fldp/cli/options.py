"""What commands share: how an oracle is named, and how long work shows that it goes on."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fldp.data.estimate import Estimate
from fldp.data.fingerprints import as_candidates
from fldp.data.reports import Reports, Tally
from fldp.errors import ParameterError
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import StringOracle, listed
from fldp.support.progress import progress as progress
from fldp.survey.survey import Survey
from fldp.wire.cells import read_candidates


@dataclass(frozen=True)
class Subject:
    """The oracle that a command is about, and its survey if it has one."""

    oracle: Oracle
    survey: Survey | None = None
    candidates: tuple[str, ...] | None = None

    def among(self, path: str | None) -> "Subject":
        """Return the same with the candidates in a file, for an oracle over strings."""
        if path is None:
            return self
        if not isinstance(self.oracle, StringOracle):
            raise ParameterError(f"fldp: --candidates is for oracles over strings, got {self.oracle!r}")
        return replace(self, candidates=as_candidates("fldp", read_candidates(path)))

    @property
    def chosen(self) -> Oracle:
        """The oracle, among candidates where there are any."""
        return self.listed if self.candidates else self.oracle

    @property
    def listed(self) -> FrequencyOracle:
        """The oracle over values that can be listed: one over strings among its candidates."""
        if isinstance(self.oracle, StringOracle) and self.candidates:
            return self.oracle.among(self.candidates)
        return listed("fldp", self.oracle)

    def estimate(self, tally: Tally | Reports, **options: Any) -> Estimate:
        """Estimate the counts of the labels, or of the candidates."""
        survey = self.survey or Survey("values", "values", self.oracle)
        return survey.estimate(tally, **options, **({"candidates": self.candidates} if self.candidates else {}))

    @property
    def version(self) -> str | None:
        """The version of the survey."""
        return self.survey.version if self.survey else None

    @property
    def as_survey(self) -> Survey:
        """The survey, or one without labels, whose values are numbers; candidates are labels."""
        about = self.survey or Survey("values", "values", self.oracle)
        return replace(about, oracle=self.listed, labels=self.candidates) if self.candidates else about


Candidates = Annotated[
    str | None, typer.Option("--candidates", help="Oracles over strings: the ones to look at, a string on each line.")
]
_OPTIONS: dict[str, Any] = {
    "survey": Annotated[Path | None, typer.Option("--survey", help="A survey, as TOML or JSON.")],
    "oracle": Annotated[str | None, typer.Option("--oracle", help="An oracle by name, instead of a survey.")],
    "epsilon": Annotated[float | None, typer.Option("--epsilon", help="Its epsilon.")],
    "domain": Annotated[int | None, typer.Option("--domain", help="Its number of values.")],
    "eta": Annotated[float | None, typer.Option("--eta", help="fwr: 1 (plain LDP, the default), 0.5, 0.25, ...")],
    "hash_bits": Annotated[int | None, typer.Option("--hash-bits", help="fwr: parities under the coin, 1 to 8.")],
    "items": Annotated[str | None, typer.Option("--items", help="fhr: spread (default) or paper.")],
    "blocks": Annotated[int | None, typer.Option("--blocks", help="hr: 1 (the default), 2, 4, ... near e^epsilon.")],
    "hashes": Annotated[int | None, typer.Option("--hashes", help="cms, hcms, rappor: the number of hash functions.")],
    "width": Annotated[int | None, typer.Option("--width", help="cms, hcms: buckets of each, 2, 4, 8, ...")],
    "hash_seed": Annotated[int | None, typer.Option("--hash-seed", help="cms, hcms, rappor: which ones.")],
    "epsilon_permanent": Annotated[
        float | None, typer.Option("--epsilon-permanent", help="rappor: the epsilon of all reports of a person.")
    ],
    "bits": Annotated[int | None, typer.Option("--bits", help="rappor: bits of a filter.")],
    "cohorts": Annotated[int | None, typer.Option("--cohorts", help="rappor: 1, 2, 4, ...")],
    "p": Annotated[float | None, typer.Option("--p", help="rappor: how often a kept 0 is reported as 1.")],
    "base": Annotated[str | None, typer.Option("--base", help="grouped: the oracle inside a group.")],
    "groups": Annotated[str | None, typer.Option("--groups", help="grouped: sizes, such as 3,2,4.")],
    "sensitive": Annotated[str | None, typer.Option("--sensitive", help="urr, urappor: values, such as 0,3.")],
    "budgets": Annotated[str | None, typer.Option("--budgets", help="idue: values with budgets, such as 0:0.5,3:1.")],
    "distance": Annotated[str | None, typer.Option("--distance", help="exponential: line or ring.")],
    "allow_exposure": Annotated[
        bool, typer.Option("--allow-exposure", help="fhr, fwr, grouped: go on where one report can give a value away.")
    ],
}


def takes_oracle(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name an oracle; it gets them as ``subject``, None if none was given.

    An option that the command has itself is a parameter of the oracle if one is named, and its own anyway.
    """
    signature = inspect.signature(command)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "subject"]
    both = {parameter.name for parameter in own} & _OPTIONS.keys()
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, keyword, default=False if name == "allow_exposure" else None, annotation=annotation)
        for name, annotation in _OPTIONS.items()
        if name not in both
    ]

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        chosen = {name: given.pop(name) for name in _OPTIONS if name not in both}
        if chosen["survey"] is not None or chosen["oracle"] is not None:
            chosen |= {name: given[name] for name in both}
        return command(subject=_subject(**chosen), **given)

    wrapped.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[parameter.replace(kind=keyword) for parameter in own] + shared
    )
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *shared]}
    del wrapped.__wrapped__
    return wrapped


def _subject(survey: Path | None, oracle: str | None, **parameters: Any) -> Subject | None:
    given = {name: value for name, value in parameters.items() if value not in (None, False)}
    if survey is not None:
        if oracle is not None or given:
            raise ParameterError("fldp: give --survey, or --oracle with its parameters, not both")
        read = Survey.load(survey)
        return Subject(read.oracle, read)
    if oracle is None:
        if given:
            raise ParameterError(f"fldp: --{next(iter(given)).replace('_', '-')} needs --oracle")
        return None
    return Subject(_named(oracle, given))


def _named(name: str, given: dict[str, Any]) -> Oracle:
    from fldp.estimation.expected_error import required
    from fldp.oracles import get

    cls = get(name)
    if "domain" in given:
        given["domain_size"] = given.pop("domain")
    for parameter, (read, example) in _LISTS.items():
        if parameter in given:
            given[parameter] = _listed(parameter, given[parameter], read, example)
    for parameter in given.keys() - cls.params.keys():
        raise ParameterError(f"fldp: the oracle {name} has no --{parameter.removesuffix('_size').replace('_', '-')}")
    missing = [parameter for parameter in required(cls) if parameter not in given]
    if missing:
        raise ParameterError(f"fldp: the oracle {name} needs --{missing[0].removesuffix('_size').replace('_', '-')}")
    return cls(**given)


def _listed(name: str, text: str, read: Callable[[str], Any], example: str) -> list[Any]:
    try:
        return [read(part.strip()) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"fldp: --{name} must be {example}, got {text!r}") from None


def _whole(text: str) -> int:
    """Read an integer that has no sign, and not so many digits that reading it takes long."""
    if not (text.isascii() and text.isdigit() and len(text) < 11):
        raise ValueError
    return int(text)


def _pair(text: str) -> tuple[int, float]:
    value, _, budget = text.partition(":")
    return _whole(value.strip()), float(budget)


_LISTS: dict[str, tuple[Callable[[str], Any], str]] = {
    "groups": (_whole, "sizes such as 3,2,4"),
    "sensitive": (_whole, "values such as 0,3"),
    "budgets": (_pair, "values with budgets such as 0:0.5,3:1"),
}


def needed(subject: Subject | None) -> Subject:
    """Insist that an oracle was named."""
    if subject is None:
        raise ParameterError("fldp: name an oracle: --survey FILE, or --oracle NAME --epsilon E --domain D")
    return subject


def note(text: str) -> None:
    """Say something beside the output proper."""
    if text:
        typer.echo(text, err=True)
