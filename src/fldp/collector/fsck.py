"""fsck: counts everything again and compares."""

import json
from collections.abc import Iterator

from fldp.base import Oracle
from fldp.collector.segments import sealed, stored_tally, tally_of, total
from fldp.collector.store import Entry, Snapshot, Store, StoreError
from fldp.collector.windows import ALL
from fldp.errors import FldpError
from fldp.reports import Tally
from fldp.survey import Survey


def fsck(store: Store) -> tuple[list[str], list[str]]:
    """Return what was found right and what was found wrong, a line for each, all at one moment of the store."""
    good: list[str] = []
    bad: list[str] = []
    try:
        with store.snapshot() as snapshot:
            bad += [f"database: {line}" for line in snapshot.damage()]
            for entry in snapshot.entries():
                wrong, n = check(snapshot, entry)
                bad += [f"{_title(entry)}: {line}" for line in wrong]
                good += [] if wrong else [f"{_title(entry)}: {n} reports, as acknowledged"]
    except StoreError as error:
        bad.append(str(error))
    return good, bad


def _title(entry: Entry) -> str:
    return f"survey {entry.name}, version {entry.version[:16]}"


def check(snapshot: Snapshot, entry: Entry) -> tuple[list[str], int]:
    """Return what is wrong with a survey, and how many reports it has."""
    try:
        survey = Survey.from_dict(json.loads(entry.specification))
    except (FldpError, ValueError):
        return ["the specification cannot be read"], 0
    if survey.version != entry.version:
        return [f"the specification is that of version {survey.version[:16]}"], 0
    wrong: list[str] = []
    if survey.collect["retention"] == "raw":
        wrong += _recount(snapshot, entry.number, survey.oracle)
    else:
        wrong += _forgotten(snapshot, entry.number)
    wrong += _readable(snapshot, entry.number, survey.oracle)
    n, acknowledged = snapshot.count(entry.number, ALL), snapshot.acknowledged(entry.number)
    if n != acknowledged:
        wrong.append(f"{n} reports are counted, {acknowledged} were acknowledged")
    return wrong, n


def _recount(snapshot: Snapshot, number: int, oracle: Oracle) -> Iterator[str]:
    """Add up the folded reports of every day anew, and compare with the day's tally bit for bit."""
    counted: dict[str, Tally] = {}
    for segment in snapshot.segments(number, ALL, folded=True):
        try:
            counted[segment.day] = counted.get(segment.day, Tally.empty(oracle)) + tally_of(oracle, segment)
        except FldpError as error:
            yield str(error)
    for day, n, state in snapshot.tallies(number, ALL):
        again = counted.pop(day, Tally.empty(oracle))
        if again.n != n:
            yield f"{day}: the tally is of {n} reports, {again.n} are stored"
        elif sealed(n, again.state) != state:
            yield f"{day}: the tally differs from that of the {n} stored reports"
    for day, again in counted.items():
        yield f"{day}: {again.n} folded reports have no tally"


def _forgotten(snapshot: Snapshot, number: int) -> Iterator[str]:
    """Where reports are forgotten once they are added, none that were added may be left."""
    for segment in snapshot.segments(number, ALL, folded=True):
        yield f"{segment.day}: {segment.n} reports are kept that were to be forgotten"


def _readable(snapshot: Snapshot, number: int, oracle: Oracle) -> Iterator[str]:
    """Look at what cannot be recounted: tallies that are possible ones, and a tail that can be read."""
    for day, n, state in snapshot.tallies(number, ALL):
        try:
            stored_tally(oracle, n, state)
        except StoreError as error:
            yield f"{day}: {error}"
    try:
        total(oracle, snapshot.segments(number, ALL, folded=False))
    except FldpError as error:
        yield str(error)
