"""Sampled: public chance chooses a view of the person's record, and the report is about that view."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Reports, Tally
from fldp.data.values import Values
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle, check_options
from fldp.oracles.base.record_oracle import RecordCode, RecordEstimator, RecordOracle, as_answers
from fldp.oracles.flexible.fwr import FWR
from fldp.oracles.sampled.among_records import AmongRecords
from fldp.oracles.sampled.views import BASES, MAX_VIEWS, Entry, SamplingDesign, read_views, short_form
from fldp.oracles.tagged import Tagged, split_tags
from fldp.randomness.stream import Stream, Words
from fldp.responder.parity_responses import halving
from fldp.support.validation import Constraint, Described, fail, integer, is_integer, one_of, positive, whole_numbers

if TYPE_CHECKING:
    from fldp.oracles.sampled.tables import Tables

MAX_WEIGHT = 1 << 32
_CHUNK = 1 << 17


def _views(owner: str, name: str, value: object) -> int | tuple[Entry, ...]:
    """Accept 1, 2, or a list of views, each a list."""
    if is_integer(value):
        return int(integer(1, 2)(owner, name, value))
    entries = list(value) if isinstance(value, list | tuple) else []
    if not 1 <= len(entries) <= MAX_VIEWS or not all(isinstance(entry, list | tuple) for entry in entries):
        raise fail(owner, name, f"1, 2 or a list of 1 to {MAX_VIEWS} views", value)
    return tuple(tuple(int(part) if is_integer(part) else part for part in entry) for entry in entries)


def _weights(owner: str, name: str, value: object) -> tuple[int, ...]:
    """Accept whole numbers above 0, at most 2^32 together."""
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, list | tuple) or len(items) > MAX_VIEWS:
        raise fail(owner, name, "a list of whole numbers, one for each view", value)
    weights = tuple(integer(1, MAX_WEIGHT)(owner, f"a number in {name}", weight) for weight in items)
    if sum(weights) > MAX_WEIGHT:
        raise fail(owner, name, "at most 2^32 together", sum(weights))
    return weights


@dataclass(frozen=True, eq=False)
class ViewTallies(RecordEstimator):
    """What a tally of ``Sampled`` consists of: a tally of every view, of the people whom chance put into it."""

    design: SamplingDesign
    tagged: Tagged
    record_code: RecordCode

    runs: ClassVar[tuple[slice, ...]] = (slice(None),)  # of any question: all people have an answer

    def split(self, tally: Tally) -> Iterator[Tally]:
        """Yield the tally of every view; its ``n`` is how many people chance put into the view."""
        return self.tagged.split(tally)

    def people(self, tally: Tally) -> tuple[int, ...]:
        """Return how many reports are about each view."""
        return self.tagged.totals(tally)

    def draw_state(
        self, records: Values, counts: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        weights, members = self.design.weights, self.tagged.members
        split = generator.multinomial(counts, np.array(weights) / sum(weights))  # a row for each record
        state, digits = self.tagged.tally_format.zeros(), self.record_code.decode(records)
        parts = zip(self.tagged.states(state), members, self.design.views, split.T, strict=True)
        for number, (part, member, view, held) in enumerate(parts):
            state[number] = held.sum()
            values = np.zeros(member.domain_size, np.int64)
            np.add.at(values, view.values(digits), held)
            part += _drawn(member, values, generator)
        return state


@dataclass(frozen=True, repr=False)
class Sampled(RecordOracle):
    """Several questions in one report: public chance chooses which of their answers the report is about.

    ``answers`` has the number of possible answers to each question. ``views`` are the views of a record: 1 for all
    single questions, 2 for all pairs, or a list of views, each a list of questions or one that joins cells of a
    question whose answers are in order, such as ``["cells", 0, 4]``. View ``v`` is drawn with probability
    ``weights[v]`` over the sum of all weights, all 1 unless given. The report is the view, and an ordinary report of
    ``base`` about it.

    **eps-LDP for the record as a whole.** Given the view, which is drawn before and without the answers, the report is
    one of an eps-LDP oracle with the whole epsilon. So no epsilon is shared out among the questions, and two records
    are protected as well as two answers to one question. With base ``fwr`` and an ``eta`` below 1 it is
    (eps, eta)-FLDP: weaker.

    Given how many people chance put into each view, those in a view are a simple random sample of all. Estimates are
    therefore unbiased whatever the weights are: see ``fldp.oracles.sampled.tables``.

    Report: the view in clear, and a report of another oracle about it | depends | eps-LDP for all answers together;
      (eps, eta)-FLDP with base FWR
    Fields: the number of the view: the bits of the number of views minus 1; the numbers of the base's report;
      zeros up to the width of the longest base's report
    Words: 1 + the most of any view's base | the view from word 0 by multiply-high; then the base's
    Best fake: the best fake of the best view, which a fake chooses | its leverage over the share of the view

    >>> oracle = Sampled(epsilon=1.0, answers=[4, 4, 2], views=2)
    >>> oracle.design.entries, oracle.eta, oracle.report_format.bits
    ([[0, 1], [0, 2], [1, 2]], Fraction(1, 1), 18)
    >>> oracle.privatize([[0, 3, 1], [2, 0, 0]])
    <2 reports of Sampled(epsilon=1.0, answers=[4, 4, 2], views=2)>
    """

    views: int | tuple[Entry, ...] = field(kw_only=True)
    weights: tuple[int, ...] = field(default=(), kw_only=True)
    base: str = field(default="ss", kw_only=True)
    eta: Fraction = field(default=Fraction(1), kw_only=True)

    examples = (
        {"epsilon": 1.0, "answers": (4, 3, 2), "views": 2},
        {"epsilon": 1.0, "answers": (3, 2, 2), "views": ((0,), (1, 2), (0, 2)), "weights": (3, 1, 2), "base": "grr"},
        {"epsilon": 2.0, "answers": (16, 5), "views": ((0,), ("cells", 0, 4), (1,)), "base": "oue"},
        {"epsilon": 1.0, "answers": (8, 8), "views": 1, "base": "fwr", "eta": 0.5},
        {"epsilon": 0.5, "answers": (6, 7), "views": 1, "base": "hrr"},
        {"epsilon": 1.0, "answers": (2,) * 24, "views": 2, "base": "pgr"},
        {"epsilon": 1.0, "answers": (32,), "views": ((0,), ("wave", 0, 5)), "weights": (1843, 2253)},
        {"epsilon": 2.0, "answers": (16, 3), "views": ((0,), ("cells", 0, 4), ("wave", 0, 3), (1,), (0, 1))},
    )
    name = "sampled"
    params: ClassVar[Mapping[str, Constraint]] = {
        "epsilon": positive,
        "answers": Described(as_answers, "how many answers each question has, such as 4,4,2", read=whole_numbers),
        "views": Described(_views, "1 (single questions), 2 (all pairs), or a list", read=int),
        "weights": Described(_weights, "how often each view is drawn, such as 3,1,1", read=whole_numbers),
        "base": Described(one_of(*BASES), "the oracle about a view; ss unless given"),
        "eta": Described(halving, "1 (the default); with base fwr also 0.5, 0.25, ...", read=float),
    }

    def _settle_parameters(self) -> None:
        seen = read_views(self.title, self.views, self.answers)
        object.__setattr__(self, "views", short_form(seen, self.answers))
        if self.weights and len(self.weights) != len(seen):
            raise fail(self.title, "weights", f"{len(seen)} numbers, one for each view", len(self.weights))
        if len(set(self.weights)) == 1:
            object.__setattr__(self, "weights", ())  # the default: the same oracle, whether stated or not
        if self.eta != 1 and self.base != FWR.name:
            raise fail(self.title, "eta", f"1 with base {self.base!r}; 'fwr' has others", float(self.eta))
        _ = self.members  # raises what the base raises

    @cached_property
    def design(self) -> SamplingDesign:
        """The views, in the order of their numbers, and the weight of each."""
        views = read_views(self.title, self.views, self.answers)
        return SamplingDesign(views, self.weights or (1,) * len(views))

    @cached_property
    def members(self) -> tuple[FrequencyOracle, ...]:
        """The oracle of each view, with the whole epsilon."""
        members: dict[object, FrequencyOracle] = {}
        keys = [(view.size, view.kind and view.entry) for view in self.design.views]
        for key, view in zip(keys, self.design.views, strict=True):
            if key not in members:
                members[key] = view.oracle(self.epsilon, self.base, self.eta)
        return tuple(members[key] for key in keys)

    @cached_property
    def _tagged(self) -> Tagged:
        """The layout of reports and tallies."""
        return Tagged(self.members)

    @cached_property
    def estimator(self) -> ViewTallies:
        return ViewTallies(self.design, self._tagged, self.record_code)

    @property
    def anonymity(self) -> int:
        views = zip(self.design.views, self.members, strict=True)
        return min(self._values_end // view.size * member.anonymity for view, member in views)

    @cached_property
    def report_format(self) -> ReportFormat:
        """The view, then the longest of the members' reports, as packed bits."""
        return replace(
            self._tagged.report_format,
            outcome=self._outcome,
            report=self._report,
            public_words=1 + (self.members[0].report_format.public_words if self._hides_nothing_public else 0),
        )

    @cached_property
    def _hides_nothing_public(self) -> bool:
        """Whether the public part of a report is all that a member has of it, since all have it from the same words."""
        return len({member.report_format.public_words for member in self.members}) == 1

    @property
    def tally_format(self) -> TallyFormat:
        return self._tagged.tally_format

    @cached_property
    def words(self) -> int:
        return 1 + max(member.words for member in self.members)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        digits = self.record_code.decode(values)
        for view, rows in split_tags(self.design.view_of(words[:, 0])):
            member = self.members[view]
            data = member.report_format.empty(len(rows))
            own = np.ascontiguousarray(words[rows, 1 : 1 + member.words])
            member.perturb(self.design.views[view].values(digits[rows]), own, data)
            out[rows] = self._tagged.join(view, data)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        self._tagged.count(data, state)

    def _outcome(self, report: Any) -> tuple[Any, Any]:
        view, public, outcome = self._tagged.outcome(report)
        return ((view, public), outcome) if self._hides_nothing_public else ((view, None), (public, outcome))

    def _report(self, outcome: Any, public: Any) -> Array:
        inside = (public[1], outcome) if self._hides_nothing_public else outcome
        return self._tagged.report(public[0], *inside)

    def estimate(self, tally: Tally | Reports, **options: Option) -> "Tables":  # type: ignore[override]
        """Estimate the table of every question, and of every set of questions that some view has.

        >>> oracle = Sampled(epsilon=2.0, answers=[2, 3], views=2)
        >>> tables = oracle.estimate(oracle.privatize([[0, 2]] * 600 + [[1, 0]] * 400, rng=7))
        >>> tables.n, tables[0].counts.round(), tables.cross(0, 1).counts.shape
        (1000, array([628., 372.]), (2, 3))
        """
        from fldp.oracles.sampled.tables import Tables

        check_options(self, options)
        return Tables.of(self, self._as_tally(tally))

    def among(self, records: object) -> AmongRecords:
        """Return this oracle over the numbers of a few records, for everything that needs a list of values.

        >>> oracle = Sampled(epsilon=1.0, answers=[2, 3], views=1)
        >>> oracle.among([[0, 0], [1, 2]]).chosen
        (0, 5)
        """
        return AmongRecords(self.epsilon, base=self, chosen=tuple(self._as_values(records).tolist()))


def _drawn(member: FrequencyOracle, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw the state of a member: from its law where that is known, else by privatizing everybody."""
    drawn = member.estimator.draw_state(counts, generator)
    if drawn is not None:
        return drawn
    if not counts.sum():
        return member.tally_format.zeros()
    stream, state = Stream(int(generator.integers(1 << 62))), member.tally_format.zeros()
    people = np.repeat(np.arange(len(counts)), counts)
    for start in range(0, len(people), _CHUNK):
        member.count(member.privatize(people[start : start + _CHUNK], rng=stream).data, state)
    return state


def of_questions(who: str, oracle: Oracle) -> Sampled:
    """Return an oracle of several questions; raise ``ParameterError`` if it is another one."""
    if not isinstance(oracle, Sampled):
        raise fail(who, "the oracle", f"{Sampled.name!r}, which asks several questions", oracle)
    return oracle
