"""The analysis of HR."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fldp.data.reports import Array, Tally
from fldp.numerics.types import Floats
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.blanket import Blanket, two_levels
from fldp.oracles.base.claims import UNUSED, CellClaim, Claim, supports
from fldp.oracles.base.oracle import Law, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.plain.hadamard_response import HR


@analyses(HR)
class HRAnalysis(Analysis[HR]):
    """A symbol counts +1 for half of the values of its block, and -1 for the other half."""

    server_work = "O(n + d log d)"

    @property
    def outcomes(self) -> int:
        return self.oracle._symbols

    def profile(self, value: int = 0, other: int = 1) -> Profile:
        """Two rows of a block have every pair of signs in a quarter of its positions; other blocks are all alike."""
        p, q = self.oracle.coin.p, self.oracle.coin.q
        half, rest = 1 << self.oracle._bits >> 1, 2 * self.oracle.blocks - 2
        bands = [Band(rest * half, rest * q, rest * q)]  # in the halves that are neither's own
        if (value ^ other) & (self.oracle.blocks - 1):
            bands += [Band(half, p, q), Band(half, q, p)]
        else:
            bands += [Band(half // 2, a / 2, b / 2) for a in (p, q) for b in (p, q)]
        return Profile.of(bands, self.oracle._symbols)

    def blanket(self) -> Blanket:
        """Two values of one block share a quarter of its symbols; values of different blocks share none."""
        share = Fraction(1, 2 * self.oracle.blocks)
        both = Fraction(1, 4) if self.oracle.blocks == 1 else Fraction(0)
        return two_levels(self.oracle.coin.p / self.oracle.coin.q, share, both)

    def sample_values(self, start: int, stop: int) -> list[int]:
        return [value for value in dict.fromkeys((start, start + 1, start + self.oracle.blocks)) if value < stop]

    def likelihoods(self, data: Array) -> Floats:
        values = np.arange(self.oracle.domain_size)
        blocks, rows = values & (self.oracle.blocks - 1), (values >> self.oracle._shift) + 1
        inside = (data >> self.oracle._bits)[:, None] == blocks
        agree = np.bitwise_count(data[:, None] & rows.astype(data.dtype)) & 1 == 0
        return np.where(inside & agree, 1.0, float(self.oracle.coin.q / self.oracle.coin.p))

    def law(self, value: int, public: Public = None) -> Law:
        del public
        self.check_enumerable(value)
        block, row = value & (self.oracle.blocks - 1), (value >> self.oracle._shift) + 1
        size = Fraction(1 << self.oracle._bits, 2)
        inside, outside = self.oracle.coin.p / size, self.oracle.coin.q / size
        return {
            symbol: inside if symbol >> self.oracle._bits == block and not (symbol & row).bit_count() & 1 else outside
            for symbol in range(self.oracle._symbols)
        }

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """Every symbol, and every half of a block where a row is +1, used or not, is as frequent as a value allows."""
        oracle = self.oracle
        p, q, half = float(oracle.coin.p), float(oracle.coin.q), oracle._order // 2
        claim = "every symbol is as frequent as for some value"
        yield CellClaim("symbols", claim, tally.state, tally.n, q / half, p / half, "symbol {}".format)
        lines = tally.state.reshape(oracle.blocks, -1)
        plus = (lines.sum(axis=1, keepdims=True) + walsh_hadamard(lines)) // 2
        values, near = oracle.estimator.from_rows(plus), (p + q) / 2
        low = q if oracle.blocks > 1 else near  # with one block, every other row halves every report
        yield supports(values, tally.n, low, p)
        idle = plus[:, 1:].T.reshape(-1)[oracle.domain_size :]
        name = lambda cell: f"row {cell + oracle.domain_size}"  # noqa: E731
        if idle.size:
            yield CellClaim("unused rows", UNUSED, idle, tally.n, low, near, name)

    def fakes(self, targets: Targets) -> Symbols:
        oracle = self.oracle
        agreeing = walsh_hadamard(oracle.estimator.to_rows(times(targets, oracle.domain_size))).reshape(-1)
        return Symbols(agreeing / float(oracle.coin.p - oracle.coin.q), oracle.report_format.dtype)
