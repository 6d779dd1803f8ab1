"""Leverage: what one fake report adds to the estimated number of users who hold any of the targets, in the mean.

An honest user who holds a target adds 1. Estimates are sums over reports, so leverage is all there is to know of an
attack: of a share b of fakes among all users, the targets gain ``b (leverage - held)`` of all users, where ``held`` is
the share of honest users who hold a target.
"""

from functools import singledispatch
from math import factorial

import numpy as np
from numpy.typing import NDArray

from fldp.errors import ParameterError
from fldp.oracle import FrequencyOracle
from fldp.oracles import FHR, FWR, HR, OLH, PGR, SS, Grouped
from fldp.oracles.grr import GRR
from fldp.oracles.pure import PureOracle
from fldp.oracles.single import Single
from fldp.oracles.unary import UnaryOracle
from fldp.privacy.poisoning.crafting import Targets, agreement_worth, parity_scores, signs_of, symbol_scores
from fldp.stream import Stream

_DRAWS = 1 << 14  # of masks, where there are too many to go through


@singledispatch
def best(oracle: FrequencyOracle, targets: Targets) -> float:
    """Return the most that any report adds: the leverage of the maximal gain attack."""
    del targets
    raise ParameterError(f"leverage: the oracle must be one whose best fake reports are known, got {oracle.title}")


@singledispatch
def best_on_average(oracle: FrequencyOracle, targets: Targets) -> float:
    """Return the same where the public part of every report is given, in the mean over it."""
    return best(oracle, targets)


@singledispatch
def blind_mean(oracle: FrequencyOracle, targets: Targets) -> float:
    """Return what a report adds that was drawn uniformly: the leverage of the random report attack."""
    del targets
    raise ParameterError(f"leverage: the oracle must be one whose reports are known, got {oracle.title}")


@blind_mean.register(HR)
@blind_mean.register(OLH)
def _(oracle: HR | OLH, targets: Targets) -> float:
    """Over all symbols, what speaks for a value and what speaks against it are balanced."""
    del oracle, targets
    return 0.0


def _debiased(oracle: PureOracle, supported: float, targets: Targets) -> float:
    """Return what a report adds that supports so many targets."""
    return (supported - len(targets) * float(oracle.q)) / float(oracle.p - oracle.q)


@best.register(GRR)
def _(oracle: GRR, targets: Targets) -> float:
    return _debiased(oracle, 1, targets)


@blind_mean.register(GRR)
def _(oracle: GRR, targets: Targets) -> float:
    return _debiased(oracle, len(targets) / oracle.domain_size, targets)


@best.register(UnaryOracle)
@best.register(OLH)
def _(oracle: UnaryOracle | OLH, targets: Targets) -> float:
    """OLH: if a seed is found under which all targets have one symbol, which one in ``g^(r-1)`` seeds is."""
    return _debiased(oracle, len(targets), targets)


@blind_mean.register(UnaryOracle)
def _(oracle: UnaryOracle, targets: Targets) -> float:
    return _debiased(oracle, len(targets) / 2, targets)


@best_on_average.register(OLH)
def _(oracle: OLH, targets: Targets) -> float:
    return _debiased(oracle, fullest(len(targets), oracle.symbols), targets)


def fullest(balls: int, urns: int) -> float:
    """Return the mean number of balls in the fullest urn, each ball being in any urn with the same probability.

    ``P(none has more than k)`` is ``balls!/urns^balls`` times a coefficient of ``(1 + x + ... + x^k/k!)^urns``.

    >>> fullest(1, 4), fullest(2, 4), round(fullest(3, 2), 9)
    (1.0, 1.25, 2.25)
    """
    below = [1.0 if k >= balls else _no_more_than(k, balls, urns) for k in range(balls + 1)]
    return float(balls - sum(below[:balls]))


def _no_more_than(most: int, balls: int, urns: int) -> float:
    urn = [1 / factorial(k) / urns**k if k <= most else 0.0 for k in range(balls + 1)]
    made = np.array([1.0] + [0.0] * balls)
    for _ in range(urns):
        made = np.convolve(made, urn)[: balls + 1]
    return float(made[balls]) * factorial(balls)


@best.register(SS)
def _(oracle: SS, targets: Targets) -> float:
    return _debiased(oracle, min(len(targets), oracle.size), targets)


@blind_mean.register(SS)
def _(oracle: SS, targets: Targets) -> float:
    return _debiased(oracle, len(targets) * oracle.size / oracle.domain_size, targets)


@best.register(PGR)
def _(oracle: PGR, targets: Targets) -> float:
    return _debiased(oracle, float(symbol_scores(oracle, targets).max()), targets)


@blind_mean.register(PGR)
def _(oracle: PGR, targets: Targets) -> float:
    return _debiased(oracle, len(targets) * oracle.space.set_size / oracle.space.size, targets)


@best.register(HR)
def _(oracle: HR, targets: Targets) -> float:
    return float(symbol_scores(oracle, targets).max()) / float(oracle.coin.p - oracle.coin.q)


@best.register(FHR)
def _(oracle: FHR, targets: Targets) -> float:
    """Position 0 is one of +1 for all; the mask is odd for as many as can be, and so is the other position."""
    least, w = int(signs_of(oracle.walsh_order, oracle.value_items[targets]).min()), oracle.noise.weight
    return w * (len(targets) - least) / float(2 * (2 * oracle.coin.p - 1)) - (1 - w) * least


@blind_mean.register(FHR)
def _(oracle: FHR, targets: Targets) -> float:
    return (1 - oracle.noise.weight) * len(targets) / (oracle.walsh_order - 1)


@best.register(FWR)
def _(oracle: FWR, targets: Targets) -> float:
    """There always is a mask under which all targets have one parity, such as 0."""
    return len(targets) * sum(agreement_worth(oracle))


@best_on_average.register(FWR)
def _(oracle: FWR, targets: Targets) -> float:
    """Exact where all masks can be gone through, else the mean of some, always the same."""
    masks = np.array(list(oracle.publics())) if oracle.publics_are_all else _some_masks(oracle)
    return float(parity_scores(oracle, masks, targets).max(axis=1).mean())


def _some_masks(oracle: FWR) -> NDArray[np.int64]:
    words = Stream(0).words(_DRAWS * oracle.masks) % np.uint64(oracle.rows)
    return words.astype(np.int64).reshape(_DRAWS, oracle.masks)


@blind_mean.register(FWR)
def _(oracle: FWR, targets: Targets) -> float:
    return (1 - oracle.noise.weight) * len(targets) / oracle.rows


@best.register(Single)
@blind_mean.register(Single)
def _(oracle: Single, targets: Targets) -> float:
    del oracle
    return float(len(targets))


@best.register(Grouped)
def _(oracle: Grouped, targets: Targets) -> float:
    """That in the best group, since a report is in one."""
    return max(best(oracle.members[group], inside) for group, inside in grouped(oracle, targets))


@blind_mean.register(Grouped)
def _(oracle: Grouped, targets: Targets) -> float:
    parts = grouped(oracle, targets)
    return sum(blind_mean(oracle.members[group], inside) for group, inside in parts) / len(oracle.groups)


def grouped(oracle: Grouped, targets: Targets) -> list[tuple[int, Targets]]:
    """Return the groups that have targets, and these as values of the group."""
    found: dict[int, list[int]] = {}
    for target in targets.tolist():
        group = oracle.group_of(target)
        found.setdefault(group, []).append(target - oracle.runs[group].start)
    return [(group, np.array(inside)) for group, inside in found.items()]
