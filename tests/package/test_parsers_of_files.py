"""Parsers of files that people and operators keep: ledgers, what lies beside them, journals, tickets, Parquet."""

import io
from datetime import datetime
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fldp.collector.storage import backup
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.collector.storage.witness import Commit, CommitWitness, witness_path
from fldp.experiments.datasets.from_files import from_file
from fldp.experiments.datasets.xlsx import read_column
from fldp.experiments.runner.journal import Journal, line_of
from fldp.issuer.tickets import TicketFile
from fldp.participant.ledger import Charge
from fldp.participant.limits import Spent
from fldp.participant.past_answers import all_sent, as_withdrawn, with_new_day
from fldp.participant.sqlite_store import FileStore
from fldp.participant.stored_answer import StoredAnswer, StoredDailyAnswer
from fldp.participant.text_files import ChanceFile
from fldp.telemetry.modes import mode_of
from fldp.telemetry.node_programs import _framed, _read
from fldp.telemetry.periods import before
from fldp.wire import files, parquet
from fldp.wire.cells import read_cells
from fldp.wire.record_cells import read_rows
from support.hostile_text import contents, refused_or_read
from support.parsed import REPORTS, SURVEY

ORIGIN, VERSION = "https://collector.example", "ab" * 32
CHARGE = Charge(ORIGIN, "browser", VERSION, Spent(1.0, 0.5, 1), "labels", 5, "2026-11-01", "browser")
EXPERIMENT = {"datasets": ["zipf"], "runs": 3}
ANSWER = StoredAnswer(b"a batch", bytes(range(32)))
DAILY = StoredDailyAnswer(b"a response", "2026-11-01", ANSWER)
CHOICE = 'mode = "on"\nsince = "2026-01-01"\n[app.paint]\nmode = "local"\nsince = "2026-02-01"\n'
CHANCES = f'{{"format": "fldp-chances-1", "words": {{"{ORIGIN} {VERSION}": "00000000000000ff"}}}}'


def as_parquet(write):
    """Return the bytes of a Parquet file."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def cells(file):
    pq.write_table(pa.table({"name": ["a", None], "os": ["b", "c"]}), file)


def of_a_file(make):
    """Return the bytes of a file that is made at a path."""

    def example(folder):
        make(folder / "made")
        return (folder / "made").read_bytes()

    return example


def answered(path):
    with FileStore(path).exclusive() as book:
        book.add(CHARGE, ANSWER.with_checksum)


def ledger(path):
    """Read all of a ledger, as a participant does."""
    with FileStore(path).exclusive() as book:
        return book.ledger.charges, book.find(ORIGIN, VERSION), book.refusals


def journal(path):
    with Journal(path, EXPERIMENT) as opened:
        return opened.done


def chosen(path):
    """Return the mode of a program that a person chose in this file; what cannot be read means off."""
    folder = Path(path).parent / "fldp"
    folder.mkdir(exist_ok=True)
    Path(path).replace(folder / "telemetry.toml")
    mode = mode_of("paint", "local", {"XDG_CONFIG_HOME": str(folder.parent)})
    assert mode.mode in ("on", "local", "off")
    assert not mode.since or before(datetime.fromisoformat(mode.since), "week")
    return mode


def spreadsheet(path):
    book = openpyxl.Workbook()
    for row in (["name", "os"], ["a", "b"], [None, "c"]):
        book.active.append(row)
    book.save(path)


def archive(path):
    store = SqliteStore(path.parent / "fldp.db")
    backup.backup(store, path)
    store.close()


def restored(path):
    """Make a database of a backup, as ``fldp restore`` does."""
    target = Path(path).parent / "restored.db"
    backup.restore_file(Path(path), target)
    return target.exists()


def witnessed(path):
    witness = CommitWitness(path)
    witness.write(Commit(bytes(16), 3, bytes(16)))
    witness_path(path).replace(path)


def last_commit(path):
    Path(path).replace(witness_path(Path(path)))
    return CommitWitness(Path(path)).read()


# What a parser reads: the ending of a name, a good example or what makes it in a folder, and the parser.
FILES = {
    "ledger": ("db", of_a_file(answered), ledger),
    "tickets": ("db", of_a_file(lambda path: TicketFile(path, make=True).create(3)), lambda path: TicketFile(path)),
    "chances": ("chances", CHANCES.encode(), lambda path: ChanceFile(path).find(ORIGIN, VERSION)),
    "journal": ("journal", line_of(EXPERIMENT) + line_of([0, [0.5]]) + line_of([1, [0.25]]), journal),
    "choice of a person": ("toml", CHOICE.encode(), chosen),
    "state of a program in Node": ("1", _framed(b'{"format":"fldp-telemetry-1","periods":[]}'), _read),
    "reports": (
        "parquet",
        as_parquet(lambda file: parquet.write(file, SURVEY.oracle, [REPORTS], SURVEY.version)),
        lambda path: files.read(str(path)),
    ),
    "cells": ("parquet", as_parquet(cells), lambda path: list(read_cells(str(path), "os"))),
    "rows": ("parquet", as_parquet(cells), lambda path: list(read_rows(str(path), ["os", "name"]))),
    "spreadsheet": (
        "xlsx",
        of_a_file(spreadsheet),
        lambda path: list(read_column(io.BytesIO(path.read_bytes()), "os")),
    ),
    "backup": ("backup", of_a_file(archive), restored),
    "witness": ("db", of_a_file(witnessed), last_commit),
    "population": ("parquet", as_parquet(cells), lambda path: from_file(0, str(path), "os")),
}
STORED = {
    "answer": (ANSWER.with_checksum, StoredAnswer.verified),
    "daily answer": (DAILY.with_checksum, StoredDailyAnswer.verified),
    "answers of two days": (with_new_day(DAILY.with_checksum, DAILY.with_checksum), all_sent),
    "answer that was withdrawn": (as_withdrawn(ANSWER.with_checksum), all_sent),
}


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    """The good examples, as bytes."""
    folders = {name: tmp_path_factory.mktemp("good") for name in FILES}
    return {name: made(folders[name]) if callable(made) else made for name, (_, made, _) in FILES.items()}


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=30)
@given(data=st.data())
def test_any_file_is_read_or_refused(name, data, examples, tmp_path_factory):
    ending, _, parse = FILES[name]
    path = tmp_path_factory.mktemp("any") / f"any.{ending}"
    path.write_bytes(data.draw(contents(examples[name])))
    refused_or_read(parse, path)


@pytest.mark.parametrize("name", STORED)
@settings(max_examples=100)
@given(data=st.data())
def test_any_stored_bytes_are_read_as_they_were_written_or_refused(name, data):
    example, parse = STORED[name]
    changed = data.draw(contents(example))
    if changed != example:
        refused_or_read(parse, changed)


@pytest.mark.parametrize("name", FILES)
def test_the_examples_are_read(name, examples, tmp_path):
    """So what is changed in them is near to what parsers take."""
    ending, _, parse = FILES[name]
    path = tmp_path / f"good.{ending}"
    path.write_bytes(examples[name])
    assert parse(path) is not None


@pytest.mark.parametrize("name", STORED)
def test_the_stored_examples_are_read(name):
    example, parse = STORED[name]
    assert parse(example)
