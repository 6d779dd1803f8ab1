"""Privatize a column of a DataFrame, with noise derived from the identifier of each row.

For simulations, and for data that was collected before there was local privacy. A report does not tell whose it is, so
the result has the report columns only: no identifier, no index, and within a batch not even the order of the rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fldp.errors import DomainError
from fldp.oracles.base.oracle import Oracle, as_oracle
from fldp.randomness.row_words import RowWords, RunKey
from fldp.support.canonical_json import Json
from fldp.support.optional_imports import load
from fldp.survey.survey import Survey
from fldp.wire import parquet
from fldp.wire.arrow_reports import batch
from fldp.wire.description import describe

if TYPE_CHECKING:
    import pyarrow

_BATCH = 1 << 16


class Frame(Protocol):
    """A table of any library, by what all have in common."""

    @property
    def columns(self) -> Iterable[object]: ...


AnyFrame = TypeVar("AnyFrame", bound=Frame)


@dataclass(frozen=True)
class Privatizer:
    """Privatizes batches of rows, on any worker."""

    column: str
    identifier: str
    target: Oracle | Survey
    key: RunKey

    @property
    def oracle(self) -> Oracle:
        """The oracle of the reports."""
        return self.target.oracle if isinstance(self.target, Survey) else self.target

    @property
    def version(self) -> str | None:
        """The version of the survey, if there is one."""
        return self.target.version if isinstance(self.target, Survey) else None

    @property
    def schema(self) -> "pyarrow.Schema":
        """The Arrow schema of the reports."""
        return parquet.schema(self.oracle, self.version)

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        return [self.identifier, self.column]

    def check(self, frame: Frame) -> None:
        """Check the parameters against the columns of a frame."""
        names = list(getattr(frame, "column_names", frame.columns))
        for what, name in (("identifier", self.identifier), ("column", self.column)):
            if names.count(name) != 1:
                raise DomainError(f"privatize: {what} must name a column, got {name!r}")
        if self.identifier == self.column:
            raise DomainError(f"privatize: identifier must be a column other than the values, got {self.column!r}")
        if as_oracle(self.oracle) is None:
            raise DomainError(f"privatize: oracle must be an oracle or a survey, got {type(self.target).__name__}")
        if not isinstance(self.key, RunKey):
            raise DomainError(f"privatize: run_key must be a RunKey, got {type(self.key).__name__}")

    def batches(self, tables: "Iterable[pyarrow.Table | pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        """Yield the reports of Arrow tables, or batches, in batches."""
        for table in tables:
            for start in range(0, table.num_rows, _BATCH):
                yield self.batch(table.slice(start, _BATCH))

    def batch(self, table: "pyarrow.Table | pyarrow.RecordBatch") -> "pyarrow.RecordBatch":
        """Return the reports of some rows, in an order that is independent of the rows."""
        values, bound = self._values(present(table, self.column))
        identifiers = cells(self.identifier, present(table, self.identifier))
        words = RowWords(self.key, self._question, identifiers, bound)
        data = self.oracle.privatize(values, rng=words).data
        return batch(self.schema, data[words.order()])

    @property
    def _question(self) -> dict[str, Json]:
        return {"column": self.column, "oracle": describe(self.oracle), "survey": self.version}

    def _values(self, column: Any) -> tuple[Any, list[bytes]]:
        """Return the values for the oracle, and the bytes of each that go into the noise."""
        if isinstance(self.target, Survey):
            values = self.target.encode(map(str, column.to_pylist()))
            return values, cells(self.column, load("pyarrow", "parquet").array(values.tolist()))
        return column.to_numpy(zero_copy_only=False), cells(self.column, column)


def present(table: "pyarrow.Table | pyarrow.RecordBatch", name: str) -> "pyarrow.Array":
    """Return a column as one array; a missing cell is an error."""
    column = table.column(name)
    column = column.combine_chunks() if hasattr(column, "chunks") else column
    if load("pyarrow.types", "parquet").is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise DomainError(f"privatize: column {name} must not have missing cells, but row {row} is missing")
    return column


def cells(name: str, column: "pyarrow.Array") -> list[bytes]:
    """Return cells as bytes, after a letter for their type: ``i12``, ``sann``, ``b`` and the bytes.

    >>> import pyarrow
    >>> cells("who", pyarrow.array(["ann", "1"])), cells("who", pyarrow.array([1]))
    ([b'sann', b's1'], [b'i1'])
    """
    kinds = load("pyarrow.types", "parquet")
    if kinds.is_integer(column.type):
        return [b"i%d" % cell for cell in column.to_numpy().tolist()]
    if kinds.is_string(column.type) or kinds.is_large_string(column.type):
        return [b"s" + cell.encode() for cell in column.to_pylist()]
    if kinds.is_binary(column.type) or kinds.is_large_binary(column.type) or kinds.is_fixed_size_binary(column.type):
        return [b"b" + cell for cell in column.to_pylist()]
    raise DomainError(f"privatize: column {name} must be of integers, text or bytes, got {column.type}")


def refuse_missing(name: str, missing: int) -> None:
    """Refuse missing identifiers."""
    if missing:
        raise DomainError(f"privatize: column {name} must not have missing cells, but {missing} are missing")


def refuse_repeated(name: str, repeated: int) -> None:
    """Refuse repeated identifiers; the message does not tell which, to protect the person."""
    if repeated:
        raise DomainError(
            f"privatize: identifier {name} must be different in every row, but {repeated} rows repeat one"
        )
