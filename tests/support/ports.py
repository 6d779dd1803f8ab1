"""Ports for servers of the tests, outside the range from which the system gives ports to those who connect.

A port of that range is free when it is looked at, and somebody's own end of a connection when a server wants it.
"""

import itertools
import os
import re
import socket

_FIRST, _EACH, _WORKERS = 15_000, 500, 32


def _mine():
    """The ports of this test worker, from anywhere on; a program without one takes those of its process number."""
    worker = re.search(r"\d+", os.environ.get("PYTEST_XDIST_WORKER", ""))
    first = _FIRST + _EACH * ((int(worker[0]) if worker else os.getpid()) % _WORKERS)
    return [first + (os.getpid() + k) % _EACH for k in range(_EACH)]


_ports = itertools.cycle(_mine())


def free_port():
    for port in itertools.islice(_ports, _EACH):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")
