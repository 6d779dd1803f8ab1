"""Privacy Pass tokens of type 2 (RFC 9578): request, blind signature, and the pass made of them.

A pass belongs to one version of a survey: its challenge names the version, and its key signs for no other. The client
draws and stores nonce, salt and blinding before it sends a request, so a repeated request gives the same pass.
"""

import base64
import binascii
import hashlib
import secrets
from dataclasses import dataclass, field
from functools import cached_property

from fldp.errors import WireError
from fldp.passes.blind_rsa import KEY_BYTES, SALT_BYTES, PublicKey, draw_blinding
from fldp.support.identifiers import PASS

TYPE = 2
REQUEST_TYPE, REPLY_TYPE = "application/private-token-request", "application/private-token-response"
NONCE_BYTES, DIGEST_BYTES = 32, 32
REQUEST_BYTES, REPLY_BYTES = 3 + KEY_BYTES, KEY_BYTES
SECRET_BYTES = NONCE_BYTES + SALT_BYTES + KEY_BYTES
COLLECTOR = "collector"  # the issuer's name where the survey names none
_PREFIX = "fldp_pass_"
_SIGNED = 2 + NONCE_BYTES + 2 * DIGEST_BYTES
_TYPE = TYPE.to_bytes(2)


class PassError(WireError):
    """An invalid pass, or an invalid request for one."""


def challenge(issuer: str, context: bytes, origin: str = "") -> bytes:
    """Return a TokenChallenge (RFC 9577, 2.1) of type 2.

    >>> challenge("issuer.example", b"").hex()
    '0002000e6973737565722e6578616d706c65000000'
    """
    name, origins = issuer.encode(), origin.encode()
    return _TYPE + len(name).to_bytes(2) + name + bytes([len(context)]) + context + len(origins).to_bytes(2) + origins


@dataclass(frozen=True)
class PassSecret:
    """The client's random choices for one pass. They link the pass to its request, so they stay on the device."""

    nonce: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    blinding: int = field(repr=False)

    @classmethod
    def draw(cls, key: PublicKey) -> "PassSecret":
        """Draw new secrets."""
        return cls(secrets.token_bytes(NONCE_BYTES), secrets.token_bytes(SALT_BYTES), draw_blinding(key.n))

    @classmethod
    def decode(cls, data: bytes) -> "PassSecret":
        """Read secrets as ``encoded`` writes them."""
        if len(data) != SECRET_BYTES:
            raise PassError("the secrets of a pass are damaged")
        return cls(data[:32], data[32:80], int.from_bytes(data[80:]))

    @property
    def encoded(self) -> bytes:
        """The secrets as bytes, to be stored until the pass arrives."""
        return self.nonce + self.salt + self.blinding.to_bytes(KEY_BYTES)


@dataclass(frozen=True)
class PassTerms:
    """What all passes of a survey version share: the issuer's key and the challenge."""

    key: PublicKey
    challenge: bytes

    @classmethod
    def of(cls, key: PublicKey, issuer: str | None, version: str) -> "PassTerms":
        """Return the terms of a survey version; an issuer's name is its origin without the scheme."""
        name = COLLECTOR if issuer is None else issuer.partition("://")[2]
        return cls(key, challenge(name, bytes.fromhex(version)))

    @cached_property
    def _ending(self) -> bytes:
        return hashlib.sha256(self.challenge).digest() + self.key.key_id

    def request(self, secret: PassSecret) -> bytes:
        """Return the TokenRequest, which says nothing about the pass."""
        message = _TYPE + secret.nonce + self._ending
        return _TYPE + self.key.key_id[-1:] + self.key.blind(message, secret.salt, secret.blinding)

    def pass_of(self, secret: PassSecret, reply: bytes) -> str:
        """Make the pass from a TokenResponse, which is verified first."""
        message = _TYPE + secret.nonce + self._ending
        return pass_text(message + self.key.unblind(message, reply, secret.blinding))

    def blinded(self, request: bytes) -> bytes:
        """Check a TokenRequest, and return the number to sign."""
        if len(request) != REQUEST_BYTES:
            raise PassError(f"a request for a pass must have {REQUEST_BYTES} bytes, got {len(request)}")
        if request[:2] != _TYPE:
            raise PassError(f"a request for a pass must be of token type {TYPE}")
        if request[2:3] != self.key.key_id[-1:]:
            raise PassError("the request is not for the key of this survey")
        if int.from_bytes(request[3:]) >= self.key.n:
            raise PassError("the blinded message must be a number below the modulus of the key")
        return request[3:]

    def nonce(self, text: str) -> bytes:
        """Verify a pass under these terms, and return its nonce, which marks it as spent."""
        token = _token(text)
        message, signature = token[:_SIGNED], token[_SIGNED:]
        if message[:2] != _TYPE or message[2 + NONCE_BYTES :] != self._ending:
            raise PassError("the pass is not for this survey")
        if not self.key.verifies(message, signature):
            raise PassError("the pass is not signed by the issuer of this survey")
        return message[2 : 2 + NONCE_BYTES]


def pass_text(token: bytes) -> str:
    """Return a token as text: a one-to-one encoding.

    >>> len(pass_text(bytes(354)))
    482
    """
    return _PREFIX + base64.urlsafe_b64encode(token).decode()


def _token(text: str) -> bytes:
    if not PASS.matches(text):
        raise PassError("this is not a pass")
    return base64.urlsafe_b64decode(text.removeprefix(_PREFIX))


def spent_hash(nonce: bytes) -> bytes:
    """Return the hash under which a spent pass is stored."""
    return hashlib.sha256(b"pass\0" + nonce).digest()


def request_hash(ticket: str, request: bytes) -> bytes:
    """Return the hash under which a request is stored: its repetition gets the same answer, another request none."""
    return hashlib.sha256(b"pass\0" + ticket.encode() + b"\0" + request).digest()


def key_text(key: PublicKey) -> str:
    """Return a key in the form that surveys use."""
    return base64.urlsafe_b64encode(key.spki).decode()


def read_key(text: str) -> PublicKey:
    """Read a survey's key; one spelling only, because another spelling would be another survey with the same key."""
    try:
        key = PublicKey.from_spki(base64.urlsafe_b64decode(text))
    except (ValueError, binascii.Error):
        raise PassError("an issuer's key must be the 456 characters that fldp issuer create prints") from None
    if key_text(key) != text:
        raise PassError("an issuer's key must be spelled as fldp issuer create prints it")
    return key
