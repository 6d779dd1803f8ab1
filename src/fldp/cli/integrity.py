"""The commands about poisoning: test reports for fakes, and measure what fakes achieve."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.options import AsJson, Candidates, check_plot, note, progress, takes_oracle
from fldp.cli.oracle_options import OracleCommand
from fldp.cli.shell import app
from fldp.errors import ParameterError
from fldp.support.validation import integer

if TYPE_CHECKING:
    from fldp.cli.subject import Subject
    from fldp.data.reports import Reports, Tally
    from fldp.oracles.base.frequency_oracle import FrequencyOracle
    from fldp.privacy import Findings, Recovered
    from fldp.privacy.honesty.attack_study import AttackOutcome
    from fldp.survey.question import Question


@app.command(cls=OracleCommand)
@takes_oracle
def integrity(
    file: Annotated[str, typer.Argument(help="Reports, or a tally; - is standard input.")] = "-",
    false_alarm: Annotated[
        float, typer.Option(help="The largest probability of calling honest reports dishonest.")
    ] = 0.001,
    anytime: Annotated[
        bool, typer.Option("--anytime", help="The rate holds for all looks together, while reports come in.")
    ] = False,
    recover: Annotated[bool, typer.Option("--recover", help="Also estimate without the fakes that show.")] = False,
    as_json: AsJson = False,
    subject: "Subject | None" = None,
) -> None:
    """Look for patterns that honest reports cannot produce; exit code 1 if there are any."""
    from fldp import privacy
    from fldp.cli.subject import read_reports
    from fldp.survey.question import Question

    source = read_reports(file, subject)
    question = subject.question if subject else Question(source.oracle)
    with progress("testing", None):
        verdict = privacy.integrity(source, false_alarm=false_alarm, anytime=anytime)
        recovered, refusal = _recovered(source, verdict) if recover else (None, None)
    if recovered is not None and question.labels is not None:
        recovered = replace(recovered, labels=question.labels)
    _show(verdict, recovered, question.label, as_json)
    if refusal is not None:
        raise ParameterError(f"fldp: --recover is not possible here: {str(refusal).removeprefix('recover: ')}")
    if not verdict.passed:
        raise typer.Exit(1)


def _show(verdict: "Findings", recovered: "Recovered | None", label: Callable[[int], str], as_json: bool) -> None:
    from fldp.presentation import integrity as view
    from fldp.presentation import tables

    if as_json:
        more = {} if recovered is None else {"recovered": view.recovery_facts(recovered)}
        typer.echo(json.dumps(view.facts(verdict, label) | more, ensure_ascii=False, indent=1))
        return
    tables.show(view.findings_table(verdict, label), *view.notes(verdict, label))
    if recovered is not None:
        tables.show("", tables.estimate_table(recovered, 0.95, 20), *view.recovery_notes(recovered))


def _recovered(
    source: "Tally | Reports", verdict: "Findings"
) -> "tuple[Recovered, None] | tuple[None, ParameterError]":
    """Return what is left without the fakes, or why that cannot be told: the verdict is shown all the same."""
    from fldp import privacy

    try:
        return privacy.recover(source, verdict), None
    except ParameterError as error:
        return None, error


_EPSILON, _DOMAIN, _TARGETS = 1.0, 64, 5


@app.command(cls=OracleCommand)
@takes_oracle
def poisoning(
    epsilon: Annotated[
        float | None, typer.Option(help="The epsilon of the oracle, or of all oracles; 1 by default.")
    ] = None,
    domain: Annotated[int | None, typer.Option(help="The number of values; 64 by default.")] = None,
    targets: Annotated[
        int | None,
        typer.Option(help="How many values the fakes promote, drawn at random; 5 by default, at most half of all."),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(help="Promote this value instead, of several questions NAME=ANSWER; may be given again."),
    ] = None,
    users: Annotated[int, typer.Option(help="How many users there are, fakes included.")] = 50_000,
    share: Annotated[float, typer.Option(help="The share of fakes.")] = 0.05,
    candidates: Candidates = None,
    seed: Annotated[int, typer.Option(help="The seed of the simulation.")] = 0,
    as_json: AsJson = False,
    plot: Annotated[Path | None, typer.Option(help="Save a picture of the gains, as PNG or SVG by its name.")] = None,
    subject: "Subject | None" = None,
) -> None:
    """Measure what fake users achieve on an oracle, or on every one, and which tests see them."""
    from fldp.presentation import poisoning as poisoning_view
    from fldp.presentation import tables

    check_plot(plot)
    about = _named(subject, candidates)
    setting = {"users": users, "share": share, "rng": seed}
    if about and _is_of_records(about):
        attacked, counted = _on_records(about, targets, target, setting), 1
    else:
        attacked = _on_values(about, (epsilon, domain), (targets, target), setting)
        counted = len(attacked[0])
    names, attacks = attacked
    if as_json:
        typer.echo(poisoning_view.as_json(attacks, names))
    else:
        tables.show(poisoning_view.outcome_table(attacks), f"Targets: {', '.join(map(str, names))}.")
    if plot is not None:
        poisoning_view.save_picture(attacks, counted, plot)
        note(f"saved {plot}")


def _on_values(
    about: "Subject | None",
    sizes: tuple[float | None, int | None],
    asked: tuple[int | None, list[str] | None],
    setting: "dict[str, Any]",
) -> "tuple[Sequence[int | str], list[AttackOutcome]]":
    """Attack one oracle over values, or all of them; return the targets and what was achieved."""
    import numpy as np

    from fldp.privacy.honesty.attack_study import outcomes
    from fldp.survey.question import Question

    oracles = [about.listed] if about else _every(*sizes)
    question = about.question if about else Question(oracles[0])
    values = _targets(question, oracles[0].domain_size, *asked, setting["rng"])
    with progress("attacking", 4 * len(oracles)) as advance:
        attacks = [
            outcome for oracle in oracles for outcome in outcomes(oracle, np.array(values), **setting, progress=advance)
        ]
    return [question.label(value) for value in values] if question.labels else values, attacks


def _is_of_records(subject: "Subject") -> bool:
    from fldp.oracles.base.analysis import analysis

    return analysis(subject.oracle).answers is not None


def _on_records(
    about: "Subject", targets: int | None, target: list[str] | None, setting: "dict[str, Any]"
) -> "tuple[Sequence[int | str], list[AttackOutcome]]":
    """Attack cells of a table of several questions: those named, or the first one of the rarest view."""
    from fldp.cli.questions import TargetNames
    from fldp.privacy.honesty.record_attack_study import rarest_cell, record_outcomes

    if targets is not None:
        raise ParameterError("fldp: --targets is for one question; of several, name a cell: --target NAME=ANSWER")
    names = TargetNames.of(about)
    cells = names.cells(target) if target else rarest_cell(names.oracle)
    with progress("attacking", 4) as advance:
        attacks = list(record_outcomes(names.oracle, cells, **setting, progress=advance))
    return names.told(cells), attacks


def _named(subject: "Subject | None", candidates: str | None) -> "Subject | None":
    if subject is None and candidates is not None:
        raise ParameterError("fldp: --candidates needs --survey or --oracle")
    return subject and subject.among(candidates)


def _every(epsilon: float | None, domain: int | None) -> "list[FrequencyOracle]":
    from fldp.privacy.honesty.attack_study import oracles_for

    oracles, refused = oracles_for(_EPSILON if epsilon is None else epsilon, _DOMAIN if domain is None else domain)
    for reason in refused:
        note(f"left out: {reason}")
    return oracles


def _targets(question: "Question", size: int, targets: int | None, target: list[str] | None, seed: int) -> list[int]:
    """Return the values to promote: those named, or a number of them drawn at random."""
    if not target:
        import numpy as np

        # Fakes that promote all values gain nothing.
        count = min(_TARGETS, size // 2) if targets is None else integer(1, size)("fldp", "--targets", targets)
        return sorted(np.random.default_rng(seed).choice(size, count, replace=False).tolist())
    if targets is not None:
        raise ParameterError("fldp: give --targets or --target, not both")
    return sorted({_value(question, text) for text in target})


def _value(question: "Question", label: str) -> int:
    value = question.value(label)
    if not isinstance(value, int):
        raise ParameterError(f"fldp: --target {label!r} is not one of the values")
    return value
