"""Counterparts: what the peers have of each of our oracles, and where it is not the same thing."""

from dataclasses import dataclass
from fractions import Fraction

from peers.environment import MULTI_FREQ_LDPY, PURE_LDP, Peer

REPAIRED = (
    "multi-freq-ldpy cuts negative estimates off and scales the rest to add up to 1, which biases them. "
    "It is compared with ours, repaired alike."
)
POOL = (
    "FastLH is another mechanism: every user takes one of 1,000 hash functions. "
    "The server's table of them, its set-up, is not counted."
)
SINGLES = (
    "HadamardMech with its own choice of t sends the same reports as fwr, eta 1; "
    "its server leaves out the products of their parities."
)


@dataclass(frozen=True)
class Counterpart:
    """A mechanism of a peer, as its script calls it and as the peer does, and what to know about it."""

    peer: Peer
    mechanism: str
    called: str
    caveat: str = ""

    @property
    def title(self) -> str:
        return f"{self.peer.name} {self.called}"

    @property
    def repaired(self) -> bool:
        """Whether it only gives estimates that were made to look like frequencies."""
        return self.peer is MULTI_FREQ_LDPY


def _pure(mechanism: str, called: str, caveat: str = "") -> Counterpart:
    return Counterpart(PURE_LDP, mechanism, called, caveat)


def _multi(mechanism: str, called: str) -> Counterpart:
    return Counterpart(MULTI_FREQ_LDPY, mechanism, called, REPAIRED)


_COUNTERPARTS: dict[tuple[str, int | Fraction], tuple[Counterpart, ...]] = {
    ("rr", 1): (_pure("grr", "DE"), _multi("grr", "GRR")),
    ("grr", 1): (_pure("grr", "DE"), _multi("grr", "GRR")),
    ("sue", 1): (_pure("sue", "UE"), _multi("sue", "UE")),
    ("oue", 1): (_pure("oue", "UE, use_oue"), _multi("oue", "UE, optimal")),
    ("olh", 1): (_pure("olh", "LH, use_olh"), _pure("flh", "FastLH", POOL), _multi("olh", "LH, optimal")),
    ("ss", 1): (_multi("ss", "SS"),),
    ("hr", 1): (_pure("hr", "HadamardResponse"),),
    ("hrr", 1): (_pure("hm1", "HadamardMech, t=1"),),
    ("fwr", 1): (_pure("hm", "HadamardMech, optimal t", SINGLES),),
}


def counterparts(name: str, eta: Fraction) -> tuple[Counterpart, ...]:
    """Return what peers have of an oracle; nobody has those with an eta below 1."""
    return _COUNTERPARTS.get((name, eta), ())
