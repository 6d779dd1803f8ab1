"""An issuer apart from the collector: its tickets, its answers, its process, and a client that asks both."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager

import httpx
import pytest

from fldp import Client, CollectorError, Participant
from fldp.errors import FldpError
from fldp.issuer.app import Issuer, IssuerSettings
from fldp.issuer.tickets import Spending, TicketFile
from fldp.participant_store import MemoryStore
from fldp.passes.tokens import REPLY_TYPE
from support.passes import KEY, asking, pass_survey
from support.ports import free_port
from support.relays import ending
from support.serving import collector, shell

PATH = f"/v1/versions/{'0' * 64}/passes"


@pytest.fixture
def tickets(tmp_path):
    return TicketFile(tmp_path / "tickets.db", make=True)


def play(tickets, story, **settings):
    async def run():
        issuer = Issuer(IssuerSettings(KEY, tickets, **{"rate": 0, **settings}))
        try:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(issuer), base_url="http://x") as client:
                await story(client)
        finally:
            issuer.stop()

    asyncio.run(run())


def refusal(answer):
    return answer.status_code, answer.json()["type"].removeprefix("urn:fldp:")


def test_a_ticket_buys_one_pass_and_the_same_again(tickets):
    survey, (ticket,) = pass_survey(), tickets.create(1)

    async def story(client):
        secret, request = asking(survey, ticket)
        first, again = await client.post(PATH, **request), await client.post(PATH, **request)
        assert first.content == again.content
        assert first.headers["content-type"] == REPLY_TYPE
        assert first.headers["access-control-allow-origin"] == "*"
        assert first.headers["cache-control"] == "no-store"
        survey.pass_terms.nonce(survey.pass_terms.pass_of(secret, first.content))
        assert refusal(await client.post(PATH, **asking(survey, ticket)[1])) == (403, "ticket-spent")

    play(tickets, story)


def test_what_is_wrong_costs_no_ticket(tickets):
    survey, (ticket,) = pass_survey(), tickets.create(1)

    async def story(client):
        _, good = asking(survey, ticket)
        body, headers = good["content"], good["headers"]
        for bad in (b"", body[:-1], b"\0\1" + body[2:], body[:3] + KEY.public.n.to_bytes(256)):
            assert refusal(await client.post(PATH, **{**good, "content": bad})) == (422, "malformed")
        assert refusal(await client.post(PATH, **{**good, "content": bytes(2000)})) == (413, "too-large")
        for unknown in ("", "fldp_ticket_" + "A" * 43):
            sent = {**headers, "Fldp-Ticket": unknown}
            assert refusal(await client.post(PATH, content=body, headers=sent)) == (401, "ticket")
        assert refusal(await client.post(PATH, content=body)) == (415, "media-type")
        assert (await client.post("/v1/versions/x/passes", **good)).status_code == 404
        assert (await client.get(PATH)).status_code == 405
        assert (await client.get("/v1/surveys")).status_code == 404
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.options(PATH)).headers["access-control-allow-headers"] == "content-type, fldp-ticket"
        assert (await client.post(PATH, **good)).status_code == 200

    play(tickets, story)


def test_one_address_asks_only_so_often(tickets):
    async def story(client):
        answers = [await client.post(PATH) for _ in range(25)]
        assert refusal(answers[-1]) == (429, "rate")

    play(tickets, story, rate=1e-9)


def test_a_file_of_tickets_has_hashes_only_and_survives(tickets):
    created = tickets.create(3)
    assert len(set(created)) == 3
    assert tickets.spend(created[0], b"one") is Spending.GOOD
    again = TicketFile(tickets.path)
    assert [again.spend(created[0], body) for body in (b"one", b"two")] == [Spending.GOOD, Spending.SPENT]
    content = tickets.path.read_bytes()
    assert not any(ticket.encode() in content for ticket in created)
    assert tickets.path.stat().st_mode & 0o777 == 0o600


def test_other_files_are_refused(tmp_path):
    with pytest.raises(FldpError, match="is not there; make tickets with"):
        TicketFile(tmp_path / "none.db")
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE things (thing)")
    (tmp_path / "text").write_text("no database" * 100)
    for name in ("other.db", "text"):
        with pytest.raises(FldpError, match=name):
            TicketFile(tmp_path / name, make=True)


@contextmanager
def serving(*options):
    port = free_port()
    command = [sys.executable, "-m", "fldp", "issuer", "serve", "--port", str(port), *map(str, options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with ending(process):
        assert process.stdout.readline() == f"fldp: issuing on http://127.0.0.1:{port}\n"
        yield f"http://127.0.0.1:{port}"


def test_from_the_shell_to_a_count(tmp_path):
    """Somebody makes key and tickets and issues; somebody else collects; a person answers once."""
    key, tickets, listed = tmp_path / "key.pem", tmp_path / "tickets.db", tmp_path / "tickets.csv"
    issuer_key = shell("issuer", "create", "--key", key)[0].strip()
    shell("issuer", "tickets", "--tickets", tickets, "--count", "2", "-o", listed)
    column, ticket, other = listed.read_text().split()
    assert column == "ticket"
    assert "already exists" in shell("issuer", "create", "--key", key, code=2)[1]
    with serving("--key", key, "--tickets", tickets) as issuer, collector(tmp_path / "data") as (url, token):
        survey = pass_survey(issuer_key=issuer_key, issuer=issuer)
        person = Participant(MemoryStore())
        with Client(url, token) as admin:
            admin.create(survey)
            asked = ("ticket", "create", "browser", "--count", "1", "-o", "-", "--to", url)
            assert f"come from its issuer, {issuer}" in shell(*asked, token=token, code=2)[1]
        with Client(url) as client:
            client.obtain_pass("browser", ticket, participant=person)
            client.answer("browser", "edge", participant=person)
            with pytest.raises(CollectorError, match="spent on another pass"):
                client.answer("browser", "edge", participant=Participant(MemoryStore()), ticket=ticket)
            client.answer("browser", "edge", participant=Participant(MemoryStore()), ticket=other)
        with Client(url, token) as admin:
            assert admin.surveys()[0]["n"] == 2
