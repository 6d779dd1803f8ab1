"""fsck: every kind of damage is noticed and named."""

import re

import numpy as np
import pytest

from collector_store import DAY, STORES, damage, opened, publish, rows, submission, whole
from fldp.collector.checksums import row_checksum
from fldp.collector.folding import fold_day
from fldp.collector.fsck import fsck
from fldp.collector.store import StoreError


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    made = opened(request.param, tmp_path)
    yield made
    made.close()


def filled(store, retention):
    survey, number = publish(store, retention=retention)
    for k in range(6):
        store.commit([submission(survey, number, bytes([k]), np.arange(20) % 5)], DAY)
        if k == 3:
            fold_day(store, number, DAY, survey)
    return survey, number


BREAKAGES = {
    "a tally of another number": (
        "UPDATE tallies SET n = n + 1",
        "raw tally",
        "tally is of 81|82|121 reports|acknowledged",
    ),
    "a bit of the tally": ("flip tallies state", "raw tally", "differs|not as it was written"),
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
    "a state that cannot be": ("UPDATE tallies SET state = ?", "raw tally", "not as it was written|differs"),
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
        changed = bytes([data[0] ^ 1]) + data[1:]
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


def test_a_damaged_segment_never_reaches_a_kernel(store):
    survey, number = filled(store, "raw")
    damage(store, "UPDATE segments SET n = n + 100 WHERE folded = 0")
    with pytest.raises(StoreError, match="damaged"):
        whole(store, survey, number)
