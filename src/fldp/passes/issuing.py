"""Issuing: an issuer's key, and its blind signature.

Whoever asks for passes chooses what is signed, and hears how long it takes. So no power is taken of that number itself,
but of it times a random one, with exponents that are random, too, and the result is checked before it leaves: a
fault in one half of the computation would give the key away.
"""

import secrets
from dataclasses import dataclass, field
from functools import cached_property

from fldp.errors import ParameterError
from fldp.passes.blind_rsa import BITS, EXPONENT, KEY_BYTES, PublicKey, SignatureError, draw_blinding

PRIVATE_BYTES = KEY_BYTES
_EXTRA_BITS = 64


@dataclass(frozen=True)
class PrivateKey:
    """The two primes of an RSA key. It signs passes and nothing else."""

    p: int = field(repr=False)
    q: int = field(repr=False)

    @classmethod
    def generate(cls) -> "PrivateKey":
        """Make a new key of 2,048 bits."""
        from cryptography.hazmat.primitives.asymmetric import rsa

        numbers = rsa.generate_private_key(EXPONENT, BITS).private_numbers()
        return cls(numbers.p, numbers.q)

    @classmethod
    def decode(cls, data: bytes) -> "PrivateKey":
        """Read what ``encoded`` was."""
        half = PRIVATE_BYTES // 2
        key = cls(int.from_bytes(data[:half]), int.from_bytes(data[half:]))
        if len(data) != PRIVATE_BYTES or key.public.n.bit_length() != BITS:
            raise ParameterError("issuer: the private key is damaged")
        return key

    @classmethod
    def from_pem(cls, data: bytes) -> "PrivateKey":
        """Read a key out of a PEM file."""
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(data, None)
        except (ValueError, TypeError):
            raise ParameterError("issuer: the file is not a PEM file with a private key that has no password") from None
        if not isinstance(key, RSAPrivateKey) or key.key_size != BITS:
            raise ParameterError(f"issuer: the key must be an RSA key of {BITS} bits; make one with fldp issuer create")
        numbers = key.private_numbers()
        if numbers.public_numbers.e != EXPONENT:
            raise ParameterError(f"issuer: the exponent of the key must be {EXPONENT}")
        return cls(numbers.p, numbers.q)

    @property
    def encoded(self) -> bytes:
        """Both primes, to be stored."""
        half = PRIVATE_BYTES // 2
        return self.p.to_bytes(half) + self.q.to_bytes(half)

    @property
    def pem(self) -> bytes:
        """The key as a PEM file (PKCS #8)."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        secret = pow(EXPONENT, -1, (self.p - 1) * (self.q - 1))
        numbers = rsa.RSAPrivateNumbers(
            self.p,
            self.q,
            secret,
            rsa.rsa_crt_dmp1(secret, self.p),
            rsa.rsa_crt_dmq1(secret, self.q),
            rsa.rsa_crt_iqmp(self.p, self.q),
            rsa.RSAPublicNumbers(EXPONENT, self.public.n),
        )
        kinds = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        return numbers.private_key().private_bytes(*kinds)

    @cached_property
    def public(self) -> PublicKey:
        """What everybody may know of it."""
        return PublicKey(self.p * self.q)

    def sign(self, blinded: bytes) -> bytes:
        """Return the blind signature of a number below the modulus: the same one every time."""
        n, number = self.public.n, int.from_bytes(blinded)
        if len(blinded) != self.public.size or number >= n:
            raise SignatureError("the blinded message must be a number below the modulus of the key")
        own = draw_blinding(n)
        base = number * pow(own, EXPONENT, n) % n
        signature = self._root(base) * pow(own, -1, n) % n
        if pow(signature, EXPONENT, n) != number:
            raise SignatureError("the signature came out wrong, and is not given away")
        return signature.to_bytes(self.public.size)

    def _root(self, base: int) -> int:
        """Return the root of a number, out of its roots modulo either prime."""
        one, other = _prime_root(base, self.p), _prime_root(base, self.q)
        return other + self.q * ((one - other) * pow(self.q, -1, self.p) % self.p)


def _prime_root(base: int, prime: int) -> int:
    exponent = pow(EXPONENT, -1, prime - 1) + secrets.randbits(_EXTRA_BITS) * (prime - 1)
    return pow(base % prime, exponent, prime)
