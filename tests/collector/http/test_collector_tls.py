"""TLS, by the collector itself and by a proxy in front of it; whose word on the sender is taken."""

import asyncio
import contextlib
import ssl
import subprocess
import sys
import threading
import warnings

import httpx
import pytest

from fldp.collector.config.proxies import is_local, networks, scheme, sender
from support.certificates import write_certificate
from support.collector_server import Server, batch, key
from support.ports import free_port
from support.serving import run_here


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_certificate(tmp_path_factory.mktemp("certificate"))


def trusting(files):
    return ssl.create_default_context(cafile=files[0])


def test_tls_by_the_collector_itself(tmp_path, files):
    server = Server(tmp_path, tls_certificate=files[0], tls_key=files[1])
    survey = server.publish()
    path = f"/v1/versions/{survey.version}/reports"
    with httpx.Client(base_url=server.url, verify=trusting(files), timeout=300) as client:
        answer = client.post(path, content=batch(survey, 3), headers={"Idempotency-Key": key()})
        assert (answer.status_code, answer.json()) == (200, {"accepted": 3})
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
        with pytest.raises(httpx.HTTPError):
            client.get(f"http://127.0.0.1:{server.port}/healthz")
    with httpx.Client() as client, pytest.raises(httpx.ConnectError):
        client.get(f"{server.url}/healthz")
    command = [sys.executable, "-m", "fldp", "survey", "show", "browser", "--to", server.url]
    shown = subprocess.run(command, capture_output=True, text=True, env={"SSL_CERT_FILE": str(files[0])}, check=False)
    assert survey.version in shown.stdout, shown.stderr
    assert server.stop() == 0


def test_old_protocols_are_refused(tmp_path, files):
    context = trusting(files)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that is why they are refused
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    server = Server(tmp_path, tls_certificate=files[0], tls_key=files[1])
    with httpx.Client(verify=context) as client, pytest.raises(httpx.ConnectError):
        client.get(f"{server.url}/healthz")
    assert server.stop() == 0


@pytest.mark.parametrize(
    ("certificate", "private", "said"),
    [
        ("server.pem", None, "tls_certificate and tls_key must be given together"),
        ("missing.pem", "server.key", "tls_certificate must be a file that can be read"),
        ("server.pem", "other.key", "are not a certificate and its key"),
        ("server.pem", "server.pem", "are not a certificate and its key"),
        ("server.key", "server.key", "are not a certificate and its key"),
    ],
)
def test_files_that_are_no_good_are_named_before_anything_starts(tmp_path, files, certificate, private, said):
    write_certificate(files[0].parent, "other")
    flags = [f"--tls-certificate={files[0].parent / certificate}"]
    flags += [f"--tls-key={files[0].parent / private}"] if private else []
    command = ["serve", f"--data={tmp_path}", f"--port={free_port()}", *flags]
    checked = run_here(*command, "--check", code=1)
    started = subprocess.run([sys.executable, "-m", "fldp", *command], capture_output=True, check=False, timeout=300)
    assert started.returncode == 2
    for ended in (checked, started):
        assert ended.stdout == b""
        assert said in ended.stderr.decode()
        assert ended.stderr.count(b"\n") == 1
    assert not list(tmp_path.iterdir())


