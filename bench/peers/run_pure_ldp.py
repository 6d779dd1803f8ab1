"""Run pure-ldp as its README shows: one call per user, one call per report.

It runs in the environment of the peer. The core's questions cut the work into chunks, and the best chunk counts:
chunks are about as long as one of our runs, so both sides have the same chance to find the machine quiet.
"""

import random
import resource
import string
import warnings
from time import perf_counter, process_time

from protocol import best_call, runs, serve
from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient, HadamardMechServer
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.local_hashing import FastLHClient, FastLHServer, LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer
from pure_ldp.heavy_hitters.prefix_extending import PEMClient, PEMServer

warnings.simplefilter("ignore")  # it warns about every small number of reports


def pair_of(client, server, **options):
    return lambda **parameters: (client(**parameters, **options), server(**parameters, **options))


def hadamard_response(**parameters):
    server = HadamardResponseServer(**parameters)
    return HadamardResponseClient(hash_funcs=server.get_hash_funcs(), **parameters), server


PAIRS = {
    "grr": pair_of(DEClient, DEServer),
    "sue": pair_of(UEClient, UEServer, use_oue=False),
    "oue": pair_of(UEClient, UEServer, use_oue=True),
    "olh": pair_of(LHClient, LHServer, use_olh=True),
    "flh": pair_of(FastLHClient, FastLHServer, use_olh=True, k=1000),
    "hr": hadamard_response,
    "hm1": pair_of(HadamardMechClient, HadamardMechServer, t=1),
    "hm": pair_of(HadamardMechClient, HadamardMechServer, t=None, use_optimal_t=True),
}


def pair(mechanism, epsilon, domain_size):
    """Return a client and a server that count values from 0, as ours do."""
    return PAIRS[mechanism](epsilon=epsilon, d=domain_size, index_mapper=lambda value: value)


def run_protocol(mechanism, epsilon, domain_size, values, seconds):
    def make():
        client, server = pair(mechanism, epsilon, domain_size)

        def estimate(reports):
            server.aggregate_all(reports)
            return server.estimate_all(range(domain_size), suppress_warnings=True) / len(reports)

        return lambda values: [client.privatise(value) for value in values], estimate

    return runs(make, values, seconds)


def draw_values(domain_size, users):
    return [random.randrange(domain_size) for _ in range(users)]


def seconds_each(work, arguments):
    start = perf_counter()
    for argument in arguments:
        work(argument)
    return (perf_counter() - start) / len(arguments)


def best_chunk(work, arguments, chunks):
    size = len(arguments) // chunks
    return min(seconds_each(work, arguments[k * size : (k + 1) * size]) for k in range(chunks))


def privatize(mechanism, epsilon, domain_size, users, chunks):
    client, _ = pair(mechanism, epsilon, domain_size)
    return best_chunk(client.privatise, draw_values(domain_size, users), chunks)


def one_call(mechanism, epsilon, domain_size, calls, chunks):
    client, _ = pair(mechanism, epsilon, domain_size)
    return best_call(client.privatise, [k % domain_size for k in range(calls)], chunks)


def tally(mechanism, epsilon, domain_size, users, chunks):
    client, server = pair(mechanism, epsilon, domain_size)
    reports = [client.privatise(value) for value in draw_values(domain_size, users)]
    return best_chunk(server.aggregate, reports, chunks)


LETTERS, LONGEST, END = string.ascii_lowercase, 6, "_"


def pem(counts, epsilon, k):
    """Find the k most frequent words: strings, processor seconds, peak memory in MiB.

    Its default oracle, local hashing, walks over all 27^6 words for every report, so it is given a sketch, as in its
    own experiments (128 rows of 1,024). Strings must be of one length: shorter words are filled up, longer ones cut.
    """
    people = [word for word, count in counts.items() for _ in range(count)]
    filled = {word: _filled(word) for word in counts}
    start = process_time()
    server = CMSServer(epsilon, k=128, m=1024)
    client = CMSClient(epsilon, server.get_hash_funcs(), m=1024)
    shape = {"epsilon": epsilon, "start_length": 2, "max_string_length": LONGEST, "fragment_length": 1}
    shape |= {"alphabet": [*LETTERS, END], "index_mapper": lambda fragment: fragment}
    asking, finding = PEMClient(fo_client=client, **shape), PEMServer(fo_server=server, **shape)
    for word in people:
        finding.aggregate(asking.privatise(filled[word]))
    hitters, _ = finding.find_heavy_hitters(k=k)
    seconds, size = process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return [word.rstrip(END) for word in hitters], seconds, size


def _filled(word):
    return "".join(letter if letter in LETTERS else END for letter in word[:LONGEST]).ljust(LONGEST, END)


if __name__ == "__main__":
    serve("pure-ldp", run=run_protocol, privatize=privatize, one_call=one_call, tally=tally, pem=pem)
