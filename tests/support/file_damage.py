"""Damage to a stopped collector's files, and what fsck says of it: ``python tests/support/file_damage.py 150``.

*noticed*: fsck says so, or the file is refused. *harmless*: everything that is stored reads as it was written.
*silent*: something reads otherwise, and fsck says nothing. There must be none.
"""

import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from fldp.collector.config.clock import system
from fldp.collector.service import tokens
from fldp.collector.service.folding import fold_day
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.protocol import StoreError
from fldp.collector.storage.sqlite.store import SqliteStore
from support.collector_store import DAY, publish, submission

CONTENT = {  # what must read as it was written; when a survey was created or closed has no checksum
    "surveys": "number, version, name, specification",
    "segments": "survey, day, kind, n, folded, data",
    "tallies": "survey, day, n, state",
    "keys": "survey, key, body, accepted",
    "tickets": "survey, ticket, spent",
    "tokens": "id, hash, scope, survey, created, expires, revoked",
}
SUFFIXES = ("", "-wal", "-witness")


FILES = {
    "folded": "folded, the last commit in the log",
    "waiting": "nothing folded, the last commit in the log",
    "log": "nothing folded, all in the log",
}


def write_files(folder, state):
    """Write the files of a collector that was killed in one of these states."""
    store = SqliteStore(folder / "source.db")
    surveys = [publish(store, name=name, retention=kept) for name, kept in (("a", "raw"), ("b", "tally"), ("c", "raw"))]
    tickets = [bytes([k]) * 32 for k in range(10)]
    store.add_tickets(surveys[2][1], tickets)
    tokens.create_token(store, system(), "admin")
    for k in range(30):
        batch = [submission(survey, number, b"key %d" % k, [k % 5] * 7) for survey, number in surveys[:2]]
        if k < 8:
            batch.append(submission(*surveys[2], b"key %d" % k, [k % 5], ticket=tickets[k]))
        store.commit(batch, DAY)
    for survey, number in surveys if state == "folded" else ():
        fold_day(store, number, DAY, survey)
    if state != "log":
        store.scrub()
        store.commit([submission(*surveys[0], b"last", [1])], DAY)
    for suffix in SUFFIXES:
        shutil.copy(folder / f"source.db{suffix}", folder / f"kept.db{suffix}")
    store.close()


def content(store):
    with store._reading() as connection:
        return [connection.execute(f"SELECT {what} FROM {table}").fetchall() for table, what in CONTENT.items()]


def judge(path, expected):
    """Say what becomes of damage."""
    try:
        store = SqliteStore(path)
    except StoreError:
        return "noticed"
    try:
        if fsck(store)[1]:
            return "noticed"
        return "harmless" if content(store) == expected else "silent"
    finally:
        store.close()


def damaged(data, how, chance):
    """Return bytes with damage at a random place."""
    place = chance.randrange(len(data))
    if how == "cut":
        return data[:place]
    if how == "zero":
        start = place - place % 512
        return data[:start] + bytes(min(512, len(data) - start)) + data[start + 512 :]
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def experiment(state, suffix, how, times, seed=1):
    """Damage a file again and again, each time anew; return how often which became of it."""
    chance, verdicts = random.Random(seed), Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, state)
        copied(folder)
        store = SqliteStore(folder / "fldp.db")
        assert fsck(store)[1] == []
        expected = content(store)
        store.close()
        for _ in range(times):
            copied(folder)
            path = folder / f"fldp.db{suffix}"
            path.write_bytes(damaged(path.read_bytes(), how, chance))
            verdicts[judge(folder / "fldp.db", expected)] += 1
    return verdicts


def copied(folder):
    for left in folder.glob("fldp.db*"):
        left.unlink()
    for suffix in SUFFIXES:
        shutil.copy(folder / f"kept.db{suffix}", folder / f"fldp.db{suffix}")


EXPERIMENTS = [("", "flip"), ("", "zero"), ("", "cut"), ("-wal", "flip"), ("-wal", "zero"), ("-wal", "cut")]


def main(times):
    for state, about in FILES.items():
        for suffix, how in EXPERIMENTS:
            verdicts = experiment(state, suffix, how, times)
            print(f"{about}; fldp.db{suffix}; {how}; {dict(sorted(verdicts.items()))}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