class Proxy:
    """A proxy that ends TLS and says so, on a thread of its own."""

    def __init__(self, port, files):
        self.target, self.port = port, free_port()
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(*files)
        self.started = threading.Event()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_until_complete, args=[self.serve()])

    async def serve(self):
        self.ended = asyncio.Event()
        async with await asyncio.start_server(self.forward, "127.0.0.1", self.port, ssl=self.context):
            self.started.set()
            await self.ended.wait()

    async def forward(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        more = b"X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n"
        back.write(head[:-2] + more)
        length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        back.write(await reader.readexactly(int(length[0].split(b":")[1]) if length else 0))
        writer.write(await there.read())
        for each in (back, writer):
            each.close()
            with contextlib.suppress(OSError, ssl.SSLError):
                await each.wait_closed()

    def __enter__(self):
        self.thread.start()
        assert self.started.wait(300)
        return f"https://127.0.0.1:{self.port}"

    def __exit__(self, *ended):
        self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join(300)
        self.loop.close()


@pytest.mark.parametrize("trusted", [True, False])
def test_a_proxy_is_believed_if_it_is_trusted(tmp_path, files, trusted):
    more = {"trusted_proxies": "127.0.0.1,::1"} if trusted else {}
    server = Server(tmp_path, log_senders=True, **more)
    survey = server.publish()
    with Proxy(server.port, files) as url, httpx.Client(base_url=url, verify=trusting(files), timeout=300) as client:
        path = f"/v1/versions/{survey.version}/reports"
        answer = client.post(path, content=batch(survey, 3), headers={"Idempotency-Key": key()})
        assert answer.json() == {"accepted": 3}
        assert ("strict-transport-security" in answer.headers) is trusted
        assert client.get("/metrics").status_code == 401
    assert server.stop() == 0
    peers = {line["peer"] for line in server.logged if line.get("route", "").endswith("/reports")}
    assert peers == {"192.0.2.7" if trusted else "127.0.0.1"}


def scope(peer, *forwarded, name=b"x-forwarded-for", hosts=(b"127.0.0.1",)):
    headers = [(b"host", host) for host in hosts] + [(name, value) for value in forwarded]
    return {"client": (peer, 5), "scheme": "http", "headers": headers}


@pytest.mark.parametrize(
    ("connection", "expected"),
    [
        (scope("10.0.0.1"), "10.0.0.1"),
        (scope("10.0.0.1", b"6.6.6.6, 192.0.2.7, 10.0.0.9"), "192.0.2.7"),
        (scope("10.0.0.1", b"6.6.6.6", b"192.0.2.7:4711"), "192.0.2.7"),
        (scope("10.0.0.1", b"10.0.0.2,10.0.0.3"), "10.0.0.2"),
        (scope("::ffff:10.0.0.1", b"[2001:db8::7]:80"), "2001:db8::7"),
        (scope("10.0.0.1", b"192.0.2.7, <script>"), "None"),
        (scope("192.0.2.8", b"192.0.2.7"), "192.0.2.8"),
        ({"client": None, "headers": []}, "None"),
    ],
    ids=range(8),
)
def test_the_sender_is_the_nearest_that_is_no_trusted_proxy(connection, expected):
    assert str(sender(connection, networks("10.0.0.0/8"))) == expected


def test_the_scheme_is_what_a_trusted_proxy_says():
    trusted = networks("10.0.0.0/8")
    for value, expected in ((b"https", "https"), (b"https, http", "http"), (b"javascript", "http"), (b"", "http")):
        assert scheme(scope("10.0.0.1", value, name=b"x-forwarded-proto"), trusted) == expected
        assert scheme(scope("192.0.2.8", value, name=b"x-forwarded-proto"), trusted) == "http"


def test_local_is_who_asks_without_any_proxy():
    assert is_local(scope("127.0.0.1"), ())
    assert is_local(scope("::1"), ())
    assert not is_local(scope("127.0.0.1"), networks("10.0.0.1"))
    assert not is_local(scope("192.0.2.1"), ())
    for name in (b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"):
        assert not is_local(scope("127.0.0.1", b"127.0.0.1", name=name), ())


LOOPBACK = (b"localhost", b"LocalHost:8080", b"127.0.0.1", b"127.9.9.9:80", b"[::1]", b"[::1]:8080")
ELSEWHERE = (
    b"", b"x", b"rebound.example", b"rebound.example:8080", b"localhost.rebound.example", b"127.0.0.1.rebound.example",
    b"192.0.2.1", b"[2001:db8::1]:80", b"::1", b"0.0.0.0", b"localhost:", b"localhost:80:80", b"a@localhost",
    b"localhost/", b"localhost, x", b"127.1", b"2130706433", b"0x7f.0.0.1", b"[::1", b"localhost\xb2", b"9" * 5000,
    b"localhost:" + b"9" * 5000,
)  # fmt: skip


def test_local_is_who_asks_for_this_machine_by_name():
    for host in LOOPBACK:
        assert is_local(scope("127.0.0.1", hosts=(host,)), ()), host
        assert not is_local(scope("192.0.2.1", hosts=(host,)), ()), host
    for host in ELSEWHERE:
        assert not is_local(scope("127.0.0.1", hosts=(host,)), ()), host
    assert not is_local(scope("127.0.0.1", hosts=()), ())
    assert not is_local(scope("127.0.0.1", hosts=(b"localhost", b"localhost")), ())
