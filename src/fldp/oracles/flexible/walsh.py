"""Walsh: two uncorrelated estimates from one report, from its exact leak and from its noisy response."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate, Evidence, Option
from fldp.data.reports import Array, Reports, Tally
from fldp.errors import ParameterError
from fldp.numerics.count_laws import CountLaw, Observed, ScoreLaw, support_law
from fldp.numerics.types import Counts, Floats
from fldp.oracles.base.estimator import Estimator
from fldp.oracles.base.oracle import Oracle
from fldp.oracles.flexible.em import estimate_by
from fldp.support.validation import Described, flag

ALLOW_EXPOSURE = Described(flag, "go on where one report can give a value away")


@dataclass(frozen=True)
class Noise:
    """Variances that one report adds.

    ``leak`` and ``response`` are added to the two estimates of another value, ``own`` to the response's estimate of its
    own value; the leak's estimate of it is exact. ``leak`` is infinite where nothing is leaked.

    ``p`` is how often the response is true, of ``symbols``; the leak of another value agrees once in ``leaked``.
    """

    leak: float
    response: float
    own: float
    p: float
    leaked: int
    symbols: int

    @property
    def weight(self) -> float:
        """The weight of the response, by inverse variance for rare values."""
        return 1.0 if np.isinf(self.leak) else self.leak / (self.leak + self.response)

    def law(self, weight: float) -> CountLaw:
        """Return the law of an estimate: what a report adds if leak and response agree, only the leak does, or none."""
        gap, rest = self.p - 1 / self.symbols, 1 - weight
        both, leak = (weight * (hit - 1 / self.symbols) / gap + rest for hit in (1, 0))
        none = -rest / max(self.leaked - 1, 1)
        agree, match = 1 / self.leaked, 1 / self.symbols
        others = ScoreLaw.of((both, agree * match), (leak, agree * (1 - match)), (none, 1 - agree))
        return CountLaw(ScoreLaw.of((both, self.p), (leak, 1 - self.p)), others)


@dataclass(frozen=True, eq=False)
class Walsh(Estimator):
    """The weighted mean of the estimates from the leak and from the response, which ``parts`` finds, both unbiased.

    ``items_of`` returns the item of every value, a number below ``order``. The likelihood of a report under item t is
    proportional to ``1 + sum a H[t][x]``; ``characters`` returns the positions x and the coefficients a.
    """

    noise: Noise
    order: int
    items_of: Callable[[], NDArray[np.uint64]]
    parts: Callable[[Tally], tuple[Floats | float, Floats]]
    characters: Callable[[Array], tuple[NDArray[np.uint64], Floats]]

    methods = ("linear", "adaptive", "em")

    @cached_property
    def items(self) -> NDArray[np.uint64]:
        """The item of every value; made when first used, since there may be many."""
        return self.items_of()

    def weight(self, **options: Option) -> float:
        """Return the weight of the response."""
        return 1.0 if options.get("decoder") == "paper" else self.noise.weight

    def decode(self, tally: Tally, **options: Option) -> Floats:
        leak, response = self.parts(tally)
        weight = self.weight(**options)
        return np.asarray(weight * response + (1 - weight) * leak)

    def decode_adaptively(self, tally: Tally) -> Floats:
        """Weight the two parts by the estimated count of each value: better for frequent values, slightly biased."""
        leak, response = self.parts(tally)
        noise, count = self.noise, np.clip(self.decode(tally), 0, tally.n)
        if noise.weight == 1:
            return response
        others = tally.n - count
        weight = noise.leak * others / np.maximum((noise.leak + noise.response) * others + noise.own * count, 1e-300)
        return np.asarray(weight * response + (1 - weight) * leak)

    def evidence(self, tally: Tally, counts: Floats, **options: Option) -> tuple[Evidence, ...]:
        """A report that agrees with a value supports it. Where nothing is leaked, that is all it says."""
        noise = self.noise
        if noise.leaked > 1:
            return (Observed.of(noise.law(self.weight(**options)), counts, tally.n, tally.n),)
        q = 1 / noise.symbols
        supports = np.rint(counts * (noise.p - q) + tally.n * q)
        return (Observed.of(support_law(noise.p, q), supports, tally.n, tally.n),)

    def estimate_by(self, method: str, source: Tally | Reports, options: Mapping[str, Option]) -> Estimate:
        return estimate_by(method, self, source, options)

    def variance(self, n: int, count: Counts, **options: Option) -> float | Floats:
        weight, noise = self.weight(**options), self.noise
        leak = 0.0 if weight == 1 else (1 - weight) ** 2 * noise.leak
        return count * weight**2 * noise.own + (n - count) * (weight**2 * noise.response + leak)


def agreeing(masks: Array, parities: Array, items: Array) -> NDArray[np.bool_]:
    """Return for each report (row) and item (column) whether the item has all these parities under these masks."""
    agree = np.ones((len(masks), len(items)), np.bool_)
    for mask, parity in zip(masks.T, parities.T, strict=True):
        agree &= (np.bitwise_count(mask[:, None] & items) & 1) == parity[:, None]
    return agree


def settle_exposure(oracle: Oracle) -> None:
    """Refuse a domain where a single report can reveal the value, unless ``allow_exposure`` accepts that.

    Where no report can, the permission is dropped, so that the oracle is the same with and without it.
    """
    if oracle.anonymity >= 2:
        object.__setattr__(oracle, "allow_exposure", False)
    elif not getattr(oracle, "allow_exposure", False):
        parameters = ", ".join(f"{name}={value!r}" for name, value in oracle.parameters.items() if name != "epsilon")
        raise ParameterError(
            f"{oracle.title}: with {parameters} a single report can reveal the value; "
            "pass allow_exposure=True to accept that"
        )
