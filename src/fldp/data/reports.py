"""Reports, which clients send, and Tally, the server's integer counts of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fldp.data.formats import Array as Array
from fldp.data.formats import read_only
from fldp.errors import DomainError, MergeError
from fldp.support.display import Displayed
from fldp.support.validation import integer

if TYPE_CHECKING:
    from fldp.oracles.base.oracle import Oracle

MAX_COUNT = 1 << 62  # of reports, and of each number in a tally: the sum of two tallies fits 64 bits


class Reports:
    """A batch of reports of one oracle; the first axis is users.

    ``Reports(oracle, data)`` checks that the oracle can produce every report: data from outside needs no other check.
    The array is read-only.

    >>> import fldp
    >>> reports = fldp.GRR(epsilon=1.0, domain_size=5).privatize([0, 1, 2, 3], rng=7)
    >>> len(reports), len(reports[1:3]), reports.nbytes
    (4, 2, 4)
    >>> len(Reports.concatenate([reports, reports]))
    8
    """

    __slots__ = ("data", "oracle")

    def __init__(self, oracle: "Oracle", data: object) -> None:
        self.oracle = oracle
        try:
            copy = np.array(data)  # nobody else can change it between the check and the use
        except ValueError:
            copy = np.array(None)
        self.data = read_only(checked(oracle, copy))

    @classmethod
    def trusted(cls, oracle: "Oracle", data: Array) -> "Reports":
        """Wrap data that this package produced itself, unchecked."""
        reports = object.__new__(cls)
        reports.oracle, reports.data = oracle, read_only(data)
        return reports

    @classmethod
    def concatenate(cls, parts: Iterable["Reports"]) -> "Reports":
        """Join batches of the same oracle, in order."""
        batches = list(parts)
        if not batches:
            raise DomainError("Reports: concatenate needs at least one batch")
        first = batches[0].oracle
        for batch in batches:
            _same(first, batch.oracle, "Reports")
        return cls.trusted(first, _joined([batch.data for batch in batches]))

    @property
    def nbytes(self) -> int:
        """The size of the reports in memory."""
        return int(self.data.nbytes)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, key: int | slice) -> "Reports":
        if not isinstance(key, slice):
            position = range(len(self))[key]
            key = slice(position, position + 1)
        return Reports.trusted(self.oracle, self.data[key])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reports):
            return NotImplemented
        return self.oracle == other.oracle and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type["Reports"], tuple["Oracle", Array]]:
        return Reports, (self.oracle, np.array(self.data))

    def __repr__(self) -> str:
        return f"<{len(self)} report{'' if len(self) == 1 else 's'} of {self.oracle!r}>"


@dataclass(frozen=True, eq=False)
class Tally(Displayed):
    """Integer counts of reports: ``+`` merges tallies exactly, in any order.

    ``state`` has the shape ``oracle.tally_format.shape``; the oracle knows what it means.

    >>> import fldp
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> tally = Tally(oracle, [5, 3, 2], 10) + Tally(oracle, [1, 0, 0], 1)
    >>> tally.n, tally.state
    (11, array([6, 3, 2]))
    """

    oracle: "Oracle"
    state: NDArray[np.int64]
    n: int

    def __post_init__(self) -> None:
        who = f"Tally of {self.oracle.title}"
        object.__setattr__(self, "n", integer(0, MAX_COUNT)(who, "n", self.n))
        state, layout = np.asarray(self.state), self.oracle.tally_format
        if state.dtype.kind not in "iu" or state.shape != layout.shape:
            raise DomainError(
                f"{who}: state must be integers of shape {layout.shape}, got {state.dtype} of shape {state.shape}"
            )
        if state.size and (int(state.max()) > MAX_COUNT or int(state.min()) < -MAX_COUNT):
            raise DomainError(f"{who}: state has numbers above 2^62")
        object.__setattr__(self, "state", read_only(np.array(state, np.int64)))
        if not layout.check(self.state, self.n):
            raise DomainError(f"{who}: no {self.n} reports add up to this state")

    @classmethod
    def empty(cls, oracle: "Oracle") -> "Tally":
        """Return the tally of no reports, the neutral element of ``+``.

        >>> import fldp
        >>> Tally.empty(fldp.RR(epsilon=1.0)).state
        array([0, 0])
        """
        return cls(oracle, oracle.tally_format.zeros(), 0)

    def __add__(self, other: object) -> "Tally":
        if not isinstance(other, Tally):
            return NotImplemented
        _same(self.oracle, other.oracle, "Tally")
        return Tally(self.oracle, self.state + other.state, self.n + other.n)

    def __sub__(self, other: object) -> "Tally":
        """Take reports out again; raise ``DomainError`` if no reports add up to the difference.

        >>> import fldp
        >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
        >>> (Tally(oracle, [6, 3, 2], 11) - Tally(oracle, [1, 0, 0], 1)).state
        array([5, 3, 2])
        """
        if not isinstance(other, Tally):
            return NotImplemented
        _same(self.oracle, other.oracle, "Tally")
        if other.n > self.n:
            raise DomainError(f"Tally of {self.oracle.title}: {other.n} reports cannot be taken out of {self.n}")
        return Tally(self.oracle, self.state - other.state, self.n - other.n)

    def __radd__(self, other: object) -> "Tally":
        """Support ``sum()``, which starts from 0."""
        return self if other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return self.oracle == other.oracle and self.n == other.n and np.array_equal(self.state, other.state)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<tally of {self.n} report{'' if self.n == 1 else 's'} of {self.oracle!r}>"


def _joined(parts: list[Array]) -> Array:
    """Join arrays of one type, records as raw bytes: NumPy would copy them field by field, which is slower."""
    dtype = parts[0].dtype
    if dtype.names is None or any(part.dtype != dtype for part in parts):
        return np.concatenate(parts)
    plain = np.dtype((np.void, dtype.itemsize))
    return np.concatenate([part.view(plain) for part in parts]).view(dtype)


def checked(oracle: "Oracle", data: Array) -> Array:
    """Return the data if the oracle can produce every report in it; else raise ``DomainError``."""
    layout = oracle.report_format
    if data.dtype != layout.dtype or data.shape[1:] != layout.shape or data.ndim == 0:
        wanted = ", ".join(map(str, ("users", *layout.shape)))
        raise DomainError(
            f"{oracle.title}: reports must be {layout.dtype} of shape ({wanted}), "
            f"got {data.dtype} of shape {data.shape}"
        )
    good = layout.check(data)
    if not good.all():
        position = int(np.flatnonzero(~good)[0])
        error = DomainError(
            f"{oracle.title}: reports must be ones that {_one_line(repr(oracle), 240)} can produce, "
            f"got {_one_line(data[position])} at position {position}"
        )
        error.index = position
        raise error
    return data


def _one_line(value: object, size: int = 80) -> str:
    """Return the beginning of a value on one line; NumPy would wrap a wide report."""
    text = " ".join(str(value).split())
    return text if len(text) <= size else f"{text[: size - 4]} ..."


def _same(oracle: "Oracle", other: "Oracle", who: str) -> None:
    if oracle is not other and oracle != other:
        raise MergeError(f"{who}: both sides must be of the same oracle, got {oracle!r} and {other!r}")
