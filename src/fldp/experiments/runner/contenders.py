"""The parts of an experiment: datasets and oracles as somebody chose them, and lists with their checks."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fldp.errors import ParameterError
from fldp.experiments.datasets import population
from fldp.experiments.datasets.from_files import ENDINGS
from fldp.oracles import get_listed
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.support.validation import fail

WHO = "experiment"
Parameters = tuple[tuple[str, Any], ...]


def pairs(parameters: Any) -> Parameters:
    """Return parameters as sorted pairs that can be hashed and compared."""
    given = dict(parameters)
    return tuple((name, tuple(given[name]) if isinstance(given[name], list) else given[name]) for name in sorted(given))


def plain(pairs: Parameters) -> dict[str, Any]:
    """Return parameters as JSON and TOML have them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in pairs}


def _text(who: str, what: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise fail(who, what, "a text in one line", value)
    return value


@dataclass(frozen=True)
class Source:
    """A dataset by name, its parameters, and what the table calls it.

    >>> Source("geometric", {"ratio": 0.9}).label
    'geometric ratio=0.9'
    >>> Source("words.csv")
    Source(name='file', parameters=(('path', 'words.csv'),), label='words.csv')
    """

    name: str
    parameters: Parameters = ()
    label: str = ""

    def __post_init__(self) -> None:
        _text(WHO, "a dataset", self.name)
        if self.name.endswith(ENDINGS):
            object.__setattr__(self, "parameters", {**dict(self.parameters), "path": self.name})
            object.__setattr__(self, "name", "file")
        object.__setattr__(self, "parameters", pairs(self.parameters))
        population.get(self.name).check(dict(self.parameters))
        object.__setattr__(self, "label", _text(WHO, "a label", self.label or self._called()))

    def _called(self) -> str:
        """Return the name and the parameters; of a file its own name, wherever it lies: the noise depends on it."""
        given = dict(self.parameters)
        if self.name == "file":
            return Path(_text(WHO, "the path of a file", given["path"])).name
        return " ".join([self.name, *(f"{name}={value}" for name, value in given.items())])

    def load(self, seed: int) -> population.Population:
        """Return the population, under the label."""
        made = population.load(self.name, seed, **dict(self.parameters))
        return population.Population(self.label, made.counts, made.labels)


@dataclass(frozen=True)
class Contender:
    """An oracle by name, its parameters but for epsilon and domain, and how its tallies are decoded.

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
        cls = get_listed(_text(WHO, "an oracle", self.name))
        object.__setattr__(self, "parameters", pairs(self.parameters))
        for name, value in self.parameters:
            if name not in cls.params or name in ("epsilon", "domain_size"):
                raise ParameterError(f"{WHO}: {name!r} is not a parameter to set of the oracle {self.name}")
            cls.params[name](cls.__name__, name, value)
        known = self._known(cls)
        object.__setattr__(self, "decoders", _many("decoders", self.decoders, choice(known)) or known[:1])
        spelled = " ".join(f"{name}={value}" for name, value in self.parameters)
        object.__setattr__(self, "label", _text(WHO, "a label", self.label or f"{cls.__name__} {spelled}".strip()))

    @staticmethod
    def _known(cls: type[FrequencyOracle]) -> tuple[str, ...]:
        """Return the ways to decode a tally, the usual one first; ``em`` would need the reports."""
        return (*(cls.decoders or ("linear",)), *(method for method in cls.methods[1:] if method != "em"))

    def series(self, decoder: str) -> str:
        """Return what a decoder's measurements are called: the label, and the decoder where there is a choice."""
        return f"{self.label}, {decoder}" if get_listed(self.name).decoders or decoder != "linear" else self.label

    def oracle(self, epsilon: float, domain_size: int) -> FrequencyOracle:
        """Return the oracle for a population."""
        return get_listed(self.name)(epsilon=epsilon, domain_size=domain_size, **dict(self.parameters))


def choice(known: Iterable[str]) -> Callable[[str, str, Any], Any]:
    """Accept one of the known words; the message does not quote them all."""
    words = tuple(known)

    def check(who: str, what: str, value: Any) -> Any:
        if value not in words:
            raise fail(who, what, f"of {', '.join(words)}", value)
        return value

    return check


def _many(what: str, given: Any, check: Callable[[str, str, Any], Any]) -> tuple[Any, ...]:
    """Return a list's entries, each checked, all different."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise fail(WHO, what, "a list", given)
    made = tuple(check(WHO, what, entry) for entry in given)
    for position, entry in enumerate(made):
        if entry in made[:position]:
            raise fail(WHO, what, "all different", entry)
    return made


def some(what: str, given: Any, check: Callable[[str, str, Any], Any]) -> tuple[Any, ...]:
    """Return a list's entries, of which there must be one at least."""
    made = _many(what, given, check)
    if not made:
        raise fail(WHO, what, "a list of at least one", given)
    return made


def source(who: str, what: str, given: Any) -> Source:
    """Accept a source, a name or a path, or a table."""
    if isinstance(given, Source):
        return given
    if isinstance(given, str):
        return Source(given)
    rest = _table(who, what, given)
    return Source(rest.pop("name"), label=rest.pop("label", ""), parameters=pairs(rest))


def contender(who: str, what: str, given: Any) -> Contender:
    """Accept a contender, a name, or a table."""
    if isinstance(given, Contender):
        return given
    if isinstance(given, str):
        return Contender(given)
    rest = _table(who, what, given)
    name, label, decoders = rest.pop("name"), rest.pop("label", ""), rest.pop("decoders", ())
    return Contender(name, label=label, decoders=decoders, parameters=pairs(rest))


def _table(who: str, what: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or "name" not in given:
        raise fail(who, what, "names, or tables with a name", given)
    return dict(given)
