"""Engines of this machine for a benchmark, with workers of their own, and what to tell a tally about them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

CORES = os.cpu_count() or 1


@contextmanager
def opened(name: str) -> Iterator[dict[str, Any]]:
    """Start an engine; give the options with which a tally runs on it."""
    with {"local": _local, "dask": _dask, "spark": _spark}[name]() as options:
        yield options


@contextmanager
def _local() -> Iterator[dict[str, Any]]:
    yield {}


@contextmanager
def _dask() -> Iterator[dict[str, Any]]:
    from distributed import Client, LocalCluster

    cluster = LocalCluster(CORES, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with cluster, Client(cluster, set_as_default=False) as client:
        yield {"client": client}


@contextmanager
def _spark() -> Iterator[dict[str, Any]]:
    from fldp.distributed.engines.spark import open_session as started

    with started(None, f"local-cluster[{CORES},1,2048]") as session:
        yield {"session": session}
