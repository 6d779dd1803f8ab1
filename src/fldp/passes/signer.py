"""The signer: a process of its own that signs blindly. A signature holds the interpreter for milliseconds.

It is told key and number for each signature, over a pipe, and keeps nothing. It ends with whoever started it, however
that ends, since its input then does.
"""

import subprocess
import sys
import threading
from typing import BinaryIO

from fldp.errors import FldpError
from fldp.passes.blind_rsa import KEY_BYTES, SignatureError
from fldp.passes.issuing import PRIVATE_BYTES, PrivateKey

_GOOD, _BAD = b"\1", b"\0"


class SignerError(FldpError):
    """The process that signs has ended within a signature."""


class Signer:
    """Signs by another process, one number at a time; it is started with the first, and anew if it has ended.

    >>> key = PrivateKey.generate()
    >>> signer = Signer()
    >>> signer.sign(key, (7).to_bytes(256)) == key.sign((7).to_bytes(256))
    True
    >>> signer.close()
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def sign(self, key: PrivateKey, blinded: bytes) -> bytes:
        """Return the blind signature of a number below the modulus."""
        order = key.encoded + blinded
        if len(order) != PRIVATE_BYTES + KEY_BYTES:
            raise SignatureError(f"the blinded message must have {KEY_BYTES} bytes")
        with self._lock:
            verdict, signature = self._asked(order) or self._asked(order) or (b"", b"")
        if verdict == _BAD:
            raise SignatureError("the blinded message must be a number below the modulus of the key")
        if verdict != _GOOD:
            raise SignerError("issuer: the process that signs has ended, try again")
        return signature

    def _asked(self, order: bytes) -> tuple[bytes, bytes] | None:
        """Return what the process answers; None if it has ended: the next call starts another."""
        process = self._process = self._process or _started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(order)
            process.stdin.flush()
            answer = process.stdout.read(1 + KEY_BYTES)
        except OSError:
            answer = b""
        if len(answer) == 1 + KEY_BYTES:
            return answer[:1], answer[1:]
        self._end()
        return None

    def close(self) -> None:
        """End the process, after the signature that it is at."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _started() -> subprocess.Popen[bytes]:
    # A session of its own: an interrupt from the keyboard is for the process that started it.
    command = [sys.executable, "-P", "-m", "fldp.passes.signer"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)  # noqa: S603


def serve(orders: BinaryIO, answers: BinaryIO) -> None:
    """Sign what comes, until nothing comes any more."""
    while len(order := orders.read(PRIVATE_BYTES + KEY_BYTES)) == PRIVATE_BYTES + KEY_BYTES:
        try:
            answer = _GOOD + PrivateKey.decode(order[:PRIVATE_BYTES]).sign(order[PRIVATE_BYTES:])
        except SignatureError:
            answer = _BAD + bytes(KEY_BYTES)
        answers.write(answer)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
