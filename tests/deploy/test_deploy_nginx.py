"""The nginx sample in front of a real collector, as it stands but for ports, the places of files and the rate."""

import re
import signal
import socket
import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from support.certificates import write_certificate
from support.collector_server import Server, batch, key
from support.ports import free_port
from support.programs import program
from support.waiting import until

SAMPLE = (Path(__file__).parents[2] / "deploy" / "nginx.conf").read_text()
AROUND = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/sample.conf;
}}
"""


class Proxy:
    """A running nginx with the sample."""

    def __init__(self, folder, server, rate="20r/s"):
        self.folder, self.plain, self.port = folder, free_port(), free_port()
        self.certificate, private = write_certificate(folder)
        changes = {
            "listen 80;": f"listen 127.0.0.1:{self.plain};",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.port} ssl;",
            "    listen [::]:80;\n": "",
            "    listen [::]:443 ssl;\n": "",
            "/etc/ssl/fldp/fullchain.pem": str(self.certificate),
            "/etc/ssl/fldp/privkey.pem": str(private),
            "/var/log/nginx/fldp.error.log": f"{folder}/fldp.error.log",
            "server 127.0.0.1:8080;": f"server 127.0.0.1:{server.port};",
            "rate=20r/s": f"rate={rate}",
            "burst=100": "burst=5" if rate == "1r/m" else "burst=100",
        }
        text = SAMPLE
        for old, new in changes.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (folder / "sample.conf").write_text(text)
        (folder / "nginx.conf").write_text(AROUND.format(folder=folder))
        files = ("-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log"))
        command = [program("nginx"), "-p", str(folder), *files]
        checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        assert "[warn]" not in checked.stderr
        self.process = subprocess.Popen(command)
        with self.client() as client:
            until(lambda: self.answers(client))

    def answers(self, client):
        assert self.process.poll() is None, (self.folder / "error.log").read_text()
        try:
            return client.get("/healthz").status_code == 200
        except httpx.ConnectError:
            return False

    def client(self, **headers):
        context = ssl.create_default_context(cafile=self.certificate)
        return httpx.Client(base_url=f"https://127.0.0.1:{self.port}", verify=context, headers=headers, timeout=300)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(300)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"), trusted_proxies="127.0.0.1", log_senders="true")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def proxy(server, tmp_path_factory):
    proxy = Proxy(tmp_path_factory.mktemp("nginx"), server)
    yield proxy
    proxy.stop()


def test_reports_pages_and_administration_pass(server, proxy):
    survey = server.publish(minimum=1)
    with proxy.client(Authorization=f"Bearer {server.token}") as client:
        sent = client.post(
            f"/v1/versions/{survey.version}/reports", content=batch(survey, 9), headers={"Idempotency-Key": key()}
        )
        assert (sent.status_code, sent.json()) == (200, {"accepted": 9})
        assert sent.headers["strict-transport-security"] == "max-age=31536000"
        assert client.get(f"/v1/versions/{survey.version}/estimates").json()["n"] == 9
        assert client.get(f"/s/{survey.name}").status_code == 200
        assert client.get("/static/fldp.js").headers["content-type"].startswith("text/javascript")


def test_metrics_are_not_for_the_world(server, proxy):
    with proxy.client(Authorization=f"Bearer {server.token}") as client:
        assert client.get("/metrics").status_code == 404
    with server.admin as client:
        assert client.get("/metrics").status_code == 200


def test_an_address_that_somebody_claims_is_not_believed(server, proxy):
    with proxy.client(**{"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}) as client:
        answer = client.get("/v1/surveys/unknown-name")
    assert "strict-transport-security" in answer.headers
    until(lambda: any(line.get("route") == "/v1/surveys/{name}" for line in server.logged))
    assert {line["peer"] for line in server.logged if line.get("route") == "/v1/surveys/{name}"} == {"127.0.0.1"}


def test_plain_http_leads_to_https(proxy):
    answer = httpx.get(f"http://127.0.0.1:{proxy.plain}/s/browser?x=1", headers={"Host": "collector.example"})
    assert (answer.status_code, answer.headers["location"]) == (301, "https://collector.example/s/browser?x=1")


def test_too_large_a_body_is_refused_at_the_door(proxy):
    context = ssl.create_default_context(cafile=proxy.certificate)
    head = f"POST /v1/plan HTTP/1.1\r\nHost: collector.example\r\nContent-Length: {65 << 20}\r\n\r\n"
    plain = socket.create_connection(("127.0.0.1", proxy.port), timeout=300)
    with plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_no_address_is_written_anywhere(proxy):
    with proxy.client() as client:
        client.get("/healthz")
    for file in proxy.folder.rglob("*.log"):
        assert "127.0.0.1" not in file.read_text()
    assert len(re.findall(r"access_log off;", SAMPLE)) == 2


def test_an_address_that_asks_too_much_gets_429(server, tmp_path):
    proxy = Proxy(tmp_path, server, rate="1r/m")
    try:
        with proxy.client() as client:
            statuses = [client.get("/healthz").status_code for _ in range(20)]
    finally:
        proxy.stop()
    assert 429 in statuses
    assert set(statuses) <= {200, 429}
