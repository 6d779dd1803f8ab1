"""The elimination attack: which values independent reports of one value rule out for certain.

Each report of FHR, or of FWR with eta below 1, reveals exact parities of the item: linear equations over GF(2). Enough
of them have a single solution, at any epsilon. So a client must answer once and repeat that answer.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Reports
from fldp.numerics.types import Floats
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.leaks_and_parts import ParityLeak
from fldp.oracles.base.string_oracle import listed
from fldp.privacy.bayes_attack import CELLS, checked_prior, draws_of, trials_of
from fldp.randomness.stream import Stream
from fldp.support.display import Displayed
from fldp.support.progress import Progress
from fldp.support.validation import fail, fraction


def remaining(reports: Reports) -> NDArray[np.int64]:
    """Return the values that can have produced all of these independent reports, for any oracle.

    >>> import fldp
    >>> oracle = fldp.FHR(epsilon=0.01, domain_size=1023)
    >>> len(remaining(oracle.privatize([5], rng=1))), remaining(oracle.privatize([5] * 40, rng=1))
    (512, array([5]))
    """
    oracle = listed("remaining", reports.oracle)
    possible = np.ones(oracle.domain_size, np.bool_)
    rows = max(1, CELLS // oracle.domain_size)
    for start in range(0, len(reports), rows):
        possible &= (analysis(oracle).likelihoods(reports.data[start : start + rows]) > 0).all(axis=0)
    return np.flatnonzero(possible)


def eliminate(reports: Reports) -> NDArray[np.int64]:
    """Return the same as ``remaining`` by Gaussian elimination over GF(2), for oracles that leak parities.

    >>> import fldp
    >>> oracle = fldp.FWR(epsilon=0.01, domain_size=1000, eta=0.25)
    >>> eliminate(oracle.privatize([5] * 40, rng=1))
    array([5])
    """
    leak = analysis(reports.oracle).parities()
    if leak is None:
        raise fail("eliminate", "reports", "of FHR, FWR or another oracle that leaks parities", reports.oracle)
    masks, parities = (part.reshape(-1).tolist() for part in leak.of(reports.data))
    rows = _echelon(mask << 1 | parity for mask, parity in zip(masks, parities, strict=True))
    return np.flatnonzero(np.isin(leak.items, _solutions(rows, leak.bits)))


def _echelon(equations: Iterable[int]) -> list[int]:
    """Bring equations (a mask, then a bit for its parity) to echelon form: no two share their highest bit."""
    rows: list[int] = []
    for equation in equations:
        rows = _reduced(rows, equation)
    return rows


def _reduced(rows: list[int], equation: int) -> list[int]:
    """Add an equation to reduced ones; return the same list if it is implied by them."""
    for row in rows:
        equation = min(equation, equation ^ row)  # clears the highest bit of the row if it is set
    return sorted([*rows, equation], reverse=True) if equation else rows


def _solutions(rows: list[int], bits: int) -> NDArray[np.uint64]:
    """Return all items that solve the equations, bit by bit from the lowest: a pivot is determined, others are free."""
    items = np.zeros(0 if 1 in rows else 1, np.uint64)  # the row 1 is the contradiction 0 = 1
    leading = {row.bit_length() - 2: row for row in rows}
    for bit in range(bits):
        power = np.uint64(1 << bit)
        if bit in leading:
            mask, parity = np.uint64(leading[bit] >> 1), leading[bit] & 1
            items = np.where((np.bitwise_count(items & mask) & 1) == parity, items, items | power)
        else:
            items = np.concatenate([items, items | power])
    return items


@dataclass(frozen=True)
class Repeats(Displayed):
    """How many independent reports of one value it takes until only that value is possible.

    ``known[n]`` is the probability that ``n`` reports are enough, for a value drawn uniformly. It is exact, or
    the share of ``trials``.
    """

    oracle: FrequencyOracle
    known: Floats
    exact: bool
    trials: int

    def within(self, share: float) -> int | None:
        """Return the least number of reports that suffices with probability ``share``; None if none does."""
        enough = np.flatnonzero(self.known >= fraction("Repeats", "share", share))
        return int(enough[0]) if len(enough) else None

    @property
    def mean(self) -> float | None:
        """The mean number of reports, within 1e-9 if exact; None if some trials did not end."""
        return float((1 - self.known).sum()) if self.known[-1] > 1 - 1e-9 else None

    def __repr__(self) -> str:
        return f"<reports of {self.oracle!r} until one value is left: {self.within(0.5)} in the median>"


def repeats(
    oracle: FrequencyOracle,
    *,
    trials: int = 2000,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
) -> Repeats:
    """Return how many independent reports it takes until only one value can have produced them all.

    Exact if no report rules anything out, for Grouped, and for FHR and FWR if all items are in use (FHR: ``d`` or
    ``d + 1`` a power of two; FWR: ``d``). Else from ``trials``, with calls of ``progress`` as they end.

    >>> import fldp
    >>> needed = repeats(fldp.FHR(epsilon=1.0, domain_size=1023))
    >>> needed.within(0.5), needed.within(0.99), round(needed.mean, 1), needed.exact
    (11, 17, 11.6, True)
    """
    trials = draws_of("repeats", "trials", trials)
    exact = analysis(oracle).identified()
    if exact is not None:
        return Repeats(oracle, np.array(exact), exact=True, trials=0)
    ends = np.concatenate(list(_ends(oracle, trials, rng, progress)))
    most = _most(oracle)
    known = np.bincount(np.minimum(ends, most + 1), minlength=most + 2).cumsum()[: most + 1] / trials
    return Repeats(oracle, known[: int(known.argmax()) + 1], exact=False, trials=trials)


def _most(oracle: FrequencyOracle) -> int:
    """Return how many reports to try: if each rules out half, another value is left once in ``2^40`` trials."""
    return 2 * oracle.domain_size.bit_length() + 40


def _ends(
    oracle: FrequencyOracle, trials: int, rng: int | Stream | None, progress: Progress | None
) -> Iterator[NDArray[np.int64]]:
    """Draw values and reports, and yield how many reports it took; one more than were tried if they did not suffice."""
    shares = checked_prior("repeats", oracle, None)
    leak = analysis(oracle).parities()
    for _, values, stream in trials_of(oracle, shares, trials, rng):
        if leak is None:
            yield _count_likelihoods(oracle, values, stream)
        else:
            yield _count_parities(oracle, leak, values, stream)
        if progress is not None:
            progress(len(values))


def _count_likelihoods(oracle: FrequencyOracle, values: NDArray[np.int64], stream: Stream) -> NDArray[np.int64]:
    """Count the reports until each value alone is possible, by likelihoods, for any oracle."""
    ends, still = np.full(len(values), _most(oracle) + 1), np.arange(len(values))
    possible = np.ones((len(values), oracle.domain_size), np.bool_)
    for count in range(1, _most(oracle) + 1):
        possible &= analysis(oracle).likelihoods(oracle.privatize(values[still], rng=stream).data) > 0
        alone = possible.sum(axis=1) == 1
        ends[still[alone]] = count
        still, possible = still[~alone], possible[~alone]
        if len(still) == 0:
            break
    return ends


def _count_parities(
    oracle: FrequencyOracle, leak: ParityLeak, values: NDArray[np.int64], stream: Stream
) -> NDArray[np.int64]:
    """Count the same by elimination, whose work hardly grows with the domain."""
    most = _most(oracle)
    masks, parities = leak.of(oracle.privatize(np.repeat(values, most), rng=stream).data)
    shape = len(values), most * masks.shape[1]
    equations = zip(masks.reshape(shape).tolist(), parities.reshape(shape).tolist(), strict=True)
    holders = np.bincount(leak.items.astype(np.int64), minlength=leak.order)
    needed = [_equations_needed(zip(*row, strict=True), holders) for row in equations]
    return np.array([most + 1 if count is None else -(-count // masks.shape[1]) for count in needed])


def _equations_needed(equations: Iterable[tuple[int, int]], holders: NDArray[np.int64]) -> int | None:
    """Return how many equations leave a single value; None if all of them do not.

    ``holders`` counts the values of each item. Solutions are looked up only once they are so few that all but one could
    be items without a value.
    """
    rows, bits = list[int](), len(holders).bit_length() - 1
    spare = int((holders == 0).sum()) + 1
    for count, (mask, parity) in enumerate(equations, 1):
        before, rows = rows, _reduced(rows, int(mask) << 1 | int(parity))
        if rows is not before and 1 << (bits - len(rows)) <= spare and holders[_solutions(rows, bits)].sum() == 1:
            return count
    return None
