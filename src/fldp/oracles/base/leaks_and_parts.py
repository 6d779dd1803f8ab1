"""Leaks and parts of reports, as an analysis states them: the parities that they reveal, and their components."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally


@dataclass(frozen=True, eq=False)
class ParityLeak:
    """Reports that reveal exact parities of the item of a value.

    ``items`` has the item of every value, all below ``order``, a power of two. ``of`` returns, a row for each report,
    masks and the parities of the item under these.
    """

    order: int
    items: NDArray[np.uint64]
    of: Callable[[Array], tuple[Array, Array]]

    @property
    def bits(self) -> int:
        """The number of bits of an item."""
        return self.order.bit_length() - 1


class ReportPart(NamedTuple):
    """A part of reports: its name, its tally, and its reports if there are any.

    ``start`` is the value of the whole that value 0 of the part stands for; None if its values stand for none.
    """

    name: str
    tally: Tally
    data: Array | None
    start: int | None = None
