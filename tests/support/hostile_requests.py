"""Hostile requests: a source of them, and what a collector answers."""

import json
import random
import socket
from collections import Counter
from urllib.parse import quote

from fldp import FldpError, Survey, wire
from fldp.conformance.vectors import craft
from fldp.data.packing import pack
from soak.fuzz_wire import batches, damage
from support.collector_server import batch, key, specification

TRICKS = [
    "'; DROP TABLE surveys; --",
    "' OR '1'='1",
    '" UNION SELECT hash FROM tokens --',
    "<script>alert(1)</script>",
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%00",
    "browser\x00",
    "browser/../../v1/tokens",
    "{name}",
    "{{7*7}}",
    "%",
    "%zz",
    "%c0%ae%c0%ae",
    "\udcff",
    "a" * 5000,
    "browser%0d%0aSet-Cookie: x=1",
    "\U0001d51f\U0001d52f\u0661",
    "BROWSER",
    "browser ",
    "-",
]
NUMBERS = [  # that int() and float() read in ways of their own, or refuse in ways of their own
    "0" * 5000 + "5",
    "9" * 30,
    "9" * 5000,
    "\u0967",
    "\u00b2",
    "\u0663\u0664",
    "\uff15",
    "1_0",
    "_1",
    "+5",
    "-1",
    "-0",
    " 5 ",
    "5,5",
    "0x5",
    "1e3",
    "1e400",
    "0.9_5",
    "inf",
    "nan",
    "",
]
HEADERS = [
    "Accept",
    "Access-Control-Request-Headers",
    "Access-Control-Request-Method",
    "Authorization",
    "Content-Encoding",
    "Content-Type",
    "Expect",
    "Fldp-Ticket",
    "Forwarded",
    "Host",
    "Idempotency-Key",
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "Max-Forwards",
    "Origin",
    "Range",
    "TE",
    "User-Agent",
    "X-Forwarded-For",
    "X-Forwarded-Proto",
    "X-Real-IP",
]
VALUES = [
    None,
    True,
    -1,
    0,
    2**63,
    10**400,
    1e308,
    float("nan"),
    "",
    "x" * 10_000,
    [],
    {},
    [[[[]]]],
    "\ud800",
    "\x00",
    *TRICKS,
]


