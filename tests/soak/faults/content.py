"""Content: reports that are known beforehand, from a seed, so that their tally can be built without the collector."""

import hashlib
from dataclasses import dataclass, field

import numpy as np

from fldp import Reports, Survey, Tally, wire
from support.collector_server import specification

BLOCK = 64  # items made at once
SIZES, SHARES = (1, 8, 100, 3000), (0.7, 0.2, 0.08, 0.02)  # single reports and batches, up to so many
VALUES = {"raw": 1023, "tally": 127}  # of few values, tallies are smaller than the larger batches


def surveys(seed):
    """Return two surveys to be mixed: one that keeps reports, and one that adds and forgets them."""
    return [_survey(f"{retention}-{seed}", retention) for retention in ("raw", "tally")]


def _survey(name, retention):
    fields = specification(name, {"name": "fhr", "epsilon": 1.0}, retention=retention, minimum=1)
    return Survey.from_dict({**fields, "labels": [f"value {number}" for number in range(VALUES[retention])]})


@dataclass(frozen=True, eq=False)
class Item:
    """One request: a key and a batch of reports for a survey; on another route, what takes them back."""

    route = "reports"

    index: int
    survey: Survey
    key: str
    reports: Reports
    body: bytes = field(repr=False)

    @property
    def n(self):
        return len(self.reports)


@dataclass(frozen=True, eq=False)
class Taking(Item):
    """The request that takes an item back."""

    route = "withdrawals"

    @classmethod
    def of(cls, item):
        return cls(item.index, item.survey, item.key, item.reports, item.body)


class Content:
    """An endless list of items; every one is a function of the seed and its number."""

    def __init__(self, mixed, seed):
        self.surveys, self.seed = mixed, seed
        self._items = {}

    def __getitem__(self, index):
        if index not in self._items:
            own, block = index % len(self.surveys), index // len(self.surveys) // BLOCK
            self._make(own, block)
        return self._items[index]

    def _make(self, own, block):
        survey, rng = self.surveys[own], np.random.default_rng([self.seed, own, block])
        sizes = [int(rng.integers(1, most + 1)) for most in rng.choice(SIZES, BLOCK, p=SHARES)]
        values = rng.zipf(1.2, sum(sizes)) % survey.oracle.domain_size
        reports = survey.oracle.privatize(values, rng=int(rng.integers(1 << 62)))
        ends = np.cumsum(sizes)
        for place, (size, end) in enumerate(zip(sizes, ends, strict=True)):
            index = (block * BLOCK + place) * len(self.surveys) + own
            self._items[index] = self._item(index, survey, reports[end - size : end])

    def _item(self, index, survey, reports):
        key = hashlib.sha256(f"{self.seed} {index}".encode()).hexdigest()
        return Item(index, survey, key, reports, wire.encode(reports, survey.version))


def tally_of(survey, items):
    """Add up reports without a collector."""
    own = [item.reports for item in items if item.survey is survey]
    return survey.oracle.tally(Reports.concatenate(own)) if own else Tally.empty(survey.oracle)
