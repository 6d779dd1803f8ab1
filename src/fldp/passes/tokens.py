"""Tokens of type 2 (RFC 9578): what is asked for, what is signed, and the pass that comes of it.

A pass belongs to one version of a survey: the challenge that it answers names the version, and its key signs for
nothing else. Nonce, salt and blinding are drawn before anything is asked, and kept; the signature follows from them.
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
COLLECTOR = "collector"  # the name of an issuer that the survey does not name
_PREFIX = "fldp_pass_"
_SIGNED = 2 + NONCE_BYTES + 2 * DIGEST_BYTES
_TYPE = TYPE.to_bytes(2)


class PassError(WireError):
    """A pass, or a request for one, that is not what it should be."""


def challenge(issuer: str, context: bytes, origin: str = "") -> bytes:
    """Return a TokenChallenge (RFC 9577, 2.1) of type 2.

    >>> challenge("issuer.example", b"").hex()
    '0002000e6973737565722e6578616d706c65000000'
    """
    name, origins = issuer.encode(), origin.encode()
    return _TYPE + len(name).to_bytes(2) + name + bytes([len(context)]) + context + len(origins).to_bytes(2) + origins


@dataclass(frozen=True)
class PassSecret:
    """What a person draws for one pass before asking for it. Whoever has it can tell whose the pass is."""

    nonce: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    blinding: int = field(repr=False)

    @classmethod
    def draw(cls, key: PublicKey) -> "PassSecret":
        """Draw one."""
        return cls(secrets.token_bytes(NONCE_BYTES), secrets.token_bytes(SALT_BYTES), draw_blinding(key.n))

    @classmethod
    def decode(cls, data: bytes) -> "PassSecret":
        """Read what ``encoded`` was."""
        if len(data) != SECRET_BYTES:
            raise PassError("the secrets of a pass are damaged")
        return cls(data[:32], data[32:80], int.from_bytes(data[80:]))

    @property
    def encoded(self) -> bytes:
        """All of it, to be kept until the pass is there."""
        return self.nonce + self.salt + self.blinding.to_bytes(KEY_BYTES)


@dataclass(frozen=True)
class PassTerms:
    """What all passes to one version of a survey have in common: a key, and the challenge that they answer."""

    key: PublicKey
    challenge: bytes

    @classmethod
    def of(cls, key: PublicKey, issuer: str | None, version: str) -> "PassTerms":
        """Return the terms of a version of a survey; the name of an issuer is its origin without the scheme."""
        name = COLLECTOR if issuer is None else issuer.partition("://")[2]
        return cls(key, challenge(name, bytes.fromhex(version)))

    @cached_property
    def _ending(self) -> bytes:
        return hashlib.sha256(self.challenge).digest() + self.key.key_id

    def request(self, secret: PassSecret) -> bytes:
        """Return the TokenRequest: it says nothing about the pass."""
        message = _TYPE + secret.nonce + self._ending
        return _TYPE + self.key.key_id[-1:] + self.key.blind(message, secret.salt, secret.blinding)

    def pass_of(self, secret: PassSecret, reply: bytes) -> str:
        """Return the pass out of the TokenResponse; a wrong one is refused."""
        message = _TYPE + secret.nonce + self._ending
        return pass_text(message + self.key.unblind(message, reply, secret.blinding))

    def blinded(self, request: bytes) -> bytes:
        """Return what is to be signed of a TokenRequest, or refuse it."""
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
        """Return the nonce of a pass, by which it is spent; one that is not of these terms is refused."""
        token = _token(text)
        message, signature = token[:_SIGNED], token[_SIGNED:]
        if message[:2] != _TYPE or message[2 + NONCE_BYTES :] != self._ending:
            raise PassError("the pass is not for this survey")
        if not self.key.verifies(message, signature):
            raise PassError("the pass is not signed by the issuer of this survey")
        return message[2 : 2 + NONCE_BYTES]


def pass_text(token: bytes) -> str:
    """Return a token as text; every text of this form is one token, and every token one text.

    >>> len(pass_text(bytes(354)))
    482
    """
    return _PREFIX + base64.urlsafe_b64encode(token).decode()


def _token(text: str) -> bytes:
    if not PASS.matches(text):
        raise PassError("this is not a pass")
    return base64.urlsafe_b64decode(text.removeprefix(_PREFIX))


def spent_hash(nonce: bytes) -> bytes:
    """Return what is stored of a pass that was spent."""
    return hashlib.sha256(b"pass\0" + nonce).digest()


def request_hash(ticket: str, request: bytes) -> bytes:
    """Return what is stored of a request for a pass: the same one again gets the same answer, another one none."""
    return hashlib.sha256(b"pass\0" + ticket.encode() + b"\0" + request).digest()


def key_text(key: PublicKey) -> str:
    """Return a key as surveys name it."""
    return base64.urlsafe_b64encode(key.spki).decode()


def read_key(text: str) -> PublicKey:
    """Return the key that a survey names; another spelling of it would be another survey with the same key."""
    try:
        key = PublicKey.from_spki(base64.urlsafe_b64decode(text))
    except (ValueError, binascii.Error):
        raise PassError("an issuer's key must be the 456 characters that fldp issuer create prints") from None
    if key_text(key) != text:
        raise PassError("an issuer's key must be spelled as fldp issuer create prints it")
    return key
