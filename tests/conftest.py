"""Shared set-up: compile every kernel once, before the workers start."""

import os
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("fldp", deadline=None, derandomize=True)  # a first example may load Numba
settings.load_profile("fldp")


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput") and "PYTEST_XDIST_WORKER" not in os.environ:
        import numpy as np

        import cases

        for _, oracle in (*cases.CASES.values(), *cases.STRING_CASES.values()):
            oracle.estimate(oracle.tally(oracle.privatize(np.zeros(2, np.int64))))
