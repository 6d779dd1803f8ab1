"""The batch format: reports and tallies as bytes. ``docs/wire.md`` is the specification.

::

    FLDP  format  kind  length  header      chunk ...                    end
    4     1       1     2       JSON        count  packed  check         0  total  check
                                            4      ...     8             4  8      8

Every check is a prefix of the SHA-256 of all bytes before it, so a cut, a flipped bit, and a moved or repeated chunk
are detected. Invalid bytes raise ``WireError``. A reader never allocates more than the bytes it has read justify.
"""

import hashlib
import io
import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, BinaryIO, NoReturn

import numpy as np

from fldp.data import batch_frame
from fldp.data.packing import pack, packed_size, unpack
from fldp.data.reports import Reports, Tally, checked
from fldp.errors import DomainError, FldpError, WireError
from fldp.oracles.base.oracle import Oracle
from fldp.support import canonical_json
from fldp.support.identifiers import VERSION
from fldp.wire.description import abbreviate, build, describe

MAX_CELLS = 1 << 25  # entries of a tally that a header alone may ask for
MAGIC, FORMAT, CHECK = batch_frame.MAGIC, batch_frame.FORMAT, batch_frame.CHECK
REPORTS, TALLY = batch_frame.REPORTS, batch_frame.TALLY
_MAX_HEADER = 4096
_CHUNK_BYTES = batch_frame.CHUNK_BYTES
_PIECE = 1 << 20


def chunk_size(oracle: Oracle) -> int:
    """Return the maximal number of reports in a chunk: a multiple of 8, so that only the last one needs padding.

    >>> import fldp
    >>> chunk_size(fldp.FHR(epsilon=1.0, domain_size=1023))
    1677720
    """
    return batch_frame.chunk_reports(oracle.report_format.bits)


class Writer:
    """Writes reports of one oracle to a binary file, batch by batch.

    >>> import fldp
    >>> oracle = fldp.FHR(epsilon=1.0, domain_size=1023)
    >>> file = io.BytesIO()
    >>> with Writer(file, oracle) as writer:
    ...     writer.write(oracle.privatize([1, 2, 3]))
    ...     writer.write(oracle.privatize([4]))
    >>> len(decode(file.getvalue()))
    4
    """

    def __init__(self, file: BinaryIO, oracle: Oracle, survey: str | None = None) -> None:
        self._out = _Output(file)
        self._oracle = oracle
        self._waiting = Reports.trusted(oracle, oracle.report_format.empty(0))
        self.total = 0
        self._out.preamble(REPORTS, oracle, survey)

    def write(self, reports: Reports) -> None:
        """Write reports; up to seven wait for the next ones, so that a chunk ends with a whole byte."""
        waiting = Reports.concatenate([self._waiting, reports]) if len(self._waiting) else reports
        if waiting.oracle != self._oracle:
            raise WireError(f"Writer: reports must be of {self._oracle!r}, got {waiting.oracle!r}")
        whole = len(waiting) // 8 * 8
        for start in range(0, whole, chunk_size(self._oracle)):
            self._chunk(waiting[start : min(start + chunk_size(self._oracle), whole)])
        self._waiting = waiting[whole:]

    def close(self) -> None:
        """Write the waiting reports and the end, without which the file is not a batch."""
        if len(self._waiting):
            self._chunk(self._waiting)
        self._out.number(0, 4)
        self._out.number(self.total, 8)
        self._out.check()

    def _chunk(self, reports: Reports) -> None:
        self._out.number(len(reports), 4)
        self._out.raw(pack(self._oracle.report_format, reports.data).tobytes())
        self._out.check()
        self.total += len(reports)

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        del rest
        if kind is None:
            self.close()


