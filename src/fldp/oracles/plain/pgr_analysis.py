"""The analysis of PGR."""

from collections.abc import Iterator

from fldp.data.reports import Tally
from fldp.numerics.projective_geometry import hyperplane_sums
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.claims import UNUSED, CellClaim, Claim, supports
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.base.support_counts_analysis import PureAnalysis
from fldp.oracles.base.symbol_strategy import Symbols
from fldp.oracles.plain.pgr import PGR


@analyses(PGR)
class PGRAnalysis(PureAnalysis[PGR]):
    """A point supports the values that are opposite to it."""

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        oracle, n = self.oracle, tally.n
        claim = "every point is as frequent as for some value"
        p, q = float(oracle.coin.p), float(oracle.coin.q)
        yield CellClaim("points", claim, tally.state, n, q, p, "point {}".format)
        sums, noise = hyperplane_sums(tally.state, oracle.space), float(oracle.q)
        yield supports(sums[: oracle.domain_size], n, noise, float(oracle.p))
        idle = sums[oracle.domain_size :]
        name = lambda cell: f"point {cell + oracle.domain_size}"  # noqa: E731
        if idle.size:
            yield CellClaim("unused points", UNUSED, idle, n, noise, noise, name)

    def fakes(self, targets: Targets) -> Symbols:
        oracle = self.oracle
        supported = hyperplane_sums(times(targets, oracle.space.size), oracle.space)
        worth = (supported - len(targets) * float(oracle.q)) / float(oracle.p - oracle.q)
        return Symbols(worth, oracle.report_format.dtype)
