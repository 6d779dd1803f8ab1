"""A search on a collector: rounds that follow by themselves, each exactly once, and what people are asked."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from fldp import BudgetError, Client, CollectorError, Limit, Limits, Participant, Survey
from fldp.collector.service.search_rounds import Searches
from fldp.collector.service.survey_cache import PublishedSurvey
from fldp.collector.storage.protocol import Admitted, StoredSurvey, Submission
from fldp.collector.storage.sqlite.store import SqliteStore
from fldp.participant_store import MemoryStore
from support.collector_server import Server
from support.collector_store import DAY, STORES, opened, rows, stored_in, whole
from support.serving import shell
from support.waiting import until
from support.withdrawals import taking

QUOTA = 200
SEARCH = """\
name = "words"
question = "Which word do you type most often?"
domain = "strings"

[search]
k = 2
rounds = 2
bits = 8
alphabet = "theof"
quota = 200

[oracle]
name = "grr"
epsilon = 12.0

[collect]
minimum = 10
"""
PEOPLE = ["the"] * 120 + ["of"] * 60 + ["toe"] * 10 + ["no"] * 10


PLENTY = Limit(max_epsilon=100, min_eta=1)
GENEROUS = Limits(topic=PLENTY, origin=PLENTY, total=PLENTY)


def searched(**search):
    fields = Survey.parse(SEARCH, is_json=False).canonical
    return Survey.from_dict({**fields, "search": {**fields["search"], **search}})


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    store = opened(request.param, tmp_path)
    yield store
    store.close()


def at_work(store, now="2026-11-02T00:00:00Z"):
    """What goes on with the searches of a store."""

    def find(number):
        entry = store.find_number(number)
        return entry and PublishedSurvey(entry, entry.parse())

    return Searches(store, find, lambda: now)


def published(store, survey):
    return store.publish(StoredSurvey.new(survey, "2026-11-01T00:00:00Z"))[0].number


def newest(store):
    entry = store.named("words")[0]
    return entry.parse(), entry


def answer(store, people, name):
    """Answer with a fixed seed: in one of a hundred runs, noise would change one of 200 reports, which stands out."""
    survey, entry = newest(store)
    new = Submission(entry.number, name, name, survey.privatize(people, rng=1))
    return store.commit([new], DAY)[0].verdict


def test_a_round_follows_when_the_last_one_has_its_reports(store):
    """Until everything is found, and then nothing follows; what each round did is what one machine would have done."""
    searches, first = at_work(store), searched()
    published(store, first)
    for name in (b"1", b"2", b"3"):
        before, entry = newest(store)
        assert answer(store, PEOPLE[1:], name) is Admitted.ACCEPTED
        searches.go_on()
        assert newest(store)[0] == before  # one report is missing
        assert answer(store, PEOPLE[:1], name * 2) is Admitted.ACCEPTED
        searches.go_on()
        after = newest(store)[0]
        tally = whole(store, before, entry.number)
        assert tally.n == QUOTA
        if before.search.is_last:
            break
        assert after == before.at(before.search.next_round(tally))
        assert store.find(before.version).closed == "2026-11-02T00:00:00Z"
        assert store.find(after.version).closed is None
        late = Submission(entry.number, b"late", b"late", before.privatize(["the"]))
        assert store.commit([late], DAY)[0].verdict is Admitted.CLOSED
    assert [hitter.text for hitter in before.search.next_round(tally).top()] == ["the", "of"]
    assert len(store.named("words")) == before.search.number
    assert after == before


def test_what_is_taken_back_is_missing_from_its_round_and_changes_no_round_that_was_decided(store):
    searches = at_work(store)
    published(store, searched())
    first, entry = newest(store)
    kept = Submission(entry.number, b"kept", b"kept", first.privatize(PEOPLE[1:], rng=1), secret=b"kept")
    taken = Submission(entry.number, b"taken", b"taken", first.privatize(PEOPLE[:1], rng=1), secret=b"taken")
    assert store.commit([kept, taken, taking(taken)], DAY)[2].verdict is Admitted.WITHDRAWN
    searches.go_on()
    assert newest(store)[0] == first  # one report is missing
    assert answer(store, PEOPLE[:1], b"last") is Admitted.ACCEPTED
    searches.go_on()
    second = newest(store)[0]
    assert second == first.at(first.search.next_round(whole(store, first, entry.number)))
    assert store.commit([taking(kept)], DAY)[0].verdict is Admitted.WITHDRAWN  # after the round is closed
    searches.go_on()
    assert (newest(store)[0], whole(store, first, entry.number).n) == (second, 1)


def test_a_round_waits_for_the_minimum(store):
    fields = searched(quota=5).canonical
    published(store, Survey.from_dict(fields | {"collect": {"minimum": 11}}))
    searches = at_work(store)
    for count, rounds in ((10, 1), (1, 2)):
        answer(store, PEOPLE[:count], bytes([count]))
        searches.go_on()
        assert len(store.named("words")) == rounds


def test_a_round_may_be_over_by_time(store):
    """Published at midnight: with the minimum, and not before the hour."""
    published(store, searched(hours=5))
    answer(store, PEOPLE[:9], b"1")
    at_work(store, "2026-11-01T05:00:00Z").go_on()
    assert len(store.named("words")) == 1  # the minimum is 10
    answer(store, PEOPLE[:1], b"2")
    at_work(store, "2026-11-01T04:59:59Z").go_on()
    assert len(store.named("words")) == 1
    at_work(store, "2026-11-01T05:00:00Z").go_on()
    assert len(store.named("words")) == 2


def test_a_round_has_one_successor(store):
    """Eight at once, all with another one: one is published, and the others do nothing."""
    number = published(store, searched())
    others = [StoredSurvey.new(searched(quota=300 + k), "2026-11-02T00:00:00Z") for k in range(8)]
    barrier = threading.Barrier(8)

    def succeed(entry):
        barrier.wait()
        return store.succeed(number, entry)

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(succeed, others))
    assert sorted(done) == [False] * 7 + [True]
    assert len(store.named("words")) == 2
    assert store.find(others[done.index(True)].version).closed is None
    assert not store.succeed(number, others[0])
    assert not store.succeed(number + 100, others[0])
    assert len(store.named("words")) == 2


def test_a_successor_that_cannot_be_published_leaves_the_round_open(store, monkeypatch):
    number = published(store, searched())
    successor = StoredSurvey.new(searched(quota=300), "2026-11-02T00:00:00Z")

    def fail(connection, new):
        raise RuntimeError("the power goes")

    where = "sqlite.writes.publish" if isinstance(store, SqliteStore) else "postgres.store._publish"
    monkeypatch.setattr(f"fldp.collector.storage.{where}", fail)
    with pytest.raises(RuntimeError):
        store.succeed(number, successor)
    monkeypatch.undo()
    assert store.find_number(number).closed is None
    assert store.succeed(number, successor)


def test_tickets_that_are_not_spent_are_good_for_the_next_round(store):
    number = published(store, searched())
    store.add_tickets(number, [b"one", b"two"])
    new = Submission(number, b"a", b"a", searched().privatize(["the"]), ticket=b"one")
    assert store.commit([new], DAY)[0].verdict is Admitted.ACCEPTED
    successor = searched(quota=300)
    assert store.succeed(number, StoredSurvey.new(successor, "2026-11-02T00:00:00Z"))
    later = store.find(successor.version).number
    assert rows(store, "SELECT survey, ticket, spent FROM tickets ORDER BY survey") == [
        (number, b"one", 1),
        (later, b"two", 0),
    ]


def test_what_its_owner_has_closed_does_not_go_on(store):
    number = published(store, searched())
    answer(store, PEOPLE, b"1")
    store.close_surveys([number], "2026-11-01T12:00:00Z")
    at_work(store).go_on()
    assert len(store.named("words")) == 1


def test_where_nothing_stands_out_the_search_ends(store):
    """Everybody gives a string that no prefix begins; the tally says that nobody has any of the prefixes."""
    survey = searched()
    second = survey.at(survey.search.search.later(2, ("11", "10"), 2))
    number = published(store, second)
    answer(store, ["t" * 5] * QUOTA, b"1")
    at_work(store).go_on()
    assert store.find_number(number).closed is not None
    assert len(store.named("words")) == 1


def test_a_search_that_fails_does_not_keep_others_waiting(store, caplog):
    broken = store.publish(StoredSurvey.new(searched(quota=300), "2026"))[0]
    answer(store, PEOPLE, b"0")
    published(store, searched())
    answer(store, PEOPLE, b"1")
    find = at_work(store)._find

    def failing(number):
        if number == broken.number:
            raise RuntimeError("unreadable")
        return find(number)

    searches = Searches(store, failing, lambda: "2026")
    searches.go_on()
    assert len(store.named("words")) == 3
    assert "a search failed" in caplog.text


# What people are asked


def test_a_person_answers_a_search_once():
    first = searched()
    second = first.at(first.search.next_round(first.oracle.tally(first.privatize(PEOPLE))))
    person = Participant(MemoryStore(), limits=GENEROUS)
    yes = {"origin": "https://collector.example", "confirm": lambda notices: True}
    mine = person.answer(first, "the", **yes)
    assert person.answer(first, "of", **yes).report == mine.report
    with pytest.raises(BudgetError, match="search words was answered on 2"):
        person.answer(second, "the", **yes)
    assert len(person.history()) == 1


# The whole of it


@pytest.mark.parametrize("kind", STORES)
def test_a_search_from_the_shell_to_the_strings(kind, tmp_path):
    """Two collectors where they can share a database; everybody answers whichever is asked."""
    with ExitStack() as stack:
        settings = {**stored_in(kind), "fold_seconds": 0.2}
        servers = [Server(tmp_path, **settings)]
        stack.callback(servers[0].stop)
        if kind == "postgres":
            (tmp_path / "second").mkdir()
            servers.append(Server(tmp_path / "second", token=servers[0].token, **settings))
            stack.callback(servers[1].stop)
        (tmp_path / "search.toml").write_text(SEARCH)
        to = ("--to", servers[0].url)
        shell("survey", "create", tmp_path / "search.toml", *to, token=servers[0].token)
        clients = [stack.enter_context(Client(server.url, server.token)) for server in servers]
        asked = [one_round(clients)]
        while not asked[-1].search.is_last:
            if len(asked) == 1:
                out, _ = shell("estimates", "words", *to, token=servers[0].token)
                assert "Round 1 of at most 3: 199 reports of 200." in out
            clients[0].send(asked[-1].privatize(["the"]), asked[-1])
            until(lambda: clients[-1].survey("words").version != asked[-1].version)
            asked.append(one_round(clients))
        assert [survey.search.number for survey in asked] == list(range(1, len(asked) + 1))
        assert clients[0].surveys()[0]["state"] == "open"
        assert [row["state"] for row in clients[0].surveys()[1:]] == ["closed"] * (len(asked) - 1)
        with pytest.raises(CollectorError, match="takes no reports now"):
            clients[0].send(asked[0].privatize(["the"]), asked[0])
        with pytest.raises(CollectorError, match="a round of a search stays closed"):
            clients[0].reopen("words", version=asked[0].version)
        out, _ = shell("estimates", "words", *to, token=servers[0].token)
        assert "the" in out
        assert "which is open" in out
        printed = json.loads(shell("estimates", "words", "--json", *to, token=servers[0].token)[0])
        assert {row["label"] for row in printed["rows"]} >= {"the", "of", "(none of these)"}


def one_round(clients):
    """One person less than a round needs: one of them answers as a person does."""
    survey = clients[0].survey("words").survey
    person = Participant(MemoryStore(), limits=GENEROUS)
    clients[-1].answer("words", "the", participant=person, confirm=lambda notices: True)
    assert clients[-1].answer("words", "the", participant=person).repeated
    for number, client in enumerate(clients):
        part = PEOPLE[2:][number :: len(clients)]
        client.send(survey.privatize(part), survey)
    return survey
