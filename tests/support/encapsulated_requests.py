"""Encapsulated requests as nobody should send them: a source of them, and what a gateway may answer."""

from dataclasses import dataclass

from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import BinaryReply, BinaryRequest, pad

_LENGTHS = (b"\xff" * 8, b"\x80\0\xff\xff", b"\x7f\xff", b"\x3f", b"\0")  # 2^62 - 1, and some that are shorter
_METHODS = (b"GET", b"DELETE", b"PUT", b"\xff", b"POST ", b"CONNECT")
_PATHS = (b"/metrics", b"/v1/tokens", b"//", b"*", b"/v1/ohttp", b"/v1/surveys/%00", b"/v1/surveys/../tokens", b"\xff")


@dataclass(frozen=True)
class Fuzzed:
    """A body, the status that it has outside, and what reads the answer inside."""

    body: bytes
    status: int
    exchange: ohttp.ClientExchange

    def check(self, status, content):
        """Refuse what a gateway must not answer; return the status inside, or outside where there is none."""
        assert status == self.status, (status, content[:300])
        if status != 200:
            return status
        inside = BinaryReply.decode(self.exchange.decapsulate(content)).status
        assert inside < 500, inside
        return inside


def fuzzed(numbers, config, good):
    """Return a body that was made of the bytes of a good request, damaged inside or outside."""
    inner, status = _damaged(numbers, good), 200
    body, exchange = ohttp.encapsulate(config, inner)
    match numbers.randrange(6):
        case 0:
            body, status = body[: numbers.randrange(len(body))], 400
        case 1:
            body, status = _flipped(numbers, body), 400
        case 2:
            body, status = body[:7] + numbers.randbytes(numbers.randrange(2000)), 400
    return Fuzzed(body, status, exchange)


def _damaged(numbers, good):
    place = numbers.randrange(len(good))
    match numbers.randrange(8):
        case 0:
            return good[:place]
        case 1:
            return _flipped(numbers, good)
        case 2:
            return numbers.randbytes(numbers.choice((0, 1, 2, 9, 300, 5000)))
        case 3:
            length = numbers.choice(_LENGTHS)
            return good[:place] + length + good[place + len(length) :]
        case 4:
            other = numbers.randrange(len(good))
            return good[:place] + good[other:]
        case 5:
            return BinaryRequest(numbers.choice(_METHODS), numbers.choice(_PATHS)).encode()
        case 6:
            return pad(good) + numbers.choice((b"", b"\1", b"\0"))
        case _:
            lines = tuple((numbers.randbytes(2), numbers.randbytes(3)) for _ in range(numbers.choice((1, 64, 65, 500))))
            return BinaryRequest(b"GET", b"/v1/surveys/browser", lines).encode()


def _flipped(numbers, data):
    changed = bytearray(data)
    for _ in range(numbers.randrange(1, 4)):
        changed[numbers.randrange(len(changed))] ^= 1 << numbers.randrange(8)
    return bytes(changed) if bytes(changed) != data else data[:-1]
