"""Treatment: how values differ in the protection that they need.

Some are *sensitive* and the others are not; some have a *budget* of their own, below epsilon; or two values need the
more protection the smaller their *distance*. Oracles, promises, surveys and plans use the same three words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fldp.oracles.base.frequency_oracle import MAX_VALUES
from fldp.oracles.base.oracle import Oracle
from fldp.support.canonical_json import Json
from fldp.support.validation import fail, integer, one_of, positive, whole_number

MAX_SENSITIVE, MAX_BUDGETS = 256, 100  # so that a list of them fits into the header of a batch

Budgets = tuple[tuple[int, float], ...]


def sensitive_values(owner: str, name: str, value: object) -> tuple[int, ...]:
    """Accept a set of values, sorted.

    >>> sensitive_values("URR", "sensitive", [4, 0])
    (0, 4)
    """
    items = value.tolist() if isinstance(value, np.ndarray) else value
    rule = f"a list of 1 to {MAX_SENSITIVE} different values"
    if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping):
        raise fail(owner, name, rule, value)
    values = sorted(integer(0, MAX_VALUES - 1)(owner, f"a value in {name}", each) for each in items)
    if not 1 <= len(values) == len(set(values)) <= MAX_SENSITIVE:
        raise fail(owner, name, rule, value)
    return tuple(values)


def own_budgets(owner: str, name: str, value: object) -> Budgets:
    """Accept budgets of single values, as a mapping or a list of pairs.

    >>> own_budgets("IDUE", "budgets", {3: 1, 0: 0.5})
    ((0, 0.5), (3, 1.0))
    """
    rule = f"a list of 1 to {MAX_BUDGETS} pairs of a value and its budget, all of different values"
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list | tuple) or not 1 <= len(pairs) <= MAX_BUDGETS:
        raise fail(owner, name, rule, value)
    budgets = dict(_budget(owner, name, rule, pair) for pair in pairs)
    if len(budgets) < len(pairs):
        raise fail(owner, name, rule, value)
    return tuple(sorted(budgets.items()))


def _budget(owner: str, name: str, rule: str, pair: Any) -> tuple[int, float]:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise fail(owner, name, rule, pair)
    which = integer(0, MAX_VALUES - 1)(owner, f"a value in {name}", pair[0])
    return which, positive(owner, f"a budget in {name}", pair[1])


def read_budgets(text: str) -> list[tuple[int, float]]:
    """Read budgets as a shell takes them.

    >>> read_budgets("0:0.5, 3:1")
    [(0, 0.5), (3, 1.0)]
    """
    pairs = (part.partition(":") for part in text.split(","))
    return [(whole_number(value), float(budget)) for value, _, budget in pairs]


@dataclass(frozen=True)
class Distance:
    """A metric on values: the distance of two, and the largest distance. Neighbours are at distance 1.

    Any two values are joined by that many steps between neighbours, so a bound for neighbours gives one for all pairs.
    ``is_even``: every value has the same number of others at each distance.
    """

    between: Callable[[int, int, int], int]
    most: Callable[[int], int]
    is_even: bool


def _on_a_line(value: int, other: int, domain_size: int) -> int:
    del domain_size
    return abs(value - other)


def _on_a_ring(value: int, other: int, domain_size: int) -> int:
    apart = abs(value - other)
    return min(apart, domain_size - apart)


DISTANCES = {
    "line": Distance(_on_a_line, lambda domain_size: domain_size - 1, is_even=False),
    "ring": Distance(_on_a_ring, lambda domain_size: domain_size // 2, is_even=True),
}
distance_name = one_of(*DISTANCES)


@dataclass(frozen=True)
class Treatment:
    """What a survey or a plan declares about its values: nothing, or one of three treatments.

    >>> Treatment(sensitive=[3]).parameters, Treatment().parameters
    ({'sensitive': (3,)}, {})
    >>> Treatment(budgets={0: 0.5}).parameters
    {'budgets': ((0, 0.5),)}
    >>> Treatment(budgets={0: 0.5}).plain_epsilon(2.0, 8), Treatment(distance="line").plain_epsilon(2.0, 5)
    (0.5, 0.5)
    """

    sensitive: Iterable[int] | None = None
    budgets: Mapping[int, float] | Sequence[tuple[int, float]] | None = None
    distance: str | None = None

    def __post_init__(self) -> None:
        if len(self._given) > 1:
            raise fail("plan", " and ".join(self._given), "one thing, not several at once", self._given)
        for name, check in _CHECKS.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check("plan", name, getattr(self, name)))

    @property
    def _given(self) -> list[str]:
        return [name for name in _CHECKS if getattr(self, name) is not None]

    @property
    def parameters(self) -> dict[str, Json]:
        """The declaration, as parameters of the oracles that support it."""
        return {name: getattr(self, name) for name in self._given}

    def check_domain(self, domain_size: int) -> None:
        """Raise ``ParameterError`` if a named value is outside a domain of this size."""
        named = [*(self.sensitive or ()), *dict(self.budgets or ())]
        if named and max(named) >= domain_size:
            raise fail("plan", next(iter(self.parameters)), f"of values below {domain_size}", max(named))

    def plain_epsilon(self, epsilon: float, domain_size: int) -> float:
        """Return the largest epsilon at which plain LDP protects every pair of values enough."""
        if self.budgets is not None:
            return float(min(epsilon, *dict(self.budgets).values()))
        return epsilon if self.distance is None else epsilon / DISTANCES[self.distance].most(domain_size)


def treatment_of(oracle: Oracle) -> dict[str, Json]:
    """Return the parameters by which an oracle treats values differently; empty for most oracles.

    >>> import fldp
    >>> treatment_of(fldp.URR(epsilon=1.0, domain_size=5, sensitive=[3])), treatment_of(fldp.RR(epsilon=1.0))
    ({'sensitive': (3,)}, {})
    """
    return {name: getattr(oracle, name) for name in _CHECKS if name in oracle.params}


_CHECKS: dict[str, Callable[[str, str, Any], Any]] = {
    "sensitive": sensitive_values,
    "budgets": own_budgets,
    "distance": distance_name,
}
