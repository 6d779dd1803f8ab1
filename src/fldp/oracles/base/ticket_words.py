"""Ticket words: public randomness derived from single-use tickets, so that nobody can choose it.

A hash seed, a hash function or a mask is drawn by the sender and published with the report. It says nothing about the
value, but a sender who chooses it to suit a set of values counts for several people (``fldp.privacy.poisoning``).
Where a survey says ``derive = true``, the words that decide it come from the sender's ticket instead of chance:

    word k  =  bytes 8k to 8k+7, little-endian, of the blocks SHA-256("fldp public words 1", ticket, version, j)

where block ``j = 0, 1, ...`` hashes these four as text, separated by zero bytes. The collector recomputes them and
refuses a report whose public part differs.

That is sound for plain LDP alone, where epsilon holds whatever the public part is. With eta below 1 the masks also
choose *what is leaked*, and whoever issues tickets could choose the masks; so such surveys are refused.
"""

import hashlib

import numpy as np

from fldp.data.reports import Array, Reports
from fldp.data.values import Values
from fldp.oracles.base.oracle import Oracle
from fldp.randomness.stream import Stream, Words
from fldp.support.validation import fail

DERIVABLE = "one of plain LDP whose reports have a public part: olh, hrr, hcms, sampled, or fwr with eta 1"
_LABEL = "fldp public words 1"


def can_derive(oracle: Oracle) -> bool:
    """Whether the public part of reports may come from tickets: there is one, and epsilon holds whatever it is.

    >>> import fldp
    >>> [can_derive(oracle) for oracle in (fldp.OLH(1.0, 9), fldp.FWR(1.0, 9), fldp.FWR(1.0, 9, 0.5), fldp.OUE(1.0, 9))]
    [True, True, False, False]
    """
    return oracle.report_format.public_words > 0 and oracle.eta == 1


def public_words(ticket: str, version: str, count: int) -> Words:
    """Return the public words of a ticket for one version of a survey.

    >>> [hex(word) for word in public_words("fldp_ticket_x", "00", 2)]
    ['0x5932a5ad5ecd0094', '0xcbee195201076fc2']
    """
    texts = ("\0".join((_LABEL, ticket, version, str(j))) for j in range(-(-count // 4)))
    blocks = (hashlib.sha256(text.encode()).digest() for text in texts)
    return np.frombuffer(b"".join(blocks), "<u8")[:count].astype(np.uint64)


def privatize(oracle: Oracle, value: int | str, ticket: str, version: str) -> Reports:
    """Privatize one value, with the public part from the ticket and all other words from the operating system.

    >>> import fldp
    >>> oracle = fldp.OLH(epsilon=1.0, domain_size=9)
    >>> one, two = (privatize(oracle, value, "fldp_ticket_x", "00").data[0] for value in (3, 4))
    >>> one["seed"] == two["seed"], fits(oracle, one, "fldp_ticket_x", "00"), fits(oracle, one, "fldp_ticket_y", "00")
    (np.True_, True, False)
    """
    words, number = Stream().words(oracle.words), oracle._as_values([value]).astype(np.int64)
    return Reports.trusted(oracle, _perturbed(_derivable(oracle), number, words, ticket, version))


def fits(oracle: Oracle, report: Array, ticket: str, version: str) -> bool:
    """Whether the public part of a report is the one that its ticket decides."""
    words, any_number = np.zeros(oracle.words, np.uint64), np.zeros(1, np.int64)
    like = _perturbed(_derivable(oracle), any_number, words, ticket, version)[0]
    split = oracle.report_format.outcome
    return bool(split(like)[0] == split(report)[0])


def _perturbed(oracle: Oracle, number: Values, words: Words, ticket: str, version: str) -> Array:
    layout = oracle.report_format
    words[: layout.public_words] = public_words(ticket, version, layout.public_words)
    data = layout.empty(1)
    oracle.perturb(number, words[None], data)
    return data


def _derivable(oracle: Oracle) -> Oracle:
    if not can_derive(oracle):
        raise fail("derive", "the oracle", DERIVABLE, oracle)
    return oracle