class Attack:
    """A source of hostile requests: method, path, headers, body."""

    def __init__(self, server, survey, seed):
        self.rng, self.survey, self.token = random.Random(seed), survey, server.token
        self.others = list(batches())
        self.good = [batch(survey, count) for count in (1, 2, 9, 40)]

    def bearer(self):
        return {"Authorization": f"Bearer {self.token}"}

    def mutated_batch(self):
        while True:
            body = self.rng.choice([self.damaged, self.forged])()
            try:
                wire.decode(body, self.survey.oracle, self.survey.version)
            except FldpError:
                break
        return "POST", f"/v1/versions/{self.survey.version}/reports", {"Idempotency-Key": key()}, body

    def damaged(self):
        return damage(self.rng, self.rng.choice(self.good), self.others)

    def forged(self):
        fields = {"oracle": wire.describe(self.survey.oracle), "survey": self.survey.version}
        reports = self.survey.oracle.privatize([0] * 9)
        packed = bytearray(pack(self.survey.oracle.report_format, reports.data).tobytes())
        packed[self.rng.randrange(len(packed))] = self.rng.randrange(256)
        count = self.rng.choice((9, 9, 9, 8, 16, 2**31, 2**32 - 1))
        total = self.rng.choice((count, count + 1, 2**63))
        if self.rng.random() < 0.3:
            name = self.rng.choice(["epsilon", "name", "domain_size", "eta"])
            fields["oracle"][name] = self.rng.choice([0, -1, 1e-30, 2**40, "1", None, True, []])
        return craft(fields, [(count, bytes(packed))], total)

    def bad_headers(self):
        headers = {"Idempotency-Key": key()}
        name = self.rng.choice(["Idempotency-Key", "Content-Encoding", "Content-Type", "Fldp-Ticket", "Authorization"])
        if name in ("Fldp-Ticket", "Authorization"):
            trick = quote(self.rng.choice(TRICKS), safe="", errors="replace")[:2000]
            return "GET", f"/v1/versions/{self.survey.version}/tally", {name: trick}, b""
        headers[name] = self.rng.choice(["", "gzip", "x" * 4000, "'; DROP TABLE keys", "text/html"])
        if name == "Content-Encoding" and not headers[name]:
            headers[name] = "br"
        return "POST", f"/v1/versions/{self.survey.version}/reports", headers, self.damaged() + b"x"

    def bad_json(self):
        path = self.rng.choice(["/v1/surveys", "/v1/tokens", f"/v1/versions/{self.survey.version}/tickets"])
        body = self.spoiled(path)
        return "POST", path, {**self.bearer(), "Content-Type": "application/json"}, body

    def spoiled(self, path):
        while True:
            fields = specification(name="spoiled") if path.endswith("surveys") else {"scope": "read", "count": 1}
            where = fields
            while self.rng.random() < 0.4 and any(isinstance(value, dict) for value in where.values()):
                where = self.rng.choice([value for value in where.values() if isinstance(value, dict)])
            place = self.rng.choice([*where, "extra"]) if where else "extra"
            where[place] = self.rng.choice(VALUES)
            body = json.dumps(fields).encode("utf-8", "surrogatepass")
            if self.rng.random() < 0.4:
                body = damage(self.rng, body, self.others)
            if not path.endswith("surveys"):
                return body if b'"count"' in body and b'"scope"' in body else b"[" * self.rng.randrange(1, 60_000)
            try:
                Survey.parse(body.decode(), is_json=True)
            except (FldpError, UnicodeDecodeError):
                return body

    def trick_path(self):
        trick = self.rng.choice(TRICKS)
        if self.rng.random() < 0.5:
            trick = quote(trick, safe="", errors="replace")
        path = self.rng.choice(
            ["/v1/surveys/{}", "/v1/versions/{}/estimates", "/v1/versions/{}/reports", "/v1/tokens/{}", "/{}", "/v1/{}"]
        ).replace("{}", trick)
        method = self.rng.choice(["GET", "POST", "DELETE"])
        if "DROP" not in trick and trick.strip("%20 ").lower().startswith("browser") and method == "DELETE":
            method = "GET"
        return method, path, self.bearer(), b""

    def wrong_method(self):
        path = self.rng.choice(["/healthz", "/v1/surveys/browser/close", f"/v1/versions/{self.survey.version}/reports"])
        return self.rng.choice(["PUT", "PATCH", "TRACE", "DELETE", "BREW", "get"]), path, self.bearer(), b"x"

    def bad_query(self):
        name = self.rng.choice(["top", "level", "from", "to", "format", "decoder", "post", "nope"])
        value = quote(self.rng.choice(TRICKS + NUMBERS), safe="", errors="replace")
        path = f"/v1/versions/{self.survey.version}/{self.rng.choice(['estimates', 'tally', 'export'])}?{name}={value}"
        return "GET", path, self.bearer(), b""

    def odd_number(self):
        """A header that is no number, or a strange one, before a body that cannot be counted."""
        headers = {"Idempotency-Key": key()} | {self.rng.choice(HEADERS): self.rng.choice(NUMBERS)}
        return "POST", f"/v1/versions/{self.survey.version}/reports", headers, self.damaged() + b"x"

    def next(self):
        kinds = [self.mutated_batch] * 5 + [self.bad_headers, self.bad_json, self.bad_json, self.trick_path]
        return self.rng.choice([*kinds, self.wrong_method, self.bad_query, self.odd_number])()


def exchange(connection, method, path, headers, body):
    """Send a request as bytes, since no client would send some of them; return its status, 0 if there is no answer."""
    held = {"Host": "x", "Content-Length": f"{len(body)}"} | headers
    head = "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in held.items()), "", ""])
    connection.sendall(head.encode("utf-8", "surrogateescape") + body)
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65536)
        if not part:
            return 0 if not received else int(received[9:12])
        received += part
    head, _, rest = received.partition(b"\r\n\r\n")
    sizes = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while len(rest) < (sizes or [0])[0]:
        part = connection.recv(65536)
        if not part:
            break
        rest += part
    return int(head[9:12])


def storm(server, survey, requests, seed):
    """Send hostile requests one after the other; return how often there was which answer, 0 for none."""
    attack, statuses = Attack(server, survey, seed), Counter()
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=120)
    for number in range(requests):
        request = attack.next()
        try:
            status = exchange(connection, *request)
        except ConnectionError:
            status = 0
        statuses[status] += 1
        assert status == 0 or 400 <= status < 500, (number, status, request)
        if status in (0, 400, 408, 413, 415, 431):  # the server may have closed it
            connection.close()
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=120)
    connection.close()
    return statuses
