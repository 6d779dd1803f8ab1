"""More data than one machine holds: reports in a lake of Parquet files, tallied on all cores, on Dask or on Spark."""

from fldp.distributed.lake.partial_tally import Bad, PartialTally, Result
from fldp.distributed.privatizing import privatize
from fldp.distributed.tallying import tally
from fldp.randomness.row_words import RunKey

Part = PartialTally  # its name in earlier versions

__all__ = ["Bad", "Part", "PartialTally", "Result", "RunKey", "privatize", "tally"]
