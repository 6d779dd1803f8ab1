"""The long form: ``make soak PART=faults``. Prints the figures of ``docs/reliability.md``; False if any is bad.

``PYTHONPATH=tests python -m soak.faults.soak`` runs only the one on SQLite in which surveys come and go.
"""

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from soak.faults import durable, lifecycle_runs, runs
from soak.faults.disk import disks, postgres_disk
from support import postgres_server

KILLS, EVERY, TIMES, LIVES = 50, 5, 10, 6
MOST = 300  # items acknowledged between two kills
FIRST = [0.001 * number for number in range(10)]  # seconds into the opening of a store that is not there yet
COLUMNS = ("requests", "acknowledged", "repeated", "refused", "lost", "committed", "comparisons")
KNOWN = {*COLUMNS, "away", "reports"}


@contextmanager
def fresh():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def main():
    cluster = postgres_server.server()  # thrown away when this process ends
    _head()
    results = [show(store, result) for store, result in _runs(cluster)]
    good = all([*results, *_synced(), *_found_out(cluster)])
    print("nothing is wrong" if good else "SOMETHING IS WRONG")
    return good


def alone():
    """Run the one on SQLite in which surveys come and go; it needs no PostgreSQL."""
    _head()
    return show(*next(_lifecycles(None)))


def _head():
    print("| run | " + " | ".join(COLUMNS) + " | reports | longest silence, s |")
    print("|---|" + "---:|" * (len(COLUMNS) + 2), flush=True)


def _runs(cluster):
    killing = {"every": EVERY, "killed": FIRST, "most": MOST}
    with fresh() as folder:
        yield "SQLite", runs.kills(runs.sqlite(folder), 1, KILLS, **killing)
    with fresh() as folder:
        yield "PostgreSQL", runs.kills(runs.postgres(folder, cluster.database()), 2, KILLS, **killing)
    with fresh() as folder, disks(folder) as kinds:
        yield "SQLite", runs.mixed(runs.sqlite(folder), 3, TIMES, kinds)
    with fresh() as folder, postgres_disk(cluster.folder / "small", cluster) as (url, kinds):
        yield "PostgreSQL", runs.mixed(runs.postgres(folder, url or cluster.database()), 4, TIMES, kinds)
    with fresh() as folder:
        yield "PostgreSQL", runs.pair(runs.postgres(folder, cluster.database()), 5, TIMES, cluster)
    yield from _lifecycles(cluster)


def _lifecycles(cluster):
    """Surveys that come and go."""
    with fresh() as folder:
        yield "SQLite", lifecycle_runs.sqlite(runs.sqlite(folder), 6, LIVES, folder)
    with fresh() as folder:
        make = runs.postgres(folder, cluster.database())
        yield "PostgreSQL, two collectors", lifecycle_runs.postgres(make, 7, LIVES, folder, cluster)


def show(store, result):
    """Print a row and what belongs to it; tell whether all is well."""
    figures = " | ".join(f"{result.counted[name]:,}" for name in COLUMNS)
    print(f"| {store}: {result.name} | {figures} | {result.reports:,} | {result.silence.seconds:.1f} |")
    print(f"  {result.silence}")
    done = [f"{name} {count}" for name, count in result.counted.items() if name not in KNOWN]
    if flying := result.in_flight:
        met = sum(count > 0 for count in flying)
        done.append(
            f"{met} of {len(flying)} met requests in flight, {min(flying)} to {max(flying)}, {sum(flying)} in all"
        )
    if result.phases:
        done.append("killed within " + ", ".join(f"{name} {count}" for name, count in sorted(result.phases.items())))
    print(f"  {'; '.join(done)}", flush=True)
    for problem in result.problems:
        print(f"  BAD {problem}", flush=True)
    return not result.problems


def _synced():
    """SQLite under strace: every answer comes after its commit was synced, unless that is switched off."""
    if not durable.available():
        print("strace is not installed: what was synced before an answer was not watched")
        return
    for wrong in (None, "does not sync"):
        with fresh() as folder:
            synced = durable.watch(folder, 200, sabotage=wrong)
        how = "synchronous = NORMAL" if wrong else "as it is"
        print(f"SQLite, {how}: {synced.durable} of {synced.answers} answers after their commit was synced", flush=True)
        # Even one that does not sync its commits syncs a log before it starts anew: here once, after 1,000 pages.
        yield synced.answers == 200 and (synced.durable <= 1 if wrong else synced.durable == 200)


def _found_out(cluster):
    """Collectors that are wrong on purpose."""
    for kind in runs.WRONG:
        with fresh() as folder:
            yield _caught(kind, runs.wrong(runs.sqlite(folder), kind))
    for kind in lifecycle_runs.WRONG:
        with fresh() as folder:
            yield _caught(kind, lifecycle_runs.wrong(runs.sqlite(folder), kind, folder))
    with fresh() as folder:
        result = runs.unflushed(runs.postgres(folder, cluster.database()), cluster)
        yield _caught("does not flush", result)


def _caught(kind, result):
    print(f"a collector that {kind}: {'; '.join(result.problems) or 'NOT FOUND OUT'}", flush=True)
    return bool(result.problems)


if __name__ == "__main__":
    sys.exit(not alone())
