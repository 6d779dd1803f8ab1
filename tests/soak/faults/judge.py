"""Judge: compares what the collector holds with what was sent to it, bit for bit."""

from functools import partial

import numpy as np

from fldp import wire
from soak.faults.content import Content, tally_of
from support.waiting import TooLong, until


class Judge:
    """Knows what a load was acknowledged, adds it up by itself, and collects what is wrong in ``problems``."""

    def __init__(self, load):
        self.load, self.problems = load, []
        self.committed = 0  # requests that were counted though the answer was lost
        self.comparisons = 0
        self._sums = {survey.version: tally_of(survey, []) for survey in load.surveys}
        self._added, self._taken = set(), set()

    def look(self, server, *, when, all_or_nothing=False):
        """Compare while nothing is in flight. What was not answered may be counted, or taken out, but wholly and once.

        ``all_or_nothing``: it may not be counted either, because the collector stopped in good order.
        """
        self._add()
        for survey in self.load.surveys:
            unanswered = [item for item in self.load.unanswered if item.survey is survey]
            undecided = [item for item in self.load.undecided if item.survey is survey]
            self.comparisons += 1
            try:
                held = tally(server, survey)
            except TooLong as error:  # reports may be gone that were withdrawn: then no tally is given any more
                self.problems.append(f"{when}: {survey.name}: no tally: {error}")
                continue
            chosen = explain(survey, _minus(held, self._sums[survey.version]), unanswered, undecided)
            if chosen is None:
                self._say(when, survey, held, f"and up to {len(unanswered)} unanswered requests")
            elif chosen and all_or_nothing:
                self.problems.append(f"{when}: {chosen} requests were counted and not answered")
            else:
                self.committed += chosen

    def _add(self):
        new = [item for index, item in self.load.acknowledged.items() if index not in self._added]
        self._added.update(item.index for item in new)
        gone = [item for index, item in self.load.taken.items() if index not in self._taken]
        self._taken.update(item.index for item in gone)
        for survey in self.load.surveys:
            self._sums[survey.version] += tally_of(survey, new)
            self._sums[survey.version] -= tally_of(survey, gone)

    def _say(self, when, survey, held, more):
        known = self._sums[survey.version].n
        self.problems.append(f"{when}: {survey.name}: {held.n} reports are counted, {known} were acknowledged {more}")

    def last(self, server):
        """Compare with reports that are made anew from the seed: all were acknowledged, all are counted once."""
        waiting = [*self.load.unanswered, *self.load.undecided]
        self.problems += self.load.unexpected + [f"never acknowledged: {item}" for item in waiting]
        again = Content(self.load.surveys, self.load.content.seed)
        items = [again[index] for index in self.load.acknowledged if index not in self.load.taken]
        for survey in self.load.surveys:
            held, known = tally(server, survey), tally_of(survey, items)
            self.comparisons += 1
            if held.n != known.n or not np.array_equal(held.state, known.state):
                self.problems.append(f"at the end: {survey.name}: {held.n} reports are counted, {known.n} were sent")


def tally(server, survey, **window):
    """Return what a collector holds; whoever is told to try again does."""
    with server.admin as client:
        ask = partial(client.get, f"/v1/versions/{survey.version}/tally", params=window)
        answer = until(lambda: answer if (answer := ask()).status_code != 503 else None)
    if answer.status_code == 403 and b"too-few" in answer.content:
        return tally_of(survey, [])
    assert answer.status_code == 200, answer.text
    return wire.decode_tally(answer.content, survey.oracle, survey.version)


def _minus(held, known):
    return held.n - known.n, held.state - known.state


def explain(survey, difference, items, taken=()):
    """Return how many of these items, each at most once, make up a difference; None if no choice of them does.

    Each of ``taken`` may be missing.

    Their tallies are vectors of hundreds of numbers or more, independent of each other but for items that are the same.
    So the choice is the solution of linear equations, and it is tried in integers.
    """
    n, state = difference
    if not (items or taken) or (n == 0 and not state.any()):
        return 0 if n == 0 and not state.any() else None
    signed = [(1, item) for item in items] + [(-1, item) for item in taken]
    vectors = np.array([sign * np.append(tally_of(survey, [item]).state.ravel(), item.n) for sign, item in signed])
    different, most = np.unique(vectors, axis=0, return_counts=True)
    wanted = np.append(state.ravel(), n)
    solution = np.rint(np.linalg.lstsq(different.T.astype(float), wanted.astype(float))[0]).astype(np.int64)
    fits = np.array_equal(solution @ different, wanted) and np.all((solution >= 0) & (solution <= most))
    return int(solution.sum()) if fits else None
