"""combine: one estimate from the tallies of users who chose different budgets, or different oracles."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from fldp.data.estimate import Basis, Estimate, Total
from fldp.data.reports import Reports, Tally
from fldp.data.values import as_list
from fldp.errors import DomainError, MergeError
from fldp.numerics.bounded_laws import Bounded, Steps
from fldp.numerics.types import Counts, Floats
from fldp.support.validation import fail, one_of


@dataclass(frozen=True, eq=False)
class Combined(Estimate):
    """An estimate from several tallies: a weighted mean of the shares that they give, times all users.

    ``parts`` are their estimates and ``weights`` what each share counts, fixed by the oracles and the numbers of users
    before anything is counted, so they bias nothing. With ``"users"``, the default, a tally counts as much as it has
    users: this is the sum of the counts, which is right whoever chose which budget. With ``"variance"`` it counts by
    the inverse of its variance, the least error that is possible. **That is right only if the choice of a budget has
    nothing to do with the value**: if users are in a tally as by lot. (If it has, the choice itself tells something
    about the value.) The standard errors take the lot into account: that by chance more holders of a value are in one
    tally than in another.

    >>> import fldp
    >>> careful, bold = fldp.OUE(epsilon=0.5, domain_size=4), fldp.OUE(epsilon=2.0, domain_size=4)
    >>> tallies = [fldp.simulate(oracle, [600, 300, 100, 0], rng=1) for oracle in (careful, bold)]
    >>> fldp.combine(tallies, weights="variance").weights.round(3).tolist()
    [0.044, 0.956]
    """

    parts: tuple[Estimate, ...] = field(default=(), kw_only=True)
    weights: Floats = field(default_factory=lambda: np.ones(0), kw_only=True)

    @property
    def _factors(self) -> Floats:
        """What a user of each tally counts: 1 where all count alike."""
        return np.asarray(self.weights * self.n / [part.n for part in self.parts])

    def sum(self, values: Iterable[int]) -> Total:
        values = as_list(values)
        if self.original is not None:
            plain = self.original.sum(values)
            chosen = sorted(set(values))
            return Total(float(self.counts[chosen].sum()), plain.stderr, plain, self.n)
        totals = [part.sum(values) for part in self.parts]
        counts, errors = (np.array([getattr(total, name) for total in totals]) for name in ("count", "stderr"))
        count = float(self._factors @ counts)
        variance = float(self._factors**2 @ errors**2) + float(by_lot(count, self.n, self._lot))
        variance += float(Alike.of(self.parts, sorted(set(values))).added(self._factors))
        return Total(count, variance**0.5, steps=self._steps_of(totals))

    def _steps_of(self, totals: list[Total]) -> Steps:
        """Return the steps of a sum, from its parts: of a further holder as in ``_law``."""
        jump, rise, fall = np.array([total.steps for total in totals]).T
        grown = self._factors**2 * [part.n for part in self.parts] / self.n
        jump = Alike.of(self.parts).largest(self._factors * jump)
        return Steps(float(jump), float(grown @ rise), float(grown @ fall))

    @property
    def _budget(self) -> str:
        return "these epsilons"

    @property
    def _lot(self) -> float:
        return _lot(self._factors, self.parts)

    def __repr__(self) -> str:
        what = "combined estimate" if not self.biased else f"combined {self.method} (biased) estimate"
        return f"<{what} of {len(self.counts)} values from {self.n} reports of {len(self.parts)} oracles>"


@dataclass(frozen=True, eq=False)
class Alike:
    """Parts that err alike: sketches with the same hash functions have the same collisions.

    ``functions`` has the hash functions of each part, or a number of its own. ``variances`` are those by collisions, a
    row for each part. Errors of the same functions add up, where independent ones add their squares.
    """

    functions: tuple[bytes | int, ...]
    variances: Floats

    @classmethod
    def of(cls, parts: tuple[Estimate, ...], members: list[int] | None = None) -> "Alike":
        """Return what parts have in common, for all values or, where there are members, for their sum."""
        known = [_collisions(part) or (number, np.zeros(len(part.counts))) for number, part in enumerate(parts)]
        functions, variances = zip(*known, strict=True)
        rows = np.array(variances)
        return cls(functions, rows if members is None else rows[:, members].sum(axis=1))

    @property
    def _groups(self) -> list[list[int]]:
        return [
            [k for k, other in enumerate(self.functions) if other == each] for each in dict.fromkeys(self.functions)
        ]

    def added(self, factors: Floats) -> Floats:
        """Return what comes to the variance, beyond the sum of the variances of the parts."""
        errors = (factors * np.sqrt(self.variances).T).T
        common = [errors[group].sum(axis=0) ** 2 - (errors[group] ** 2).sum(axis=0) for group in self._groups]
        return np.asarray(np.sum(common, axis=0))

    def largest(self, jumps: Floats) -> Floats:
        """Return the most that a report or a collision adds, of what it adds in each part."""
        return np.asarray(np.max([jumps[group].sum(axis=0) for group in self._groups], axis=0))


def _collisions(part: Estimate) -> tuple[bytes, Floats] | None:
    return part.oracle.estimator.collisions(part.n, part.counts, **{**part.options, **part.basis.context})


def combine(given: Iterable[Tally | Reports | Estimate], *, weights: str = "users") -> Combined:
    """Combine tallies, or their unbiased estimates, over the same values, from users with different budgets.

    Estimates that have labels must have the same ones, in the same order.

    ``weights`` is ``"users"`` or ``"variance"``; ``Combined`` says what each assumes. The variance of the count of a
    value that ``c`` of ``n`` users hold is ``sum f_k^2 V_k + c (n-c)/(n (n-1)) sum n_k (f_k - 1)^2``, where tally ``k``
    has ``n_k`` users and weight ``w_k``, ``f_k = w_k n/n_k``, and ``V_k`` is the variance of its own count.

    >>> import fldp
    >>> oracles = [fldp.GRR(epsilon=epsilon, domain_size=3) for epsilon in (1.0, 3.0)]
    >>> tallies = [fldp.simulate(oracle, [600, 300, 100], rng=1) for oracle in oracles]
    >>> combine(tallies)
    <combined estimate of 3 values from 2000 reports of 2 oracles>
    >>> combine(tallies).counts.round().tolist()
    [1275.0, 504.0, 221.0]
    """
    one_of("users", "variance")("combine", "weights", weights)
    if not isinstance(given, Iterable):
        raise fail("combine", "what is combined", "a list of tallies, reports or estimates", given)
    parts = tuple(map(_estimate, given))
    if not parts:
        raise DomainError("combine: at least one tally is needed")
    labels = _labels(parts)
    chosen = _weights(parts, by_variance=weights == "variance")
    users = [part.n for part in parts]
    n = sum(users)
    factors = chosen * n / users
    counts = np.sum([factor * part.counts for factor, part in zip(factors, parts, strict=True)], axis=0)
    noise = np.sum([(factor * part.stderr) ** 2 for factor, part in zip(factors, parts, strict=True)], axis=0)
    noise += Alike.of(parts).added(factors)
    stderr = np.sqrt(noise + by_lot(counts, n, _lot(factors, parts)))
    basis = Basis(find_evidence=partial(tuple, (_law(parts, factors, counts),)))
    return Combined(parts[0].oracle, counts, stderr, n, labels=labels, basis=basis, parts=parts, weights=chosen)


def _law(parts: tuple[Estimate, ...], factors: Floats, counts: Floats) -> Bounded:
    """Return the law of the weighted sum, by the errors, the jumps and the slopes of its parts.

    One more holder is in part ``k`` with a chance of ``n_k/n``, so the variance grows by ``f_k^2 slope_k n_k/n`` there.
    """
    nulls, jumps, slopes, falls = (np.array(each) for each in zip(*map(_noise, parts), strict=True))
    users = np.array([part.n for part in parts])
    grown = factors**2 * users / users.sum()
    alike = Alike.of(parts)
    null = np.sqrt(factors**2 @ nulls**2 + alike.added(factors))
    law = Bounded.of(counts, null, alike.largest(factors[:, None] * jumps))
    return replace(law, slope=grown @ slopes, fall=grown @ falls)


def _noise(part: Estimate) -> Floats:
    """Return four rows: the error of values that nobody holds, the most that a report adds, the slope and the fall."""
    rows = np.zeros((4, len(part.counts)))
    for law in part._laws:
        slopes = (law.slope, law.fall) if isinstance(law, Bounded) else (0.0, 0.0)
        for row, known in zip(rows, (law.null, law.jump, *slopes), strict=True):
            row[law.values] = known
    return rows


def _estimate(part: Any) -> Estimate:
    estimate = part.oracle.estimate(part) if isinstance(part, Tally | Reports) else part
    usual = isinstance(estimate, Estimate) and "domain_size" in estimate.oracle.params
    if not usual or estimate.biased or isinstance(estimate, Combined):
        rule = "a tally, reports, or an unbiased estimate of one tally (of one question, not of several or of a number)"
        raise fail("combine", "each part", rule, part)
    return estimate


def _labels(parts: tuple[Estimate, ...]) -> tuple[str, ...] | None:
    """Return the labels, if any part has them; refuse parts that are not about the same values."""
    sizes, runs = {part.oracle.domain_size for part in parts}, {len(part.oracle.estimator.runs) for part in parts}
    if len(sizes) > 1 or len(runs) > 1 or max(runs) > 1:
        raise MergeError(f"combine: tallies must be of oracles over the same ungrouped values, got {sorted(sizes)}")
    labels = list(dict.fromkeys(tuple(part.labels) for part in parts if part.labels is not None))
    if len(labels) > 1:
        label, other = next(pair for pair in zip(*labels[:2], strict=True) if pair[0] != pair[1])
        raise MergeError(f"combine: tallies must be of the same labels, got {label!r} and {other!r}")
    return labels[0] if labels else None


def _weights(parts: tuple[Estimate, ...], *, by_variance: bool) -> Floats:
    """Return the weights, which add up to 1: by users, or by the inverse variance of the share of a rare value."""
    weights = np.array([float(part.n) for part in parts])
    if by_variance:
        weights /= [float(part.oracle.variance(1, 0.0, **part.options)) for part in parts]
    return np.asarray(weights / weights.sum())


def _lot(factors: Floats, parts: tuple[Estimate, ...]) -> float:
    """Return what the lot adds to a variance, except for the count."""
    return float((factors - 1) ** 2 @ [part.n for part in parts])


def by_lot(count: Counts, n: int, lot: float) -> Counts:
    """Return what the lot adds to the variance of a count: holders fall into the tallies without replacement.

    >>> round(float(by_lot(50.0, 100, 10.0)), 3)
    2.525
    """
    held: Counts = np.clip(count, 0, n)
    return held * (n - held) / (n * max(n - 1, 1)) * lot
