"""heavy_hitters: a whole search on one machine that holds all strings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fldp.data.reports import Tally
from fldp.errors import DomainError
from fldp.randomness.stream import Stream
from fldp.search.prefix_code import as_bytes
from fldp.search.results import HeavyHitters
from fldp.search.rounds import Round, Search, SearchOptions
from fldp.support.progress import Progress
from fldp.support.validation import fail, is_integer

Strings = Iterable[str | bytes] | Mapping[Any, int]
Users = NDArray[np.int64]

_REPORT_BYTES = 1 << 26


def heavy_hitters(
    values: Strings,
    *,
    epsilon: float,
    k: int = 20,
    rng: int | Stream | None = None,
    progress: Progress | None = None,
    **options: Unpack[SearchOptions],
) -> HeavyHitters:
    """Find the ``k`` most frequent strings, from one report of each person.

    ``values`` are strings (text stands for its UTF-8), one for each person, or a mapping from strings to the number of
    people who hold them. The rounds share the people evenly, at random; if the search ends early, everybody who is left
    is in the last round. ``options`` are parameters of ``Search``; ``progress`` gets the number of people done.

    This needs all strings on one machine. To ask people who keep theirs, publish the search on a collector.

    >>> import fldp
    >>> words = {"the": 70_000, "of": 36_000, "and": 29_000, "to": 26_000, "in": 21_000}
    >>> fldp.heavy_hitters(words, epsilon=4.0, k=2, rng=7).top(2)[0].text
    'the'
    """
    search = Search(epsilon=epsilon, k=k, **options)
    strings, users = _people(values)
    if len(users) <= search.rounds:
        raise fail("heavy_hitters", "values", f"at least {search.rounds + 1}, one for each round", len(users))
    stream = Stream.of(rng)
    shuffled = users[np.argsort(stream.child("split").words(len(users)), kind="stable")]
    now: Round | HeavyHitters = search.first
    quota, start = len(users) // (search.rounds + 1), 0
    while isinstance(now, Round):
        part = shuffled[start:] if now.is_last else shuffled[start : start + quota]
        now = now.next_round(answered(now, strings, part, stream.child("round", now.number), progress))
        start += quota
    return replace(now, population=len(users))


def _people(values: Strings) -> tuple[list[bytes], Users]:
    """Return the strings, sorted, and for each person the index of theirs; the order of the people is forgotten."""
    counts: Counter[bytes] = Counter()
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        kind = type(values).__name__
        raise DomainError(
            f"heavy_hitters: values must be a collection of strings, got a value of type {kind} (not shown)"
        )
    for value, count in values.items() if isinstance(values, Mapping) else Counter(map(as_bytes, values)).items():
        if not is_integer(count) or count < 0:
            raise fail("heavy_hitters", "values", "strings with counts of at least 0", count)
        counts[as_bytes(value)] += int(count)
    strings = sorted(counts)
    return strings, np.repeat(np.arange(len(strings)), [counts[string] for string in strings])


def answered(
    question: Round, strings: list[bytes], people: Users, stream: Stream, progress: Progress | None = None
) -> Tally:
    """Return the tally of the reports of people, given which of the strings each one holds."""
    values = np.fromiter(map(question.value, strings), np.int64, len(strings))
    total = Tally.empty(question.oracle)
    for part in _chunks(people, max(1, 8 * _REPORT_BYTES // question.oracle.report_format.bits)):
        total += question.oracle.tally(question.oracle.privatize(values[part], rng=stream))
        if progress is not None:
            progress(len(part))
    return total


def _chunks(people: Users, size: int) -> Iterator[Users]:
    return (people[start : start + size] for start in range(0, len(people), size))
