"""The responses by the names of their oracles, and the rules of their parameters, which are the oracles' own."""

from collections.abc import Callable, Mapping
from functools import partial

from fldp.errors import ParameterError
from fldp.randomness.word_pool import SECURE, WordSource
from fldp.responder.bit_responses import unary
from fldp.responder.kept_responses import MAX_KEPT_BITS, lwr
from fldp.responder.parity_responses import MAX_HASH_BITS, fhr, fhr_left, fwr, fwr_left, halving, hrr
from fldp.responder.response import MAX_VALUES, Response
from fldp.responder.set_responses import ss
from fldp.responder.symbol_responses import grr, hr, olh, power_of_two, rr, two_values
from fldp.support.canonical_json import Json
from fldp.support.validation import Constraint, flag, integer, one_of, optional, positive

_RESPONSES: dict[str, Callable[..., Response]] = {
    "rr": rr,
    "grr": grr,
    "hr": hr,
    "olh": olh,
    "ss": ss,
    "sue": partial(unary, symmetric=True),
    "oue": partial(unary, symmetric=False),
    "fhr": fhr,
    "fwr": fwr,
    "hrr": hrr,
    "lwr": lwr,
}
_OWN: dict[str, dict[str, Constraint]] = {
    "rr": {"domain_size": two_values},
    "hr": {"blocks": power_of_two},
    "ss": {"set_size": optional(integer(1, MAX_VALUES))},
    "fhr": {"items": one_of("spread", "paper"), "allow_exposure": flag},
    "fwr": {"eta": halving, "hash_bits": optional(integer(1, MAX_HASH_BITS)), "allow_exposure": flag},
    "hrr": {"eta": halving, "hash_bits": integer(1, 1), "allow_exposure": flag},
    "lwr": {"epsilon_permanent": positive, "hash_bits": integer(1, MAX_KEPT_BITS)},
}
_NEEDED = {"rr": {"epsilon"}, "lwr": {"epsilon", "domain_size", "epsilon_permanent"}}
_LEFT: dict[str, Callable[..., int]] = {"fhr": fhr_left, "fwr": fwr_left}  # what reports with an exact part leave
_UNUSED = ("allow_exposure",)  # decides whether there is an oracle, not what it does


def names() -> tuple[str, ...]:
    """Return the names of the oracles that have a response.

    >>> "grr" in names(), "rappor" in names()
    (True, False)
    """
    return tuple(sorted(_RESPONSES))


def title_of(name: str) -> str:
    """Return the name that messages use: the name of the oracle's class."""
    return name.upper()


def response(name: str, parameters: Mapping[str, Json], *, source: WordSource = SECURE) -> Response:
    """Return the response of an oracle that exists, by its name and parameters.

    >>> response("rr", {"epsilon": 1.0}).draw(1) in (0, 1)
    True
    """
    chosen = {key: value for key, value in parameters.items() if key not in _UNUSED}
    return _RESPONSES[name](title_of(name), **chosen, source=source)


def checked_response(name: object, parameters: Mapping[str, Json]) -> Response:
    """Return the response of an oracle that somebody describes, having checked all that the oracle's class checks.

    >>> checked_response("grr", {"epsilon": -1.0, "domain_size": 5})
    Traceback (most recent call last):
    fldp.errors.ParameterError: GRR: epsilon must be a positive, finite number, got -1.0
    """
    if not isinstance(name, str) or name not in _RESPONSES:
        known = ", ".join(names())
        raise ParameterError(
            f"Responder: the oracle must be one of {known}, got {name!r:.40}; others draw by privatize"
        )
    rules = {"epsilon": positive, "domain_size": integer(2, MAX_VALUES), **_OWN.get(name, {})}
    good = {key: _check(rules, name, key, value) for key, value in parameters.items()}
    missing = _NEEDED.get(name, {"epsilon", "domain_size"}) - good.keys()
    if missing:
        raise ParameterError(f"{title_of(name)}: needs {' and '.join(sorted(missing))}")
    built = response(name, good)
    _refuse_exposure(name, good)
    return built


def _check(rules: Mapping[str, Constraint], name: str, key: str, value: Json) -> Json:
    if key not in rules:
        raise ParameterError(f"{title_of(name)}: has no parameter {key!r:.40}")
    checked: Json = rules[key](title_of(name), key, value)
    return checked


def _refuse_exposure(name: str, parameters: Mapping[str, Json]) -> None:
    """Refuse where a single report can reveal the value, unless that is allowed."""
    if name not in _LEFT or parameters.get("allow_exposure"):
        return
    shared = {key: value for key, value in parameters.items() if key in ("domain_size", "items", "eta")}
    if _LEFT[name](**shared) < 2:
        raise ParameterError(
            f"{title_of(name)}: with domain_size={parameters['domain_size']} a single report can reveal the value; "
            "pass allow_exposure=True to accept that"
        )
