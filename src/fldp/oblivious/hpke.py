"""HPKE (RFC 9180) in base mode, with one suite: X25519, HKDF-SHA256, AES-128-GCM.

``cryptography`` has HPKE too, but neither its contexts nor ``export``, without which no answer can be encrypted
(RFC 9458, section 4.4). Everything difficult is the library's: the curve, the hash and the cipher.
"""

import hashlib
import hmac
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEM, KDF, AEAD = 0x0020, 0x0001, 0x0001
PUBLIC_BYTES, KEY_BYTES, NONCE_BYTES, TAG_BYTES, HASH_BYTES = 32, 16, 12, 16, 32
_KEM_SUITE = b"KEM" + KEM.to_bytes(2)
_SUITE = b"HPKE" + b"".join(number.to_bytes(2) for number in (KEM, KDF, AEAD))
_BASE_MODE = b"\0"


class OpenError(Exception):
    """A message that was not encrypted to this key, or was changed on its way."""


def extract(salt: bytes, secret: bytes) -> bytes:
    """HKDF-Extract."""
    return hmac.digest(salt or bytes(HASH_BYTES), secret, hashlib.sha256)


def expand(key: bytes, info: bytes, length: int) -> bytes:
    """HKDF-Expand to at most one block, which is all that this suite asks for.

    >>> len(expand(bytes(32), b"key", 16))
    16
    """
    assert length <= HASH_BYTES, "one block of HKDF is enough for every length of this suite"
    return hmac.digest(key, info + b"\1", hashlib.sha256)[:length]


def _labeled_extract(suite: bytes, salt: bytes, label: bytes, secret: bytes) -> bytes:
    return extract(salt, b"HPKE-v1" + suite + label + secret)


def _labeled_expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    return expand(key, length.to_bytes(2) + b"HPKE-v1" + suite + label + info, length)


@dataclass(frozen=True)
class Context:
    """What both sides derive from one encapsulated key. It encrypts a single message: its sequence number is 0."""

    _key: bytes = field(repr=False)
    _nonce: bytes = field(repr=False)
    _exporter: bytes = field(repr=False)

    @classmethod
    def derive(cls, shared: bytes, info: bytes) -> "Context":
        """The key schedule of base mode, which has no pre-shared key."""
        texts = ((b"psk_id_hash", b""), (b"info_hash", info))
        schedule = _BASE_MODE + b"".join(_labeled_extract(_SUITE, b"", label, text) for label, text in texts)
        secret = _labeled_extract(_SUITE, shared, b"secret", b"")
        lengths = {b"key": KEY_BYTES, b"base_nonce": NONCE_BYTES, b"exp": HASH_BYTES}
        return cls(*(_labeled_expand(_SUITE, secret, label, schedule, length) for label, length in lengths.items()))

    def encrypt(self, plaintext: bytes, associated: bytes = b"") -> bytes:
        """Encrypt the one message of this context."""
        return encrypt(self._key, self._nonce, plaintext, associated)

    def decrypt(self, ciphertext: bytes, associated: bytes = b"") -> bytes:
        """Decrypt the one message of this context, or raise ``OpenError``."""
        return decrypt(self._key, self._nonce, ciphertext, associated)

    def export(self, label: bytes, length: int) -> bytes:
        """Return a secret that both sides know, for another use."""
        return _labeled_expand(_SUITE, self._exporter, b"sec", label, length)


def encrypt(key: bytes, nonce: bytes, plaintext: bytes, associated: bytes = b"") -> bytes:
    """AES-128-GCM."""
    return AESGCM(key).encrypt(nonce, plaintext, associated)


def decrypt(key: bytes, nonce: bytes, ciphertext: bytes, associated: bytes = b"") -> bytes:
    """AES-128-GCM; a changed message raises ``OpenError``."""
    try:
        return AESGCM(key).decrypt(nonce, ciphertext, associated)
    except (InvalidTag, ValueError):  # ValueError: shorter than a tag
        raise OpenError("the message cannot be decrypted with this key") from None


def sender(public: bytes, info: bytes, *, ephemeral: X25519PrivateKey | None = None) -> tuple[bytes, Context]:
    """Return the encapsulated key and the sender's context. ``ephemeral`` is for test vectors only."""
    own = ephemeral or X25519PrivateKey.generate()
    encapsulated = own.public_key().public_bytes_raw()
    return encapsulated, Context.derive(_shared(own, public, encapsulated + public), info)


def receiver(encapsulated: bytes, private: X25519PrivateKey, info: bytes) -> Context:
    """Return the receiver's context, or raise ``OpenError`` if the encapsulated key is no point to agree with."""
    public = private.public_key().public_bytes_raw()
    return Context.derive(_shared(private, encapsulated, encapsulated + public), info)


def _shared(private: X25519PrivateKey, public: bytes, both: bytes) -> bytes:
    try:
        agreed = private.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:  # a wrong length, or a point of small order: the result would be zero for everybody
        raise OpenError("the encapsulated key is not a valid X25519 key") from None
    key = _labeled_extract(_KEM_SUITE, b"", b"eae_prk", agreed)
    return _labeled_expand(_KEM_SUITE, key, b"shared_secret", both, HASH_BYTES)
