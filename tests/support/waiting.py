"""Waiting for an event: until something is so, with a limit that a busy machine does not reach."""

import time

LONG = 300  # seconds: a test that waits so long has failed


class TooLong(AssertionError):  # noqa: N818 - not a mistake of this code
    """Something was not so for longer than any machine needs."""


def until(holds, seconds=LONG):
    """Wait until something is so, and return what it is."""
    end = time.monotonic() + seconds
    while not (held := holds()):
        if time.monotonic() >= end:
            raise TooLong(f"not so within {seconds} seconds")
        time.sleep(0.01)
    return held
