"""The analysis of LWR: single reports are analysed as FWR's; all reports of a person need more."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Array, Tally
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oracles.base.analysis import analyses
from fldp.oracles.base.claims import CellClaim, Claim, Scores
from fldp.oracles.flexible.fwr_analysis import FWRAnalysis
from fldp.oracles.flexible.lwr import LWR, Bases
from fldp.oracles.flexible.walsh_analysis import whole
from fldp.randomness.stream import Stream, Words

_SUPPORTS = "every value agrees with at least as many reports as the second coin gives by chance, at most as it keeps"


@analyses(LWR)
class LWRAnalysis(FWRAnalysis):
    """Parities under masks, answered by what is kept."""

    oracle: LWR

    @property
    def unprotected(self) -> str:
        stages = self.oracle.memoization
        return (
            f"All reports of a value that stays keep epsilon {stages.steady_epsilon:g}. Those of values that "
            f"change in one pattern keep {stages.lasting_epsilon:g}. No epsilon covers whether a value changes: a "
            f"change shows with probability {float(stages.change_visible):.2f}."
        )

    def thresholds(self) -> Iterator[tuple[int, int]]:
        coins = self.oracle._coins
        yield from ((value, coin.keep) for value, coin in enumerate((coins.first, coins.second)))

    def lasting_ratios(self) -> dict[str, tuple[Fraction, float]]:
        """All reports depend on the answers that are kept: on one where the symbol stays, else on all of them."""
        oracle, each = self.oracle, self.oracle._coins.first.p / self.oracle._coins.first.q
        return {
            "all reports of a value that stays": (each, oracle.epsilon_permanent),
            "all reports of one pattern": (each**oracle._symbols, oracle.memoization.lasting_epsilon),
        }

    def kept(self, words: Words) -> bytes:
        data = self.oracle._basis_format.empty(1)
        self.oracle._keep(np.ascontiguousarray(words[: self.oracle._keep_words]), data)
        return Bases(self.oracle, data).to_bytes()

    def history(self, values: object, days: int, rng: Stream) -> Array:
        held, stages = self.as_values(values), self.oracle.memoization
        kept = stages.keep(len(held), rng=rng)
        return np.stack([stages.respond(kept, held, rng=rng).data for _ in range(days)], axis=1)

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """Given what people keep, every report is a coin with p or q, even if the same people report every day."""
        oracle, coin, n = self.oracle, self.oracle._coins.second, tally.n
        g, rows = oracle._symbols, oracle._parities.rows
        full = whole(walsh_hadamard(tally.state[-1]) + n, g)
        low, high = float(coin.q), float(coin.p)
        yield CellClaim("supports", _SUPPORTS, full, np.full(rows, n), low, high, "item {}".format)

    def honest_reports(self, data: Array) -> Iterator[Claim]:
        """Nothing: the masks of a person are the same in all reports, so they are not uniform."""
        del data
        yield from ()

    def pairs(self, tally: Tally, data: Array | None, values: NDArray[np.int64]) -> Scores | None:
        """None, for the same reason."""
        del tally, data, values
        return None

    @property
    def scores_pairs(self) -> bool:
        return False

    def blind(self) -> tuple[str, ...]:
        return ("chosen masks: people keep theirs, so masks are not uniform where the same people report again",)
