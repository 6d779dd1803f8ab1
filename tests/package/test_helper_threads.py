"""Helper threads: they stay, hold nothing, and are not missed where the system or a fork leaves none."""

import subprocess
import sys
import threading
import weakref
from queue import SimpleQueue

import numpy as np
import pytest

from fldp.numerics import walsh_hadamard
from fldp.support import helper_threads
from fldp.support.helper_threads import call_in_helpers

IN_A_CHILD = """
import os
from queue import SimpleQueue
from fldp.support.helper_threads import call_in_helpers
done = SimpleQueue()
call_in_helpers(lambda: done.put(1), 1)
done.get()
child = os.fork()
if child == 0:
    call_in_helpers(lambda: done.put(2), 1)
    os._exit(done.get(timeout=60))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture(autouse=True)
def helpers(monkeypatch):
    """Helpers of this test alone."""
    monkeypatch.setattr(helper_threads, "_helpers", helper_threads._Helpers())
    return helper_threads._helpers


def test_the_same_helper_does_one_call_after_the_other(helpers):
    done = SimpleQueue()
    for _ in range(3):
        call_in_helpers(lambda: done.put(threading.get_ident()), 1)
    idents = {done.get(timeout=60) for _ in range(3)}
    assert (len(idents), helpers.started) == (1, 1)
    assert idents != {threading.get_ident()}


def test_as_many_helpers_work_at_once_as_were_asked_for(helpers):
    together = threading.Barrier(4, timeout=60)
    call_in_helpers(together.wait, 3)
    together.wait()
    assert helpers.started == 3


def test_a_helper_that_waits_holds_nothing():
    class Held:
        def __call__(self):
            pass

    held = Held()
    gone = threading.Event()
    weakref.finalize(held, gone.set)
    call_in_helpers(held, 1)
    del held
    assert gone.wait(60)


def test_without_more_threads_the_caller_does_everything(monkeypatch, helpers):
    def refuse(function, arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(helper_threads, "start_new_thread", refuse)
    vector = np.arange(1 << 12)
    transformed = np.empty_like(vector)
    walsh_hadamard._transform_in_threads(vector, transformed, 4)
    assert np.array_equal(transformed, walsh_hadamard.walsh_hadamard(vector))
    assert (helpers.started, helpers.calls.qsize()) == (0, 0)


def test_a_forked_process_starts_helpers_of_its_own():
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", IN_A_CHILD], capture_output=True, text=True, check=True)
    assert run.stdout == "2\n"
