"""The issuer's private key, and signing with it.

Clients choose the number that is signed and can time the answer. So signing blinds the number again, randomizes the
exponents, and verifies the result before returning it: a fault in one half of the computation would reveal the key.
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
        """Generate a key of 2,048 bits."""
        from cryptography.hazmat.primitives.asymmetric import rsa

        numbers = rsa.generate_private_key(EXPONENT, BITS).private_numbers()
        return cls(numbers.p, numbers.q)

    @classmethod
    def decode(cls, data: bytes) -> "PrivateKey":
        """Read a key as ``encoded`` writes it."""
        half = PRIVATE_BYTES // 2
        key = cls(int.from_bytes(data[:half]), int.from_bytes(data[half:]))
        if len(data) != PRIVATE_BYTES or key.public.n.bit_length() != BITS:
            raise ParameterError("issuer: the private key is damaged")
        return key

    @classmethod
    def from_pem(cls, data: bytes) -> "PrivateKey":
        """Read a key from a PEM file."""
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
        """Both primes as bytes, for storage."""
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
        """The public key."""
        return PublicKey(self.p * self.q)

    def sign(self, blinded: bytes) -> bytes:
        """Sign a blinded number below the modulus; equal numbers have equal signatures."""
        n, number = self.public.n, int.from_bytes(blinded)
        if len(blinded) != self.public.size or number >= n:
            raise SignatureError("the blinded message must be a number below the modulus of the key")
        own = draw_blinding(n)
        base = number * pow(own, EXPONENT, n) % n
        signature = self._root(base) * pow(own, -1, n) % n
        if pow(signature, EXPONENT, n) != number:
            raise SignatureError("the signature does not verify, so it is withheld")
        return signature.to_bytes(self.public.size)

    def _root(self, base: int) -> int:
        """Return the root of a number modulo ``p q``, from its roots modulo each prime (Garner)."""
        by_p, by_q = _prime_root(base, self.p), _prime_root(base, self.q)
        return by_q + self.q * ((by_p - by_q) * pow(self.q, -1, self.p) % self.p)


def _prime_root(base: int, prime: int) -> int:
    # Any multiple of prime - 1 leaves the power as it is, and makes the exponent random.
    exponent = pow(EXPONENT, -1, prime - 1) + secrets.randbits(_EXTRA_BITS) * (prime - 1)
    return pow(base % prime, exponent, prime)
