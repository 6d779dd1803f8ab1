"""The table [search] of a survey: what a search is, and which round of it this version asks.

A person writes what is searched for. A collector publishes a version for every round, and says in it what the round
before has left: so a version says all that a device needs for its answer, and all that the next round follows from.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.search.rounds import Round, Search
from fldp.survey.mistakes import MistakeList

WRITTEN = ("k", "rounds", "bits", "alphabet", "quota", "hours")
ROUND = ("oracle", "eta", "round", "step", "prefixes", "found")
MAX_BITS = 1 << 16  # of a prefix: more than the code of any string that may be answered

MakeOracle = Callable[[Any, dict[str, Any], MistakeList], Any]


def specified(search: Search) -> dict[str, Any]:
    """Return what is the same in all rounds, as JSON."""
    return {name: getattr(search, name) for name in (*WRITTEN, "oracle", "eta")}


def described(asked: Round) -> dict[str, Any]:
    """Return the table of a round, as JSON."""
    return {
        **specified(asked.search),
        "round": asked.number,
        "step": asked.step,
        "prefixes": list(asked.prefixes),
        "found": list(asked.found),
    }


def check_search(fields: dict[str, Any], make: MakeOracle, found: MistakeList) -> Round | None:
    """Return the round that a survey asks, or findings; ``make`` makes the oracle of its table for a domain."""
    table, oracle = fields["search"], fields.get("oracle")
    if not isinstance(table, dict):
        found.add(("search",), "a table", table)
        return None
    if fields.get("domain") != "strings":
        found.say(("search",), "a search needs domain = 'strings'")
    if not isinstance(oracle, dict):
        found.say(("oracle",), "the table [oracle] is missing, with an epsilon")
        return None
    found.unknown(("search",), table, {*WRITTEN, *ROUND}, "a parameter of a search")
    given = {name: table[name] for name in WRITTEN if name in table}
    if "round" in table:
        return _later(given, table, oracle, make, found)
    found.unknown(("oracle",), oracle, {"name", "epsilon", "eta"}, "a parameter of the oracle of a search")
    found.unknown(("search",), table, WRITTEN, "what the first round of a search has")
    given |= {"epsilon": oracle.get("epsilon"), "oracle": oracle.get("name"), "eta": oracle.get("eta")}
    return None if found.count else found.attempt(lambda: Search(**given).first, ("search",))


def _later(
    given: dict[str, Any], table: dict[str, Any], oracle: dict[str, Any], make: MakeOracle, found: MistakeList
) -> Round | None:
    """Return a round as a collector has published it: the oracle is what it says, not what a plan would say now."""
    given |= {"epsilon": oracle.get("epsilon"), "oracle": table.get("oracle"), "eta": table.get("eta")}
    search = found.attempt(partial(Search, **given), ("search",))
    if search is None or not _possible(search, table, found):
        return None
    prefixes, step = tuple(table["prefixes"]), table["step"]
    made = make(oracle, {"domain_size": (len(prefixes) << step) + 1}, found)
    if not isinstance(made, FrequencyOracle):
        return None
    return Round(search, table["round"], prefixes, step, made, tuple(table["found"]))


def _possible(search: Search, table: dict[str, Any], found: MistakeList) -> bool:
    """Tell whether a round can be one of its search."""
    before = found.count
    if not _is_integer(table.get("round"), 1, search.rounds + 1):
        found.add(("search", "round"), f"an integer from 1 to {search.rounds + 1}", table.get("round"))
    if not _is_integer(table.get("step"), 0, search.bits):
        found.add(("search", "step"), f"an integer from 0 to {search.bits}", table.get("step"))
    for name, least in (("prefixes", 1), ("found", 0)):
        _bit_strings(name, table.get(name), least, search, found)
    if found.count == before and table["step"] and len(table["prefixes"]) << table["step"] > 1 << search.bits:
        found.add(("search", "step"), f"one that makes at most 2^{search.bits} of these prefixes", table["step"])
    return found.count == before


def _bit_strings(name: str, given: Any, least: int, search: Search, found: MistakeList) -> None:
    """Find what is wrong with a list of codes or of their beginnings: of those none may begin another."""
    most = (search.rounds + 1) * search.width
    if not isinstance(given, list) or not least <= len(given) <= most or not all(map(_is_bits, given)):
        found.add(("search", name), f"a list of {least} to {most} texts of 0 and 1", given)
        return
    for one, other in pairwise(sorted(given)):
        if other.startswith(one):
            found.add(("search", name), "texts none of which begins another", other)
            return


def _is_bits(given: Any) -> bool:
    return isinstance(given, str) and len(given) <= MAX_BITS and not given.strip("01")


def _is_integer(given: Any, low: int, high: int) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and low <= given <= high
