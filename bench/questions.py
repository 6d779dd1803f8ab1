"""Several questions: how exact the share of one answer is, beside the schemes of multi-freq-ldpy, in one run.

    python bench/questions.py [--json FILE] [--document]

Every scheme has the same people and the same epsilon for *all* answers of a person together. SPL shares epsilon out
among the questions, SMP and ours ask one or two questions with the whole of it. RS+FD declares an epsilon that holds
for records that differ in one answer only; what it really has, ``ln(K (e^eps - 1) + 1)`` for K questions, is
enumerated in ``tests/package/test_bench.py``. So it is run twice: as declared, and with the parameter whose true
epsilon is that of the others.

The peer cuts negative estimates off and scales the rest to add up to 1; ours are repaired alike. An error is the mean
squared error of all shares, times the number of people. It exits with 1 if ours has a larger error than the best of the
peers at the same true epsilon, by more than chance explains, and with 2 if the peer cannot be installed.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import exp, log, log1p, sqrt
from statistics import fmean, stdev
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

import fldp
from command import Result, run, say
from peers.environment import MULTI_FREQ_LDPY
from sides import rescaled

EPSILON, USERS, RUNS = 1.0, 20_000, 6
SETTINGS = ((10, 4), (10, 8))  # questions, and answers to each
SCHEMES = ("SPL[GRR]", "SPL[OUE]", "SMP[GRR]", "SMP[OUE]", "RS+FD[GRR]", "RS+FD[OUE-z]")

Floats = NDArray[np.float64]
People = NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """One scheme in one setting: its epsilon as declared and in truth, its error and how sure that is, microseconds."""

    scheme: str
    questions: int
    answers: int
    declared: float
    true: float
    error: float
    stderr: float
    microseconds: float


def people(questions: int, answers: int) -> People:
    """Return uniform answers, at which the variances of all schemes are compared."""
    return np.random.default_rng(7).integers(0, answers, (USERS, questions))


def error(rows: People, answers: int, shares: Sequence[Sequence[float]]) -> float:
    """Return the mean squared error of all shares, times the number of people."""
    truth = np.stack([np.bincount(column, minlength=answers) for column in rows.T]) / len(rows)
    return float(np.mean((np.array(shares, np.float64) - truth) ** 2)) * len(rows)


def true_epsilon(scheme: str, declared: float, questions: int) -> float:
    """Return the epsilon between records that differ in every answer.

    >>> round(true_epsilon("RS+FD[GRR]", 1.0, 10), 2), true_epsilon("SMP[GRR]", 1.0, 10)
    (2.9, 1.0)
    """
    return log(questions * (exp(declared) - 1) + 1) if scheme.startswith("RS+FD") else declared


def declared_for(true: float, questions: int) -> float:
    """Return what RS+FD has to declare to have this epsilon in truth."""
    return log1p((exp(true) - 1) / questions)


def ours(cross: str) -> Callable[[People, int, int], tuple[Floats, float]]:
    """Return how our reports give the shares of all questions, and the seconds of the clients."""

    def turn(rows: People, answers: int, seed: int) -> tuple[Floats, float]:
        oracle = fldp.questions([answers] * rows.shape[1], epsilon=EPSILON, cross=cross)
        start = process_time()
        reports = oracle.privatize(rows, rng=seed)
        seconds = process_time() - start
        tables = oracle.estimate(oracle.tally(reports))
        return np.stack([rescaled(tables.shares([question])) for question in range(rows.shape[1])]), seconds

    return turn


def our_rows(rows: People, answers: int) -> list[Row]:
    measured = []
    for name, cross in (("fldp, questions alone", "none"), ("fldp, and all pairs", "all")):
        turns = [ours(cross)(rows, answers, seed) for seed in range(2 * RUNS)]
        errors = [error(rows, answers, shares.tolist()) for shares, _ in turns]
        measured.append(_row(name, rows, answers, EPSILON, errors, min(seconds for _, seconds in turns)))
    return measured


def their_rows(rows: People, answers: int) -> list[Row]:
    measured = []
    for scheme in SCHEMES:
        asked = [EPSILON]
        if scheme.startswith("RS+FD"):
            asked.append(declared_for(EPSILON, rows.shape[1]))
        for declared in asked:
            say(f"{rows.shape[1]} questions of {answers}: {scheme}, epsilon {declared:.3g}")
            turns = MULTI_FREQ_LDPY.ask(
                "questions", scheme=scheme, epsilon=declared, answers=answers, rows=rows.tolist(), times=RUNS
            )
            errors = [error(rows, answers, turn["shares"]) for turn in turns]
            measured.append(_row(scheme, rows, answers, declared, errors, min(turn["seconds"] for turn in turns)))
    return measured


def _row(scheme: str, rows: People, answers: int, declared: float, errors: list[float], seconds: float) -> Row:
    count = rows.shape[1]
    spread = stdev(errors) / sqrt(len(errors))
    true = true_epsilon(scheme, declared, count)
    return Row(scheme, count, answers, declared, true, fmean(errors), spread, 1e6 * seconds / len(rows))


def best_of_peers(rows: Sequence[Row]) -> Row:
    """Return the peer's least error among schemes whose true epsilon is that of ours."""
    fair = [row for row in rows if not row.scheme.startswith("fldp") and row.true <= EPSILON + 1e-9]
    return min(fair, key=lambda row: row.error)


def is_missed(rows: Sequence[Row]) -> bool:
    """Whether the best of the peers is better than ours by more than three standard errors."""
    own, best = rows[0], best_of_peers(rows)
    return own.error - best.error > 3 * sqrt(own.stderr**2 + best.stderr**2)


def shown(rows: Sequence[Row]) -> Table:
    count, answers = rows[0].questions, rows[0].answers
    title = f"{count} questions of {answers} answers, {USERS:,} people: the error of a share, times people"
    head, *rest = lines(rows)
    table = Table(*head, title=title)
    for line in rest:
        table.add_row(*line)
    return table


def lines(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return rows as text, the head first."""
    head = ("scheme", "answers to each", "epsilon declared", "true", "error", "of ours", "µs a person")
    return [head, *(_line(row, rows[0]) for row in rows)]


def _line(row: Row, own: Row) -> tuple[str, ...]:
    about = row.scheme, str(row.answers), f"{row.declared:.3g}", f"{row.true:.3g}"
    return *about, f"{row.error:.1f} ± {row.stderr:.1f}", f"{row.error / own.error:.2f}", f"{row.microseconds:.1f}"


def measure() -> Result:
    tables: list[Any] = []
    measured: list[Row] = []
    written = []
    missed = False
    for count, answers in SETTINGS:
        rows = people(count, answers)
        every = our_rows(rows, answers) + their_rows(rows, answers)
        missed |= is_missed(every)
        tables += [shown(every), f"best of the peers at true epsilon {EPSILON:g}: {best_of_peers(every).scheme}"]
        measured += every
        written.append(lines(every))
    record = {"users": USERS, "runs": RUNS, "rows": [asdict(row) for row in measured]}
    return Result(tables, record, missed, [("benchmarks.md", "questions", written)])


if __name__ == "__main__":
    sys.exit(run("Compare several questions with the schemes of a peer.", (MULTI_FREQ_LDPY,), measure))
