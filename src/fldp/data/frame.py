"""The frame of a batch: what stands before and after its reports. ``docs/wire.md`` is the specification.

``fldp.wire`` reads and writes whole batches; here is what a client of one report needs, without NumPy.
"""

import hashlib

MAGIC, FORMAT = b"FLDP", 1
REPORTS, TALLY = 1, 2
CHECK = 8

_ONE, _END = (1).to_bytes(4, "little"), (0).to_bytes(4, "little") + (1).to_bytes(8, "little")


def preamble(kind: int, header: bytes) -> bytes:
    r"""Return the beginning of a batch with this header.

    >>> preamble(REPORTS, b"{}")
    b'FLDP\x01\x01\x02\x00{}'
    """
    return MAGIC + bytes((FORMAT, kind)) + len(header).to_bytes(2, "little") + header


class SingleFrame:
    r"""Makes batches of one report each; all that stands before the report is hashed once.

    >>> len(SingleFrame(b"{}").around(b"\x07"))
    43
    """

    __slots__ = ("_hash", "_start")

    def __init__(self, header: bytes) -> None:
        self._start = preamble(REPORTS, header) + _ONE
        self._hash = hashlib.sha256(self._start)

    def around(self, packed: bytes) -> bytes:
        """Return the batch of one packed report."""
        check = self._hash.copy()
        check.update(packed)
        chunk = packed + check.digest()[:CHECK] + _END
        check.update(chunk[len(packed) :])
        return self._start + chunk + check.digest()[:CHECK]
