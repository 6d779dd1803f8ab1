"""Contenders and sources: the oracles and the datasets that an experiment names, with their parameters."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from fldp.errors import ParameterError
from fldp.experiments.datasets import population
from fldp.experiments.datasets.from_files import ENDINGS
from fldp.oracles import get_listed
from fldp.oracles.base.estimator import Options
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.registry import examples
from fldp.support.canonical_json import Json
from fldp.support.validation import MistakeList, fail, line, one_of

WHO = "experiment"
Parameters = tuple[tuple[str, Any], ...]


def pairs(parameters: Mapping[str, object] | Parameters) -> Parameters:
    """Return parameters as sorted pairs that can be hashed and compared."""
    return tuple(
        (name, tuple(value) if isinstance(value, list) else value) for name, value in sorted(dict(parameters).items())
    )


def plain(pairs: Parameters) -> dict[str, Json]:
    """Return parameters as JSON and TOML have them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in pairs}


@dataclass(frozen=True)
class Source:
    """A dataset by name, its parameters, and its label in the table.

    >>> Source("geometric", {"ratio": 0.9}).label
    'geometric ratio=0.9'
    >>> Source("words.csv")
    Source(name='file', parameters=(('path', 'words.csv'),), label='words.csv')
    """

    name: str
    parameters: Parameters = ()
    label: str = ""

    def __post_init__(self) -> None:
        line(WHO, "a dataset", self.name)
        if self.name.endswith(ENDINGS):
            object.__setattr__(self, "parameters", {**dict(self.parameters), "path": self.name})
            object.__setattr__(self, "name", "file")
        object.__setattr__(self, "parameters", pairs(self.parameters))
        population.get(self.name).check(dict(self.parameters))
        object.__setattr__(self, "label", line(WHO, "a label", self.label or self._called()))

    def _called(self) -> str:
        """Return the name and the parameters; of a file its own name, wherever it lies: the noise depends on it."""
        if self.name == "file":
            return Path(line(WHO, "the path of a file", dict(self.parameters)["path"])).name
        return " ".join([self.name, *(f"{name}={value}" for name, value in self.parameters)])

    def load(self, seed: int) -> population.Population:
        """Return the population, under the label."""
        loaded = population.load(self.name, seed, **dict(self.parameters))
        return population.Population(self.label, loaded.counts, loaded.labels)


@dataclass(frozen=True)
class Contender:
    """An oracle by name, its parameters except for epsilon and domain, and how its tallies are decoded.

    >>> Contender("fhr", decoders=("paper", "full")).series("paper")
    'FHR, paper'
    >>> Contender("fwr", {"eta": 0.5}).label
    'FWR eta=0.5'
    """

    name: str
    parameters: Parameters = ()
    decoders: tuple[str, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        cls = get_listed(line(WHO, "an oracle", self.name))
        mistakes = MistakeList()
        parameters, decoders = pairs(self.parameters), self._known
        settable = cls.params.keys() - {"epsilon", "domain_size"}
        mistakes.unknown((), dict(parameters), settable, f"a parameter to set of the oracle {self.name}")
        for name, value in parameters:
            if name in settable:
                mistakes.attempt(partial(cls.params[name], cls.__name__, name, value), (name,))
        chosen = mistakes.check_list(("decoders",), one_of(*decoders), self.decoders, empty=True) or decoders[:1]
        spelled = " ".join(f"{name}={value}" for name, value in parameters)
        label = mistakes.check(("label",), line, self.label or f"{cls.__name__} {spelled}".strip())
        mistakes.refuse(WHO)
        for name, checked in (("parameters", parameters), ("decoders", chosen), ("label", label)):
            object.__setattr__(self, name, checked)

    @property
    def _known(self) -> tuple[str, ...]:
        """The ways to decode a tally, the usual one first; ``em`` would need the reports."""
        estimator = _estimator(self.name)
        return *(estimator.decoders or ("linear",)), *(method for method in estimator.methods[1:] if method != "em")

    def series(self, decoder: str) -> str:
        """Return the name of a decoder's series: the label, and the decoder where there is a choice."""
        return f"{self.label}, {decoder}" if decoder != "linear" or _estimator(self.name).decoders else self.label

    def oracle(self, epsilon: float, domain_size: int) -> FrequencyOracle:
        """Return the oracle for a population."""
        return get_listed(self.name)(epsilon=epsilon, domain_size=domain_size, **dict(self.parameters))


@cache
def _estimator(name: str) -> Options:
    """Return the estimator of some oracle of this name: all of them have the same decoders and methods."""
    return next((oracle.estimator for oracle in examples(get_listed(name))), Options())


def source(owner: str, name: str, value: object) -> Source:
    """Accept a source, a name or a path, or a table."""
    if isinstance(value, Source):
        return value
    table = _table(owner, name, value)
    with _located(name):
        return Source(table.pop("name"), label=table.pop("label", ""), parameters=pairs(table))


def contender(owner: str, name: str, value: object) -> Contender:
    """Accept a contender, a name, or a table."""
    if isinstance(value, Contender):
        return value
    table = _table(owner, name, value)
    with _located(name):
        oracle, label, decoders = table.pop("name"), table.pop("label", ""), table.pop("decoders", ())
        return Contender(oracle, label=label, decoders=decoders, parameters=pairs(table))


def _table(owner: str, name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, Mapping) or "name" not in value:
        raise fail(owner, name, "a name, or a table with a name", value)
    return dict(value)


@contextmanager
def _located(name: str) -> Iterator[None]:
    """Name in an error the entry of the experiment that it is about."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{name}: {str(error).removeprefix(f'{WHO}: ')}") from None
