"""The time that ``privatize`` takes says nothing about the value: Welch's t over many calls for each of two values.

A stopwatch is an observer, too: a page that sees when a report leaves, or a server that sees when it comes, sees how
long the answer took. For each oracle, calls for two values are timed in turns of random order, so that whatever the
machine does beside it meets both alike, and the means are compared. Times above a high quantile of *both together* are
interruptions and are left out for both alike.

The whole way from the label to the bytes is timed: the look-up of the label, the noise, the packing. The clock is that
of the thread's own work: it stands still while other programs run, so it sees more than a stopwatch does. In JavaScript
the draw alone is timed, by a stopwatch: its bytes are written by an asynchronous function of the platform.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from math import erfc, sqrt
from pathlib import Path
from statistics import fmean, median, variance

import numpy as np

import fldp
from fldp import Responder, Survey, wire
from fldp.responder import registry

CALLS = 100_000  # for each value
MAX_Z = 4.0  # of one comparison: a false alarm in 16,000 where times are independent
KEPT = 0.95  # of all times; the rest are interruptions
SIZE = 100
PROCESSES = 5  # that look again where a difference shows in one
JAVASCRIPT = "JavaScript"
MAX_SHARE = 0.02  # of a draw in JavaScript, which takes two microseconds and more; docs/privacy.md says why
SCRIPT = Path(__file__).parents[1] / "support" / "javascript_timing.mjs"
# Where a difference of a few nanoseconds shows all the same: docs/privacy.md says why it does no harm.
HARMLESS = {"GRR, Responder", "HR 8 blocks, Responder"}


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


def several():
    """Return a survey of two questions and a number, and answers to all of them."""
    asked = [{"name": name, "question": "Which?", "labels": list(labels(4))} for name in ("one", "other")]
    number = {"name": "number", "question": "How many?", "number": {"low": 0, "high": 10, "bins": 4}}
    survey = Survey.from_dict({"name": "timing", "questions": [*asked, number], "oracle": {"epsilon": 1.0}})
    few, many = labels(4)[0], labels(4)[-1]
    return survey, [
        {"one": few, "other": few, "number": 0.5},
        {"one": many, "other": few, "number": 0.5},
        {"one": few, "other": many, "number": 9.5},
    ]


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
    survey, chosen = several()
    yield "Sampled", sender(survey), chosen


def sender(survey):
    version = survey.version

    def send(answer):
        return wire.encode(survey.privatize([answer]), version)

    return send


def times_of(send, one, other, calls, chance):
    """Return the times of so many calls for each of two answers, in turns of random order."""
    mine, theirs = [], []
    first, second = (one, mine), (other, theirs)
    clock = time.thread_time_ns
    for _ in range(calls):
        for answer, times in (first, second) if chance.getrandbits(1) else (second, first):
            begin = clock()
            send(answer)
            end = clock()
            times.append(end - begin)
    return mine, theirs


def welch(one, other):
    """Return Welch's t and the difference of the means in parts of the mean, without what lies above a common limit."""
    limit = float(np.quantile(np.concatenate([one, other]), KEPT))
    mine, theirs = ([each for each in times if each <= limit] for times in (one, other))
    gap = fmean(mine) - fmean(theirs)
    error = sqrt(variance(mine) / len(mine) + variance(theirs) / len(theirs))
    return (gap / error if error else 0.0), gap / fmean(theirs)


def compare(calls, only, chance):
    """Yield the name of each oracle, the answer that was compared with its first, and what was judged."""
    for name, send, (first, *others) in answers():
        if only is not None and name not in only:
            continue
        for _ in range(200):
            send(first)
        for other in others:
            yield judged(name, first, other, times_of(send, first, other, calls, chance))


def judged(name, first, other, times):
    """Print what the times of two answers say, and return whether a difference shows that is not known as harmless."""
    z, share = welch(*times)
    print(f"{name:<24} {first!r} and {other!r}: z {z:+6.2f}, difference {share:+.3%}", flush=True)
    is_small = name in HARMLESS or (name.endswith(JAVASCRIPT) and abs(share) < MAX_SHARE)
    return name, other, abs(z) >= MAX_Z, is_small


def compare_javascript(calls, only):
    """Yield the same of every oracle in JavaScript; each process compiles it anew."""
    from support.javascript import build, node

    names = [name.partition(",")[0] for name in only or () if name.endswith(JAVASCRIPT)]
    if only is not None and not names:
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [node(), str(SCRIPT), str(build(Path(folder))), str(calls), *names]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for row in map(json.loads, process.stdout):
                (first, times), *others = zip(row["answers"], row["times"], strict=True)
                name = f"{row['name']}, {JAVASCRIPT}"
                for other, theirs in others:
                    yield judged(name, first, other, (times, theirs))
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)


def in_new_processes(name, other, calls):
    """Return the median of Welch's t in several new processes.

    Where things lie in memory, and which labels a dictionary finds sooner, is drawn anew when a process starts. Many
    calls in one process see it; a person who answers once gives nothing away by it.
    """
    command = [sys.executable, __file__, str(calls), name]
    runs = [subprocess.run(command, check=False, capture_output=True, text=True).stdout for _ in range(PROCESSES)]
    rows = [row for run in runs for row in run.splitlines() if f"and {other!r}: z" in row]
    return median(float(row.partition(": z")[2].partition(",")[0]) for row in rows)


def main(calls=CALLS, only=None, seed=None, *, once=False):
    """Compare the first answer of every oracle with each other one; False if a difference shows."""
    rows = [*compare(calls, only, random.Random(seed)), *compare_javascript(calls, only)]
    shown = []
    for name, other, _, is_small in [] if once else [row for row in rows if row[2]]:
        z = in_new_processes(name, other, calls)
        print(f"{name:<24} {other!r} again: median z of {PROCESSES} processes {z:+6.2f}", flush=True)
        shown += [name] if abs(z) >= MAX_Z and not is_small else []
    alarms = len(rows) * erfc(MAX_Z / sqrt(2))
    said = f"{len(rows)} comparisons, {calls:,} calls for each value, {alarms:.4f} false alarms expected"
    print(f"{said}; a difference shows for {', '.join(shown) or 'none'}")
    return not shown


if __name__ == "__main__":
    sys.path.insert(0, str(SCRIPT.parents[1]))
    main(int(sys.argv[1]), set(sys.argv[2:]) or None, once=True)
