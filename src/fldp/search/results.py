"""HeavyHitters: the strings that a search found, with estimates of how many people hold them."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from fldp.data.comparison import z_score
from fldp.data.dataframes import Columns, FramedAtLevel, by_column
from fldp.data.estimate import Estimate
from fldp.numerics.binomial_bounds import incomplete_beta
from fldp.oracles.base.analysis import analysis
from fldp.search.prefix_code import Beginning
from fldp.support.canonical_json import Json
from fldp.support.display import Displayed
from fldp.support.validation import fraction

COLUMNS = ("string", "whole", "count", "share", "stderr", "low", "high", "certain")
_MAX_EXACT = 10**7  # beyond, the normal distribution is as good


@dataclass(frozen=True)
class Hitter:
    """A string that was found, or the beginning of some, and the estimated share of people who hold it.

    >>> hitter = Hitter(Beginning(b"the", whole=True), share=0.07, stderr=0.001, reach=0.003, certain=True)
    >>> hitter.text, [round(end, 3) for end in hitter.interval]
    ('the', [0.067, 0.073])
    """

    beginning: Beginning
    share: float
    stderr: float
    reach: float
    certain: bool

    @property
    def text(self) -> str:
        """The string for people."""
        return self.beginning.text

    @property
    def interval(self) -> tuple[float, float]:
        """The two ends of the interval of the share, one of those that hold together."""
        return self.share - self.reach, self.share + self.reach


@dataclass(frozen=True, eq=False)
class HeavyHitters(FramedAtLevel, Displayed):
    """The result of a search: the candidates of its last round, counted by the people of that round.

    They were chosen by the reports of others, so the estimates are unbiased whatever the search did before, and their
    errors are known. Where the people of the last round are a random part of a larger ``population``, the standard
    errors include who happened to be in it.

    >>> import fldp
    >>> result = fldp.heavy_hitters({"yes": 60_000, "no": 30_000, "maybe": 10_000}, epsilon=4.0, k=3, rng=7)
    >>> [hitter.text for hitter in result.top()]
    ['yes', 'no', 'maybe']
    """

    k: int
    candidates: tuple[Beginning, ...] = ()
    estimate: Estimate | None = None
    population: int = 0

    def top(self, k: int | None = None, level: float = 0.95) -> list[Hitter]:
        """Return the ``k`` candidates of the largest estimates, the largest first.

        With a probability of about ``level`` all intervals hold at once (Bonferroni over all candidates). With a
        probability of at least ``level`` none is called ``certain`` that nobody in the last round holds: exactly so for
        oracles that count supports, about so for FHR, FWR and HR. A string that the search lost is not here, however
        many hold it.
        """
        if self.estimate is None:
            return []
        miss = (1 - fraction("HeavyHitters", "level", level)) / len(self.candidates)
        reach, floor = z_score(1 - miss), _floor(self.estimate, miss)
        rows = zip(self.candidates, self.estimate.frequencies[:-1].tolist(), self._errors(self.estimate), strict=True)
        hitters = [Hitter(string, share, error, reach * error, certain=share >= floor) for string, share, error in rows]
        return sorted(hitters, key=lambda hitter: -hitter.share)[: self.k if k is None else k]

    def rows(self, level: float = 0.95) -> list[dict[str, Json]]:
        """Return the strings of ``top`` as rows; bytes that are not UTF-8 are escaped."""
        return [self._row(hitter) for hitter in self.top(level=level)]

    def _row(self, hitter: Hitter) -> dict[str, Json]:
        low, high = hitter.interval
        return {
            "string": hitter.beginning.value.decode(errors="backslashreplace"),
            "whole": hitter.beginning.whole,
            "count": hitter.share * self.population,
            "share": hitter.share,
            "stderr": hitter.stderr,
            "low": low,
            "high": high,
            "certain": hitter.certain,
        }

    def _columns(self, level: float) -> Columns:
        return by_column(COLUMNS, self.rows(level))

    def _errors(self, estimate: Estimate) -> list[float]:
        """Return the standard errors of the shares: noise of the reports, and sampling of the people."""
        shares = np.clip(estimate.frequencies[:-1], 0, 1)
        others = max(0, self.population - estimate.n) / max(1, self.population - 1)
        chance = np.sqrt(shares * (1 - shares) / estimate.n * others)
        return list(np.hypot(estimate.stderr[:-1] / estimate.n, chance).tolist())

    def __repr__(self) -> str:
        return f"<{len(self.candidates)} candidates of a search for {self.k}>"


def _floor(estimate: Estimate, miss: float) -> float:
    """Return the share that the estimate of a string that nobody holds reaches with probability at most ``miss``."""
    oracle, n = estimate.oracle, estimate.n
    chances = analysis(oracle).chances()
    if chances is not None and n <= _MAX_EXACT:
        p, q = chances
        return ((_supports(n, float(q), miss) - 0.5) / n - float(q)) / float(p - q)
    return NormalDist().inv_cdf(1 - miss) * math.sqrt(oracle.variance(n, 0)) / n


def _supports(n: int, q: float, miss: float) -> int:
    """Return the least number of supports that ``n`` reports reach by chance with probability at most ``miss``.

    >>> _supports(1, 0.01, 0.001), _supports(1, 0.01, 0.02), _supports(1000, 0.5, 0.025)
    (2, 1, 532)
    """
    # The number of supports is binomial; its upper tail at k is the incomplete beta function, decreasing in k.
    return 1 + bisect_left(range(1, n + 1), True, key=lambda k: incomplete_beta(q, k, n - k + 1) <= miss)