class Reader:
    """Reads a batch of reports chunk by chunk; every chunk it yields has been verified.

    The batch is complete only if the iteration ends by itself. With ``oracle`` or ``survey``, a batch of another one is
    refused.
    """

    def __init__(self, file: BinaryIO, oracle: Oracle | None = None, survey: str | None = None) -> None:
        self._in = _Input(file)
        self.oracle, self.survey = self._in.preamble(REPORTS, oracle, survey)
        self.count = 0

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes read so far; after the end, of the batch."""
        return self._in.hash.hexdigest()

    def __iter__(self) -> Iterator[Reports]:
        last = False
        while count := self._in.number(4, "a chunk's count"):
            if last:
                _refuse("a chunk after one that ends within a byte")
            if count > chunk_size(self.oracle):
                _refuse(f"a chunk of {count} reports, above the limit of {chunk_size(self.oracle)}")
            last = count % 8 != 0
            yield self._chunk(count)
        total = self._in.number(8, "the total")
        self._in.check("the end")
        if total != self.count:
            _refuse(f"{self.count} reports where the end says {total}")
        self._in.end()

    def _chunk(self, count: int) -> Reports:
        packed = self._in.raw(packed_size(self.oracle.report_format, count), "a chunk")
        self._in.check(f"the chunk at report {self.count}")
        data, padded = unpack(self.oracle.report_format, np.frombuffer(packed, np.uint8), count)
        if not padded:
            _refuse("padding bits that are not zero")
        try:
            reports = Reports.trusted(self.oracle, checked(self.oracle, data))
        except DomainError as error:
            refused = WireError(f"wire: in the chunk at report {self.count}: {error}")
            refused.index = None if error.index is None else self.count + error.index
            raise refused from None
        self.count += count
        return reports


def encode(reports: Reports, survey: str | None = None) -> bytes:
    """Return a batch as bytes.

    >>> import fldp
    >>> len(encode(fldp.FHR(epsilon=1.0, domain_size=1023).privatize([1, 2, 3])))
    104
    """
    file = io.BytesIO()
    with Writer(file, reports.oracle, survey) as writer:
        writer.write(reports)
    return file.getvalue()


def decode(data: bytes, oracle: Oracle | None = None, survey: str | None = None) -> Reports:
    """Return the reports of a batch, or raise ``WireError``."""
    reader = Reader(io.BytesIO(data), oracle, survey)
    parts = list(reader)
    empty = reader.oracle.report_format.empty(0)
    return Reports.concatenate([Reports.trusted(reader.oracle, empty), *parts])


def encode_tally(tally: Tally, survey: str | None = None) -> bytes:
    """Return a tally as bytes.

    >>> import fldp
    >>> tally = fldp.Tally(fldp.RR(epsilon=1.0), [3, 4], 7)
    >>> decode_tally(encode_tally(tally)) == tally
    True
    """
    file = io.BytesIO()
    out = _Output(file)
    out.preamble(TALLY, tally.oracle, survey)
    out.number(tally.n, 8)
    out.raw(tally.state.astype("<i8").tobytes())
    out.check()
    return file.getvalue()


def decode_tally(data: bytes, oracle: Oracle | None = None, survey: str | None = None) -> Tally:
    """Return a tally, or raise ``WireError``."""
    return read_tally(io.BytesIO(data), oracle, survey)[0]


def read_tally(file: BinaryIO, oracle: Oracle | None = None, survey: str | None = None) -> tuple[Tally, str | None]:
    """Read a tally from a file; return it with the version of its survey, if it names one."""
    reader = TallyReader(file, oracle, survey)
    return reader.tally, reader.survey


class TallyReader:
    """Reads a tally and verifies it; ``digest`` is the SHA-256 of its bytes."""

    def __init__(self, file: BinaryIO, oracle: Oracle | None = None, survey: str | None = None) -> None:
        source = _Input(file)
        self.oracle, self.survey = source.preamble(TALLY, oracle, survey)
        n = source.number(8, "the number of reports")
        state = source.raw(8 * self.oracle.tally_format.cells, "the state")
        source.check("the tally")
        source.end()
        try:
            self.tally = Tally(self.oracle, np.frombuffer(state, "<i8").reshape(self.oracle.tally_format.shape), n)
        except FldpError as error:
            _refuse(str(error))
        self.digest = source.hash.hexdigest()


def kind_of(start: bytes) -> int:
    """Return the kind of a file from its first six bytes: ``REPORTS``, ``TALLY``, or 0 for something else."""
    return start[5] if len(start) >= 6 and start[:5] == MAGIC + bytes([FORMAT]) else 0


def preamble(file: BinaryIO, kind: int, oracle: Oracle, survey: str | None) -> None:
    """Write how a batch of reports or a tally begins."""
    _Output(file).preamble(kind, oracle, survey)


class _Output:
    """A file, and the hash of what was written to it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._hash = file, hashlib.sha256()

    def raw(self, data: bytes) -> None:
        self._hash.update(data)
        self._file.write(data)

    def number(self, value: int, size: int) -> None:
        self.raw(value.to_bytes(size, "little"))

    def check(self) -> None:
        self.raw(self._hash.digest()[:CHECK])

    def preamble(self, kind: int, oracle: Oracle, survey: str | None) -> None:
        self.raw(batch_frame.preamble(kind, _header(oracle, survey)))


