"""The analysis of records among a few: a mixture of the analyses of the views."""

from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations

import numpy as np

from fldp.data.reports import Array
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import Analysis, analyses, analysis
from fldp.oracles.base.oracle import Law, Oracle, Public
from fldp.oracles.base.profile import Band, Profile
from fldp.oracles.sampled.among_records import AmongRecords
from fldp.oracles.sampled.sampled import Sampled
from fldp.oracles.sampled.sampled_analysis import SampledAnalysis
from fldp.oracles.tagged import split_tags

_FEW = 8


@analyses(AmongRecords)
class AmongRecordsAnalysis(Analysis[AmongRecords]):
    """Records are values; a report is about a view, in which some records are alike."""

    @property
    def _base(self) -> Sampled:
        assert isinstance(self.oracle.base, Sampled)
        return self.oracle.base

    @property
    def _sampled(self) -> SampledAnalysis:
        return SampledAnalysis(self._base)

    @property
    def sent(self) -> Sampled:
        return self._base

    @property
    def tallied(self) -> Sampled:
        return self._base

    def compared(self, whole: Oracle) -> dict[str, str]:
        """Say which records were compared, and how likely a report is about each question."""
        sent = analysis(whole).sent
        assert isinstance(sent, Sampled)
        kinds = "which differ in all answers, in all but one, in one"
        most = max(self._base.answers)
        same = "" if self._base == sent else f", of at most {most} answers to a question: the law of more is too large"
        chances = (float(SampledAnalysis(sent).about(question)) for question in range(len(sent.answers)))
        about = ", ".join(f"{chance:.1%}" for chance in chances)
        return {
            "among": f"{self.oracle.domain_size:,} records, {kinds}{same}",
            "each question": f"epsilon {sent.epsilon:g}, not less; a report is about it with probability {about}",
        }

    @property
    def server_work(self) -> str:
        return self._sampled.server_work

    def _seen(self, value: int) -> list[int]:
        """Return what a record is in every view."""
        digits = self._base.record_code.decode(self.oracle.records[[value]])
        return [int(view.values(digits)[0]) for view in self._base.design.views]

    @property
    def outcomes(self) -> int:
        most = 0
        for member in {id(member): member for member in self._base.members}.values():
            about = analysis(member)
            hidden = 1 if self._base._hides_nothing_public else len(list(about.publics()))
            most = max(most, about.outcomes * hidden)
        return most

    def publics(self) -> Iterable[Public]:
        return [public for public, _ in self._publics()]

    def public_shares(self) -> list[Fraction]:
        return [share for _, share in self._publics()]

    def _publics(self) -> list[tuple[Public, Fraction]]:
        publics: list[tuple[Public, Fraction]] = []
        for view, (member, share) in enumerate(
            zip(self._base.members, self._sampled.public_view_shares(), strict=True)
        ):
            inside = list(analysis(member).publics()) if self._base._hides_nothing_public else [None]
            publics += [((view, public), share / len(inside)) for public in inside]
        return publics

    @property
    def publics_are_all(self) -> bool:
        return all(
            analysis(member).publics_are_all
            for member in {id(member): member for member in self._base.members}.values()
        )

    def law(self, value: int, public: Public = None) -> Law:
        """Given the view and the base's public part; or of all of it, if ``public`` is None."""
        self.check_enumerable(value)
        if public is None:
            drawn = self._publics()
            return {
                (*seen, outcome): share * part
                for seen, share in drawn
                for outcome, part in self.law(value, seen).items()
            }
        view, inside = public
        about, place = analysis(self._base.members[view]), self._seen(value)[view]
        if self._base._hides_nothing_public:
            return about.law(place, inside)
        publics = list(about.publics())
        return {
            (seen, outcome): share / len(publics)
            for seen in publics
            for outcome, share in about.law(place, seen).items()
        }

    def likelihoods(self, data: Array) -> Floats:
        likelihoods = np.empty((len(data), self.oracle.domain_size))
        digits = self._base.record_code.decode(self.oracle.records)
        for view, rows in split_tags(self._base._tagged.tags(data)):
            inside = analysis(self._base.members[view]).likelihoods(self._base._tagged.unpack(view, data[rows])[0])
            likelihoods[rows] = inside[:, self._base.design.views[view].values(digits)]
        return likelihoods

    def profile(self, value: int = 0, other: int = 1) -> Profile | None:
        """Return the mixture of the views' profiles; where two records look alike, nothing tells them apart."""
        bands, range_of_other = list[Band](), 0
        views = zip(
            self._base.members, self._sampled.public_view_shares(), self._seen(value), self._seen(other), strict=True
        )
        for member, share, place, other_place in views:
            about = analysis(member)
            inside = about.profile(place, other_place if other_place != place else (place + 1) % member.domain_size)
            if inside is None:
                return None
            if place == other_place:
                bands.append(Band(inside.reports, share, share))
                range_of_other += inside.reports
            else:
                bands += [Band(band.count, share * band.mass, share * band.other) for band in inside.bands]
                range_of_other += inside.range_of_other
        return Profile.of(bands, range_of_other)

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return all values: every pair may be alike in other views."""
        return list(range(start, stop))

    def overlaps(self) -> dict[Fraction, Fraction] | None:
        pairs = list(permutations(range(self.oracle.domain_size), 2))
        shares: dict[Fraction, Fraction] = {}
        for pair in pairs:
            profile = self.profile(*pair)
            if profile is None:
                return None
            shares[profile.shared_mass] = shares.get(profile.shared_mass, Fraction(0)) + Fraction(1, len(pairs))
        return shares

    def resized(self, domain_size: int) -> AmongRecords:
        return self._sampled.resized(min(domain_size, _FEW))

    def identified(self) -> list[float] | None:
        return [0.0] if self.oracle.eta == 1 else None
