"""RunKey and RowWords: one secret for a run over many rows, from which each row's random words derive.

The words of a row are a function of the run key, the question, the identifier of the row and its value. So a task
that is retried, on another machine or next week, produces the same report.

1. The question is the column's name, the oracle, and the survey's version. It gives two keys,
   ``HMAC-SHA256(run key, "fldp rows 1" + purpose + question)``: one for tags and one for words. So one run key serves
   many columns with independent noise.
2. The tag of a row is 96 bits of keyed BLAKE2b of identifier and value, in an encoding in which no two rows share their
   bytes. Among all people on earth, the chance that any two share a tag is below 2^-31.
3. The words of a row are AES-256 of its tag with the counter 0, 1, 2, ...: AES in counter mode, where every row has a
   range of the counter to itself. All rows of a batch are one call of the cipher.

The tag includes the value because a person's value may differ between two runs, which no run can see. With equal words,
two unary reports would differ in the bits of these two values alone; with independent words the loss is the
composition of two reports. As with the seed of a ``Stream``, whoever has the run key can undo the noise.
"""

import hmac
import os
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from fldp.errors import FldpError
from fldp.randomness.stream import Stream, Words
from fldp.support import canonical_json
from fldp.support.canonical_json import Json
from fldp.support.validation import fail

_KEY_BYTES = 32
_TAG_BYTES = 12
_BLOCK_WORDS = 2
_TAG = np.dtype((np.void, _TAG_BYTES))
_BLOCK = np.dtype([("tag", _TAG), ("counter", "<u4")])


class RunKey:
    """The secret of a run: 32 bytes from the operating system, or from an earlier run to continue it.

    Its repr hides it. Store ``bytes(key)`` to continue the run later; delete it when the run is complete.

    >>> key = RunKey()
    >>> key
    RunKey(hidden)
    >>> RunKey(bytes(key)) == key
    True
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes | None = None) -> None:
        if secret is not None and (not isinstance(secret, bytes) or len(secret) != _KEY_BYTES):
            form = f"{len(secret)} bytes" if isinstance(secret, bytes) else type(secret).__name__
            raise fail("RunKey", "secret", "None or 32 bytes of an earlier run", form)
        self._secret = os.urandom(_KEY_BYTES) if secret is None else secret

    def __bytes__(self) -> bytes:
        return self._secret

    def __eq__(self, other: object) -> bool:
        return hmac.compare_digest(self._secret, other._secret) if isinstance(other, RunKey) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "RunKey(hidden)"

    def derive(self, purpose: str, question: Mapping[str, Json]) -> bytes:
        """Return the key of a question for one purpose."""
        return hmac.digest(
            self._secret, f"fldp rows 1\0{purpose}\0".encode() + canonical_json.dumps(question), "sha256"
        )


class RowWords(Stream):
    """The random words of rows, in the order of the rows: a ``Stream`` for the ``rng`` of an oracle.

    ``identifiers`` and ``values`` are bytes that begin with a letter for their type, as ``cells`` makes them.

    >>> rows = RowWords(RunKey(bytes(32)), {"column": "browser"}, [b"i1", b"i2"], [b"i0", b"i0"])
    >>> alone = RowWords(RunKey(bytes(32)), {"column": "browser"}, [b"i2"], [b"i0"])
    >>> out = np.empty((2, 3), np.uint64)
    >>> rows.fill(out)
    >>> (out[1] == alone.words(3)).all()
    np.True_
    """

    def __init__(
        self, key: RunKey, question: Mapping[str, Json], identifiers: Sequence[bytes], values: Sequence[bytes]
    ) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        super().__init__()
        secret = key.derive("tags", question)
        self.tags = np.frombuffer(
            b"".join(
                blake2b(b"%d:%b%b" % (len(identifier), identifier, value), key=secret, digest_size=_TAG_BYTES).digest()
                for identifier, value in zip(identifiers, values, strict=True)
            ),
            _TAG,
        )
        self._cipher = Cipher(algorithms.AES(key.derive("words", question)), modes.ECB()).encryptor()  # noqa: S305
        self._next = 0

    def fill(self, out: Words) -> None:
        """Overwrite one row or several with the words of the next rows."""
        rows = out.reshape(-1, out.shape[-1])
        tags = self.tags[self._next : self._next + len(rows)]
        if len(tags) < len(rows):
            raise FldpError(f"RowWords: no words are left: all {len(self.tags)} rows are drawn")
        self._next += len(rows)
        blocks = np.empty((len(rows), -(-rows.shape[1] // _BLOCK_WORDS)), _BLOCK)
        blocks["tag"], blocks["counter"] = tags[:, None], np.arange(blocks.shape[1])
        drawn = np.frombuffer(self._cipher.update(blocks.tobytes()), "<u8")
        rows[:] = drawn.reshape(len(rows), -1)[:, : rows.shape[1]]

    def child(self, *labels: int | str | bytes) -> NoReturn:
        """Raise: words that belong to no row would differ in the next attempt."""
        raise FldpError(f"RowWords: has no child streams; every word belongs to a row, got {len(labels)} labels")

    def order(self) -> NDArray[np.intp]:
        """Return the rows in the order of their tags, which reveals nothing about the people."""
        return np.argsort(self.tags.view((">u4", 3))[:, 0], kind="stable")
