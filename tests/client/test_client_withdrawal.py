"""Taking answers back with a client, a participant and a command, from a real collector."""

import asyncio
import json

import pytest

from fldp import AsyncClient, BudgetError, Client, CollectorError, FldpError, Participant, wire
from fldp.client import derived_key
from fldp.participant.past_answers import MAX_EARLIER, all_sent, as_withdrawn, is_withdrawn, newest, with_new_day
from fldp.participant.stored_answer import StoredAnswer, StoredDailyAnswer
from fldp.participant_store import MemoryStore
from support.client import survey
from support.ports import free_port
from support.serving import collector, shell


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with collector(tmp_path_factory.mktemp("data")) as service:
        yield service


@pytest.fixture
def client(service):
    with Client(*service) as client:
        yield client


@pytest.fixture
def asked(client, request):
    published = survey(f"t-{derived_key(request.node.nodeid).lower()[:16]}0", collect={"minimum": 1})
    client.create(published)
    return published


def counted(client, asked):
    """Return how many reports there are, and how many were withdrawn."""
    estimates = client.estimates(asked)
    return estimates["n"], estimates["withdrawn"]


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_person_takes_an_answer_back(client, asked, kind, tmp_path):
    person = Participant(MemoryStore() if kind == "memory" else tmp_path / "answers.db")
    client.send(asked.oracle.privatize([0] * 3), asked)
    client.answer(asked.name, "firefox", participant=person)
    before = person.spent()
    assert client.withdraw("nobody", participant=person) == 0
    for _ in range(2):
        assert client.withdraw(asked.name, participant=person) == 1
    assert counted(client, asked) == (3, 1)
    assert (person.spent(), person.withdrawn(asked.version, origin=client.url)) == (before, True)
    with pytest.raises(BudgetError, match="was withdrawn"):
        client.answer(asked.name, "firefox", participant=person)
    assert client.repeat_withdrawals(participant=person) == 1
    client.close(asked.name)
    assert client.withdraw(asked, participant=person) == 1
    assert counted(client, asked) == (3, 1)


def test_an_answer_is_marked_before_the_collector_is_asked(client, asked, monkeypatch):
    """A crash in between: it is not sent again, and the next call withdraws it."""
    person = Participant(MemoryStore())
    client.answer(asked.name, "firefox", participant=person)
    client.send(asked.oracle.privatize([0]), asked)

    async def crash(*arguments, **named):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Client, "_take_back", crash)
        with pytest.raises(KeyboardInterrupt):
            client.withdraw(asked.name, participant=person)
    assert person.withdrawn(asked.version, origin=client.url)
    assert counted(client, asked) == (2, 0)
    assert client.withdraw(asked.name, participant=person) == 1
    assert counted(client, asked) == (1, 1)


def test_an_answer_is_marked_also_where_nobody_can_be_asked(client, asked):
    person, origin = Participant(MemoryStore()), f"http://127.0.0.1:{free_port()}"
    person.answer(asked.canonical, "firefox", origin=origin, version=asked.version)
    with Client(origin, retries=0) as nobody, pytest.raises(CollectorError):
        nobody.withdraw(asked.name, participant=person)
    assert person.withdrawn(asked.version, origin=origin)


@pytest.mark.parametrize("again", [False, True])
def test_a_version_that_was_deleted_does_not_keep_the_others(client, again):
    """Whichever is asked for first."""
    person, name = Participant(MemoryStore()), f"deleted-{again}".lower()
    versions = []
    for number in range(3):
        oracle = {"name": "grr", "epsilon": 0.5}
        changed = survey(name, oracle=oracle, collect={"minimum": 1}, description=f"Version {number}.")
        client.create(changed)
        client.answer(name, "firefox", participant=person, version=changed.version)
        client.send(changed.oracle.privatize([0]), changed)
        versions.append(changed)
    gone, *left = sorted(versions, key=lambda each: each.version, reverse=again)
    client.delete(name, version=gone.version)
    assert client.withdraw(name, participant=person) == 2
    assert [counted(client, each) for each in left] == [(1, 1)] * 2
    assert client.repeat_withdrawals(participant=person) == 2


@pytest.mark.parametrize(("status", "asked_for"), [(409, 3), (503, 1)])
def test_a_report_that_is_refused_does_not_keep_those_of_other_days(client, monkeypatch, status, asked_for):
    """But a collector that cannot answer is not asked for all the others."""
    oracle = {"name": "grr", "epsilon": 0.1}
    asked = survey(f"months-{status}", oracle=oracle, collect={"minimum": 1, "repeat": "monthly"})
    person, take_back, taken = Participant(MemoryStore()), Client._take_back, []
    client.create(asked)
    client.send(asked.oracle.privatize([0]), asked)
    for month in ("2026-11-16", "2026-12-16", "2027-01-16"):
        monkeypatch.setattr("fldp.participant.participant._today", lambda month=month: month)
        client.answer(asked.name, "firefox", participant=person)

    async def refuse_once(self, version, part, *rest, **named):
        taken.append(part.key)
        if len(taken) == 1:
            raise CollectorError("no", status=status)
        return await take_back(self, version, part, *rest, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Client, "_take_back", refuse_once)
        with pytest.raises(CollectorError, match="no"):
            client.withdraw(asked, participant=person)
    assert (len(taken), counted(client, asked)) == (asked_for, (5 - asked_for, asked_for - 1))
    assert client.withdraw(asked, participant=person) == 3
    assert counted(client, asked) == (1, 3)


