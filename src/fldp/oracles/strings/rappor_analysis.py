"""The analysis of RAPPOR."""

from collections.abc import Iterator

import numpy as np

from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Array, Tally
from fldp.oracles.base import bit_reports
from fldp.oracles.base.analysis import Analysis, analyses
from fldp.oracles.base.bit_strategy import BitStrategy
from fldp.oracles.base.claims import CellClaim, Claim
from fldp.oracles.base.numbered_strategy import Numbered
from fldp.oracles.base.strategy import Targets, times
from fldp.oracles.strings.rappor import RAPPOR


@analyses(RAPPOR)
class RAPPORAnalysis(Analysis[RAPPOR]):
    """A cohort, and the bits of a Bloom filter."""

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """Given the permanent responses, every bit is a coin with p or q, even if the same people report every day."""
        oracle = self.oracle
        low, high = sorted((float(oracle.coins.p), float(oracle.coins.q)))
        people, bits = np.repeat(tally.state[:, 0], oracle.bits), tally.state[:, 1:].ravel()
        claim = "every bit is set at least as often as by noise alone, and at most as often as if it were true for all"
        place = lambda cell: f"bit {cell % oracle.bits} of cohort {cell // oracle.bits}"  # noqa: E731
        yield CellClaim("bits", claim, bits, people, low, high, place)

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
            reports = np.empty((len(data), *oracle.report_format.shape), np.uint8)
            bit_reports.join(np.full(len(data), cohort), data, reports)
            return reports

        return Numbered(oracle, parts, join)
