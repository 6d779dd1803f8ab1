"""The notions that do not treat all values, or all users, alike: grouped, PLDP, CLDP, ULDP, ID-LDP."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from math import nextafter

from fldp.oracles.base.frequency_oracle import MAX_VALUES
from fldp.oracles.base.treatment import DISTANCES, Budgets, distance_name, own_budgets, sensitive_values
from fldp.oracles.grouped import sizes
from fldp.privacy.notions.base import Demand, Notion, Uniform, bounded_epsilon
from fldp.support.validation import fail, integer

_WHOLE, _NONE = Fraction(1), Fraction(0)


@dataclass(frozen=True)
class GroupedLDP(Notion):
    """epsilon-LDP inside each group, nothing between groups: weak. The groups are runs of values of these sizes.

    >>> import fldp
    >>> oracle = fldp.Grouped(epsilon=1.0, base="grr", groups=[3, 2])
    >>> fldp.verify(oracle).judge(GroupedLDP(1.0, [3, 2])).holds, fldp.verify(oracle).judge(fldp.LDP(1.0)).holds
    (True, False)
    """

    epsilon: float
    groups: tuple[int, ...]
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("GroupedLDP", self.epsilon))
        object.__setattr__(self, "groups", sizes("GroupedLDP", "groups", self.groups))
        object.__setattr__(self, "_starts", tuple(accumulate(self.groups)))

    def _group(self, value: int) -> int:
        return sum(value >= start for start in self._starts)

    def demand(self, value: int, other: int) -> Demand | None:
        return Demand(self.epsilon, eta=_WHOLE) if self._group(value) == self._group(other) else None

    def ranges(self, domain_size: int) -> Iterable[tuple[int, int]]:
        del domain_size
        return pairwise((0, *self._starts))

    def check_domain(self, domain_size: int) -> None:
        if sum(self.groups) != domain_size:
            raise fail("GroupedLDP", "groups", f"of {domain_size} values in all", list(self.groups))

    def __str__(self) -> str:
        return f"{self.epsilon:g}-LDP inside {len(self.groups)} groups, nothing between them (weak)"


@dataclass(frozen=True)
class PLDP(Notion):
    """Personalised LDP: every user has a budget, and the law for that budget is LDP with it.

    A family of laws, one for each budget, over values from 0 to ``domain_size - 1``. A report names its budget, so
    nothing is demanded between laws of different budgets. The family is judged as one law over ``domain_size`` values
    for each budget in turn; ``verify`` builds it from a list of oracles.

    Chen, Li, Qin, Kasiviswanathan, Jin: Private spatial data aggregation in the local setting, ICDE 2016.

    >>> import fldp
    >>> family = [fldp.OUE(epsilon=0.5, domain_size=4), fldp.OUE(epsilon=2.0, domain_size=4)]
    >>> fldp.verify(family).judge(PLDP([0.5, 2.0], 4)).holds
    True
    >>> print(fldp.verify(family).judge(PLDP([0.5, 1.0], 4)))  # doctest: +ELLIPSIS
    PLDP with budgets 0.5, 1 does not hold: values 0 (budget 1) and 1 (budget 1): a report is 7.38... times as likely...
    """

    budgets: tuple[float, ...]
    domain_size: int

    def __post_init__(self) -> None:
        if not isinstance(self.budgets, list | tuple) or not self.budgets:
            raise fail("PLDP", "budgets", "a list of budgets", self.budgets)
        budgets = tuple(bounded_epsilon("PLDP", budget, "a budget") for budget in self.budgets)
        object.__setattr__(self, "budgets", budgets)
        integer(2, MAX_VALUES)("PLDP", "domain_size", self.domain_size)

    def demand(self, value: int, other: int) -> Demand | None:
        law, other_law = value // self.domain_size, other // self.domain_size
        return Demand(self.budgets[law], eta=_WHOLE) if law == other_law else None

    def ranges(self, domain_size: int) -> Iterable[tuple[int, int]]:
        return pairwise(range(0, domain_size + 1, self.domain_size))

    def check_domain(self, domain_size: int) -> None:
        if len(self.budgets) * self.domain_size != domain_size:
            rule = f"of laws of {self.domain_size} values each, {domain_size} in all"
            raise fail("PLDP", "budgets", rule, list(self.budgets))

    def name_of(self, value: int) -> str:
        budget, number = divmod(value, self.domain_size)
        return f"{number} (budget {self.budgets[budget]:g})"

    def __str__(self) -> str:
        return f"PLDP with budgets {', '.join(f'{budget:g}' for budget in self.budgets)}"


@dataclass(frozen=True)
class CLDP(Notion):
    """Condensed LDP: two values at distance ``k`` are protected by ``alpha k``, so near ones more than far ones.

    Gursoy, Tamersoy, Truex, Wei, Liu: Secure and utility-aware data collection with condensed local differential
    privacy, TDSC 2019.

    >>> import fldp
    >>> fldp.verify(fldp.Exponential(epsilon=2.0, domain_size=5, distance="line")).judge(CLDP(0.5)).holds
    True
    """

    alpha: float
    distance: str = "line"
    domain_size: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", bounded_epsilon("CLDP", self.alpha, "alpha"))
        distance_name("CLDP", "distance", self.distance)
        if self.domain_size is not None or self.distance == "ring":
            integer(2, MAX_VALUES)("CLDP", "domain_size", self.domain_size)

    def demand(self, value: int, other: int) -> Demand:
        steps = DISTANCES[self.distance].between(value, other, self.domain_size or 0)
        product = self.alpha * steps  # rounded; the demand must not be rounded up
        epsilon = product if Fraction(product) <= Fraction(self.alpha) * steps else nextafter(product, 0)
        return Demand(epsilon, eta=_WHOLE)

    def ranges(self, domain_size: int) -> Iterable[tuple[int, int]]:
        return pairwise(range(domain_size + 1))

    def check_domain(self, domain_size: int) -> None:
        if self.domain_size not in (None, domain_size):
            raise fail("CLDP", "domain_size", f"{domain_size}, as in the law", self.domain_size)

    def __str__(self) -> str:
        return f"{self.alpha:g}-CLDP on a {self.distance}"


@dataclass(frozen=True)
class ULDP(Uniform):
    """Utility-optimised LDP: epsilon bounds all reports except those that reveal a non-sensitive value.

    A report is either *protected*, possible under every value and at most e^epsilon times as likely under one as under
    another, or it comes from a single value, which must not be sensitive. No report can be both, so the law determines
    which reports are protected.

    Murakami, Kawamoto: Utility-optimized local differential privacy mechanisms for distribution estimation, USENIX
    Security 2019.

    >>> import fldp
    >>> verified = fldp.verify(fldp.URR(epsilon=1.0, domain_size=4, sensitive=[0, 2]))
    >>> verified.judge(ULDP(1.0, [0, 2])).holds
    True
    >>> print(verified.judge(ULDP(1.0, [0, 1])))
    1-ULDP with 2 sensitive values does not hold: report 1: it reveals value 1, which is sensitive
    """

    epsilon: float
    sensitive: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("ULDP", self.epsilon))
        object.__setattr__(self, "sensitive", sensitive_values("ULDP", "sensitive", self.sensitive))

    def demand(self, value: int, other: int) -> Demand:
        del value, other
        return Demand(self.epsilon, eta=_NONE)  # over reports that both can give; ``refusal`` judges the others

    def refusal(self, left: Collection[int], domain_size: int) -> str | None:
        if len(left) == domain_size:
            return None
        if len(left) > 1:
            return f"it can come from {len(left)} of {domain_size} values, neither from all nor from one alone"
        (value,) = left
        return f"it reveals value {value}, which is sensitive" if value in self.sensitive else None

    def check_domain(self, domain_size: int) -> None:
        if self.sensitive[-1] >= domain_size:
            raise fail("ULDP", "sensitive", f"values below {domain_size}", list(self.sensitive))

    def __str__(self) -> str:
        count = len(self.sensitive)
        return f"{self.epsilon:g}-ULDP with {count} sensitive value{'s' if count > 1 else ''}"


@dataclass(frozen=True)
class IDLDP(Notion):
    """Input-discriminative LDP: every value has a budget, and two values are protected by the smaller one.

    ``budgets`` maps values to budgets of their own; all others have ``epsilon``. This is MinID-LDP.

    Gu, Li, Xiong, Cao: Providing input-discriminative protection for local differential privacy, ICDE 2020.

    >>> import fldp
    >>> verified = fldp.verify(fldp.IDUE(epsilon=2.0, domain_size=5, budgets={0: 0.5}))
    >>> verified.judge(IDLDP(2.0, {0: 0.5})).holds, verified.judge(fldp.LDP(0.5)).holds
    (True, False)
    """

    epsilon: float
    budgets: Budgets
    _own: dict[int, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", bounded_epsilon("IDLDP", self.epsilon))
        object.__setattr__(self, "budgets", own_budgets("IDLDP", "budgets", self.budgets))
        if max(budget for _, budget in self.budgets) > self.epsilon:
            raise fail("IDLDP", "budgets", f"at most epsilon, {self.epsilon:g}", list(self.budgets))
        object.__setattr__(self, "_own", dict(self.budgets))

    def demand(self, value: int, other: int) -> Demand:
        return Demand(min(self._own.get(each, self.epsilon) for each in (value, other)), eta=_WHOLE)

    def ranges(self, domain_size: int) -> Iterable[tuple[int, int]]:
        edges = {0, domain_size, *self._own, *(value + 1 for value in self._own)}
        return pairwise(sorted(edges))

    def check_domain(self, domain_size: int) -> None:
        if self.budgets[-1][0] >= domain_size:
            raise fail("IDLDP", "budgets", f"of values below {domain_size}", list(self.budgets))

    def __str__(self) -> str:
        return f"{self.epsilon:g}-ID-LDP with {len(self.budgets)} smaller budget{'s' if len(self.budgets) > 1 else ''}"
