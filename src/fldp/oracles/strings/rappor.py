"""RAPPOR: a Bloom filter of a string with a permanent and an instantaneous randomized response."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fldp.data.fingerprints import Fingerprints
from fldp.data.formats import ReportFormat, TallyFormat
from fldp.data.reports import Array, Reports, Tally
from fldp.data.values import Values
from fldp.numerics.kernels import U64
from fldp.numerics.word_kernels import keyed_hash, multiply_high
from fldp.oracles.base import bit_reports
from fldp.oracles.base.memoization import Kept, Memoization, check_kept
from fldp.oracles.base.string_oracle import StringOracle
from fldp.oracles.strings.bloom_fit import LeastSquares
from fldp.oracles.strings.bloom_model import CohortCounts, Design
from fldp.oracles.strings.count_mean_sketch import HASH_SEED, HASHES_HELP
from fldp.oracles.strings.rappor_kernels import choose_bits, flip_filters
from fldp.randomness.coins import log_upper
from fldp.randomness.stream import Stream, Words
from fldp.randomness.two_stage_coins import StageCoins
from fldp.responder.symbol_responses import power_of_two
from fldp.support.validation import Described, fail, fraction, integer, optional, positive

_ALL = U64(2**64 - 1)


@dataclass(frozen=True)
class CohortFilters:
    """The Bloom filters of strings, by cohort, and what reports tell about their bits."""

    title: str
    bits: int
    hashes: int
    cohorts: int
    hash_seed: int
    coins: StageCoins

    @cached_property
    def seeds(self) -> Words:
        """The seeds of the hash functions, a row for each cohort: outputs of SplitMix64 started at ``hash_seed``."""
        with np.errstate(over="ignore"):
            seeds = keyed_hash(U64(self.hash_seed), np.arange(self.cohorts * self.hashes, dtype=np.uint64))
        return np.asarray(seeds).reshape(self.cohorts, self.hashes)

    @property
    def functions(self) -> bytes:
        """The seeds of the hash functions, and the bits that they choose from."""
        return self.seeds.tobytes() + self.bits.to_bytes(8)

    def bits_of(self, marks: Fingerprints) -> NDArray[np.int16]:
        """Return the bits that fingerprints set: one for every cohort, fingerprint and hash function.

        >>> RAPPOR(epsilon=1.0, epsilon_permanent=2.0, hashes=2, cohorts=4)._filters.bits_of(np.array([7, 8])).shape
        (4, 2, 2)
        """
        with np.errstate(over="ignore"):
            hashed = keyed_hash(self.seeds[:, None, :], marks.astype(np.uint64)[None, :, None])
            return np.asarray(multiply_high(hashed, U64(self.bits)).astype(np.int16))

    def evidence(self, tally: Tally) -> CohortCounts:
        """Return the debiased count of every bit of every cohort: how many people have it set."""
        p, q = self.coins.p_star, self.coins.q_star
        people = tally.state[:, 0].astype(np.float64)
        return CohortCounts((tally.state[:, 1:] - float(p) * people[:, None]) / float(q - p), people)

    def design(self, marks: Fingerprints, *, cohorts: slice = slice(None)) -> Design:
        """Return the design matrix of candidates, for all cohorts or some."""
        p, q = self.coins.p_star, self.coins.q_star
        own, other = float(q * (1 - q) / (q - p) ** 2), float(p * (1 - p) / (q - p) ** 2)
        return Design(self.bits_of(marks)[cohorts], self.bits, self.cohorts, own, other)


@dataclass(frozen=True, eq=False)
class PermanentResponse(Memoization):
    """The two stages of RAPPOR: permanent responses, in the format of reports, and reports of them."""

    oracle: "RAPPOR"
    coins: StageCoins  # of both stages

    follows = False

    def keep(self, values: object, /, *, rng: int | Stream | None = None) -> Reports:
        """Draw the permanent responses. They are to be stored, never sent.

        >>> stages = RAPPOR(epsilon=1.0, epsilon_permanent=2.0).memoization
        >>> kept = stages.keep(["firefox"])
        >>> monday, tuesday = stages.respond(kept), stages.respond(kept)
        """
        oracle = self.oracle
        marks = oracle._as_values(values)
        data = oracle.report_format.empty(len(marks))
        for part, words in Stream.of(rng).chunks(len(marks), oracle._keep_words):
            oracle._keep(marks[part], words, data[part])
        return Reports.trusted(oracle, data)

    def respond(self, kept: Kept, values: object = None, *, rng: int | Stream | None = None) -> Reports:
        """Draw the reports of permanent responses, anew each time; they depend on no other values."""
        del values
        oracle = self.oracle
        check_kept(oracle, kept)
        data = np.empty_like(kept.data)
        for part, words in Stream.of(rng).chunks(len(kept), oracle.words - oracle._keep_words):
            oracle._respond(kept.data[part], words, data[part])
        return Reports.trusted(oracle, data)


@dataclass(frozen=True, repr=False)
class RAPPOR(StringOracle):
    """RAPPOR: a Bloom filter of a string, randomized in two stages, the first of which is drawn once and kept.

    Everybody is in one of ``cohorts`` at random, and says which. There ``hashes`` hash functions, others in each
    cohort, set bits of a filter of ``bits`` bits. The *permanent* response flips every bit with probability ``f/2``; it
    is drawn once. The *instantaneous* response reports a kept 1 as 1 with probability ``q`` and a kept 0 with
    probability ``p``; it is drawn for every report. ``privatize`` draws both, for people who report once;
    ``memoization`` has the two stages, and ``fldp.Participant`` keeps the first.

    Two promises, both of plain LDP: one report keeps ``epsilon``, and all reports together that are drawn from one
    permanent response keep ``epsilon_permanent``, however many they are. Both hold for what the code really draws
    (``memoization.coins``): ``((1-f/2)/(f/2))^(2h) <= e^epsilon_permanent`` and ``(q*(1-p*)/(p*(1-q*)))^h <=
    e^epsilon``, with ``p*`` and ``q*`` the probabilities that a bit of the filter which is 0 or 1 is reported as 1.
    ``p`` has the least error unless it is given, and ``q`` follows. ``docs/rappor.md`` has the rest.

    Erlingsson, Pihur, Korolova: RAPPOR: Randomized Aggregatable Privacy-Preserving Ordinal Response, CCS 2014.

    Report: *strings:* a cohort and a noisy Bloom filter | 134 (its defaults) | eps-LDP for one report, another eps
      for all reports of a person
    Fields: the cohort: ``log2 cohorts``; ``bits`` bits, the first one first
    Words: 1 + 2 x planes x ceil(bits/64) | the cohort from word 0; then planes as for OUE, for what is kept and
      again for what is reported
    Best fake: a cohort, and every bit that has a positive weight there in the fit of the candidates; neither stage
      of noise | the largest sum of these weights, over the cohorts

    >>> oracle = RAPPOR(epsilon=1.0, epsilon_permanent=2.0)
    >>> reports = oracle.privatize(["firefox"] * 7000 + ["chrome"] * 3000, rng=7)
    >>> estimate = oracle.estimate(reports, candidates=["firefox", "chrome", "safari"])
    >>> estimate.counts.round(), estimate.stderr.round(), estimate.rest
    (...)
    """

    epsilon_permanent: float
    bits: int = 128
    hashes: int = 1
    cohorts: int = 64
    p: float | None = None
    hash_seed: int = 0

    examples = (
        (1.0, 2.0, 8, 2, 4),
        (4.0, 4.0, 70, 1, 512),
        (0.5, 8.0, 17, 3, 1, 0.25),
        (1.0742858641667283, 4.394449154672439, 128, 2, 64, 0.5, 2**53 - 1),  # ``published()``
    )
    name = "rappor"
    params = {  # noqa: RUF012
        "epsilon": positive,
        "epsilon_permanent": Described(positive, "the epsilon of all reports of a person"),
        "bits": Described(integer(2, 4096), "bits of a filter"),
        "hashes": Described(integer(1, 16), HASHES_HELP),
        "cohorts": Described(power_of_two, "1, 2, 4, ..."),
        "p": Described(optional(fraction), "how often a kept 0 is reported as 1"),
        "hash_seed": HASH_SEED,
    }

    @classmethod
    def published(cls, f: float = 0.5, p: float = 0.5, q: float = 0.75, *, hashes: int = 2, **others: int) -> "RAPPOR":
        """Return the oracle with the parameters of the paper, each realised to 20 bits or more.

        >>> oracle = RAPPOR.published(f=0.5, p=0.5, q=0.75, hashes=2)
        >>> round(oracle.epsilon, 4), round(oracle.epsilon_permanent, 4), round(float(oracle.memoization.coins.q), 5)
        (1.0743, 4.3944, 0.75)
        """
        flip, zero, one = (int(fraction(cls.__name__, *each) * 2**53) for each in (("f", f), ("p", p), ("q", q)))
        if one <= zero:
            raise fail(cls.__name__, "q", f"above p, {p!r}", q)
        coins = StageCoins(hashes, 53, flip // 2, zero, one)
        return cls(log_upper(coins.ratio), log_upper(coins.lasting_ratio), hashes=hashes, p=p, **others)

    @cached_property
    def _coins(self) -> StageCoins:
        """The realised coins of both stages."""
        return StageCoins.build(self.title, self.epsilon, self.epsilon_permanent, hashes=self.hashes, p=self.p)

    @cached_property
    def memoization(self) -> PermanentResponse:
        # What is kept is of one value, whatever comes later: no change shows.
        return PermanentResponse(self.epsilon_permanent, 1, Fraction(0), self, self._coins)

    @cached_property
    def _filters(self) -> CohortFilters:
        """The Bloom filters of strings in every cohort."""
        return CohortFilters(self.title, self.bits, self.hashes, self.cohorts, self.hash_seed, self._coins)

    @property
    def _blocks(self) -> int:
        return -(-self.bits // 64)

    @property
    def _last(self) -> np.uint64:
        return _ALL >> U64(-self.bits % 64)

    @property
    def _header(self) -> int:
        """The number of bytes that name the cohort."""
        return bit_reports.header(self.cohorts)

    @property
    def _keep_words(self) -> int:
        """The number of leading words of a report that draw the permanent response."""
        return 1 + self._coins.planes * self._blocks

    @property
    def words(self) -> int:
        return self._keep_words + self._coins.planes * self._blocks

    @cached_property
    def report_format(self) -> ReportFormat:
        return bit_reports.numbered_bits(self.cohorts, self.bits)

    @cached_property
    def tally_format(self) -> TallyFormat:
        return TallyFormat((self.cohorts, 1 + self.bits), _adds_up)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        self._keep(values, words[:, : self._keep_words], out)
        self._respond(out, words[:, self._keep_words :], out)

    def _keep(self, values: Values, words: Words, out: Array) -> None:
        """Write the cohort that word 0 draws, and the permanent response."""
        rows = (words[:, 0] & U64(self.cohorts - 1)).astype(np.int64)
        filters, coins = np.empty((len(values), self._blocks), np.uint64), self._coins
        seeds, size = self._filters.seeds[rows], U64(self.bits)
        flip_filters.over(len(values))(
            values, words[:, 1:], seeds, size, coins.planes, U64(coins.flip), self._last, filters
        )
        bit_reports.join(rows, self._as_bytes(filters), out)

    def _respond(self, kept: Array, words: Words, out: Array) -> None:
        """Write the same cohort, and the instantaneous response; ``out`` may be the same array."""
        rows, bits = bit_reports.split(kept, self._header)
        padded = np.zeros((len(kept), 8 * self._blocks), np.uint8)
        padded[:, : bits.shape[1]] = bits
        filters, coins = padded.view("<u8"), self._coins
        choose_bits.over(len(kept))(filters, words, coins.planes, U64(coins.zero), U64(coins.one), self._last, filters)
        bit_reports.join(rows, self._as_bytes(filters), out)

    def _as_bytes(self, filters: Words) -> Array:
        return np.asarray(filters.astype("<u8").view(np.uint8)[:, : -(-self.bits // 8)])

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        bit_reports.add(*bit_reports.split(data, self._header), state)

    @cached_property
    def estimator(self) -> LeastSquares:
        return LeastSquares(self._filters)


def _adds_up(state: NDArray[np.int64], n: int) -> bool:
    people = state[:, :1]
    return bool(int(people.sum()) == n and ((state >= 0) & (state <= people)).all())
