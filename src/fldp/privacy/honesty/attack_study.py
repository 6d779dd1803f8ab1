"""Measured attacks: what fakes among honest users gain, and which integrity tests detect them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fldp import oracles
from fldp.data.reports import Reports
from fldp.errors import ParameterError
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.base.ticket_words import can_derive
from fldp.oracles.strings.bloom_model import MAX_FITTED
from fldp.privacy.honesty import integrity
from fldp.privacy.poisoning.attackers import ATTACKS, gain, leverage, poison
from fldp.randomness.stream import Stream
from fldp.support.progress import Progress, ignore
from fldp.support.validation import fail, fraction, integer


@dataclass(frozen=True)
class AttackOutcome:
    """One attack: expected and measured gain, and which tests detected it, from reports and from their tally.

    Gains are shares of all users. ``stderr`` covers the noise of the honest users and of the fakes.
    """

    oracle: Oracle
    attack: str
    tickets: bool
    share: float
    leverage: float
    expected: float
    measured: float
    stderr: float
    in_reports: tuple[str, ...]
    in_tally: tuple[str, ...]


def oracles_for(epsilon: float, domain_size: int) -> tuple[list[FrequencyOracle], list[str]]:
    """Return one oracle of each kind for a domain, and why others refuse it.

    Where values differ in the protection that they need, the first half needs more, or the first 100. Oracles over
    strings are among as many candidates.

    >>> usable, refused = oracles_for(1.0, 600)
    >>> len(usable), refused
    (18, ['Exponential: domain_size must be an integer from 2 to 512, got 600'])
    """
    usable: list[FrequencyOracle] = [make(epsilon, domain_size) for make in _PLAIN]
    refused = []
    for make in _SPECIAL:
        try:
            usable.append(make(epsilon, domain_size))
        except ParameterError as error:
            refused.append(str(error))
    return usable, refused


def _words(size: int) -> list[str]:
    return [f"word {k}" for k in range(size)]


def _delicate(size: int) -> range:
    return range(min(size // 2, 100))


def _rappor(epsilon: float, size: int) -> FrequencyOracle:
    if size > MAX_FITTED:
        raise fail("RAPPOR", "candidates", f"at most {MAX_FITTED:,}", size)
    return oracles.RAPPOR(epsilon, 2 * epsilon).among(_words(size))


_PLAIN = tuple(map(oracles.get_listed, ("grr", "sue", "oue", "olh", "ss", "hr", "pgr", "hrr", "fwr")))
_SPECIAL: tuple[Callable[[float, int], FrequencyOracle], ...] = (
    oracles.FHR,
    lambda epsilon, size: oracles.FWR(epsilon, size, Fraction(1, 2)),
    lambda epsilon, size: oracles.Grouped(epsilon, base="oue", groups=(size // 2, size - size // 2)),
    lambda epsilon, size: oracles.URR(epsilon, size, sensitive=tuple(_delicate(size))),
    lambda epsilon, size: oracles.URAPPOR(epsilon, size, sensitive=tuple(_delicate(size))),
    lambda epsilon, size: oracles.IDUE(epsilon, size, budgets=tuple((value, epsilon / 2) for value in _delicate(size))),
    lambda epsilon, size: oracles.Exponential(epsilon, size, distance="line"),
    lambda epsilon, size: oracles.CMS(epsilon, 256, 256).among(_words(size)),
    lambda epsilon, size: oracles.HCMS(epsilon, 256, 256).among(_words(size)),
    _rappor,
)


def zipf(users: int, domain_size: int) -> NDArray[np.int64]:
    """Return a population in which value v is held in proportion to ``1/(v+1)``.

    >>> zipf(100, 4)
    array([48, 24, 16, 12])
    """
    weights = 1 / np.arange(1, domain_size + 1)
    counts = np.floor(users * weights / weights.sum()).astype(np.int64)
    counts[0] += users - counts.sum()
    return np.asarray(counts)


def outcomes(
    oracle: FrequencyOracle,
    targets: NDArray[np.int64],
    *,
    users: int = 50_000,
    share: float = 0.05,
    rng: int = 0,
    progress: Progress = ignore,
) -> Iterator[AttackOutcome]:
    """Yield what every attack achieves on this oracle; maximal gain also with tickets, where these can decide.

    >>> measured = list(outcomes(oracles.GRR(1.0, 8), np.array([6, 7]), users=2000, share=0.1))
    >>> [(one.attack, round(one.leverage, 2)) for one in measured]
    [('maximal-gain', 4.49), ('random-item', 1.0), ('random-report', 0.25)]
    """
    fakes = fakes_among(users, share)
    counts = zipf(users - fakes, oracle.domain_size)
    stream = Stream(rng).child(oracle.name)
    honest = oracle.privatize(np.repeat(np.arange(oracle.domain_size), counts), rng=stream)
    ways = [(attack, False) for attack in ATTACKS]
    for attack, tickets in [*ways[:1], *([("maximal-gain", True)] if can_derive(oracle) else []), *ways[1:]]:
        fake = poison(oracle, targets, fakes, attack=attack, tickets=tickets, rng=stream.child(attack, int(tickets)))
        yield _outcome(oracle, (honest, fake), targets, counts, (attack, tickets))
        progress(1)


def fakes_among(users: int, share: float) -> int:
    """Return how many of these users are fakes: some, and not all."""
    fakes = round(int(integer(1, 1 << 30)("poison", "users", users)) * float(fraction("poison", "share", share)))
    if not 0 < fakes < users:
        raise fail("poison", "share", f"one of some fakes and some others among {users:,} users", share)
    return fakes


def _outcome(
    oracle: FrequencyOracle,
    sent: tuple[Reports, Reports],
    targets: NDArray[np.int64],
    counts: NDArray[np.int64],
    way: tuple[str, bool],
) -> AttackOutcome:
    honest, fake = sent
    users = len(honest) + len(fake)
    share, held = len(fake) / users, float(counts[targets].sum()) / len(honest)
    every = Reports.concatenate([honest, fake])
    tally = oracle.tally(every)
    estimate = oracle.estimate(tally).sum(targets.tolist())
    lever = leverage(oracle, targets, attack=way[0], tickets=way[1])
    return AttackOutcome(
        oracle,
        *way,
        share,
        lever,
        gain(share, lever, held),
        estimate.count / users - held,
        estimate.stderr / users,
        tuple(finding.test for finding in integrity(every).flagged),
        tuple(finding.test for finding in integrity(tally).flagged),
    )
