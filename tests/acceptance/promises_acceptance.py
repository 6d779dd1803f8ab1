"""Every promise of found() and of simultaneous intervals, for every oracle, n from 30 on, d from 2 to 65,537."""

from concurrent.futures import ProcessPoolExecutor
from itertools import product

from support.promises import LEVEL, MAKERS, RUNS, measured, most_broken, runs_of, sizes, write_table

REPORTS = (30, 100, 300, 1000)
ALARM = 1e-6  # of a check: below one table in a thousand


def cell(name, d, n):
    """Measure one cell of the table."""
    return measured(name, n, d, runs_of(d))


def test_promises_hold():
    """A cell fails if it breaks a promise more often than chance would, of a program that just keeps it."""
    rows = [(name, d) for name in MAKERS for d in sizes(name)]
    cells = [(*row, n) for row, n in product(rows, REPORTS)]
    with ProcessPoolExecutor(2) as pool:
        results = dict(zip(cells, pool.map(cell, *zip(*cells, strict=True)), strict=True))
    write_table("promises", lines(rows, results))
    worst = {key: max(each.false_finds, each.missed) for key, each in results.items()}
    assert not [key for key, count in worst.items() if count >= most_broken(runs_of(key[1]), 1 - LEVEL, ALARM)]


def lines(rows, measured_cells):
    """The table as Markdown."""
    yield f"| oracle | values | {' | '.join(f'n = {n:,}' for n in REPORTS)} |"
    yield "|---" * (2 + len(REPORTS)) + "|"
    for name, d in rows:
        row, runs = [measured_cells[name, d, n] for n in REPORTS], runs_of(d)
        shown = (f"{each.false_finds / runs:.3f} / {each.missed / runs:.3f} / {each.pointwise:.3f}" for each in row)
        yield f"| {name} | {d:,} | {' | '.join(shown)} |"
    checks, few = 2 * len(measured_cells), runs_of(65_537)
    yield ""
    yield (
        f"Promised: 0.05 at most, three times. Measured over {RUNS:,} runs of each cell, {few} of those with 65,537 "
        f"values. A cell fails at {most_broken(RUNS, 0.05, ALARM)} of {RUNS:,} or {most_broken(few, 0.05, ALARM)} of "
        f"{few}, which a program that just keeps its promise reaches with a probability below {ALARM:g}; so the "
        f"{checks:,} checks of the table raise a false alarm less than once in {1 / (checks * ALARM):,.0f} tables."
    )
