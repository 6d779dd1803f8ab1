"""A reproduction of the paper on small populations: the same oracles and metrics, a few seconds of work."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fldp.experiments import Contender, Source, Table
from fldp.experiments.paper.claims import Outcome
from fldp.experiments.paper.evaluation import Evaluation
from fldp.experiments.paper.evidence import gather
from fldp.experiments.runner.contenders import pairs

STEP = Source("step", pairs({"users": 40_000, "values": 127, "heavy": 30}), label="step")
POWER = Source("power", pairs({"users": 30_000, "values": 127}), label="power")
HOLDS, CORRECTED, FAILS, OPEN = Outcome

# what does not depend on the size of a run
SETTLED = {
    "rr": CORRECTED,
    "grr": HOLDS,
    "oue": CORRECTED,
    "olh-symbols": CORRECTED,
    "olh-variance": CORRECTED,
    "lemma-1": HOLDS,
    "lemma-2": FAILS,
    "grouping": CORRECTED,
    "sfldp": CORRECTED,
    "special-cases": FAILS,
    "hidden": CORRECTED,
    "order": CORRECTED,
    "balance": HOLDS,
    "message": FAILS,
    "theorem-1": HOLDS,
    "theorem-2": HOLDS,
    "ranges": CORRECTED,
    "variance": HOLDS,
    "variance-bound": FAILS,
    "lemma-3": FAILS,
    "best-below-1.76": CORRECTED,
    "large-epsilon": HOLDS,
    "reasonable-range": FAILS,
    "threat-model": FAILS,
    "group-of-all": HOLDS,
    "group-size": FAILS,
    "lost-above-2": FAILS,
    "communication": CORRECTED,
    "communication-table": CORRECTED,
}


def evaluation():
    whole = Evaluation.of()
    main = replace(whole.main, datasets=(STEP, POWER), epsilons=(0.4, 1.0, 2.0), top=(10, 20), runs=6)
    users = [Source("power", pairs({"users": n, "values": 127}), label=f"{n} users") for n in (1000, 10_000)]
    family = (
        Contender("fwr", pairs({"eta": 1.0}), label="FWR, eta 1"),
        *whole.etas.oracles[1:3],
        whole.etas.oracles[-1],
    )
    return Evaluation(
        main,
        replace(whole.users, datasets=users, runs=2, top=(10,)),
        replace(whole.etas, datasets=(STEP,), oracles=family, epsilons=(0.5, 1.0), runs=2),
        attacked=(0.5, 1.0),
        draws=200,
        timed=20_000,
        trials=100,
    )


class Ticks:
    """A clock that gives the same seconds in every run."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 0.02 + self.now * 1e-6
        return self.now


@cache
def evidence():
    with TemporaryDirectory() as folder:
        return gather(evaluation(), Path(folder), clock=Ticks())


def changed(table, **columns):
    """Return a table with some columns computed anew, each by a function of the row as a dictionary."""
    names = [*(table.to_pandas().columns)]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*(table[name].tolist() for name in names), strict=True)]
    return Table.of([[columns[name](row) if name in columns else row[name] for name in names] for row in rows])


def with_lines(evidence, best, others):
    """Return the evidence with lines that are straight: of FHR as published, and of all others, by the epsilon."""

    def value(row):
        worth = (best if row["series"] == "FHR, paper" else others)(row["epsilon"])
        better_is_more = row["metric"] in ("ncr",)
        return (1 - worth if better_is_more else worth) + 0.001 * row["run"]

    return replace(evidence, main=changed(evidence.main, value=value))
