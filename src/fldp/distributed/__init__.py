"""Past one machine: reports in a lake of Parquet files, tallied on all cores, on Dask or on Spark."""

from fldp.distributed.part import Bad, Part
from fldp.distributed.rows import privatize
from fldp.distributed.run import Result, tally
from fldp.distributed.run_key import RunKey

__all__ = ["Bad", "Part", "Result", "RunKey", "privatize", "tally"]
