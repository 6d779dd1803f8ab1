"""fsck: every kind of damage is noticed and named."""

import re
import sqlite3
from contextlib import suppress

import numpy as np
import pytest

from fldp.collector.config.clock import system
from fldp.collector.service import tokens
from fldp.collector.service.folding import fold_day
from fldp.collector.storage.checksums import row_checksum
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.protocol import StoreError
from support import file_damage as files
from support.collector_store import DAY, STORES, damage, opened, publish, rows, submission, whole


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    store = opened(request.param, tmp_path)
    yield store
    store.close()


def filled(store, retention):
    survey, number = publish(store, retention=retention)
    for k in range(6):
        store.commit([submission(survey, number, bytes([k]), np.arange(20) % 5)], DAY)
        if k == 3:
            fold_day(store, number, DAY, survey)
    store.add_tickets(number, [b"t" * 32, b"u" * 32])
    spend(store, number)
    store.revoke_token(tokens.create_token(store, system(), "read")[1].id, "2026")
    return survey, number


def spend(store, number):
    """Mark a ticket as spent, as a commit does."""
    change = "UPDATE tickets SET spent = 1, checksum = ? WHERE ticket = ?"
    damage(store, change, row_checksum(number, b"t" * 32, 1), b"t" * 32)


BREAKAGES = {
    "a tally of another number": (
        "UPDATE tallies SET n = n + 1",
        "raw tally",
        "tally is of 81|82|121 reports|acknowledged",
    ),
    "a bit of the tally": ("flip tallies state", "raw tally", "differs|its checksum does not match"),
    "a row of reports lost": ("DELETE FROM segments WHERE folded = 1", "raw", "0 are stored"),
    "a row of the tail lost": (
        "DELETE FROM segments WHERE id = (SELECT max(id) FROM segments)",
        "raw tally",
        "acknowledged",
    ),
    "a row twice": (
        "INSERT INTO segments (survey, day, kind, n, folded, data, checksum)"
        " SELECT survey, day, kind, n, folded, data, checksum FROM segments WHERE folded = 0 LIMIT 1",
        "raw tally",
        "acknowledged",
    ),
    "a tally lost": ("DELETE FROM tallies", "raw tally", "no tally|acknowledged"),
    "a key lost": (
        "DELETE FROM keys WHERE key = (SELECT key FROM keys ORDER BY key LIMIT 1)",
        "raw tally",
        "acknowledged",
    ),
    "a bit of the reports": ("flip segments data", "raw tally", "segments: 1 of . rows are damaged"),
    "a state that cannot be": ("UPDATE tallies SET state = ?", "raw tally", "its checksum does not match|differs"),
    "a bit of a key": ("flip keys key", "raw tally", "keys: 1 of 6 rows are damaged"),
    "a bit of a body": ("flip keys body", "raw tally", "keys: 1 of 6 rows are damaged"),
    "a ticket that is unspent again": ("UPDATE tickets SET spent = 0", "raw tally", "tickets: 1 of 2 rows are damaged"),
    "a bit of a ticket": ("flip tickets ticket", "raw tally", "tickets: 1 of 2 rows are damaged"),
    "a token that is good again": ("UPDATE tokens SET revoked = NULL", "raw tally", "tokens: 1 of 1 rows are damaged"),
    "a bit of a token": ("flip tokens hash", "raw tally", "tokens: 1 of 1 rows are damaged"),
    "a survey lost": ("DELETE FROM surveys", "raw tally", "survey number 1: its row is lost"),
    "a survey of another number": (
        "UPDATE surveys SET number = 77",
        "raw tally",
        "survey number 1: its row is lost",
    ),
    "another specification": ("UPDATE surveys SET specification = '{}'", "raw tally", "cannot be read"),
    "reports that were to be forgotten": ("keep segments folded", "tally", "forgotten"),
}


@pytest.mark.parametrize(
    ("what", "retention"), [(what, how) for what, row in BREAKAGES.items() for how in row[1].split()]
)
def test_fsck_notices(store, what, retention):
    statement, _, said = BREAKAGES[what]
    filled(store, retention)
    assert fsck(store) == (fsck(store)[0], [])
    if statement.startswith("flip"):
        _, table, column = statement.split()
        data = rows(store, f"SELECT {column} FROM {table} LIMIT 1")[0][0]
        changed = bytes([data[0] ^ 128]) + data[1:]
        damage(store, f"UPDATE {table} SET {column} = ? WHERE {column} = ?", changed, data)
    elif statement.startswith("keep"):
        for row, *columns in rows(store, "SELECT id, survey, day, kind, n, 1, data FROM segments"):
            change = "UPDATE segments SET folded = 1, checksum = ? WHERE id = ?"
            damage(store, change, row_checksum(*columns), row)
    else:
        damage(store, statement, *[bytes(8)] * statement.count("?"))
    bad = fsck(store)[1]
    assert bad, "nothing was noticed"
    assert re.search(said, "\n".join(bad)), bad


