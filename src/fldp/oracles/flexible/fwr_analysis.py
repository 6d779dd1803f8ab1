"""The analysis of FWR, and of HRR, which leaks nothing."""

from fldp.oracles.base.analysis import analyses
from fldp.oracles.flexible.fwr import FWR
from fldp.oracles.flexible.walsh_oracle_analysis import WalshAnalysis, spanned


@analyses(FWR)
class FWRAnalysis(WalshAnalysis[FWR]):
    """Parities under masks."""

    def identified(self) -> list[float] | None:
        """If all items are in use, the masks of the leak are uniform vectors."""
        known, oracle = super().identified(), self.oracle
        if known is not None or type(oracle) is not FWR or oracle.domain_size != oracle.rows:
            return known
        return spanned(oracle.rows.bit_length() - 1, oracle.leaks)
