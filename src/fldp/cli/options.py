"""What commands share: the oracle or survey they are about, the files they read, and common options."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fldp.data.estimate import Estimate
from fldp.data.fingerprints import as_candidates
from fldp.data.reports import Reports, Tally
from fldp.errors import ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import listed
from fldp.support.progress import progress as progress
from fldp.support.validation import one_of
from fldp.survey.question import Question
from fldp.survey.survey import Survey
from fldp.wire import files
from fldp.wire.cells import read_candidates

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Output = Annotated[str, typer.Option("-o", "--output", help="Where to write; - is standard output.")]
Since = Annotated[str | None, typer.Option("--since", "--from", help="The first UTC day, such as 2026-11-01.")]
Until = Annotated[str | None, typer.Option(help="The last UTC day.")]
Column = Annotated[str | None, typer.Option(help="The column of a CSV or Parquet file.")]


def one_format(as_json: bool, as_csv: bool) -> None:
    """Refuse two formats at once."""
    if as_json and as_csv:
        raise ParameterError("fldp: give --json or --csv, not both")


def check_plot(path: Path | None) -> None:
    """Refuse a picture whose format its name does not tell, before any work is done for it."""
    if path is not None:
        one_of(".png", ".svg")("fldp", "the ending of --plot", path.suffix)


@dataclass(frozen=True)
class Subject:
    """The oracle that a command is about, its survey, and the candidates of an oracle over strings."""

    oracle: Oracle
    survey: Survey | None = None
    candidates: tuple[str, ...] | None = None

    def among(self, path: str | None) -> "Subject":
        """Return this subject with the candidates in a file, for an oracle over strings."""
        if path is None:
            return self
        if analysis(self.oracle).domain_size is not None:
            raise ParameterError(f"fldp: --candidates is for oracles over strings, got {self.oracle!r}")
        return replace(self, candidates=as_candidates("fldp", read_candidates(path)))

    @property
    def chosen(self) -> Oracle:
        """The oracle, among candidates where there are any."""
        return self.listed if self.candidates else self.oracle

    @property
    def listed(self) -> FrequencyOracle:
        """The oracle over values that can be listed: one over strings among its candidates."""
        return listed("fldp", self.oracle, self.candidates)

    @property
    def question(self) -> Question:
        """The oracle with the labels of the survey; candidates are labels, too."""
        if self.candidates:
            return Question(self.listed, self.candidates)
        return self.survey.asked if self.survey else Question(self.oracle)

    def estimate(self, tally: Tally | Reports, **options: Any) -> Estimate:
        """Estimate the counts of the labels, or of the candidates."""
        asked = self.survey.asked if self.survey else Question(self.oracle)
        return asked.estimate(tally, **options, **({"candidates": self.candidates} if self.candidates else {}))

    @property
    def version(self) -> str | None:
        """The version of the survey."""
        return self.survey.version if self.survey else None

    @property
    def card(self) -> Survey | FrequencyOracle:
        """What a privacy card is about: the survey, among the candidates if there are any, or the oracle."""
        if self.survey is None:
            return self.listed
        if self.candidates is None:
            return self.survey
        return replace(self.survey, oracle=self.listed, labels=self.candidates)


def read_tally(file: str, subject: Subject | None) -> files.Content:
    """Read a file of reports, or a tally, of the subject if there is one."""
    oracle, version = expected(subject)
    with progress("reading", files.size_of([file])) as advance:
        return files.read(file, oracle, version, advance)


def read_reports(file: str, subject: Subject | None) -> Tally | Reports:
    """Read the reports of a file, or the tally that it holds."""
    oracle, version = expected(subject)
    with progress("reading", files.size_of([file])) as advance:
        return files.read_reports(file, oracle, version, advance)


def expected(subject: Subject | None) -> tuple[Oracle | None, str | None]:
    """Return the oracle and the survey version that files must be of; None where any will do."""
    return (subject.oracle, subject.version) if subject else (None, None)


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


def adds_options(
    name: str, options: Mapping[str, tuple[Any, Any]], build: Callable[[dict[str, Any], dict[str, Any]], Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command options, each with its type and default; it gets what ``build`` makes of them as ``name``.

    ``build`` is called with two dictionaries: the added options, and those that the command has itself.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        keyword = inspect.Parameter.KEYWORD_ONLY
        own = [each for each in inspect.signature(command).parameters.values() if each.name != name]
        both = {each.name for each in own} & options.keys()
        added = [
            inspect.Parameter(option, keyword, default=default, annotation=annotation)
            for option, (annotation, default) in options.items()
            if option not in both
        ]

        @functools.wraps(command)
        def wrapped(**values: Any) -> Any:
            chosen = {each.name: values.pop(each.name) for each in added}
            return command(**values, **{name: build(chosen, {option: values[option] for option in both})})

        # Typer reads the signature, so the wrapper has to look like the command with all of its options.
        wrapped.__signature__ = inspect.Signature([each.replace(kind=keyword) for each in own] + added)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {each.name: each.annotation for each in [*own, *added]}
        del wrapped.__wrapped__
        return wrapped

    return decorate


def _subject_of(chosen: dict[str, Any], shared: dict[str, Any]) -> Subject | None:
    """Build the subject; an option that the command has itself is a parameter of the oracle only if one is named."""
    named = chosen["survey"] is not None or chosen["oracle"] is not None
    return _subject(**chosen, **(shared if named else {}))


takes_oracle = adds_options(
    "subject",
    {name: (annotation, False if name == "allow_exposure" else None) for name, annotation in _OPTIONS.items()},
    _subject_of,
)
"""Give a command the options that name an oracle; it gets them as ``subject``, None if none was given."""


def _subject(survey: Path | None, oracle: str | None, **parameters: Any) -> Subject | None:
    chosen = {name: value for name, value in parameters.items() if value not in (None, False)}
    if survey is not None:
        if oracle is not None or chosen:
            raise ParameterError("fldp: give --survey, or --oracle with its parameters, not both")
        loaded = Survey.load(survey)
        return Subject(loaded.oracle, loaded)
    if oracle is None:
        if chosen:
            raise ParameterError(f"fldp: --{next(iter(chosen)).replace('_', '-')} needs --oracle")
        return None
    return Subject(_build(oracle, chosen))


def _build(name: str, parameters: dict[str, Any]) -> Oracle:
    from fldp.estimation.expected_error import required
    from fldp.oracles import get

    cls = get(name)
    if "domain" in parameters:
        parameters["domain_size"] = parameters.pop("domain")
    for parameter, (read, example) in _LISTS.items():
        if parameter in parameters:
            parameters[parameter] = _listed(parameter, parameters[parameter], read, example)
    for parameter in parameters.keys() - cls.params.keys():
        raise ParameterError(f"fldp: the oracle {name} has no --{parameter.removesuffix('_size').replace('_', '-')}")
    missing = [parameter for parameter in required(cls) if parameter not in parameters]
    if missing:
        raise ParameterError(f"fldp: the oracle {name} needs --{missing[0].removesuffix('_size').replace('_', '-')}")
    return cls(**parameters)


def _listed(name: str, text: str, read: Callable[[str], Any], example: str) -> list[Any]:
    try:
        return [read(part.strip()) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"fldp: --{name} must be {example}, got {text!r}") from None


def _whole(text: str) -> int:
    """Read an integer without a sign, of at most ten digits."""
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
    """Return the subject; it is an error if no oracle was named."""
    if subject is None:
        raise ParameterError("fldp: name an oracle: --survey FILE, or --oracle NAME --epsilon E --domain D")
    return subject


def note(text: str) -> None:
    """Print a note on standard error."""
    if text:
        typer.echo(text, err=True)
