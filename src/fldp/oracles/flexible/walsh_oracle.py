"""What FHR and FWR share: two uncorrelated estimates from one report, one of the leak and one of the noisy response."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.data.estimate import Estimate
from fldp.data.reports import Array, Reports, Tally
from fldp.errors import ParameterError
from fldp.numerics.types import Floats
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.flexible.em import estimate_by


@dataclass(frozen=True)
class Noise:
    """The variances that one report adds: of the leak's and the response's estimate of another value, and of its own.

    The leak's estimate of a report's own value has none. ``leak`` is infinite where nothing is leaked.
    """

    leak: float
    response: float
    own: float

    @property
    def weight(self) -> float:
        """The weight of the response: by inverse variance, for rare values."""
        return 1.0 if np.isinf(self.leak) else self.leak / (self.leak + self.response)


@dataclass(frozen=True, repr=False)
class WalshOracle(FrequencyOracle):
    """An oracle whose reports are sums of Walsh functions of the item."""

    methods = ("linear", "adaptive", "em")

    @property
    @abstractmethod
    def noise(self) -> Noise:
        """What one report adds to the variances."""

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
        """Return positions x and coefficients a of reports: each is as likely under item t as ``1 + sum a H[t][x]``."""

    @abstractmethod
    def leak(self, data: Array) -> tuple[Array, Array]:
        """Return the masks under which reports tell the item's parity as it is, and those parities, a column each."""

    @abstractmethod
    def agreement(self, data: Array, items: Array) -> Floats:
        """Return how likely the noisy part of each report is for every item, up to a factor."""

    def _estimate_by(self, method: str, source: Tally | Reports, options: dict[str, Any]) -> Estimate:
        return estimate_by(method, self, source, options)

    def likelihoods(self, data: Array) -> Floats:
        masks, parities = self.leak(data)
        items = self.value_items.astype(masks.dtype)
        made = self.agreement(data, items)
        for mask, parity in zip(masks.T, parities.T, strict=True):
            made *= (np.bitwise_count(mask[:, None] & items) & 1) == parity[:, None]
        return made

    def _settle_exposure(self) -> None:
        """Refuse a domain where a single report can reveal the value, unless ``allow_exposure`` accepts that.

        Where no report can, the permission is dropped, so that the oracle is the same with and without it.
        """
        if self.anonymity >= 2:
            object.__setattr__(self, "allow_exposure", False)
        elif not getattr(self, "allow_exposure", False):
            given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items() if name != "epsilon")
            raise ParameterError(
                f"{self.title}: with {given} a single report can reveal the value; "
                "pass allow_exposure=True to accept that"
            )

    def weight(self, **options: Any) -> float:
        """Return the weight of the response."""
        return 1.0 if options.get("decoder") == "paper" else self.noise.weight

    def decode(self, tally: Tally, **options: Any) -> Floats:
        leak, response = self.parts(tally)
        weight = self.weight(**options)
        return np.asarray(weight * response + (1 - weight) * leak)

    def decode_adaptively(self, tally: Tally) -> Floats:
        """Weigh the two parts for each value by its estimated count: better for frequent ones, and slightly biased."""
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
