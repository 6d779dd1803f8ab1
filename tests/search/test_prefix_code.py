"""Strings as bits: every string has one code, and no code begins another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fldp import FldpError
from fldp.search.prefix_code import LIKELY, Beginning, PrefixCode, as_bytes

ALPHABETS = ["", "a", "ab", "é", LIKELY, "".join(map(chr, range(128)))]
CODES = [PrefixCode(alphabet) for alphabet in ALPHABETS]
codes = pytest.mark.parametrize("code", CODES, ids=range(len(CODES)))


@codes
@given(st.binary(max_size=20), st.integers(0, 9))
def test_there_and_back(code, value, padding):
    bits = code.encode(value)
    assert code.decode(bits) == code.decode(bits + "0" * padding) == Beginning(value, whole=True)


@codes
@given(st.binary(max_size=8), st.binary(max_size=8))
def test_no_code_begins_another(code, one, two):
    assert one == two or not code.encode(two).startswith(code.encode(one))


@codes
@given(st.binary(max_size=8), st.data())
def test_a_beginning_of_the_code_is_a_beginning_of_the_string(code, value, data):
    bits = code.encode(value)
    decoded = code.decode(bits[: data.draw(st.integers(0, len(bits) - 1))])
    assert not decoded.whole
    assert value.startswith(decoded.value)


def beginnings(code, length, bits=""):
    """The first bits of the codes of all strings, with zeros after the end."""
    if len(bits) >= length:
        return {bits[:length]}
    ended = (bits + code._symbols[0]).ljust(length, "0")[:length]
    return {ended}.union(*(beginnings(code, length, bits + byte) for byte in code._bytes.values()))


@codes
def test_what_begins_no_code_is_known(code):
    length = 11
    every = {f"{number:0{length}b}" for number in range(1 << length)}
    assert {bits for bits in every if code.decode(bits) is not None} == beginnings(code, length)


def test_a_complete_code_wastes_nothing():
    """The symbols of a code without escape, the end and all bytes, fill the space: Kraft's sum is 1."""
    code = PrefixCode("".join(map(chr, range(128))))
    assert sum(2.0 ** -len(bits) for bits in code._symbols) == 1
    assert {len(bits) for bits in PrefixCode(LIKELY)._symbols} == {5, 6}


def test_letters_that_share_bytes():
    assert [len(bits) for bits in PrefixCode("éè")._symbols] == [2, 2, 2, 3, 3]  # end, C3, A9, A8, escape


def test_for_people():
    assert Beginning(b"caf\xc3\xa9", whole=True).text == "café"
    assert Beginning(b"\xff\xc3", whole=False).text == "\\xff\\xc3..."
    assert as_bytes("é") == "é".encode()


@pytest.mark.parametrize("value", [5, None, "\ud800", ["a"]])
def test_what_is_no_string(value):
    rule = r"^a string must be UTF-8 text or bytes, got a value of type \w+ \(not shown\)$"
    with pytest.raises(FldpError, match=rule) as error:
        as_bytes(value)
    assert error.value.__context__ is None  # an error of Python's would hold the string


@pytest.mark.parametrize("alphabet", [5, b"abc", "\ud800"])
def test_what_is_no_alphabet(alphabet):
    with pytest.raises(FldpError, match=r"^PrefixCode: alphabet must be a text of characters, got .*$"):
        PrefixCode(alphabet)
