"""Asking a collector for answers, and what its process does meanwhile."""

import re
import socket
from pathlib import Path

from fldp import wire

LARGE = {
    "name": "large",
    "question": "Which one?",
    "domain_size": 1 << 15,
    "oracle": {"name": "fhr", "epsilon": 1.0},
    "collect": {"minimum": 1},
}


def gauge(server, name):
    with server.client() as client:
        match = re.search(rf"^fldp_{name} (\d+)$", client.get("/metrics").text, re.MULTILINE)
        return int(match[1]) if match else 0


def cpu_seconds(server):
    """What all threads of the collector have computed since its start: the load of other programs is not in it."""
    tasks = Path(f"/proc/{server.process.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def published(server, fields=LARGE):
    survey = server.publish(fields)
    body = wire.encode(survey.oracle.privatize([0] * 9), survey.version)
    assert server.send(survey, body).status_code == 200
    return survey


def ask(server, survey, stack, number):
    """Ask for an estimate of all values, which takes a while, and do not read the answer."""
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=300))
    lines = (
        f"GET /v1/versions/{survey.version}/estimates?level=0.9{number:03} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {server.token}",
        "Connection: close",
    )
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    return connection


def head(connection):
    """Read the head of an answer; the rest may be long."""
    received = b""
    while b"\r\n\r\n" not in received and (part := connection.recv(4096)):
        received += part
    return received.partition(b"\r\n\r\n")[0].lower()
