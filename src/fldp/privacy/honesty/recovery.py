"""recover: estimates with a visible attack removed, under a stated assumption about the attack.

Fakes that support a set of targets together give each pair of them a score of 1; honest reports have mean score 0
(``fldp.privacy.honesty.pair_tests``). So the mean score estimates the number of fakes without bias. What one fake adds
to every estimate follows from how such fakes are crafted, and is subtracted once per fake.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Basis, Estimate, Option, Total
from fldp.data.reports import Reports, Tally
from fldp.data.values import as_values
from fldp.errors import DomainError, ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.claims import Scores
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import check_options
from fldp.oracles.base.strategy import Targets
from fldp.oracles.base.string_oracle import listed
from fldp.privacy.honesty.binomial_tests import bennett
from fldp.privacy.honesty.integrity_tests import FALSE_ALARM, Findings
from fldp.privacy.honesty.pair_tests import log_chances, most_supported
from fldp.privacy.poisoning import leverage, poison

_SAMPLE = 1 << 14  # fakes that are crafted to measure what one adds
_SLACK = 5.0  # standard errors by which an estimate may fall below what the fakes added


@dataclass(frozen=True, eq=False, repr=False)
class Recovered(Estimate):
    """An estimate without the reports of fakes, if these are as ``assumption`` says.

    ``targets`` are the values that the fakes promote, ``fakes`` is their estimated number. If the assumption holds, the
    counts are unbiased for the honest users, and their errors include the error in the number of fakes. If not, they
    are biased; since nobody can know, ``biased`` is true. ``whole`` is the estimate from all reports. It is not
    ``original``, so that nothing derived from this estimate brings the fakes back.

    >>> import fldp
    >>> oracle = fldp.FHR(epsilon=1.0, domain_size=20)
    >>> recovered = fldp.recover(oracle.privatize([3] * 500, rng=7))
    >>> recovered.targets, recovered.assumption
    ((), 'that there are no fakes: none show')
    """

    targets: tuple[int, ...] = ()
    fakes: float = 0.0
    fakes_stderr: float = 0.0
    assumption: str = ""
    each: Floats = field(default_factory=lambda: np.zeros(0))
    whole: Estimate | None = None

    @property
    def biased(self) -> bool:
        return True

    def sum(self, values: Iterable[int]) -> Total:
        """Estimate how many honest users hold any of these values, given the assumption."""
        if self.original is not None:
            return super().sum(values)
        assert self.whole is not None, "it is made from one"
        chosen = np.unique(as_values("Estimate", values, len(self.counts), secret=False))
        plain = self.whole.sum(chosen)
        is_known = len(chosen) == len(self.counts)  # the total is counted, not estimated: a fake adds 1
        taken = 1.0 if is_known else float(self.each[chosen].sum())
        return Total(plain.count - self.fakes * taken, math.hypot(plain.stderr, self.fakes_stderr * taken))


def recover(
    source: Reports | Tally,
    findings: Findings | None = None,
    *,
    targets: Iterable[int] | None = None,
    **options: Option,
) -> Recovered:
    """Estimate the counts of the honest users alone, assuming fakes that support all of some targets.

    Unless given, the targets are detected from pairs, at the false-alarm rate of the findings. If none are detected,
    nothing is subtracted. ``options`` of a linear estimate, such as ``decoder=``, are passed on. SUE, OUE, IDUE,
    URAPPOR, OLH, SS, HRR and FWR need reports, FHR only a tally; for other oracles such an attack looks like data.

    >>> import fldp
    >>> oracle = fldp.OUE(epsilon=1.0, domain_size=50)
    >>> honest, fake = oracle.privatize([9] * 20_000, rng=7), fldp.privacy.poison(oracle, [1, 2, 3], 1000, rng=7)
    >>> recovered = recover(fldp.Reports.concatenate([honest, fake]))
    >>> recovered.targets, 800 < recovered.fakes < 1200
    ((1, 2, 3), True)
    >>> [bool(low < count < high) for (low, high), count in zip(recovered.interval(0.99)[[1, 9]], [0, 20_000])]
    [True, True]
    """
    if not isinstance(source, Reports | Tally):
        raise DomainError(f"recover: the source must be reports or a tally, got {type(source).__name__}")
    if analysis(source.oracle).domain_size is None:
        raise ParameterError(f"recover: the oracle must be one of values that can be listed, got {source.oracle!r}")
    oracle, data = listed("recover", source.oracle), source.data if isinstance(source, Reports) else None
    check_options(oracle, options)
    tally = oracle.tally(source) if isinstance(source, Reports) else source
    values = most_supported(oracle, tally) if targets is None else _given(oracle, targets)
    scores = analysis(oracle).pairs(tally, data, values)
    if scores is None:
        kind = "reports" if data is not None else "a tally"
        raise ParameterError(
            f"recover: the source must show which fakes support several values, got {kind} of {oracle!r}; "
            f"{_remedy(oracle, data is None)}"
        )
    alarm = FALSE_ALARM if findings is None else findings.false_alarm
    chosen = np.arange(len(values)) if targets is not None else _clique(oracle.estimate(tally), scores, alarm)
    return _without(oracle.estimate(tally, method="linear", **options), tally, scores, chosen)


def _remedy(oracle: FrequencyOracle, is_tally: bool) -> str:
    """Return what can be done, in words."""
    if is_tally:
        return "give the file of reports instead of their tally, where their mechanism shows it"
    return f"a fake report of {oracle.title} looks like an honest one, so nothing can be taken away"


def _given(oracle: FrequencyOracle, targets: Iterable[int]) -> Targets:
    chosen = np.unique(as_values("recover", targets, oracle.domain_size, secret=False)).astype(np.int64)
    if len(chosen) < 2:
        raise ParameterError(f"recover: targets must be two values or more, got {len(chosen)}")
    return chosen


def _clique(plain: Estimate, scores: Scores, alarm: float) -> Targets:
    """Return a set of values all pairs of which are significant, and whose estimates allow the fakes that they show.

    One pair has to be significant among all pairs of values; a value joins if its pairs with all members are
    significant by themselves. Masks that suit one set of targets suit any set with the same differences, so pairs alone
    do not identify the set. Of several, take the one whose least estimate is largest.
    """
    chances, limit = log_chances(plain.oracle, scores, plain.n), math.log(alarm)
    linked = bennett(scores.sums, plain.n, scores.variance, scores.most) <= limit
    sets = [_joined(plain, scores, chances[start], linked, start) for start in np.flatnonzero(chances.min(1) <= limit)]
    counts = plain.counts[scores.values]
    large = (chosen for chosen in sets if len(chosen) > 1)
    return max(large, key=lambda chosen: float(counts[chosen].min()), default=np.empty(0, np.int64))


def _joined(plain: Estimate, scores: Scores, chances: Floats, linked: NDArray[np.bool_], start: Any) -> Targets:
    """Return a value and those that join it, if their estimates allow the fakes that its clearest pair shows."""
    order = np.argsort(chances, kind="stable")
    pair = scores.values[[start, order[0]]]
    added = float(scores.sums[start, order[0]]) * leverage(plain.oracle, pair) / 2
    fits = (plain.counts + _SLACK * plain.stderr)[scores.values] >= added
    chosen = [start] if fits[start] else []
    for value in order[order != start]:
        if chosen and fits[value] and linked[value, chosen].all():
            chosen.append(value)
    return np.sort(np.array(chosen, np.int64))


def _fakes(scores: Scores, chosen: Targets) -> float:
    """Return the number of fakes that the pairs of a set show."""
    return float(scores.sums[np.ix_(chosen, chosen)][np.triu_indices(len(chosen), 1)].mean())


def _without(plain: Estimate, tally: Tally, scores: Scores, chosen: Targets) -> Recovered:
    targets, oracle = scores.values[chosen], plain.oracle
    fakes, each, stderr, assumption = 0.0, np.zeros(oracle.domain_size), 0.0, "that there are no fakes: none show"
    if len(targets):
        fakes = min(max(0.0, _fakes(scores, chosen)), tally.n - 1.0)
        each = fake_mean(oracle, targets, tally, fakes, plain.options)
        stderr = math.sqrt(tally.n * float(scores.variance[np.ix_(chosen, chosen)].max()))
        assumption = f"that {fakes:,.0f} fakes each support all of {len(targets)} values, and vary all else at random"
    return Recovered(
        oracle,
        plain.counts - fakes * each,
        np.hypot(plain.stderr, stderr * each),
        round(tally.n - fakes),
        "attack-removed",
        basis=Basis(plain.options),
        targets=tuple(targets.tolist()),
        fakes=fakes,
        fakes_stderr=stderr,
        assumption=assumption,
        each=each,
        whole=plain,
    )


def fake_mean(
    oracle: FrequencyOracle, targets: Targets, tally: Tally, fakes: float, options: Mapping[str, Option]
) -> Floats:
    """Return the mean contribution of one fake to every estimate: as the tally shows, or from many that are crafted."""
    shown = analysis(oracle).fake_mean(targets, tally, fakes)
    if shown is not None:
        return shown
    return oracle.estimator.decode(oracle.tally(poison(oracle, targets, _SAMPLE, rng=0)), **options) / _SAMPLE
