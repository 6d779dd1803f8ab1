"""The core: what our kernels cost, beside the least that it could cost and beside pure-ldp.

    python bench/core.py [--json FILE] [--document]

Every figure is a ratio of two times taken by turns in the same run, on one core, with secure randomness.
It exits with 1 if a target is missed, and with 2 if the peers cannot be installed.
"""

import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from unittest import mock

import numpy as np

import fldp
from answers import Answer, documented, duration, slowdown, speedup, table
from command import Result, run, say
from fldp.numerics import walsh_hadamard as walsh_hadamard_module
from fldp.numerics.walsh_hadamard import walsh_hadamard
from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import BinaryReply, BinaryRequest, pad
from peers.environment import PURE_LDP
from references import Draw, add_seven, add_three, count_streaming, stream_by, textbook_transform
from timing import Clock, best_of, by_turns, clock, fresh_clock

EPSILON = 1.0
USERS, DOMAIN_SIZE = 1_000_000, 1023
PEER_USERS, PEER_DOMAIN_SIZE = 100_000, 1024

ROUNDS = 25
PEER_ROUNDS, PEER_REPEATS, PEER_SAMPLE = 3, 10, 20_000
FRESH_ROUNDS, FEW_ROUNDS, MESSAGES, TRANSFORMS = 5, 9, 100, 5
LARGE_SIZE = (1 << 20) - 1

FEW_TURNS = f"processor time, best of {FEW_ROUNDS} by turns"
BY_TURNS = f"best of {ROUNDS} by turns"
BESIDE_PEER = (
    f"best of {PEER_ROUNDS * PEER_REPEATS}, {PEER_ROUNDS} turns; ours {PEER_USERS:,} at once, "
    f"pure-ldp a sample of {PEER_SAMPLE:,} a turn in {PEER_REPEATS} chunks"
)
IN_FRESH_PROCESS = f"median of {FRESH_ROUNDS} fresh processes by turns"

