"""Reports and tallies as bytes: batches, Parquet, descriptions of oracles, files and cells."""

from fldp.wire.batch import (
    CHECK,
    FORMAT,
    MAGIC,
    MAX_CELLS,
    REPORTS,
    TALLY,
    Reader,
    Writer,
    chunk_size,
    decode,
    decode_tally,
    encode,
    encode_tally,
    kind_of,
    read_tally,
)
from fldp.wire.description import build, describe

__all__ = [
    "CHECK",
    "FORMAT",
    "MAGIC",
    "MAX_CELLS",
    "REPORTS",
    "TALLY",
    "Reader",
    "Writer",
    "build",
    "chunk_size",
    "decode",
    "decode_tally",
    "describe",
    "encode",
    "encode_tally",
    "kind_of",
    "read_tally",
]
