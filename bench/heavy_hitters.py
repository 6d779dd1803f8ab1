"""Heavy hitters: how many of the true top 20 words of the Brown corpus a search finds, and what that takes.

    python bench/heavy_hitters.py [--json FILE] [--document]

Every word of the corpus is a person, who gives one report. The words come from where ``fldp experiment`` has them
(FLDP_DATA, the cache, or the network). It exits with 1 if fewer than 18 of 20 are found at eps = 4 in the mean of ten
seeds, and with 2 if the words or the peers are not to be had.
"""

import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from time import process_time
from typing import Any

from rich.table import Table

import fldp
from command import Result, run, say
from fldp.experiments.datasets.population import load
from peers.environment import PURE_LDP

EPSILONS, SEEDS, PEER_RUNS, TOP = (1.0, 2.0, 4.0), 10, 1, 20
TARGET_EPSILON, TARGET = 4.0, 18.0
LETTERS = "etaoinshrdlucmfwypvbgkqjxz"
SETTINGS: dict[str, dict[str, Any]] = {
    "fldp": {},
    "fldp, letters are likely, 3 rounds": {"alphabet": LETTERS, "rounds": 3},
    "fldp, the same, FWR with eta 1/2": {"alphabet": LETTERS, "rounds": 3, "oracle": "fwr", "eta": 0.5},
}
PEER = "pure-ldp PEM over CMS, letters only, 6 of them"

Counts = dict[str, int]


@dataclass(frozen=True)
class Row:
    """What one setting found at one epsilon: means over its runs; the largest memory of the process so far."""

    setting: str
    epsilon: float
    runs: int
    found: float
    least: int
    noise: float
    certain: float
    false: int
    seconds: float
    mebibytes: int


@dataclass(frozen=True)
class Run:
    """The strings that were found, those that are called certain, and what it took."""

    strings: set[str]
    certain: set[str]
    seconds: float
    mebibytes: int


def row(setting: str, epsilon: float, runs: Sequence[Run], words: Counts) -> Row:
    """Compare what was found with the truth: ``noise`` is what nobody holds, ``false`` what is called certain of it."""
    true = set(list(words)[:TOP])
    hits = [len(true & run.strings) for run in runs]
    return Row(
        setting,
        epsilon,
        len(runs),
        found=fmean(hits),
        least=min(hits),
        noise=fmean(len(run.strings - words.keys()) for run in runs),
        certain=fmean(len(run.certain) for run in runs),
        false=sum(len(run.certain - words.keys()) for run in runs),
        seconds=fmean(run.seconds for run in runs),
        mebibytes=max(run.mebibytes for run in runs),
    )


def ours(words: Counts, epsilon: float, seed: int, options: dict[str, Any]) -> Run:
    start = process_time()
    top = fldp.heavy_hitters(words, epsilon=epsilon, k=TOP, rng=seed, **options).top()
    seconds = process_time() - start
    whole = {hitter.text for hitter in top if hitter.certain and hitter.beginning.whole}
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return Run({hitter.text for hitter in top}, whole, seconds, size)


def theirs(words: Counts, epsilon: float) -> Run:
    strings, seconds, size = PURE_LDP.ask("pem", counts=words, epsilon=epsilon, k=TOP)
    return Run(set(strings), set(), seconds, size)


def rows_at(epsilon: float, words: Counts, tell: Callable[[str], None]) -> list[Row]:
    """Return a row for every setting, and one for the peer."""
    rows = []
    for setting, options in SETTINGS.items():
        tell(f"epsilon {epsilon:g}: {setting}, {SEEDS} seeds")
        rows.append(row(setting, epsilon, [ours(words, epsilon, seed, options) for seed in range(SEEDS)], words))
    tell(f"epsilon {epsilon:g}: {PEER}, about a minute")
    return [*rows, row(PEER, epsilon, [theirs(words, epsilon) for _ in range(PEER_RUNS)], words)]


def shown(rows: Sequence[Row]) -> Table:
    head, *rest = lines(rows)
    table = Table(*head, title=f"The {TOP} most frequent words of Brown, 1,013,320 people, one report each")
    for line in rest:
        table.add_row(*line)
    return table


def lines(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return rows as text, the head first."""
    figures = f"found of {TOP}", "least", "noise", "certain", "false"
    return [("setting", "epsilon", "runs", *figures, "seconds", "peak MiB"), *map(_line, rows)]


def _line(one: Row) -> tuple[str, ...]:
    figures = f"{one.found:.1f}", str(one.least), f"{one.noise:.1f}", f"{one.certain:.1f}", str(one.false)
    return one.setting, f"{one.epsilon:g}", str(one.runs), *figures, f"{one.seconds:.2f}", f"{one.mebibytes:,}"


def measure() -> Result:
    words = load("brown")
    counts = dict(zip(words.labels or (), words.counts.tolist(), strict=True))
    ours(counts, 1.0, 0, {})  # compiles, or loads what was compiled
    rows = [one for epsilon in EPSILONS for one in rows_at(epsilon, counts, say)]
    judged = [one for one in rows if one.setting == "fldp" and one.epsilon == TARGET_EPSILON]
    missed = any(one.found < TARGET for one in judged)
    verdict = (
        f"at epsilon {TARGET_EPSILON:g}: {judged[0].found:g} found, at least {TARGET:g}: {'MISS' if missed else 'pass'}"
    )
    record = {"rows": [asdict(one) for one in rows]}
    return Result([shown(rows), verdict], record, missed, [("heavy_hitters.md", "heavy hitters", [lines(rows)])])


if __name__ == "__main__":
    try:
        sys.exit(run("Find the most frequent words, beside a peer.", (PURE_LDP,), measure))
    except fldp.FldpError as error:
        say(str(error))
        sys.exit(2)
