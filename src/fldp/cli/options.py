"""What commands share: common options. What they are about is in ``subject``, which loads the oracles."""

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.oracle_options import COMMON_OPTIONS, own_parameters
from fldp.errors import ParameterError
from fldp.support.progress import progress as progress
from fldp.support.validation import one_of

if TYPE_CHECKING:
    from fldp.cli.subject import Subject

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Output = Annotated[str, typer.Option("-o", "--output", help="Where to write; - is standard output.")]
Since = Annotated[str | None, typer.Option("--since", "--from", help="The first UTC day, such as 2026-11-01.")]
Until = Annotated[str | None, typer.Option(help="The last UTC day.")]
Anytime = Annotated[
    int | None,
    typer.Option(help="Intervals that hold for all values and at every look; the number of reports that is planned."),
]
Column = Annotated[str | None, typer.Option(help="The column of a CSV or Parquet file.")]


def one_format(as_json: bool, as_csv: bool) -> str:
    """Return the format that was asked for: json, csv or text; refuse two at once."""
    if as_json and as_csv:
        raise ParameterError("fldp: give --json or --csv, not both")
    return "json" if as_json else "csv" if as_csv else "text"


def check_plot(path: Path | None) -> None:
    """Refuse a picture whose format its name does not tell, or that cannot be drawn, before any work is done for it."""
    if path is not None:
        one_of(".png", ".svg")("fldp", "the ending of --plot", path.suffix)
        check_pictures()


def check_pictures() -> None:
    """Say how to install what draws pictures, where it is missing."""
    from fldp.support.optional_imports import load

    load("matplotlib.figure", "plot")


Candidates = Annotated[
    str | None, typer.Option("--candidates", help="Oracles over strings: the candidates, one string per line.")
]


def adds_options(
    name: str,
    options: Mapping[str, tuple[object, object]],
    build: Callable[[dict[str, object], dict[str, object]], object],
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


def _subject_of(chosen: dict[str, Any], shared: dict[str, Any]) -> "Subject | None":
    """Build the subject; an option that the command has itself is a parameter of the oracle only if one is named."""
    if all(value is None for value in chosen.values()) and not own_parameters.get():
        return None
    from fldp.cli.subject import subject_of

    if chosen["survey"] is not None or chosen["oracle"] is not None:
        chosen |= {name: shared[name] for name in ("epsilon", "domain") if name in shared}
    return subject_of(**{**chosen, **own_parameters.get()})


takes_oracle = adds_options("subject", COMMON_OPTIONS, _subject_of)
"""Give an ``OracleCommand`` the options that name an oracle; it gets them as ``subject``, None if none was given."""


def needed(subject: "Subject | None") -> "Subject":
    """Return the subject; it is an error if no oracle was named."""
    if subject is None:
        raise ParameterError("fldp: name an oracle: --survey FILE, or --oracle NAME --epsilon E --domain D")
    return subject


def note(text: str) -> None:
    """Print a note on standard error."""
    if text:
        typer.echo(text, err=True)
