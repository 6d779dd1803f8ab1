"""Run OpenDP's randomized response, which draws securely, by the use that its documentation shows: one call a value.

It runs in the environment of the peer.
"""

from math import exp

import opendp.prelude as dp
from protocol import best_call, serve

dp.enable_features("contrib")


def response(epsilon, domain_size):
    """Return the measurement with the probability of the truth that epsilon asks for."""
    keep = exp(epsilon) / (exp(epsilon) + domain_size - 1)
    if domain_size == 2:
        return dp.m.make_randomized_response_bool(prob=keep)
    return dp.m.make_randomized_response(categories=list(range(domain_size)), prob=keep)


def one_call(mechanism, epsilon, domain_size, calls, chunks):
    """Take a value of each call in turn; of two values, False and True."""
    assert mechanism == "grr"
    values = [k % domain_size for k in range(calls)]
    return best_call(response(epsilon, domain_size), [bool(v) for v in values] if domain_size == 2 else values, chunks)


if __name__ == "__main__":
    serve("opendp", one_call=one_call)
