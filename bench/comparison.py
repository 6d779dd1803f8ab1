"""Comparison: every oracle of ours by reflection, so that none can be forgotten, with its counterparts beside it."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from fldp.errors import FldpError
from fldp.estimation.expected_error import build
from fldp.experiments.datasets.synthetic import zipf
from fldp.oracles import listed_names
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from peers.counterparts import Counterpart, counterparts
from peers.protocol import runs
from sides import Population, Side

ETAS = (Fraction(1), Fraction(1, 2))
FAR = 5.0  # standard errors


@dataclass(frozen=True)
class Setting:
    """What is the same for all. In each turn everybody repeats the protocol for so many seconds."""

    epsilon: float = 1.0
    domain_size: int = 1024  # a power of two, because HadamardMech takes no other
    users: int = 20_000
    turns: int = 3
    seconds: float = 1.0

    def population(self, domain_size: int) -> Population:
        """Return the first users of the Zipf population; all that a smaller domain lacks is its last value."""
        return Population(np.minimum(_everybody()[: self.users], domain_size - 1), domain_size)


_everybody = cache(zipf)


@dataclass(frozen=True)
class Rival:
    """A counterpart, and what it does on the population of the row."""

    counterpart: Counterpart
    side: Side


@dataclass
class Row:
    """One oracle of ours, decoded in one way, and its rivals."""

    label: str
    oracle: FrequencyOracle
    options: dict[str, Any]
    setting: Setting

    @cached_property
    def population(self) -> Population:
        return self.setting.population(self.oracle.domain_size)

    @cached_property
    def ours(self) -> Side:
        def make() -> Any:
            return self.oracle.privatize, lambda reports: self.oracle.estimate(reports, **self.options).frequencies

        return Side("fldp", self.population, partial(runs, make, self.population.values, self.setting.seconds))

    @cached_property
    def rivals(self) -> list[Rival]:
        return [Rival(one, self._side(one)) for one in counterparts(self.oracle.name, self.oracle.eta)]

    def _side(self, counterpart: Counterpart) -> Side:
        asked = {"mechanism": counterpart.mechanism, "epsilon": self.setting.epsilon, "seconds": self.setting.seconds}
        asked |= {"domain_size": self.oracle.domain_size, "values": self.population.values.tolist()}
        return Side(counterpart.title, self.population, partial(counterpart.peer.ask, "run", **asked))

    def take_turn(self) -> None:
        self.ours.take_turn()
        for rival in self.rivals:
            rival.side.take_turn()

    @property
    def theory(self) -> float:
        """The error that the variance says."""
        variances = self.oracle.variance(self.population.users, self.population.counts, **self.options)
        return float(np.mean(variances)) / self.population.users

    @property
    def missed(self) -> bool:
        """Whether our error is further from the theory than chance explains."""
        return abs(self.ours.mean("error") / self.theory - 1) > FAR * self.ours.uncertainty

    def error_ratio(self, rival: Rival) -> float:
        """Return our error relative to that of a rival, ours repaired if theirs is."""
        figure = "rescaled_error" if rival.counterpart.repaired else "error"
        return self.ours.mean(figure) / rival.side.mean("error")


def suited(name: str, eta: Fraction, setting: Setting) -> FrequencyOracle:
    """Build an oracle for the domain of the setting, or for two values if it takes no more, and see that it works."""
    refusals = []
    for size in (setting.domain_size, 2):
        try:
            oracle = build(name, size, setting.epsilon, eta)
            oracle.estimate(oracle.privatize([0, 1]))
        except FldpError as error:
            refusals.append(error)
        else:
            return oracle
    raise refusals[0]


def variants(name: str, setting: Setting) -> tuple[list[FrequencyOracle], str]:
    """Return an oracle with each eta that it has, and why there is none."""
    oracles: dict[FrequencyOracle, None] = {}
    refusal = ""
    for eta in ETAS:
        try:
            oracles[suited(name, eta, setting)] = None
        except FldpError as error:
            refusal = refusal or str(error)
    return [*oracles], refusal


def rows_of(variants: list[FrequencyOracle], setting: Setting) -> Iterator[Row]:
    """Yield a row for every decoder; its label has the eta where there are several, and where it is no plain LDP."""
    for oracle in variants:
        chosen = [f"eta {oracle.eta}"] if oracle.eta < 1 or len(variants) > 1 else []
        for decoder in oracle.estimator.decoders:
            yield Row(", ".join([oracle.name, *chosen, decoder]), oracle, {"decoder": decoder}, setting)
        if not oracle.estimator.decoders:
            yield Row(", ".join([oracle.name, *chosen]), oracle, {}, setting)


def all_rows(setting: Setting) -> tuple[list[Row], dict[str, str]]:
    """Return a row for every oracle and decoder, and for those that are left out the reason."""
    rows: list[Row] = []
    left_out = {}
    for name in listed_names():
        oracles, refusal = variants(name, setting)
        rows += rows_of(oracles, setting)
        if not oracles:
            left_out[name] = refusal
    return rows, left_out
