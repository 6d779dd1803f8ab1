"""Every promise of found() and of simultaneous intervals, for every oracle, n from 30 on, d from 2 to 65,537."""

from itertools import product

from support.promises import LEVEL, MAKERS, measured, most_broken, runs_of, sizes, write_table

REPORTS = (30, 100, 300, 1000)
ALARM = 1e-6  # of a check: below one table in a thousand


def test_promises_hold():
    """A cell fails if it breaks a promise more often than chance would, of a program that just keeps it."""
    rows = [(name, d) for name in MAKERS for d in sizes(name)]
    results = {(name, d, n): measured(name, n, d, runs_of(d)) for (name, d), n in product(rows, REPORTS)}
    write_table("promises", lines(rows, results))
    worst = {key: max(each.false_finds, each.missed) for key, each in results.items()}
    assert not [key for key, count in worst.items() if count >= most_broken(runs_of(key[1]), 1 - LEVEL, ALARM)]


def lines(rows, measured_cells):
    """The table as Markdown."""
    yield f"| oracle | values | runs | {' | '.join(f'n = {n:,}' for n in REPORTS)} |"
    yield "|---" * (3 + len(REPORTS)) + "|"
    for name, d in rows:
        row, runs = [measured_cells[name, d, n] for n in REPORTS], runs_of(d)
        shown = (f"{each.false_finds / runs:.3f} / {each.missed / runs:.3f} / {each.pointwise:.3f}" for each in row)
        yield f"| {name} | {d:,} | {runs} | {' | '.join(shown)} |"
    checks = 2 * len(measured_cells)
    limits = {runs: most_broken(runs, 1 - LEVEL, ALARM) for runs in sorted({runs_of(d) for _, d in rows})}
    yield ""
    yield (
        f"Promised: 0.05 at most, three times. A cell fails at {' or '.join(f'{k} of {r}' for r, k in limits.items())} "
        f"runs, which a program that just keeps its promise reaches with a probability below {ALARM:g}; so the "
        f"{checks:,} checks of the table raise a false alarm less than once in {1 / (checks * ALARM):,.0f} tables."
    )
