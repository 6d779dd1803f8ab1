"""Count-mean sketches (CMS, HCMS): hash the string to a bucket, then apply an oracle over the buckets.

A sketch has ``hashes`` public hash functions into ``width`` buckets, the same for all users. A user draws one of them,
says which, and reports the bucket of their string through an ordinary oracle over the buckets. The server has a
tally of that oracle for every hash function. A candidate's buckets collect its own users and, by collision, an expected
share ``1/width`` of the others, which is subtracted.

**What is random.** Given the hash functions, the strings that collide with a candidate are fixed, and so is the error
that they cause. The estimate is unbiased, and the variance is exact, over all three together: the noise, the users'
choice of a hash function, and the hash functions, taken as ideal and drawn without regard to the strings
(``hash_seed``). ``docs/strings.md`` derives both.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Option
from fldp.data.fingerprints import Fingerprints
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Tally
from fldp.data.values import Values
from fldp.errors import ParameterError
from fldp.numerics.bounded_laws import Bounded
from fldp.numerics.kernels import U64, Kernel
from fldp.numerics.types import Counts, Floats
from fldp.numerics.word_kernels import keyed_hash, multiply_high
from fldp.oracles.base import bit_reports
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.string_oracle import Fit, StringEstimator, StringOracle
from fldp.oracles.base.symbol_reports import symbol_dtype
from fldp.oracles.flexible.fwr import HRR
from fldp.oracles.plain.olh import hash_symbols
from fldp.oracles.plain.unary import SUE
from fldp.randomness.stream import Words
from fldp.responder.symbol_responses import power_of_two
from fldp.support.validation import Constraint, Described, fail, integer, positive

MAX_SEED = 2**53 - 1  # what JSON and JavaScript hold exactly
HASHES_HELP = "the number of hash functions"
HASH_SEED = Described(integer(0, MAX_SEED), "which hash functions")
MAX_CELLS = 1 << 24

Fields = tuple[tuple[int, int], ...]


@Kernel
def buckets_of(mark: Any, seeds: Any, width: Any, out: Any) -> None:
    """Hash one fingerprint under every seed to a bucket."""
    for j in range(len(seeds)):
        out[j] = multiply_high(keyed_hash(seeds[j], mark), width)


@Kernel
def gather(table: Any, seeds: Any, marks: Any, width: Any, out: Any) -> None:
    """Sum, for every fingerprint, the table entries of its bucket under every seed."""
    for c in range(len(marks)):
        mark, total = U64(marks[c]), 0.0
        for j in range(len(seeds)):
            total += table[j, multiply_high(keyed_hash(seeds[j], mark), width)]
        out[c] = total


SKETCH_PARAMS: dict[str, Constraint] = {
    "epsilon": positive,
    "hashes": Described(power_of_two, HASHES_HELP),
    "width": Described(power_of_two, "buckets of each, 2, 4, 8, ..."),
    "hash_seed": HASH_SEED,
}


@dataclass(frozen=True, eq=False)
class Sketch(ABC):
    """A hash function that a report names, and a response over its buckets: the mechanism of a count-mean sketch.

    A tally has a row for each hash function: the number of reports, then their tally.
    """

    hashes: int
    width: int
    hash_seed: int
    response: FrequencyOracle

    @property
    @abstractmethod
    def report_format(self) -> ReportFormat:
        """The layout of a report."""

    @abstractmethod
    def join(self, rows: NDArray[np.int64], data: Array, out: Array) -> None:
        """Write reports that name a hash function each, from reports over its buckets."""

    @abstractmethod
    def split(self, data: Array) -> tuple[NDArray[np.int64], Array]:
        """Return the hash functions that reports name, and the reports over their buckets."""

    @abstractmethod
    def possible(self, counts: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each hash function whether ``counts`` reports can add up to these cells, as far as sums show."""

    @abstractmethod
    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        """Add reports into the state of a tally."""

    @cached_property
    def seeds(self) -> Words:
        """The seed of every hash function: output number ``j`` of SplitMix64 started at ``hash_seed``."""
        with np.errstate(over="ignore"):
            return np.asarray(keyed_hash(U64(self.hash_seed), np.arange(self.hashes, dtype=np.uint64)))

    def buckets(self, mark: int) -> NDArray[np.int64]:
        """Return the bucket of a fingerprint under every hash function.

        >>> CMS(epsilon=1.0, hashes=4, width=8)._sketch.buckets(7)
        array([...])
        """
        out = np.empty(self.hashes, np.int64)
        buckets_of.over(self.hashes)(U64(mark), self.seeds, U64(self.width), out)
        return out

    @property
    def words(self) -> int:
        return 1 + self.response.words

    @property
    def _hash_bits(self) -> int:
        return self.hashes.bit_length() - 1

    @cached_property
    def tally_format(self) -> TallyFormat:
        return TallyFormat((self.hashes, 1 + self.response.tally_format.cells), self._adds_up)

    def _format(self, dtype: np.dtype[Any], fields: Fields, **others: Any) -> ReportFormat:
        """Return the format of reports that name a hash function and have these fields for their response."""
        fields += self.response.report_format.fields
        return ReportFormat(dtype, fields, self._check, self._outcome, self._report, **others)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        rows = (words[:, 0] & U64(self.hashes - 1)).astype(np.int64)
        hashed = np.empty(len(values), np.int64)
        hash_symbols.over(len(values))(values, self.seeds[rows], U64(self.width), hashed)
        data = self.response.report_format.empty(len(values))
        self.response.perturb(hashed, np.ascontiguousarray(words[:, 1:]), data)
        self.join(rows, data, out)

    def _check(self, data: Array) -> NDArray[np.bool_]:
        rows, responses = self.split(data)
        return np.asarray((rows < self.hashes) & self.response.report_format.check(responses))

    def _adds_up(self, state: NDArray[np.int64], n: int) -> bool:
        counts = state[:, 0]
        return bool(counts.min() >= 0 and int(counts.sum()) == n and self.possible(counts, state[:, 1:]).all())

    def _outcome(self, report: Any) -> tuple[Any, Any]:
        rows, responses = self.split(report[None])
        drawn, outcome = self.response.report_format.outcome(responses[0])
        return (int(rows[0]), drawn), outcome

    def _report(self, outcome: Any, public: Any = None) -> Array:
        row, drawn = public
        out = self.report_format.empty(1)
        self.join(np.array([row]), self.response.report_format.report(outcome, drawn)[None], out)
        return out[0]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class BitSketch(Sketch):
    """A sketch whose response is a row of bits; the hash function stands before them."""

    @property
    def _header(self) -> int:
        """The number of bytes that name the hash function."""
        return bit_reports.header(self.hashes)

    @cached_property
    def report_format(self) -> ReportFormat:
        """No words are public: the best fake is worth the same under every hash function."""
        response = self.response.report_format
        shape = (self._header + response.shape[0],)
        return self._format(response.dtype, bit_reports.byte_fields(self._hash_bits), shape=shape)

    def join(self, rows: NDArray[np.int64], data: Array, out: Array) -> None:
        bit_reports.join(rows, data, out)

    def split(self, data: Array) -> tuple[NDArray[np.int64], Array]:
        return bit_reports.split(data, self._header)

    def possible(self, counts: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray((cells.min(axis=1) >= 0) & (cells.max(axis=1) <= counts))

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        bit_reports.add(*self.split(data), state)


@dataclass(frozen=True, eq=False)
class ParitySketch(Sketch):
    """A sketch whose response is a position and a parity; the hash function is a number of its own."""

    @cached_property
    def report_format(self) -> ReportFormat:
        response = self.response.report_format
        fields = ("hash", symbol_dtype(self.hashes)), ("position", response.dtype["bits"]), ("bit", np.uint8)
        words = 1 + response.public_words
        return self._format(np.dtype([*fields]), ((self._hash_bits, 1),), public_words=words)

    def join(self, rows: NDArray[np.int64], data: Array, out: Array) -> None:
        out["hash"], out["position"], out["bit"] = rows, data["mask0"], data["bits"]

    def split(self, data: Array) -> tuple[NDArray[np.int64], Array]:
        responses = self.response.report_format.empty(len(data))
        responses["mask0"], responses["bits"] = data["position"], data["bit"]
        return data["hash"].astype(np.int64), responses

    def possible(self, counts: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Every report adds a sign to one cell."""
        spare = counts - np.abs(cells).sum(axis=1)
        return np.asarray((spare >= 0) & (spare % 2 == 0))

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        rows = data["hash"].astype(np.int64)
        np.add.at(state, (rows, 1 + data["position"].astype(np.int64)), 1 - 2 * data["bit"].astype(np.int64))
        np.add.at(state[:, 0], rows, 1)


@dataclass(frozen=True, eq=False)
class SketchEstimator(StringEstimator):
    """Estimates from the buckets of candidates under every hash function, less the expected collisions."""

    sketch: Sketch

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.sketch.hashes, self.sketch.width

    def fit(self, tally: Tally, marks: Fingerprints, **options: Option) -> Fit:
        del options
        rows = ((row[0], row[1:].reshape(self.sketch.response.tally_format.shape)) for row in tally.state)
        table = np.array(
            [self.sketch.response.estimator.decode(Tally(self.sketch.response, part, count)) for count, part in rows]
        )
        sums, m = np.empty(len(marks)), self.sketch.width
        gather.over(len(marks))(table, self.sketch.seeds, marks, U64(m), sums)
        counts = (sums - tally.n / m) * (m / (m - 1))
        return Fit(counts, {"squares": self._squares(tally.n, float((table**2).sum()))})

    def _squares(self, n: int, cells: float) -> float:
        """Return the sum of the squared counts of all strings, estimated from the sum of the squared cells.

        Every cell is unbiased for a share of its bucket's users. The bias of its square is the variance of the cell,
        which is known; the bias of a bucket's square is collisions, on average ``1/m`` of all pairs.
        """
        k, m = self._sizes
        own, other = self._noise
        buckets = k * (cells - n * (own + 1 + (m - 1) * other - 1 / k))
        return float(np.clip((buckets - n**2 / m) * m / (m - 1), n, n**2))

    @cached_property
    def _noise(self) -> tuple[float, float]:
        """The variances that one report adds to the estimates of its own bucket and of another one."""
        return float(self.sketch.response.variance(1, 1.0)), float(self.sketch.response.variance(1, 0.0))

    def evidence(self, n: int, counts: Floats, **context: Option) -> Bounded:
        """A collision with a frequent string moves an estimate by all its users under one hash function."""
        known = super().evidence(n, counts, **context)
        (own, _), (k, m) = self._noise, self._sizes
        collision = math.sqrt(float(context.get("squares", n**2))) / k
        return replace(known, jump=m / (m - 1) * max(collision, math.sqrt(own + 1)))

    def collisions(self, n: int, counts: Floats, **context: Option) -> tuple[bytes, Floats]:
        """Given the functions, a string errs by its collisions in every tally: ``docs/strings.md``."""
        k, m = self._sizes
        others = np.maximum(float(context.get("squares", n**2)) - np.clip(counts, 0, n) ** 2, 0)
        return self.sketch.seeds.tobytes() + m.to_bytes(8), others / (k * (m - 1))

    def variance(self, n: int, count: Counts, **context: Option) -> float | Floats:
        """Noise of own users, noise and collisions of others, and what the collisions share: ``docs/strings.md``."""
        counts = np.asarray(count, np.float64)
        every = np.sum(counts**2) if counts.ndim else counts**2 + (n - counts) ** 2
        squares = float(context.get("squares", every))
        (own, other), (k, m) = self._noise, self._sizes
        others, other_squares = n - counts, np.maximum(squares - counts**2, 0)
        collisions = (m - 1) / m**2 * (others + (other_squares - others) / k)
        inside = counts * own + others * (own + (m - 1) * other) / m + np.maximum(collisions, 0)
        return (m / (m - 1)) ** 2 * inside

    def covariance_of_sum(self, n: int, counts: Floats, members: NDArray[np.bool_], **context: Option) -> float:
        """Candidates that share a bucket share its noise, and collide with each other."""
        del context
        (own, other), (k, m) = self._noise, self._sizes
        size, total, squares = int(members.sum()), counts[members].sum(), (counts[members] ** 2).sum()
        near = 2 * (size - 1) * total  # over ordered pairs, the users of the two
        far = size * (size - 1) * n - near
        noise = near * own / m + far * (own + (m - 1) * other) / m**2
        both = (total**2 - squares) * (m - 1) / (k * m**2)
        return float((m / (m - 1)) ** 2 * (noise + both))


def check_sketch(oracle: "CMS | HCMS") -> None:
    """Check the parameters of a sketch against each other."""
    if oracle.width < 2:
        raise fail(oracle.title, "width", "at least 2", oracle.width)
    if oracle.hashes * oracle.width > MAX_CELLS:
        raise fail(oracle.title, "hashes", f"at most {MAX_CELLS} divided by width", oracle.hashes)
    try:
        _ = oracle.report_format  # whose mechanism builds the coins of the response
    except ParameterError as error:
        raise ParameterError(f"{oracle.title}: {str(error).partition(': ')[2]}") from None


@dataclass(frozen=True, repr=False)
class CMS(StringOracle):
    """Private count-mean sketch: the bucket as a bit among ``width``, every bit flipped alike (``SUE``).

    A bit is flipped with probability ``1/(e^(eps/2)+1)``. The hash function that a report names is drawn without regard
    to the string, and given it, two strings differ in two bits or in none, so the report is eps-LDP. The state of a
    tally is ``hashes`` rows of ``1 + width`` numbers: ``docs/strings.md`` says how to choose the two.

    Apple's Differential Privacy Team: Learning with privacy at scale, 2017.

    Report: *strings:* a hash function and bits | 1,034 (its defaults)
    Fields: the number of the hash function: ``log2 hashes``; ``width`` bits, bucket 0 first
    Words: 1 + the words of SUE on ``width`` values | the hash function from word 0; then SUE on its buckets
    Best fake: any hash function, and the bits of all buckets of targets, filled up | ``r ((1 - q)/(p - q) - 1/m)
      m/(m-1)``, of ``m`` buckets

    >>> oracle = CMS(epsilon=4.0)
    >>> oracle.report_format.bits, oracle.tally_format.shape
    (1034, (1024, 1025))
    >>> reports = oracle.privatize(["chrome"] * 9000 + ["firefox"] * 1000, rng=7)
    >>> oracle.estimate(reports, candidates=["chrome", "firefox"]).counts.round(-3)
    array([9000., 1000.])
    """

    hashes: int = 1024
    width: int = 1024
    hash_seed: int = 0

    examples = ((4.0, 4, 16), (1.0, 512, 2), (2.0, 1, 64), (0.5, 2, 128, 2**53 - 1))
    name = "cms"
    params = SKETCH_PARAMS

    def _settle_parameters(self) -> None:
        check_sketch(self)

    @cached_property
    def _sketch(self) -> BitSketch:
        """The mechanism."""
        return BitSketch(self.hashes, self.width, self.hash_seed, SUE(self.epsilon, self.width))

    @property
    def _mechanism(self) -> BitSketch:
        return self._sketch

    @cached_property
    def estimator(self) -> SketchEstimator:
        return SketchEstimator(self._sketch)


@dataclass(frozen=True, repr=False)
class HCMS(StringOracle):
    """Hadamard count-mean sketch: one bit of the Hadamard transform of the bucket, through a coin (``HRR``).

    A report names its hash function and a position, both drawn without regard to the string, and one bit, the parity
    of bucket and position, which is flipped with probability ``1/(e^eps+1)``: eps-LDP. Reports are tiny. The error
    exceeds CMS's, slightly for small eps; for large eps it stays at the error of one exact bit.

    Apple's Differential Privacy Team: Learning with privacy at scale, 2017.

    Report: *strings:* a hash function, a position and one bit | 21 (its defaults)
    Fields: the number of the hash function: ``log2 hashes``; the position: ``log2 width``; the bit: 1
    Words: 3 | the hash function from word 0; then HRR on its buckets
    Best fake: any hash function, a position under which all buckets of targets have one parity (0 always is one),
      and that parity | ``r (c - 1/m) m/(m-1)``, ``c = 1/(2p - 1)``

    >>> oracle = HCMS(epsilon=4.0)
    >>> oracle.report_format.bits, oracle.tally_format.shape
    (21, (1024, 1025))
    >>> reports = oracle.privatize(["chrome"] * 9000 + ["firefox"] * 1000, rng=7)
    >>> oracle.estimate(reports, candidates=["chrome", "firefox"]).counts.round(-3)
    array([9000., 1000.])
    """

    hashes: int = 1024
    width: int = 1024
    hash_seed: int = 0

    examples = ((4.0, 4, 16), (1.0, 512, 2), (2.0, 1, 64), (0.5, 2, 512, 2**53 - 1))
    name = "hcms"
    params = SKETCH_PARAMS

    def _settle_parameters(self) -> None:
        check_sketch(self)

    @cached_property
    def _sketch(self) -> ParitySketch:
        """The mechanism."""
        return ParitySketch(self.hashes, self.width, self.hash_seed, HRR(self.epsilon, self.width))

    @property
    def _mechanism(self) -> ParitySketch:
        return self._sketch

    @cached_property
    def estimator(self) -> SketchEstimator:
        return SketchEstimator(self._sketch)
