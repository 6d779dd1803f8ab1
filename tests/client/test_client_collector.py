"""The client and the collector together: every operation, and every command that asks a collector."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

import fldp
from fldp import AsyncClient, Client, CollectorError, ParameterError, Participant
from fldp.client import derived_key
from fldp.participant_store import MemoryStore
from fldp.wire import parquet
from support.client import LABELS, survey
from support.client_kinds import asked as ask_with
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
    published = survey(f"t-{derived_key(request.node.nodeid).lower()[:16]}0", collect={"minimum": 10})
    client.create(published)
    return published


def day():
    return datetime.now(UTC).date()


def filled(client, asked, count=500):
    reports = asked.oracle.privatize([k % 5 for k in range(count)])
    assert client.send(reports, asked) == count
    return asked.oracle.tally(reports)


def test_surveys(client, asked):
    assert client.create(asked)["version"] == asked.version
    assert client.survey(asked.name).survey == asked
    assert client.survey(asked.name, version=asked.version).state == "open"
    (row,) = [row for row in client.surveys() if row["name"] == asked.name]
    assert (row["version"], row["n"], row["state"]) == (asked.version, 0, "open")
    client.close(asked.name)
    with pytest.raises(CollectorError) as error:
        filled(client, asked)
    assert error.value.kind == "urn:fldp:closed"
    assert client.reopen(asked.name, version=asked.version)["state"] == "open"
    filled(client, asked, 5)
    client.delete(asked.name, all=True)
    with pytest.raises(CollectorError, match="status 404"):
        client.survey(asked.name)


def test_estimates_and_tallies(client, asked):
    with pytest.raises(CollectorError) as error:
        client.estimates(asked)
    assert error.value.kind == "urn:fldp:too-few"
    truth = filled(client, asked)
    assert client.tally(asked) == truth
    assert client.tally(asked.version, since=day(), until=day()) == truth  # unless the day ends in between
    estimates = client.estimates(asked, top=2, level=0.9, decoder="paper", post="norm-sub")
    assert (estimates["n"], len(estimates["rows"]), estimates["level"]) == (500, 2, 0.9)
    whole = client.estimates(asked)
    assert [row["count"] for row in whole["rows"]] == pytest.approx(asked.estimate(truth).counts.tolist())


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_survey_by_its_name_its_version_or_as_the_client_has_it(kind, client, asked, service, tmp_path):
    truth = filled(client, asked)

    def ask(operation):
        return ask_with(kind, service[0], operation, token=service[1])

    published = ask(lambda one: one.survey(asked.name))
    whole = ask(lambda one: one.estimates(asked))
    for way in (asked, asked.version, asked.name, published):
        assert ask(lambda one, way=way: one.estimates(way)) == whole
        assert ask(lambda one, way=way: one.tally(way)) == truth
        assert ask(lambda one, way=way: one.days(way)) == [(day().isoformat(), 500)]
        assert ask(lambda one, way=way: one.export(way, tmp_path / "r.parquet")) > 0
        assert ask(lambda one, way=way: one.export_lake(way, tmp_path / "lake")) == {}
        assert ask(lambda one, way=way: one.save_estimates(way, tmp_path / "e.csv")) > 0
        estimate = ask(lambda one, way=way: one.estimate(way))
        assert (estimate.n, estimate.labels) == (500, asked.labels)
        assert estimate.counts.tolist() == asked.estimate(truth).counts.tolist()
    for wrong in ("No Name", 7, None, asked.oracle):
        with pytest.raises(
            ParameterError, match="Client: a survey must be a Survey, what survey\\(\\) returned, a name"
        ):
            ask(lambda one, wrong=wrong: one.estimates(wrong))
    with pytest.raises(CollectorError, match="status 404"):
        ask(lambda one: one.estimates("nobody-has-published-this"))
    with pytest.raises(CollectorError, match="there is no survey version abab"):
        ask(lambda one: one.estimate("ab" * 32))


def test_everything_that_is_sent_takes_a_name_too(client, asked, tmp_path):
    reports = asked.oracle.privatize([1] * 20)
    published = client.survey(asked.name)
    assert client.send(reports, asked.name) == client.send(reports, published) == 20
    assert client.merge(asked.oracle.tally(reports), asked.name) == client.merge(asked.oracle.tally(reports), published)
    (tmp_path / "r.fldp").write_bytes(fldp.wire.encode(reports, asked.version))
    assert client.send_file(tmp_path / "r.fldp", asked.name).reports == 20
    assert client.tally(published).n == 100
    answered = client.answer(published, "edge", participant=Participant(tmp_path / "a.db"))
    assert not answered.repeated
    ticketed = survey(f"{asked.name[:-1]}t", collect={"submit": "ticket"})
    client.create(ticketed)
    for way in (ticketed.name, client.survey(ticketed.name), ticketed):
        assert len(client.tickets(way, 3)) == 3


def test_an_estimate_of_its_own(client, asked):
    with pytest.raises(CollectorError) as error:
        client.estimate(asked.name)
    assert error.value.kind == "urn:fldp:too-few", "the survey's minimum holds"
    truth = filled(client, asked, 300)
    estimate = client.estimate(asked.name, decoder="paper", post="norm-sub", since=day(), until=day())
    assert (estimate.method, estimate.options["decoder"]) == ("norm-sub", "paper")
    assert estimate.original.counts.tolist() == asked.estimate(truth, decoder="paper").counts.tolist()
    assert "firefox" in str(estimate)
    assert estimate.note == client.estimates(asked, decoder="paper")["note"], "the collector says it, too"
    filled(client, asked, 5000)
    assert client.estimate(asked).note is None
    assert "note" not in client.estimates(asked)


def test_a_number_that_is_watched(client, asked, service):
    fields = {"name": f"{asked.name[:-1]}n", "question": "Seconds?", "oracle": {"epsilon": 2.0}}
    number = {"low": 0, "high": 10, "bins": 8, "unit": "s"}
    seconds = fldp.Survey.from_dict({**fields, "number": number, "collect": {"minimum": 10}})
    client.create(seconds)
    client.send(seconds.privatize([k % 10 for k in range(400)], rng=1), seconds)
    expected = seconds.estimate(client.tally(seconds)).watched(1000).mean()
    assert client.estimate(seconds, anytime=True).mean() == expected
    assert client.estimates(seconds, anytime=True)["number"]["mean"]["high"] == pytest.approx(expected.high)
    assert client.estimates(seconds)["number"]["mean"]["high"] < expected.high
    told = shell("estimates", seconds.name, "--to", service[0], "--token", service[1], "--anytime")[0]
    assert "median" in told.lower() or "quantile 0.5" in told
    assert f"{expected.low:.4g} .. {expected.high:.4g}" in told
    assert "whenever you look" in told
    assert "epsilon=2.0" in told
    assert "eta" in told


def test_an_estimate_of_strings(client, asked):
    fields = {"name": f"{asked.name[:-1]}s", "question": "Which word?", "oracle": {"name": "cms", "epsilon": 2.0}}
    words = fldp.Survey.from_dict({**fields, "domain": "strings", "collect": {"minimum": 10}})
    client.create(words)
    client.send(words.privatize(["tea"] * 60 + ["mate"] * 40), words.name)
    estimate = client.estimate(words.name, candidates=["tea", "mate"])
    assert estimate.labels == ("tea", "mate")
    reply = client.estimates(words.name, candidates=["tea", "mate"])
    assert [row["count"] for row in reply["rows"]] == pytest.approx(estimate.counts.tolist())
    assert estimate.note == reply["note"]


def test_export_and_merge(client, asked, tmp_path):
    truth = filled(client, asked)
    assert client.export(asked, tmp_path / "all.parquet") == (tmp_path / "all.parquet").stat().st_size
    with (tmp_path / "all.parquet").open("rb") as file:
        oracle, version, reports = parquet.read(file)
        assert sum((oracle.tally(part) for part in reports), fldp.Tally.empty(oracle)) == truth
    assert version == asked.version
    key = derived_key("other collector", 1)
    assert [client.merge(truth, asked, key=key, day=day()) for _ in range(2)] == [500, 500]
    assert client.tally(asked) == truth + truth


def test_tokens(client, asked, service):
    created = client.create_token("read", survey=asked.name, expires="2999-01-01T00:00:00Z")
    assert created.token not in repr(created)
    assert created.token.startswith("fldp_read_")
    (row,) = [token for token in client.tokens() if token.id == created.id]
    assert (row.scope, row.survey, row.token, row.revoked) == ("read", asked.name, None, None)
    filled(client, asked)
    with Client(service[0], created.token) as reader:
        assert reader.estimates(asked)["n"] == 500
        with pytest.raises(CollectorError, match="status 403"):
            reader.tokens()
        client.revoke_token(created.id)
        with pytest.raises(CollectorError, match="status 401") as error:
            reader.estimates(asked)
    assert created.token not in str(error.value)


def test_answers(client, service, asked, tmp_path):
    with Client(service[0]) as anybody:
        first = anybody.answer(asked.name, "edge", participant=Participant(tmp_path / "a.db"))
        again = anybody.answer(asked, "edge", participant=Participant(tmp_path / "a.db"))
    assert first.report == again.report
    assert {row["version"]: row["n"] for row in client.surveys()}[asked.version] == 1


DYING = """
import os, sys
from fldp import Client, Participant
from fldp.client.transport import BlockingTransport
url, name, path, moment = sys.argv[1:]
ask = BlockingTransport.request

