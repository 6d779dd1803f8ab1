"""The protocol as everybody runs it, ours and the peers: all users answer, then the server adds up and estimates.

It needs nothing but Python, so it runs in the environment of every peer, where it also answers what the benchmark asks.
Seconds are those of the processor: others on the machine would hit a run of half a minute more surely than a short one.
"""

import json
import sys
from importlib.metadata import version
from time import perf_counter, process_time


def run(make, values):
    """Run the protocol once: the seconds of each part, those of the clients for each user, and what comes out."""
    start = process_time()
    privatize, estimate = make()
    ready = process_time()
    reports = privatize(values)
    sent = process_time()
    frequencies = estimate(reports)
    done = process_time()
    client = (sent - ready) / len(values)
    return {"setup": ready - start, "client": client, "server": done - sent, "frequencies": frequencies}


def runs(make, values, seconds):
    """Run the protocol again and again for so many seconds, at least once."""
    run(make, values[:16])  # the first call compiles, or loads what was compiled before
    end = perf_counter() + seconds
    runs = [run(make, values)]
    while perf_counter() < end:
        runs.append(run(make, values))
    return runs


def best_call(work, arguments, chunks):
    """Return the processor seconds of one call: those of the best chunk, divided by its calls."""
    size = len(arguments) // chunks
    work(arguments[0])  # the first call compiles, or loads what was compiled before

    def seconds(part):
        start = process_time()
        for argument in part:
            work(argument)
        return (process_time() - start) / size

    return min(seconds(arguments[k * size : (k + 1) * size]) for k in range(chunks))


def serve(package, **tasks):
    """Answer every line of the input, a task and its parameters, by a line; ``check`` only says that all is there."""
    if sys.argv[1:] == ["check"]:
        print(version(package))
        return
    answers, sys.stdout = sys.stdout, sys.stderr  # what a package prints is no answer
    for line in sys.stdin:
        task, parameters = json.loads(line)
        print(json.dumps(tasks[task](**parameters), default=list), file=answers, flush=True)
