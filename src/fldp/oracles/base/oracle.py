"""Oracle: the interface that all frequency oracles share, over listed values and over strings."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate, Option
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Reports, Tally
from fldp.data.values import Values
from fldp.errors import DomainError, MergeError, ParameterError
from fldp.numerics.kernels import pays
from fldp.oracles.base.estimator import Options
from fldp.oracles.base.memoization import Memoization
from fldp.oracles.base.moved_members import adapt, moved
from fldp.randomness.stream import Stream, Words
from fldp.responder.registry import names as response_names
from fldp.responder.registry import response
from fldp.responder.response import Report, Response
from fldp.support.canonical_json import Json
from fldp.support.display import Displayed
from fldp.support.validation import Constraint, one_of

_ONE_BY_ONE = 1 << 17  # at most so many words of reports are drawn one by one, without loading Numba
_AT_ONCE = 1 << 17  # values that a sampler gets at once
Public = Any  # the public randomness of a report, as its format's ``outcome`` returns it
Outcome = Any  # the rest of the report: a key of the law
Law = dict[Outcome, Fraction]


class Mechanism(Protocol):
    """How values become reports, and reports a tally. ``Oracle`` documents the members."""

    @property
    def report_format(self) -> ReportFormat: ...
    @property
    def tally_format(self) -> TallyFormat: ...
    @property
    def words(self) -> int: ...
    def perturb(self, values: Values, words: Words, out: Array) -> None: ...
    def count(self, data: Array, state: NDArray[np.int64]) -> None: ...


Sampler = Callable[[Values, Stream, Array], None]


@dataclass(frozen=True, repr=False)
class Oracle(ABC):
    """A frequency oracle: privatizes values on the client, tallies reports on the server, estimates counts.

    A concrete oracle is a frozen dataclass of its parameters and holds no data. It declares ``name`` (its identifier on
    the wire, never reused), ``params`` (a constraint for each parameter), the formats of reports and tallies, and the
    methods ``perturb`` and ``count``. Concrete oracles rarely override the members below the line of dashes.
    CONTRIBUTING has a complete example. Verifiers, attacks and planners ask its companion instead
    (``fldp.oracles.base.analysis``).

    Inside an oracle a value is an integer: its number where values can be listed (``FrequencyOracle``), its fingerprint
    where they are strings (``StringOracle``). Those two classes know how to estimate.
    """

    epsilon: float

    name: ClassVar[str]
    params: ClassVar[Mapping[str, Constraint]]

    @property
    def report_format(self) -> ReportFormat:
        """The layout of a report, and the check that a report is possible."""
        return self._mechanism.report_format

    @property
    def tally_format(self) -> TallyFormat:
        """The layout of a tally's state."""
        return self._mechanism.tally_format

    @property
    def words(self) -> int:
        """The number of random words that each report consumes."""
        return self._mechanism.words

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        """Write the report of each value, a pure function of the value and its row of ``words``, into ``out``.

        Pre-conditions: values are ``int64`` and in the domain, all three arrays are contiguous.
        """
        self._mechanism.perturb(values, words, out)

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        """Add reports into the state of a tally."""
        self._mechanism.count(data, state)

    @property
    def memoization(self) -> Memoization | None:
        """The stage that people draw once and store, and how reports follow from it; None if there is only one."""
        return None

    @property
    def _mechanism(self) -> Mechanism:
        """The object that defines the five members above, for oracles that share a mechanism."""
        raise NotImplementedError(
            f"{self.title}: define report_format, tally_format, words, perturb and count, or _mechanism, which has them"
        )

    @property
    @abstractmethod
    def _values_end(self) -> int:
        """The number of possible values: as integers they lie in ``[0, _values_end)``."""

    @abstractmethod
    def _as_values(self, values: object) -> Values:
        """Coerce a caller's values to an array of integers; raise ``DomainError`` if one is not in the domain."""

    # ----------------------------------------------------------------------------------------------------------

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        adapt(cls)

    if not TYPE_CHECKING:  # otherwise every attribute would exist

        def __getattr__(self, name: str) -> object:
            return moved(self, name)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = self.params[field.name](self.title, field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        self._settle_parameters()
        # Build the coins now, so that an epsilon that 64-bit thresholds cannot realise is refused at once.
        for name in ("coin", "coins", "_coins"):
            if hasattr(type(self), name):
                getattr(self, name)

    def _settle_parameters(self) -> None:
        """Check parameters against each other, after each has passed its own constraint, and fill in derived ones."""
        return

    def __reduce__(self) -> tuple[Callable[..., "Oracle"], tuple[type["Oracle"], dict[str, object]]]:
        """Pickle the parameters alone, without cached properties."""
        return _rebuild, (type(self), {field.name: getattr(self, field.name) for field in dataclasses.fields(self)})

    __str__ = Displayed.__str__
    _repr_html_ = Displayed._repr_html_

    def __repr__(self) -> str:
        return f"{self.title}({', '.join(f'{name}={value!r}' for name, value in self.parameters.items())})"

    @property
    def title(self) -> str:
        """The oracle's name in messages."""
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, Json]:
        """The parameters as JSON values, without those at their default.

        >>> import fldp
        >>> fldp.GRR(epsilon=1.0, domain_size=5).parameters
        {'epsilon': 1.0, 'domain_size': 5}
        """
        every = ((field, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {field.name: _plain(value) for field, value in every if value != field.default}

    @property
    def eta(self) -> Fraction:
        """The least share of one value's reports that any other value can also produce; 1 is plain LDP."""
        return Fraction(1)

    @property
    def anonymity(self) -> int:
        """The least number of values that a single report leaves possible."""
        return self._values_end

    def privatize(self, values: object, *, rng: int | Stream | None = None) -> Reports:
        """Perturb values on the client: one value, a list, an array or a Series.

        ``rng=None`` draws from the operating system. A seed makes the noise predictable: **experiments only**,
        because whoever knows the seed can undo the noise. ``fldp.Responder`` privatizes one value after the other.

        >>> import fldp
        >>> fldp.GRR(epsilon=1.0, domain_size=5).privatize([0, 1, 4])
        <3 reports of GRR(epsilon=1.0, domain_size=5)>
        """
        if rng is None and type(values) is int and self._response and 0 <= values < self._response.size:
            return self._answered(self._response.draw(values))
        checked = self._as_values(values)
        sampler = self._sampler(len(checked)) if rng is None and self._is_ours and len(checked) > 1 else None
        if rng is None and self._response and not sampler and self._is_few(len(checked)):
            return self._answered(*map(self._response.draw, self._unchanged(checked).tolist()))
        data = self.report_format.empty(len(checked))
        if sampler:
            stream = Stream()
            for part in (slice(start, start + _AT_ONCE) for start in range(0, len(checked), _AT_ONCE)):
                sampler(self._unchanged(checked[part]), stream, data[part])
            return Reports.trusted(self, data)
        for part, words in Stream.of(rng).chunks(len(checked), self.words):
            self.perturb(self._unchanged(checked[part]), words, data[part])
        return Reports.trusted(self, data)

    def _sampler(self, users: int) -> Sampler | None:
        """Return a faster way to draw this many reports when no words are given; None if there is none.

        It takes values, a stream and the reports to overwrite, and draws fewer words than ``perturb``.
        """
        del users
        return None

    def _unchanged(self, checked: Values) -> Values:
        """Copy values that were checked, and check the copy: the caller may have changed them meanwhile."""
        copy = checked.astype(np.int64)
        if copy.min() < 0 or copy.max() >= self._values_end:
            raise DomainError(f"{self.title}: values changed while they were privatized")
        return copy

    def _is_few(self, users: int) -> bool:
        """Whether reports are drawn one by one: one always, more if that takes less time than loading Numba."""
        return users == 1 or not pays(users * self.words, most=_ONE_BY_ONE)

    @cached_property
    def _response(self) -> Response | None:
        """The response that draws single reports in plain Python; None if this oracle has none."""
        return response(self.name, self.parameters) if self._is_ours and self.name in response_names() else None

    @property
    def _is_ours(self) -> bool:
        """Whether this package defines the class itself: a subclass may perturb in another way."""
        return type(self).__module__.startswith("fldp.oracles.") and "name" in vars(type(self))

    def _answered(self, *reports: Report) -> Reports:
        """Collect reports that were drawn one by one; packed bits come as bytes."""
        layout = self.report_format
        rows = [np.frombuffer(report, layout.dtype) if isinstance(report, bytes) else report for report in reports]
        return Reports.trusted(self, np.array(rows, layout.dtype))

    def tally(self, reports: object) -> Tally:
        """Count reports, on the server.

        >>> import fldp
        >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
        >>> oracle.tally(oracle.privatize([0, 1, 4])).n
        3
        """
        if not isinstance(reports, Reports):
            reports = Reports(self, reports)
        if reports.oracle is not self and reports.oracle != self:
            raise MergeError(f"{self.title}: reports must be of {self!r}, got {reports.oracle!r}")
        state = self.tally_format.zeros()
        if len(reports):
            self.count(reports.data, state)
        return Tally(self, state, len(reports))

    def _as_tally(self, tally: object) -> Tally:
        """Coerce to a non-empty ``Tally`` of this oracle; ``Reports`` are tallied first."""
        if isinstance(tally, Reports):
            tally = self.tally(tally)
        if not isinstance(tally, Tally):
            raise DomainError(f"{self.title}: an estimate needs a tally or reports, got {type(tally).__name__}")
        if tally.oracle is not self and tally.oracle != self:
            raise MergeError(f"{self.title}: the tally must be of {self!r}, got {tally.oracle!r}")
        if tally.n == 0:
            raise DomainError(f"{self.title}: an estimate needs at least one report, got an empty tally")
        return tally

    @property
    @abstractmethod
    def estimator(self) -> Options:
        """The value that decodes tallies and states the variances of estimates."""

    @abstractmethod
    def estimate(self, tally: Tally | Reports, **options: Any) -> Estimate:
        """Estimate how many users hold each value, with standard errors."""


def as_oracle(subject: object) -> Oracle | None:
    """Return ``subject`` if it is an oracle, else None.

    >>> import fldp
    >>> as_oracle(fldp.RR(epsilon=1.0)), as_oracle([[0.75, 0.25], [0.25, 0.75]])
    (RR(epsilon=1.0), None)
    """
    return subject if isinstance(subject, Oracle) else None


def check_options(oracle: Oracle, options: Mapping[str, Option]) -> None:
    """Check the options of ``estimate``; raise ``ParameterError`` for one that the oracle does not have."""
    if not options:
        return
    allowed = dict(oracle.estimator.options)
    if oracle.estimator.decoders:
        allowed["decoder"] = one_of(*oracle.estimator.decoders)
    for name, value in options.items():
        if name not in allowed:
            raise ParameterError(f"{oracle.title}: estimate has no option {name!r}")
        allowed[name](oracle.title, name, value)


def _plain(value: Any) -> Any:
    """Return a parameter as a JSON value."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return float(value) if isinstance(value, Fraction) else value


def _rebuild(cls: type[Oracle], fields: dict[str, Any]) -> Oracle:
    return cls(**fields)
