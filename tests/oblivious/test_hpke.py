"""HPKE against the vectors of RFC 9180 A.1.1, and against the library's own in both directions."""

import json
import random
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hpke as library
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fldp.oblivious import hpke

VECTOR = json.loads((Path(__file__).parent / "vectors.json").read_text())["rfc9180_a11"]
SUITE = library.Suite(library.KEM.X25519, library.KDF.HKDF_SHA256, library.AEAD.AES_128_GCM)
EPHEMERAL, PRIVATE, INFO, PLAINTEXT, ASSOCIATED, CIPHERTEXT = (
    bytes.fromhex(VECTOR[name]) for name in ("skEm", "skRm", "info", "plaintext", "aad", "ciphertext")
)


def private(raw=PRIVATE):
    return X25519PrivateKey.from_private_bytes(raw)


def public(key):
    return key.public_key().public_bytes_raw()


@pytest.fixture
def contexts():
    """The sender's and the receiver's, of the vector."""
    encapsulated, sender = hpke.sender(public(private()), INFO, ephemeral=private(EPHEMERAL))
    return sender, hpke.receiver(encapsulated, private(), INFO)


def test_the_first_ciphertext_is_that_of_the_rfc(contexts):
    sender, receiver = contexts
    assert sender.encrypt(PLAINTEXT, ASSOCIATED) == CIPHERTEXT
    assert receiver.decrypt(CIPHERTEXT, ASSOCIATED) == PLAINTEXT


@pytest.mark.parametrize("export", VECTOR["exports"])
def test_exports_are_those_of_the_rfc(contexts, export):
    for context in contexts:
        assert context.export(bytes.fromhex(export["context"]), 32).hex() == export["value"]


def test_the_library_and_we_read_each_other():
    numbers = random.Random(7)
    key = private()
    for _ in range(1000):
        info, message = numbers.randbytes(numbers.randrange(40)), numbers.randbytes(numbers.randrange(2000))
        theirs = SUITE.encrypt(message, key.public_key(), info)
        assert hpke.receiver(theirs[:32], key, info).decrypt(theirs[32:]) == message
        encapsulated, context = hpke.sender(public(key), info)
        assert SUITE.decrypt(encapsulated + context.encrypt(message), key, info) == message


def test_a_changed_message_is_refused(contexts):
    _, receiver = contexts
    for place in range(len(CIPHERTEXT)):
        changed = bytearray(CIPHERTEXT)
        changed[place] ^= 1
        with pytest.raises(hpke.OpenError):
            receiver.decrypt(bytes(changed), ASSOCIATED)
    for size in range(len(CIPHERTEXT)):
        with pytest.raises(hpke.OpenError):
            receiver.decrypt(CIPHERTEXT[:size], ASSOCIATED)


def test_what_the_library_refuses_we_refuse():
    encapsulated, context = hpke.sender(public(private()), INFO)
    with pytest.raises(InvalidTag):
        SUITE.decrypt(encapsulated + context.encrypt(b"text"), private(), b"another use")
    with pytest.raises(hpke.OpenError):
        hpke.receiver(encapsulated, private(), b"another use").decrypt(context.encrypt(b"text"))


@pytest.mark.parametrize("point", [bytes(32), (1).to_bytes(32, "little"), bytes(31), bytes(33)])
def test_points_that_agree_with_everybody_are_refused(point):
    with pytest.raises(hpke.OpenError, match="not a valid X25519 key"):
        hpke.receiver(point, private(), INFO)


def test_two_messages_never_share_a_key():
    ours = {hpke.sender(public(private()), INFO)[0] for _ in range(100)}
    assert len(ours) == 100


def test_no_secret_is_shown(contexts):
    assert repr(contexts[0]) == "Context()"
