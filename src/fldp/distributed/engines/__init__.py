"""Engines that scan a lake: the cores of one machine, Dask, Spark; and their registry."""
