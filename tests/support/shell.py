"""The shell, in the process of a test."""

import os
from types import SimpleNamespace
from unittest.mock import patch

from support.serving import run_here


def fldp(*arguments, code=0, **environment):
    with patch.dict(os.environ, environment):
        done = run_here(*arguments, code=code)
    return SimpleNamespace(stdout=done.stdout.decode(), stderr=done.stderr.decode())
