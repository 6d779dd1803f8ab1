"""The table [search] of a survey: what is searched for, and which round of the search this version asks.

A person writes what is searched for. A collector publishes a version for every round, with what the round before has
left. So a version holds all that a device needs for its answer, and all that the next round follows from.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from fldp.oracles.base.analysis import analysis
from fldp.oracles.base.string_oracle import listed
from fldp.search.rounds import Round, Search
from fldp.support.canonical_json import Json
from fldp.support.validation import MistakeList, integer

WRITTEN = ("k", "rounds", "bits", "alphabet", "quota", "hours")
ROUND = ("oracle", "eta", "round", "step", "prefixes", "found")
MAX_BITS = 1 << 16  # of a prefix: more than the code of any string that may be answered

MakeOracle = Callable[[Any, dict[str, Any], MistakeList], Any]


def specified(search: Search) -> dict[str, Json]:
    """Return the parameters that all rounds of a search share, as JSON."""
    return {name: getattr(search, name) for name in (*WRITTEN, "oracle", "eta")}


def described(current: Round) -> dict[str, Json]:
    """Return the table of a round, as JSON."""
    return {
        **specified(current.search),
        "round": current.number,
        "step": current.step,
        "prefixes": list(current.prefixes),
        "found": list(current.found),
    }


def check_search(fields: Mapping[str, object], make: MakeOracle, mistakes: MistakeList) -> Round | None:
    """Return the round that a survey asks, or None with mistakes; ``make`` builds the oracle of a table."""
    table, oracle = fields["search"], fields.get("oracle")
    if not isinstance(table, dict):
        mistakes.add(("search",), "a table", table)
        return None
    if fields.get("domain") != "strings":
        mistakes.note(("search",), "a search needs domain = 'strings'")
    if not isinstance(oracle, dict):
        mistakes.note(("oracle",), "the table [oracle] is missing, with an epsilon")
        return None
    mistakes.unknown(("search",), table, {*WRITTEN, *ROUND}, "a parameter of a search")
    parameters = {name: table[name] for name in WRITTEN if name in table}
    if "round" in table:
        return _later(parameters, table, oracle, make, mistakes)
    mistakes.unknown(("oracle",), oracle, {"name", "epsilon", "eta"}, "a parameter of the oracle of a search")
    mistakes.unknown(("search",), table, WRITTEN, "what the first round of a search has")
    parameters |= {"epsilon": oracle.get("epsilon"), "oracle": oracle.get("name"), "eta": oracle.get("eta")}
    return None if mistakes else mistakes.attempt(lambda: Search(**parameters).first, ("search",))


def _later(
    parameters: dict[str, Any], table: dict[str, Any], oracle: dict[str, Any], make: MakeOracle, mistakes: MistakeList
) -> Round | None:
    """Return a round that a collector has published, with the oracle that it names: a plan made now may differ."""
    parameters |= {"epsilon": oracle.get("epsilon"), "oracle": table.get("oracle"), "eta": table.get("eta")}
    search = mistakes.attempt(partial(Search, **parameters), ("search",))
    if search is None or not _possible(search, table, mistakes):
        return None
    prefixes, step = tuple(table["prefixes"]), table["step"]
    built = make(oracle, {"domain_size": (len(prefixes) << step) + 1}, mistakes)
    if built is None or analysis(built).domain_size is None:
        return None
    return Round(search, table["round"], prefixes, step, listed("search", built), tuple(table["found"]))


def _possible(search: Search, table: dict[str, Any], mistakes: MistakeList) -> bool:
    """Whether a table can be a round of its search."""
    before = mistakes.count
    mistakes.check(("search", "round"), integer(1, search.rounds + 1), table.get("round"))
    mistakes.check(("search", "step"), integer(0, search.bits), table.get("step"))
    for name, low in (("prefixes", 1), ("found", 0)):
        _check_codes(name, table.get(name), low, search, mistakes)
    if mistakes.count == before and table["step"] and len(table["prefixes"]) << table["step"] > 1 << search.bits:
        mistakes.add(("search", "step"), f"one that makes at most 2^{search.bits} of these prefixes", table["step"])
    return mistakes.count == before


def _check_codes(name: str, codes: Any, low: int, search: Search, mistakes: MistakeList) -> None:
    """Check a list of codes or of their prefixes; none may begin another."""
    high = (search.rounds + 1) * search.width
    if not isinstance(codes, list) or not low <= len(codes) <= high or not all(map(_is_code, codes)):
        mistakes.add(("search", name), f"a list of {low} to {high} texts of 0 and 1", codes)
        return
    # In sorted order, a code that begins others comes right before one of them.
    for code, following in pairwise(sorted(codes)):
        if following.startswith(code):
            mistakes.add(("search", name), "texts none of which begins another", following)
            return


def _is_code(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_BITS and not value.strip("01")
