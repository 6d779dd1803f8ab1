"""Grouped: the group of a value in clear, the value within its group by another oracle."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Evidence, Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.errors import ParameterError
from fldp.numerics.types import Counts, Floats
from fldp.oracles.base.estimator import Estimator
from fldp.oracles.base.frequency_oracle import MAX_VALUES, FrequencyOracle
from fldp.oracles.flexible.fwr import HRR
from fldp.oracles.flexible.walsh import ALLOW_EXPOSURE
from fldp.oracles.plain.grr import GRR, RR
from fldp.oracles.plain.hadamard_response import HR
from fldp.oracles.plain.pgr import PGR
from fldp.oracles.plain.single_value import Single
from fldp.oracles.plain.subset_selection import SS
from fldp.oracles.plain.unary import OUE, SUE
from fldp.oracles.tagged import Tagged, runs_of, split_tags
from fldp.randomness.stream import Words
from fldp.support.validation import Described, fail, integer, positive, whole_numbers

BASES: dict[str, type[FrequencyOracle]] = {cls.name: cls for cls in (GRR, HR, HRR, OUE, PGR, RR, SS, SUE)}
MAX_GROUPS = 256  # so that a group is one byte, and the list of them fits into the header of a batch


def _base(owner: str, name: str, value: object) -> str:
    """Accept an oracle, by class or name, that is plain LDP and can be enumerated."""
    chosen = getattr(value, "name", value) if isinstance(value, type) else value
    if not isinstance(chosen, str) or chosen not in BASES:
        raise fail(owner, name, "one of " + ", ".join(map(repr, BASES)), value)
    return chosen


def sizes(owner: str, name: str, value: object) -> tuple[int, ...]:
    """Accept the sizes of groups."""
    rule = f"a list of 2 to {MAX_GROUPS} sizes of groups, at most {MAX_VALUES} values in all"
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, list | tuple) or not 2 <= len(items) <= MAX_GROUPS:
        raise fail(owner, name, rule, value)
    sizes = tuple(integer(1, MAX_VALUES)(owner, f"a size in {name}", size) for size in items)
    if sum(sizes) > MAX_VALUES:
        raise fail(owner, name, rule, value)
    return sizes


@dataclass(frozen=True, eq=False)
class GroupTallies(Estimator):
    """Estimates of every group by its own oracle; ``split`` yields the tally of each. Totals of groups are exact."""

    members: tuple[FrequencyOracle, ...]
    split: Callable[[Tally], Iterator[Tally]]

    @cached_property
    def runs(self) -> tuple[slice, ...]:
        return runs_of(member.domain_size for member in self.members)

    def totals(self, tally: Tally) -> tuple[int, ...]:
        return tuple(map(int, tally.state[: len(self.members)]))

    def decode(self, tally: Tally, **options: Option) -> Floats:
        del options
        parts = zip(self.members, self.split(tally), strict=True)
        return np.concatenate([member.estimator.decode(inside) for member, inside in parts])

    def evidence(self, tally: Tally, counts: Floats, **options: Option) -> tuple[Evidence, ...]:
        """Return the laws of every group that has reports, as in it."""
        del options
        groups = zip(self.members, self.runs, self.split(tally), strict=True)
        return tuple(
            part.moved(run.start)
            for member, run, inside in groups
            if inside.n
            for part in member.estimator.evidence(inside, counts[run])
        )

    def variances(self, counts: Floats, totals: tuple[int, ...], **options: Option) -> Floats:
        """Return the variances of all estimates, each as in its group."""
        del options
        groups = zip(self.members, self.runs, totals, strict=True)
        return np.concatenate([member.estimator.variances(counts[run], (total,)) for member, run, total in groups])

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        del options
        counts = np.asarray(count, np.float64)
        if counts.shape == (self.size,):
            return self.variances(counts, tuple(counts[run].sum() for run in self.runs))
        largest: Floats = np.max([member.variance(n, counts) for member in self.members], axis=0)
        return largest

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Option) -> float:
        """Sum the covariances within groups; between groups there are none."""
        del n, options
        return sum(
            member.estimator.covariance_of_sum(counts[run].sum(), counts[run], members[run])
            for member, run in zip(self.members, self.runs, strict=True)
        )

    def jump_of_sum(self, members: NDArray[np.bool_]) -> float:
        inside = zip(self.members, self.runs, strict=True)
        return max(member.estimator.jump_of_sum(members[run]) for member, run in inside if members[run].any())

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        """Draw the state of every group, if the base can."""
        inside = zip(self.members, self.runs, strict=True)
        drawn = [member.estimator.draw_state(counts[run], generator) for member, run in inside]
        totals = np.array([counts[run].sum() for run in self.runs])
        known = [state.reshape(-1) for state in drawn if state is not None]
        return np.concatenate([totals, *known]) if len(known) == len(drawn) else None


@dataclass(frozen=True, repr=False)
class Grouped(FrequencyOracle):
    """The paper's simplest FLDP: a report names the group of its value in clear, and hides the value inside the group.

    ``groups`` are the sizes of the groups, which take the values in their order: with ``[3, 2]`` the values 0, 1, 2 are
    one group and 3, 4 the other. Inside each the report is one of ``base``, on a domain of the group's size.

    **Weak FLDP.** Two values of one group are protected as the base protects them, by eps-LDP. Two values of different
    groups share no report, so eta is 0 and anybody tells them apart with certainty. How many users a group has is known
    exactly. A group of one value is published outright, so it has to be asked for with ``allow_exposure=True``.

    The variance of an estimate is the base's, with the users and the size of the group in place of all.
    ``variance(n, count)`` of a single count does not know the group: it is the largest that it can be, with all ``n``
    users in one group.

    Report: the group in clear, and a report of another oracle inside it | depends | *weak*: eps-LDP inside a group,
      eta 0 between groups
    Fields: the number of the group: the bits of the number of groups minus 1; the numbers of the base's report;
      zeros up to the width of the longest base's report
    Words: the most of any group's base | the base's inside the group
    Best fake: the best fake of the best group | its leverage

    >>> oracle = Grouped(epsilon=1.0, base="oue", groups=[3, 2])
    >>> oracle.domain_size, oracle.eta, oracle.anonymity
    (5, Fraction(0, 1), 2)
    >>> estimate = oracle.estimate(oracle.privatize([0] * 600 + [4] * 400))
    >>> estimate.totals, estimate.sum([3, 4])
    ((600, 400), Total(count=400.0, stderr=0.0))
    """

    domain_size: int = 0  # set to the sum of all groups
    base: str = field(kw_only=True)
    groups: tuple[int, ...] = field(kw_only=True)
    allow_exposure: bool = field(default=False, kw_only=True)

    examples = (
        {"epsilon": 1.0, "base": "grr", "groups": (3, 5)},
        {"epsilon": 2.0, "base": "oue", "groups": (2, 17, 4)},
        {"epsilon": 0.5, "base": "hrr", "groups": (100, 1, 7), "allow_exposure": True},
        {"epsilon": 1.0, "base": "ss", "groups": (12, 3)},
        {"epsilon": 1.0, "base": "pgr", "groups": (40, 2)},
        {"epsilon": 1.0, "base": "hr", "groups": (9, 9)},
    )
    name = "grouped"
    params = {  # noqa: RUF012
        "epsilon": positive,
        "domain_size": integer(0, MAX_VALUES),
        "base": Described(_base, "the oracle inside a group"),
        "groups": Described(sizes, "sizes such as 3,2,4", read=whole_numbers),
        "allow_exposure": ALLOW_EXPOSURE,
    }

    def _settle_parameters(self) -> None:
        size = sum(self.groups)
        if self.domain_size not in (0, size):
            raise fail(self.title, "groups", f"of {self.domain_size} values in all", list(self.groups))
        object.__setattr__(self, "domain_size", size)
        if 1 in self.groups and not self.allow_exposure:
            raise ParameterError(
                f"{self.title}: groups has a group of one value, which every report of it publishes in clear; "
                "give each group at least 2 values, or pass allow_exposure=True to accept that"
            )
        if max(self.groups) == 1:
            raise fail(self.title, "groups", "a list with at least one group of 2 or more values", list(self.groups))
        if 1 not in self.groups:
            object.__setattr__(self, "allow_exposure", False)  # nothing to allow: the same oracle with and without
        _ = self.members  # raises what the base raises

    @cached_property
    def members(self) -> tuple[FrequencyOracle, ...]:
        """The oracle of each group."""
        oracles = {size: self._member(size) for size in self.groups}
        return tuple(oracles[size] for size in self.groups)

    def _member(self, size: int) -> FrequencyOracle:
        return (Single if size == 1 else BASES[self.base])(epsilon=self.epsilon, domain_size=size)

    @cached_property
    def _tagged(self) -> Tagged:
        return Tagged(self.members)

    @cached_property
    def estimator(self) -> GroupTallies:
        return GroupTallies(self.domain_size, self.members, self._split)

    @property
    def eta(self) -> Fraction:
        return Fraction(0)

    @property
    def anonymity(self) -> int:
        return min(self.groups)

    @cached_property
    def report_format(self) -> ReportFormat:
        """The group, then the longest of the members' reports, as packed bits."""
        return replace(self._tagged.report_format, outcome=self._outcome, report=self._report)

    @property
    def tally_format(self) -> TallyFormat:
        return self._tagged.tally_format

    @property
    def words(self) -> int:
        return max(member.words for member in self.members)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        ends = [run.stop for run in self.estimator.runs]
        for group, rows in split_tags(np.searchsorted(ends, values, side="right")):
            member = self.members[group]
            data = member.report_format.empty(len(rows))
            own = np.ascontiguousarray(words[rows, : member.words])
            member.perturb(values[rows] - self.estimator.runs[group].start, own, data)
            out[rows] = self._reports_from(group, data)

    def _reports_from(self, group: int, data: Array) -> Array:
        """Pack reports of a group: the number of the group, the fields of its report, then zeros."""
        return self._tagged.join(group, data)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        self._tagged.count(data, state)

    def _split(self, tally: Tally) -> Iterator[Tally]:
        """Yield the tally of every group."""
        return self._tagged.split(tally)

    def _reports_in(self, group: int, data: Array) -> Array:
        """Return the reports of a group in the format of its own oracle."""
        return self._tagged.reports_in(group, data)

    def _group_of(self, value: int) -> int:
        """Return the group of a value."""
        return next(k for k, run in enumerate(self.estimator.runs) if value < run.stop)

    def _outcome(self, report: Any) -> tuple[Any, Any]:
        return None, self._tagged.outcome(report)

    def _report(self, outcome: Any, public: Any = None) -> Array:
        del public
        return self._tagged.report(*outcome)
