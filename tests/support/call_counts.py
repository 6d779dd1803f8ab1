"""Operations: how many functions some work calls, which no clock and no other program on the machine can change."""

import sys
import tracemalloc


def calls(work, among=None):
    """Return how many functions of Python and of C a piece of work calls, on its own thread: all, or those of C named.

    >>> calls(lambda: len([3]), among={"len"})
    1
    """
    counted = [0]

    def count(frame, event, argument):
        if among is None:
            counted[0] += event in ("call", "c_call")
        else:
            counted[0] += event == "c_call" and argument.__name__ in among

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted[0]


def most_memory(work):
    """Return how many bytes a piece of work holds at most beyond what was there before, arrays included."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
