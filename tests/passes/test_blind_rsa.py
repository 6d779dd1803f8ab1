"""Blind RSA and passes against the vectors of RFC 9474 and RFC 9578, against the library, and against forgers."""

import io
import json
import os
import signal
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from fldp.errors import ParameterError, WireError
from fldp.passes import blind_rsa, issuing, tokens
from fldp.passes.blind_rsa import EXPONENT, KEY_BYTES, PublicKey, SignatureError
from fldp.passes.issuing import PrivateKey
from fldp.passes.signer import _BAD, _GOOD, Signer, serve
from fldp.passes.tokens import PassError, PassSecret, PassTerms

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text())
KEY = PrivateKey.from_pem(bytes.fromhex(VECTORS["rfc9578"][0]["skS"]))
OTHER = PrivateKey.from_pem(bytes.fromhex(VECTORS["rfc9578"][5]["skS"]))
VERSION = "5a" * 32
TERMS = PassTerms.of(KEY.public, "https://issuer.example", VERSION)


def number(text):
    return int(text, 16)


def issued(terms=TERMS, key=KEY):
    secret = PassSecret.draw(terms.key)
    request = terms.request(secret)
    return terms.pass_of(secret, key.sign(terms.blinded(request)))


@pytest.mark.parametrize("vector", VECTORS["rfc9474"], ids=["salted", "unsalted"])
def test_signatures_are_those_of_rfc_9474(vector):
    key = PrivateKey(number(vector["p"]), number(vector["q"]))
    message, salt = bytes.fromhex(vector["msg"]), bytes.fromhex(vector["salt"])
    bits = key.public.n.bit_length() - 1
    assert key.public.n == number(vector["n"])
    assert blind_rsa.encode(message, salt, bits).hex() == vector["encoded_msg"]
    blinding = pow(number(vector["inv"]), -1, key.public.n)
    assert key.public.blind(message, salt, blinding).hex() == vector["blinded_msg"]
    signed = key.sign(bytes.fromhex(vector["blinded_msg"]))
    assert signed.hex() == vector["blind_sig"]
    if salt:
        assert key.public.unblind(message, signed, blinding).hex() == vector["sig"]
    else:  # of another variant, whose signatures are not of ours
        assert not key.public.verifies(message, bytes.fromhex(vector["sig"]))


@pytest.mark.parametrize(
    "vector", VECTORS["rfc9578"], ids=[f"go{i}" for i in range(5)] + [f"rust{i}" for i in range(5)]
)
def test_tokens_are_those_of_rfc_9578(vector):
    key = PrivateKey.from_pem(bytes.fromhex(vector["skS"]))
    public = PublicKey.from_spki(bytes.fromhex(vector["pkS"]))
    assert key.public == public
    secret = PassSecret.decode(bytes.fromhex(vector["nonce"] + vector["salt"] + vector["blind"]))
    terms = PassTerms(public, bytes.fromhex(vector["token_challenge"]))
    request = terms.request(secret)
    assert request.hex() == vector["token_request"]
    reply = key.sign(terms.blinded(request))
    assert reply.hex() == vector["token_response"]
    text = terms.pass_of(secret, reply)
    assert text == tokens.pass_text(bytes.fromhex(vector["token"]))
    assert terms.nonce(text).hex() == vector["nonce"]


def test_the_library_verifies_what_is_signed_here_and_the_other_way_round():
    public = rsa.RSAPublicNumbers(EXPONENT, KEY.public.n).public_key()
    scheme = padding.PSS(padding.MGF1(hashes.SHA384()), 48)
    token = tokens._token(issued())
    public.verify(token[98:], token[:98], scheme, hashes.SHA384())
    with pytest.raises(InvalidSignature):
        public.verify(token[98:], token[:97] + b"\0", scheme, hashes.SHA384())
    private = PrivateKey.from_pem(KEY.pem)
    assert private == KEY
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    signature = load_pem_private_key(KEY.pem, None).sign(b"a message", scheme, hashes.SHA384())
    assert KEY.public.verifies(b"a message", signature)
    assert not KEY.public.verifies(b"another", signature)