IMPORT = """
import time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""

FIRST_BATCH = f"""
import time
import fldp
oracle = fldp.FHR(epsilon={EPSILON}, domain_size={DOMAIN_SIZE})
start = time.perf_counter()
oracle.tally(oracle.privatize(range(1000)))
print(time.perf_counter() - start)
"""


def draw_values(domain_size: int, users: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, domain_size, users)


def privatize_fhr() -> Answer:
    oracle = fldp.FHR(epsilon=EPSILON, domain_size=DOMAIN_SIZE)
    ours = clock(partial(oracle.privatize, draw_values(DOMAIN_SIZE, USERS)), USERS)
    times = by_turns(ROUNDS, ours, clock(Draw(2 * USERS), USERS))
    about = {"per": " a user", "against": "16 random bytes", "method": BY_TURNS}
    return slowdown(f"FHR privatize, {USERS:,} users", times, at_most=4, **about)


def tally_fhr() -> Answer:
    oracle = fldp.FHR(epsilon=EPSILON, domain_size=DOMAIN_SIZE)
    reports = oracle.privatize(draw_values(DOMAIN_SIZE, USERS))
    bare = partial(add_three, reports.data.view(np.uint16).reshape(-1, 2), oracle._rows.rows)
    assert np.array_equal(oracle.tally(reports).state, bare())  # or the two would not be the same work
    times = by_turns(ROUNDS, clock(partial(oracle.tally, reports), USERS), clock(bare, USERS))
    about = {"per": " a report", "against": "three additions", "method": BY_TURNS}
    return slowdown(f"FHR tally, {USERS:,} reports", times, at_most=3, **about)


def tally_fwr() -> Answer:
    oracle = fldp.FWR(epsilon=EPSILON, domain_size=DOMAIN_SIZE, eta=0.5)
    reports = oracle.privatize(draw_values(DOMAIN_SIZE, USERS))
    bare = partial(add_seven, reports.data.view(np.uint16).reshape(-1, 4), oracle._parities.rows)
    assert np.array_equal(oracle.tally(reports).state, bare())
    times = by_turns(ROUNDS, clock(partial(oracle.tally, reports), USERS), clock(bare, USERS))
    about = {"per": " a report", "against": "seven additions", "method": BY_TURNS}
    return slowdown(f"FWR tally, eta = 1/2, {USERS:,} reports", times, at_most=3, **about)


def decode_pgr() -> Answer:
    oracle = fldp.PGR(epsilon=EPSILON, domain_size=PEER_DOMAIN_SIZE)
    reports = oracle.privatize(draw_values(PEER_DOMAIN_SIZE, PEER_USERS))

    def decode() -> None:
        oracle.estimate(oracle.tally(reports))

    oue = fldp.OUE(epsilon=EPSILON, domain_size=PEER_DOMAIN_SIZE)
    rival = oue.privatize(draw_values(PEER_DOMAIN_SIZE, PEER_USERS))
    times = by_turns(ROUNDS, clock(decode), clock(lambda: oue.estimate(oue.tally(rival))))
    about = {"against": "the same of our OUE", "method": BY_TURNS}
    return speedup(f"PGR tally and estimate, {PEER_USERS:,} reports", times, **about)


def peer_clock(task: str, mechanism: str) -> Clock:
    """Return a clock of pure-ldp, which takes the best of its chunks itself."""
    asked = {"mechanism": mechanism, "epsilon": EPSILON, "domain_size": PEER_DOMAIN_SIZE}
    asked |= {"users": PEER_SAMPLE, "chunks": PEER_REPEATS}
    return lambda: float(PURE_LDP.ask(task, **asked))


def beside_peer(work: Callable[[], object], task: str, mechanism: str) -> tuple[float, float]:
    return by_turns(PEER_ROUNDS, best_of(PEER_REPEATS, clock(work, PEER_USERS)), peer_clock(task, mechanism))


def tally_olh() -> Answer:
    oracle = fldp.OLH(epsilon=EPSILON, domain_size=PEER_DOMAIN_SIZE)
    reports = oracle.privatize(draw_values(PEER_DOMAIN_SIZE, PEER_USERS))
    times = beside_peer(partial(oracle.tally, reports), "tally", "olh")
    about = {"per": " a report", "against": "pure-ldp", "method": BESIDE_PEER}
    return speedup(f"OLH tally, {PEER_USERS:,} reports, {PEER_DOMAIN_SIZE:,} values", times, at_least=300, **about)


def privatize_oue() -> Answer:
    oracle = fldp.OUE(epsilon=EPSILON, domain_size=PEER_DOMAIN_SIZE)
    values = draw_values(PEER_DOMAIN_SIZE, PEER_USERS)
    times = beside_peer(partial(oracle.privatize, values), "privatize", "oue")
    about = {"per": " a user", "against": "pure-ldp", "method": BESIDE_PEER}
    return speedup(f"OUE privatize, {PEER_DOMAIN_SIZE:,} values", times, at_least=60, **about)


def beside_words(name: str, users: int, words: int, at_most: float) -> Answer:
    """Privatize a batch by secure randomness, beside drawing what it needs: bits of a law, or the words of a report."""
    oracle = getattr(fldp, name)(epsilon=EPSILON, domain_size=PEER_DOMAIN_SIZE)
    ours = clock(partial(oracle.privatize, draw_values(PEER_DOMAIN_SIZE, users)), users, process_time)
    times = by_turns(FEW_ROUNDS, ours, clock(Draw(words * users), users, process_time))
    about = {"per": " a user", "against": f"{8 * words} random bytes", "method": FEW_TURNS}
    return slowdown(f"{name} privatize, {users:,} users, {PEER_DOMAIN_SIZE:,} values", times, at_most=at_most, **about)


TWO_BITS = 2 * PEER_DOMAIN_SIZE // 64  # words: what a comparison with a threshold takes on the average, for each value


def privatize_oue_by_bits() -> Answer:
    return beside_words("OUE", 200_000, TWO_BITS, 2)


def privatize_sue_by_bits() -> Answer:
    return beside_words("SUE", 200_000, TWO_BITS, 2)


def privatize_pgr() -> Answer:
    return beside_words("PGR", USERS, 1, 3)


def privatize_ss() -> Answer:
    return beside_words("SS", 20_000, 276, 3)


def tally_large(oracle: fldp.FrequencyOracle, additions: int) -> Answer:
    """Add reports into 2^20 rows, beside as many additions at random places of as many counters."""
    reports, state = oracle.privatize(draw_values(LARGE_SIZE, USERS), rng=7).data, oracle.tally_format.zeros()
    places, counts = draw_values(state.size, additions * USERS), np.zeros(state.size, np.int64)
    ours = clock(partial(oracle.count, reports, state), USERS, process_time)
    times = by_turns(FEW_ROUNDS, ours, clock(partial(count_streaming, places, counts), USERS, process_time))
    about = {"per": " a report", "against": f"{additions} additions at random places", "method": FEW_TURNS}
    return slowdown(f"{oracle.title} tally, {LARGE_SIZE:,} values, {USERS:,} reports", times, at_most=2, **about)


def tally_large_fhr() -> Answer:
    return tally_large(fldp.FHR(epsilon=EPSILON, domain_size=LARGE_SIZE), 3)


def tally_large_fwr() -> Answer:
    return tally_large(fldp.FWR(epsilon=EPSILON, domain_size=LARGE_SIZE, eta=0.5), 7)


def transform() -> Answer:
    vector = np.random.default_rng(7).integers(-1000, 1000, 1 << 20)
    assert np.array_equal(walsh_hadamard(vector), textbook_transform(vector))
    ours, textbook = (clock(partial(work, vector)) for work in (walsh_hadamard, textbook_transform))
    about = {"against": "textbook loops, compiled", "method": BY_TURNS}
    return speedup("Walsh-Hadamard transform, 2^20", by_turns(ROUNDS, ours, textbook), at_least=1.5, **about)


def transform_by(threads: int, vector: np.ndarray) -> Clock:
    """Return a clock of the transform as on a machine with so many cores: the best of a few calls, in warm caches."""

    def as_on_such_a_machine(read: Clock) -> float:
        cores = partial(int, threads)  # a mock would take several microseconds of every call
        with mock.patch.object(walsh_hadamard_module, "available_cores", cores):
            return read()

    read = best_of(TRANSFORMS, clock(partial(walsh_hadamard, vector)))
    return partial(as_on_such_a_machine, read)


def transform_in_two_threads(bits: int) -> Answer:
    """Time two threads by the clock, which alone shows whether they run at once: other programs must leave them be."""
    vector = np.random.default_rng(7).integers(-1000, 1000, 1 << bits)
    two, one = (transform_by(threads, vector) for threads in (2, 1))
    about = {"against": "one thread", "method": f"best of {ROUNDS * TRANSFORMS}, {ROUNDS} turns"}
    return speedup(
        f"Walsh-Hadamard transform, 2^{bits}, two threads", by_turns(ROUNDS, two, one), at_least=1.6, **about
    )


def stream_in_two_threads(bits: int) -> Answer:
    """Time passes that memory limits, about as many as a transform makes: no bound for it, since it computes more."""
    vector, passes = np.random.default_rng(7).integers(-1000, 1000, 1 << bits), bits // 4
    two, one = (clock(partial(stream_by, threads, vector, passes)) for threads in (2, 1))
    about = {"against": "one thread", "method": BY_TURNS}
    return speedup(f"{passes} passes over as many numbers, two threads", by_turns(ROUNDS, two, one), **about)


def transform_shortest_threaded() -> Answer:
    return transform_in_two_threads(19)


def stream_shortest_threaded() -> Answer:
    return stream_in_two_threads(19)


def transform_long() -> Answer:
    return transform_in_two_threads(20)


def stream_long() -> Answer:
    return stream_in_two_threads(20)


def transform_longer() -> Answer:
    return transform_in_two_threads(22)


def stream_longer() -> Answer:
    return stream_in_two_threads(22)


def import_package() -> Answer:
    ours, numpy = (fresh_clock(IMPORT.format(module=module)) for module in ("fldp", "numpy"))
    ours()  # writes the bytecode, as an installation would
    times = by_turns(FRESH_ROUNDS, ours, numpy, choose=median)
    return duration("import fldp", times, below=0.3, against="import numpy", method=IN_FRESH_PROCESS)


def first_batch_pair() -> tuple[float, float]:
    """Return the seconds of a first batch with the kernels on disk, and with an empty cache."""
    with TemporaryDirectory() as cache:
        read = fresh_clock(FIRST_BATCH, NUMBA_CACHE_DIR=cache)
        empty = read()
        return read(), empty


def first_batch() -> Answer:
    cached, empty = zip(*(first_batch_pair() for _ in range(FRESH_ROUNDS)), strict=True)
    about = {"against": "kernels not yet compiled", "method": IN_FRESH_PROCESS}
    return speedup("first FHR batch of a process, kernels cached", (median(cached), median(empty)), **about)


def gateway() -> Answer:
    """What a gateway adds to a request: it decrypts one of the smallest size, and encrypts the reply."""
    key = ohttp.GatewayKey.generate(1)
    message = pad(BinaryRequest(b"POST", b"/v1/versions/x/reports", (), bytes(170)).encode())
    body, _ = ohttp.encapsulate(key.config, message)

    def add() -> None:
        for _ in range(MESSAGES):
            data, exchange = ohttp.decapsulate([key], body)
            BinaryRequest.decode(data)
            exchange.encapsulate(pad(BinaryReply(200, (), bytes(16)).encode()))

    def send() -> None:
        for _ in range(MESSAGES):
            ohttp.encapsulate(key.config, message)

    ours, client = (clock(work, MESSAGES, process_time) for work in (add, send))
    about = {"against": "encrypting the request", "method": f"processor time, {BY_TURNS}", "per": " a request"}
    return duration("the gateway of oblivious HTTP", by_turns(ROUNDS, ours, client), below=0.0003, **about)


def crowd() -> Answer:
    """What a crowd of a billion adds to the privacy of a report, beside a crowd of a thousand times fewer."""
    oracle = fldp.GRR(EPSILON, PEER_DOMAIN_SIZE)
    ours, fewer = (clock(partial(fldp.shuffled, oracle, people), now=process_time) for people in (10**9, 10**6))
    about = {"against": "a crowd of 10^6", "method": f"processor time, {BY_TURNS}"}
    return duration("fldp.shuffled, a crowd of 10^9", by_turns(ROUNDS, ours, fewer), below=1.0, **about)


QUESTIONS = (
    *(privatize_fhr, tally_fhr, tally_fwr, decode_pgr, tally_olh, privatize_oue),
    *(privatize_oue_by_bits, privatize_sue_by_bits, privatize_pgr, privatize_ss, tally_large_fhr, tally_large_fwr),
    *(transform, transform_shortest_threaded, stream_shortest_threaded, transform_long, stream_long),
    *(transform_longer, stream_longer, import_package, first_batch, gateway, crowd),
)


def measure() -> Result:
    answers = []
    for number, question in enumerate(QUESTIONS, start=1):
        say(f"{number} of {len(QUESTIONS)}: {question.__name__}")
        answers.append(question())
    shown = [table(f"fldp core, epsilon = {EPSILON:g}, one core, secure randomness", answers)]
    missed = any(answer.verdict == "MISS" for answer in answers)
    record = {"answers": [answer.record() for answer in answers]}
    return Result(shown, record, missed, [("benchmarks.md", "core", [documented(answers)])])


if __name__ == "__main__":
    sys.exit(run("Measure the core against its targets.", (PURE_LDP,), measure))
