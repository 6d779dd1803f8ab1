"""Estimates: counts with their standard errors, intervals and tests."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fldp.data.anytime_intervals import anytime_interval, compared_anytime, reach_of_sum
from fldp.data.comparison import POPULATION, RESPONDENTS, Comparison, Side, compared, holm, sampling_variance, z_score
from fldp.data.dataframes import Columns, FramedAtLevel
from fldp.data.empirical_bayes import Shrunk
from fldp.data.projections import repaired
from fldp.data.values import as_list, as_values
from fldp.errors import MergeError
from fldp.numerics.bounded_laws import Steps, normal_tail
from fldp.numerics.count_laws import Observed
from fldp.numerics.types import Floats
from fldp.support.display import Displayed, drawing
from fldp.support.validation import fraction, integer, one_of, positive

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fldp.numerics.bounded_laws import Bounded
    from fldp.oracles.base.frequency_oracle import FrequencyOracle
    from fldp.oracles.flexible.em import Convergence

Option = bool | float | str | NDArray[np.int64]  # of ``estimate``; arrays are fingerprints of candidates
Rows = NDArray[np.void]  # records of type ``ROW``
Evidence = Union[Observed, "Bounded"]  # the law of the estimates of some values

MAX_REACH, GOOD_REACH = 0.10, 0.05  # of a share: above the first, reports are too few; the second is the goal
_SHOWN = 20  # values in a picture
ROW = np.dtype([("value", "i8"), ("count", "f8"), ("stderr", "f8"), ("low", "f8"), ("high", "f8"), ("frequency", "f8")])


@dataclass(frozen=True)
class Total:
    """The estimated number of users in a set of values.

    >>> Total(100.0, 10.0).interval(0.95)
    (80.4..., 119.5...)
    >>> Total(100.0, 10.0)
    Total(count=100.0, stderr=10.0)
    """

    count: float
    stderr: float
    original: "Total | None" = None
    n: int | None = None
    estimate: "Estimate | None" = field(default=None, repr=False, compare=False)  # that it is a sum of
    values: int = field(default=1, repr=False, compare=False)
    widened: bool = field(default=False, repr=False, compare=False)  # to the count, which it could lack
    steps: Steps = field(default_factory=Steps, repr=False, compare=False)  # where its law is known by its variance
    alone: int | None = field(default=None, repr=False, compare=False)  # the only value whose count is not exact

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in ("count", "stderr", "original", "n")}
        return f"Total({', '.join(f'{name}={value!r}' for name, value in shown.items() if value is not None)})"

    def interval(self, level: float = 0.95, *, anytime: int | None = None) -> tuple[float, float]:
        """Return the two ends of a confidence interval; after post-processing, the unbiased one cut to [0, n].

        After empirical Bayes, the interval is widened where it would not contain the count itself.
        With ``anytime``, a planned number of reports, it holds at every look, like the interval of ``Estimate``.
        """
        if anytime is not None:
            half = reach_of_sum(self, level, anytime)
            return self.count - half, self.count + half
        if self.original is not None:
            low, high = np.clip(self.original.interval(level), 0, self.n)
            ends = (float(low), float(high), *((self.count,) if self.widened else ()))
            return min(ends), max(ends)
        if self.estimate is not None and self.alone is not None:
            known = self.count - self.estimate.counts[self.alone]
            low, high = known + Estimate.interval(self.estimate, level)[self.alone]
            return float(low), float(high)
        low, high = self.steps.ends(z_score(level), self.count, self.stderr)
        return float(low.item()), float(high.item())


@dataclass(frozen=True, eq=False)
class Basis:
    """What an estimate depends on besides its tally.

    ``options`` are the caller's, ``context`` has whatever else the variances depend on. ``totals`` are the exact
    numbers of users in the estimator's runs, or of all users where there are no runs. ``convergence`` says how an
    iteration ended. ``find_evidence`` returns the laws of the estimated counts; without any, they are taken as normal.
    ``posterior`` is the result of empirical Bayes. ``remark`` names the method used if it is not the requested one.
    """

    options: Mapping[str, Option] = field(default_factory=dict)
    totals: tuple[int, ...] = ()
    context: Mapping[str, Option] = field(default_factory=dict)
    convergence: "Convergence | None" = None
    find_evidence: Callable[[], tuple["Evidence", ...]] = tuple
    posterior: "Shrunk | None" = None
    remark: str | None = None

    @cached_property
    def evidence(self) -> tuple["Evidence", ...]:
        """The laws of the estimated counts, found when tests or intervals first need them."""
        return self.find_evidence()


@dataclass(frozen=True, eq=False)
class Estimate(FramedAtLevel, Displayed):
    """Estimated counts of all values, their standard errors, and the number of reports they come from.

    The counts are unbiased, so rare values often have negative ones, and they do not add up to ``n`` exactly.
    ``fldp.postprocess`` repairs that, at the price of a bias; the result keeps the unbiased estimate in ``original``.

    A standard error is the root of the oracle's exact variance, with the estimated count in place of the true one. It
    covers the noise of the mechanism over these users, not the sampling of users from a larger population.

    ``print`` shows the table of ``fldp estimate``, a notebook shows it as HTML, ``plot`` draws it. ``to_pandas``,
    ``to_polars`` and ``to_arrow`` return all rows for other libraries. ``note`` warns if there are too few reports.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=2.0, domain_size=3)
    >>> est = oracle.estimate(fldp.Tally(oracle, [500, 300, 200], 1000))
    >>> print(est)
    The 3 largest of 3 estimates
    ...
    │ 0     │    578.3 │       17.2 │ 545.0 .. 613.0 │ 57.826% │
    ...
    >>> est.counts.round(1), est.stderr.round(1)
    (array([578.3, 284.3, 137.4]), array([17.2, 15.8, 15.1]))
    >>> est.interval(0.95).round()
    array([[545., 613.],
           [253., 316.],
           [108., 167.]])
    >>> est.sum([0, 1])
    Total(count=862.6..., stderr=15.0...)
    """

    oracle: "FrequencyOracle"
    counts: Floats
    stderr: Floats
    n: int
    method: str = "unbiased"
    original: "Estimate | None" = None
    labels: Sequence[str] | None = None
    basis: Basis = field(default_factory=Basis, repr=False)

    @property
    def options(self) -> Mapping[str, Option]:
        """The options that ``estimate`` was called with, such as the decoder."""
        return self.basis.options

    @property
    def totals(self) -> tuple[int, ...]:
        """Exact numbers of users: of all, or of every group of ``Grouped``."""
        return self.basis.totals or (self.n,)

    @property
    def convergence(self) -> "Convergence | None":
        """How the iteration of method ``"em"`` ended."""
        return self.basis.convergence

    @property
    def frequencies(self) -> Floats:
        """The counts as shares of all users."""
        return self.counts / self.n

    @property
    def biased(self) -> bool:
        """Whether post-processing has made this estimate biased."""
        return self.original is not None

    def interval(self, level: float = 0.95, *, simultaneous: bool = False, anytime: int | None = None) -> Floats:
        """Return confidence intervals of the counts, one row of two ends per value.

        Each interval covers its own true count with this probability; with ``simultaneous`` all of them do at once
        (Bonferroni). They hold from 30 reports on, by the exact law of a count where it is known
        (``docs/statistics.md`` has the laws, and the measured coverage). A post-processed estimate has the intervals
        of the unbiased one, cut to what is possible: the processed counts have no error bars of their own.
        Counts of ``"bayes"`` do: credible intervals, calibrated by simulating counts and estimates like these.

        They hold for a single look, decided beforehand. With ``anytime`` they hold at every look while reports come
        in; it is the planned number of reports, at which they are narrowest.
        """
        if anytime is not None:
            return anytime_interval(self, level, anytime, simultaneous=simultaneous)
        miss = 1 - fraction("Estimate", "level", level)
        share = miss / len(self.counts) if simultaneous else miss
        if self.original is not None:
            cut = np.clip(self.original.interval(level, simultaneous=simultaneous), 0, self.n)
            return cut if self.basis.posterior is None else self.basis.posterior.interval(1 - share, cut)
        reach = z_score(1 - share) * self.stderr
        ends = np.stack([self.counts - reach, self.counts + reach], axis=1)
        for part in self._laws:
            ends[part.values] = np.stack(part.interval(share, *self._at(part)), axis=1)
        return ends

    @property
    def _laws(self) -> tuple[Evidence, ...]:
        """The laws that tests and intervals rest on."""
        return self.basis.evidence

    def _at(self, part: Evidence) -> tuple[Floats, Floats]:
        """Return the counts, and their errors, of the values that a law covers."""
        return self.counts[part.values], self.stderr[part.values]

    @property
    def p_values(self) -> Floats:
        """The p-value of each value: how likely its estimate would be this large if nobody held it."""
        plain = self.original or self
        with np.errstate(divide="ignore", invalid="ignore"):
            tails = normal_tail(plain.counts / plain.stderr)
        for part in plain._laws:
            tails[part.values] = part.p_values(plain.stderr[part.values])
        return tails

    def found(self, level: float = 0.95) -> NDArray[np.bool_]:
        """Return which values somebody holds; with this probability, all of them really do occur (Holm).

        >>> import fldp
        >>> oracle = fldp.GRR(epsilon=2.0, domain_size=3)
        >>> oracle.estimate(fldp.Tally(oracle, [560, 330, 110], 1000)).found()
        array([ True,  True, False])
        """
        return holm(self.p_values) <= 1 - fraction("Estimate", "level", level)

    def table(self, level: float = 0.95) -> Rows:
        """Return all values in their order: value, count, stderr, low, high, frequency."""
        rows = np.empty(len(self.counts), ROW)
        rows["value"] = np.arange(len(rows))
        rows["count"], rows["stderr"], rows["frequency"] = self.counts, self.stderr, self.frequencies
        rows["low"], rows["high"] = self.interval(level).T
        return rows

    def top(self, k: int, level: float = 0.95) -> Rows:
        """Return the rows of the ``k`` largest estimates, largest first; ties go to the smaller value."""
        integer(1, 2**31)("Estimate", "k", k)
        return self.table(level)[np.argsort(-self.counts, kind="stable")[:k]]

    def sum(self, values: Iterable[int]) -> Total:
        """Estimate how many users hold any of these values, with the covariances of the estimates included.

        What the tally knows exactly is not estimated: all values together, or a whole group of ``Grouped``.
        """
        values = as_list(values)
        picked = as_values("Estimate", values, len(self.counts), secret=False)
        members = np.zeros(len(self.counts), np.bool_)
        members[picked] = True
        if self.original is not None:
            plain = self.original.sum(values)
            count, shrunk = float(self.counts[members].sum()), self.basis.posterior is not None
            return Total(count, plain.stderr, plain, self.n, widened=shrunk)
        known = self._settle(members)
        count, error = known + float(self.counts[members].sum()), math.sqrt(self._variance_of_sum(members))
        alone = int(members.argmax()) if members.sum() == 1 else None
        steps, size = self._steps_of_sum(members), max(1, len(picked))
        return Total(count, error, estimate=self, values=size, steps=steps, alone=alone)

    def _variance_of_sum(self, members: NDArray[np.bool_]) -> float:
        """Return the variance at plausible counts; of uneven noise, not below that at the unbiased counts.

        Plausible counts of few people are too even, and noise that depends on who holds what may be far from its mean.
        """
        estimator, options = self.oracle.estimator, {**self.options, **self.basis.context}
        variance = self._variance_at(self._plausible(), members)
        if estimator.is_uneven:
            own = float(np.sum(np.asarray(estimator.variance(self.n, self.counts, **options))[members]))
            variance = max(variance, own + estimator.covariance_of_sum(self.n, self.counts, members, **options))
        return max(float(estimator.least_variances[members].max(initial=0.0)), variance)

    def _variance_at(self, counts: Floats, members: NDArray[np.bool_]) -> float:
        """Return the variance of a sum, given the counts of all values."""
        estimator, options = self.oracle.estimator, {**self.options, **self.basis.context}
        own = float(np.sum(estimator.variances(counts, self.totals, **options)[members]))
        return own + estimator.covariance_of_sum(self.n, counts, members, **options)

    def _steps_of_sum(self, members: NDArray[np.bool_]) -> Steps:
        """Return what a sum's interval must know beside its error: what a report adds, and each further holder.

        The variance is linear in how many are inside, so its slope follows from everybody inside and nobody.
        """
        if not members.any():
            return Steps()
        inside, outside = self._all_among(members), self._all_among(~members)
        gap = self._variance_at(inside, members) - self._variance_at(outside, members)
        slope = gap / max(1.0, float(inside.sum()))
        jump = self.oracle.estimator.jump_of_sum(members) or float(self._jumps[members].max())
        return Steps(jump, max(slope, 0.0), max(-slope, 0.0))

    def _all_among(self, members: NDArray[np.bool_]) -> Floats:
        """Return counts with everybody of each run among these values, spread evenly."""
        counts = np.zeros(len(members))
        for run, total in zip(self.oracle.estimator.runs, self.totals, strict=False):
            counts[run] = members[run] * (total / max(1, int(np.count_nonzero(members[run]))))
        return counts

    @property
    def rest(self) -> Total:
        """How many users hold none of the candidates: all users less the sum of the estimates.

        >>> import fldp
        >>> oracle = fldp.CMS(epsilon=8.0, hashes=16, width=64)
        >>> oracle.estimate(oracle.privatize(["a"] * 700 + ["b"] * 300, rng=7), candidates=["a"]).rest
        Total(count=..., stderr=...)
        """
        total = self.sum(range(len(self.counts)))
        return Total(self.n - total.count, total.stderr)

    def _settle(self, members: NDArray[np.bool_]) -> int:
        """Take the runs that are known exactly out of the members, and return how many users they have.

        Those are runs that are wholly among them, and runs that nobody is in.
        """
        known = 0
        for run, total in zip(self.oracle.estimator.runs, self.totals, strict=False):  # candidates have no run
            if members[run].all() or total == 0:
                members[run] = False
                known += total
        return known

    def _plausible(self) -> Floats:
        """Return counts to put into formulas of sums: not negative, and with the exact totals.

        Cut to what is possible one by one, the counts of many rare values would add up to far more than n, and a
        covariance computed from them would be far off. Empirical Bayes spreads the people over rare values as they
        are; norm-sub would give them to those that chance favours.
        """
        plugged = repaired(self, "norm-sub")
        if self.shrunk is None:
            return plugged
        plugged = self.shrunk.counts(plugged)
        for run, total in zip(self.oracle.estimator.runs, self.totals, strict=False):
            plugged[run] *= total / max(float(plugged[run].sum()), 1e-300)
        return plugged

    @cached_property
    def shrunk(self) -> "Shrunk | None":
        """What empirical Bayes makes of this estimate, once."""
        return Shrunk.of(self)

    def compare(self, other: "Estimate", *, people: str = RESPONDENTS, anytime: int | None = None) -> Comparison:
        """Compare the shares of all values with another, independent estimate over the same values.

        The same people repeating a remembered answer are not independent: their noise is the same in both.

        ``people`` says whom the comparison is about. With ``"respondents"``, those who reported: only the noise is
        random. With ``"population"``, all who could have reported: who did is random, too, and the sampling variance
        adds to the noise. The promises of ``Comparison`` were checked from 30 reports on; for respondents only up to
        epsilon 4 or so, because beyond that the noise changes a handful of reports, which has no normal law.
        ``anytime``, the planned number of reports, is for results that are watched as they come in, as in ``interval``.
        """
        self._check_comparable(other)
        one_of(RESPONDENTS, POPULATION)("Estimate", "people", people)
        before, after = self.original or self, other.original or other
        sides = tuple(each._side(people, before.counts + after.counts, before.n + after.n) for each in (before, after))
        comparison = replace(compared(*sides), people=people, labels=self.labels)
        return comparison if anytime is None else compared_anytime(comparison, (self, other), anytime)

    def _side(self, people: str, counts: Floats, n: int) -> Side:
        """Return this side of a comparison, where both sides together have these counts, of so many people."""
        pooled = self.n * counts / n
        noise = (self._noise_at(self.counts) / self.n**2, self._noise_at(pooled) / self.n**2)
        error = 2 * self.n * np.sqrt(noise[1])  # half of it is less than a jump where fewer than four have noise
        jump = self._jumps_beside(error) / self.n
        return Side(self.frequencies, self._share_variances(people), self._informants, noise, jump)

    def _noise_at(self, counts: Floats) -> Floats:
        """Return the variances of the estimates at these counts, where their law is known exactly, else 0."""
        noise = np.zeros(len(self.counts))
        for law in self._laws:
            if isinstance(law, Observed):
                noise[law.values] = law.variance(counts[law.values])
        return noise

    @property
    def _jumps(self) -> Floats:
        """The most that a report, or a collision, adds to each count; 0 where it is small beside the noise."""
        return self._jumps_beside(self.stderr)

    def _jumps_beside(self, stderr: Floats) -> Floats:
        """Return the same beside these errors, where the law is known exactly."""
        jumps = np.zeros(len(self.counts))
        for law in self._laws:
            if isinstance(law, Observed):  # hardly any noise is a law of few reports
                error = np.minimum(law.null, stderr[law.values])
            else:
                error = np.maximum(law.null, self.stderr[law.values])
            jumps[law.values] = np.where(law.jump > error / 2, law.jump, 0.0)
        return jumps

    @property
    def _informants(self) -> int:
        """How many people's reports are about these values."""
        return self.n

    def _variance_after(self, reports: int) -> Floats | float:
        """Return the variance of the count of a value that nobody holds, after this many reports."""
        options = {name: value for name, value in self.options.items() if name == "decoder"}
        return float(np.max(self.oracle.estimator.variance(reports, 0.0, **options)))

    def _check_comparable(self, other: "Estimate") -> None:
        if not isinstance(other, Estimate) or len(other.counts) != len(self.counts):
            size = len(other.counts) if isinstance(other, Estimate) else other
            raise MergeError(f"Estimate: compare needs an estimate of {len(self.counts)} values, got {size!r}")
        if not self.oracle.estimator.runs and self.labels != other.labels:
            raise MergeError("Estimate: compare needs two estimates of the same candidates, in the same order")

    def _share_variances(self, people: str) -> Floats:
        noise = (self.stderr / self.n) ** 2
        return noise + sampling_variance(self.counts, self.n) if people == POPULATION else noise

    @property
    def reach(self) -> float:
        """Half the 95 % interval of the least certain share; after post-processing, of the unbiased estimate.

        So 0.05 means that every share is known to 5 points or better, each by itself. Computed from the exact
        variances, with estimated counts in place of true ones.
        """
        plain = self.original or self
        return z_score(0.95) * float(plain.stderr.max()) / plain.n

    def reports_needed(self, reach: float = GOOD_REACH) -> int:
        """Return about how many reports from the same population would give this ``reach``.

        Variances grow with the number of reports, so the reach falls with its square root.

        >>> import fldp
        >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
        >>> oracle.estimate(fldp.Tally(oracle, [400, 300, 150, 100, 50], 1000)).reports_needed(0.05)
        5611
        """
        positive("Estimate", "reach", reach)
        return max(1, math.ceil(self.n * (self.reach / reach) ** 2))

    @property
    def note(self) -> str | None:
        """A warning if there are too few reports, else None.

        They are too few if the 95 % interval of some share reaches more than 10 points to each side. The warning says
        how many would give 5 points, rounded up to two digits.

        >>> import fldp
        >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
        >>> oracle.estimate(fldp.Tally(oracle, [3, 1, 1, 0, 0], 5)).note
        '5 reports are too few: at epsilon 1 they tell nothing about shares; about 5,700 would give ±5 points.'
        """
        reach = self.reach
        if reach <= MAX_REACH:
            return None
        are, tell = ("1 report is", "it tells") if self.n == 1 else (f"{self.n:,} reports are", "they tell")
        knowledge = f"{tell} shares to ±{100 * reach:.0f} points" if reach < 1 else f"{tell} nothing about shares"
        needed = f"about {_rounded_up(self.reports_needed()):,} would give ±{100 * GOOD_REACH:.0f} points"
        return f"{are} too few: at {self._budget} {knowledge}; {needed}."

    @property
    def _budget(self) -> str:
        return f"epsilon {self.oracle.epsilon:g}"

    def _columns(self, level: float) -> Columns:
        rows = self.table(level)
        labels = {} if self.labels is None else {"label": list(self.labels)}
        return {"value": rows["value"], **labels, **{name: rows[name] for name in (ROW.names or ())[1:]}}

    def plot(
        self, *, k: int = _SHOWN, level: float = 0.95, truth: ArrayLike | None = None, title: str | None = None
    ) -> "Figure":
        """Draw the ``k`` largest estimates as bars with error bars, the picture of ``fldp estimate --plot``.

        ``truth`` are the true counts, if they are known. A notebook shows the figure; ``savefig`` saves it. Needs the
        extra ``plot``.
        """
        figure: Figure = drawing().bars(self, k=k, level=level, truth=truth, title=title)
        return figure

    def __repr__(self) -> str:
        what = "estimate" if not self.biased else f"{self.method} (biased) estimate"
        return f"<{what} of {len(self.counts)} values from {self.n} reports of {self.oracle!r}>"


def _rounded_up(number: int) -> int:
    """Round up to two digits.

    >>> _rounded_up(4881), _rounded_up(37)
    (4900, 37)
    """
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step
