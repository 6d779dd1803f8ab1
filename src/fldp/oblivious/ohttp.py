"""Oblivious HTTP (RFC 9458): key configurations, encapsulated requests and their replies."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from fldp.oblivious import hpke
from fldp.oblivious.bhttp import SIZES
from fldp.oblivious.hpke import OpenError

REQUEST_TYPE, REPLY_TYPE, KEYS_TYPE = "message/ohttp-req", "message/ohttp-res", "application/ohttp-keys"
_REQUEST_LABEL, _REPLY_LABEL = b"message/bhttp request", b"message/bhttp response"
_CONFIG_BYTES = 1 + 2 + hpke.PUBLIC_BYTES
_HEADER_BYTES = 7
_REPLY_NONCE_BYTES = max(hpke.NONCE_BYTES, hpke.KEY_BYTES)
_SUITE = (hpke.KDF, hpke.AEAD)
MAX_KEYS_BYTES = 1 << 12
MAX_REQUEST_BYTES = _HEADER_BYTES + hpke.PUBLIC_BYTES + SIZES[-1] + hpke.TAG_BYTES
MAX_REPLY_BYTES = _REPLY_NONCE_BYTES + SIZES[-1] + hpke.TAG_BYTES


class KeysError(ValueError):
    """Bytes that hold no key configuration that we can use."""


@dataclass(frozen=True)
class KeyConfig:
    """A public key of a gateway, by its number from 0 to 255."""

    number: int
    public: bytes

    def encode(self) -> bytes:
        """Return the configuration, with the one suite that we have."""
        suites = b"".join(part.to_bytes(2) for part in _SUITE)
        return bytes([self.number]) + hpke.KEM.to_bytes(2) + self.public + len(suites).to_bytes(2) + suites

    @classmethod
    def decode(cls, data: bytes) -> "KeyConfig | None":
        """Read a configuration; None if it is for another suite than ours."""
        if len(data) < 3:
            raise KeysError("a key configuration is cut off")
        if int.from_bytes(data[1:3]) != hpke.KEM:
            return None
        suites = data[_CONFIG_BYTES + 2 :]
        if len(data) < _CONFIG_BYTES + 2 or int.from_bytes(data[_CONFIG_BYTES : _CONFIG_BYTES + 2]) != len(suites):
            raise KeysError("a key configuration is cut off")
        if not suites or len(suites) % 4:
            raise KeysError("the suites of a key configuration are pairs of numbers")
        offered = [suites[start : start + 4] for start in range(0, len(suites), 4)]
        ours = b"".join(part.to_bytes(2) for part in _SUITE)
        return cls(data[0], data[3:_CONFIG_BYTES]) if ours in offered else None


def _header(number: int) -> bytes:
    """Return what a request to a key begins with."""
    return bytes([number]) + b"".join(part.to_bytes(2) for part in (hpke.KEM, *_SUITE))


def encode_keys(configs: Iterable[KeyConfig]) -> bytes:
    """Return configurations as ``application/ohttp-keys``, the preferred one first."""
    return b"".join(len(data).to_bytes(2) + data for data in (config.encode() for config in configs))


def decode_keys(data: bytes) -> list[KeyConfig]:
    """Read the configurations that we can use; without any, raise ``KeysError``."""
    configs, rest = list[KeyConfig | None](), data[:MAX_KEYS_BYTES]
    while rest:
        size = int.from_bytes(rest[:2])
        if len(rest) < 2 + size or not size:
            raise KeysError("a key configuration is cut off")
        configs.append(KeyConfig.decode(rest[2 : 2 + size]))
        rest = rest[2 + size :]
    usable = [config for config in configs if config is not None]
    if not usable:
        raise KeysError("the gateway offers no key for X25519, HKDF-SHA256 and AES-128-GCM")
    return usable


@dataclass(frozen=True)
class _Exchange:
    """One request and its reply: what both sides keep until the reply."""

    _context: hpke.Context = field(repr=False)
    _encapsulated: bytes = field(repr=False)

    def _reply_keys(self, nonce: bytes) -> tuple[bytes, bytes]:
        secret = self._context.export(_REPLY_LABEL, _REPLY_NONCE_BYTES)
        key = hpke.extract(self._encapsulated + nonce, secret)
        return hpke.expand(key, b"key", hpke.KEY_BYTES), hpke.expand(key, b"nonce", hpke.NONCE_BYTES)


class ClientExchange(_Exchange):
    """What a client keeps of a request, to read its reply."""

    def decapsulate(self, reply: bytes) -> bytes:
        """Return the reply inside, or raise ``OpenError``."""
        nonce, ciphertext = reply[:_REPLY_NONCE_BYTES], reply[_REPLY_NONCE_BYTES:]
        return hpke.decrypt(*self._reply_keys(nonce), ciphertext)


class GatewayExchange(_Exchange):
    """What a gateway keeps of a request, to encrypt its reply."""

    def encapsulate(self, reply: bytes, *, nonce: bytes | None = None) -> bytes:
        """Return the encrypted reply. ``nonce`` is for test vectors only."""
        chosen = os.urandom(_REPLY_NONCE_BYTES) if nonce is None else nonce
        return chosen + hpke.encrypt(*self._reply_keys(chosen), reply)


def encapsulate(
    config: KeyConfig, request: bytes, *, ephemeral: X25519PrivateKey | None = None
) -> tuple[bytes, ClientExchange]:
    """Encrypt a request to a gateway. ``ephemeral`` is for test vectors only.

    >>> key = GatewayKey.generate(1)
    >>> sent, exchange = encapsulate(key.config, b"a request")
    >>> request, answering = decapsulate([key], sent)
    >>> request, exchange.decapsulate(answering.encapsulate(b"a reply"))
    (b'a request', b'a reply')
    """
    header = _header(config.number)
    encapsulated, context = hpke.sender(config.public, _info(header), ephemeral=ephemeral)
    return header + encapsulated + context.encrypt(request), ClientExchange(context, encapsulated)


@dataclass(frozen=True)
class GatewayKey:
    """A private key of a gateway."""

    number: int
    private: X25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls, number: int) -> "GatewayKey":
        """Return a new key."""
        return cls(number, X25519PrivateKey.generate())

    @property
    def config(self) -> KeyConfig:
        """What everybody may know of it."""
        return KeyConfig(self.number, self.private.public_key().public_bytes_raw())


def decapsulate(keys: Iterable[GatewayKey], data: bytes) -> tuple[bytes, GatewayExchange]:
    """Decrypt a request with the key that it names, or raise ``OpenError``."""
    header, rest = data[:_HEADER_BYTES], data[_HEADER_BYTES:]
    key = next((key for key in keys if _header(key.number) == header), None)
    if key is None or len(rest) < hpke.PUBLIC_BYTES:
        raise OpenError("the request names no key of this gateway")
    encapsulated, ciphertext = rest[: hpke.PUBLIC_BYTES], rest[hpke.PUBLIC_BYTES :]
    context = hpke.receiver(encapsulated, key.private, _info(header))
    return context.decrypt(ciphertext), GatewayExchange(context, encapsulated)


def _info(header: bytes) -> bytes:
    return _REQUEST_LABEL + b"\0" + header
