"""Notions of privacy: by name, as an oracle declares them, and parsed from text."""

from typing import Any

from fldp.errors import ParameterError
from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.oracles.base.treatment import DISTANCES
from fldp.privacy.notions.base import Demand, Notion
from fldp.privacy.notions.unequal import CLDP, IDLDP, PLDP, ULDP, GroupedLDP
from fldp.privacy.notions.uniform import FLDP, LDP, ApproximateLDP
from fldp.support.exact_numbers import exact

__all__ = [
    "CLDP",
    "FLDP",
    "IDLDP",
    "LDP",
    "PLDP",
    "ULDP",
    "ApproximateLDP",
    "Demand",
    "GroupedLDP",
    "Notion",
    "declared",
    "parse",
]

NOTIONS: dict[str, type[Notion]] = {
    cls.__name__: cls for cls in (LDP, FLDP, ApproximateLDP, GroupedLDP, PLDP, CLDP, ULDP, IDLDP)
}
_RULE = (
    "such as LDP(1), FLDP(1, 1/2), ApproximateLDP(1, 1e-6), GroupedLDP(1, [3, 2]), PLDP([1, 2], 5), CLDP(0.5, line), "
    "ULDP(1, [0, 3]) or IDLDP(2, {0: 1})"
)


def declared(oracle: FrequencyOracle) -> Notion:
    """Return the notion that an oracle declares.

    >>> import fldp
    >>> print(declared(fldp.FHR(epsilon=1.0, domain_size=7)), declared(fldp.OUE(epsilon=1.0, domain_size=7)))
    (1, 1/2)-FLDP 1-LDP
    """
    name, *arguments = analysis(oracle).promise
    return NOTIONS[name](*arguments)


def parse(text: str) -> Notion:
    """Parse a notion written as in Python; shares may be fractions.

    >>> parse("FLDP(1, 1/2)"), parse("ULDP(1, [0, 3])")
    (FLDP(epsilon=1.0, eta=Fraction(1, 2)), ULDP(epsilon=1.0, sensitive=(0, 3)))
    """
    name, bracket, rest = text.strip().partition("(")
    if name not in NOTIONS or not bracket or not rest.endswith(")"):
        raise ParameterError(f"verify: a claim must be {_RULE}, got {text!r}")
    try:
        return NOTIONS[name](*map(_argument, _split(rest[:-1])))
    except (TypeError, ValueError, ZeroDivisionError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"verify: a claim must be {_RULE}, got {text!r}") from None


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _argument(text: str) -> Any:
    inside = text[1:-1]
    match text[:1] + text[-1:]:
        case "[]":
            return [_argument(part) for part in _split(inside)]
        case "{}":
            return dict([list(map(_argument, part.split(":"))) for part in _split(inside)])
    if text in DISTANCES:
        return text
    number = exact(text)
    return int(number) if number.denominator == 1 else number
