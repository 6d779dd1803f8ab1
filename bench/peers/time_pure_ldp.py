"""Time pure-ldp by the use that its README shows: one call a user, one call a report.

It runs in the environment of the peers and prints JSON. The work is cut into chunks, and the best chunk
counts: chunks are about as long as one of our runs, so both sides have the same chance to find the machine quiet.
"""

import json
import random
import sys
from importlib.metadata import version
from time import perf_counter

from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient


def values(domain_size, users):
    return [random.randint(1, domain_size) for _ in range(users)]  # pure-ldp counts values from 1


def seconds_each(work, arguments):
    start = perf_counter()
    for argument in arguments:
        work(argument)
    return (perf_counter() - start) / len(arguments)


def best_chunk(work, arguments, chunks):
    size = len(arguments) // chunks
    return min(seconds_each(work, arguments[k * size : (k + 1) * size]) for k in range(chunks))


def oue_privatize(epsilon, domain_size, users, chunks):
    client = UEClient(epsilon=epsilon, d=domain_size, use_oue=True)
    return best_chunk(client.privatise, values(domain_size, users), chunks)


def olh_tally(epsilon, domain_size, users, chunks):
    client = LHClient(epsilon=epsilon, d=domain_size, use_olh=True)
    server = LHServer(epsilon=epsilon, d=domain_size, use_olh=True)
    reports = [client.privatise(value) for value in values(domain_size, users)]
    return best_chunk(server.aggregate, reports, chunks)


TASKS = {"oue_privatize": oue_privatize, "olh_tally": olh_tally}


def main(task, parameters="{}"):
    timings = {"version": version("pure-ldp")}
    if task != "check":
        timings["seconds_each"] = TASKS[task](**json.loads(parameters))
    print(json.dumps(timings))


if __name__ == "__main__":
    main(*sys.argv[1:])
