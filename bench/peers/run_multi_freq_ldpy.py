"""Run multi-freq-ldpy as its README shows: one call per user, one call for all reports.

It runs in the environment of the peer.
"""

from time import process_time

import numpy as np
from multi_freq_ldpy.mdim_freq_est import RSpFD_solution as rsfd
from multi_freq_ldpy.mdim_freq_est import SMP_solution as smp
from multi_freq_ldpy.mdim_freq_est import SPL_solution as spl
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from protocol import best_call, runs, serve


def unary(optimal):
    """Return the functions of an encoding; its server takes no domain size."""

    def client(value, domain_size, epsilon):
        return UE_Client(value, domain_size, epsilon, optimal)

    def aggregate(reports, domain_size, epsilon):
        del domain_size
        return UE_Aggregator_MI(reports, epsilon, optimal)

    return client, aggregate


PAIRS = {
    "grr": (GRR_Client, GRR_Aggregator_MI),
    "sue": unary(optimal=False),
    "oue": unary(optimal=True),
    "olh": (LH_Client, LH_Aggregator_MI),
    "ss": (SS_Client, SS_Aggregator_MI),
}


def run_protocol(mechanism, epsilon, domain_size, values, seconds):
    client, aggregate = PAIRS[mechanism]

    def privatize(values):
        return [client(value, domain_size, epsilon) for value in values]

    return runs(lambda: (privatize, lambda reports: aggregate(reports, domain_size, epsilon)), values, seconds)


def one_call(mechanism, epsilon, domain_size, calls, chunks):
    client, _ = PAIRS[mechanism]
    return best_call(lambda value: client(value, domain_size, epsilon), [k % domain_size for k in range(calls)], chunks)


SCHEMES = {  # of several questions: the client, the server, and whether this is told the numbers of answers
    "SPL[GRR]": (spl.SPL_GRR_Client, spl.SPL_GRR_Aggregator_MI, True),
    "SPL[OUE]": (spl.SPL_UE_Client, spl.SPL_UE_Aggregator_MI, False),
    "SMP[GRR]": (smp.SMP_GRR_Client, smp.SMP_GRR_Aggregator_MI, True),
    "SMP[OUE]": (smp.SMP_UE_Client, smp.SMP_UE_Aggregator_MI, False),
    "RS+FD[GRR]": (rsfd.RSpFD_GRR_Client, rsfd.RSpFD_GRR_Aggregator_MI, True),
    "RS+FD[OUE-z]": (rsfd.RSpFD_UE_zero_Client, rsfd.RSpFD_UE_zero_Aggregator_MI, True),
}


def questions(scheme, epsilon, answers, rows, times):
    """Ask several questions again and again: the estimated shares, and the seconds of the clients."""
    client, aggregate, told = SCHEMES[scheme]
    people, count = np.array(rows), len(rows[0])
    sizes = [answers] * count
    turns = []
    for _ in range(times):
        start = process_time()
        reports = [client(person, sizes, count, epsilon) for person in people]
        seconds = process_time() - start
        shares = aggregate(reports, *([sizes] if told else []), count, epsilon)
        turns.append({"shares": [[float(share) for share in each] for each in shares], "seconds": seconds})
    return turns


if __name__ == "__main__":
    serve("multi-freq-ldpy", run=run_protocol, one_call=one_call, questions=questions)
