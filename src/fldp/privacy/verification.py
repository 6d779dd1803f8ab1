"""Verification: the guarantees of a law, and whether they keep a promise."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import permutations

from fldp.errors import ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Outcome, Public
from fldp.oracles.base.profile import Curve, Profile, delta_curve
from fldp.privacy.notions.base import Notion, Pair, Uniform, bounded_epsilon
from fldp.privacy.pair_profiles import first_pairs
from fldp.randomness.coins import exp_lower, log_upper
from fldp.support.display import Displayed
from fldp.support.validation import fail, is_number

_MAX_SAMPLED = 1 << 10  # values, all pairs of which are checked

Report = tuple[Public, Outcome]
Left = Sequence[tuple[Collection[int], Report | None]]


@dataclass(frozen=True)
class Witness:
    """A report, and the two values that it distinguishes best.

    ``ratio`` is its likelihood ratio; None if ``other`` cannot produce it, which is chosen only if no shared report
    distinguishes them. ``report`` is None if the law was too large to enumerate.
    """

    value: int
    other: int
    report: Outcome
    public: Public
    ratio: Fraction | None


@dataclass(frozen=True)
class Judgement:
    """Whether a law keeps a promise; if not, a pair of values or a report that breaks it, and why.

    ``report`` is its public part (or None) and its outcome.

    >>> import fldp
    >>> print(fldp.verify([[1, 0], [0, 1]]).judge(fldp.LDP(1.0)))
    1-LDP does not hold: values 0 and 1: they share 0 of their reports, 0 by probability, where 1 is promised
    """

    notion: Notion
    holds: bool
    pair: Pair | None = None
    reason: str | None = None
    report: Report | None = None

    def __str__(self) -> str:
        if self.holds:
            return f"{self.notion} holds"
        return f"{self.notion} does not hold: {self._where}: {self.reason}"

    @property
    def _where(self) -> str:
        if self.pair is not None:
            return f"values {self.notion.name_of(self.pair[0])} and {self.notion.name_of(self.pair[1])}"
        if self.report is None:
            return "a report"
        public, outcome = self.report
        return f"report {outcome!r}" if public is None else f"report {outcome!r} with {public!r}"


@dataclass(frozen=True)
class Verification(Displayed):
    """What a law guarantees. All numbers are exact, except ``epsilon``, which is rounded up to a float.

    ``ratio`` is ``e^epsilon``: the largest ratio of a report's probabilities under two values that can both produce it.
    ``eta`` counts shared reports, ``eta_mass`` weighs them by probability. ``anonymity`` is the least number of values
    that a report leaves possible, ``anonymity_mean`` its mean if all values are equally frequent. A mechanism can be
    tuned to look good by count alone, or by mass alone; read all three together. ``print`` shows what ``fldp verify``
    does.
    """

    oracle: FrequencyOracle | None
    domain_size: int
    anonymity: int
    witness: Witness
    profiles: Mapping[Pair, Profile] = field(repr=False)
    overlaps: Mapping[Fraction, Fraction] = field(repr=False)
    notion: Notion | None = None
    left: Left | None = field(
        default=None, repr=False
    )  # sets of values that reports leave possible, each with such a report

    @property
    def ratio(self) -> Fraction:
        """``e^epsilon``, exactly."""
        return max(profile.ratio for profile in self._different)

    @property
    def epsilon(self) -> float:
        """The logarithm of ``ratio``, rounded up."""
        return log_upper(self.ratio)

    @property
    def eta(self) -> Fraction:
        """The least share of reports that two values have in common, by count: the paper's definition."""
        return min(profile.overlap for profile in self._different)

    @property
    def eta_mass(self) -> Fraction:
        """The least probability that another value can produce a report of a given value."""
        return min(profile.shared_mass for profile in self._different)

    @property
    def strong(self) -> bool:
        """Whether every two values share reports; else FLDP is weak: some pairs are distinguished with certainty."""
        return self.eta > 0

    @property
    def delta(self) -> Fraction:
        """The delta of (epsilon, delta)-LDP at the promised epsilon; at ``ratio`` if none is promised."""
        promised = getattr(self.notion, "epsilon", None)
        return self._excess(self.ratio if promised is None else exp_lower(promised))

    def delta_at(self, epsilon: float) -> Fraction:
        """Return the delta of (epsilon, delta)-LDP at any epsilon of at least 0.

        >>> import fldp
        >>> fldp.verify([["3/4", "1/4"], ["1/4", "3/4"]]).delta_at(0.0)
        Fraction(1, 2)
        """
        nothing = is_number(epsilon) and epsilon == 0
        return self._excess(exp_lower(0.0 if nothing else bounded_epsilon("verify", epsilon)))

    @property
    def delta_curve(self) -> Curve:
        """The delta curve: corners ``(e^epsilon, delta)``, linear between them and constant after the last."""
        return delta_curve(self._different)

    @property
    def anonymity_mean(self) -> Fraction:
        """The mean number of values that a report leaves possible, if all are equally frequent."""
        shared = sum((share * weight for share, weight in self.overlaps.items()), Fraction(0))
        return 1 + (self.domain_size - 1) * shared

    def judge(self, notion: Notion) -> Judgement:
        """Judge whether the law keeps a promise, with a report or a pair of values that breaks it."""
        if not isinstance(notion, Notion):
            raise fail("verify", "notion", "a notion such as LDP(1.0)", notion)
        notion.check_domain(self.domain_size)
        for report, reason in self._wrong_reports(notion):
            return Judgement(notion, False, None, reason, report)
        for pair in self._pairs(notion):
            demand = notion.demand(*pair)
            why = demand.refusal(self._profile(pair)) if demand else None
            if why:
                return Judgement(notion, False, pair, why)
        return Judgement(notion, True)

    def _wrong_reports(self, notion: Notion) -> Iterator[tuple[Report | None, str]]:
        """Yield reports that a notion forbids, with the reason."""
        if not notion.looks_at_reports:
            return
        if self.left is None:
            raise ParameterError(f"verify: {notion} is about reports, and this law has too many; take a smaller domain")
        for left, report in self.left:
            reason = notion.refusal(left, self.domain_size)
            if reason:
                yield report, reason

    @property
    def _is_enumerated(self) -> bool:
        return self.oracle is None or len(self.profiles) == self.domain_size * (self.domain_size - 1)

    def _profile(self, pair: Pair) -> Profile:
        profile = self.profiles.get(pair) or (analysis(self.oracle).profile(*pair) if self.oracle else None)
        assert profile is not None
        return profile

    def _pairs(self, notion: Notion) -> Iterator[Pair]:
        """Yield all pairs; of a law in closed form, pairs of every kind within and between ranges of equal demand."""
        if self._is_enumerated or self.oracle is None:
            yield from self._first if isinstance(notion, Uniform) else self.profiles
            return
        sampled = list[int]()
        for start, stop in notion.ranges(self.domain_size):
            sampled += analysis(self.oracle).sample_values(start, stop)
            if len(sampled) > _MAX_SAMPLED:
                raise ParameterError(f"verify: {notion} is judged on at most {_MAX_SAMPLED} values of such a law")
        yield from permutations(sampled, 2)

    @property
    def judgement(self) -> Judgement:
        """The judgement on the promised notion; an oracle promises by its parameters."""
        if self.notion is None:
            raise ParameterError("verify: this law promises nothing; pass notion=")
        return self.judge(self.notion)

    @property
    def holds(self) -> bool:
        """Whether the law keeps its promise, and the anonymity and the eta that the oracle declares."""
        least = self.oracle.anonymity if self.oracle else 1
        return self.judgement.holds and self.anonymity >= least and self.keeps_eta and self.keeps_lasting

    @property
    def keeps_eta(self) -> bool:
        """Whether any two values share what the oracle declares, by count and by mass; not every notion asks for it."""
        return self.oracle is None or min(self.eta, self.eta_mass) >= self.oracle.eta

    @property
    def lasting(self) -> dict[str, float]:
        """The epsilon of all reports of a person together, rounded up, by kind of history; none where one is kept."""
        ratios = analysis(self.oracle).lasting_ratios() if self.oracle else {}
        return {name: log_upper(ratio) for name, (ratio, _) in ratios.items()}

    @property
    def keeps_lasting(self) -> bool:
        """Whether all reports of a person together keep what the oracle declares."""
        ratios = analysis(self.oracle).lasting_ratios() if self.oracle else {}
        return all(ratio <= exp_lower(epsilon) for ratio, epsilon in ratios.values())

    @cached_property
    def _different(self) -> set[Profile]:
        return {self.profiles[pair] for pair in self._first}

    @cached_property
    def _first(self) -> Sequence[Pair]:
        """The first pair of every profile: a million pairs share a few."""
        return first_pairs(self.profiles)

    def _excess(self, bound: Fraction) -> Fraction:
        return max(profile.excess(bound) for profile in self._different)

    def __repr__(self) -> str:
        whose = f"a law of {self.domain_size} values" if self.oracle is None else repr(self.oracle)
        return f"<verification of {whose}: epsilon {self.epsilon:g}, eta {float(self.eta):g}>"
