"""FrequencyOracle: the one abstraction. Parameters and nothing else; logic here, data in Reports and Tally."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fldp.constraints import Constraint, integer, one_of, positive
from fldp.errors import DomainError, MergeError, ParameterError
from fldp.estimate import Estimate
from fldp.reports import Array, Reports, Tally
from fldp.stream import Stream, Words
from fldp.values import Values, as_values

if TYPE_CHECKING:
    from fldp.profile import Profile

_SCRATCH = 1 << 16  # words drawn at a time: 512 KiB, so that they are still in the cache when they are used
_MOST_OUTCOMES = 1 << 20
MOST_VALUES = 2**31 - 1

Floats = NDArray[np.float64]
Law = dict[Any, Fraction]


@dataclass(frozen=True, repr=False)
class FrequencyOracle(ABC):
    """A frequency oracle: privatizes values on the client, tallies and estimates on the server.

    A concrete oracle is a frozen dataclass of its parameters. It declares ``name`` (its identifier on the wire,
    never reused), ``params`` (a constraint for each parameter), the form of a report and of a tally, and the
    methods ``perturb``, ``count``, ``check``, ``decode``, ``variance``, ``law``, ``outcome`` and ``report``.
    CONTRIBUTING shows how. What stands below the line of dashes in this class is the same for all.
    """

    epsilon: float
    domain_size: int

    name: ClassVar[str]
    params: ClassVar[Mapping[str, Constraint]] = {"epsilon": positive, "domain_size": integer(2, MOST_VALUES)}

    decoders: ClassVar[tuple[str, ...]] = ()  # unbiased ways to decode the same reports, the default first
    methods: ClassVar[tuple[str, ...]] = ("linear",)  # ways to estimate; all but the first are biased

    @property
    @abstractmethod
    def report_dtype(self) -> Any:
        """The NumPy type of a report in memory."""

    @property
    @abstractmethod
    def words(self) -> int:
        """The number of random words that one report takes, always."""

    @property
    @abstractmethod
    def field_bits(self) -> tuple[int, ...]:
        """The number of bits that each number of a report takes on the wire, in their order in memory."""

    @property
    @abstractmethod
    def tally_shape(self) -> tuple[int, ...]:
        """The shape of a tally's state."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """The number of different reports, given the public randomness."""

    @abstractmethod
    def perturb(self, values: Values, words: Words, out: Array) -> None:
        """Write the report of each value, a pure function of the value and its row of ``words``, into ``out``.

        Pre-conditions: values are ``int64`` and in the domain, all three arrays are contiguous.
        """

    @abstractmethod
    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        """Add reports into the state of a tally."""

    @abstractmethod
    def check(self, data: Array) -> NDArray[np.bool_]:
        """Tell for each report, of the right type and shape already, whether this oracle can produce it."""

    def check_state(self, state: NDArray[np.int64], n: int) -> bool:
        """Tell whether the state of a tally can come from ``n`` reports, as far as its sums show."""
        del state, n
        return True

    @abstractmethod
    def decode(self, tally: Tally, **options: Any) -> Floats:
        """Return unbiased counts of all values."""

    @abstractmethod
    def variance(self, n: int, count: Any, **options: Any) -> Any:
        """Return the exact variance of the estimated count of a value that ``count`` of ``n`` users hold.

        Given the counts of all values at once, it returns all their variances.
        """

    @abstractmethod
    def law(self, value: int, public: Any = None) -> Law:
        """Return the exact probability of every outcome that the code gives for a value.

        Exact means the integers that the code compares with, as rationals. Where a report carries public
        randomness (a hash seed), the law is conditional on ``public``. For small domains.
        """

    @abstractmethod
    def outcome(self, report: Any) -> tuple[Any, Any]:
        """Split one row of report data into its public randomness (or None) and its outcome, as in ``law``."""

    @abstractmethod
    def report(self, outcome: Any, public: Any = None) -> Array:
        """Return the row of report data that ``outcome`` splits: the inverse of ``outcome``."""

    # ----------------------------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = self.params[field.name](self.title, field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    def __reduce__(self) -> Any:
        """Pickle the parameters and nothing that was computed from them."""
        return _rebuild, (type(self), {field.name: getattr(self, field.name) for field in dataclasses.fields(self)})

    def __repr__(self) -> str:
        return f"{self.title}({', '.join(f'{name}={value!r}' for name, value in self.parameters.items())})"

    @property
    def title(self) -> str:
        """The name that messages use."""
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that make this oracle what it is; those at their default are left out.

        >>> import fldp
        >>> fldp.GRR(epsilon=1.0, domain_size=5).parameters
        {'epsilon': 1.0, 'domain_size': 5}
        """
        every = ((field, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {field.name: _plain(value) for field, value in every if value != field.default}

    @property
    def eta(self) -> Fraction:
        """The least share of one value's reports that any other value can also produce; 1 is ordinary LDP."""
        return Fraction(1)

    @property
    def anonymity(self) -> int:
        """The least number of values that a single report leaves possible."""
        return self.domain_size

    @property
    def report_bits(self) -> int:
        """The number of bits of one report on the wire."""
        return sum(self.field_bits)

    @property
    def server_work(self) -> str:
        """How the work of tallying and estimating grows with ``n`` reports over ``d`` values."""
        return "not stated"

    @property
    def report_shape(self) -> tuple[int, ...]:
        """The shape of one report in memory."""
        return ()

    def privatize(self, values: Any, *, rng: int | Stream | None = None) -> Reports:
        """Perturb values, on the side of those who hold them: one value, a list, an array, a Series.

        ``rng=None`` draws from the operating system. A seed makes the noise predictable: **experiments only**,
        since whoever knows it can undo the noise.

        >>> import fldp
        >>> fldp.GRR(epsilon=1.0, domain_size=5).privatize([0, 1, 4])
        <3 reports of GRR(epsilon=1.0, domain_size=5)>
        """
        checked = as_values(self.title, values, self.domain_size)
        stream = Stream.of(rng)
        data = np.empty((len(checked), *self.report_shape), self.report_dtype)
        rows = max(1, min(_SCRATCH // self.words, len(checked)))
        scratch = np.empty((rows, self.words), np.uint64)
        for start in range(0, len(checked), rows):
            part = slice(start, min(start + rows, len(checked)))
            words = scratch[: part.stop - start]
            stream.fill(words)
            mine = checked[part].astype(np.int64)  # a copy that nobody can change between the check and the use
            if mine.min() < 0 or mine.max() >= self.domain_size:
                raise DomainError(f"{self.title}: values changed while they were privatized")
            self.perturb(mine, words, data[part])
        return Reports.trusted(self, data)

    def tally(self, reports: Any) -> Tally:
        """Add reports up, on the server.

        >>> import fldp
        >>> oracle = fldp.GRR(epsilon=1.0, domain_size=5)
        >>> oracle.tally(oracle.privatize([0, 1, 4])).n
        3
        """
        if not isinstance(reports, Reports):
            reports = Reports(self, reports)
        if reports.oracle != self:
            raise MergeError(f"{self.title}: reports must be of {self!r}, got {reports.oracle!r}")
        state = np.zeros(self.tally_shape, np.int64)
        if len(reports):
            self.count(reports.data, state)
        return Tally(self, state, len(reports))

    def estimate(self, tally: Tally | Reports, *, method: str = "linear", **options: Any) -> Estimate:
        """Estimate how many users hold each value, unbiased, with standard errors.

        Oracles with several ``decoders`` take ``decoder=``, those with several ``methods`` take ``method=``. All
        methods but ``"linear"`` are biased and keep the unbiased estimate in ``original``; ``"em"`` needs the reports.

        >>> import fldp
        >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
        >>> oracle.estimate(fldp.Tally(oracle, [50, 30, 20], 100))
        <estimate of 3 values from 100 reports of GRR(epsilon=1.0, domain_size=3)>
        """
        one_of(*self.methods)(self.title, "method", method)
        if method != "linear":
            from fldp.methods import estimate_by

            return estimate_by(method, self, tally, options)
        if isinstance(tally, Reports):
            tally = self.tally(tally)
        if not isinstance(tally, Tally):
            raise DomainError(f"{self.title}: an estimate needs a tally or reports, got {type(tally).__name__}")
        if tally.oracle != self:
            raise MergeError(f"{self.title}: the tally must be of {self!r}, got {tally.oracle!r}")
        if tally.n == 0:
            raise DomainError(f"{self.title}: an estimate needs at least one report, got an empty tally")
        self.check_options(options)
        counts, totals = self.decode(tally, **options), self.totals(tally)
        stderr = np.sqrt(self.variances(counts, totals, **options))
        return Estimate(self, counts, stderr, tally.n, options, totals=totals)

    @property
    def runs(self) -> tuple[slice, ...]:
        """The runs of values of which a tally knows exactly how many users hold any: that of all values."""
        return (slice(0, self.domain_size),)

    def totals(self, tally: Tally) -> tuple[int, ...]:
        """Return how many users hold any value of each run."""
        return (tally.n,)

    def variances(self, counts: Floats, totals: tuple[int, ...], **options: Any) -> Floats:
        """Return the variances of the estimates of all values, given counts, or estimates of them, and exact totals."""
        return np.asarray(self.variance(totals[0], np.clip(counts, 0, totals[0]), **options))

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **options: Any) -> float:
        """Return what the covariances add to the variance of a sum of estimates: 0 where there are none."""
        del n, counts, members, options
        return 0.0

    def draw_state(self, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64] | None:
        """Draw the state of a tally from its joint law, given how many users hold each value; None if not known."""
        del counts, generator
        return None

    def profile(self, value: int = 0, other: int = 1) -> "Profile | None":
        """Return how the reports of a value look under another one, in closed form; None if there is none.

        It is for domains on which the law is too large to enumerate.
        """
        del value, other
        return None

    def sample_values(self, start: int, stop: int) -> list[int]:
        """Return a few values of a range among which there are pairs of every kind that ``profile`` knows."""
        return list(range(start, min(start + 2, stop)))

    def overlaps(self) -> dict[Fraction, Fraction] | None:
        """Return how often two different values share how much of their reports; None if there is no closed form."""
        profile = self.profile()
        return {profile.shared_mass: Fraction(1)} if profile else None

    def publics(self) -> Iterable[Any]:
        """Return draws of the public randomness for the verifier to go through; None where there is none."""
        return (None,)

    @property
    def publics_are_all(self) -> bool:
        """Whether ``publics`` goes through all public randomness, every draw as likely as any other."""
        return list(self.publics()) == [None]

    @property
    def public_words(self) -> int:
        """How many of a report's words, the first ones, decide its public part and nothing else."""
        return 0

    def resized(self, domain_size: int) -> "FrequencyOracle":
        """Return the same oracle on fewer values, exposure allowed: for the verifier."""
        permission = {"allow_exposure": True} if "allow_exposure" in self.params else {}
        return dataclasses.replace(self, domain_size=min(domain_size, self.domain_size), **permission)

    def likelihoods(self, data: Array) -> Floats:
        """Return how likely each report is under every value, a row for each report, up to a factor for each row.

        Exactly 0 where a value cannot produce the report. This one asks the law, so it is for small domains; an oracle
        with a formula has its own.

        >>> import fldp
        >>> oracle = fldp.RR(epsilon=1.0)
        >>> oracle.likelihoods(oracle.report(1)[None]).round(3)
        array([[0.368, 1.   ]])
        """
        made, known, laws = np.empty((len(data), self.domain_size)), object(), list[Law]()
        for row, report in zip(made, data, strict=True):
            public, outcome = self.outcome(report)
            if public != known:
                known, laws = public, [self.law(value, public) for value in range(self.domain_size)]
            row[:] = [law.get(outcome, 0) for law in laws]
        return made

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse options of ``estimate`` that this oracle does not have."""
        for name, value in options.items():
            if name != "decoder" or not self.decoders:
                raise ParameterError(f"{self.title}: estimate has no option {name!r}")
            one_of(*self.decoders)(self.title, name, value)

    def check_data(self, data: Any) -> Array:
        """Return report data from outside as an array that is safe to tally, or say what is wrong with it."""
        array = np.asarray(data)
        dtype, wanted = np.dtype(self.report_dtype), ", ".join(map(str, ("users", *self.report_shape)))
        if array.dtype != dtype or array.shape[1:] != self.report_shape or array.ndim == 0:
            raise DomainError(
                f"{self.title}: reports must be {dtype} of shape ({wanted}), got {array.dtype} of shape {array.shape}"
            )
        good = self.check(array)
        if not good.all():
            position = int(np.flatnonzero(~good)[0])
            error = DomainError(
                f"{self.title}: reports must be ones that {self!r} can produce, "
                f"got {_one_line(array[position])} at position {position}"
            )
            error.index = position
            raise error
        return array

    def check_enumerable(self, value: int = 0) -> None:
        """Refuse to enumerate a law that is too large, or that of something that is not a value."""
        as_values(self.title, value, self.domain_size)
        if self.outcomes * self.domain_size > _MOST_OUTCOMES:
            raise ParameterError(
                f"{self.title}: a law is enumerated for small domains only, domain_size must be smaller than "
                f"{self.domain_size} (2^{self.outcomes.bit_length() - 1} outcomes a value)"
            )


def _plain(value: Any) -> Any:
    """Return a parameter as JSON has it."""
    if isinstance(value, tuple):
        return list(value)
    return float(value) if isinstance(value, Fraction) else value


def _one_line(report: Any) -> str:
    """Return the beginning of a report as text: NumPy breaks a wide one into lines."""
    text = " ".join(str(report).split())
    return text if len(text) <= 80 else f"{text[:76]} ..."


def _rebuild(cls: type[FrequencyOracle], fields: dict[str, Any]) -> FrequencyOracle:
    return cls(**fields)


def symbol_dtype(count: int) -> np.dtype[Any]:
    """Return the smallest unsigned type that holds the numbers below ``count``.

    >>> symbol_dtype(256), symbol_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(count - 1)
