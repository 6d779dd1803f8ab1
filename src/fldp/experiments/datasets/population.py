"""Population: how many users hold each value, known exactly; and the datasets that give one, by name."""

import hashlib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import MAX_COUNT
from fldp.errors import DomainError, ParameterError
from fldp.support.validation import fail

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Population:
    """A name, the number of users that hold each value, and what the values stand for, where they stand for anything.

    >>> people = Population("browsers", [900, 80, 20], ("chrome", "firefox", "lynx"))
    >>> people.n, people.domain_size
    (1000, 3)
    """

    name: str
    counts: Counts
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        counts = np.array(self.counts)
        if counts.dtype.kind not in "iu" or counts.ndim != 1 or len(counts) < 2 or (counts < 0).any():
            rule = "at least two integers of at least 0"
            raise fail(f"population {self.name}", "counts", rule, f"{counts.dtype} of shape {counts.shape}")
        if not 0 < int(counts.sum()) < MAX_COUNT:
            raise fail(f"population {self.name}", "counts", "counts of at least one user", int(counts.sum()))
        counts = counts.astype(np.int64)
        counts.flags.writeable = False
        object.__setattr__(self, "counts", counts)
        if self.labels is not None and len(self.labels) != len(counts):
            raise fail(f"population {self.name}", "labels", f"as many as counts, {len(counts)}", len(self.labels))

    @classmethod
    def of(cls, name: str, counted: Mapping[str, int]) -> "Population":
        """Build a population from the counts of its labels, the frequent ones first.

        >>> Population.of("letters", {"a": 1, "c": 5, "b": 1}).labels
        ('c', 'a', 'b')
        """
        if len(counted) < 2:
            raise DomainError(f"population {name}: at least two different values are needed, got {len(counted)}")
        labels = sorted(counted, key=lambda label: (-counted[label], label))
        return cls(name, np.array([counted[label] for label in labels], np.int64), tuple(labels))

    @property
    def n(self) -> int:
        """The number of users."""
        return int(self.counts.sum())

    @property
    def domain_size(self) -> int:
        """The number of values."""
        return len(self.counts)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the counts: two populations with the same one give the same measurements."""
        return hashlib.sha256(self.counts.astype("<i8").tobytes()).hexdigest()

    def expect(self, who: str, users: int | None, values: int | None) -> "Population":
        """Return this population if it has these totals, or raise ``DomainError``."""
        for what, expected, actual in (("users", users, self.n), ("values", values, self.domain_size)):
            if expected not in (None, actual):
                raise DomainError(f"{who}: must hold {expected:,} {what}, got {actual:,}")
        return self


@dataclass(frozen=True)
class Dataset:
    """A function of a seed that makes a population, and what is known of it beforehand."""

    name: str
    make: Callable[..., Population]
    users: int | None = None
    values: int | None = None
    where: Callable[[], str] | None = None

    @property
    def about(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    @property
    def _own(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.make).parameters.values())[1:]

    @property
    def parameters(self) -> list[str]:
        """The names of the function's parameters after the seed."""
        return [parameter.name for parameter in self._own]

    @property
    def needed(self) -> list[str]:
        """The names of those that have to be given."""
        return [parameter.name for parameter in self._own if parameter.default is parameter.empty]

    def check(self, chosen: Collection[str]) -> None:
        """Refuse parameters that the function does not have, and say which is missing."""
        for name in chosen:
            if name not in self.parameters:
                takes = ", ".join(self.parameters) or "none"
                raise ParameterError(f"dataset {self.name}: has no parameter {name!r}, it takes {takes}")
        for name in self.needed:
            if name not in chosen:
                raise ParameterError(f"dataset {self.name}: needs the parameter {name!r}")


_registry: dict[str, Dataset] = {}
Maker = TypeVar("Maker", bound=Callable[..., Population])


def dataset(
    name: str, *, users: int | None = None, values: int | None = None, where: Callable[[], str] | None = None
) -> Callable[[Maker], Maker]:
    """Register a function of a seed as a dataset. With ``users`` and ``values``, its totals must be these.

    Further parameters of the function are parameters of the dataset.

    >>> @dataset("coins", users=100, values=2)
    ... def coins(seed, heads=50):
    ...     return Population("coins", [heads, 100 - heads], ("heads", "tails"))
    >>> load("coins", seed=1, heads=30).counts
    array([30, 70])
    """

    def register(make: Maker) -> Maker:
        known = _registry.get(name)
        if known is not None and known.make.__module__ != make.__module__:
            raise ParameterError(f"dataset: the name {name!r} is taken by {known.make.__module__}; choose another")
        _registry[name] = Dataset(name, make, users, values, where)
        return make

    return register


def names() -> list[str]:
    """Return the names of all datasets.

    >>> {"zipf", "online", "brown", "uniform"} <= set(names())
    True
    """
    return sorted(_registry)


def get(name: str) -> Dataset:
    """Return a dataset.

    >>> get("nope")
    Traceback (most recent call last):
    fldp.errors.ParameterError: dataset: the name must be one of brown, ..., zipf, got 'nope'
    """
    if name not in _registry:
        raise fail("dataset", "the name", f"one of {', '.join(names())}", name)
    return _registry[name]


def load(name: str, seed: int = 0, **parameters: object) -> Population:
    """Return the population of a dataset.

    >>> load("zipf").n
    593358
    """
    source = get(name)
    source.check(parameters)
    population = source.make(seed, **parameters)
    if not isinstance(population, Population):
        raise fail(f"dataset {name}", "what its function returns", "a Population", population)
    return replace(population, name=name).expect(f"dataset {name}", source.users, source.values)
