"""Binary HTTP: what is written is read again, and nothing else is."""

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fldp.oblivious.bhttp import SIZES, BinaryReply, BinaryRequest, MessageError, pad

TEXT = st.binary(max_size=80)
HEADERS = st.lists(st.tuples(TEXT, TEXT), max_size=5).map(tuple)
CONTENT = st.binary(max_size=300) | st.just(bytes(20000))
LINES = ((b"content-type", b"x/y"),)
REQUEST = BinaryRequest(b"POST", b"/v1/versions/00/reports", LINES, b"content", b"https", b"host")
REPLY = BinaryReply(200, LINES, b"content")


@given(st.binary(min_size=1, max_size=80), st.binary(min_size=1, max_size=80), HEADERS, CONTENT, TEXT, TEXT)
def test_a_request_is_read_as_it_was_written(method, path, headers, content, scheme, authority):
    request = BinaryRequest(method, path, headers, content, scheme, authority)
    assert BinaryRequest.decode(request.encode()) == BinaryRequest.decode(pad(request.encode())) == request


@given(st.integers(200, 599), HEADERS, CONTENT)
def test_a_reply_is_read_as_it_was_written(status, headers, content):
    reply = BinaryReply(status, headers, content)
    assert BinaryReply.decode(reply.encode()) == BinaryReply.decode(pad(reply.encode())) == reply


def test_the_examples_of_the_rfc_are_read():
    """RFC 9458, appendix A: both leave out what is empty at the end."""
    request = BinaryRequest.decode(bytes.fromhex("00034745540568747470730b6578616d706c652e636f6d012f"))
    assert request == BinaryRequest(b"GET", b"/", scheme=b"https", authority=b"example.com")
    assert BinaryReply.decode(bytes.fromhex("0140c8")) == BinaryReply(200)


def test_informational_replies_are_skipped():
    assert BinaryReply.decode(bytes.fromhex("0140660040c8")) == BinaryReply(200)
    with pytest.raises(MessageError, match="cut off"):
        BinaryReply.decode(bytes.fromhex("01406601"))


@pytest.mark.parametrize("message", [REQUEST, REPLY])
def test_a_message_that_is_cut_off_never_gains_content(message):
    whole = message.encode()
    for size in range(len(whole)):
        try:
            decoded = type(message).decode(whole[:size])
        except MessageError:
            continue
        assert decoded.content in (b"", message.content)
        assert decoded.headers in ((), message.headers)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "cut off"),
        (b"\x02\x03GET", "no request of known length"),
        (b"\x00\x03GET\x05https\x00\x00", "no method or no path"),
        (b"\x00\x00\x05https\x00\x01/", "no method or no path"),
        (b"\x00\xff" + b"\xff" * 7, "cut off"),
        (REQUEST.encode() + bytes(20) + b"\x01", "padding must be zero"),
        (b"\x00\x03GET\x00\x00\x01/" + b"\x41\x00" + bytes(256), "at most 64 header lines"),
    ],
)
def test_bad_requests_say_what_is_wrong(data, why):
    with pytest.raises(MessageError, match=why):
        BinaryRequest.decode(data)


@pytest.mark.parametrize("status", [0, 99, 600, 1000])
def test_a_reply_has_a_final_status(status):
    with pytest.raises(MessageError, match="cannot have the status"):
        BinaryReply.decode(BinaryReply(status).encode())


def test_noise_is_read_or_refused():
    numbers = random.Random(11)
    for _ in range(5000):
        data = bytearray(REQUEST.encode())
        for _ in range(numbers.randrange(1, 4)):
            data[numbers.randrange(len(data))] = numbers.randrange(256)
        for kind in (BinaryRequest, BinaryReply):
            with suppress(MessageError):
                kind.decode(bytes(data))


def test_padding_has_few_sizes():
    assert {len(pad(bytes(size))) for size in (*range(0, 65536, 97), 65536)} == set(SIZES)
    with pytest.raises(MessageError, match=r"65537 bytes is larger than 65536; send it without a relay"):
        pad(bytes(65537))
