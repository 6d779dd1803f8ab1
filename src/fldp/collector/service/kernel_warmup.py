"""Warm-up: the kernels that a survey's reports need are compiled before the first report comes.

A request must not wait for the compiler, nor the event loop for a request that does. So a thread warms each survey when
it is first read: two reports go all the way that reports go. Numba compiles once for each type of array, and keeps the
result on disk, so this takes milliseconds unless the installation is new.
"""

from typing import Any

import numpy as np

from fldp.data.packing import pack, packed_size, unpack, unpack_each
from fldp.data.reports import Reports
from fldp.numerics.kernels import always_compile, load_compiler
from fldp.numerics.radix_sort import radix_sorted
from fldp.oracles import RR
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.oracle import Oracle

_Kind = tuple[type[Oracle], Any]
_warmed: set[_Kind] = set()


def start() -> None:
    """Load Numba, and from then on run every kernel compiled, whoever asks for how little."""
    load_compiler()
    always_compile()  # before the first warm-up, or its single report would run interpreted
    for kind in ("<u4", "<u8"):
        radix_sorted(np.arange(2, dtype=kind))  # sorts the reports of a batch
    warm(RR(epsilon=1.0))


def warm(oracle: Oracle) -> None:
    """Compile what decodes, checks, stores and counts the reports of an oracle, and of the oracles inside it."""
    for inner in dict.fromkeys((oracle, *analysis(oracle).members)):
        kind = type(inner), inner.report_format.dtype
        if kind not in _warmed and inner.report_format.bits:
            _run(inner, 1)  # to the compiler, a column of a single row may be of another type
            _run(inner, 2)
            _warmed.add(kind)


def _run(oracle: Oracle, users: int) -> None:
    """Run reports of zeros through every kernel. They need not be possible reports, only within range."""
    layout = oracle.report_format
    data, _ = unpack(layout, np.frombuffer(bytes(packed_size(layout, users)), np.uint8), users)
    unpack_each(layout, np.frombuffer(bytes(users * packed_size(layout, 1)), np.uint8), users)
    layout.check(data)
    pack(layout, data)
    state = oracle.tally_format.zeros()
    oracle.count(data, state)  # as Grouped has it; what is read-only is of another type, too
    oracle.count(Reports.trusted(oracle, data).data, state)
