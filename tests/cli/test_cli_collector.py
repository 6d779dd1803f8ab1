"""The commands that ask a collector, as a person types them: addresses, versions, tickets, deleting."""

import csv
import os
import stat
from unittest.mock import patch

import pytest

from fldp import Client, Participant
from fldp.participant_store import MemoryStore
from support.client import survey
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
def run(service, monkeypatch):
    """Return a way to run commands with the address and the token in the environment."""
    url, token = service
    monkeypatch.setenv("FLDP_URL", url)
    return lambda *words, code=0: shell(*words, token=token, code=code)


def published(client, name, **collect):
    asked = survey(name, collect={"minimum": 1, **collect})
    client.create(asked)
    return asked


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_links_with_tickets_are_good_for_one_answer_each(client, run, tmp_path):
    asked, file = published(client, "links", submit="ticket"), tmp_path / "links.csv"
    said = run("ticket", "create", "links", "--count", "3", "--links", "-o", file)
    assert said == ("", f"3 tickets of survey version {asked.version[:12]} in {file}\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    links = [row["link"] for row in rows(file)]
    assert len({*links}) == 3
    for link in links:
        page, _, ticket = link.partition("#ticket=")
        assert page == f"{client.url}/s/links"
        with Client(client.url) as anybody:
            anybody.answer(asked, "edge", participant=Participant(MemoryStore()), ticket=ticket)
    assert client.tally(asked).n == 3


def test_tickets_go_to_a_pipe_and_to_a_terminal_only_if_asked(client, run):
    published(client, "piped", submit="ticket")
    out, said = run("ticket", "create", "piped", "--count", "1")
    heading, ticket = out.split()
    assert (heading, ticket[:12]) == ("ticket", "fldp_ticket_")
    assert ticket not in said
    with patch("fldp.cli.ticket.sys") as system:
        system.stdout.isatty.return_value = True
        out, said = run("ticket", "create", "piped", "--count", "1", code=2)
        assert (out, "say -o -" in said) == ("", True)
        assert "fldp_ticket_" in run("ticket", "create", "piped", "--count", "1", "-o", "-")[0]


def test_tickets_are_not_written_over_others(client, run, tmp_path):
    published(client, "kept", submit="ticket")
    (tmp_path / "there.csv").write_text("tickets")
    words = ("ticket", "create", "kept", "--count", "1", "-o")
    assert "already exists" in run(*words, tmp_path / "there.csv", code=2)[1]
    assert (tmp_path / "there.csv").read_text() == "tickets"
    assert "cannot be written" in run(*words, tmp_path / "no" / "x", code=2)[1]


def test_a_survey_without_tickets_says_what_to_do(client, run, tmp_path):
    published(client, "openly")
    said = run("ticket", "create", "openly", "--count", "1", "-o", tmp_path / "x", code=2)[1]
    assert 'publish one with submit = "ticket"' in said
    assert not [*tmp_path.iterdir()]


def test_the_environment_names_the_collector_unless_a_database_is_named(client, run, tmp_path):
    published(client, "address")
    assert "address" in run("survey", "list")[0]
    assert "admin" in run("token", "list")[0]
    assert "is not there" in run("token", "list", "--data", tmp_path, code=2)[1]
    del os.environ["FLDP_URL"]
    assert "--to" in run("survey", "list", code=2)[1]


def test_the_first_digits_of_a_version_are_enough(client, run):
    first, second = published(client, "short"), published(client, "short", minimum=2)
    assert first.version in run("survey", "show", "short", "--version", first.version[:12])[0]
    assert second.version in run("survey", "show", "short", "--version", second.version[:12])[0]
    assert "begins none" in run("survey", "show", "short", "--version", "0000000", code=2)[1]
    assert "4 or more" in run("survey", "show", "short", "--version", "zz", code=2)[1]
    with patch.object(Client, "surveys", lambda self: [{"name": "short", "version": f"abcd{end}"} for end in "01"]):
        assert "begins 2: abcd0, abcd1" in run("survey", "show", "short", "--version", "abcd", code=2)[1]


def test_a_survey_is_closed_and_reopened(client, run):
    version = published(client, "again").version
    run("survey", "close", "again")
    assert client.survey("again").state == "closed"
    assert run("survey", "reopen", "again") == ("", f"survey again, version {version[:12]}, is open\n")
    assert client.survey("again").state == "open"


def test_nothing_is_deleted_before_somebody_says_yes(client, run):
    asked = published(client, "gone")
    client.send(asked.oracle.privatize([1]), asked)
    assert "say what to delete" in run("survey", "delete", "gone", code=2)[1]
    said = run("survey", "delete", "gone", "--all", code=2)[1]
    assert said == "fldp: this deletes 1 version of survey gone with 1 report permanently; add --yes to confirm\n"
    with patch("fldp.cli.survey.sys") as system:
        system.stdin.isatty.return_value = True
        with patch("typer.confirm", return_value=False):
            assert "nothing was deleted" in run("survey", "delete", "gone", "--all", code=2)[1]
        assert client.survey("gone").version == asked.version
        with patch("typer.confirm", return_value=True):
            assert "is deleted" in run("survey", "delete", "gone", "--version", asked.version[:8])[1]
    assert "gone" not in run("survey", "list")[0]


def test_who_publishes_a_survey_learns_how_many_like_it_people_can_answer(run, tmp_path):
    file = tmp_path / "survey.toml"
    file.write_text('name = "costly"\nquestion = "Which?"\ndomain_size = 4\n[oracle]\nname = "grr"\nepsilon = 1.0\n')
    assert "people can answer 3 more surveys like it here" in run("survey", "create", file)[0]
    file.write_text(file.read_text().replace("1.0", "3.0"))
    out, said = run("survey", "create", file)
    assert "version" in out
    assert "warning: nobody can answer survey costly: an answer costs epsilon 3" in said


def test_who_publishes_a_survey_learns_where_people_answer_it(client, run, tmp_path):
    file = tmp_path / "survey.toml"
    file.write_text('name = "where"\nquestion = "Which?"\ndomain_size = 4\n[oracle]\nname = "grr"\nepsilon = 1.0\n')
    out = run("survey", "create", file)[0]
    assert f"{client.url}/s/where\n" in out
    assert "None" not in out
    file.write_text(file.read_text() + '[collect]\nsubmit = "token"\n')
    assert "/s/where" not in run("survey", "create", file)[0]


def test_errors_name_options_and_not_arguments():
    assert shell("survey", "list", "--to", "nowhere", code=2)[1].startswith("fldp: --to must be an address such as")
    said = shell("survey", "list", "--to", "http://203.0.113.1", token="fldp_read_x", code=2)[1]
    assert said.startswith("fldp: --token or FLDP_TOKEN must not go over plain http")