def test_every_pass_fits_every_request():
    """For each pass and each transcript there is one blinding that makes them belong together: nothing links them."""
    secrets = [PassSecret.draw(KEY.public) for _ in range(5)]
    blinded = [int.from_bytes(TERMS.request(secret)[3:]) for secret in secrets]
    signed = [KEY.sign(each.to_bytes(KEY_BYTES)) for each in blinded]
    passes = [TERMS.pass_of(*pair) for pair in zip(secrets, signed, strict=True)]
    n = KEY.public.n
    for secret, text in zip(secrets, passes, strict=True):
        message = tokens._token(text)[:98]
        encoded = int.from_bytes(blind_rsa.encode(message, secret.salt, 2047))
        for seen, reply in zip(blinded, signed, strict=True):
            blinding = int.from_bytes(KEY.sign((seen * pow(encoded, -1, n) % n).to_bytes(KEY_BYTES)))  # its root
            as_if = PassSecret(secret.nonce, secret.salt, blinding)
            assert int.from_bytes(TERMS.request(as_if)[3:]) == seen
            assert TERMS.pass_of(as_if, reply) == text


def test_a_pass_is_for_one_key_and_one_version():
    text = issued()
    assert len(TERMS.nonce(text)) == 32
    for terms in (
        PassTerms.of(OTHER.public, "https://issuer.example", VERSION),
        PassTerms.of(KEY.public, "https://issuer.example", "5b" * 32),
        PassTerms.of(KEY.public, None, VERSION),
    ):
        with pytest.raises(PassError, match="not for this survey"):
            terms.nonce(text)
    with pytest.raises(SignatureError):  # by which rule depends on the number, which is drawn
        issued(key=OTHER)


def test_every_byte_of_a_pass_matters():
    token = tokens._token(issued())
    for place in range(len(token)):
        for bit in (0x01, 0x80):
            bad = bytearray(token)
            bad[place] ^= bit
            with pytest.raises(PassError):
                TERMS.nonce(tokens.pass_text(bytes(bad)))


def test_a_signature_has_one_text():
    """That plus the modulus opens to the same number, and would be a second pass with a second mask."""
    while True:
        token = tokens._token(issued())
        larger = int.from_bytes(token[98:]) + KEY.public.n
        if larger < 1 << 2048:
            break
    twin = tokens.pass_text(token[:98] + larger.to_bytes(256))
    assert pow(larger, EXPONENT, KEY.public.n) == pow(int.from_bytes(token[98:]), EXPONENT, KEY.public.n)
    with pytest.raises(PassError, match="not signed"):
        TERMS.nonce(twin)


@pytest.mark.parametrize("text", ["", "fldp_pass_", "fldp_pass_" + "A" * 471, "fldp_pass_" + "A" * 471 + "="])
def test_what_is_no_pass_is_refused(text):
    with pytest.raises(PassError, match="not a pass"):
        TERMS.nonce(text)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda body: body[:-1], "259 bytes, got 258"),
        (lambda body: body + b"\0", "259 bytes, got 260"),
        (lambda body: b"\0\1" + body[2:], "type 2"),
        (lambda body: body[:2] + bytes([body[2] ^ 1]) + body[3:], "not for the key"),
        (lambda body: body[:3] + KEY.public.n.to_bytes(256), "below the modulus"),
    ],
)
def test_a_malformed_request_is_refused(change, why):
    with pytest.raises(PassError, match=why):
        TERMS.blinded(change(TERMS.request(PassSecret.draw(KEY.public))))


