"""One call: what an SDK pays for one report, beside one call of the peers.

    python bench/one_call.py [--json FILE] [--document]

Every figure is the processor time of one call: the best chunk of many calls, ours and the peer's by turns in one run.
Ours takes a value, draws securely and checks the value; pure-ldp and multi-freq-ldpy draw by generators that are not
made for secrets, OpenDP draws securely. It exits with 1 if a target is missed, and with 2 if the peers cannot be
installed.
"""

import os
import sys
from collections.abc import Sequence

import fldp
from answers import Answer, significant, slowdown, speedup, table
from answers import shown as seconds
from command import Result, run, say
from fldp.oracles import get
from peers.counterparts import Counterpart, counterparts
from peers.environment import MULTI_FREQ_LDPY, OPENDP, PURE_LDP
from peers.protocol import best_call
from timing import by_turns

EPSILON, DOMAIN_SIZE = 1.0, 1024
ROUNDS, CALLS, CHUNKS = 5, 4_000, 20
METHOD = f"processor time, best of {ROUNDS} turns of {CHUNKS} chunks of {CALLS // CHUNKS} calls"
AT_MOST = {"rr": 2.0, "grr": 2.0}  # beside those who draw insecurely: one call of os.urandom takes longer than theirs
NAMES = ("rr", "grr", "sue", "oue", "olh", "ss", "hr", "hrr", "fwr", "fhr")


def oracle_of(name: str) -> fldp.FrequencyOracle:
    return get(name)(EPSILON) if name == "rr" else get(name)(EPSILON, DOMAIN_SIZE)


def ours(name: str) -> fldp.Responder:
    return fldp.Responder(oracle_of(name))


def beside(name: str, peer: Counterpart) -> Answer:
    oracle = oracle_of(name)
    values = [k % oracle.domain_size for k in range(CALLS)]
    asked = {"mechanism": peer.mechanism, "epsilon": EPSILON, "domain_size": oracle.domain_size}
    times = by_turns(
        ROUNDS,
        lambda: best_call(ours(name).report, values, CHUNKS),
        lambda: float(peer.peer.ask("one_call", **asked, calls=CALLS, chunks=CHUNKS)),
    )
    about = {"per": " a call", "against": peer.title, "method": METHOD}
    if name in AT_MOST and peer.peer is not OPENDP:
        return slowdown(f"{oracle.title}, one report", times, at_most=AT_MOST[name], **about)
    return speedup(f"{oracle.title}, one report", times, at_least=1, **about)


def alone(name: str) -> list[Answer]:
    """Return what the other two ways of a single report cost, beside the bytes of randomness that any way needs."""
    oracle, responder = oracle_of(name), ours(name)
    values = [k % oracle.domain_size for k in range(CALLS)]
    ways = {"the report": responder.report, "the bytes to send": responder.encode, "privatize": oracle.privatize}
    about = {"per": " a call", "against": "os.urandom(16)", "method": METHOD}
    return [
        speedup(
            f"{oracle.title}, {way}",
            by_turns(
                ROUNDS, lambda work=work: best_call(work, values, CHUNKS), lambda: best_call(draw, values, CHUNKS)
            ),
            **about,
        )
        for way, work in ways.items()
    ]


def draw(_: int) -> bytes:
    return os.urandom(16)


def measure() -> Result:
    compared, costs = [], []
    for name in NAMES:
        say(name)
        extra = (Counterpart(OPENDP, "grr", "randomized response"),) if name in ("rr", "grr") else ()
        compared += [beside(name, peer) for peer in (*counterparts(name, oracle_of(name).eta), *extra)]
        costs += alone(name)
    setting = f"epsilon = {EPSILON:g}, {DOMAIN_SIZE:,} values (RR: 2), secure randomness"
    shown = [table(f"One call beside the peers, {setting}", compared), table(f"One call, {setting}", costs)]
    record = {"answers": [answer.record() for answer in (*compared, *costs)]}
    tables = [_beside_rows(compared), _alone_rows(costs)]
    missed = any(answer.verdict == "MISS" for answer in compared)
    return Result(shown, record, missed, [("benchmarks.md", "one call", tables)])


def _beside_rows(compared: Sequence[Answer]) -> list[list[str]]:
    rows = [
        [
            answer.question.removesuffix(", one report"),
            seconds(answer.ours),
            f"{seconds(answer.reference)}: {answer.against}",
            significant(answer.reference / answer.ours),
            "" if answer.verdict == "pass" else "missed",
        ]
        for answer in compared
    ]
    return [["oracle", "ours", "the peer", "speedup", ""], *rows]


def _alone_rows(costs: Sequence[Answer]) -> list[list[str]]:
    ways: dict[str, list[str]] = {}
    for answer in costs:
        ways.setdefault(answer.question.partition(",")[0], []).append(seconds(answer.ours))
    head = ["oracle", "the report", "the bytes to send, `encode`", "`oracle.privatize(value)`"]
    return [head, *([oracle, *times] for oracle, times in ways.items())]


if __name__ == "__main__":
    sys.exit(run("Measure one call beside the peers.", (PURE_LDP, MULTI_FREQ_LDPY, OPENDP), measure))
