"""LeastSquares: estimates of string oracles that fit all candidates to a tally together."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.fingerprints import Fingerprints
from fldp.data.reports import Tally
from fldp.errors import ParameterError
from fldp.numerics.bounded_laws import Bounded
from fldp.numerics.types import Counts, Floats
from fldp.oracles.base.string_oracle import Fit, Listed, StringEstimator
from fldp.oracles.strings.bloom_model import CohortCounts, Design, Solver
from fldp.oracles.strings.bloom_screening import screen
from fldp.support.validation import Constraint, flag

_BY_CHANCE = 30  # the most candidates, of those that nobody holds, that pass the screening on average
_JUMP = 6  # standard errors of what one report adds
_ANY = np.zeros(1, np.int64)  # the fingerprint of an arbitrary candidate


class Bloom(Protocol):
    """Bloom filters by cohort: their bits, debiased, and the bits that candidates set."""

    @property
    def title(self) -> str: ...

    @property
    def functions(self) -> bytes:
        """The hash functions: filters of other coins may have the same."""

    def __hash__(self) -> int: ...

    def evidence(self, tally: Tally) -> CohortCounts:
        """Return the debiased count of every bit of every cohort: how many people have it set."""

    def design(self, marks: Fingerprints, *, cohorts: slice = slice(None)) -> Design:
        """Return the design matrix of candidates, for all cohorts or some."""


@dataclass(frozen=True, eq=False)
class LeastSquares(StringEstimator):
    """Fits all candidates to a tally together.

    ``"linear"`` fits all candidates to all cohorts. It is unbiased if people hold no other values, and otherwise over
    the choice of the hash functions. ``"select"`` is for very many candidates: a lasso on every other cohort keeps some
    of them, and these are fitted to the remaining cohorts, so that none was chosen on the data that judges it.
    """

    filters: Bloom

    is_uneven = True
    options: ClassVar[Mapping[str, Constraint]] = {"held_out": flag}
    methods = ("linear", "select")

    def select(self, method: str, tally: Tally, listed: Listed) -> tuple[Sequence[str], dict[str, Option]]:
        """Return the candidates that stand out in the even cohorts, or the first candidate if none does."""
        del method
        evidence, even = self.filters.evidence(tally), slice(0, None, 2)
        if len(evidence.sizes) < 2:
            raise ParameterError(f"{self.filters.title}: method 'select' needs at least 2 cohorts, got 1")
        false = min(0.1, _BY_CHANCE / listed.domain_size)
        chosen = screen(self.filters.design(listed.marks, cohorts=even), evidence[even], false)
        return [listed.candidates[k] for k in chosen] or listed.candidates[:1], {"held_out": True}

    def fit(self, tally: Tally, marks: Fingerprints, **options: Option) -> Fit:
        held_out = bool(options.get("held_out"))
        solver = self._solver(marks, held_out)
        evidence = self.filters.evidence(tally)[_cohorts(held_out)]
        counts = solver.solve(evidence)
        dispersion = solver.dispersion(tally.n, counts, evidence)
        return Fit(counts, {"marks": marks, "held_out": held_out, "dispersion": dispersion})

    def variance(self, n: int, count: Counts, **context: Option) -> float | Floats:
        """Return the variance of the fit, which depends on the bits of the candidates, times its dispersion."""
        solver, excess = self._basis(context)
        counts = np.asarray(count, np.float64)
        if not counts.ndim:
            return solver.largest_variance(n, float(counts)) * excess
        return solver.variances(n, counts) * excess

    def collisions(self, n: int, counts: Floats, **context: Option) -> tuple[bytes, Floats] | None:
        """Strings that are not listed, which the dispersion shows, collide with candidates in every tally."""
        _, excess = self._basis(context)
        if excess <= 1:
            return None
        return self.filters.functions, np.asarray(self.variance(n, counts, **context)) * (1 - 1 / excess)

    def plausible(self, n: int, counts: Floats) -> Floats:
        """All as they are: cut to what is possible one by one, and then to n together, the frequent ones shrink."""
        del n
        return counts

    def evidence(self, n: int, counts: Floats, **context: Option) -> Bounded:
        """A report adds many bits, so it rarely adds more than a few times its own share of the error."""
        known = super().evidence(n, counts, **context)
        solver, excess = self._basis(context)
        slope = np.maximum(solver.slopes, 0) * excess
        return replace(known, jump=_JUMP * known.null / math.sqrt(n), slope=slope)

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **context: Option) -> float:
        solver, excess = self._basis(context)
        together = solver.variances(n, counts, members[None].astype(np.float64))[0]
        return float(together - solver.variances(n, counts)[members].sum()) * excess

    def influence(self, marks: Fingerprints, members: Floats) -> Iterator[Floats]:
        """Yield for every cohort the weight of each debiased bit in the sum of estimates with these coefficients."""
        return self._solver(marks, False).influence(members)

    def _basis(self, context: Mapping[str, Option]) -> tuple[Solver, float]:
        """Return the solver and the dispersion of a fit, from its context."""
        marks = np.asarray(context.get("marks", _ANY), np.int64)
        return self._solver(marks, bool(context.get("held_out"))), float(context.get("dispersion", 1.0))

    def _solver(self, marks: Fingerprints, held_out: bool) -> Solver:
        return _solver(self.filters, np.ascontiguousarray(marks).tobytes(), held_out)


@lru_cache(maxsize=2)
def _solver(filters: Bloom, marks: bytes, held_out: bool) -> Solver:
    """Build the solver of candidates, cached: counts, variances and sums need the same one."""
    return Solver.of(filters.title, filters.design(np.frombuffer(marks, np.int64), cohorts=_cohorts(held_out)))


def _cohorts(held_out: bool) -> slice:
    """Return the cohorts that candidates are fitted to: all, or the odd ones, on which none was selected."""
    return slice(1, None, 2) if held_out else slice(None)
