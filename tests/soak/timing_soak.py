"""The time that ``privatize`` takes says nothing about the value: Welch's t over many calls for each of two values.

A stopwatch is an observer, too: a page that sees when a report leaves, or a server that sees when it comes, sees how
long the answer took. For each oracle, calls for two values are timed in turns of random order, so that whatever the
machine does beside it meets both alike, and the means are compared. Times above a high quantile of *both together* are
interruptions and are left out for both alike.

The whole way from the label to the bytes is timed: the look-up of the label, the noise, the packing. The clock is that
of the thread's own work: it stands still while other programs run, so it sees more than a stopwatch does.
"""

import random
import sys
import time
from math import erfc, sqrt
from statistics import fmean, variance

import numpy as np

import fldp
from fldp import Responder, Survey, wire
from fldp.responder import registry

CALLS = 100_000  # for each value
MAX_Z = 4.0  # of one comparison: a false alarm in 16,000 where times are independent
KEPT = 0.95  # of all times; the rest are interruptions
SIZE = 100


def labels(size=SIZE):
    return tuple(f"label {k:05}" for k in range(size))


def some(size):
    return tuple(range(1, size, 3))


def listed():
    """Return oracles over values that can be listed, each with the values that are compared: the ends, and kinds."""
    plain = {
        "RR": (fldp.RR(1.0), (0, 1)),
        **{
            cls.__name__: (cls(1.0, SIZE), (0, 1, SIZE // 2, SIZE - 1))
            for cls in (fldp.GRR, fldp.SUE, fldp.OUE, fldp.OLH, fldp.SS, fldp.HR, fldp.PGR, fldp.FHR, fldp.HRR)
        },
    }
    plain["GRR 4096"] = (fldp.GRR(1.0, 4096), (0, 4095))
    plain["HR 8 blocks"] = (fldp.HR(3.0, SIZE, 8), (0, 7, SIZE - 1))
    plain["PGR 1000"] = (fldp.PGR(1.0, 1000), (0, 1, 100, 999))
    plain["FWR eta 1/2"] = (fldp.FWR(1.0, SIZE, 0.5, allow_exposure=True), (0, 1, SIZE - 1))
    plain["LWR"] = (fldp.LWR(1.0, SIZE, 2.0, 2), (0, 1, SIZE - 1))
    plain["Grouped"] = (fldp.Grouped(1.0, base="grr", groups=(50, 30, 20)), (0, 49))  # of one group: others are told
    plain["Exponential"] = (fldp.Exponential(4.0, SIZE, distance="line"), (0, 50, 99))
    plain["Wave"] = (fldp.Wave(1.0, SIZE, width=14), (0, 50, 99))
    plain["URR"] = (fldp.URR(1.0, SIZE, sensitive=some(SIZE)), (0, 1, 4, 97, 99))
    plain["URAPPOR"] = (fldp.URAPPOR(1.0, SIZE, sensitive=some(SIZE)), (0, 1, 4, 97, 99))
    plain["IDUE"] = (fldp.IDUE(2.0, SIZE, budgets={3: 1.0, 70: 0.5}), (0, 3, 70, 99))
    return plain


def stringy():
    """Return oracles over strings, with strings of one length: how long an answer is can be seen in other ways."""
    words = ("aaaaaaaa", "zzzzzzzz", "firefox!")
    return {
        "CMS": (fldp.CMS(2.0), words),
        "HCMS": (fldp.HCMS(2.0), words),
        "RAPPOR": (fldp.RAPPOR(1.0, 2.0, hashes=2), words),
    }


def answers():
    """Yield a name, a function from an answer to bytes, and the answers that are compared."""
    for name, (oracle, values) in listed().items():
        names = labels(oracle.domain_size)
        asked, chosen = Survey("timing", "Which?", oracle, labels=names), [names[value] for value in values]
        yield name, sender(asked), chosen
        if oracle.name in registry.names():
            yield f"{name}, Responder", Responder(asked).encode, chosen
    for name, (oracle, words) in stringy().items():
        yield name, sender(Survey("timing", "Which?", oracle)), list(words)


def sender(survey):
    version = survey.version

    def send(answer):
        return wire.encode(survey.privatize([answer]), version)

    return send


def times_of(send, one, other, calls, chance):
    """Return the times of so many calls for each of two answers, in turns of random order."""
    seconds = {one: [], other: []}
    clock = time.thread_time_ns
    for _ in range(calls):
        pair = (one, other) if chance.getrandbits(1) else (other, one)
        for answer in pair:
            begin = clock()
            send(answer)
            end = clock()  # before anything is looked up by the answer, which takes its own time
            seconds[answer].append(end - begin)
    return seconds[one], seconds[other]


def welch(one, other):
    """Return Welch's t and the difference of the means in parts of the mean, without what lies above a common limit."""
    limit = float(np.quantile(np.concatenate([one, other]), KEPT))
    mine, theirs = ([each for each in times if each <= limit] for times in (one, other))
    gap = fmean(mine) - fmean(theirs)
    error = sqrt(variance(mine) / len(mine) + variance(theirs) / len(theirs))
    return (gap / error if error else 0.0), gap / fmean(theirs)


def main(calls=CALLS, only=None, seed=None):
    """Compare the first answer of every oracle with each other one; False if a difference shows."""
    chance, shown, compared = random.Random(seed), [], 0
    for name, send, chosen in answers():
        if only is not None and name not in only:
            continue
        first, *others = chosen
        for _ in range(200):
            send(first)
        for other in others:
            z, share = welch(*times_of(send, first, other, calls, chance))
            compared += 1
            shown += [name] if abs(z) >= MAX_Z else []
            print(f"{name:<24} {first!r} and {other!r}: z {z:+6.2f}, difference {share:+.3%}", flush=True)
    alarms = compared * erfc(MAX_Z / sqrt(2))
    said = f"{compared} comparisons, {calls:,} calls for each value, {alarms:.4f} false alarms expected"
    print(f"{said}; a difference shows for {', '.join(shown) or 'none'}")
    return not shown


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS, set(sys.argv[2:]) or None))
