"""Evidence: the measurements that judge the paper, and the means to take more."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import process_time

from fldp.experiments.datasets.population import Population
from fldp.experiments.paper.attacks import ETAS, Match, Tradeoff, attacks, matches, subjects
from fldp.experiments.paper.costs import Clock, Cost, measure
from fldp.experiments.paper.evaluation import Evaluation
from fldp.experiments.runner.cells import RunPlan
from fldp.experiments.runner.run import run
from fldp.experiments.runner.specification import Specification
from fldp.experiments.runner.table import Table
from fldp.oracles import get_listed
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.randomness.stream import Stream
from fldp.support import canonical_json
from fldp.support.progress import progress

Note = Callable[[str], None]


@dataclass(frozen=True)
class Evidence:
    """The tables of the three experiments, costs and attacks. ``oracles`` take the place of ours, by name."""

    evaluation: Evaluation
    main: Table
    users: Table
    etas: Table
    costs: tuple[Cost, ...]
    attacks: tuple[Tradeoff, ...]
    matches: tuple[Match, ...] = ()
    oracles: Mapping[str, type[FrequencyOracle]] = field(default_factory=dict)

    @property
    def epsilon(self) -> float:
        """The epsilon at which claims about one epsilon are looked at."""
        return self.evaluation.epsilon

    @cached_property
    def population(self) -> Population:
        """The population of the first dataset."""
        return first_population(self.evaluation)

    @cached_property
    def datasets(self) -> dict[str, tuple[int, int]]:
        """The datasets of the main experiment, with their users and values."""
        return {each.key[0]: each.key[1:] for each in self.main.summary("dataset", "n", "domain_size")}

    def oracle(
        self, name: str, domain_size: int, epsilon: float | None = None, **parameters: object
    ) -> FrequencyOracle:
        """Return an oracle by name."""
        cls = self.oracles.get(name) or get_listed(name)
        return cls(epsilon=self.epsilon if epsilon is None else epsilon, domain_size=domain_size, **parameters)

    def stream(self, *labels: int | str) -> Stream:
        """Return a stream for a simulation of its own."""
        return Stream(self.evaluation.main.seed).child("evidence", *labels)

    def cost(self, name: str) -> Cost | None:
        """Return what an oracle costs, the first with this name."""
        return next((cost for cost in self.costs if cost.oracle.name == name), None)


def first_population(evaluation: Evaluation) -> Population:
    """Return the population of the first dataset of the main experiment."""
    return evaluation.main.datasets[0].load(evaluation.main.seed)


def say_nothing(line: str) -> None:
    """Ignore what is noted."""
    del line


def gather(
    evaluation: Evaluation,
    folder: Path,
    *,
    jobs: int = 1,
    full: bool = False,
    clock: Clock = process_time,
    note: Note = say_nothing,
) -> Evidence:
    """Measure everything. Tables are kept in ``folder``, so that after an interruption it goes on where it was."""

    def table(name: str, specification: Specification) -> Table:
        note(f"{name}: {specification.cells:,} tallies")
        return stored_table(specification, folder, name, jobs=jobs, full=full and name == "main")

    main, users, etas = (table(name, getattr(evaluation, name)) for name in ("main", "users", "etas"))
    note(f"attacks: {evaluation.draws:,} reports a point; costs: {evaluation.timed:,} users")
    people = first_population(evaluation)
    with progress("attacking", 1.0) as advance:
        stream = Stream(evaluation.main.seed).child("evidence")
        attacked = tuple(attacks(people, evaluation.draws, stream, evaluation.attacked, advance))
        matched = tuple(matches(people, evaluation.draws, stream, evaluation.epsilon))
    timed = tuple(measure(subjects(people.domain_size, evaluation.epsilon, ETAS[:2]), evaluation.timed, clock))
    return Evidence(evaluation, main, users, etas, timed, attacked, matched)


def stored_table(specification: Specification, folder: Path, name: str, *, jobs: int, full: bool) -> Table:
    """Return the table of an experiment, from the folder if it is stored there under the hash of its identity."""
    path = folder / f"{name}-{canonical_json.identifier(RunPlan.of(specification, full).identity)[:16]}.csv"
    if path.exists():
        return Table.read(path)
    return run(specification, jobs=jobs, full=full, output=path)


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """Yield a folder for measurements that is emptied when all is done; an interruption leaves it there."""
    place = folder / ".unfinished"
    place.mkdir(parents=True, exist_ok=True)
    try:
        yield place
        for path in place.iterdir():
            path.unlink()
    finally:
        with suppress(OSError):  # there is something in it, to go on from
            place.rmdir()
