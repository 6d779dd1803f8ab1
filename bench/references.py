"""References: the least work that any implementation has to do, written as barely as it can be."""

from threading import Thread
from typing import Any

import numpy as np
from numba import njit

import fldp

_BUFFER_WORDS = (256 << 10) // 8


class Draw:
    """Draw some words of secure randomness into one buffer, which is used again and again."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.stream = fldp.Stream()
        self.buffer = np.empty(_BUFFER_WORDS, np.uint64)

    def __call__(self) -> None:
        whole, rest = divmod(self.words, _BUFFER_WORDS)
        for _ in range(whole):
            self.stream.fill(self.buffer)
        self.stream.fill(self.buffer[:rest])


@njit
def _add_three(pairs: Any, signs: Any, masks: Any) -> None:
    for k in range(len(pairs)):
        plus, minus = pairs[k, 0], pairs[k, 1]
        signs[plus] += 1
        signs[minus] -= 1
        masks[plus ^ minus] -= 1


def add_three(pairs: Any, rows: int) -> Any:
    """Do the three additions of every report and nothing else: no checks, no object around the result."""
    state = np.zeros((2, rows), np.int64)
    _add_three(pairs, state[0], state[1])
    return state


@njit
def _add_seven(rows: Any, leaked: Any, response: Any) -> None:
    for k in range(len(rows)):
        a, b, c, bits = rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3]
        x, y, z = 1 - 2 * np.int64(bits & 1), 1 - 2 * np.int64(bits >> 1 & 1), 1 - 2 * np.int64(bits >> 2 & 1)
        leaked[a] += x
        response[b] += y
        response[c] += z
        response[a ^ b] += x * y
        response[a ^ c] += x * z
        response[b ^ c] += y * z
        response[a ^ b ^ c] += x * y * z


def add_seven(reports: Any, rows: int) -> Any:
    """Do the seven additions of every report of FWR with one leaked parity and two under the coin."""
    state = np.zeros((2, rows), np.int64)
    _add_seven(reports, state[0], state[1])
    return state


@njit
def _count(places: Any, counts: Any) -> None:
    for k in range(len(places)):
        counts[places[k]] += 1


def count_streaming(places: Any, counts: Any) -> None:
    """Add 1 at one random place after the other: what a tally of one addition a report has to do."""
    _count(places, counts)


def stream_by(threads: int, vector: Any, passes: int) -> None:
    """Go over a new vector so many times in parts, one thread each, with hardly any arithmetic."""
    out = np.empty_like(vector)

    def go(part: slice) -> None:
        np.copyto(out[part], vector[part])
        for _ in range(passes - 1):
            np.add(out[part], 1, out=out[part])

    size = len(vector) // threads
    parts = [slice(start, start + size) for start in range(0, len(vector), size)]
    others = [Thread(target=go, args=(part,)) for part in parts[1:]]
    for other in others:
        other.start()
    go(parts[0])
    for other in others:
        other.join()


@njit
def _three_loops(a: Any) -> None:
    step = 1
    while step < len(a):
        for start in range(0, len(a), 2 * step):
            for j in range(start, start + step):
                x, y = a[j], a[j + step]
                a[j], a[j + step] = x + y, x - y
        step *= 2


def textbook_transform(vector: Any) -> Any:
    """Return the Walsh-Hadamard transform by the loops of the textbook, leaving the argument as it was."""
    transformed = vector.copy()
    _three_loops(transformed)
    return transformed
