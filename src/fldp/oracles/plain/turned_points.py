"""TurnedPoints: the reports of PGR where nobody gives the words, as places of a cycle that the value turns; exact.

The points opposite to any value are at the same places of a cycle of all points, turned by the value's own number of
steps (``fldp.numerics.singer_cycle``). So a place is drawn, by 16 random bits and without the value, with the words
that the coin gives to a point opposite to the value or to another; then it is turned.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fldp.data.formats import Array
from fldp.data.values import Values
from fldp.numerics.kernels import U64, Kernel
from fldp.numerics.projective_space import Space
from fldp.numerics.singer_cycle import SingerCycle, singer_cycle
from fldp.oracles.plain.weighted_draws import WeightedDraws
from fldp.randomness.coins import SetCoin
from fldp.randomness.stream import Stream

MAX_PLACES = 1 << 12  # of a cycle: of more, too many have too few of the numbers of 16 bits


@Kernel
def turn(values: Any, numbers: Any, table: Any, limit: Any, turns: Any, points: Any, missing: Any, out: Any) -> int:
    """Look the place of every number up, turn it, and write its point; list the numbers from ``limit`` on.

    These have no place. ``points`` has all points twice, so that no sum has to be reduced. Returns how many are listed.
    """
    count = 0
    for i in range(len(values)):
        number = numbers[i]
        out[i] = points[U64(table[number]) + U64(turns[values[i]])]
        if number >= limit:
            missing[count] = i
            count += 1
    return count


@dataclass(frozen=True, eq=False)
class TurnedPoints(WeightedDraws):
    """Draws of points: each one opposite to a value for ``own`` of ``2^64`` words, each other one for ``other``.

    >>> space = Space(order=3, dimension=2)
    >>> points, out = TurnedPoints(space, SetCoin(1, 3, 2**64 - 3, 1)), np.empty(4, np.uint8)
    >>> points.sample(np.arange(4), Stream(1), out)
    >>> out.tolist()
    [0, 1, 3, 2]
    """

    space: Space
    coin: SetCoin

    @cached_property
    def _cycle(self) -> SingerCycle:
        return singer_cycle(self.space)

    @cached_property
    def weights(self) -> list[int]:
        """The words of every place, before it is turned."""
        return [self.coin.own if own else self.coin.other for own in self._cycle.own.tolist()]

    @cached_property
    def _turns(self) -> Array:
        return self._cycle.turns.astype(np.uint16)

    @cached_property
    def _points(self) -> Array:
        return np.tile(self._cycle.points, 2).astype(np.uint16)

    def sample(self, values: Values, stream: Stream, out: Array) -> None:
        """Overwrite ``out`` with a point for each value."""
        numbers = stream.words(-(-len(values) // 4)).view(np.uint16)
        missing = np.empty(len(values), np.intp)
        constants = self._table, self._limit, self._turns, self._points
        places = missing[: turn.compiled(values, numbers, *constants, missing, out)]
        drawn = self._more_draws(len(places), stream).astype(np.intp)
        out[places] = self._points[drawn + self._turns[values[places]]]
