"""Search: heavy hitters among strings, found prefix by prefix; each person is asked once.

A search is a row of rounds. Each round is an ordinary survey over values that can be listed, answered by people of its
own: which of these prefixes, made longer by a few bits, is yours, or is it none of these? ``Round.next_round`` turns
the tally of a round into the round after it, or into the strings that were found. Nothing here draws or sends: an
experiment on one machine (``heavy_hitters``) and a collector run the same rounds.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from statistics import NormalDist
from typing import Any, TypedDict, overload

import numpy as np

from fldp.data.estimate import Estimate
from fldp.data.reports import Tally
from fldp.errors import ParameterError
from fldp.estimation.expected_error import build
from fldp.estimation.planner import plan
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.search.prefix_code import LIKELY, Beginning, PrefixCode, as_bytes
from fldp.search.results import HeavyHitters
from fldp.support.validation import Constraint, fail, integer, optional, positive


def _name(owner: str, name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MAX_NAME or not value.isascii():
        raise fail(owner, name, "the name of an oracle", value)
    return value


_MAX_NAME, MAX_STEP = 200, 18
_PARAMETERS: dict[str, Constraint] = {
    "epsilon": positive,
    "oracle": optional(_name),
    "eta": optional(positive),
    "k": integer(1, 1 << 12),
    "quota": integer(1, 10**9),
    "hours": optional(integer(1, 10**5)),
    "rounds": integer(1, 64),
    "bits": integer(4, MAX_STEP),
}


class SearchOptions(TypedDict, total=False):
    """The parameters of a search that need not be given."""

    oracle: str | None
    eta: float | None
    alphabet: str
    rounds: int
    bits: int
    quota: int
    hours: int | None


@dataclass(frozen=True)
class Search:
    """A search: its parameters and nothing else.

    ``k`` strings are wanted, by reports of ``epsilon``. ``oracle`` is the name of any whose values can be listed, with
    its ``eta`` where it has one; None takes the shortest reports among those whose error is within 5 % of the least.
    ``rounds`` search, and one more counts what they found. A round asks for at most ``2^bits`` prefixes, and keeps at
    most ``width`` of them. ``alphabet`` are the likely characters (``PrefixCode``). A collector goes on to the
    next round after ``quota`` reports, or after ``hours`` with as many as the survey's minimum.

    >>> search = Search(epsilon=4.0, k=20)
    >>> search.first.oracle
    PGR(epsilon=4.0, domain_size=65537)
    """

    epsilon: float
    k: int = 20
    oracle: str | None = None
    eta: float | None = None
    alphabet: str = LIKELY
    rounds: int = 4
    bits: int = 16
    quota: int = 10_000
    hours: int | None = None

    def __post_init__(self) -> None:
        for name, constraint in _PARAMETERS.items():
            object.__setattr__(self, name, constraint("Search", name, getattr(self, name)))
        if self.width > 1 << self.bits:
            raise fail("Search", "bits", f"at least {self.width.bit_length() - 1} for k {self.k}", self.bits)
        _ = self.code

    @cached_property
    def code(self) -> PrefixCode:
        """The code that turns strings into bits."""
        return PrefixCode(self.alphabet)

    @property
    def width(self) -> int:
        """The most prefixes that a round keeps: at least three for every wanted string, a power of two."""
        return 1 << (3 * self.k - 1).bit_length()

    @property
    def reach(self) -> int:
        """The bits of a string that a search finds at least, unless it loses the string."""
        return self.bits + (self.rounds - 1) * self.step(self.width)

    @cached_property
    def first(self) -> "Round":
        """The first round."""
        return Round(self, 1, ("",), self.bits, self._built((1 << self.bits) + 1))

    def step(self, prefixes: int) -> int:
        """Return by how many bits this number of prefixes may grow."""
        return ((1 << self.bits) // prefixes).bit_length() - 1

    def _built(self, domain_size: int) -> FrequencyOracle:
        if self.oracle is None:
            return plan(domain_size=domain_size, users=1, epsilon=self.epsilon, eta=self.eta).shortest.oracle
        return build(self.oracle, domain_size, self.epsilon, self.eta)

    def later(self, number: int, prefixes: tuple[str, ...], step: int, found: tuple[str, ...] = ()) -> "Round":
        """Return a round that is not the first.

        The last round may have too few values for the oracle that was asked for (FHR would expose somebody). Then it
        takes one of plain LDP, which gives less away.
        """
        size = (len(prefixes) << step) + 1
        try:
            oracle = self._built(size)
        except ParameterError:
            oracle = plan(domain_size=size, users=1, epsilon=self.epsilon).shortest.oracle
        return Round(self, number, prefixes, step, oracle, found)


@dataclass(frozen=True)
class Round:
    """One question: a value for every prefix made longer by ``step`` bits, and a last one for none of these.

    The last round has a step of 0: it counts whole strings, and beginnings of those whose end the search did not reach.

    >>> first = Search(epsilon=1.0, alphabet="ab", bits=6).first
    >>> first.domain_size, first.value("ab"), first.value(b"abba")
    (65, 24, 26)
    >>> first.beginning(24)
    Beginning(value=b'ab', whole=True)
    """

    search: Search
    number: int
    prefixes: tuple[str, ...]
    step: int
    oracle: FrequencyOracle
    found: tuple[str, ...] = ()

    @property
    def is_last(self) -> bool:
        """Whether this round counts, and searches no more."""
        return self.step == 0

    @property
    def none(self) -> int:
        """The value of all strings that begin with none of the prefixes."""
        return len(self.prefixes) << self.step

    @property
    def domain_size(self) -> int:
        """The number of values."""
        return self.none + 1

    @cached_property
    def _places(self) -> dict[str, int]:
        return {prefix: place for place, prefix in enumerate(self.prefixes)}

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted(set(map(len, self.prefixes)))

    def value(self, string: str | bytes) -> int:
        """Return the value of a string, on its holder's device. No prefix begins another, so there is one value."""
        bits, value = self.search.code.encode(as_bytes(string)), self.none
        # All lengths, without an early exit: the time must not tell the publisher of the prefixes which one matched.
        for length in self._lengths:
            place = self._places.get(bits[:length])
            more = bits[length : length + self.step].ljust(self.step, "0")
            value = value if place is None else place << self.step | int(more or "0", 2)
        return value

    def bits(self, value: int) -> str:
        """Return the bits that a value stands for."""
        more = value & ((1 << self.step) - 1)
        return self.prefixes[value >> self.step] + (f"{more:0{self.step}b}" if self.step else "")

    def beginning(self, value: int) -> Beginning | None:
        """Return how the strings of a value begin; None if no string has this value, and for the last one."""
        return None if value == self.none else self.search.code.decode(self.bits(value))

    @property
    def labels(self) -> "Labels":
        """The labels of all values."""
        return Labels(self)

    def label(self, value: int) -> str:
        """Return the label of a value."""
        if value == self.none:
            return "(none of these)"
        beginning = self.beginning(value)
        return "(no string)" if beginning is None else beginning.text

    def next_round(self, tally: Tally) -> "Round | HeavyHitters":
        """Return the round after this one, or what was found, from the tally of all reports of this round."""
        estimate = self.oracle.estimate(tally)
        if self.is_last:
            return HeavyHitters(self.search.k, tuple(self._beginnings()), estimate, estimate.n)
        frequent = list(self._frequent(estimate))
        strings = (*self.found, *(self.search.code.encode(string.value) for _, string in frequent if string.whole))
        prefixes = tuple(self.bits(value) for value, string in frequent if not string.whole)
        if prefixes and self.number < self.search.rounds:
            return self.search.later(self.number + 1, prefixes, self.search.step(len(prefixes)), strings)
        counted = strings + prefixes
        return self.search.later(self.number + 1, counted, 0) if counted else HeavyHitters(self.search.k)

    def _beginnings(self) -> Iterator[Beginning]:
        return filter(None, map(self.beginning, range(self.none)))

    def _frequent(self, estimate: Estimate) -> Iterator[tuple[int, Beginning]]:
        """Yield the ``width`` largest estimates above the noise, without values that no string has."""
        counts = estimate.counts[: self.none]
        above = np.flatnonzero(counts >= self._threshold(estimate.n))
        ranked = above[np.argsort(-counts[above], kind="stable")].tolist()
        possible = ((value, string) for value in ranked if (string := self.beginning(value)) is not None)
        return islice(possible, self.search.width)

    def _threshold(self, n: int) -> float:
        """Return the count that about ``k`` of the values that nobody holds reach by chance."""
        share = min(0.5, self.search.k / self.none)
        return NormalDist().inv_cdf(1 - share) * math.sqrt(self.oracle.variance(n, 0))


class Labels(Sequence[str]):
    """The labels of a round's values, each computed when it is asked for: there are many, and few are shown."""

    def __init__(self, question: Round) -> None:
        self._question = question

    def __len__(self) -> int:
        return self._question.domain_size

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        values = range(len(self))[place]
        return self._question.label(values) if isinstance(values, int) else list(map(self._question.label, values))
