"""Blind RSA signatures (RFC 9474, RSABSSA-SHA384-PSS-Deterministic): the client's and the verifier's side.

``cryptography`` has PSS, but no raw RSA, which blinding needs. This module needs only SHA-384 and ``pow``; the tests
compare it with the library. Private keys are handled in ``fldp.passes.issuing``.
"""

import hashlib
import math
import secrets
from dataclasses import dataclass
from functools import cached_property

from fldp.errors import WireError

EXPONENT, BITS = 65537, 2048
KEY_BYTES = BITS // 8  # size of a number below the modulus
HASH_BYTES = SALT_BYTES = 48
SPKI_BYTES = 342
# SubjectPublicKeyInfo of RFC 9578, 6.5: RSASSA-PSS with SHA-384, MGF1 with it, salts of 48 bytes; then n, then e.
_BEFORE = bytes.fromhex(
    "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108300b060960864801"
    "6503040202a2030201300382010f003082010a0282010100"
)
_AFTER = bytes.fromhex("0203010001")


class SignatureError(WireError):
    """An invalid signature or key."""


@dataclass(frozen=True)
class PublicKey:
    """The modulus of an RSA key whose exponent is 65537."""

    n: int

    @classmethod
    def from_spki(cls, data: bytes) -> "PublicKey":
        """Read a key of 2,048 bits; only its canonical encoding is accepted.

        >>> PublicKey.from_spki(b"no key")
        Traceback (most recent call last):
        ...
        fldp.passes.blind_rsa.SignatureError: a key must be the 342 bytes of an RSASSA-PSS key of 2048 bits (RFC 9578)
        """
        n = int.from_bytes(data[len(_BEFORE) : -len(_AFTER)])
        if len(data) != SPKI_BYTES or n.bit_length() != BITS or n % 2 == 0 or cls(n).spki != data:
            raise SignatureError(f"a key must be the {SPKI_BYTES} bytes of an RSASSA-PSS key of {BITS} bits (RFC 9578)")
        return cls(n)

    @property
    def spki(self) -> bytes:
        """The public key in its canonical encoding."""
        return _BEFORE + self.n.to_bytes(KEY_BYTES) + _AFTER

    @cached_property
    def key_id(self) -> bytes:
        """The SHA-256 of the encoding."""
        return hashlib.sha256(self.spki).digest()

    @property
    def size(self) -> int:
        """How many bytes a number below the modulus takes."""
        return -(-self.n.bit_length() // 8)

    def blind(self, message: bytes, salt: bytes, blinding: int) -> bytes:
        """Return the encoded message times ``blinding ** e``: uniform to anybody who does not know ``blinding``."""
        encoded = int.from_bytes(encode(message, salt, self.n.bit_length() - 1))
        if math.gcd(encoded, self.n) != 1 or not 0 < blinding < self.n or math.gcd(blinding, self.n) != 1:
            raise SignatureError("the message or the number that blinds it has a factor of the key")
        return (encoded * pow(blinding, EXPONENT, self.n) % self.n).to_bytes(self.size)

    def unblind(self, message: bytes, signed: bytes, blinding: int) -> bytes:
        """Remove the blinding from a signature, and verify the result."""
        number = int.from_bytes(signed)
        if len(signed) != self.size or number >= self.n:
            raise SignatureError("the blind signature is no number below the modulus")
        signature = (number * pow(blinding, -1, self.n) % self.n).to_bytes(self.size)
        if not self.verifies(message, signature):
            raise SignatureError("the blind signature is not one of this key")
        return signature

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether this signs the message. Numbers from the modulus on are refused: each signature has one encoding."""
        number, bits = int.from_bytes(signature), self.n.bit_length() - 1
        if len(signature) != self.size or number >= self.n:
            return False
        encoded = pow(number, EXPONENT, self.n)
        return encoded.bit_length() <= bits and _is_encoding(message, encoded.to_bytes(-(-bits // 8)), bits)


def draw_blinding(n: int) -> int:
    """Return a blinding factor, uniform among the invertible numbers below ``n``."""
    while True:
        number = secrets.randbelow(n)
        if math.gcd(number, n) == 1:
            return number


def encode(message: bytes, salt: bytes, bits: int) -> bytes:
    """EMSA-PSS-ENCODE of RFC 8017 with SHA-384, into ``bits`` bits.

    >>> len(encode(b"", bytes(48), 2047)), encode(b"", bytes(48), 2047)[-1]
    (256, 188)
    """
    length = -(-bits // 8)
    digest = _salted(message, salt)
    block = bytes(length - len(salt) - HASH_BYTES - 2) + b"\1" + salt
    masked = bytearray(_masked(block, digest))
    masked[0] &= 0xFF >> (8 * length - bits)
    return bytes(masked) + digest + b"\xbc"


def _is_encoding(message: bytes, encoded: bytes, bits: int) -> bool:
    """EMSA-PSS-VERIFY: read the salt from the encoding, and encode the message with it again."""
    block, digest = encoded[: -HASH_BYTES - 1], encoded[-HASH_BYTES - 1 : -1]
    salt = _masked(block, digest)[-SALT_BYTES:]
    return encode(message, salt, bits) == encoded


def _salted(message: bytes, salt: bytes) -> bytes:
    return hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()


def _masked(block: bytes, seed: bytes) -> bytes:
    """Mask a block with MGF1."""
    rounds = range(-(-len(block) // HASH_BYTES))
    mask = b"".join(hashlib.sha384(seed + counter.to_bytes(4)).digest() for counter in rounds)
    return bytes(byte ^ bits for byte, bits in zip(block, mask, strict=False))
