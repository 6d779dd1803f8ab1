"""The analysis of Grouped: the analyses of its groups, and what the group in clear gives away."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import Analysis, Promise, analyses, analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.leaks_and_parts import ReportPart
from fldp.oracles.base.numbered_strategy import Numbered
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Targets
from fldp.oracles.grouped import Grouped
from fldp.oracles.tagged import split_tags


@analyses(Grouped)
class GroupedAnalysis(Analysis[Grouped]):
    """A group, and a report of its oracle."""

    @property
    def promise(self) -> Promise:
        return "GroupedLDP", self.oracle.epsilon, self.oracle.groups

    @property
    def plain_values(self) -> Sequence[int]:
        """The values of the largest group."""
        largest = self.oracle.estimator.runs[self.oracle.groups.index(max(self.oracle.groups))]
        return range(largest.start, largest.stop)

    def leaves(self) -> Iterable[Collection[int]]:
        return [range(run.start, run.stop) for run in self.oracle.estimator.runs]

    @property
    def members(self) -> tuple[FrequencyOracle, ...]:
        return self.oracle.members

    @property
    def server_work(self) -> str:
        largest = max(self.oracle.members, key=lambda member: member.domain_size)
        return f"{analysis(largest).server_work} in each group"

    @property
    def outcomes(self) -> int:
        return sum(_outcomes(analysis(member)) for member in self.oracle.members)

    def profile(self, value: int = 0, other: int = 1) -> Profile | None:
        """Return the base's profile within a group; between groups no report is shared."""
        group, other_group = self.oracle._group_of(value), self.oracle._group_of(other)
        if group == other_group:
            start = self.oracle.estimator.runs[group].start
            return analysis(self.oracle.members[group]).profile(value - start, other - start)
        own, others = (analysis(self.oracle.members[k]).profile() for k in (group, other_group))
        return Profile.of([Band(own.reports, Fraction(1), Fraction(0))], others.reports) if own and others else None

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return the first two values of two groups of every size, as far as they lie in the range."""
        kinds: dict[tuple[int, int], list[int]] = {}
        for run in self.oracle.estimator.runs:
            part = range(max(start, run.start), min(stop, run.stop))
            kind = kinds.setdefault((run.stop - run.start, min(2, len(part))), [])
            if len(kind) < 4:
                kind += part[:2]
        return sorted(value for kind in kinds.values() for value in kind)

    def overlaps(self) -> dict[Fraction, Fraction]:
        size = self.oracle.domain_size
        inside = Fraction(sum(group * (group - 1) for group in self.oracle.groups), size * (size - 1))
        return {Fraction(1): inside, Fraction(0): 1 - inside}

    def likelihoods(self, data: Array) -> Floats:
        likelihoods = np.zeros((len(data), self.oracle.domain_size))
        for group, rows in split_tags(self.oracle._tagged.tags(data)):
            likelihoods[rows, self.oracle.estimator.runs[group]] = analysis(self.oracle.members[group]).likelihoods(
                self.oracle._tagged.unpack(group, data[rows])[0]
            )
        return likelihoods

    def law(self, value: int, public: Public = None) -> Law:
        """An outcome is the group, and the public part and the outcome of the base's report."""
        del public
        self.check_enumerable(value)
        group = self.oracle._group_of(value)
        member, place = analysis(self.oracle.members[group]), value - self.oracle.estimator.runs[group].start
        publics = list(member.publics())
        return {
            (group, seen, outcome): share / len(publics)
            for seen in publics
            for outcome, share in member.law(place, seen).items()
        }

    def resized(self, domain_size: int) -> "Grouped":
        sizes = list(self.oracle.groups[: max(2, domain_size // 2)])
        while sum(sizes) > max(domain_size, len(sizes)):
            sizes[sizes.index(max(sizes))] -= 1
        return replace(self.oracle, domain_size=0, groups=tuple(sizes), allow_exposure=True)

    def identified(self) -> list[float]:
        """One report rules out all other groups, and further reports nothing else."""
        return [0.0, self.oracle.groups.count(1) / self.oracle.domain_size]

    def blind(self) -> tuple[str, ...]:
        largest = max(self.oracle.members, key=lambda member: member.domain_size)
        return ("fakes that choose a group: the sizes of the groups are data", *analysis(largest).blind())

    def parts(self, tally: Tally, data: Array | None) -> Iterator[ReportPart]:
        """Yield the non-empty groups."""
        for group, inside in enumerate(self.oracle._split(tally)):
            if inside.n:
                reports = None if data is None else self.oracle._reports_in(group, data)
                yield ReportPart(f"group {group}", inside, reports, self.oracle.estimator.runs[group].start)

    def fakes(self, targets: Targets) -> Numbered | None:
        """A report is in one group, and adds nothing to targets in others."""
        inside = [
            targets[(run.start <= targets) & (targets < run.stop)] - run.start for run in self.oracle.estimator.runs
        ]
        groups = zip(self.oracle.members, inside, strict=True)
        known = [plan for member, part in groups if (plan := analysis(member).fakes(part)) is not None]
        return Numbered(self.oracle, known, self.oracle._reports_from) if len(known) == len(inside) else None


def _outcomes(oracle: Analysis[FrequencyOracle]) -> int:
    """Return the number of different reports over all public randomness; huge where that cannot be enumerated."""
    return oracle.outcomes * (len(list(oracle.publics())) if oracle.publics_are_all else 1 << 64)
