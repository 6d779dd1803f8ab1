"""Every promise of found() and of intervals, for every oracle, n from 30 on, d from 2 to 65,537."""

from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context

from support.promises import (
    LEVEL,
    MAKERS,
    asked_for,
    measured_cell,
    most_broken,
    runs_of,
    sizes,
    write_table,
    written_rows,
)

REPORTS = (30, 100, 300, 1000)
ALARM = 1e-6  # of a check: below one table in a thousand
SKETCHES = {"CMS, 4 hashes", "HCMS"}  # whose single intervals hold over the hash functions, which are given here


def test_promises_hold():
    """A cell fails if it breaks a promise more often than chance would, of a program that just keeps it."""
    rows = [(name, d) for name in MAKERS for d in sizes(name)]
    measured = [(name, d) for name, d in rows if name in asked_for()]
    cells = sorted(((name, n, d) for (name, d), n in product(measured, REPORTS)), key=lambda cell: -cell[2])
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        results = dict(zip(cells, pool.map(measured_cell, cells), strict=True))
    write_table("promises", lines(rows, results))
    assert not [cell for cell, each in results.items() if is_broken(cell, each)]


def is_broken(cell, each):
    """Whether finds, simultaneous intervals or those of one value are wrong more often than chance allows."""
    name, _, d = cell
    both, one = (most_broken(runs_of(d), 1 - LEVEL, alarm) for alarm in (ALARM, ALARM / d))
    return max(each.false_finds, each.missed) >= both or (each.worst >= one and name not in SKETCHES)


def lines(rows, results):
    """The table as Markdown; a row that was not asked for is as it was."""
    before = written_rows("promises")
    yield f"| oracle | values | runs | {' | '.join(f'n = {n:,}' for n in REPORTS)} |"
    yield "|---" * (3 + len(REPORTS)) + "|"
    for name, d in rows:
        if (name, REPORTS[0], d) not in results:
            yield before[name, f"{d:,}"]
            continue
        row, runs = [results[name, n, d] for n in REPORTS], runs_of(d)
        shown = (f"{each.false_finds / runs:.3f} / {each.missed / runs:.3f} / {each.pointwise:.3f}" for each in row)
        yield f"| {name} | {d:,} | {runs:,} | {' | '.join(shown)} |"
    checks = 3 * len(rows) * len(REPORTS)
    limits = {runs: most_broken(runs, 1 - LEVEL, ALARM) for runs in sorted({runs_of(d) for _, d in rows})}
    shown = " or ".join(f"{most} of {runs:,}" for runs, most in limits.items())
    yield ""
    yield (
        f"Promised: 0.05 at most, three times. A cell fails at {shown} runs, "
        f"which a program that just keeps its promise reaches with a probability below {ALARM:g}; so does a cell in "
        f"which the interval of one value misses too often, with the same probability for all its values together (not "
        "with CMS and HCMS: all runs have the same hash functions, so a string collides with the same others "
        "in each). "
        f"The {checks:,} checks raise a false alarm less than once in {1 / (checks * ALARM):,.0f} tables."
    )
