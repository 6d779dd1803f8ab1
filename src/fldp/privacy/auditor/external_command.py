"""A command as a black box: called with a label and a count, it answers with one batch on standard output.

For whole histories it is called with the number of days, too, and writes all reports of each person after each other.

Its output is untrusted: it is read as a batch of exactly that many reports of the declared oracle, in pieces and within
a time limit, and anything else is an error. There is no shell in between.
"""

import io
import os
import select
import shlex
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import IO, NoReturn

from fldp.data.reports import Array, Reports
from fldp.data.values import Values
from fldp.errors import FldpError, WireError
from fldp.oracles.base.frequency_oracle import FrequencyOracle
from fldp.support.validation import fail, positive
from fldp.wire.batch import Reader

_LAST_WORDS = 4096
_PATIENCE = 1.0  # seconds for a command to exit after its output was refused, to learn its exit code


class Command:
    """Calls ``COMMAND LABEL COUNT`` and returns the reports that it writes; something to ``audit``.

    >>> import fldp, sys
    >>> oracle = fldp.GRR(epsilon=1.0, domain_size=3)
    >>> client = '''
    ... import sys, fldp, fldp.wire
    ... reports = fldp.GRR(1.0, 3).privatize([int(sys.argv[1])] * int(sys.argv[2]))
    ... sys.stdout.buffer.write(fldp.wire.encode(reports))
    ... '''
    >>> Command(shlex.join([sys.executable, "-c", client]), oracle)([2])
    <1 report of GRR(epsilon=1.0, domain_size=3)>
    """

    def __init__(
        self,
        command: str,
        oracle: FrequencyOracle,
        *,
        label: Callable[[int], str] = str,
        survey: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError:
            self._words = []
        if not self._words:
            raise fail("audit", "the command", "a program and its arguments", command)
        self._oracle, self._label, self._survey = oracle, label, survey
        self._timeout = positive("audit", "the time limit", timeout)

    def __call__(self, values: Sequence[int]) -> Reports:
        """Return reports of as many people as there are values, all of which are the same."""
        return self._run(self._label(int(values[0])), len(values), [str(len(values))])

    def histories(self, days: int) -> Callable[[Values], Array]:
        """Return what calls ``COMMAND LABEL COUNT DAYS``, and returns all reports of each person in a row."""

        def ask(values: Values) -> Array:
            count = len(values)
            data = self._run(self._label(int(values[0])), count * days, [str(count), str(days)]).data
            return data.reshape(count, days, *data.shape[1:])

        return ask

    def _run(self, label: str, count: int, numbers: Sequence[str]) -> Reports:
        try:
            process = subprocess.Popen(  # noqa: S603
                [*self._words, label, *numbers],
                bufsize=0,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise FldpError(f"{self._words[0]}: cannot be run: {why}") from None
        with process:
            call = _Call(process, self._timeout, f"{self._words[0]}: for label {label!r}")
            try:
                return call.reports(self._oracle, self._survey, count)
            finally:
                call.end()


class _Call:
    """One run of the command, with its deadline and the end of its standard error."""

    def __init__(self, process: "subprocess.Popen[bytes]", timeout: float, who: str) -> None:
        self._process, self._who = process, who
        self._timeout, self._deadline = timeout, monotonic() + timeout
        self._said, self._late = b"", False
        self._listener = Thread(target=self._listen, args=(process.stderr,), daemon=True)
        self._listener.start()

    def reports(self, oracle: FrequencyOracle, survey: str | None, count: int) -> Reports:
        """Return exactly ``count`` reports; raise if the answer is wrong."""
        assert self._process.stdout is not None
        try:
            reader = Reader(_Pipe(self._process.stdout, self._left), oracle, survey)  # type: ignore[arg-type]
            parts = []
            for part in reader:
                parts.append(part)
                if reader.count > count:
                    raise WireError(f"wire: more reports than the {count} that were asked for")
        except WireError as error:
            if self._late:
                raise
            self._check_exit(min(_PATIENCE, self._left()))
            self._refuse(str(error))
        self._check_exit(self._left())
        if reader.count != count:
            self._refuse(f"{reader.count} reports, where {count} were asked for")
        return Reports.concatenate(parts)

    def end(self) -> None:
        """Kill the command if it still runs, and any processes it started that hold the pipe open."""
        if self._process.poll() is None or self._late:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._listener.join(_PATIENCE)

    def _left(self) -> float:
        """Return the seconds left; raise if the deadline has passed."""
        left = self._deadline - monotonic()
        if left <= 0:
            self._late = True
            self._refuse(f"no complete answer within {self._timeout:g} seconds")
        return left

    def _check_exit(self, patience: float) -> None:
        """Raise if the command exits with an error; one that keeps running after its answer has until the deadline."""
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._left()
            return
        if code:
            self._listener.join(_PATIENCE)
            lines = self._said.decode(errors="replace").splitlines()
            shown = "".join(c for c in (lines or [""])[-1] if c.isprintable())[:200]
            self._refuse(f"exit code {code}" + (f": {shown}" if shown else ""))

    def _listen(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while piece := pipe.read(_LAST_WORDS):
                self._said = (self._said + piece)[-_LAST_WORDS:]

    def _refuse(self, why: str) -> NoReturn:
        raise WireError(f"{self._who}: {why}")


class _Pipe(io.RawIOBase):
    """A pipe that is read until a deadline."""

    def __init__(self, pipe: IO[bytes], left: Callable[[], float]) -> None:
        self._number, self._left, self._poll = pipe.fileno(), left, select.poll()
        self._poll.register(self._number, select.POLLIN)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._poll.poll(1000 * self._left()):
            pass
        return os.read(self._number, size)
