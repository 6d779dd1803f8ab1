"""Past one machine: reports in a lake of Parquet files, tallied on all cores, on Dask or on Spark."""

from fldp.distributed.lake.partial_tally import Bad, Part
from fldp.distributed.privatizing import privatize
from fldp.distributed.tallying import Result, tally
from fldp.randomness.row_words import RunKey

__all__ = ["Bad", "Part", "Result", "RunKey", "privatize", "tally"]
