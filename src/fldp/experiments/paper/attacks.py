"""What the best attacker gets from one report, beside the error that the report buys: the fair comparison."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fldp.errors import ParameterError
from fldp.estimation.expected_error import build, plain_epsilon
from fldp.experiments.datasets.population import Population
from fldp.oracles import Grouped, listed_names
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.privacy.bayes_attack import Guess, bayes
from fldp.randomness.stream import Stream
from fldp.support.progress import Progress

EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
ETAS = tuple(Fraction(1, 1 << k) for k in range(6))
GROUPS = 8


@dataclass(frozen=True)
class Tradeoff:
    """The attacker's best guess after one report, blind and knowing the population; and the error, for each decoder.

    An error is the variance of an estimated count divided by the users, the mean over all values of the population.
    """

    oracle: FrequencyOracle
    blind: Guess
    informed: Guess
    errors: Mapping[str, float]


@dataclass(frozen=True)
class Match:
    """An oracle with a smaller eta, decoded in one way, and OUE, which is plain LDP, with the same error."""

    weak: Tradeoff
    decoder: str
    plain: Tradeoff


def subjects(domain_size: int, epsilon: float, etas: tuple[Fraction, ...] = ETAS) -> list[FrequencyOracle]:
    """Return every oracle that takes such a domain: FWR with several eta, Grouped with OUE inside eight groups.

    >>> {"fhr", "fwr", "grouped", "olh", "oue", "pgr"} <= {oracle.name for oracle in subjects(1023, 1.0)}
    True
    """
    wanted = [(name, eta) for name in listed_names() for eta in (etas if name == "fwr" else (None,))]
    oracles = [_built(name, domain_size, epsilon, eta) for name, eta in wanted]
    groups = tuple((domain_size + place) // GROUPS for place in range(GROUPS))
    return [*(oracle for oracle in oracles if oracle), Grouped(epsilon=epsilon, base="oue", groups=groups)]


def _built(name: str, domain_size: int, epsilon: float, eta: Fraction | None) -> FrequencyOracle | None:
    """Return an oracle, or nothing if it takes no such domain, as RR does not."""
    try:
        return build(name, domain_size, epsilon, eta)
    except ParameterError:
        return None


def attacks(
    population: Population,
    draws: int,
    stream: Stream,
    epsilons: tuple[float, ...] = EPSILONS,
    advance: Progress | None = None,
) -> Iterator[Tradeoff]:
    """Attack every oracle at every epsilon, on the domain of a population; ``advance`` hears of the share done."""
    for epsilon in epsilons:
        chosen = subjects(population.domain_size, epsilon)
        for oracle in chosen:
            child = stream.child("attack", oracle.name, str(oracle.eta), str(epsilon))
            yield _attack(oracle, population, draws, child)
            if advance is not None:
                advance(1 / len(chosen) / len(epsilons))


def matches(population: Population, draws: int, stream: Stream, epsilon: float) -> Iterator[Match]:
    """Attack FHR and FWR at eta 1/2, and OUE with the same error as each."""
    for name in ("fhr", "fwr"):
        oracle = build(name, population.domain_size, epsilon, Fraction(1, 2))
        weak = _attack(oracle, population, draws, stream.child("weak", name))
        for decoder in weak.errors:
            same = plain_epsilon(oracle, decoder if oracle.estimator.decoders else None)
            plain = build("oue", population.domain_size, same)
            yield Match(weak, decoder, _attack(plain, population, draws, stream.child("plain", name, decoder)))


def _attack(oracle: FrequencyOracle, population: Population, draws: int, stream: Stream) -> Tradeoff:
    blind = bayes(oracle, draws=draws, rng=stream.child("blind"))
    informed = bayes(oracle, population.counts, draws=draws, rng=stream.child("informed"))
    return Tradeoff(oracle, blind, informed, errors_of(oracle, population))


def errors_of(oracle: FrequencyOracle, population: Population) -> dict[str, float]:
    """Return for each decoder the variance of an estimated count, divided by the users, on average over all values.

    >>> import fldp
    >>> errors = errors_of(fldp.OUE(epsilon=1.0, domain_size=3), Population("x", [5, 3, 2]))
    >>> round(errors["linear"], 2)
    4.02
    """
    ways = {name: {"decoder": name} for name in oracle.estimator.decoders} or {"linear": {}}
    n, counts = population.n, population.counts
    return {name: float(np.mean(oracle.variance(n, counts, **options))) / n for name, options in ways.items()}
