"""Operations: all that can be asked of a collector, written once for both clients."""

from fldp.client.operations.answering import Answering
from fldp.client.operations.managing import Managing
from fldp.client.operations.requesting import ClientOperation as ClientOperation
from fldp.client.operations.results import Results
from fldp.client.operations.sending import Sending


class Operations(Managing, Sending, Answering, Results):
    """What both clients can do.

    Where an operation takes a survey, that is a ``Survey``, what ``survey()`` returned, a version of 64 hexadecimal
    digits, or a name. A name stands for the newest version that is open, else for the newest.
    """
