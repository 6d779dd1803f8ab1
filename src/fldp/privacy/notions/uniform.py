"""The notions that demand the same of every two values: LDP, FLDP, approximate LDP."""

from dataclasses import dataclass
from fractions import Fraction

from fldp.privacy.notions.base import Demand, Uniform, bounded_epsilon, exact_share, shown


@dataclass(frozen=True)
class FLDP(Uniform):
    """(epsilon, eta)-FLDP: any two values share at least ``eta`` of their reports, on which ``epsilon`` holds.

    The paper counts reports; here the share by probability has to be as large, too, since counting alone can be gamed.

    >>> import fldp
    >>> fldp.verify(fldp.FHR(epsilon=1.0, domain_size=7)).judge(FLDP(1.0, 0.5)).holds
    True
    """

    epsilon: float
    eta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("FLDP", self.epsilon))
        object.__setattr__(self, "eta", exact_share("FLDP", "eta", self.eta))

    def demand(self, value: int, other: int) -> Demand:
        del value, other
        return Demand(self.epsilon, eta=self.eta)

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {shown(self.eta)})-FLDP"


@dataclass(frozen=True)
class LDP(Uniform):
    """epsilon-LDP: no report is more than e^epsilon times as likely under one value as under another.

    >>> import fldp
    >>> fldp.verify(fldp.FHR(epsilon=1.0, domain_size=7)).judge(LDP(1.0)).holds
    False
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("LDP", self.epsilon))

    def demand(self, value: int, other: int) -> Demand:
        del value, other
        return Demand(self.epsilon, eta=Fraction(1))

    def __str__(self) -> str:
        return f"{self.epsilon:g}-LDP"


@dataclass(frozen=True)
class ApproximateLDP(Uniform):
    """(epsilon, delta)-LDP: every set of reports is at most e^epsilon times as likely, plus ``delta``.

    >>> import fldp
    >>> fldp.verify(fldp.FHR(epsilon=1.0, domain_size=7)).judge(ApproximateLDP(1.0, 0.5)).holds
    True
    """

    epsilon: float
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("ApproximateLDP", self.epsilon))
        object.__setattr__(self, "delta", exact_share("ApproximateLDP", "delta", self.delta))

    def demand(self, value: int, other: int) -> Demand:
        del value, other
        return Demand(self.epsilon, delta=self.delta)

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {float(self.delta):g})-LDP"
