"""Model: what every survey must hold, report by report. Each report has a symbol that no other report ever has.

The tally of GRR counts symbols, so it tells of every single report how often it was counted. Bounds follow from the
answers alone: an acknowledged report counts once, one whose answer was lost counts once or not at all, and nothing else
of the domain counts. A batch counts as a whole or not at all.
"""

import hashlib
from dataclasses import dataclass
from enum import Enum

import numpy as np

from fldp import Reports, Survey, Tally, wire
from support.collector_server import specification

DOMAIN = 1 << 17


class Phase(Enum):
    """Where a survey version is in its life, as far as the answers tell."""

    ABSENT = "absent"
    OPENING = "opening"  # it is being published
    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"
    REOPENING = "reopening"
    DELETING = "deleting"
    SEARCHING = "searching"  # open, and closed by the collector itself at any time: its tickets go to the next round


ALIVE = (Phase.OPEN, Phase.CLOSED, Phase.SEARCHING)


class Kind(Enum):
    """What a request asks for."""

    REPORTS = "reports"
    MERGE = "merge"
    CONFLICT = "conflict"  # the key of an acknowledged request, with another body
    SPENT = "spent"  # a ticket that an acknowledged request has spent


@dataclass(eq=False)
class Request:
    """A request with an idempotency key, and what its answers told in this generation of the survey."""

    key: str
    symbols: np.ndarray
    kind: Kind = Kind.REPORTS
    ticket: str | None = None
    attempted: bool = False
    settled: bool = False  # acknowledged: it counts once
    refused: bool = False  # it does not count

    @property
    def n(self):
        return len(self.symbols)

    @property
    def digest(self):
        """What a collector stores of the key."""
        return hashlib.sha256(b"key\0" + self.key.encode()).digest()

    @property
    def unsettled(self):
        return self.attempted and not self.settled and not self.refused


COUNTED = (Kind.REPORTS, Kind.MERGE)


@dataclass(frozen=True)
class State:
    """What a model knew at a moment."""

    phase: Phase = Phase.ABSENT
    generation: int = 0
    buried: tuple[int, ...] = ()
    settled: tuple[Request, ...] = ()
    tickets: frozenset[str | None] = frozenset({None})


