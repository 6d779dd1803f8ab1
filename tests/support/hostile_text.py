"""Text and bytes that are nearly right: parsers of what comes from outside read them, or refuse them by name."""

from contextlib import suppress

from hypothesis import strategies as st

from fldp import FldpError
from fldp.collector.service.problems import Problem
from fldp.oblivious.bhttp import MessageError
from fldp.oblivious.hpke import OpenError
from fldp.oblivious.ohttp import KeysError

REFUSALS = (FldpError, KeysError, MessageError, OpenError, Problem)
ODD = ["", "0", "-1", "9" * 5000, "1e999", "nan", "[" * 3000, *"[]{}()\"',;=\n"]
ODD += ["\r", "\t", "\0", "\ufeff", "é", "\U0001f600", "true", "null", "[a]", "a.b = 1\n", "\\ud800", "🙂" * 400]
MORE = [b"\0", b"\xff", b"\xff" * 8, b"\x80\0\0\0", bytes(300), b"\xc3\x28"]


def changed(example, pieces):
    """Return a strategy for an example in which some places are cut out and have something odd instead."""
    edit = st.tuples(st.integers(0, len(example)), st.sampled_from([0, 1, 2, 10, len(example)]), pieces)

    def apply(edits):
        text = example
        for place, length, piece in edits:
            text = text[:place] + piece + text[place + length :]
        return text

    return st.lists(edit, max_size=3).map(apply)


def texts(example):
    return changed(example, st.sampled_from(ODD) | st.text(max_size=8)) | st.text(max_size=40)


def contents(example):
    data = example.encode() if isinstance(example, str) else example
    pieces = st.sampled_from([*MORE, *(piece.encode() for piece in ODD)]) | st.binary(max_size=8)
    return changed(data, pieces) | st.binary(max_size=40)


def refused_or_read(parse, data):
    with suppress(*REFUSALS):
        parse(data)
