"""Rehearsal: metrics tried out before anybody has them: simulated installs, a simulated clock, a real collector.

Every simulated install is the whole client with its own files: it records, ends periods by lot, keeps to its limits,
and sends over HTTP. Only its clock is not real, and its people are made up.
"""

import math
import re
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fldp.client import Client
from fldp.data.estimate import Estimate
from fldp.errors import CollectorError, FldpError
from fldp.telemetry import periods
from fldp.telemetry.agent import Agent, Places
from fldp.telemetry.metrics import NUMBERS, UNSET, YES, AppMetric, AppMetrics
from fldp.telemetry.modes import Mode
from fldp.telemetry.publishing import publish, survey_of
from fldp.telemetry.specification import version_of

BEGIN = datetime(2026, 1, 5, tzinfo=UTC)  # a Monday, and far from the end of a month
SILENT, CHANGING = 0.1, 0.05  # shares of installs that record nothing in a period, and whose attributes change
Say = Callable[[str], None]


class Lives(NamedTuple):
    """What installs did: how many reported each metric and label, and how many pairs of reports have one install."""

    truth: Counter[tuple[str, str]]
    pairs: Counter[str]

    @classmethod
    def together(cls, parts: "Iterable[Lives]") -> "Lives":
        """Add up what some processes say."""
        every = list(parts)
        return cls(sum((each.truth for each in every), Counter()), sum((each.pairs for each in every), Counter()))


class RehearsedMetric(NamedTuple):
    """A metric after a rehearsal: what was estimated, and what the installs behind the reports had.

    There is no estimate of fewer reports than a collector shows anything of.
    """

    metric: AppMetric
    truth: NDArray[np.int64]
    estimate: Estimate | None
    ends: NDArray[np.float64]

    @property
    def inside(self) -> int:
        """How many of the true counts lie inside their intervals."""
        return int(((self.ends[:, 0] <= self.truth) & (self.truth <= self.ends[:, 1])).sum())


def chart(outcome: RehearsedMetric, width: int = 40) -> Iterator[str]:
    """Yield the estimate of a metric as lines: = up to the interval, ~ inside it, | the truth."""
    if outcome.estimate is None:
        yield f"{outcome.metric.name}: {outcome.truth.sum()} reports, too few for a collector to show anything"
        return
    reports, counts, ends = outcome.estimate.n, outcome.estimate.counts, outcome.ends
    scale = width / max(float(ends[:, 1].max()), float(outcome.truth.max()), 1.0)
    yield f"{outcome.metric.name}: {reports:,} reports of {outcome.estimate.oracle!r}, eta 1"
    long = max(map(len, outcome.metric.labels))
    for label, true, count, (low, high) in zip(outcome.metric.labels, outcome.truth, counts, ends, strict=True):
        low, high, place = (round(max(0.0, end) * scale) for end in (low, high, true))
        bar = list(("=" * low + "~" * (high - low)).ljust(width + 1))
        bar[place] = "|"
        share = f"{count / reports:7.1%}, truth {true / reports:6.1%}"
        yield f"  {label:{long}}  {''.join(bar)}  {share}"


class Install:
    """One simulated install: its files, and the person behind it."""

    def __init__(self, metrics: AppMetrics, folder: Path, random: np.random.Generator) -> None:
        self._metrics, self._random = metrics, random
        self._places = Places(str(folder / "app.db"), str(folder / "answers.db"))
        self._labels = {metric.name: _likely(metric, random) for metric in metrics.metrics.values()}
        self._recorded: dict[str, str] = {}
        self.reported: list[str] = []

    def agent(self, moment: datetime) -> Agent:
        """Start the program at a moment."""
        return Agent(self._metrics, Mode("on", "a rehearsal"), self._places, clock=lambda: moment)

    def run(self, moment: datetime) -> tuple[str, str] | None:
        """Run at the beginning of a period: end the one before, and record for this one; return what was drawn then."""
        agent = self.agent(moment)
        agent.end_periods()
        drawn = self.reports(agent)[len(self.reported) :]
        self.reported += drawn
        truth = (drawn[0], self._recorded.get(drawn[0], UNSET)) if drawn else None
        self._recorded = {name: label for name, label in self._person() if self._random.random() >= SILENT}
        for name, label in self._recorded.items():
            agent.record(name, _value(self._metrics.metrics[name], label))
        agent.save()
        return truth

    def reports(self, agent: Agent) -> list[str]:
        """Return the metrics of all reports so far."""
        with agent.state.exclusive() as rows:
            return [report.metric for report in rows.reports()]

    def _person(self) -> Iterator[tuple[str, str]]:
        for metric in self._metrics.metrics.values():
            if not metric.lasts or self._random.random() < CHANGING:
                self._labels[metric.name] = _likely(metric, self._random)
            yield metric.name, self._labels[metric.name]


def _likely(metric: AppMetric, random: np.random.Generator) -> str:
    """Draw a label for a person: the first is the most frequent."""
    labels = metric.labels[:-1]
    weights = 1 / np.arange(1, len(labels) + 1)
    return labels[int(random.choice(len(labels), p=weights / weights.sum()))]


def _value(metric: AppMetric, label: str) -> bool | float | str:
    """Return a value that a program would record for a label."""
    if metric.kind == "flag":
        return label == YES
    if metric.kind in NUMBERS:
        place = metric.labels.index(label)
        return metric.edges[place - 1] if place else metric.edges[0] - 1
    return label