def test_an_answer_through_a_relay_is_not_taken_back_directly(client, monkeypatch):
    """The request would name the report and the address that it came from."""
    asked, person = survey("relayed", collect={"oblivious": True}), Participant(MemoryStore())
    client.create(asked)
    person.answer(asked.canonical, "firefox", origin=client.url, version=asked.version)
    sent = []
    monkeypatch.setattr(Client, "_take_back", lambda *parts, **named: sent.append(parts))
    with pytest.raises(CollectorError, match="answered through a relay only; give relay="):
        client.withdraw(asked, participant=person)
    assert sent == []
    assert not person.withdrawn(asked.version, origin=client.url)


def test_batches_under_keys_of_ones_own(client, asked):
    reports, key = asked.oracle.privatize([1] * 5), derived_key("site 7")
    client.send(asked.oracle.privatize([0]), asked)
    client.send(reports, asked, key=key)
    with pytest.raises(CollectorError) as error:
        client.withdraw_batch(asked.oracle.privatize([2] * 6), asked, key=key)
    assert error.value.kind == "urn:fldp:conflict"
    assert client.withdraw_batch(wire.encode(reports, asked.version), key=key) == 5
    with pytest.raises(CollectorError) as error:
        client.send(reports, asked, key=key)
    assert (error.value.status, error.value.kind) == (410, "urn:fldp:withdrawn")
    assert counted(client, asked) == (1, 5)
    assert [row["version"] for row in client.versions(asked.name)] == [asked.version]


def test_files_are_taken_back_in_the_same_pieces(service, client, asked, tmp_path):
    file, url, token = tmp_path / "reports.fldp", *service
    file.write_bytes(wire.encode(asked.oracle.privatize([k % 5 for k in range(4000)]), asked.version))
    client.send(asked.oracle.privatize([0] * 7), asked)
    options = ("--to", url, "--piece", "1024", "--sender", "me")
    shell("send", str(file), *options, token=token)
    _, said = shell("withdraw", str(file), "--to", url, "--sender", "another", "--piece", "1024", token=token)
    assert "0 reports" in said
    assert "the collector did not know the other 4,000" in said
    assert counted(client, asked) == (4007, 0)
    out, _ = shell("withdraw", str(file), *options, "--json", token=token)
    assert json.loads(out) == {"reports": 4000, "withdrawn": 4000, "version": asked.version, "collector": url}
    _, said = shell("withdraw", str(file), *options, token=token)
    assert "4,000 reports of survey version" in said
    assert counted(client, asked) == (7, 4000)
    assert "was withdrawn" in shell("send", str(file), *options, "--from-start", token=token, code=1)[1]


@pytest.mark.parametrize(("status", "goes_on"), [(409, True), (422, True), (401, False), (404, False), (503, False)])
def test_a_refused_piece_of_a_file_does_not_keep_the_others(client, tmp_path, monkeypatch, status, goes_on):
    """But a refusal that holds for all pieces ends it, and so does a collector that cannot answer."""
    asked = survey(f"pieces-{status}", collect={"minimum": 1})
    client.create(asked)
    file, take_back, counts, steps = tmp_path / "reports.fldp", Client._take_back, [], []
    file.write_bytes(wire.encode(asked.oracle.privatize([k % 5 for k in range(9000)]), asked.version))
    client.send(asked.oracle.privatize([0] * 7), asked)
    client.send_file(file, piece_bytes=1024)

    async def refuse_first(self, version, part, *rest, **named):
        counts.append(part.count)
        if len(counts) == 1:
            raise CollectorError("first refusal", status=status)
        if len(counts) == 2 and goes_on:
            raise CollectorError("second refusal", status=status)
        return await take_back(self, version, part, *rest, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Client, "_take_back", refuse_first)
        with pytest.raises(CollectorError, match="first refusal"):
            client.withdraw_file(file, piece_bytes=1024, progress=steps.append)
    left = 7 + (sum(counts[:2]) if goes_on else 9000)
    assert (len(counts) > 2, sum(steps) == 9000) == (goes_on, goes_on)
    assert counted(client, asked) == (left, 9007 - left)
    assert client.withdraw_file(file, piece_bytes=1024) == 9000
    assert counted(client, asked) == (7, 9000)


def test_the_other_client_does_the_same(service, asked):
    person = Participant(MemoryStore())

    async def story():
        async with AsyncClient(*service) as other:
            await other.answer(asked.name, "firefox", participant=person)
            return await other.withdraw(asked.name, participant=person)

    assert asyncio.run(story()) == 1


# --------------------------------------------------------------------------------------------- what is kept


def test_all_days_are_kept_and_the_oldest_forgotten():
    batches = [StoredAnswer.with_new_key(b"batch %d" % k) for k in range(MAX_EARLIER + 9)]
    days = [StoredDailyAnswer(b"kept", f"{k:010}", batch) for k, batch in enumerate(batches)]
    kept = days[0].with_checksum
    for day in days[1:]:
        kept = with_new_day(kept, day.with_checksum)
    assert newest(kept) == days[-1].with_checksum
    assert all_sent(kept) == tuple(day.last for day in reversed(days[8:]))
    marked = as_withdrawn(kept)
    assert (is_withdrawn(kept), is_withdrawn(marked), as_withdrawn(marked)) == (False, True, marked)
    assert (newest(marked), all_sent(marked)) == (newest(kept), all_sent(kept))
    with pytest.raises(FldpError):
        all_sent(kept[:-1])
    with pytest.raises(FldpError):
        all_sent(kept + b"\0\0")
