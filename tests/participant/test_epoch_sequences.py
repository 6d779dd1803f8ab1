"""Whatever is asked, whatever the clock says, whoever clears what: no month above its limits, one batch an epoch."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from fldp.participant.sqlite_store import FileStore
from fldp.participant_store import MemoryStore
from support.renewing_limits import FULL_DECEMBER, FULL_YEAR, MONTH, MONTH_TOTAL, STEPS, Judge
from support.renewing_process import Device


@settings(max_examples=80, deadline=None)
@example(steps=FULL_DECEMBER)
@example(steps=FULL_YEAR)
@given(steps=STEPS)
@pytest.mark.long
def test_no_month_is_above_its_limits(steps):
    Judge(Device(lambda day: [MemoryStore(born=day)])).play(steps)


@settings(max_examples=8, deadline=None)
@given(steps=STEPS)
def test_nor_in_a_file_that_two_programs_share(steps):
    with tempfile.TemporaryDirectory() as folder:
        names = iter(range(1000))

        def make(day):
            path = Path(folder, f"{next(names)}.db")
            return [FileStore(path, born=day), FileStore(path)]

        Judge(Device(make)).play(steps)


def test_nor_by_two_processes_at_once(tmp_path):
    """They ask for the same surveys in opposite orders: who comes first decides, and both say the same."""
    path = tmp_path / "answers.db"
    FileStore(path, born="2026-11-01")
    command = [sys.executable, "-m", "support.renewing_process", str(path)]
    running = [subprocess.Popen([*command, order], stdout=subprocess.PIPE, text=True) for order in ("up", "down")]
    said = [dict(line.rsplit(" ", 1) for line in process.communicate()[0].splitlines()) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    with FileStore(path).exclusive() as book:
        charges = book.ledger.charges
    assert len({(charge.origin, charge.version, charge.epoch) for charge in charges}) == len(charges)
    for month in {charge.month for charge in charges}:
        mine = [charge for charge in charges if charge.month == month]
        assert sum(charge.cost.epsilon for charge in mine) <= MONTH_TOTAL
        for origin in {charge.origin for charge in mine}:
            assert sum(charge.cost.epsilon for charge in mine if charge.origin == origin) <= MONTH
    assert all(said[0][asked] == said[1][asked] for asked in said[0].keys() & said[1].keys())
    assert said[0]
    assert said[1]
