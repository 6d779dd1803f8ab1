"""An experiment as data: which populations, which oracles, how often, and what is measured. In Python or in TOML."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fldp.data.projections import METHODS
from fldp.errors import FldpError, ParameterError
from fldp.experiments.datasets.from_files import ENDINGS
from fldp.experiments.runner import metrics
from fldp.experiments.runner.contenders import WHO, Contender, Source, contender, pairs, plain, source
from fldp.support.canonical_json import Json
from fldp.support.validation import Constraint, MistakeList, fail, integer, one_of, positive


@dataclass(frozen=True)
class Specification:
    """An experiment: ``runs`` runs of every oracle, at every epsilon, on every dataset.

    Lists may be given for tuples, and names for sources and contenders. ``top`` are the k of the metrics over the top
    k; ``postprocess`` is any of ``none``, ``clip``, ``norm-sub`` and ``simplex``, all of them from the same tally.

    >>> small = Specification(datasets=["zipf"], oracles=["oue", Contender("fhr", decoders=("paper",))], epsilons=[1])
    >>> small.epsilons, small.runs, small.metrics, small.cells
    ((1.0,), 10, ('kld', 'se', 're', 'ncr'), 20)
    """

    datasets: tuple[Source, ...]
    oracles: tuple[Contender, ...]
    epsilons: tuple[float, ...]
    top: tuple[int, ...] = (20, 50, 100)
    runs: int = 10
    seed: int = 0
    postprocess: tuple[str, ...] = ("none",)
    metrics: tuple[str, ...] = field(default=("kld", "se", "re", "ncr"))

    def __post_init__(self) -> None:
        mistakes = MistakeList()
        checked = _check({each.name: getattr(self, each.name) for each in fields(self)}, mistakes)
        mistakes.refuse(WHO)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def cells(self) -> int:
        """The number of tallies to draw."""
        return len(self.datasets) * len(self.oracles) * len(self.epsilons) * self.runs

    def as_dict(self) -> dict[str, Json]:
        """Return the experiment as JSON and TOML have it; ``from_dict`` is the inverse."""
        return {
            **{each.name: getattr(self, each.name) for each in fields(self)},
            "datasets": [{"name": s.name, "label": s.label, **plain(s.parameters)} for s in self.datasets],
            "oracles": [
                {"name": c.name, "label": c.label, "decoders": list(c.decoders), **plain(c.parameters)}
                for c in self.oracles
            ],
        }

    @classmethod
    def from_dict(cls, given: object) -> "Specification":
        """Read an experiment from the table of its TOML file; report all mistakes at once.

        >>> Specification.from_dict({"datasets": ["zipf"], "oracles": ["oue"], "epsilon": [1.0]})
        Traceback (most recent call last):
        fldp.errors.ParameterError: experiment: 'epsilon' is not one of datasets, ..., metrics; epsilons is missing
        """
        if not isinstance(given, Mapping):
            raise fail(WHO, "a specification", "a table of keys", given)
        names = [each.name for each in fields(cls)]
        mistakes = MistakeList()
        mistakes.unknown((), given, names, f"one of {', '.join(names)}")
        for name in ("datasets", "oracles", "epsilons"):
            if name not in given:
                mistakes.note((name,), f"{name} is missing")
        checked = _check({name: given[name] for name in names if name in given}, mistakes)
        mistakes.refuse(WHO)
        return cls(**checked)

    @classmethod
    def load(cls, path: str | Path) -> "Specification":
        """Read an experiment from a TOML file; files of values are looked for beside it."""
        path = Path(path)
        try:
            return cls.from_dict(_beside(path.parent, _read(path)))
        except ParameterError as error:
            raise ParameterError(f"{path}: {error}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FldpError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FldpError(f"{path}: is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        raise FldpError(f"{path}: is not TOML: {error}") from None


def _metric(owner: str, name: str, value: Any) -> str:
    """Accept the name of a metric, among those that are registered by now."""
    return str(one_of(*metrics.names())(owner, name, value))


_LISTS: dict[str, Constraint] = {
    "datasets": source,
    "oracles": contender,
    "epsilons": positive,
    "top": integer(1, 2**31),
    "postprocess": one_of("none", *METHODS),
    "metrics": _metric,
}
_NUMBERS = {"runs": integer(1, 1_000_000), "seed": integer(0, 2**63)}


def _check(values: dict[str, Any], mistakes: MistakeList) -> dict[str, Any]:
    """Return the fields of an experiment in their canonical types."""
    checked: dict[str, Any] = {
        name: mistakes.check_list((name,), _LISTS[name], value)
        if name in _LISTS
        else mistakes.check((name,), _NUMBERS[name], value)
        for name, value in values.items()
    }
    if not mistakes:
        contenders = checked["oracles"]
        _check_distinct("datasets", "labels", [source.label for source in checked["datasets"]], mistakes)
        _check_distinct("oracles", "labels", [contender.label for contender in contenders], mistakes)
        keys = [(contender.name, contender.parameters) for contender in contenders]
        _check_distinct("oracles", "parameters", keys, mistakes)
    return checked


def _check_distinct(name: str, part: str, keys: list[Any], mistakes: MistakeList) -> None:
    for position, key in enumerate(keys):
        if key in keys[:position]:
            mistakes.add((name,), f"of different {part}", key)


def _beside(folder: Path, table: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a specification with the paths in it relative to its own file."""
    sources = table.get("datasets")
    if not isinstance(sources, list):
        return table
    return {**table, "datasets": [_placed(folder, source) for source in sources]}


def _placed(folder: Path, source: Any) -> Any:
    if isinstance(source, str) and source.endswith(ENDINGS):
        return {"name": "file", "path": str(folder / source)}
    if isinstance(source, dict) and isinstance(source.get("path"), str):
        return {**source, "path": str(folder / source["path"])}
    return source


EPSILONS = tuple(tenths / 10 for tenths in range(4, 21, 2))

PAPER = Specification(
    datasets=("zipf", "online", "brown"),  # type: ignore[arg-type]
    oracles=(Contender("oue"), Contender("olh"), Contender("fhr", decoders=("paper",))),
    epsilons=EPSILONS,
)
"""The paper's evaluation: three datasets, three oracles, epsilon from 0.4 to 2, the top 20, 50 and 100, ten runs."""

EXTENDED = Specification(
    datasets=PAPER.datasets,
    oracles=(
        Contender("oue"),
        Contender("olh"),
        Contender("fhr", decoders=("paper", "full")),
        Contender("fwr", pairs({"eta": 0.5}), label="FWR, eta 1/2"),
        Contender("fwr", label="FWR, eta 1"),
        Contender("pgr"),
    ),
    epsilons=EPSILONS,
)
"""The same, and FHR with the full decoder, FWR at the same eta, and FWR at eta 1 and PGR as the best plain LDP."""

BUILT_IN = {"paper": PAPER, "extended": EXTENDED}
