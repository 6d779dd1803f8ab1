"""The analysis of Grouped: that of its groups, and what the group in clear gives away."""

from collections.abc import Iterator

from fldp.data.reports import Array, Tally
from fldp.oracles.base.analysis import Analysis, analyses, analysis
from fldp.oracles.base.numbered_strategy import Numbered
from fldp.oracles.base.revelations import ReportPart
from fldp.oracles.base.strategy import Targets
from fldp.oracles.grouped import Grouped


@analyses(Grouped)
class GroupedAnalysis(Analysis[Grouped]):
    """A group, and a report of its oracle."""

    def identified(self) -> list[float]:
        """One report rules out all other groups, and further reports nothing else."""
        return [0.0, self.oracle.groups.count(1) / self.oracle.domain_size]

    def blind(self) -> tuple[str, ...]:
        largest = max(self.oracle.members, key=lambda member: member.domain_size)
        return ("fakes that choose a group: the sizes of the groups are data", *analysis(largest).blind())

    def parts(self, tally: Tally, data: Array | None) -> Iterator[ReportPart]:
        """Yield the non-empty groups."""
        for group, inside in enumerate(self.oracle.split(tally)):
            if inside.n:
                reports = None if data is None else self.oracle.reports_in(group, data)
                yield ReportPart(f"group {group}", inside, reports, self.oracle.runs[group].start)

    def fakes(self, targets: Targets) -> Numbered | None:
        """A report is in one group, and adds nothing to targets in others."""
        inside = [targets[(run.start <= targets) & (targets < run.stop)] - run.start for run in self.oracle.runs]
        groups = zip(self.oracle.members, inside, strict=True)
        known = [plan for member, part in groups if (plan := analysis(member).fakes(part)) is not None]
        return Numbered(self.oracle, known, self.oracle.reports_from) if len(known) == len(inside) else None
