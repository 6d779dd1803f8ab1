"""Single reports: batches of one report each, of one oracle and survey, read many at a time.

All bytes of such a batch but its report and two checks are known beforehand. What is not such a batch, whole and
undamaged, is left to ``Reader``, which says what is wrong with it.
"""

import hashlib
import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fldp.data.packing import packed_size, unpack_each
from fldp.data.reports import Reports
from fldp.oracles.base.oracle import Oracle
from fldp.wire.batch import CHECK, REPORTS, preamble

_ONE, _END = (1).to_bytes(4, "little"), (0).to_bytes(4, "little") + (1).to_bytes(8, "little")


class SingleReports:
    r"""Reads batches of one report.

    >>> import fldp
    >>> oracle, version = fldp.GRR(epsilon=1.0, domain_size=16), "0" * 64
    >>> single = SingleReports(oracle, version)
    >>> batch = fldp.wire.encode(Reports(oracle, np.array([5], np.uint8)), version)
    >>> single.packed(batch), single.packed(batch[:-1])
    (b'\x05', None)
    >>> single.decode([b"\x05", b"\xf5"])
    (<2 reports of GRR(epsilon=1.0, domain_size=16)>, array([ True, False]))
    """

    def __init__(self, oracle: Oracle, survey: str) -> None:
        file = io.BytesIO()
        preamble(file, REPORTS, oracle, survey)
        self.oracle = oracle
        self._start = file.getvalue() + _ONE
        self._hash = hashlib.sha256(self._start)
        self._first = len(self._start)
        self._last = self._first + packed_size(oracle.report_format, 1)
        self.size = self._last + CHECK + len(_END) + CHECK
        self.length = b"%d" % self.size

    def packed(self, batch: bytes) -> bytes | None:
        """Return the report of a batch, packed; None if it is not a batch of one report, or damaged."""
        if len(batch) != self.size or not batch.startswith(self._start):
            return None
        packed, rest = batch[self._first : self._last], batch[self._last :]
        check = self._hash.copy()
        check.update(packed)
        middle = check.digest()[:CHECK] + _END
        check.update(middle)
        return packed if rest == middle + check.digest()[:CHECK] else None

    def decode(self, packed: Sequence[bytes]) -> tuple[Reports, NDArray[np.bool_]]:
        """Return reports, and for each whether the oracle can produce it: only those may be used."""
        layout = self.oracle.report_format
        data, padded = unpack_each(layout, np.frombuffer(b"".join(packed), np.uint8), len(packed))
        return Reports.trusted(self.oracle, data), padded & layout.check(data)