def test_a_wrong_answer_of_the_issuer_is_refused():
    secret = PassSecret.draw(KEY.public)
    reply = KEY.sign(TERMS.blinded(TERMS.request(secret)))
    for bad in (reply[:-1], bytes(256), KEY.public.n.to_bytes(256), reply[:-1] + bytes([reply[-1] ^ 1])):
        with pytest.raises(WireError):
            TERMS.pass_of(secret, bad)


def test_a_fault_within_a_signature_does_not_leave(monkeypatch):
    roots = iter([5])
    correct = issuing._prime_root
    monkeypatch.setattr(issuing, "_prime_root", lambda base, prime: next(roots, None) or correct(base, prime))
    with pytest.raises(SignatureError, match="does not verify"):
        KEY.sign(bytes(255) + b"\7")


def test_no_power_is_taken_of_what_the_sender_chose(monkeypatch):
    """Neither the number nor the exponent of a power with a secret is the same twice."""
    seen = []
    correct = issuing._prime_root
    monkeypatch.setattr(issuing, "_prime_root", lambda base, prime: seen.append(base) or correct(base, prime))
    assert KEY.sign(bytes(255) + b"\7") == KEY.sign(bytes(255) + b"\7")
    assert len(set(seen)) == 2
    assert 7 not in seen


def test_a_key_has_one_spelling():
    text = tokens.key_text(KEY.public)
    assert tokens.read_key(text) == KEY.public
    assert len(text) == 456
    for bad in (text[:-1], text + "=", text[:-4], "A" * 456, text.replace("A", "=", 1), "", "ä" * 456):
        with pytest.raises(PassError, match="issuer's key"):
            tokens.read_key(bad)
    even = PublicKey(KEY.public.n - 1).spki
    with pytest.raises(SignatureError, match="342 bytes"):
        PublicKey.from_spki(even)


def test_a_file_that_holds_no_key_is_refused():
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    kinds = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    curve = ec.generate_private_key(ec.SECP256R1()).private_bytes(*kinds)
    three = rsa.generate_private_key(3, 2048).private_bytes(*kinds)
    for bad, why in ((b"", "not a PEM file"), (curve, "RSA key of 2048 bits"), (three, "exponent of the key must be")):
        with pytest.raises(ParameterError, match=why):
            PrivateKey.from_pem(bad)
    with pytest.raises(ParameterError, match="damaged"):
        PrivateKey.decode(bytes(256))


def test_only_a_number_below_the_modulus_is_signed():
    for bad in (b"", bytes(255), KEY.public.n.to_bytes(256), bytes([255]) * 256):
        with pytest.raises(SignatureError, match="number below the modulus"):
            KEY.sign(bad)


def test_the_process_that_signs_is_started_again():
    signer = Signer()
    try:
        blinded = TERMS.blinded(TERMS.request(PassSecret.draw(KEY.public)))
        first = signer.sign(KEY, blinded)
        assert first == KEY.sign(blinded)
        os.kill(signer._process.pid, signal.SIGKILL)
        signer._process.wait()
        assert signer.sign(KEY, blinded) == first
        with pytest.raises(SignatureError, match="below the modulus"):
            signer.sign(KEY, KEY.public.n.to_bytes(256))
        with pytest.raises(SignatureError, match="256 bytes"):
            signer.sign(KEY, b"short")
    finally:
        signer.close()


def test_the_loop_of_that_process_ends_with_its_input():
    good, bad = KEY.encoded + (7).to_bytes(256), KEY.encoded + bytes([255]) * 256
    answers = io.BytesIO()
    serve(io.BytesIO(good + bad + good[:-1]), answers)
    assert answers.getvalue() == b"".join([_GOOD, KEY.sign((7).to_bytes(256)), _BAD, bytes(256)])


def test_secrets_are_not_shown():
    secret = PassSecret.draw(KEY.public)
    assert repr(secret) == "PassSecret()"
    assert repr(KEY) == "PrivateKey()"
    assert PassSecret.decode(secret.encoded) == secret
    with pytest.raises(PassError, match="damaged"):
        PassSecret.decode(secret.encoded[:-1])
