"""A separate process that signs, because a signature holds the interpreter's lock for milliseconds.

It reads the key and the number of each signature from a pipe and stores nothing. The pipe closes when the parent
process ends, however it ends, and the signer ends with it.
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
    """The signing process ended before it answered."""


class Signer:
    """Signs in another process, one number at a time; starts it on first use, and again if it has ended.

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
        """Sign a blinded number below the modulus."""
        order = key.encoded + blinded
        if len(order) != PRIVATE_BYTES + KEY_BYTES:
            raise SignatureError(f"the blinded message must have {KEY_BYTES} bytes")
        with self._lock:
            verdict, signature = self._answer(order) or self._answer(order) or (b"", b"")
        if verdict == _BAD:
            raise SignatureError("the blinded message must be a number below the modulus of the key")
        if verdict != _GOOD:
            raise SignerError("issuer: the signing process ended; try again")
        return signature

    def _answer(self, order: bytes) -> tuple[bytes, bytes] | None:
        """Return the answer of the process; None if it has ended: the next call starts another."""
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
        """Wait for the current signature, then end the process."""
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
    """Sign each order, until the input ends."""
    while len(order := orders.read(PRIVATE_BYTES + KEY_BYTES)) == PRIVATE_BYTES + KEY_BYTES:
        try:
            answer = _GOOD + PrivateKey.decode(order[:PRIVATE_BYTES]).sign(order[PRIVATE_BYTES:])
        except SignatureError:
            answer = _BAD + bytes(KEY_BYTES)
        answers.write(answer)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
