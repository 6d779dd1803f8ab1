"""WalshOracle: two uncorrelated estimates from one report, from its exact leak and from its noisy response."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.reports import Array, Reports, Tally
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.estimator import Estimator
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.flexible.em import estimate_by
from fldp.support.validation import Described, flag

ALLOW_EXPOSURE = Described(flag, "go on where one report can give a value away")


@dataclass(frozen=True)
class Noise:
    """Variances that one report adds.

    ``leak`` and ``response`` are added to the two estimates of another value, ``own`` to the response's estimate of its
    own value; the leak's estimate of it is exact. ``leak`` is infinite where nothing is leaked.
    """

    leak: float
    response: float
    own: float

    @property
    def weight(self) -> float:
        """The weight of the response, by inverse variance for rare values."""
        return 1.0 if np.isinf(self.leak) else self.leak / (self.leak + self.response)


@dataclass(frozen=True, eq=False)
class Walsh(Estimator):
    """The weighted mean of the estimates from the leak and from the response, which ``parts`` finds, both unbiased."""

    noise: Noise
    parts: Callable[[Tally], tuple[Floats | float, Floats]]

    def weight(self, **options: Any) -> float:
        """Return the weight of the response."""
        return 1.0 if options.get("decoder") == "paper" else self.noise.weight

    def decode(self, tally: Tally, **options: Any) -> Floats:
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

    def variance(self, n: int, count: Any, **options: Any) -> Any:
        weight, noise = self.weight(**options), self.noise
        leak = 0.0 if weight == 1 else (1 - weight) ** 2 * noise.leak
        return count * weight**2 * noise.own + (n - count) * (weight**2 * noise.response + leak)


@dataclass(frozen=True, repr=False)
class WalshOracle(FrequencyOracle):
    """An oracle whose likelihood is a short sum of Walsh functions of the item."""

    methods = ("linear", "adaptive", "em")

    @property
    @abstractmethod
    def noise(self) -> Noise:
        """The variances that one report adds."""

    @property
    @abstractmethod
    def walsh_order(self) -> int:
        """The length of the transform."""

    @property
    @abstractmethod
    def value_items(self) -> NDArray[np.uint64]:
        """The item of every value."""

    @abstractmethod
    def parts(self, tally: Tally) -> tuple[Floats | float, Floats]:
        """Return the estimates of all values from the leak and from the response, both unbiased."""

    @abstractmethod
    def characters(self, data: Array) -> tuple[NDArray[np.uint64], Floats]:
        """Return positions x and coefficients a: the likelihood of item t is proportional to ``1 + sum a H[t][x]``."""

    @abstractmethod
    def leak(self, data: Array) -> tuple[Array, Array]:
        """Return the masks under which reports reveal the item's exact parity, and these parities, one column each."""

    @abstractmethod
    def agreement(self, data: Array, items: Array) -> Floats:
        """Return the likelihood of the noisy part of each report under every item, up to a factor."""

    @cached_property
    def estimator(self) -> Walsh:
        return Walsh(self.domain_size, self.noise, self.parts)

    def _estimate_by(self, method: str, source: Tally | Reports, options: dict[str, Any]) -> Estimate:
        return estimate_by(method, self, source, options)

    def likelihoods(self, data: Array) -> Floats:
        masks, parities = self.leak(data)
        items = self.value_items.astype(masks.dtype)
        likelihoods = self.agreement(data, items)
        for mask, parity in zip(masks.T, parities.T, strict=True):
            likelihoods *= (np.bitwise_count(mask[:, None] & items) & 1) == parity[:, None]
        return likelihoods

    def _settle_exposure(self) -> None:
        """Refuse a domain where a single report can reveal the value, unless ``allow_exposure`` accepts that.

        Where no report can, the permission is dropped, so that the oracle is the same with and without it.
        """
        if self.anonymity >= 2:
            object.__setattr__(self, "allow_exposure", False)
        elif not getattr(self, "allow_exposure", False):
            parameters = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items() if name != "epsilon")
            raise ParameterError(
                f"{self.title}: with {parameters} a single report can reveal the value; "
                "pass allow_exposure=True to accept that"
            )
