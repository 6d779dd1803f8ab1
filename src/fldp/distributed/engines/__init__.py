"""Where a lake is scanned: the cores of one machine, Dask, Spark."""
