"""Mechanisms with a planted defect each that breaks their privacy, for the audit to find from outputs alone.

Some are oracles of ours with a wrong ``perturb``, some are functions as somebody else might write them.
"""

from math import exp

import numpy as np

from fldp import FHR, FWR, GRR, HRR, OUE, SS, Stream
from fldp.privacy.auditor import repeated
from support import defects

WORD = 2**64


def uniform(stream, *shape):
    """Numbers in [0, 1)."""
    return (stream.words(int(np.prod(shape))) / 2.0**64).reshape(shape)


class TrueBitOredIn(OUE):
    """The true bit is always set, and then also thrown."""

    def perturb(self, values, words, out):
        super().perturb(values, words, out)
        out[np.arange(len(values)), values // 8] |= (1 << values % 8).astype(np.uint8)


class ValueReinserted(SS):
    """A set without the value is drawn from all values, the true one included."""

    def perturb(self, values, words, out):
        keys = uniform(Stream(int(words[0, 0])), len(values), self.domain_size)
        named = np.flatnonzero(words[:, 0] < np.uint64(self.coin.keep))
        keys[named, values[named]] = -1
        out[:] = np.sort(np.argsort(keys, axis=1)[:, : self._size], axis=1)


class RoundedSymbol(GRR):
    """The probability of the value is rounded to one digit: 0.45 becomes 0.5, and epsilon 0.5 becomes 0.69."""

    def perturb(self, values, words, out):
        rounded = round(float(self.estimator.p), 1)
        shift = 1 + words[:, 0] % np.uint64(1 << 20) % np.uint64(self.domain_size - 1)
        other = (values + shift.astype(np.int64)) % self.domain_size
        out[:] = np.where(words[:, 0] / 2.0**64 < rounded, values, other)


class CutOffBit(OUE):
    """The probability of another bit is cut off after one digit: 0.27 becomes 0.2, and epsilon 1 becomes 1.39."""

    def perturb(self, values, words, out):
        stream = Stream(int(words[0, 0]))
        bits = uniform(stream, len(values), self.domain_size) < int(10 * float(self.estimator.q)) / 10
        bits[np.arange(len(values)), values] = words[:, 0] < np.uint64(WORD // 2)
        out[:] = np.packbits(bits, axis=1, bitorder="little")


class WordsOfTheNeighbour(GRR):
    """Two users after each other share their random words."""

    def perturb(self, values, words, out):
        super().perturb(values, np.repeat(words[::2], 2, axis=0)[: len(values)], out)


class WordsOfAnotherPlace(OUE):
    """The second half of the bits is thrown with the words of the first half."""

    def perturb(self, values, words, out):
        half = self.domain_size // 2
        first = uniform(Stream(int(words[0, 0])), len(values), half) < float(self.estimator.q)
        bits = np.concatenate([first, first], axis=1)
        bits[np.arange(len(values)), values] = words[:, 0] < np.uint64(WORD // 2)
        out[:] = np.packbits(bits, axis=1, bitorder="little")


class MaskIsCoin(HRR):
    """The coin is made of the bits of the published mask."""

    def perturb(self, values, words, out):
        words = words.copy()
        words[:, 1] = words[:, 0] << np.uint64(65 - self._parities.rows.bit_length())
        super().perturb(values, words, out)


def same_stream_in_every_call(values):
    """Every call begins the same stream; each report is perfect."""
    return GRR(1.0, 5).privatize(values, rng=1)


def _odd_masks(oracle, values, words):
    """Flip the lowest bit of the item in every mask whose parity with the item is even."""
    words = words.copy()
    items = oracle._parities.items[values]
    low = items & (~items + np.uint64(1))
    for column in range(oracle.words - 1):
        for shift in (np.uint64(0), np.uint64(32)):
            mask = words[:, column] >> shift & np.uint64(oracle._parities.rows - 1)
            even = np.bitwise_count(mask & items) % 2 == 0
            words[:, column] ^= np.where(even, low << shift, np.uint64(0))
    return words


class MaskOfTheItem(HRR):
    """The mask is drawn so that the parity is odd, since an even one "says nothing"."""

    def perturb(self, values, words, out):
        super().perturb(values, _odd_masks(self, values, words), out)


class MasksOfTheItem(FWR):
    """The same with a leak, whose eta allows a lot already."""

    def perturb(self, values, words, out):
        super().perturb(values, _odd_masks(self, values, words), out)


class RowZero(FHR):
    """Value 0 has row 0 of the matrix, which has no -1: its second position is the first one."""

    def perturb(self, values, words, out):
        super().perturb(np.maximum(values - 1, 0), words, out)
        out["minus"][values == 0] = out["plus"][values == 0]


class NoiseFromOne(GRR):
    """Another symbol is drawn from 1 on: 0 is only ever said by those who hold it."""

    def perturb(self, values, words, out):
        another = 1 + words[:, 0] % np.uint64(1 << 20) % np.uint64(self.domain_size - 1)
        out[:] = np.where(words[:, 0] < np.uint64(self.coin.keep), values, another)


def rappor(stream, redraw):
    """Permanent noise on a unary encoding, and instantaneous noise on top of it at every question."""

    def flipped(bits, share):
        return bits ^ (uniform(stream, *bits.shape) < share)

    def enrol(values):
        truth = np.eye(4, dtype=bool)[values]
        permanent = flipped(truth, 1 / (exp(0.5) + 1))
        return lambda: flipped(flipped(truth, 1 / (exp(0.5) + 1)) if redraw else permanent, 0.25)

    return enrol


def memory(oracle, stream, redraw):
    """A client that remembers its report, or draws a new one every time it is asked."""

    def enrol(values):
        report = oracle.privatize(values, rng=stream)
        return lambda: oracle.privatize(values, rng=stream) if redraw else report

    return enrol


def publishes(stream, share):
    """The value with some probability, else nothing."""
    return lambda values: np.where(uniform(stream, len(values)) < share, values, -1)


def lists(stream, share):
    """A pair from the value's own list of half of all pairs, with some probability, and else from the others.

    The lists are drawn at random, so there is nothing to see in either number alone.
    """
    order = np.argsort(Stream(1).words(4 * 512).reshape(4, 512), axis=1)

    def privatize(values):
        place = (256 * uniform(stream, len(values))).astype(int)
        drawn = order[values, np.where(uniform(stream, len(values)) < share, place, 256 + place)]
        return np.stack(divmod(drawn, 23), axis=1)

    return privatize


def laplace(stream, scale, rounded):
    """The value and Laplace noise, as a float or rounded. The last bits of a float tell what the noise was added to."""

    def privatize(values):
        u = uniform(stream, len(values)) - 0.5
        noisy = values - scale * np.sign(u) * np.log1p(-2 * np.abs(u))
        return np.round(noisy).astype(np.int64) if rounded else noisy

    return privatize


LDP = {"epsilon": 1.0, "domain_size": 4}
HALF = {"epsilon": 1.0, "eta": 0.5, "domain_size": 7}

# What is audited, given a stream; what it claims; the families that have to see it.
BROKEN = {
    "true bit OR-ed in": (lambda _: TrueBitOredIn(1.0, 20), {}, {"positions", "parities", "classes"}),
    "value reinserted": (lambda _: ValueReinserted(1.0, 12), {}, {"positions", "classes"}),
    "true value first": (lambda _: defects.TrueValueFirst(1.0, 7), {}, {"positions", "order", "classes"}),
    "true position first": (lambda _: defects.TruePositionFirst(1.0, 7).privatize, HALF, {"classes"}),
    "rounded symbol": (lambda _: RoundedSymbol(0.5, 3), {}, {"outputs"}),
    "cut off bit": (lambda _: CutOffBit(1.0, 20), {}, {"classes"}),
    "words of the neighbour": (lambda _: WordsOfTheNeighbour(1.0, 5), {}, {"independence"}),
    "words of another place": (lambda _: WordsOfAnotherPlace(1.0, 60), {}, {"parities", "classes"}),
    "same stream in every call": (lambda _: same_stream_in_every_call, {"oracle": GRR(1.0, 5)}, {"independence"}),
    "seed is coin": (lambda _: defects.SeedIsCoin(1.0, 100), {}, {"classes"}),
    "mask is coin": (lambda _: MaskIsCoin(1.0, 8), {}, {"outputs", "classes"}),
    "mask of the item": (lambda _: MaskOfTheItem(1.0, 100), {}, {"classes"}),
    "masks of the item": (lambda _: MasksOfTheItem(1.0, 100, 0.5), {}, {"classes"}),
    "row zero": (lambda _: RowZero(1.0, 7), {}, {"order", "classes"}),
    "noise from one": (lambda _: NoiseFromOne(1.0, 5), {}, {"outputs", "positions", "classes"}),
    "permanent noise redrawn": (lambda s: repeated(rappor(s, True), 16), LDP, {"classes"}),
    "report redrawn": (lambda s: repeated(memory(FHR(1.0, 7), s, True), 4), HALF, {"classes"}),
    "leaky seed": (lambda _: defects.LeakySeed(1.0, 7), {}, {"positions", "parities", "classes"}),
    "published in large domains": (lambda _: defects.PublishesInLargeDomains(1.0, 100), {}, {"positions"}),
    "published too often": (lambda s: publishes(s, 0.6), HALF, {"outputs", "positions", "classes"}),
    "too little noise": (lambda s: laplace(s, 2.0, True), LDP, {"positions"}),
    "lists without noise": (lambda s: lists(s, 1.0), {**LDP, "eta": 0.65}, {"classes"}),
    "noise in floats": (lambda s: laplace(s, 3.0, False), LDP, {"classes"}),
}

HONEST = {
    "permanent noise kept": (lambda s: repeated(rappor(s, False), 16), LDP),
    "report kept": (lambda s: repeated(memory(FHR(1.0, 7), s, False), 4), HALF),
    "published often enough": (lambda s: publishes(s, 0.5), HALF),
    "lists": (lambda s: lists(s, exp(1) / (exp(1) + 1)), LDP),
    "enough noise": (lambda s: laplace(s, 3.0, True), LDP),
}
