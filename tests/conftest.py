"""Shared set-up: compile every kernel once, before the workers start."""

import os
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("fldp", deadline=None, derandomize=True)  # a first example may load Numba
settings.load_profile("fldp")


# Files whose tests share a server, a browser or a cluster: on one worker each, it is started once.
ON_ONE_WORKER = (
    "test_browser_",
    "test_client",
    "test_collector_",
    "test_distributed_dask",
    "test_distributed_spark",
    "test_javascript",
)


def pytest_xdist_make_scheduler(config, log):
    """Deal tests out one by one, but for those files, which go to one worker as a whole, and first."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = nodeid.partition("::")[0]
            return path if Path(path).name.startswith(ON_ONE_WORKER) else nodeid

    return Scheduling(config, log) if config.getvalue("dist") == "load" else None


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput") and "PYTEST_XDIST_WORKER" not in os.environ:
        import numpy as np

        import cases

        for _, oracle in (*cases.CASES.values(), *cases.STRING_CASES.values()):
            oracle.estimate(oracle.tally(oracle.privatize(np.zeros(2, np.int64))))