class _Input:
    """A file, and the hash of what was read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.hash = file, hashlib.sha256()

    def raw(self, size: int, what: str) -> bytes:
        """Read exactly ``size`` bytes, a piece at a time, so that a false size allocates nothing."""
        parts, missing = [], size
        while missing:
            part = self._file.read(min(missing, _PIECE))
            if not part:
                _refuse(f"the input ends within {what}")
            parts.append(part)
            missing -= len(part)
        data = b"".join(parts)
        self.hash.update(data)
        return data

    def number(self, size: int, what: str) -> int:
        return int.from_bytes(self.raw(size, what), "little")

    def check(self, what: str) -> None:
        expected = self.hash.digest()[:CHECK]
        if self.raw(CHECK, what) != expected:
            _refuse(f"the check of {what} does not match: the bytes have changed on the way")

    def end(self) -> None:
        if self._file.read(1):
            _refuse("bytes after the end")

    def preamble(self, kind: int, oracle: Oracle | None, survey: str | None) -> tuple[Oracle, str | None]:
        if self.raw(4, "the magic number") != MAGIC:
            _refuse("this is not an fldp file")
        if (version := self.number(1, "the format")) != FORMAT:
            _refuse(f"format {version}, where this version reads {FORMAT}")
        if (actual := self.number(1, "the kind")) != kind:
            names = {REPORTS: "reports", TALLY: "a tally"}
            _refuse(f"{names[kind]} expected, got {names.get(actual, f'kind {actual}')}")
        length = self.number(2, "the header's length")
        if length > _MAX_HEADER:
            _refuse(f"a header of {length} bytes, above the limit of {_MAX_HEADER}")
        header = self.raw(length, "the header")
        if oracle is not None and survey is not None and header == _header(oracle, survey):
            return oracle, survey
        fields = _parse(header)
        named = _oracle(fields["oracle"], oracle)
        answered = fields.get("survey")
        if survey is not None and answered != survey:
            _refuse(f"a batch for survey version {answered or 'none'}, where {survey} is expected")
        return named, answered


@lru_cache(64)  # a collector compares it with the header of every batch
def _header(oracle: Oracle, survey: str | None) -> bytes:
    fields: dict[str, Any] = {"oracle": describe(oracle)}
    if survey is not None:
        fields["survey"] = survey
    return canonical_json.dumps(fields)


def _parse(header: bytes) -> dict[str, Any]:
    """Parse a header. Only canonical JSON is accepted, so that there is one header for each meaning."""
    try:
        fields = json.loads(header)
        known = isinstance(fields, dict) and "oracle" in fields and fields.keys() <= {"oracle", "survey"}
        good = known and canonical_json.dumps(fields) == header
    except (ValueError, RecursionError, TypeError):
        good = False
    if not good:
        _refuse("the header is not canonical JSON of an oracle and a survey")
    survey = fields.get("survey", "0" * 64)
    if not VERSION.matches(survey):
        _refuse(f"the header's survey version is not {VERSION.rule}")
    return dict(fields)


def _oracle(fields: Any, expected: Oracle | None) -> Oracle:
    """Return the expected oracle if the header describes it, or build the oracle that it describes."""
    if expected is not None:
        # Compare descriptions, so that nothing is built from parameters of unknown origin.
        if canonical_json.dumps(fields) != canonical_json.dumps(describe(expected)):
            _refuse(f"of {abbreviate(fields)}, where {expected!r} is expected")
        return expected
    if isinstance(fields, dict) and isinstance(fields.get("domain_size"), int) and fields["domain_size"] > MAX_CELLS:
        _refuse(f"{abbreviate(fields)} is too large to be trusted from a header alone; name the oracle or the survey")
    try:
        named = build(fields)
    except FldpError as error:
        _refuse(f"the header's oracle: {error}")
    if describe(named) != fields:
        _refuse("the header's oracle spells out parameters that are at their default")
    if named.tally_format.cells > MAX_CELLS:
        _refuse(f"{named!r} is too large to be trusted from a header alone; name the oracle or the survey")
    return named


def _refuse(why: str) -> NoReturn:
    raise WireError(f"wire: {why}")