class SurveyModel:
    """One version of a survey, through all of its generations: deleted and published again, it starts from nothing."""

    recurs = True  # it may be published again

    def __init__(self, survey, salt):
        self.survey, self.salt = survey, salt
        self.generation, self.number = 0, None
        self.phases = [Phase.ABSENT]
        self.flying = []  # requests that wait for their answers
        self._clear()
        self.earlier = []  # requests of the generation before
        self.buried = []  # numbers of the generations that were deleted
        self._taken = self._keys = 0

    def _clear(self):
        self.requests, self.tickets = [], []
        self.late, self.done = {}, []  # those that must be sent again, and those that were acknowledged

    @property
    def version(self):
        return self.survey.version

    @property
    def phase(self):
        return self.phases[-1]

    @property
    def ticketed(self):
        return self.survey.collect["submit"] == "ticket"

    @property
    def has_own_symbols(self):
        """Whether every report has a symbol of its own: the last rounds of a search have too few."""
        return self.survey.oracle.domain_size >= DOMAIN

    @property
    def refusing(self):
        """Whether a request that must be refused waits for its answer."""
        return any(request.kind not in COUNTED for request in self.flying)

    # ------------------------------------------------------------------------------------------- requests

    def take(self, count):
        """Return symbols that no report had before."""
        start, self._taken = self._taken, self._taken + count
        assert self._taken <= self.survey.oracle.domain_size, "every symbol was used"
        return np.arange(start, self._taken)

    def request(self, count, kind=Kind.REPORTS, *, key=None, ticket=None):
        """Return a request with symbols of its own, not sent yet."""
        return self.add(Request(key or self._key(), self.take(count), kind, ticket))

    def add(self, request):
        self.requests.append(request)
        return request

    def again(self, request):
        """Return a request of an earlier generation to be sent in this one: its key is a new one here."""
        return self.add(Request(request.key, request.symbols, request.kind))

    def body(self, request):
        """Return the bytes of a request, the same every time: a batch of reports, or a tally to be merged."""
        oracle = self.survey.oracle
        if request.kind is not Kind.MERGE:
            return wire.encode(Reports(oracle, request.symbols.astype(oracle.report_format.dtype)), self.version)
        state = np.bincount(request.symbols, minlength=oracle.domain_size)
        return wire.encode_tally(Tally(oracle, state, request.n), self.version)

    def _key(self):
        self._keys += 1
        return hashlib.sha256(f"{self.salt} {self.version} {self._keys}".encode()).hexdigest()

    def attempt(self, request):
        """Take down that a request is sent."""
        request.attempted = True
        self.flying.append(request)
        if request.unsettled:
            self.late[request] = None

    def settle(self, request):
        """Take down that a request was acknowledged; tell whether for the first time."""
        new, request.settled = not request.settled, True
        self.late.pop(request, None)
        self.done += [request] if new else []
        return new

    def refuse(self, request):
        """Take down that a request was refused for good."""
        request.refused = not request.settled
        self.late.pop(request, None)

    def revive(self):
        """Take down that what was refused may be counted after all, and send it again: the survey reopens."""
        for request in self.requests:
            if request.refused and request.kind in COUNTED:
                request.refused = False
                self.late[request] = None

    @property
    def reusable(self):
        """The requests of the generation before whose keys no request in flight brings into the next one."""
        flying = {request.key for request in self.flying}
        return [request for request in self.earlier if request.key not in flying]

    @property
    def idle(self):
        """The requests that must be sent again, and are not in flight."""
        return [request for request in self.late if request not in self.flying]

    # -------------------------------------------------------------------------------------------- phases

    def enter(self, phase):
        self.phases.append(phase)

    def begin(self):
        """Begin a generation. What is in flight now may count in it; what had a ticket has none any more."""
        self.generation += 1
        self.number = None
        self._clear()
        for request in dict.fromkeys(self.flying):
            if request.ticket is None:
                self.hold(request, settled=False)
        self.enter(Phase.OPENING)

    def end(self):
        """End a generation: it was deleted, and nothing of it may be left."""
        self.earlier = [request for request in self.done if request.ticket is None]
        self.buried += [] if self.number is None else [self.number]
        self.number = None
        self._clear()
        self.enter(Phase.ABSENT)

    def state(self):
        """Return all that is known now, for ``go_back``."""
        tickets = {None, *self.tickets, *(request.ticket for request in self.requests)}
        return State(self.phase, self.generation, tuple(self.buried), tuple(self.done), frozenset(tickets))

    def go_back(self, state, sent):
        """Be as a backup has it: what was settled then is in it, what was ``sent`` besides may be, nothing else is.

        What was acknowledged since is sent again, if the survey is the same one.
        """
        since = self.done if self.generation == state.generation else []
        tickets = [ticket for ticket in self.tickets if ticket in state.tickets]
        again = [one for one in dict.fromkeys([*sent, *since]) if one.kind in COUNTED and one.ticket in state.tickets]
        self._clear()
        self.generation, self.buried, self.tickets = state.generation, list(state.buried), tickets
        self.enter(state.phase)
        for request in state.settled:
            self.hold(request, settled=True)
        for request in again:
            if request not in state.settled:
                self.hold(request, settled=False)
                request.attempted = request in sent

    def hold(self, request, *, settled):
        """Take over a request that may be counted already, or that must be."""
        request.attempted, request.settled, request.refused = True, settled, False
        self.add(request)
        if settled:
            self.done.append(request)
        else:
            self.late[request] = None

    # ------------------------------------------------------------------------------------------- judging

    def bounds(self, kinds=COUNTED):
        """Return how often every symbol must at least and may at most be counted."""
        low = np.zeros(self.survey.oracle.domain_size, np.int64)
        high = low.copy()
        for request in self.requests:
            if request.kind in kinds:
                low[request.symbols] += request.settled
                high[request.symbols] += request.settled or request.unsettled
        return low, high

    def judge(self, held):
        """Return what is wrong with how often every symbol is counted."""
        low, high = self.bounds()
        problems = []
        if (missing := np.flatnonzero(held < low)).size:
            problems.append(f"{missing.size} acknowledged reports are lost, the first is {missing[0]}")
        if (more := np.flatnonzero(held > high)).size:
            counts = sorted(set(held[more].tolist()))
            problems.append(f"{more.size} reports are counted {counts} times and must not be, the first is {more[0]}")
        torn = [r.key[:8] for r in self.late if len(set(held[r.symbols].tolist())) > 1]
        return problems + ([f"batches are counted in part: {torn}"] if torn else [])


def survey(name, *, retention="raw", submit="open", edition=1):
    """Return a survey over symbols; editions are versions of it."""
    fields = specification(name, {"name": "grr", "epsilon": 1.0}, retention=retention, minimum=1, submit=submit)
    del fields["labels"]
    return Survey.from_dict({**fields, "question": f"Which symbol, edition {edition}?", "domain_size": DOMAIN})