def test_the_reports_of_a_survey_whose_row_is_lost_are_kept(store):
    """Its reports were acknowledged and no deletion was: they are there when the row is."""
    survey, number = filled(store, "raw")
    expected = whole(store, survey, number)
    row = rows(store, "SELECT version, name, specification, created FROM surveys")[0]
    damage(store, "DELETE FROM surveys")
    store.purge()
    damage(store, "INSERT INTO surveys (number, version, name, specification, created) VALUES (1, ?, ?, ?, ?)", *row)
    assert fsck(store)[1] == []
    assert whole(store, survey, number) == expected


def test_a_deletion_that_is_known_by_mistake_deletes_nothing(store):
    survey, number = filled(store, "raw")
    expected = whole(store, survey, number)
    damage(store, "INSERT INTO deletions SELECT number, version, name FROM surveys")
    store.purge()
    assert store.deletions() == []
    assert whole(store, survey, number) == expected


def test_a_tally_of_another_day_is_noticed_in_a_file(tmp_path):
    """The digest of a tally does not cover its day. Its index has the day, too."""
    store = opened("sqlite", tmp_path)
    filled(store, "tally")
    store.scrub()
    expected = files.content(store)
    store.close()
    path, verdicts = tmp_path / "fldp.db", []
    data = path.read_bytes()
    for place in (place for place in range(len(data)) if data.startswith(DAY.encode(), place)):
        path.write_bytes(data[:place] + b"3" + data[place + 1 :])
        verdicts.append(files.judge(path, expected))
    assert verdicts.count("noticed") > 1
    assert "silent" not in verdicts


def test_a_damaged_segment_never_reaches_a_kernel(store):
    survey, number = filled(store, "raw")
    damage(store, "UPDATE segments SET n = n + 100 WHERE folded = 0")
    with pytest.raises(StoreError, match="damaged"):
        whole(store, survey, number)


LOST = {
    "segments": "DELETE FROM segments WHERE folded = 0",
    "keys": "DELETE FROM keys",
    "tickets": "DELETE FROM tickets WHERE spent = 1",
    "tokens": "DELETE FROM tokens",
}


@pytest.mark.parametrize("table", LOST)
def test_rows_that_are_lost_are_noticed(tmp_path, table):
    """As a page of a file that was never written leaves it: the rows are gone, and no trigger was told."""
    store = opened("sqlite", tmp_path)
    filled(store, "raw")
    for (trigger,) in rows(store, "SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
        damage(store, f"DROP TRIGGER {trigger}")
    damage(store, LOST[table])
    assert re.search(f"{table}: . rows are stored, . were written", "\n".join(fsck(store)[1]))
    store.close()


@pytest.mark.parametrize("value", [b"blob", 3.5, 1e300, -1])
def test_a_column_of_any_other_type_gives_lines_and_no_traceback(tmp_path, value):
    """SQLite lets a damaged column be of any type."""
    for table, columns in files.CONTENT.items():
        for name in columns.split(", "):
            folder = tmp_path / f"{table} {name}"
            folder.mkdir()
            store = opened("sqlite", folder)
            filled(store, "raw")
            with suppress(sqlite3.IntegrityError):  # SQLite itself keeps an INTEGER PRIMARY KEY an integer
                damage(store, f"UPDATE OR IGNORE {table} SET {name} = ?", value)
            good, bad = fsck(store)
            assert bad or name == "number", (table, name)
            assert not any("\n" in line for line in good + bad)
            store.close()


@pytest.mark.parametrize("state", files.FILES)
@pytest.mark.parametrize(("suffix", "how"), files.EXPERIMENTS)
def test_no_damage_to_a_file_goes_unseen(state, suffix, how):
    verdicts = files.experiment(state, suffix, how, 12, seed=5)
    assert verdicts["silent"] == 0
    assert verdicts["noticed"] > 0 or (suffix, how) == ("", "flip")
