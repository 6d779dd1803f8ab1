"""LWR: lasting Walsh response, for people who report again and again about a value that may change."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import Array, ReportFormat, TallyFormat, read_only
from fldp.data.packing import pack, packed_size, unpack
from fldp.data.reports import Reports
from fldp.data.values import Values
from fldp.errors import DomainError, WireError
from fldp.numerics.kernels import U64
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.memoization import Kept, Memoization, check_kept
from fldp.oracles.base.symbol_reports import symbol_dtype
from fldp.oracles.flexible import fwr_items
from fldp.oracles.flexible.fwr import ParityReports, numbers
from fldp.oracles.flexible.lwr_kernels import draw_bases, report_answers
from fldp.oracles.flexible.walsh import Walsh
from fldp.randomness.kept_coins import KeptCoins
from fldp.randomness.stream import Stream, Words
from fldp.responder.kept_responses import MAX_KEPT_BITS
from fldp.support.validation import Described, integer, positive


class Bases:
    """What people keep of LWR, a row each: drawn once, stored, never sent. It depends on no value.

    >>> bases = LWR(epsilon=0.5, domain_size=1000, epsilon_permanent=1.0).memoization.keep(3)
    >>> len(bases), len(bases[0].to_bytes())
    (3, 2)
    """

    __slots__ = ("data", "oracle")

    def __init__(self, oracle: "LWR", data: Array) -> None:
        self.oracle, self.data = oracle, read_only(data)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, key: int | slice) -> "Bases":
        if not isinstance(key, slice):
            position = range(len(self))[key]
            key = slice(position, position + 1)
        return Bases(self.oracle, self.data[key])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bases):
            return NotImplemented
        return self.oracle == other.oracle and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """Return one basis as the bytes to store; ``LastingAnswers.basis`` reads them."""
        if len(self) != 1:
            raise DomainError(f"Bases: to_bytes is for a single basis, got {len(self)}")
        return pack(self.oracle._basis_format, self.data).tobytes()

    def __repr__(self) -> str:
        return f"<{len(self)} bases of {self.oracle!r}>"


@dataclass(frozen=True, eq=False)
class LastingAnswers(Memoization):
    """The two stages of LWR: bases, and reports of the values of the day."""

    oracle: "LWR"
    coins: KeptCoins  # of what is kept and of a report

    follows = True

    def keep(self, n: object, /, *, rng: int | Stream | None = None) -> Bases:
        """Draw what ``n`` people keep, before they have any answer. It is to be stored, never sent.

        >>> stages = LWR(epsilon=0.5, domain_size=1000, epsilon_permanent=1.0).memoization
        >>> kept = stages.keep(1)
        >>> stages.basis(kept.to_bytes()) == kept
        True
        """
        oracle = self.oracle
        count = integer(0, 1 << 40)(oracle.title, "n", n)
        data = oracle._basis_format.empty(count)
        for part, words in Stream.of(rng).chunks(count, oracle._keep_words):
            oracle._keep(words, data[part])
        return Bases(oracle, data)

    def respond(self, kept: Kept, values: object = None, *, rng: int | Stream | None = None) -> Reports:
        """Draw a report of each value from what its holder keeps, anew each time."""
        oracle = self.oracle
        check_kept(oracle, kept)
        held = oracle._as_values(values)
        if len(held) != len(kept):
            raise DomainError(f"{oracle.title}: there must be a value for each of {len(kept)} bases, got {len(held)}")
        data = oracle.report_format.empty(len(held))
        for part, words in Stream.of(rng).chunks(len(held), 1):
            oracle._respond(kept.data[part], oracle._unchanged(held[part]), words, data[part])
        return Reports.trusted(oracle, data)

    def basis(self, data: bytes) -> Bases:
        """Read what one person keeps, as ``Bases.to_bytes`` wrote it."""
        layout, title = self.oracle._basis_format, self.oracle.title
        if len(data) != packed_size(layout, 1):
            raise WireError(f"{title}: a basis must have {packed_size(layout, 1)} bytes, got {len(data)}")
        row, padded = unpack(layout, np.frombuffer(data, np.uint8), 1)
        if not padded:
            raise WireError(f"{title}: a basis must end in zeros")
        return Bases(self.oracle, row)


@dataclass(frozen=True, repr=False)
class LWR(FrequencyOracle):
    """Lasting Walsh response: masks and answers that are kept for ever, and a fresh coin for every report.

    Everybody draws once, before any answer: ``m = hash_bits`` masks, and for each of the ``g = 2^m`` symbols an answer
    by randomized response with ``epsilon_permanent``. A report, every day, has the masks, and through a second coin the
    answer that is kept for the symbol that the parities of today's item form. ``memoization`` has the two stages, and
    ``fldp.Participant`` keeps the first; ``privatize`` draws both, for people who report once.

    What is promised, for what the code really draws (``memoization.coins``):

    - **one report** keeps ``epsilon``, and has the law of FWR with eta 1 at that epsilon, and so its error;
    - **all reports of a value that does not change** keep ``epsilon_permanent``, however many they are;
    - **all reports** keep ``memoization.lasting_epsilon = g epsilon_permanent`` between two histories whose
      symbols are equal on the same days, whatever the number of values;
    - **that a value changes, and when, is covered by none of these.** However long one watches, a change shows at all
      with probability ``memoization.change_visible``, 0.27 to 0.40 for one hash bit; the masks are the same in all
      reports of a person, and link them.

    After Arcolezi, Pinzon, Palamidessi, Gambs: Frequency estimation of evolving data under local differential privacy
    (LOLOHA), EDBT 2023, with linear hash functions and a second coin that is exact for every ``g``. ``docs/lasting.md``
    has the rest.

    Report: masks and a symbol, from a stored response | 11 | eps-LDP for one report, another eps for all reports while
      the value stays the same; a change may show
    Fields: the masks, ``r`` = the bits of ``d - 1`` each, then the parities under them as one number, the first
      mask's lowest
    Words: ceil(m/2) + g + 1 | two masks from each word; a coin as for GRR for the answer to each symbol; then one on
      the answer to the symbol of the parities
    Best fake: masks under which all targets have one parity (0 always is one), and those parities | ``r`` times
      what a full agreement adds

    >>> oracle = LWR(epsilon=0.5, domain_size=1000, epsilon_permanent=1.0)
    >>> stages = oracle.memoization
    >>> kept = stages.keep(2)
    >>> monday, tuesday = stages.respond(kept, [3, 7]), stages.respond(kept, [3, 8])
    >>> stages.lasting_epsilon, round(float(stages.change_visible), 2), round(oracle.variance(1, 0), 1)
    (2.0, 0.3, 16.7)
    """

    epsilon_permanent: float
    hash_bits: int = 1

    examples = ((0.5, 8, 1.0), (0.5, 1000, 1.0, 1), (1.0, 100, 3.0, 2), (2.0, 600, 2.5, 3))
    name = "lwr"
    params = {  # noqa: RUF012
        **FrequencyOracle.params,
        "epsilon_permanent": Described(positive, "the epsilon of all reports of a value that does not change"),
        "hash_bits": Described(integer(1, MAX_KEPT_BITS), f"parities under the coins, 1 to {MAX_KEPT_BITS}"),
    }

    @property
    def _symbols(self) -> int:
        """The number ``g`` of symbols."""
        return 1 << self.hash_bits

    @cached_property
    def _coins(self) -> KeptCoins:
        """The realised coins, of what is kept and of a report."""
        return KeptCoins.build(self.title, self.epsilon, self.epsilon_permanent, self._symbols)

    @cached_property
    def _parities(self) -> ParityReports:
        """The reports, with the chances of both stages together."""
        return ParityReports(self.domain_size, 0, self.hash_bits, self._coins)

    @cached_property
    def report_format(self) -> ReportFormat:
        # Masks are kept, so no ticket can decide them.
        return replace(self._parities.report_format, public_words=0)

    @property
    def tally_format(self) -> TallyFormat:
        return self._parities.tally_format

    def count(self, data: Array, state: NDArray[np.int64]) -> None:
        self._parities.count(data, state)

    @property
    def estimator(self) -> Walsh:
        return self._parities.estimator

    @cached_property
    def memoization(self) -> LastingAnswers:
        coins = self._coins
        return LastingAnswers(self.epsilon_permanent, self._symbols, coins.change_visible, self, coins)

    @property
    def _keep_words(self) -> int:
        """The number of leading words of a report that draw what is kept."""
        return self._parities.mask_words + self._symbols

    @property
    def words(self) -> int:
        return self._keep_words + 1

    @cached_property
    def _basis_format(self) -> ReportFormat:
        """The layout of what is kept: the masks, then the answers as one number, that to symbol 0 lowest."""
        width, answers = fwr_items.bits_of(self.domain_size), self._symbols * self.hash_bits
        number = symbol_dtype(max(self._parities.rows, 1 << answers))
        dtype = np.dtype([*((f"mask{j}", number) for j in range(self.hash_bits)), ("bits", number)])

        def outcome(row: Any) -> tuple[tuple[int, ...], int]:
            *masks, table = row.item()
            return tuple(masks), table

        def basis(table: int, masks: tuple[int, ...]) -> Array:
            return np.array((*masks, table), dtype)

        fields = (width, self.hash_bits), (answers, 1)
        return ReportFormat(dtype, fields, lambda data: np.ones(len(data), np.bool_), outcome, basis)

    def perturb(self, values: Values, words: Words, out: Array) -> None:
        bases = self._basis_format.empty(len(values))
        self._keep(np.ascontiguousarray(words[:, : self._keep_words]), bases)
        self._respond(bases, values, np.ascontiguousarray(words[:, self._keep_words :]), out)

    def _keep(self, words: Words, out: Array) -> None:
        first = self._coins.first
        draw_bases.over(len(out))(
            words.reshape(-1), self.hash_bits, U64(self._parities.rows - 1), U64(first.keep), U64(first.other),
            numbers(out),
        )  # fmt: skip

    def _respond(self, bases: Array, values: Values, words: Words, out: Array) -> None:
        items, second = fwr_items.scatter(values, self.domain_size), self._coins.second
        report_answers.over(len(values))(
            items, numbers(np.ascontiguousarray(bases)), words.reshape(-1), self.hash_bits,
            U64(second.keep), U64(second.other), numbers(out),
        )  # fmt: skip
