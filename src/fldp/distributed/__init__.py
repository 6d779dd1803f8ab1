"""Past one machine: reports in a lake of Parquet files, tallied on all cores, on Dask or on Spark."""

from fldp.distributed.part import Bad, Part
from fldp.distributed.run import Result, tally

__all__ = ["Bad", "Part", "Result", "tally"]
