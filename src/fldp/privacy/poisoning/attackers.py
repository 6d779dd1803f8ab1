"""poison: fake users who want values of their choice to look frequent, and what they achieve."""

from typing import Any

import numpy as np

from fldp.constraints import fail, integer, one_of
from fldp.errors import DomainError
from fldp.oracle import FrequencyOracle
from fldp.oracles import Grouped
from fldp.privacy.poisoning.crafting import Targets, best_given, blind, craft
from fldp.privacy.poisoning.leverage import best, best_on_average, blind_mean, grouped
from fldp.reports import Array, Reports
from fldp.stream import Stream
from fldp.values import as_values

ATTACKS = ("maximal-gain", "random-item", "random-report")


def poison(
    oracle: FrequencyOracle,
    targets: Any,
    users: int,
    *,
    attack: str = "maximal-gain",
    tickets: bool = False,
    rng: int | Stream | None = None,
) -> Reports:
    """Make the reports of fake users who promote a set of target values.

    ``"maximal-gain"`` sends what adds most to the estimates of the targets, ``"random-item"`` the honest report of a
    target, ``"random-report"`` any report. With ``tickets``, masks and hash seeds are not theirs to choose (see
    ``fldp.derived``); where a report has neither, that changes nothing.

    >>> import fldp
    >>> oracle = fldp.OUE(epsilon=1.0, domain_size=100)
    >>> fake = poison(oracle, [7, 8], 1000, rng=7)
    >>> oracle.estimate(oracle.tally(fake)).counts[[7, 8]].round()
    array([3164., 3164.])
    """
    chosen, count = _checked(oracle, targets), integer(0, 1 << 32)("poison", "users", users)
    one_of(*ATTACKS)("poison", "attack", attack)
    stream = Stream.of(rng)
    generator = np.random.Generator(np.random.PCG64(stream.words(4).tolist()))
    if attack == "random-item":
        return oracle.privatize(generator.choice(chosen, count), rng=stream)
    if attack == "random-report":
        return Reports(oracle, blind(oracle, count, generator))
    if tickets and oracle.public_words:
        given = oracle.privatize(np.zeros(count, np.int64), rng=stream)
        return Reports(oracle, best_given(oracle, chosen, given.data))
    return Reports(oracle, craft(oracle, chosen, count, generator))


def leverage(oracle: FrequencyOracle, targets: Any, *, attack: str = "maximal-gain", tickets: bool = False) -> float:
    """Return how many honest holders of a target one fake user counts for, in the mean.

    It is exact, but for FWR with tickets on a large domain, where it is a mean over 16,384 draws of masks. For OLH
    without tickets it takes a seed under which all targets have one symbol.

    >>> import fldp
    >>> oracle = fldp.OLH(epsilon=1.0, domain_size=100)
    >>> [round(leverage(oracle, [1, 2, 3, 4, 5], tickets=tickets), 2) for tickets in (False, True)]
    [16.64, 5.46]
    >>> leverage(oracle, [1, 2], attack="random-item")
    1.0
    """
    chosen = _checked(oracle, targets)
    one_of(*ATTACKS)("leverage", "attack", attack)
    if attack == "random-item":
        return 1.0  # estimates are unbiased
    if attack == "random-report":
        return blind_mean(oracle, chosen)
    return (best_on_average if tickets else best)(oracle, chosen)


def gain(share: float, leverage: float, held: float = 0.0) -> float:
    """Return by how much the targets' estimated share of all users grows, if this share of all users is fake.

    ``held`` is the share of honest users who hold a target: those whom the fakes displace.

    >>> round(gain(0.05, 16.64, held=0.1), 3)
    0.827
    """
    if not 0 <= share <= 1:
        raise fail("gain", "share", "a share of all users, from 0 to 1", share)
    return float(share) * (leverage - held)


def _checked(oracle: FrequencyOracle, targets: Any) -> Targets:
    chosen = np.unique(as_values("poison", list(np.atleast_1d(targets)), oracle.domain_size)).astype(np.int64)
    if not len(chosen):
        raise DomainError("poison: targets must be at least one value, got none")
    return chosen


@craft.register(Grouped)
def _(oracle: Grouped, targets: Targets, count: int, generator: np.random.Generator) -> Array:
    """The best reports of the group where they are worth most."""
    group, inside = max(grouped(oracle, targets), key=lambda part: best(oracle.members[part[0]], part[1]))
    return oracle.reports_from(group, craft(oracle.members[group], inside, count, generator))
