"""The analysis of Sampled: the analyses of its views, which chance chooses."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np
from numpy.typing import ArrayLike

from fldp.data.reports import Array, Tally
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import Analysis, analyses, analysis
from fldp.oracles.base.claims import CellClaim, Claim
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.leaks_and_parts import ReportPart
from fldp.oracles.base.strategy import TargetCells
from fldp.oracles.plain.wave import MIN_CELLS
from fldp.oracles.sampled.agreement import agreement
from fldp.oracles.sampled.among_records import AmongRecords
from fldp.oracles.sampled.sampled import Sampled
from fldp.oracles.sampled.sampled_fakes import ViewFakes, view_fakes
from fldp.oracles.sampled.views import Block
from fldp.support.validation import fail

_QUICK = 1 << 17  # outcomes of all records and views that are quick to enumerate


@analyses(Sampled)
class SampledAnalysis(Analysis[Sampled]):
    """A view, and a report of its oracle."""

    @property
    def server_work(self) -> str:
        largest = max(self.oracle.members, key=lambda member: member.domain_size)
        return f"{analysis(largest).server_work} in each view"

    @property
    def answers(self) -> tuple[int, ...]:
        return self.oracle.answers

    @property
    def explained(self) -> FrequencyOracle:
        """The oracle of the view that tells most answers apart."""
        return max(self.oracle.members, key=lambda member: member.domain_size)

    @property
    def in_short(self) -> tuple[str, ...]:
        """One report for all questions; another answer is another view, and another epsilon. Nothing of one number."""
        count, most = len(self.oracle.answers), max(len(view.questions) for view in self.oracle.design.views)
        if count == 1:
            return ()
        about = "one" if most == 1 else f"at most {most}"
        chances = [float(self.about(question)) for question in range(count)]
        return (
            f"One report for all {count} questions together, epsilon {self.oracle.epsilon:g}. It shows which it is "
            f"about, {about} of them: chance chose these, not your answers. It says nothing about the others.",
            f"It is about a given question with a probability of {min(chances):.0%} to {max(chances):.0%}; where it "
            "is, it protects the answer by that same epsilon, not by a smaller one.",
            "Another answer would be about other questions, and would cost another epsilon. k fresh answers cost k "
            "times epsilon together. A few dozen ask about everything. So your device answers once.",
            f"The rest of this card is about the {self.explained.domain_size:,} answers that one report tells apart at "
            "most.",
        )

    def among_held(self, counts: ArrayLike) -> tuple[AmongRecords, ArrayLike]:
        """Return the oracle among the records that anybody holds, given the counts of all records."""
        array = np.asarray(counts)
        if array.shape not in ((self.oracle._values_end,), self.oracle.answers) or array.dtype.kind not in "iu":
            rule = (
                f"integers of shape {self.oracle.answers}, one for each record; or pass oracle.among(records) for few"
            )
            raise fail("simulate", "counts", rule, f"{array.dtype} of shape {array.shape}")
        flat = array.reshape(-1)
        held = np.flatnonzero(flat) if flat.any() else np.zeros(1, np.int64)
        return self.oracle.among(held), flat[held]

    @property
    def members(self) -> tuple[FrequencyOracle, ...]:
        return self.oracle.members

    def thresholds(self) -> Iterator[tuple[int, int]]:
        for member in self.oracle.members[:1]:
            coin = analysis(member).coin
            yield self.oracle._values_end // 2, coin.keep if coin else 1 << 63

    def resized(self, domain_size: int) -> AmongRecords:
        """Return a few records of every kind; of the same views of fewer answers where the law is too large."""
        for oracle in (self.oracle, *self._smaller()):
            few = oracle.among(oracle._sample_records(domain_size))
            about = analysis(few)
            if about.outcomes * len(list(about.publics())) * few.domain_size <= _QUICK:
                return few
        return few

    def _smaller(self) -> Iterator[Sampled]:
        for size in (4, 3, 2):
            answers = tuple(self._fewer(question, size) for question in range(len(self.oracle.answers)))
            try:
                views = tuple(view.among(answers) for view in self.oracle.design.views)
                yield replace(self.oracle, answers=answers, views=views)
            except ParameterError:  # too few answers for the base
                continue

    def _fewer(self, question: int, size: int) -> int:
        """Return a smaller number of answers to a question with which its views can be."""
        kinds = [
            view for view in self.oracle.design.views if question in view.questions and not isinstance(view, Block)
        ]
        joined = [getattr(view, "joined", 1) for view in kinds]
        least = max(2 * lcm(1, *joined), MIN_CELLS)
        return min(self.oracle.answers[question], max(size, least) if kinds else size)

    def public_view_shares(self) -> list[Fraction]:
        """Return how likely each view is, exactly: multiply-high is not quite even."""
        total, ends = sum(self.oracle.design.weights), np.cumsum([0, *self.oracle.design.weights]).tolist()
        words = [-(-(end << 64) // total) for end in ends]
        return [Fraction(stop - start, 1 << 64) for start, stop in pairwise(words)]

    @property
    def _view_shares(self) -> Floats:
        return np.array([float(share) for share in self.public_view_shares()])

    def about(self, question: int) -> Fraction:
        """Return how likely a report is about a question at all."""
        shares = zip(self.oracle.design.views, self.public_view_shares(), strict=True)
        return sum((share for view, share in shares if question in view.questions), Fraction(0))

    def blind(self) -> tuple[str, ...]:
        largest = max(self.oracle.members, key=lambda member: member.domain_size)
        chosen = "fakes that spread over the views as chance would: each chooses what its report is about"
        return (chosen, *analysis(largest).blind())

    def fakes_in(self, cells: TargetCells) -> ViewFakes | None:
        """A fake chooses its view; the rarer that is, the more it counts."""
        return view_fakes(self.oracle, cells, self._view_shares)

    def honest_tally(self, tally: Tally) -> Iterator[Claim]:
        """Chance alone decides how many reports are about each view, and views agree about their questions."""
        shares = self._view_shares
        name = lambda view: f"view {self.oracle.design.views[view].label}"  # noqa: E731
        claim = "chance alone decides how many reports are about each view"
        yield CellClaim("views", claim, np.array(self.oracle.estimator.people(tally)), tally.n, shares, shares, name)
        agreed = agreement(self.oracle, tally, shares)
        if agreed is not None:
            yield agreed

    def parts(self, tally: Tally, data: Array | None) -> Iterator[ReportPart]:
        """Yield the views that reports are about."""
        for view, inside in enumerate(self.oracle.estimator.split(tally)):
            if inside.n:
                reports = None if data is None else self.oracle._tagged.reports_in(view, data)
                yield ReportPart(f"view {self.oracle.design.views[view].label}", inside, reports)
