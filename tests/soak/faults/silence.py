"""Silence: the longest time without an acknowledgement, and what was going on meanwhile."""

import time
from collections import Counter
from contextlib import contextmanager

TURN = "the collector's turn"


class Silence:
    """Adds up what fills the time between two acknowledgements.

    ``longest``: the seconds of every activity within the longest such time. ``turn``: the most seconds within one of
    them that the driver names no activity for, so that nothing but the collector was waited for.
    """

    def __init__(self, clock=time.monotonic):
        self.longest, self.turn = Counter(), 0.0
        self._clock, self._since = clock, clock()
        self._spent, self._doing = Counter(), []

    @property
    def seconds(self):
        return self.longest.total()

    def __str__(self):
        filled = [(activity, f"{seconds:.1f}") for activity, seconds in self.longest.most_common()]
        parts = ", ".join(f"{activity} {seconds} s" for activity, seconds in filled if seconds != "0.0")
        return f"longest silence: {parts}; longest within one that was {TURN}: {self.turn:.1f} s"

    def acknowledged(self):
        """End a silence, and begin the next one."""
        self._charge()
        if self._spent.total() > self.seconds:
            self.longest = self._spent
        self.turn = max(self.turn, self._spent[TURN])
        self._spent = Counter()

    @contextmanager
    def during(self, activity):
        """Charge the time to an activity of the driver; of several at once, to the one that began last."""
        self._charge()
        self._doing.append(activity)
        try:
            yield
        finally:
            self._charge()
            self._doing.remove(activity)

    def _charge(self):
        now = self._clock()
        self._spent[self._doing[-1] if self._doing else TURN] += now - self._since
        self._since = now
