"""Stream: random 64-bit words of AES-256 in counter mode, keyed by the operating system unless seeded."""

import hashlib
import hmac
import os
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fldp.errors import FldpError
from fldp.support.validation import fail, integer, is_integer

_SCRATCH = 1 << 16  # words of a chunk: 512 KiB, which stay in the cache until they are used

Words = NDArray[np.uint64]

_ZEROS = memoryview(bytes(1 << 20))  # a slice of it copies nothing
_forks = 0
_adopting = threading.Lock()


def _forked() -> None:
    """Count the fork, and replace the lock: another thread may have held it, and that thread does not exist here."""
    global _forks, _adopting
    _forks += 1
    _adopting = threading.Lock()


os.register_at_fork(after_in_child=_forked)


def _process() -> tuple[int, int]:
    """Identify this process: by the number of forks, and by its number in case a hook was skipped."""
    return _forks, os.getpid()


def _encode(label: object) -> bytes:
    """Encode a label with type and length, so that no two lists of labels share an encoding."""
    if is_integer(label):
        body = b"i" + str(int(label)).encode()
    elif isinstance(label, str):
        body = b"s" + label.encode("utf-8", "surrogatepass")
    elif isinstance(label, bytes):
        body = b"b" + label
    else:
        raise fail("Stream", "a label", "an int, a str or bytes", label)
    return len(body).to_bytes(8, "little") + body


class Stream:
    """An endless stream of random 64-bit words: the keystream of AES-256 in counter mode.

    ``Stream()`` takes its key from the operating system. That is the default wherever this package draws
    anything, and the only choice for the values of real people.

    ``Stream(7)`` derives its key from the seed 7. **Whoever knows the seed can undo the noise.** It is for
    reproducible experiments and tests.

    A stream is never repeated by accident: threads that share one get different words, pickling one raises, a
    secure stream takes a new key after a fork, and a seeded one raises there until each process derives its own with
    ``child``.

    >>> stream = Stream(7)
    >>> words = stream.words(4)
    >>> words.dtype, len(words)
    (dtype('uint64'), 4)
    >>> (Stream(7).words(4) == words).all()
    np.True_
    >>> Stream(7)
    Stream(seeded: not private)
    """

    def __init__(self, seed: int | None = None) -> None:
        if seed is None:
            self._start(os.urandom(32), seeded=False)
            return
        if not is_integer(seed) or not 0 <= int(seed) < 2**4096:
            raise fail("Stream", "seed", "None or an integer of at least 0 and below 2^4096", seed)
        self._start(hashlib.sha256(b"fldp stream seed\0" + str(int(seed)).encode()).digest(), seeded=True)

    @classmethod
    def of(cls, rng: "int | Stream | None") -> "Stream":
        """Turn the ``rng`` argument of a call into a stream.

        >>> Stream.of(None)
        Stream(secure)
        """
        if isinstance(rng, Stream):
            return rng
        if rng is not None and not is_integer(rng):
            raise fail("Stream", "rng", "None (secure), an integer seed (experiments only) or a Stream", rng)
        return cls(rng)

    def words(self, count: int) -> Words:
        """Return the next ``count`` words.

        >>> Stream().words(3).shape
        (3,)
        """
        out = np.empty(integer(0, 2**40)("Stream", "count", count), np.uint64)
        self.fill(out)
        return out

    def fill(self, out: Words) -> None:
        """Overwrite a contiguous array with the next words of the stream.

        >>> out = np.zeros(2, np.uint64)
        >>> Stream(1).fill(out)
        >>> (out == Stream(1).words(2)).all()
        np.True_
        """
        if out.dtype != np.uint64 or not out.flags.c_contiguous or not out.flags.writeable:
            raise fail("Stream", "out", "a contiguous, writeable array of uint64", out.dtype)
        self.fill_bytes(memoryview(out.reshape(-1).view(np.uint8)))  # type: ignore[arg-type]
        if not _LITTLE:  # a word is little-endian on every machine
            out.byteswap(inplace=True)

    def fill_bytes(self, out: memoryview) -> None:
        """Overwrite bytes of a contiguous, writeable array with the next bytes of the stream; they are not checked.

        For whoever draws often, or an odd number of bytes.

        >>> out = bytearray(16)
        >>> Stream(1).fill_bytes(memoryview(out))
        >>> (np.frombuffer(out, "<u8") == Stream(1).words(2)).all()
        np.True_
        """
        if self._born != _process():
            self._adopt()
        with self._lock:
            for start in range(0, len(out), len(_ZEROS)):
                part: Any = out[start : start + len(_ZEROS)]
                self._cipher.update_into(_ZEROS[: len(part)], part)

    def chunks(self, count: int, each: int) -> Iterator[tuple[slice, Words]]:
        """Yield ``count`` rows of ``each`` words in chunks, each chunk with its slice.

        The array is reused and overwritten.

        >>> [(part, words.shape) for part, words in Stream(1).chunks(3, 40_000)]
        [(slice(0, 1, None), (1, 40000)), (slice(1, 2, None), (1, 40000)), (slice(2, 3, None), (1, 40000))]
        """
        rows = max(1, min(_SCRATCH // each, count))
        scratch = np.empty((rows, each), np.uint64)
        for start in range(0, count, rows):
            part = slice(start, min(start + rows, count))
            words = scratch[: part.stop - start]
            self.fill(words)
            yield part, words

    def child(self, *labels: int | str | bytes) -> "Stream":
        """Derive an independent stream by labels; how many words this stream has given does not matter.

        >>> (Stream(7).child("run", 1).words(2) == Stream(7).child("run", 2).words(2)).any()
        np.False_
        """
        if self._born != _process() and not self._seeded:
            self._adopt()
        child = object.__new__(Stream)
        child._start(
            hmac.digest(self._key, b"fldp child\0" + b"".join(map(_encode, labels)), "sha256"),
            seeded=self._seeded,
        )
        return child

    def _start(self, key: bytes, *, seeded: bool) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # not for whoever draws nothing

        self._key, self._seeded = key, seeded
        self._lock = threading.RLock()
        words_key = hmac.digest(key, b"fldp words\0", "sha256")
        self._cipher = Cipher(algorithms.AES(words_key), modes.CTR(bytes(16))).encryptor()
        self._born = _process()

    def _adopt(self) -> None:
        """Give this copy of a stream, in a forked process, a key of its own."""
        if self._seeded:
            raise FldpError(
                "Stream: a seeded stream was carried across a fork and would repeat there; "
                "derive one for each process with child(label)"
            )
        with _adopting:
            if self._born != _process():
                self._start(os.urandom(32), seeded=False)

    def __reduce__(self) -> NoReturn:
        raise FldpError(
            "Stream: cannot be pickled or copied: both copies would draw the same words; derive one with child(label)"
        )

    def __copy__(self) -> NoReturn:
        self.__reduce__()

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce__()

    def __repr__(self) -> str:
        return "Stream(seeded: not private)" if self._seeded else "Stream(secure)"


_LITTLE = np.dtype(np.uint64).newbyteorder("<").isnative
