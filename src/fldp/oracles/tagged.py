"""Tagged: reports that name one of several oracles in clear, and hold a report of that oracle."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.packing import as_columns, from_columns, pack_columns, unpack_columns
from fldp.data.reports import Array, Tally
from fldp.oracles.base.bit_reports import bit_rows, byte_fields
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Outcome, Public

Numbers = NDArray[np.integer[Any]]
_BYTE = 8


@dataclass(frozen=True, eq=False)
class Tagged:
    """The layout that ``Grouped`` and ``Sampled`` share; where the tag comes from is theirs.

    A report is the tag (the bits of the number of members minus 1), the numbers of the member's report, and zeros up to
    the width of the longest member's report. The state of a tally is how many reports have each tag, then the states of
    all members, one after the other.
    """

    members: tuple[FrequencyOracle, ...]

    @property
    def tag_bits(self) -> int:
        """The width of the tag."""
        return (len(self.members) - 1).bit_length()

    @cached_property
    def report_format(self) -> ReportFormat:
        """The layout as packed bits; an oracle adds how it reads outcomes."""
        bits = self.tag_bits + max(member.report_format.bits for member in self.members)
        return replace(bit_rows(bits), check=self._check)

    @cached_property
    def tally_format(self) -> TallyFormat:
        """The layout of the state."""
        return TallyFormat((self._states[-1].stop,), self._adds_up)

    @cached_property
    def _states(self) -> tuple[slice, ...]:
        """The slice of each member in a tally's state: after the totals, one after the other."""
        return runs_of((member.tally_format.cells for member in self.members), len(self.members))

    @cached_property
    def _all_widths(self) -> dict[int, NDArray[np.uint8]]:
        return {}

    def _widths(self, tag: int) -> NDArray[np.uint8]:
        """The field widths of a member's report, padded with zeros to the common number of whole bytes."""
        if tag not in self._all_widths:
            member, size = self.members[tag].report_format, self.report_format.nbytes
            ends = byte_fields(_BYTE * size - self.tag_bits - member.bits)
            self._all_widths[tag] = replace(member, fields=((self.tag_bits, 1), *member.fields, *ends)).widths
        return self._all_widths[tag]

    def join(self, tag: int, data: Array) -> Array:
        """Pack reports of a member: its tag, the fields of its report, then zeros."""
        fields, numbers = self._widths(tag), as_columns(data)
        columns = np.zeros((len(data), len(fields)), np.uint64)
        columns[:, 0] = tag
        columns[:, 1 : 1 + numbers.shape[1]] = numbers
        return pack_columns(columns, fields).reshape(len(data), -1)

    def unpack(self, tag: int, data: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Return the reports of a member, and whether their padding is zero."""
        columns, _ = unpack_columns(np.ascontiguousarray(data).reshape(-1), self._widths(tag), len(data))
        member = self.members[tag].report_format
        end = 1 + len(member.widths)
        return from_columns(member, columns[:, 1:end]), np.asarray((columns[:, end:] == 0).all(axis=1))

    def tags(self, data: Array) -> Numbers:
        """Return the tag of every report."""
        if self.tag_bits <= _BYTE:
            return np.asarray(data[:, 0] & ((1 << self.tag_bits) - 1))
        both = data[:, 0].astype(np.uint16) | data[:, 1].astype(np.uint16) << np.uint16(_BYTE)
        return np.asarray(both & np.uint16((1 << self.tag_bits) - 1))

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        """Add reports into the state of a tally."""
        for tag, rows in split_tags(self.tags(data)):
            member = self.members[tag]
            state[tag] += len(rows)
            inside = state[self._states[tag]].reshape(member.tally_format.shape)
            member.count(self.unpack(tag, data[rows])[0], inside)

    def _check(self, data: Array) -> NDArray[np.bool_]:
        tags = self.tags(data)
        known = np.flatnonzero(tags < len(self.members))
        good = np.zeros(len(data), np.bool_)
        for tag, rows in split_tags(tags[known]):
            reports, filled = self.unpack(tag, data[known[rows]])
            good[known[rows]] = filled & self.members[tag].report_format.check(reports)
        return good

    def _adds_up(self, state: NDArray[np.int64], n: int) -> bool:
        totals = state[: len(self.members)].tolist()
        return min(totals) >= 0 and sum(totals) == n and all(map(_fits, self.members, self.states(state), totals))

    def states(self, state: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield the part of a state that is each member's, in the shape of its own."""
        for member, place in zip(self.members, self._states, strict=True):
            yield state[place].reshape(member.tally_format.shape)

    def totals(self, tally: Tally) -> tuple[int, ...]:
        """Return how many reports have each tag."""
        return tuple(map(int, tally.state[: len(self.members)]))

    def split(self, tally: Tally) -> Iterator[Tally]:
        """Yield the tally of every member."""
        parts = zip(self.members, self.states(tally.state), self.totals(tally), strict=True)
        return (Tally(member, state, total) for member, state, total in parts)

    def reports_in(self, tag: int, data: Array) -> Array:
        """Return the reports with a tag in the format of its own oracle."""
        return self.unpack(tag, data[self.tags(data) == tag])[0]

    def outcome(self, report: Array) -> tuple[int, Public, Outcome]:
        """Return the tag of a report, its public part, and its outcome inside the member."""
        data = report.reshape(1, -1)
        tag = int(self.tags(data)[0])
        return tag, *self.members[tag].report_format.outcome(self.unpack(tag, data)[0][0])

    def report(self, tag: int, public: Public, outcome: Outcome) -> Array:
        """Return the report with these three: the inverse of ``outcome``."""
        return np.asarray(self.join(tag, self.members[tag].report_format.report(outcome, public)[None])[0])


def runs_of(sizes: Iterable[int], start: int = 0) -> tuple[slice, ...]:
    """Return consecutive slices of these sizes.

    >>> runs_of([2, 3], 1)
    (slice(1, 3, None), slice(3, 6, None))
    """
    edges = list(accumulate(sizes, initial=start))
    return tuple(map(slice, edges[:-1], edges[1:]))


def split_tags(tags: Numbers) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield every tag that occurs, with its rows."""
    order = np.argsort(tags, kind="stable")
    present, starts = np.unique(tags[order], return_index=True)
    for tag, (start, end) in zip(present.tolist(), pairwise([*starts, len(order)]), strict=True):
        yield tag, order[start:end]


def _fits(oracle: FrequencyOracle, state: NDArray[np.int64], n: int) -> bool:
    return oracle.tally_format.check(state, n)