def rehearse(
    metrics: AppMetrics, client: Client, url: str, *, installs: int, count: int, seed: int, folder: Path, say: Say
) -> list[RehearsedMetric]:
    """Publish metrics at a collector, let simulated installs run for some periods, and estimate what they have."""
    tried = published(metrics, client, url)
    return outcomes(tried, client, live(tried, range(installs), count=count, seed=seed, folder=folder, say=say))


def published(metrics: AppMetrics, client: Client, url: str) -> AppMetrics:
    """Publish metrics at a collector; return them as a program has them that reports there and never expires."""
    lasting = {name: metric._replace(expires="") for name, metric in metrics.metrics.items()}
    tried = metrics._replace(collector=url, relay="", default="on", metrics=lasting, versions={})
    publish(tried, client, "")
    return tried._replace(versions={name: version_of(tried, metric) for name, metric in lasting.items()})


def live(metrics: AppMetrics, numbers: range, *, count: int, seed: int, folder: Path, say: Say) -> Lives:
    """Let the installs of some numbers run for some periods; return what they reported.

    What a person does follows from the seed and the number, so processes can share the installs of a rehearsal.
    """
    people = [(Install(metrics, _made(folder / str(k)), drawn), drawn) for k, drawn in _generators(seed, numbers)]
    truth = Counter[tuple[str, str]]()
    for number, start in enumerate(_starts(metrics.period, count + 1)):
        for install, drawn in people:
            reported = install.run(start + timedelta(seconds=int(drawn.integers(3600))))
            truth.update([reported] if reported else [])
        later = start + periods.SPREAD[metrics.period] + timedelta(hours=2)
        for install, _ in people:
            install.agent(later).send_due()
        if number:  # nothing is reported in the first period
            say(f"{periods.period_of(start, metrics.period)}: {sum(truth.values())} reports so far")
    return Lives(truth, sum((pairs_of(install.reported) for install, _ in people), Counter()))


def pairs_of(reported: Iterable[str]) -> Counter[str]:
    """Count the ordered pairs of two reports of one install about the same metric.

    >>> pairs_of(["theme", "startup", "theme", "theme"])
    Counter({'theme': 6, 'startup': 0})
    """
    return Counter({name: times * (times - 1) for name, times in Counter(reported).items()})


def _generators(seed: int, numbers: range) -> Iterator[tuple[int, np.random.Generator]]:
    return ((number, np.random.default_rng([seed, number])) for number in numbers)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _starts(kind: str, count: int) -> Iterator[datetime]:
    """Yield a moment in each of some periods; the first month of a ledger says nothing, so weeks begin late in one."""
    moment = BEGIN + timedelta(days=21 if kind == "week" else 0)
    for _ in range(count):
        yield moment
        moment += timedelta(days=7 if kind == "week" else 31 - moment.day + 5)
        moment = moment if kind == "week" else moment.replace(day=5)


def outcomes(metrics: AppMetrics, client: Client, lives: Lives) -> list[RehearsedMetric]:
    """Return what the collector estimates of each metric, beside the truth."""
    return [_outcome(metrics, metric, client, lives) for metric in metrics.active("")]


def _outcome(metrics: AppMetrics, metric: AppMetric, client: Client, lives: Lives) -> RehearsedMetric:
    counts = np.array([lives.truth[metric.name, label] for label in metric.labels])
    try:
        estimate = client.estimate(survey_of(metrics, metric))
    except CollectorError as error:
        if not error.refused:
            raise
        return RehearsedMetric(metric, counts, None, np.empty((0, 2)))
    return RehearsedMetric(metric, counts, estimate, intervals(metrics, metric, estimate, lives.pairs[metric.name]))


def intervals(metrics: AppMetrics, metric: AppMetric, estimate: Estimate, pairs: int) -> NDArray[np.float64]:
    """Return intervals that hold for all values of all metrics at once in 95 of 100 rehearsals.

    A collector takes reports for independent. Two reports of an attribute that stays share what one install keeps:
    their covariance is the variance at ``epsilon_permanent``, so intervals are widened by what all pairs add.
    """
    ends = estimate.interval(1 - 0.05 / len(metrics.metrics), simultaneous=True)
    if not metric.lasts:
        return ends
    shared = (math.tanh(metrics.epsilon / 4) / math.tanh(metrics.epsilon / 2)) ** 2  # of the variance of one report
    centre = estimate.counts[:, None]
    return centre + math.sqrt(1 + shared * pairs / estimate.n) * (ends - centre)


@contextmanager
def local_collector(folder: Path) -> Iterator[tuple[str, str]]:
    """Run a collector on this machine whose data goes with it; give its address and its admin token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = folder / "admin.token"
    line = [sys.executable, "-m", "fldp", "serve", "--data", str(folder / "collected"), "--port", str(port)]
    line += ["--admin-token-file", str(token), "--rate", "0", "--log", "false", "--audit", "false"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:  # noqa: S603
        try:
            yield _address(process), token.read_text().strip()
        finally:
            process.terminate()


def _address(process: "subprocess.Popen[str]") -> str:
    message = ""
    assert process.stdout is not None
    while line := process.stdout.readline():
        message = line.strip() or message
        if address := re.search(r"listening on (\S+)", line):
            return address[1]
    raise FldpError(f"rehearse: the collector did not start: {message}")


@contextmanager
def stage() -> Iterator[Path]:
    """Give a folder that is gone afterwards; in memory where there is such a place, since installs write a lot."""
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(prefix="fldp-rehearsal-", dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)
