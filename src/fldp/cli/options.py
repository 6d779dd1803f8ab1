"""What commands share: the oracle or survey they are about, the files they read, and common options."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fldp.cli.oracle_options import COMMON_OPTIONS, build_oracle, flag_of, own_parameters
from fldp.data.estimate import Estimate
from fldp.data.fingerprints import as_candidates
from fldp.data.reports import Reports, Tally
from fldp.errors import ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.string_oracle import listed
from fldp.oracles.sampled.tables import Tables
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
    """Refuse a picture whose format its name does not tell, or that cannot be drawn, before any work is done for it."""
    if path is not None:
        one_of(".png", ".svg")("fldp", "the ending of --plot", path.suffix)
        check_pictures()


def check_pictures() -> None:
    """Say how to install what draws pictures, where it is missing."""
    from fldp.support.optional_imports import load

    load("matplotlib.figure", "plot")


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

    def estimate(self, tally: Tally | Reports, **options: object) -> Estimate:
        """Estimate the counts of the labels, or of the candidates."""
        asked = self.survey.asked if self.survey else Question(self.oracle)
        return asked.estimate(tally, **options, **({"candidates": self.candidates} if self.candidates else {}))

    def tables(self, tally: Tally | Reports) -> Tables | None:
        """Estimate the tables of several questions; None where one is asked."""
        if analysis(self.oracle).answers is None or (self.survey and self.survey.number):
            return None
        found: object = self.survey.estimate(tally) if self.survey else self.oracle.estimate(tally)
        assert isinstance(found, Tables)
        return found

    @property
    def version(self) -> str | None:
        """The version of the survey."""
        return self.survey.version if self.survey else None

    @property
    def card(self) -> Survey | Oracle:
        """What a privacy card is about: the survey, among the candidates if there are any, or the oracle."""
        if self.survey is None:
            return self.oracle if analysis(self.oracle).answers else self.listed
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


def adds_options(
    name: str, options: Mapping[str, tuple[object, object]], build: Callable[[dict[str, Any], dict[str, Any]], object]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options, each with its type and default; it gets what ``build`` makes of them as ``name``.

    ``build`` is called with two dictionaries: the added options, and those that the command has itself.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        keyword = inspect.Parameter.KEYWORD_ONLY
        own = [each for each in inspect.signature(command).parameters.values() if each.name != name]
        both = {each.name for each in own} & options.keys()
        added = [
            inspect.Parameter(option, keyword, default=default, annotation=annotation)
            for option, (annotation, default) in options.items()
            if option not in both
        ]

        @functools.wraps(command)
        def wrapped(**values: Any) -> None:
            chosen = {each.name: values.pop(each.name) for each in added}
            command(**values, **{name: build(chosen, {option: values[option] for option in both})})

        # Typer reads the signature, so the wrapper has to look like the command with all of its options.
        wrapped.__signature__ = inspect.Signature([each.replace(kind=keyword) for each in own] + added)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {each.name: each.annotation for each in [*own, *added]}
        del wrapped.__wrapped__
        return wrapped

    return decorate


def _subject_of(chosen: dict[str, Any], shared: dict[str, Any]) -> Subject | None:
    """Build the subject; an option that the command has itself is a parameter of the oracle only if one is named."""
    if chosen["survey"] is not None or chosen["oracle"] is not None:
        chosen |= {name: shared[name] for name in ("epsilon", "domain") if name in shared}
    return _subject(**chosen, **own_parameters.get())


takes_oracle = adds_options("subject", COMMON_OPTIONS, _subject_of)
"""Give an ``OracleCommand`` the options that name an oracle; it gets them as ``subject``, None if none was given."""


def _subject(survey: Path | None, oracle: str | None, **parameters: Any) -> Subject | None:
    chosen = {name: value for name, value in parameters.items() if value is not None and value is not False}
    if survey is not None:
        if oracle is not None or chosen:
            raise ParameterError("fldp: give --survey, or --oracle with its parameters, not both")
        loaded = Survey.load(survey)
        return Subject(loaded.oracle, loaded)
    if oracle is None:
        if chosen:
            raise ParameterError(f"fldp: {flag_of(next(iter(chosen)))} needs --oracle")
        return None
    return Subject(build_oracle(oracle, chosen))


def needed(subject: Subject | None) -> Subject:
    """Return the subject; it is an error if no oracle was named."""
    if subject is None:
        raise ParameterError("fldp: name an oracle: --survey FILE, or --oracle NAME --epsilon E --domain D")
    return subject


def note(text: str) -> None:
    """Print a note on standard error."""
    if text:
        typer.echo(text, err=True)


def counted(number: int, thing: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "report"), counted(2000, "report")
    ('1 report', '2,000 reports')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