async def dying(transport, request):
    if request.method == "POST" and moment == "before it is sent":
        os._exit(9)
    reply = await ask(transport, request)
    if request.method == "POST":
        os._exit(9)
    return reply

BlockingTransport.request = dying
Client(url).answer(name, "edge", participant=Participant(path))
"""


@pytest.mark.parametrize("moment", ["before it is sent", "before it is known to be counted"])
def test_a_person_whose_program_dies_between_drawing_and_sending(client, service, asked, tmp_path, moment):
    command = [sys.executable, "-c", DYING, service[0], asked.name, str(tmp_path / "a.db"), moment]
    died = subprocess.run(command, check=False)
    assert died.returncode == 9
    person = Participant(tmp_path / "a.db")
    assert len(person.history()) == 1
    with Client(service[0]) as anybody:
        assert anybody.answer(asked.name, "firefox", participant=person).repeated
    assert len(person.history()) == 1
    assert {row["version"]: row["n"] for row in client.surveys()}[asked.version] == 1


def test_many_programs_of_one_person_answer_once(client, service, asked, tmp_path):
    def answer(number):
        with Client(service[0]) as anybody:
            return anybody.answer(asked.name, LABELS[number % 5], participant=Participant(tmp_path / "a.db"))

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(answer, range(16)))
    assert sum(not answer.repeated for answer in answers) == 1
    assert len({(answer.key, answer.report) for answer in answers}) == 1
    assert {row["version"]: row["n"] for row in client.surveys()}[asked.version] == 1


def test_what_is_kept_is_reported_daily_and_each_day_counts_once(client, service, tmp_path, monkeypatch):
    fields = {"name": "daily", "question": "Which site?", "domain": "strings", "collect": {"repeat": "daily"}}
    unlike = fldp.Survey.from_dict(fields | {"oracle": {"name": "rappor", "epsilon": 1, "epsilon_permanent": 2}})
    client.create(unlike)
    with Client(service[0]) as anybody:
        for today in ("2026-11-01", "2026-11-01", "2026-11-02", "2026-11-02"):
            monkeypatch.setattr("fldp.participant.participant._today", lambda today=today: today)
            anybody.answer(unlike.name, "https://a.example", participant=Participant(tmp_path / "a.db"))
    assert {row["version"]: row["n"] for row in client.surveys()}[unlike.version] == 2


def test_tickets(client, service):
    asked = survey("ticketed", collect={"submit": "ticket", "minimum": 1})
    client.create(asked)
    one, two = client.tickets(asked, 2)
    person = Participant(MemoryStore())
    with Client(service[0]) as anybody:
        with pytest.raises(CollectorError, match="needs a ticket"):
            anybody.answer(asked, "edge", participant=person)
        for _ in range(2):  # the same answer with the same ticket, once more
            anybody.answer(asked, "edge", participant=person, ticket=one)
        with pytest.raises(CollectorError) as error:
            anybody.answer(asked, "edge", participant=Participant(MemoryStore()), ticket=one)
        assert error.value.refused
        anybody.answer(asked, "edge", participant=Participant(MemoryStore()), ticket=two)
    assert client.tally(asked).n == 2


def test_tokens_for_sending(client, service):
    asked = survey("tokened", collect={"submit": "token", "minimum": 1})
    client.create(asked)
    reports = asked.oracle.privatize([1, 2, 3])
    with Client(service[0]) as anybody, pytest.raises(CollectorError, match="status 401"):
        anybody.send(reports, asked)
    with Client(service[0], client.create_token("send").token) as sender:
        sender.send(reports, asked)
        sender.answer(asked, "edge", participant=Participant(MemoryStore()))
    assert client.tally(asked).n == 4


def test_the_other_client(service, asked):
    async def everything():
        async with AsyncClient(*service) as client:
            sent = await asyncio.gather(
                *(client.send(asked.oracle.privatize([k]), asked) for k in [0, 1, 2, 3, 4] * 10)
            )
            return sum(sent), await client.tally(asked), await client.estimates(asked, top=1)

    sent, tally, estimates = asyncio.run(everything())
    assert (sent, tally.n, estimates["n"]) == (50, 50, 50)


def test_the_commands(service, tmp_path):
    url, token = service
    asked = survey("commands", collect={"minimum": 10})
    (tmp_path / "survey.json").write_text(json.dumps(asked.canonical))

    def run(*arguments, code=0):
        return shell(*arguments, "--to", url, token=token, code=code)

    assert asked.version in run("survey", "create", tmp_path / "survey.json")[0]
    assert json.loads(run("survey", "create", tmp_path / "survey.json", "--json")[0])["version"] == asked.version
    assert "commands" in run("survey", "list")[0]
    assert "commands" in [row["name"] for row in json.loads(run("survey", "list", "--json")[0])]
    assert json.loads(run("survey", "show", "commands", "--json")[0])["version"] == asked.version
    secret, about = run("token", "create", "read", "--survey", "commands")
    assert secret.startswith("fldp_read_")
    assert secret.strip() not in about
    identifier = about.split()[1].rstrip(":,")
    assert identifier in run("token", "list")[0]
    run("token", "revoke", identifier)
    assert [row["revoked"] for row in json.loads(run("token", "list", "--json")[0]) if row["id"] == identifier] != [
        None
    ]
    assert shell("survey", "list", "--to", url, token=secret.strip(), code=1)[1].count("\n") == 1
    assert "is closed" in run("survey", "close", "commands")[1]
    run("survey", "delete", "commands", code=2)
    assert "is deleted" in run("survey", "delete", "commands", "--all", "--yes")[1]
    assert "404" in run("survey", "show", "commands", code=1)[1]


def test_mistakes_of_a_survey_are_all_named(client):
    bad = fldp.Survey("Bad Name", "", fldp.RR(epsilon=1.0), collect={"minimum": -1})
    with pytest.raises(CollectorError, match="status 422") as error:
        client.create(bad)
    assert len(error.value.mistakes) >= 2
