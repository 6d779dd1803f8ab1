"""The plan command: compare the oracles for a question and recommend one."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fldp.cli.number import show_plan
from fldp.cli.options import AsJson, check_plot, note
from fldp.cli.shell import app
from fldp.errors import ParameterError
from fldp.support.validation import positive, show, whole_numbers

if TYPE_CHECKING:
    from fldp.estimation.planner import Plan
    from fldp.estimation.question_planner import QuestionPlan
    from fldp.presentation.plan import Sought
    from fldp.survey.survey import Survey


@app.command()
def plan(
    users: Annotated[int, typer.Option(help="How many people will answer.")],
    domain: Annotated[int | None, typer.Option(help="The number of values.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The epsilon of a report.")] = None,
    survey: Annotated[Path | None, typer.Option(help="A survey, in place of --domain and --epsilon.")] = None,
    epsilon_permanent: Annotated[
        float | None,
        typer.Option(help="For repeated reports: the epsilon of all reports of an answer that stays the same."),
    ] = None,
    questions: Annotated[
        str | None, typer.Option(help="Several questions: how many answers each has, such as 4,4,2.")
    ] = None,
    cross: Annotated[str, typer.Option(help="Several questions: which are crossed: all, none, or 0-1,0-2.")] = "none",
    eta: Annotated[float | None, typer.Option(help="The least acceptable eta; plain LDP by default.")] = None,
    target_error: Annotated[
        float | None, typer.Option(help="What it takes to reach this standard error, as a share of the users.")
    ] = None,
    number: Annotated[bool, typer.Option("--number", help="Plan a number in place of labels.")] = False,
    bins: Annotated[
        int | None, typer.Option(help="--number: how many cells; by the number of people by default.")
    ] = None,
    goal: Annotated[str, typer.Option(help="--number: distribution, or mean.")] = "distribution",
    power: Annotated[
        float | None,
        typer.Option(help="How many people each of two groups needs to show a --change with this probability."),
    ] = None,
    change: Annotated[float | None, typer.Option(help="With --power: how much a share changes, such as 0.02.")] = None,
    share: Annotated[float, typer.Option(help="With --power: the share before it changes.")] = 0.5,
    anytime: Annotated[
        bool, typer.Option("--anytime", help="--power and --target-error: for results that are watched all the time.")
    ] = False,
    as_json: AsJson = False,
    plot: Annotated[Path | None, typer.Option(help="Save error against epsilon, as PNG or SVG by its name.")] = None,
) -> None:
    """Compare the oracles for a question: error, bits, work, what a report gives away; and recommend one."""
    from fldp.estimation.planner import plan as plan_for

    check_plot(plot)
    if target_error is not None:
        positive("fldp", "--target-error", target_error)
    sought = _sought(power, change, share, anytime)
    if anytime and sought is None and target_error is None:
        raise ParameterError("fldp: --anytime needs --target-error, or --power and --change")
    if number:
        options = {domain, survey, eta, target_error, plot, power}
        _refuse(options, "plan --number takes --users, --epsilon, --bins, --goal and --json alone")
        show_plan(users, epsilon, bins, goal, as_json)
    elif several := _several_questions(survey, questions, cross, epsilon, users):
        options = {domain, target_error, plot, power}
        _refuse(options, "a plan of several questions takes no --domain, --target-error, --power or --plot")
        _show_several(several, as_json)
    elif strings := _string_survey(survey):
        options = {domain, epsilon, eta, target_error, plot, power}
        _refuse(options, "a plan for strings takes --survey, --users and --json alone")
        _plan_strings(strings, users, as_json)
    else:
        lasting = {} if epsilon_permanent is None else {"epsilon_permanent": epsilon_permanent}
        result = plan_for(users=users, eta=eta, **(_question(survey, domain, epsilon) | lasting))
        _show(result, target_error, sought, anytime=anytime, as_json=as_json)
        _save(result, plot)


def _sought(power: float | None, change: float | None, share: float, anytime: bool) -> "Sought | None":
    """Return the change that is to be seen with some probability, if one is given."""
    from fldp.presentation.plan import Sought

    if (power is None) != (change is None):
        raise ParameterError("fldp: --power needs --change, and --change needs --power")
    return None if power is None or change is None else Sought(power, change, share, anytime)


def _refuse(options: Collection[object], rule: str) -> None:
    """Refuse options that do not belong to a plan."""
    if any(option is not None for option in options):
        raise ParameterError(f"fldp: {rule}")


def _show(result: "Plan", target_error: float | None, sought: "Sought | None", *, anytime: bool, as_json: bool) -> None:
    """Print a plan, with what a target error or a change to be seen takes."""
    from fldp.presentation import plan as plan_view
    from fldp.presentation import tables

    if as_json:
        typer.echo(plan_view.as_json(result, target_error, sought, anytime=anytime))
        return
    notes = (*plan_view.plan_notes(), *plan_view.skipped_notes(result), result.reason)
    tables.show(plan_view.plan_table(result), *notes)
    if target_error is not None:
        tables.show(plan_view.needs_table(result, target_error, anytime=anytime))
    if sought is not None:
        tables.show(plan_view.power_table(result, sought), plan_view.power_note(sought))


def _save(result: "Plan", path: Path | None) -> None:
    if path is not None:
        from fldp.presentation.plan import save_curves

        save_curves(result, path)
        note(f"saved {path}")


def _show_several(plan: "QuestionPlan", as_json: bool) -> None:
    from fldp.presentation import questions, tables

    if as_json:
        typer.echo(questions.plan_json(plan))
    else:
        tables.show(*questions.plan_parts(plan))


def _several_questions(
    path: Path | None, questions: str | None, cross: str, epsilon: float | None, users: int
) -> "QuestionPlan | None":
    """Return the plan of several questions, from their sizes or from a survey; None where there is one."""
    from fldp.estimation.question_planner import plan_questions, planned

    if questions is not None:
        if path is not None or epsilon is None:
            raise ParameterError("fldp: --questions needs --epsilon, and no --survey")
        return plan_questions(_sizes(questions), epsilon, users, _crosses(cross))
    if path is None:
        return None
    from fldp.survey.survey import Survey

    loaded = Survey.load(path)
    return planned(loaded.oracle, users) if loaded.questions else None


def _sizes(text: str) -> list[int]:
    """Read how many answers each question has."""
    try:
        return whole_numbers(text)
    except ValueError:
        raise ParameterError(f"fldp: --questions must be numbers such as 4,4,2, got {show(text)}") from None


def _crosses(text: str) -> str | list[list[int]]:
    """Read which questions are crossed."""
    if text in ("all", "none"):
        return text
    try:
        return [[int(part) for part in pair.split("-")] for pair in text.split(",")]
    except ValueError:
        raise ParameterError(f"fldp: --cross must be all, none, or pairs such as 0-1,0-2, got {text!r:.80}") from None


def _string_survey(path: Path | None) -> "Survey | None":
    """Return the survey if its answers are strings that nobody can list."""
    from fldp.survey.survey import Survey

    loaded = None if path is None else Survey.load(path)
    return loaded if loaded is not None and loaded.needs_candidates else None


def _plan_strings(survey: "Survey", users: int, as_json: bool) -> None:
    from fldp.estimation.string_planner import facts, plan_strings
    from fldp.oracles.base.memoization import lasting_epsilon
    from fldp.presentation import plan as plan_view
    from fldp.presentation import tables

    lasting = {"epsilon_permanent": lasting_epsilon(survey.oracle)} if survey.keeps else {}
    rows = plan_strings(users=users, epsilon=survey.oracle.epsilon, **lasting)
    if as_json:
        typer.echo(json.dumps(facts(rows), indent=1))
    else:
        tables.show(plan_view.string_table(rows), *plan_view.STRING_NOTES, str(facts(rows)["reason"]))


def _question(survey: Path | None, domain: int | None, epsilon: float | None) -> dict[str, Any]:
    """Return the parameters of the plan, from a survey or from the options."""
    if survey is not None:
        from fldp.oracles.base.memoization import steady_epsilon
        from fldp.survey.survey import Survey

        if domain is not None or epsilon is not None:
            raise ParameterError("fldp: give --survey, or --domain and --epsilon, not both")
        loaded = Survey.load(survey)
        kept = {"epsilon_permanent": steady_epsilon(loaded.oracle)} if loaded.keeps else {}
        return {"domain_size": loaded.domain_size, "epsilon": loaded.oracle.epsilon, **loaded.differing, **kept}
    if domain is None or epsilon is None:
        raise ParameterError("fldp: plan needs --domain and --epsilon, or --survey")
    return {"domain_size": domain, "epsilon": epsilon}
