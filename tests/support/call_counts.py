"""Operations: how many functions some work calls, which no clock and no other program on the machine can change."""

import sys


def calls(work):
    """Return how many functions of Python and of C a piece of work calls, on its own thread."""
    counted = [0]

    def count(frame, event, argument):
        counted[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted[0]
