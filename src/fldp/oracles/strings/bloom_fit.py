"""FittedOracle: oracles over strings whose candidates are fitted to a tally together, by least squares."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Reports, Tally
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.string_oracle import Fit, StringOracle
from fldp.oracles.strings.bloom_model import CohortCounts, Design, Solver
from fldp.oracles.strings.bloom_screening import screen
from fldp.support.validation import flag, one_of

_BY_CHANCE = 30  # candidates that nobody holds and that pass the screening, in the mean, at most
_ANY = np.zeros(1, np.int64)  # a candidate like any other


@dataclass(frozen=True, repr=False)
class FittedOracle(StringOracle):
    """An oracle whose reports are bits: it says what those of each cohort show, and which bits a candidate sets."""

    methods = ("linear", "select")

    @abstractmethod
    def evidence(self, tally: Tally) -> CohortCounts:
        """Return the debiased counts of all bits: how many people of every cohort have them set, without bias."""

    @abstractmethod
    def design(self, marks: Fingerprints, *, cohorts: slice = slice(None)) -> Design:
        """Return the equations that candidates are fitted by, in all cohorts or in some."""

    def estimate(
        self,
        tally: Tally | Reports,
        *,
        candidates: Iterable[str | bytes] | None = None,
        method: str = "linear",
        **options: Any,
    ) -> Estimate:
        """Fit candidates by least squares: all of them, or those that stand out.

        ``"linear"`` fits all candidates to all cohorts. It is unbiased if people hold no other values, and otherwise
        over the choice of the hash functions. ``"select"`` is for very many candidates: a lasso on every other cohort
        keeps some of them, and these are fitted to the remaining cohorts, so that none was chosen on the data that
        judges it. ``Estimate.found`` tells which are held by anybody, and ``Estimate.rest`` how many people hold none.
        """
        one_of(*self.methods)(self.title, "method", method)
        if method == "linear" or candidates is None:
            return super().estimate(tally, candidates=candidates, **options)
        return super().estimate(tally, candidates=self._selected(tally, candidates), held_out=True, **options)

    def _selected(self, tally: Tally | Reports, candidates: Iterable[str | bytes]) -> tuple[str, ...]:
        """Return the candidates that stand out in the cohorts of even number, or the first one if none does."""
        listed, even = self.among(candidates), slice(0, None, 2)
        evidence = self.evidence(self.settled(tally))
        if len(evidence.sizes) < 2:
            raise ParameterError(f"{self.title}: method 'select' needs at least 2 cohorts, got 1")
        false = min(0.1, _BY_CHANCE / listed.domain_size)
        kept = screen(self.design(listed.marks, cohorts=even), evidence[even], false)
        return tuple(listed.candidates[k] for k in kept) or listed.candidates[:1]

    def check_options(self, options: Mapping[str, Any]) -> None:
        for name, value in options.items():
            if name != "held_out":
                raise ParameterError(f"{self.title}: estimate has no option {name!r}")
            flag(self.title, name, value)

    def fit(self, tally: Tally, marks: Fingerprints, *, held_out: bool = False, **options: Any) -> Fit:
        del options
        solver = self._solver(marks, held_out)
        evidence = self.evidence(tally)[_cohorts(held_out)]
        counts = solver.solve(evidence)
        dispersion = solver.dispersion(tally.n, counts, evidence)
        return Fit(counts, {"marks": marks, "held_out": held_out, "dispersion": dispersion})

    def variance(self, n: int, count: Any, **context: Any) -> Any:
        """That of the fit, which depends on the bits of the candidates, times the dispersion that was found."""
        solver, excess = self._basis(**context)
        counts = np.asarray(count, np.float64)
        if not counts.ndim:
            return solver.largest_variance(n, float(counts)) * excess
        return solver.variances(n, _at_most(n, counts)) * excess

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **context: Any) -> float:
        solver, excess = self._basis(**context)
        plausible = _at_most(n, counts)
        together = solver.variances(n, plausible, members[None].astype(np.float64))[0]
        return float(together - solver.variances(n, plausible)[members].sum()) * excess

    def influence(self, marks: Fingerprints, members: Floats) -> Iterator[Floats]:
        """Yield for every cohort what each of its debiased bits adds to a sum of estimates, with these coefficients."""
        return self._solver(marks, False).influence(members)

    def _basis(
        self, marks: Fingerprints = _ANY, held_out: bool = False, dispersion: float = 1.0, **others: Any
    ) -> tuple[Solver, float]:
        """Return what the variances of a fit are made of, from its context."""
        del others
        return self._solver(marks, held_out), dispersion

    def _solver(self, marks: Fingerprints, held_out: bool) -> Solver:
        return _solver(self, np.ascontiguousarray(marks).tobytes(), held_out)


@lru_cache(maxsize=2)
def _solver(oracle: FittedOracle, marks: bytes, held_out: bool) -> Solver:
    """Prepare the fit of candidates once: it is needed for counts, variances and sums alike."""
    return Solver.of(oracle.title, oracle.design(np.frombuffer(marks, np.int64), cohorts=_cohorts(held_out)))


def _cohorts(held_out: bool) -> slice:
    """Return the cohorts that candidates are fitted to: all, or those on which none was chosen."""
    return slice(1, None, 2) if held_out else slice(None)


def _at_most(n: int, counts: Floats) -> Floats:
    """Return counts that n people can have: estimates of many rare values, cut at 0, add up to more."""
    total = counts.sum()
    return counts if total <= n else counts * (n / total)
