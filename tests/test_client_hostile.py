"""Servers that keep to no rule, and what the client lets them do: little, and not for long."""

import asyncio
import ssl
import threading
from itertools import chain, repeat

import pytest

from fldp import AsyncClient, Client, CollectorError
from fldp.client import messages
from raw_server import raw
from test_client import self_signed

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def slowly(start, part, seconds=0.05):
    """Send the same without an end, each time soon enough not to be a silence."""
    return lambda asked: chain([start], chain.from_iterable(repeat([part, seconds])))


ENDLESS = {
    "a header": slowly(HEAD + b"X: ", b"x"),
    "headers": slowly(HEAD, b"X: x\r\n"),
    "greetings": slowly(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "greetings at once": slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0.001),
    "a chunk's length": slowly(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
    "chunks": slowly(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a body without a length": slowly(HEAD + b"Connection: close\r\n\r\n[", b" "),
    "a trailer": slowly(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n", b"X: x\r\n"),
}


def asked(kind, url, operation, **options):
    """Ask with one of both clients."""
    if kind is Client:
        with Client(url, **options) as client:
            return operation(client)

    async def ask():
        async with AsyncClient(url, **options) as client:
            return await operation(client)

    return asyncio.run(ask())


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("what", ENDLESS)
def test_what_drips_without_an_end_is_cut(kind, what, monkeypatch):
    monkeypatch.setattr(messages, "MOST_SECONDS", 0.3)
    with raw(ENDLESS[what]) as (url, seen), pytest.raises(CollectorError, match="is not complete after") as error:
        asked(kind, url, lambda client: client.surveys(), retries=1, patience=0.01)
    assert len(seen) == 2
    assert error.value.status is None
    assert not [thread for thread in threading.enumerate() if thread.name == "fldp watch"]


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_what_drips_in_private_is_cut_too(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(messages, "MOST_SECONDS", 0.5)
    key, certificate = self_signed()
    (tmp_path / "both.pem").write_bytes(key + certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "both.pem")
    trusting = ssl.create_default_context(cadata=certificate.decode())
    for what in ("a header", "a body without a length"):
        with raw(ENDLESS[what], context) as (url, _), pytest.raises(CollectorError, match="is not complete after"):
            asked(kind, url, lambda client: client.surveys(), retries=0, tls=trusting)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_file_that_comes_slowly_gets_more_time_but_not_without_an_end(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(messages, "MOST_SECONDS", 0.2)
    head, part = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nPAR1", b"." * 1000
    with raw([head, *[part, 0.05] * 12, b"PAR1"]) as (url, _):  # 0.6 s, and 12,000 bytes give 2.9 s more
        assert asked(kind, url, lambda client: client.export("ab" * 32, tmp_path / "all.parquet")) == 12_008
    with raw(slowly(head, b".")) as (url, _), pytest.raises(CollectorError, match="is not complete after"):
        asked(kind, url, lambda client: client.export("ab" * 32, tmp_path / "cut.parquet"), retries=0)
    assert [path.name for path in tmp_path.iterdir()] == ["all.parquet"]


def test_one_that_is_cut_can_ask_again(monkeypatch):
    """The next request finds no dead connection, and an answer in time is not cut."""
    monkeypatch.setattr(messages, "MOST_SECONDS", 0.3)
    turns = iter([ENDLESS["a header"], lambda asked: [HEAD + b"Content-Length: 2\r\n\r\n[]"]])
    with raw(lambda asked: next(turns)(asked)) as (url, seen), Client(url, patience=0.01) as client:
        assert client.surveys() == []
    assert len(seen) == 2
