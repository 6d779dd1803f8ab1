"""The processor cores that this process may use."""

import os


def available_cores() -> int:
    """Return how many cores this process may use: fewer than the machine has where it is confined to some.

    >>> available_cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
