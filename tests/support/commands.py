"""Commands of the shell, run in this process."""

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout

import pytest

from fldp import cli


def run_here(*arguments, stdin=b"", code=0, cwd="."):
    """Run a command as the shell would, but in this process: a fresh one takes seconds. With None any code is good."""
    typed, out, beside = (io.TextIOWrapper(io.BytesIO(start), write_through=True) for start in (stdin, b"", b""))
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["fldp", *map(str, arguments)], typed
    try:
        with chdir(cwd), redirect_stdout(out), redirect_stderr(beside), pytest.raises(SystemExit) as end:
            cli.main()
    finally:
        sys.argv, sys.stdin = before
    said = [stream.buffer.getvalue() for stream in (out, beside)]
    done = subprocess.CompletedProcess(arguments, end.value.code or 0, *said)
    assert code in (None, done.returncode), done.stderr.decode()
    return done


def shell(*arguments, token=None, code=0):
    """Run a command in this process, with a token or without; return what it printed, and what it said beside it."""
    os.environ.pop("FLDP_TOKEN", None)
    if token:
        os.environ["FLDP_TOKEN"] = token
    try:
        done = run_here(*arguments, code=code)
    finally:
        os.environ.pop("FLDP_TOKEN", None)
    return done.stdout.decode(), done.stderr.decode()
