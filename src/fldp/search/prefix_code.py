"""PrefixCode: strings as bits. A prefix of the bits is a prefix of the string, and every string says where it ends."""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from fldp.errors import DomainError
from fldp.support.validation import fail

LIKELY = "etaoinshrdlucmfwypvbgkqjxz 0123456789-./_:'"


@dataclass(frozen=True)
class Beginning:
    """How a string begins, and whether that is all of it.

    >>> Beginning(b"wor", whole=False).text
    'wor...'
    """

    value: bytes
    whole: bool

    @property
    def text(self) -> str:
        """The string for people; bytes that are not UTF-8 are shown as escapes."""
        return self.value.decode(errors="backslashreplace") + ("" if self.whole else "...")


@dataclass(frozen=True)
class PrefixCode:
    """A code of byte strings, in which no string's code begins another's.

    A string is written byte by byte, then comes a symbol for its end. The bytes of ``alphabet``, the likeliest first,
    have symbols of their own; any other byte is an escape and eight bits. So the alphabet says what is short, not what
    is allowed. Symbols are numbered (the end, the alphabet, the escape) and written in truncated binary: with ``w``
    bits, and the first ``2^w - symbols`` of them with one bit less.

    >>> code = PrefixCode("ab")
    >>> code.encode(b"ab"), code.encode(b"ax")
    ('011000', '01110111100000')
    >>> code.decode("011000"), code.decode("0110")
    (Beginning(value=b'ab', whole=True), Beginning(value=b'ab', whole=False))
    """

    alphabet: str = LIKELY

    def __post_init__(self) -> None:
        try:
            _ = self._letters
        except (AttributeError, UnicodeEncodeError):
            raise fail("PrefixCode", "alphabet", "a text of characters", self.alphabet) from None

    @cached_property
    def _letters(self) -> bytes:
        """The bytes of the alphabet; characters of several bytes may share some."""
        return bytes(dict.fromkeys(self.alphabet.encode()))

    @cached_property
    def _symbols(self) -> list[str]:
        count = len(self._letters) + 2
        width = (count - 1).bit_length()
        short = (1 << width) - count
        return [f"{n:0{width - 1}b}" if n < short else f"{n + short:0{width}b}" for n in range(count)]

    @cached_property
    def _bytes(self) -> dict[int, str]:
        own = dict(zip(self._letters, self._symbols[1:-1], strict=True))
        return {byte: own.get(byte) or f"{self._symbols[-1]}{byte:08b}" for byte in range(256)}

    @cached_property
    def _meanings(self) -> dict[str, int]:
        return {bits: byte for byte, bits in self._bytes.items()}

    @cached_property
    def _unfinished(self) -> set[str]:
        """What a symbol may look like before it is whole."""
        return {bits[:length] for bits in (*self._meanings, self._symbols[0]) for length in range(len(bits))}

    def encode(self, value: bytes) -> str:
        """Return the code of a string."""
        return "".join(map(self._bytes.__getitem__, value)) + self._symbols[0]

    def decode(self, bits: str) -> Beginning | None:
        """Return the string that bits begin; after its end come zeros. None if no code begins so."""
        value, start = bytearray(), 0
        for stop in range(1, len(bits) + 1):
            symbol = bits[start:stop]
            if symbol == self._symbols[0]:
                return None if "1" in bits[stop:] else Beginning(bytes(value), whole=True)
            if symbol in self._meanings:
                value.append(self._meanings[symbol])
                start = stop
            elif symbol not in self._unfinished:
                return None
        return Beginning(bytes(value), whole=False)


def as_bytes(value: str | bytes) -> bytes:
    """Return a string as bytes: text as UTF-8.

    >>> len(as_bytes("é")), as_bytes(b"e")
    (2, b'e')
    """
    if isinstance(value, bytes):
        return value
    with suppress(AttributeError, UnicodeEncodeError):  # whose error would hold the string
        return value.encode()
    kind = type(value).__name__
    raise DomainError(f"a string must be UTF-8 text or bytes, got a value of type {kind} (not shown)")
