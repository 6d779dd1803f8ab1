"""fsck: recounts everything from what is stored, and compares with the tallies and checksums."""

import hashlib
from collections.abc import Iterator
from itertools import groupby

from fldp.collector.storage.checksums import is_intact
from fldp.collector.storage.protocol import CollectorStore, Snapshot, StoredSurvey, StoreError
from fldp.collector.storage.segments import balance, state_with_checksum, stored_tally, total
from fldp.collector.storage.tables import CHECKED
from fldp.collector.storage.window import ALL, DayWindow, kept_reports
from fldp.errors import FldpError
from fldp.oracles.base.oracle import Oracle
from fldp.support.validation import counted
from fldp.survey.survey import Survey


def fsck(store: CollectorStore) -> tuple[list[str], list[str]]:
    """Return the surveys that are right and what is wrong, a line for each, all from one snapshot."""
    good: list[str] = []
    bad: list[str] = []
    try:
        bad += [f"database: {line}" for line in store.objections()]
        with store.snapshot() as snapshot:
            bad += [f"database: {line}" for line in snapshot.damage()]
            bad += [f"survey number {number}: its row is lost" for number in sorted(snapshot.lost_surveys())]
            for table in CHECKED:
                bad += [f"{table}: {line}" for line in _checked(snapshot, table)]
            for entry in snapshot.entries():
                wrong, n = check(snapshot, entry)
                bad += [f"{_title(entry)}: {line}" for line in wrong]
                good += [] if wrong else [f"{_title(entry)}: {counted(n, 'report')}, as acknowledged"]
    except Exception as error:  # what is read from a damaged file can break any assumption
        bad.append(_message(error))
    return good, bad


def _message(error: Exception) -> str:
    return str(error) if isinstance(error, FldpError) else f"cannot be read: {type(error).__name__}: {error}"


def _title(entry: StoredSurvey) -> str:
    return f"survey {entry.name}, version {entry.version[:16]}"


def _checked(snapshot: Snapshot, table: str) -> Iterator[str]:
    """Compare every row with its checksum, and all of them with what the store knows that there must be."""
    count = damaged = total = 0
    for row in snapshot.stored(table):
        count += 1
        damaged += not is_intact(row, table)
        total += row[-1] if isinstance(row[-1], int) else 0
    if damaged:
        yield f"{damaged} of {count} rows are damaged"
    expected = snapshot.totals(table)
    if expected is not None and expected[0] != count:
        yield f"{count} rows are stored, {expected[0]} were written"
    elif expected is not None and expected[1] != total:
        yield f"the {count} rows are not those that were written"


def check(snapshot: Snapshot, entry: StoredSurvey) -> tuple[list[str], int]:
    """Return what is wrong with a survey, and how many reports it has."""
    try:
        survey = entry.parse()
    except Exception:
        return ["the specification cannot be read"], 0
    if survey.name != entry.name:
        return [f"the specification belongs to survey {survey.name}"], 0
    try:
        return _compared(snapshot, entry, survey)
    except Exception as error:  # the other surveys can be checked all the same
        return [_message(error)], 0


def _compared(snapshot: Snapshot, entry: StoredSurvey, survey: Survey) -> tuple[list[str], int]:
    if survey.version != entry.version:
        return [f"the specification belongs to version {survey.version[:16]}"], 0
    wrong: list[str] = []
    if survey.collect["retention"] == "raw":
        wrong += _recount(snapshot, entry.number, survey.oracle)
    else:
        wrong += _forgotten(snapshot, entry.number)
    wrong += _readable(snapshot, entry.number, survey.oracle)
    wrong += _takeable(snapshot, entry.number, survey)
    n, (acknowledged, withdrawn) = snapshot.count(entry.number, ALL), snapshot.acknowledged(entry.number)
    if n != acknowledged:
        wrong.append(f"{n} reports are counted, {acknowledged} were acknowledged and not withdrawn")
    if (taken := snapshot.withdrawn(entry.number, ALL)) != withdrawn:
        wrong.append(f"{taken} reports are taken out, {withdrawn} were withdrawn")
    return wrong, n


def _recount(snapshot: Snapshot, number: int, oracle: Oracle) -> Iterator[str]:
    """Add up the folded reports of every day anew, and compare with the day's tally bit for bit.

    What is kept of a day meanwhile is a hash: a tally may take megabytes, and there may be years of them.
    """
    counted: dict[str, tuple[int, bytes]] = {}
    for day, parts in groupby(snapshot.segments(number, ALL, folded=True), key=lambda segment: segment.day):
        try:
            again = total(oracle, parts)
            counted[day] = again.n, _hash(state_with_checksum(again.n, again.state))
        except FldpError as error:
            yield str(error)
    nothing = 0, _hash(state_with_checksum(0, oracle.tally_format.zeros()))  # all of a day may be withdrawn
    for day, n, state in snapshot.tallies(number, ALL):
        reports, stored = counted.pop(day, nothing)
        if reports != n:
            yield f"{day}: the tally is of {n} reports, {reports} are stored that can be read"
        elif stored != _hash(state):
            yield f"{day}: the tally differs from the sum of the {n} stored reports"
    for day, (reports, _) in counted.items():
        yield f"{day}: {reports} folded reports have no tally"


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


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
        balance(oracle, snapshot.segments(number, ALL, folded=False))
    except FldpError as error:
        yield str(error)


def _takeable(snapshot: Snapshot, number: int, survey: Survey) -> Iterator[str]:
    """Look whether all that waits to be taken out is there."""
    for day in sorted({part.day for part in snapshot.segments(number, ALL, folded=False) if part.takes}):
        try:
            DayWindow(number, (day, day)).tally(snapshot, survey.oracle)
            if survey.collect["retention"] == "raw":
                for _ in kept_reports(snapshot, number, (day, day), survey.oracle):
                    pass
        except FldpError as error:
            yield f"{day}: {error}"
