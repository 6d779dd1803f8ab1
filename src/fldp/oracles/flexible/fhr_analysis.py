"""The analysis of FHR."""

from fldp.oracles.base.analysis import analyses
from fldp.oracles.flexible.fhr import FHR
from fldp.oracles.flexible.walsh_oracle_analysis import WalshAnalysis, spanned


@analyses(FHR)
class FHRAnalysis(WalshAnalysis[FHR]):
    """Two positions of opposite sign."""

    def identified(self) -> list[float] | None:
        """A mask ``w`` is uniform over the odd masks.

        If all items but 0 are in use, the first report gives one such mask, and the others add their differences from
        it: uniform over the even masks, a space of one bit less. If the items are exactly those with the top bit, the
        lower bits of ``w`` are uniform and determine the top bit.
        """
        known, oracle = super().identified(), self.oracle
        if known is not None or type(oracle) is not FHR:
            return known
        rows, bits = oracle.rows, oracle.rows.bits - 1
        if oracle.domain_size == rows.rows - 1:
            return spanned(bits, 1, idle=1)
        return spanned(bits, 1) if oracle.domain_size == rows.first == rows.rows // 2 else None
