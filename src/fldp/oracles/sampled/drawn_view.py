"""A view that is drawn before the answers: which questions a word asks, and the report that begins with that word.

``ask = "drawn"`` asks a person only the questions that the report is about. The word that chooses the view is public
chance and comes first in every report, so nothing changes in the law of a report.
"""

import secrets

import numpy as np

from fldp.data.reports import Reports
from fldp.oracles.sampled.sampled import Sampled
from fldp.randomness.stream import Stream


def draw_word() -> int:
    """Return the word that chooses a view, from the operating system."""
    return secrets.randbits(64)


def questions_of(oracle: Sampled, word: int) -> tuple[int, ...]:
    """Return the questions that a report with this first word is about.

    >>> oracle = Sampled(epsilon=1.0, answers=[4, 4, 2], views=2)
    >>> [questions_of(oracle, word) for word in (0, 1 << 63, (1 << 64) - 1)]
    [(0, 1), (0, 2), (1, 2)]
    """
    view = int(oracle.design.view_of(np.array([word], np.uint64))[0])
    return tuple(oracle.design.views[view].questions)


def privatize(oracle: Sampled, record: int, word: int) -> Reports:
    """Privatize one record with this first word, and all other words from the operating system.

    >>> oracle = Sampled(epsilon=1.0, answers=[4, 4, 2], views=2)
    >>> oracle.estimator.people(oracle.tally(privatize(oracle, 0, 1 << 63)))
    (0, 1, 0)
    """
    words, data = Stream().words(oracle.words), oracle.report_format.empty(1)
    words[0] = word
    oracle.perturb(oracle._as_values([record]).astype(np.int64), words[None], data)
    return Reports.trusted(oracle, data)
