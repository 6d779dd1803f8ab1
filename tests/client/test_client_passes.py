"""Passes of a person: stored before they are asked for, got from a real collector, directly and through a relay."""

import json

import pytest

from fldp import AsyncClient, BudgetError, Client, CollectorError, ParameterError, Participant
from fldp.errors import FldpError, WireError
from fldp.oracles.base import ticket_words
from fldp.participant.sqlite_store import FileStore
from fldp.participant_store import MemoryStore
from fldp.passes.tokens import PassTerms
from fldp.survey import Survey
from fldp.wire import decode
from support.client_kinds import asked as ask_with
from support.collector_server import Server, specification
from support.passes import KEY, issued, pass_survey
from support.relays import relay

SITE = "https://collector.example"
OLH = {"name": "olh", "epsilon": 1.0}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("data"), ohttp="true")
    yield server
    assert server.stop() == 0


def published(server, name, count=2, **more):
    with Client(server.url, server.token) as admin:
        oracle = more.pop("oracle", None)
        collect = {"submit": "pass", "issuer_key": admin.create_issuer(), "minimum": 1, **more}
        survey = Survey.from_dict(specification(name, oracle, **collect))
        admin.create(survey)
        return survey, admin.tickets(survey, count)


def count(server, survey):
    return server.counts()[survey.version]


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_answer_with_a_pass_counts_once_however_often(server, kind):
    survey, (ticket, _) = published(server, f"once-{kind.__name__.lower()}")
    person, name = Participant(MemoryStore()), survey.name
    ask_with(kind, server.url, lambda client: client.obtain_pass(name, ticket, participant=person))
    text = person.pass_to(survey.version, origin=server.url)
    survey.pass_terms.nonce(text)
    first, again = (
        ask_with(kind, server.url, lambda client: client.answer(name, "edge", participant=person)) for _ in range(2)
    )
    assert (first.repeated, again.repeated, again.report) == (False, True, first.report)
    assert person.pass_to(survey.version, origin=server.url) == text
    assert count(server, survey) == 1
    assert ask_with(kind, server.url, lambda client: client.withdraw(name, participant=person)) == 1
    assert count(server, survey) == 0


def test_a_ticket_may_be_given_with_the_answer(server):
    survey, (ticket, other) = published(server, "at-once")
    with Client(server.url) as client:
        with pytest.raises(CollectorError, match="needs a ticket"):
            client.answer(survey.name, "edge", participant=Participant(MemoryStore()))
        client.answer(survey.name, "edge", participant=Participant(MemoryStore()), ticket=ticket)
        with pytest.raises(CollectorError, match="spent on something else") as caught:
            client.answer(survey.name, "edge", participant=Participant(MemoryStore()), ticket=ticket)
        assert ticket not in str(caught.value)
        with pytest.raises(CollectorError, match="give ticket="):
            client.obtain_pass(survey.name, participant=Participant(MemoryStore()))
        person = Participant(MemoryStore())
        with pytest.raises(BudgetError):  # what the person refuses does not cost the pass
            client.answer(survey.name, "edge", participant=person, ticket=other, labels=["edge", "other"])
        client.answer(survey.name, "edge", participant=person)
    assert count(server, survey) == 2


def test_passes_go_through_the_relay_and_decide_masks(server):
    survey, (ticket, _) = published(server, "relayed", oracle=OLH, derive=True, oblivious=True)
    person = Participant(MemoryStore())
    with Client(server.url) as client, pytest.raises(CollectorError, match="through a relay only"):
        client.obtain_pass(survey.name, ticket, participant=person)
    with relay(server.url) as way, Client(server.url, relay=way) as client:
        client.obtain_pass(survey.name, ticket, participant=person)
        answer = client.answer(survey.name, "edge", participant=person)
    text = person.pass_to(survey.version, origin=server.url)
    report = decode(answer.report, survey.oracle, survey.version).data[0]
    assert ticket_words.fits(survey.oracle, report, text, survey.version)
    assert not ticket_words.fits(survey.oracle, report, ticket, survey.version)
    assert count(server, survey) == 1


