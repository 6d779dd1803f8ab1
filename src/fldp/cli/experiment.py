"""The commands about experiments."""

from pathlib import Path
from typing import Annotated

import typer

from fldp.cli.options import AsJson, note
from fldp.cli.shell import app
from fldp.support.processor_cores import available_cores

experiments = typer.Typer(help="Run experiments on known populations.", no_args_is_help=True)
app.add_typer(experiments, name="experiment")

Use = Annotated[
    list[Path] | None,
    typer.Option("--use", help="A Python file with datasets, metrics or oracles of your own; repeatable."),
]


@experiments.command()
def run(
    specification: Annotated[str, typer.Argument(help="A TOML file; or one that is built in: paper, extended.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="The table, .csv or .parquet; SPECIFICATION.csv by default.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="How many processes; one for each core by default.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Send every user's own report through the wire.")] = False,
    use: Use = None,
) -> None:
    """Run an experiment into a table, one row per measurement; the same command resumes after an interruption."""
    from fldp.experiments import run as run_experiment
    from fldp.experiments.runner.plugins import use as use_file
    from fldp.experiments.runner.specification import BUILT_IN, Specification

    files = use or []
    for path in files:
        use_file(path)
    spec = BUILT_IN.get(specification) or Specification.load(specification)
    target = output or f"{Path(specification).stem}.csv"
    table = run_experiment(spec, jobs=available_cores() if jobs is None else jobs, full=full, output=target, use=files)
    note(f"{len(table):,} measurements of {spec.cells:,} tallies in {target}")


@experiments.command()
def paper(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write into.")] = Path("figures"),
    jobs: Annotated[int | None, typer.Option(help="How many processes; one for each core by default.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Send every user's own report through the wire; slow except for zipf.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two runs, three epsilons, zipf: to see that it works.")
    ] = False,
    dataset: Annotated[
        list[str] | None, typer.Option("--dataset", help="A dataset instead of the paper's three; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed, another draw.")] = 0,
) -> None:
    """Reproduce the paper: its figures, and a verdict on each of its claims; resumes after an interruption."""
    from fldp.experiments.paper.evaluation import Evaluation
    from fldp.experiments.paper.reproduce import PAGE, reproduce
    from fldp.experiments.tables import verdicts_table
    from fldp.presentation import tables

    chosen = tuple(dataset or ())
    evaluation = Evaluation.quick(chosen, seed) if quick else Evaluation.of(chosen, seed)
    verdicts = reproduce(output, evaluation, jobs=available_cores() if jobs is None else jobs, full=full, note=note)
    tables.show(verdicts_table(verdicts))
    note(f"the page is {output / PAGE}")


@experiments.command()
def datasets(as_json: AsJson = False, use: Use = None) -> None:
    """List the datasets: users, values, what they are and where they come from."""
    from fldp.experiments.runner.plugins import use as use_file
    from fldp.experiments.tables import datasets_json, datasets_table
    from fldp.presentation import tables

    for path in use or []:
        use_file(path)
    if as_json:
        typer.echo(datasets_json())
    else:
        tables.show(datasets_table())
