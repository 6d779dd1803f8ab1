"""Oblivious HTTP against the vectors of RFC 9458, appendix A."""

import json
import random
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fldp.oblivious import ohttp
from fldp.oblivious.hpke import OpenError

VECTOR = {
    name: bytes.fromhex(value)
    for name, value in json.loads((Path(__file__).parent / "vectors.json").read_text())["rfc9458_a"].items()
}
KEY = ohttp.GatewayKey(1, X25519PrivateKey.from_private_bytes(VECTOR["gateway_private"]))


def keys(*configs):
    return b"".join(len(config).to_bytes(2) + config for config in configs)


def test_keys_requests_and_replies_are_those_of_the_rfc():
    (config,) = ohttp.decode_keys(keys(VECTOR["key_config"]))
    assert config == KEY.config
    ephemeral = X25519PrivateKey.from_private_bytes(VECTOR["client_ephemeral_private"])
    sent, client = ohttp.encapsulate(config, VECTOR["request"], ephemeral=ephemeral)
    assert sent == VECTOR["encapsulated_request"]
    request, gateway = ohttp.decapsulate([KEY], sent)
    assert request == VECTOR["request"]
    reply = gateway.encapsulate(VECTOR["response"], nonce=VECTOR["response_nonce"])
    assert reply == VECTOR["encapsulated_response"]
    assert client.decapsulate(reply) == VECTOR["response"]


def test_configurations_are_read_as_they_were_written():
    configs = [ohttp.GatewayKey.generate(number).config for number in (0, 7, 255)]
    assert ohttp.decode_keys(ohttp.encode_keys(configs)) == configs


def test_a_configuration_of_another_suite_is_passed_over():
    p256 = b"\x05" + (0x0010).to_bytes(2) + bytes(65) + b"\0\4\0\1\0\1"
    other_cipher = KEY.config.encode()[:-1] + b"\3"
    assert ohttp.decode_keys(keys(p256, other_cipher, KEY.config.encode())) == [KEY.config]
    with pytest.raises(ohttp.KeysError, match="offers no key for X25519"):
        ohttp.decode_keys(keys(p256, other_cipher))


def test_keys_that_are_cut_off_are_refused():
    whole = keys(KEY.config.encode())
    for size in range(len(whole)):
        with pytest.raises(ohttp.KeysError):
            ohttp.decode_keys(whole[:size])
    for place in (*range(2), *range(37, 39)):  # the lengths
        changed = bytearray(whole)
        changed[place] ^= 2
        with pytest.raises(ohttp.KeysError):
            ohttp.decode_keys(bytes(changed))


@pytest.mark.parametrize(("config", "why"), [(b"\1\0", "cut off"), (KEY.config.encode()[:-6] + b"\0\3\0\1\0", "pairs")])
def test_a_configuration_that_is_none_is_refused(config, why):
    with pytest.raises(ohttp.KeysError, match=why):
        ohttp.KeyConfig.decode(config)


def test_a_request_that_was_changed_or_cut_is_refused():
    sent, _ = ohttp.encapsulate(KEY.config, b"a request")
    for place in range(len(sent)):
        changed = bytearray(sent)
        changed[place] ^= 1
        for data in (bytes(changed), sent[:place]):
            with pytest.raises(OpenError):
                ohttp.decapsulate([KEY], data)


def test_the_key_that_is_named_decrypts():
    older, newer = ohttp.GatewayKey.generate(1), ohttp.GatewayKey.generate(2)
    sent, _ = ohttp.encapsulate(older.config, b"a request")
    assert ohttp.decapsulate([newer, older], sent)[0] == b"a request"
    with pytest.raises(OpenError, match="names no key"):
        ohttp.decapsulate([newer], sent)


def test_a_reply_belongs_to_its_request():
    first, second = (ohttp.encapsulate(KEY.config, b"a request") for _ in range(2))
    reply = ohttp.decapsulate([KEY], first[0])[1].encapsulate(b"a reply")
    assert first[1].decapsulate(reply) == b"a reply"
    with pytest.raises(OpenError):
        second[1].decapsulate(reply)
    for size in range(len(reply)):
        with pytest.raises(OpenError):
            first[1].decapsulate(reply[:size])


def test_noise_is_refused():
    numbers = random.Random(3)
    header = ohttp.encapsulate(KEY.config, b"")[0][:7]
    for _ in range(2000):
        with pytest.raises(OpenError):
            ohttp.decapsulate([KEY], header + numbers.randbytes(numbers.randrange(100)))


def test_no_private_key_is_shown():
    assert repr(KEY) == "GatewayKey(number=1)"