def test_a_collector_that_names_itself_as_issuer_is_asked_through_the_relay_all_the_same(server, monkeypatch):
    """Else it would see the address of everybody who has a ticket, just before their reports come by the relay."""
    survey, (ticket, _) = published(server, "itself", oblivious=True, issuer=server.url)
    person = Participant(MemoryStore())
    with relay(server.url) as way, Client(server.url, relay=way) as client:
        monkeypatch.setattr(client, "_line_to", lambda url: pytest.fail(f"{url} is asked directly"))
        client.answer(survey.name, "edge", participant=person, ticket=ticket)
    assert count(server, survey) == 1


def test_a_survey_without_passes_gives_none(server):
    open_survey = server.publish(specification("plain"))
    with Client(server.url) as client, pytest.raises(CollectorError, match="takes no passes"):
        client.obtain_pass(open_survey, "fldp_ticket_x", participant=Participant(MemoryStore()))
    with pytest.raises(ParameterError, match="takes no passes"):
        Participant(MemoryStore()).pass_request(open_survey, origin=SITE)


@pytest.fixture(params=["memory", "file"])
def person(request, tmp_path):
    return Participant(MemoryStore() if request.param == "memory" else tmp_path / "answers.db")


def test_secrets_are_kept_before_anybody_is_asked(person):
    """The same request comes again, also in another process; the pass then takes the place of its secrets."""
    survey = pass_survey()
    first, again = (person.pass_request(survey, origin=SITE) for _ in range(2))
    assert first == again
    assert person.pass_to(survey.version, origin=SITE) is None
    assert person.pass_request(survey, origin="https://other.example") != first
    reply = KEY.sign(survey.pass_terms.blinded(first))
    with pytest.raises(WireError):
        person.keep_pass(survey, bytes(256), origin=SITE)
    text = person.keep_pass(survey, reply, origin=SITE)
    assert text == person.keep_pass(survey, reply, origin=SITE) == person.pass_to(survey.version, origin=SITE)
    with pytest.raises(ParameterError, match="is here already"):
        person.pass_request(survey, origin=SITE)
    with pytest.raises(FldpError, match="no pass to survey other was asked for"):
        person.keep_pass(pass_survey("other"), reply, origin=SITE)
    assert person.answer(survey, "edge", origin=SITE).repeated is False


def test_a_file_keeps_passes_from_one_start_to_the_next(tmp_path):
    survey = pass_survey()
    request = Participant(tmp_path / "answers.db").pass_request(survey, origin=SITE)
    kept = tmp_path / "answers.db.passes"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert Participant(tmp_path / "answers.db").pass_request(survey, origin=SITE) == request
    for damaged in ("", "{}", json.dumps({"format": "fldp-passes-1", "passes": {"a b": "zz"}})):
        kept.write_text(damaged)
        with pytest.raises(FldpError, match="damaged"):
            Participant(FileStore(tmp_path / "answers.db")).pass_request(survey, origin=SITE)


def test_nothing_is_drawn_with_what_is_no_pass(person):
    survey = pass_survey(oracle=OLH, derive=True)
    ticket = "fldp_ticket_" + "A" * 43
    for arguments, why in (
        (None, "needs a pass; Client.obtain_pass"),
        (ticket, "not a pass"),
        (issued(pass_survey()), "else"),
    ):
        with pytest.raises(ParameterError, match=why) as caught:
            person.answer(survey, "edge", origin=SITE, ticket=arguments)
        assert arguments is None or arguments not in str(caught.value)
    assert person.history() == ()
    text = issued(survey)
    answer = person.answer(survey, "edge", origin=SITE, ticket=text)
    report = decode(answer.report, survey.oracle, survey.version).data[0]
    assert ticket_words.fits(survey.oracle, report, text, survey.version)


def test_a_store_that_keeps_no_passes_is_told(person):
    class Bare:
        def __init__(self, store):
            self.store = store

        def exclusive(self):
            from contextlib import contextmanager

            @contextmanager
            def block():
                with self.store.exclusive() as book:
                    names = ("ledger", "find", "add", "replace")
                    yield type("Book", (), {name: getattr(book, name) for name in names})

            return block()

    survey = pass_survey()
    with pytest.raises(ParameterError, match="one that keeps passes"):
        Participant(Bare(MemoryStore())).pass_request(survey, origin=SITE)
    assert isinstance(survey.pass_terms, PassTerms)
