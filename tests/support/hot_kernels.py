"""The hottest kernels, each called once with arguments as those of batches of reports."""

import numpy as np

import fldp
from fldp.numerics.kernels import always_compile
from fldp.numerics.walsh_hadamard import _eight, _eight_of_eight, walsh_hadamard
from fldp.oracles.base.bit_reports import add_bits
from fldp.oracles.base.symbol_reports import add_symbols
from fldp.oracles.flexible.fhr import add_pairs, draw_pairs
from fldp.oracles.flexible.fwr_kernels import add_characters, draw_parities
from fldp.oracles.plain.corrected_coins import throw_blocks
from fldp.oracles.plain.grr import respond
from fldp.oracles.plain.olh import add_supports
from fldp.oracles.plain.random_sets import draw_sets
from fldp.oracles.plain.turned_points import turn

USERS, DOMAIN_SIZE = 256, 100
VALUES = np.arange(USERS) % DOMAIN_SIZE


def called():
    """Call every one of them, and return them."""
    always_compile()
    for oracle in (fldp.GRR(1.0, DOMAIN_SIZE), fldp.FHR(1.0, DOMAIN_SIZE), fldp.FWR(1.0, DOMAIN_SIZE, eta=0.5)):
        words, data = fldp.Stream(1).words(USERS * oracle.words), oracle.report_format.empty(USERS)
        oracle.perturb(VALUES, words.reshape(USERS, -1), data)
        oracle.count(data, oracle.tally_format.zeros())
    for oracle in (fldp.OUE(1.0, 1 << 10), fldp.SS(1.0, DOMAIN_SIZE), fldp.PGR(1.0, DOMAIN_SIZE)):
        oracle.privatize(VALUES)
    oue, olh = fldp.OUE(1.0, DOMAIN_SIZE), fldp.OLH(1.0, DOMAIN_SIZE)
    for oracle in (oue, olh):
        oracle.count(oracle.report_format.empty(USERS), oracle.tally_format.zeros())
    walsh_hadamard(np.zeros(1 << 12, np.int64))
    by_batches = respond, draw_pairs, draw_parities, throw_blocks, draw_sets, turn
    tallies = add_symbols, add_pairs, add_characters, add_bits, add_supports, _eight, _eight_of_eight
    return by_batches + tallies
