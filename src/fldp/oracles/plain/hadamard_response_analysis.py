"""The analysis of HR."""

from collections.abc import Iterator

from fldp.data.reports import Tally
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.claims import UNUSED, CellClaim, Claim, supports
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.plain.hadamard_response import HR


@analyses(HR)
class HRAnalysis(Analysis[HR]):
    """A symbol counts +1 for half of the values of its block, and -1 for the other half."""

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """Every symbol, and every half of a block where a row is +1, used or not, is as frequent as a value allows."""
        oracle = self.oracle
        p, q, half = float(oracle.coin.p), float(oracle.coin.q), oracle.order // 2
        claim = "every symbol is as frequent as for some value"
        yield CellClaim("symbols", claim, tally.state, tally.n, q / half, p / half, "symbol {}".format)
        lines = tally.state.reshape(oracle.blocks, -1)
        plus = (lines.sum(axis=1, keepdims=True) + walsh_hadamard(lines)) // 2
        values, near = oracle.from_rows(plus), (p + q) / 2
        low = q if oracle.blocks > 1 else near  # with one block, every other row halves every report
        yield supports(values, tally.n, low, p)
        idle = plus[:, 1:].T.reshape(-1)[oracle.domain_size :]
        name = lambda cell: f"row {cell + oracle.domain_size}"  # noqa: E731
        if idle.size:
            yield CellClaim("unused rows", UNUSED, idle, tally.n, low, near, name)

    def fakes(self, targets: Targets) -> Symbols:
        oracle = self.oracle
        agreeing = walsh_hadamard(oracle.to_rows(times(targets, oracle.domain_size))).reshape(-1)
        return Symbols(agreeing / float(oracle.coin.p - oracle.coin.q), oracle.report_format.dtype)
