"""The error to expect of an oracle, and the questions the other way round: how many users, which epsilon.

All errors here are standard errors of an estimated *frequency*: of a count, divided by the number of users.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fldp.errors import ParameterError
from fldp.oracles import get_listed
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.oracle import Oracle, check_options
from fldp.support.validation import fail, integer, positive

MIN_EPSILON, MAX_EPSILON = 2.0**-10, 32.0  # the range that is searched
Eta = float | Fraction | None
_EPSILONS = tuple(float(e) for e in np.geomspace(MIN_EPSILON, MAX_EPSILON, 61))

users_constraint = integer(1, 2**53)


def standard_error(oracle: FrequencyOracle, users: int, frequency: float = 0.0, decoder: str | None = None) -> float:
    """Return the standard error of the estimated frequency of a value that has this frequency.

    >>> import fldp
    >>> round(standard_error(fldp.OUE(epsilon=1.0, domain_size=1023), users=10_000), 4)
    0.0192
    """
    options = {} if decoder is None else {"decoder": decoder}
    check_options(oracle, options)
    return math.sqrt(oracle.variance(users, frequency * users, **options)) / users


def even_error(oracle: FrequencyOracle, users: int, decoder: str | None = None) -> float:
    """Return the standard error of a value that nobody holds, where all others are equally frequent.

    For most oracles the others do not matter. Where they do (HR with several blocks, Grouped, Exponential), or where
    values differ, the value is one of those whose error is largest, and the others are spread over all of them. So
    this is the error in an even population, where ``standard_error`` is the largest in any.

    >>> import fldp
    >>> oracle = fldp.HR(epsilon=5.0, domain_size=1024, blocks=128)
    >>> round(standard_error(oracle, 10_000), 4), round(even_error(oracle, 10_000), 4)
    (0.0167, 0.0024)
    """
    options = {} if decoder is None else {"decoder": decoder}
    check_options(oracle, options)
    counts = np.full(oracle.domain_size, users / oracle.domain_size)
    sampled = analysis(oracle).sample_values(0, oracle.domain_size)
    likely = {int(np.argmax(oracle.variance(users, counts, **options))), *sampled}
    counts[:] = users / (oracle.domain_size - 1)
    return math.sqrt(max(_rare_variance(oracle, users, counts, rare, options) for rare in likely)) / users


def _rare_variance(
    oracle: FrequencyOracle, users: int, counts: NDArray[np.float64], rare: int, options: Mapping[str, str]
) -> float:
    """Return the variance of one value that nobody holds, where these are the counts of all others."""
    before, counts[rare] = counts[rare], 0
    variance = float(oracle.variance(users, counts, **options)[rare])
    counts[rare] = before
    return variance


def users_needed(oracle: FrequencyOracle, error: float, decoder: str | None = None) -> int:
    """Return the least number of users with which the error of a rare value is at most ``error``.

    >>> import fldp
    >>> users_needed(fldp.OUE(epsilon=1.0, domain_size=1023), 0.001)
    3682713
    """
    positive("users_needed", "error", error)
    return max(1, math.ceil((standard_error(oracle, 1, decoder=decoder) / error) ** 2))


def epsilon_needed(
    name: str,
    *,
    domain_size: int,
    users: int,
    error: float,
    eta: Eta = None,
    decoder: str | None = None,
    **more: object,
) -> float:
    """Return the least epsilon at which the error of a rare value is at most ``error``.

    An answer of ``MIN_EPSILON`` means that any will do. Where none does, the error says how small it can be. ``more``
    are the other parameters that the oracle needs.

    >>> round(epsilon_needed("oue", domain_size=1023, users=3_682_713, error=0.001), 3)
    1.0
    """
    positive("epsilon_needed", "error", error)
    users_constraint("epsilon_needed", "users", users)

    def reached(epsilon: float) -> bool:
        try:
            return standard_error(build(name, domain_size, epsilon, eta, **more), users, decoder=decoder) <= error
        except ParameterError:
            return False

    below, smallest = MIN_EPSILON, math.inf
    for epsilon, expected in curve(name, domain_size, users, eta=eta, decoder=decoder, **more):
        if expected <= error:
            return least_where(reached, below, epsilon)
        below, smallest = epsilon, min(smallest, expected)
    if smallest == math.inf:
        build(name, domain_size, 1.0, eta, **more)  # it takes no epsilon: let it say why
    raise fail("epsilon_needed", "error", f"at least {smallest:.3g}: {name} has no less with {users:,} users", error)


def plain_epsilon(oracle: FrequencyOracle, decoder: str | None = None) -> float:
    """Return the epsilon at which OUE, which is plain LDP, has the same error of a rare value.

    Its variance per user is ``4 e^eps/(e^eps-1)^2 = 1/sinh(eps/2)^2``, which is solved for eps.

    >>> import fldp
    >>> round(plain_epsilon(fldp.FHR(epsilon=1.0, domain_size=1023)), 2)
    2.03
    """
    return plain_epsilon_of(standard_error(oracle, 1, decoder=decoder))


def plain_epsilon_of(error: float, users: int = 1) -> float:
    """Return the epsilon at which OUE with this number of users has this error of a rare value.

    >>> round(plain_epsilon_of(0.0192, users=10_000), 2)
    1.0
    """
    return 2 * math.asinh(1 / (error * math.sqrt(users)))


def curve(
    name: str, domain_size: int, users: int, *, eta: Eta = None, decoder: str | None = None, **more: object
) -> Iterator[tuple[float, float]]:
    """Yield epsilons, ascending, and the error of a rare value at each; those that the oracle refuses are left out.

    >>> errors = [error for _, error in curve("grr", 10, 1000)]
    >>> errors == sorted(errors, reverse=True)
    True
    """
    for epsilon in _EPSILONS:
        try:
            oracle = build(name, domain_size, epsilon, eta, **more)
        except ParameterError:
            continue
        yield epsilon, standard_error(oracle, users, decoder=decoder)


def build(name: str, domain_size: int, epsilon: float, eta: Eta = None, **more: object) -> FrequencyOracle:
    """Build an oracle, ignoring parameters that it does not take.

    >>> build("grr", 5, 1.0, eta=0.5)
    GRR(epsilon=1.0, domain_size=5)
    """
    cls = get_listed(name)
    offered: dict[str, Any] = {"domain_size": domain_size, "epsilon": epsilon, **more}
    offered |= {} if eta is None else {"eta": eta}
    taken = {parameter: value for parameter, value in offered.items() if parameter in cls.params}
    needed = [parameter for parameter in required(cls) if parameter not in taken]
    if needed:
        raise ParameterError(f"{cls.__name__}: needs {', '.join(needed)}, which a plan does not have")
    return cls(**taken)


def required(cls: type[Oracle]) -> list[str]:
    """Return the parameters that an oracle has no default for.

    >>> required(get_listed("grr")), required(get_listed("rr"))
    (['epsilon', 'domain_size'], ['epsilon'])
    """
    none = dataclasses.MISSING
    return [field.name for field in dataclasses.fields(cls) if field.default is none and field.default_factory is none]


def least_where(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the least number from ``low`` to ``high`` at which something holds that holds from there on.

    >>> round(least_where(lambda x: x * x >= 2, 0.0, 2.0), 6)
    1.414214
    """
    if holds(low):
        return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
