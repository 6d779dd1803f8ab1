"""Kernels of strings that reports hash: the likelihoods of fingerprints, and the bits that they set."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.numerics.kernels import U64, Kernel
from fldp.numerics.types import Floats
from fldp.numerics.word_kernels import keyed_hash, multiply_high


@Kernel
def multiply_at(table: Any, seeds: Any, marks: Any, size: Any, out: Any) -> None:
    """Multiply, for every report and fingerprint, the entries of its row at the places it hashes to, each once."""
    places = np.empty((seeds.shape[1], len(marks)), np.uint64)
    for i in range(len(seeds)):
        for a in range(len(places)):
            seed, hashed = seeds[i, a], places[a]
            for c in range(len(marks)):  # a loop of nothing else vectorises
                hashed[c] = multiply_high(keyed_hash(seed, U64(marks[c])), size)
        for c in range(len(marks)):
            product = table[i, places[0, c]]
            for a in range(1, len(places)):
                again = False
                for b in range(a):
                    again |= places[b, c] == places[a, c]
                if not again:
                    product *= table[i, places[a, c]]
            out[i, c] = product


@multiply_at.by_numpy
def _multiply_at(table: Any, seeds: Any, marks: Any, size: Any, out: Any) -> None:
    with np.errstate(over="ignore"):
        hashed = keyed_hash(seeds[:, None, :], marks.astype(np.uint64)[None, :, None])
        places = distinct(np.asarray(multiply_high(hashed, size)).astype(np.int64))
    entries = np.take_along_axis(table[:, None, :], np.maximum(places, 0), axis=2)
    np.prod(np.where(places < 0, 1.0, entries), axis=2, out=out)


@Kernel
def share_bits(places: Any, bits: Any, out: Any) -> None:
    """Count for every two candidates, the second not after the first, the bits of all cohorts that both set."""
    marks = np.zeros((places.shape[0], bits + 1), np.uint8)
    for v in range(len(out)):
        marks[:] = 0
        for j in range(places.shape[0]):
            for a in range(places.shape[2]):
                marks[j, places[j, v, a]] = 1
            marks[j, bits] = 0  # the place of repeated bits, which are -1
            for w in range(v + 1):
                for a in range(places.shape[2]):
                    out[v, w] += marks[j, places[j, w, a]]


@share_bits.by_numpy
def _share_bits(places: Any, bits: Any, out: Any) -> None:
    for row in places:
        marks = marked(row, bits)
        out += np.tril(marks @ marks.T).astype(np.int64)


@Kernel
def add_moments(weights: Any, places: Any, bits: Any, base: Any, share: Any, more: Any, own: Any, sums: Any) -> None:
    """Add what reports add to linear combinations of counts, a row of weights for each: ``bloom_model`` has the terms.

    A candidate sets few bits, so its sums over the bits are sums over these, less what all bits have in common.
    """
    each = np.empty(bits + 1)
    for r in range(len(weights)):
        level = -base * share * weights[r].sum()
        for j in range(places.shape[0]):
            each[:] = level
            for v in range(places.shape[1]):
                for a in range(places.shape[2]):
                    each[places[j, v, a]] += share * weights[r, v]
            each[bits] = 0.0  # the place of repeated bits, which are -1
            total, squares = each.sum(), (each**2).sum()
            sums[r, 0] += squares
            sums[r, 1] += total**2
            for v in range(places.shape[1]):
                inside, inside_squares = 0.0, 0.0
                for a in range(places.shape[2]):
                    one = each[places[j, v, a]]
                    inside += one
                    inside_squares += one * one
                own[r, v] += more * inside_squares + (inside - base * total) ** 2


@add_moments.by_numpy
def _add_moments(weights: Any, places: Any, bits: Any, base: Any, share: Any, more: Any, own: Any, sums: Any) -> None:
    for row in places:
        marks = marked(row, bits)
        each = share * (weights @ (marks - base))
        totals = each.sum(axis=1)
        sums += np.column_stack([(each**2).sum(axis=1), totals**2])
        own += more * (each**2 @ marks.T) + (each @ marks.T - base * totals[:, None]) ** 2


def marked(places: NDArray[np.integer[Any]], bits: int) -> Floats:
    """Return a row for every candidate: 1 at the bits that it sets, of which -1 is none."""
    marks = np.zeros((len(places), bits + 1))
    np.put_along_axis(marks, places.astype(np.intp), 1.0, axis=1)
    return marks[:, :bits]


def distinct(positions: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Replace a bit that an earlier hash function has set by -1."""
    once = positions.copy()
    for place in range(1, once.shape[2]):
        again = (positions[:, :, :place] == positions[:, :, place : place + 1]).any(axis=2)
        once[:, :, place][again] = -1
    return once
