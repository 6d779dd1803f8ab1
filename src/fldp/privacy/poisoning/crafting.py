"""Fake reports: the best that an attacker can send for a set of targets, and reports drawn blindly.

An oracle joins with a function under ``craft`` and ``blind``, and one under ``best_given`` if a part of its reports is
public. Fakes are as varied as they can be without losing anything, which makes them hard to see.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.errors import ParameterError
from fldp.geometry import hyperplane_sums
from fldp.kernels import U64, keyed_hash, multiply_high, walsh_hadamard
from fldp.oracle import FrequencyOracle
from fldp.oracles import FHR, FWR, GRR, HR, OLH, PGR, SS, Grouped
from fldp.oracles.single import Single
from fldp.oracles.unary import UnaryOracle
from fldp.reports import Array

Targets = NDArray[np.int64]
Generator = np.random.Generator
POOL, MOST_POOLS = 1 << 16, 16  # hash seeds that an attacker tries, and how often


@singledispatch
def craft(oracle: FrequencyOracle, targets: Targets, count: int, generator: Generator) -> Array:
    """Return so many reports, each of which adds as much as any can to the estimates of the targets."""
    del targets, count, generator
    raise ParameterError(f"poison: the oracle must be one whose best fake reports are known, got {oracle.title}")


@singledispatch
def blind(oracle: FrequencyOracle, count: int, generator: Generator) -> Array:
    """Return so many reports, drawn uniformly from all that there are."""
    del count, generator
    raise ParameterError(f"poison: the oracle must be one whose reports are known, got {oracle.title}")


@singledispatch
def best_given(oracle: FrequencyOracle, targets: Targets, data: Array) -> Array:
    """Return reports with the same public part, in which all else is as good for the targets as it can be."""
    del targets, data
    raise ParameterError(f"poison: the oracle must have reports with a public part, got {oracle.title}")


def _ranks(size: int, first: Targets, count: int, generator: Generator) -> NDArray[np.float64]:
    """Return a random order of the values for each report, in which those of ``first`` come first."""
    keys = generator.random((count, size))
    keys[:, first] -= 1
    return keys


@craft.register(GRR)
def _(oracle: GRR, targets: Targets, count: int, generator: Generator) -> Array:
    return generator.choice(targets, count).astype(oracle.report_dtype)


@blind.register(GRR)
def _(oracle: GRR, count: int, generator: Generator) -> Array:
    return generator.integers(oracle.domain_size, size=count).astype(oracle.report_dtype)


@craft.register(UnaryOracle)
def _(oracle: UnaryOracle, targets: Targets, count: int, generator: Generator) -> Array:
    """The bits of all targets, filled up with others to as many as an honest report has."""
    d = oracle.domain_size
    weight = generator.binomial(1, float(oracle.p), count) + generator.binomial(d - 1, float(oracle.q), count)
    order = np.argsort(np.argsort(_ranks(d, targets, count, generator), axis=1), axis=1)
    return np.packbits(order < np.maximum(weight, len(targets))[:, None], axis=1, bitorder="little")


@blind.register(UnaryOracle)
def _(oracle: UnaryOracle, count: int, generator: Generator) -> Array:
    return np.packbits(generator.integers(2, size=(count, oracle.domain_size)), axis=1, bitorder="little")


@craft.register(SS)
def _(oracle: SS, targets: Targets, count: int, generator: Generator) -> Array:
    order = np.argsort(_ranks(oracle.domain_size, targets, count, generator), axis=1)
    return np.sort(order[:, : oracle.size], axis=1).astype(oracle.report_dtype)


@blind.register(SS)
def _(oracle: SS, count: int, generator: Generator) -> Array:
    return craft(oracle, np.empty(0, np.int64), count, generator)


@craft.register(OLH)
def _(oracle: OLH, targets: Targets, count: int, generator: Generator) -> Array:
    """Seeds under which the most targets have one symbol, the best of many that are tried; few come twice."""
    found, best = np.empty(0, oracle.report_dtype), 0
    for _ in range(MOST_POOLS):
        pool = best_given(oracle, targets, blind(oracle, POOL, generator))
        score = (_symbols(oracle, pool, targets) == pool["symbol"][:, None]).sum(axis=1)
        found = np.concatenate([found if score.max() <= best else found[:0], pool[score == max(best, score.max())]])
        best = max(best, int(score.max()))
        if len(found) >= count:
            break
    return np.asarray(generator.choice(found, count, replace=len(found) < count))


@blind.register(OLH)
def _(oracle: OLH, count: int, generator: Generator) -> Array:
    made = np.empty(count, oracle.report_dtype)
    made["seed"] = generator.integers(2**64, size=count, dtype=np.uint64)
    made["symbol"] = generator.integers(oracle.symbols, size=count)
    return made


@best_given.register(OLH)
def _(oracle: OLH, targets: Targets, data: Array) -> Array:
    """The symbol that most targets hash to."""
    symbols = np.sort(_symbols(oracle, data, targets), axis=1)
    together = (symbols[:, :, None] == symbols[:, None, :]).sum(axis=2)
    made = data.copy()
    made["symbol"] = np.take_along_axis(symbols, together.argmax(axis=1)[:, None], axis=1)[:, 0]
    return made


def _symbols(oracle: OLH, data: Array, targets: Targets) -> Array:
    hashes = keyed_hash(data["seed"][:, None], targets.astype(np.uint64))
    return np.asarray(multiply_high(hashes, U64(oracle.symbols)))


@craft.register(HR)
@craft.register(PGR)
def _(oracle: HR | PGR, targets: Targets, count: int, generator: Generator) -> Array:
    score = symbol_scores(oracle, targets)
    return generator.choice(np.flatnonzero(score == score.max()), count).astype(oracle.report_dtype)


@blind.register(HR)
@blind.register(PGR)
def _(oracle: HR | PGR, count: int, generator: Generator) -> Array:
    return generator.integers(oracle.outcomes, size=count).astype(oracle.report_dtype)


def symbol_scores(oracle: HR | PGR, targets: Targets) -> NDArray[Any]:
    """Return how many targets every symbol supports; of HR, less those that it speaks against."""
    if isinstance(oracle, PGR):
        marks = np.zeros(oracle.space.size, np.int64)
        marks[targets] = 1
        return hyperplane_sums(marks, oracle.space)
    return np.concatenate(
        [walsh_hadamard(line) for line in oracle.to_rows(np.isin(np.arange(oracle.domain_size), targets))]
    )


def signs_of(order: int, items: NDArray[Any]) -> NDArray[np.int64]:
    """Return for every position the sum of the signs of these rows of the matrix there.

    >>> signs_of(4, np.array([1, 3]))
    array([ 2, -2,  0,  0])
    """
    marks = np.zeros(order, np.int64)
    marks[items] = 1
    return walsh_hadamard(marks)


@craft.register(FHR)
def _(oracle: FHR, targets: Targets, count: int, generator: Generator) -> Array:
    """A first position of +1 for all targets, and a mask that is odd for as many as can be."""
    signs = signs_of(oracle.walsh_order, oracle.value_items[targets])
    made = np.empty(count, oracle.report_dtype)
    made["plus"] = generator.choice(np.flatnonzero(signs == len(targets)), count)
    made["minus"] = made["plus"] ^ generator.choice(np.flatnonzero(signs == signs.min()), count)
    return made


@blind.register(FHR)
def _(oracle: FHR, count: int, generator: Generator) -> Array:
    made = np.empty(count, oracle.report_dtype)
    made["plus"] = generator.integers(oracle.walsh_order, size=count)
    made["minus"] = made["plus"] ^ generator.integers(1, oracle.walsh_order, size=count)
    return made


@craft.register(FWR)
def _(oracle: FWR, targets: Targets, count: int, generator: Generator) -> Array:
    """Masks under which all targets have one parity, and those parities."""
    items = oracle.items[targets]
    alike = np.flatnonzero(np.abs(signs_of(oracle.rows, items)) == len(items))
    masks = generator.choice(alike, (count, oracle.masks))
    return _masked(oracle, masks, _codes(masks, items[None, :1])[:, 0])


@blind.register(FWR)
def _(oracle: FWR, count: int, generator: Generator) -> Array:
    """Uniform masks and symbols, and the leak of any item, since not every leak is possible."""
    masks = generator.integers(oracle.rows, size=(count, oracle.masks))
    leak = _codes(masks, generator.integers(oracle.rows, size=(count, 1)))[:, 0]
    symbols = generator.integers(1 << oracle.bits, size=count)
    return _masked(oracle, masks, leak & ((1 << oracle.leaks) - 1) | symbols << oracle.leaks)


@best_given.register(FWR)
def _(oracle: FWR, targets: Targets, data: Array) -> Array:
    """Go through all parities that could be reported under the masks."""
    masks = np.stack([data[f"mask{j}"].astype(np.int64) for j in range(oracle.masks)], axis=1)
    return _masked(oracle, masks, np.argmax(parity_scores(oracle, masks, targets), axis=1))


def parity_scores(oracle: FWR, masks: NDArray[np.int64], targets: Targets) -> NDArray[np.float64]:
    """Return how much each choice of parities under these masks adds to the estimates of the targets, all together."""
    codes, K = _codes(masks, oracle.items[None, targets]), 1 << oracle.leaks
    full = np.zeros((len(masks), 1 << oracle.masks))
    np.add.at(full, (np.arange(len(masks))[:, None], codes), 1.0)
    leak = np.tile(full.reshape(len(masks), -1, K).sum(axis=1), 1 << oracle.bits)
    both, alone, base = agreement_worth(oracle)
    score = both * full + alone * leak + base * len(targets)
    for chosen in range(1, K):  # where leaked masks cancel out, so must their parities
        cancel = np.bitwise_xor.reduce(np.where(chosen >> np.arange(oracle.masks) & 1, masks, 0), axis=1) == 0
        odd = np.bitwise_count(np.arange(1 << oracle.masks) & chosen) & 1 == 1
        score[np.ix_(cancel, odd)] = -np.inf
    return score


def agreement_worth(oracle: FWR) -> tuple[float, float, float]:
    """Return what a report adds to an estimate: if it agrees in all parities; in the leak; in any case."""
    K, g, w = 1 << oracle.leaks, 1 << oracle.bits, oracle.noise.weight
    sure = w / (float(oracle.coin.p) - 1 / g)
    return (sure, -sure / g, 0.0) if K == 1 else (sure, (1 - w) * K / (K - 1) - sure / g, -(1 - w) / (K - 1))


def _codes(masks: NDArray[np.int64], items: NDArray[Any]) -> NDArray[np.int64]:
    """Return the parities of items under masks, as the bits of a number: a row for each report."""
    odd = np.bitwise_count(masks[:, None, :] & items.astype(np.int64)[:, :, None]).astype(np.int64) & 1
    return np.asarray((odd << np.arange(masks.shape[1])).sum(axis=2))


def _masked(oracle: FWR, masks: NDArray[np.int64], bits: NDArray[np.int64]) -> Array:
    made = np.empty(len(masks), oracle.report_dtype)
    for j in range(oracle.masks):
        made[f"mask{j}"] = masks[:, j]
    made["bits"] = bits
    return made


@craft.register(Single)
def _(oracle: Single, targets: Targets, count: int, generator: Generator) -> Array:
    del targets, generator
    return np.empty((count, 0), oracle.report_dtype)


@blind.register(Single)
def _(oracle: Single, count: int, generator: Generator) -> Array:
    return craft(oracle, np.empty(0, np.int64), count, generator)


@blind.register(Grouped)
def _(oracle: Grouped, count: int, generator: Generator) -> Array:
    """A group at random, then a report of its oracle."""
    groups = np.sort(generator.integers(len(oracle.groups), size=count))
    sizes = np.bincount(groups, minlength=len(oracle.groups))
    parts = zip(oracle.members, sizes.tolist(), strict=True)
    return np.concatenate(
        [oracle.reports_from(k, blind(member, size, generator)) for k, (member, size) in enumerate(parts) if size]
    )
