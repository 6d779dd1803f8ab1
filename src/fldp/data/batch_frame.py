"""The frame of a batch: what stands before and after its reports. ``docs/wire.md`` is the specification.

``fldp.wire`` reads and writes whole batches; here is what a client of one report needs, without NumPy.
"""

import hashlib
from collections.abc import Sequence
from itertools import pairwise

MAGIC, FORMAT = b"FLDP", 1
REPORTS, TALLY = 1, 2
CHECK = 8
CHUNK_BYTES = 1 << 22

_ONE, _END = (1).to_bytes(4, "little"), (0).to_bytes(4, "little") + (1).to_bytes(8, "little")


def preamble(kind: int, header: bytes) -> bytes:
    r"""Return the beginning of a batch with this header.

    >>> preamble(REPORTS, b"{}")
    b'FLDP\x01\x01\x02\x00{}'
    """
    return MAGIC + bytes((FORMAT, kind)) + len(header).to_bytes(2, "little") + header


def chunk_reports(bits: int) -> int:
    """Return the maximal number of reports of this many bits in a chunk: a multiple of 8, so that it ends with a byte.

    >>> chunk_reports(20)
    1677720
    """
    return max(8, CHUNK_BYTES // bits * 8)


class BatchFrame:
    r"""Makes batches of packed reports of one header; all that stands before a single report is hashed once.

    >>> len(BatchFrame(b"{}", 3).around(b"\x07")), len(BatchFrame(b"{}", 3).around_all([b"\x07"] * 9))
    (43, 58)
    """

    __slots__ = ("_bits", "_hash", "_start")

    def __init__(self, header: bytes, bits: int) -> None:
        self._start, self._bits = preamble(REPORTS, header), bits
        self._hash = hashlib.sha256(self._start + _ONE)

    def around(self, packed: bytes) -> bytes:
        """Return the batch of one packed report."""
        check = self._hash.copy()
        check.update(packed)
        chunk = packed + check.digest()[:CHECK] + _END
        check.update(chunk[len(packed) :])
        return self._start + _ONE + chunk + check.digest()[:CHECK]

    def around_all(self, packed: Sequence[bytes]) -> bytes:
        """Return the batch of several packed reports, in chunks as ``fldp.wire`` makes them."""
        whole, size = len(packed) // 8 * 8, chunk_reports(self._bits)
        ends = [min(start + size, whole) for start in range(0, whole, size)]
        parts, check = [self._start], hashlib.sha256(self._start)
        for start, end in pairwise((0, *ends, *((len(packed),) if whole < len(packed) else ()))):
            body = (end - start).to_bytes(4, "little") + self._joined(packed[start:end])
            check.update(body)
            body += check.digest()[:CHECK]
            check.update(body[-CHECK:])
            parts.append(body)
        end_mark = bytes(4) + len(packed).to_bytes(8, "little")
        check.update(end_mark)
        return b"".join((*parts, end_mark, check.digest()[:CHECK]))

    def _joined(self, packed: Sequence[bytes]) -> bytes:
        """Return reports bit after bit, eight at a time: those end with a byte."""
        return b"".join(self._eight(packed[start : start + 8]) for start in range(0, len(packed), 8))

    def _eight(self, packed: Sequence[bytes]) -> bytes:
        numbers = (int.from_bytes(each, "little") << self._bits * place for place, each in enumerate(packed))
        return sum(numbers).to_bytes(-(-self._bits * len(packed) // 8), "little")
