"""The analysis of RAPPOR."""

import numpy as np

from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Array
from fldp.oracles.base import bit_reports
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.bit_strategy import BitStrategy
from fldp.oracles.base.numbered_strategy import Numbered
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.strings.rappor import RAPPOR


@analyses(RAPPOR)
class RAPPORAnalysis(Analysis[RAPPOR]):
    """A cohort, and the bits of a Bloom filter."""

    def fakes_among(self, marks: Fingerprints, targets: Targets) -> Numbered:
        """The fit is linear in the bits of all cohorts, so every bit of every cohort has a weight."""
        oracle = self.oracle
        p, q, base = float(oracle.coins.p_star), float(oracle.coins.q_star), oracle.design(marks[:1]).base
        true, noise = (np.broadcast_to(chance, oracle.bits) for chance in (q, p))
        parts = [
            BitStrategy(each / (q - p), -float(each.sum()) * (p / (q - p) + base), true, noise)
            for each in oracle.influence(marks, times(targets, len(marks)).astype(np.float64))
        ]

        def join(cohort: int, data: Array) -> Array:
            reports = np.empty((len(data), *oracle.report_shape), np.uint8)
            bit_reports.join(np.full(len(data), cohort), data, reports)
            return reports

        return Numbered(oracle, parts, join)
