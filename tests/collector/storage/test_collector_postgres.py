"""PostgreSQL: several collectors on one database, migrations, and outages."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial

import psycopg
import pytest

from fldp.collector.config.database_url import Database
from fldp.collector.service import tokens
from fldp.collector.service.folding import Folder, fold_day, fold_step
from fldp.collector.storage import migrations
from fldp.collector.storage.fsck import fsck
from fldp.collector.storage.postgres import store as postgres
from fldp.collector.storage.postgres import writes
from fldp.collector.storage.postgres.store import PostgresStore
from fldp.collector.storage.protocol import Admitted, StoreError
from support.collector_server import Server, batch, key
from support.collector_store import DAY, publish, rows, submission, whole
from support.postgres_server import ENCODED, PASSWORD, PostgresServer, server
from support.shell import fldp
from support.waiting import until


@pytest.fixture
def url():
    return server().database()


@pytest.fixture
def stores(url):
    """Two collectors' stores on one database."""
    stores = [PostgresStore(Database(url)) for _ in range(2)]
    yield stores
    for store in stores:
        store.close()


def at_once(*functions):
    """Run functions as near to the same moment as threads can."""
    barrier = threading.Barrier(len(functions))

    def run(function):
        barrier.wait()
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        return list(pool.map(run, functions))


def test_commits_are_durable_whatever_the_server_says(stores):
    """The server of the tests is told not to wait for the disk; a session of the store waits."""
    assert server().ask("SHOW synchronous_commit") == [("off",)]
    assert stores[0]._select("SHOW synchronous_commit") == [("on",)]


def test_a_server_that_never_waits_for_the_disk_is_refused():
    lazy = PostgresServer()
    try:
        lazy.stop()
        lazy.start(fsync="off")
        with pytest.raises(StoreError, match="fsync = off"):
            PostgresStore(Database(lazy.database()))
    finally:
        lazy.remove()


def insisting(function, *arguments):
    """Do something as often as it takes, as a client does: a lock is not waited for as long as machines may be slow."""
    for _ in range(50):
        with suppress(StoreError):
            return function(*arguments)
    return function(*arguments)


def committed(store, submissions):
    """Commit as collectors and clients do: what another one holds is sent again."""
    outcomes = insisting(store.commit, submissions, DAY)
    while held := [index for index, outcome in enumerate(outcomes) if outcome.verdict is Admitted.HELD]:
        for index, outcome in zip(held, store.commit([submissions[index] for index in held], DAY), strict=True):
            outcomes[index] = outcome
    return outcomes


def test_two_collectors_racing_on_the_same_keys_count_each_once(stores):
    survey, number = publish(stores[0])
    verdicts = []
    for turn in range(30):
        news = [submission(survey, number, b"%d-%d" % (turn, k)) for k in range(20)]
        both = at_once(lambda n=news: committed(stores[0], n), lambda n=news: committed(stores[1], n[::-1]))
        pairs = zip(both[0], both[1][::-1], strict=True)
        verdicts += [tuple(sorted((one.verdict.value, two.verdict.value))) for one, two in pairs]
        assert {outcome.accepted for outcomes in both for outcome in outcomes} == {1}
    assert set(verdicts) == {("accepted", "repeated")}
    assert whole(stores[0], survey, number).n == 600
    assert fsck(stores[1])[1] == []


def test_a_commit_that_is_overtaken_is_decided_anew(stores, monkeypatch):
    """The other one commits after we have looked and before we write, which a race seldom does."""
    survey, number = publish(stores[0])
    same, other = submission(survey, number, b"k"), submission(survey, number, b"k", body=b"else")
    known, turns = writes._known, []

    def late(connection, submissions):
        numbers = known(connection, submissions)
        if not turns:
            turns.append(1)
            assert stores[1].commit([same], DAY)[0].verdict is Admitted.ACCEPTED
        return numbers

    monkeypatch.setattr(writes, "_known", late)
    outcomes = stores[0].commit([same, other, submission(survey, number, b"new")], DAY)
    assert [outcome.verdict for outcome in outcomes] == [Admitted.REPEATED, Admitted.CONFLICT, Admitted.ACCEPTED]
    assert whole(stores[0], survey, number).n == 2


def test_two_collectors_racing_on_a_ticket_spend_it_once(stores):
    survey, number = publish(stores[0], submit="ticket")
    tickets = [tokens.digest(ticket) for ticket in tokens.create_tickets(stores[0], number, 60)]

    def commit(store, mark, order):
        news = [submission(survey, number, mark + ticket, ticket=ticket) for ticket in tickets]
        return dict(zip(tickets[::order], committed(store, news[::order]), strict=True))

    one, two = at_once(lambda: commit(stores[0], b"a", 1), lambda: commit(stores[1], b"b", -1))
    for ticket in tickets:
        assert {one[ticket].verdict, two[ticket].verdict} == {Admitted.ACCEPTED, Admitted.SPENT}
    assert whole(stores[0], survey, number).n == 60


@pytest.mark.parametrize("what", ["close", "delete"])
def test_nothing_is_counted_after_another_collector_has_ended_a_survey(stores, what):
    survey, number = publish(stores[0])
    ended, counted = threading.Event(), []

    def send():
        for k in range(400):
            after = ended.is_set()
            verdict = stores[0].commit([submission(survey, number, b"%d" % k)], DAY)[0].verdict
            assert not (after and verdict is Admitted.ACCEPTED)
            counted.append(verdict)
            if after:
                return

    def end():
        while len(counted) < 20:
            time.sleep(0.001)
        end_it = stores[1].close_surveys if what == "close" else stores[1].delete_surveys
        insisting(end_it, [number], *(["2026"] if what == "close" else []))
        ended.set()

    at_once(send, end)
    assert counted[-1] is (Admitted.CLOSED if what == "close" else Admitted.GONE)
    if what == "close":
        assert whole(stores[0], survey, number).n == counted.count(Admitted.ACCEPTED)
        assert fsck(stores[0])[1] == []
    else:
        assert [rows(stores[0], f"SELECT count(*) FROM {table}")[0][0] for table in ("keys", "segments")] == [0, 0]


@pytest.mark.parametrize("what", ["close", "delete"])
def test_ending_a_survey_waits_for_commits_that_have_looked_at_it(stores, monkeypatch, what):
    survey, number = publish(stores[0])
    known, ending = writes._known, []

    def late(connection, submissions):
        close, delete = (stores[1].close_surveys, [number], "2026"), (stores[1].delete_surveys, [number])
        ending.append(threading.Thread(target=insisting, args=close if what == "close" else delete))
        ending[0].start()
        ending[0].join(0.4)
        assert ending[0].is_alive()
        return known(connection, submissions)

    monkeypatch.setattr(writes, "_known", late)
    assert stores[0].commit([submission(survey, number, b"a")], DAY)[0].verdict is Admitted.ACCEPTED
    ending[0].join()
    monkeypatch.undo()
    assert stores[0].commit([submission(survey, number, b"b")], DAY)[0].verdict in (Admitted.CLOSED, Admitted.GONE)


def test_two_steps_of_folding_at_once_both_count(stores, monkeypatch):
    survey, number = publish(stores[0])
    for k in range(2):
        stores[0].commit([submission(survey, number, bytes([k]), [k])], DAY)
    expected = whole(stores[0], survey, number)
    steps = [fold_step(stores[0], number, DAY, survey, [part]) for part in stores[0].tail(number, DAY, 1 << 20)]
    replaced = writes.stored_sum
    monkeypatch.setattr(writes, "stored_sum", lambda *arguments: time.sleep(0.4) or replaced(*arguments))
    assert (
        at_once(*[partial(insisting, store.fold, step) for store, step in zip(stores, steps, strict=True)])
        == [True] * 2
    )
    assert whole(stores[1], survey, number) == expected
    assert fsck(stores[0])[1] == []


def test_two_collectors_fold_and_nothing_is_folded_twice(stores):
    survey, number = publish(stores[0])
    done = threading.Event()

    def fold(store):
        while not done.is_set():
            fold_day(store, number, DAY, survey)

    def send():
        for k in range(150):
            stores[k % 2].commit([submission(survey, number, b"%d" % k, [k % 5])], DAY)
        done.set()

    at_once(lambda: fold(stores[0]), lambda: fold(stores[1]), send)
    fold_day(stores[0], number, DAY, survey)
    assert whole(stores[1], survey, number).n == 150
    assert fsck(stores[0])[1] == []


def test_one_collector_folds_at_a_time(stores):
    with stores[0].folding() as first, stores[1].folding() as second:
        assert (first, second) == (True, False)
    with stores[1].folding() as again:
        assert again
    survey, number = publish(stores[0])
    stores[0].commit([submission(survey, number, b"a")], DAY)
    folder = Folder(stores[1], lambda _: survey, 0.01)
    while stores[0].pending():
        time.sleep(0.01)
    folder.stop()
    assert folder.folded == 1


def held(store, table):
    """Return how many versions of rows are in the pages of a table, deleted ones included."""
    rows(store, "CREATE EXTENSION IF NOT EXISTS pageinspect SCHEMA public")
    (pages,) = rows(store, f"SELECT (pg_relation_size('{table}') / 8192)::integer")[0]
    query = f"SELECT count(t_data) FROM generate_series(0, {pages - 1}) AS page, LATERAL public.heap_page_items("
    return rows(store, f"{query}public.get_raw_page('fldp.{table}', page))")[0][0]


def test_after_folding_no_number_of_a_transaction_joins_reports_to_keys(stores, monkeypatch):
    """The server notes on every row which transaction wrote it. Folding writes reports anew and clears the old away."""
    monkeypatch.setattr(postgres, "_TIDY", 0.0)
    survey, number = publish(stores[0])
    for k in range(30):
        stores[0].commit([submission(survey, number, b"%d" % k, [k % 5])], DAY)
    joined = "SELECT count(*) FROM keys JOIN segments ON keys.xmin = segments.xmin"
    assert rows(stores[0], joined) == [(30,)]
    with stores[0].folding():
        fold_day(stores[0], number, DAY, survey)
        assert held(stores[0], "segments") > 30
    assert rows(stores[0], joined) == [(0,)]
    assert held(stores[0], "segments") == 1
    stores[0].delete_surveys([number])
    assert [held(stores[0], table) for table in ("segments", "tallies", "keys", "tickets")] == [0] * 4


def test_tallies_that_were_replaced_take_no_room(stores, monkeypatch):
    """Folding writes the tally of a day anew. By itself the server clears up after fifty of them, and a minute."""
    monkeypatch.setattr(postgres, "_TIDY", 0.0)
    survey, number = publish(stores[0], labels=[f"label {k}" for k in range(2000)])
    sizes = []
    for k in range(30):
        stores[0].commit([submission(survey, number, b"%d" % k, range(2000))], DAY)
        with stores[0].folding():
            fold_day(stores[0], number, DAY, survey)
        sizes += rows(stores[0], "SELECT pg_total_relation_size('tallies')")[0]
    assert sizes[-1] <= 2 * sizes[4]


def test_two_that_start_at_once_make_the_tables_once(url):
    stores = at_once(*[lambda: PostgresStore(Database(url))] * 4)
    for store in stores:
        assert store.tokens() == []
        store.close()


def test_schemas_that_are_something_else_are_refused_and_left_alone(url):
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA fldp; CREATE TABLE fldp.theirs (x integer)")
    with pytest.raises(StoreError, match="schema fldp is not a collector's"):
        PostgresStore(Database(url))
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = 'fldp'::regnamespace")
        assert tables.fetchall() == [("theirs",)]


def test_a_newer_schema_is_refused_and_an_older_one_brought_up_to_date(url, monkeypatch):
    PostgresStore(Database(url)).close()
    steps = migrations.steps("postgres")
    broken = [*steps, "CREATE TABLE more (x integer)", "CREATE TABLE more (x integer)"]
    monkeypatch.setattr(migrations, "steps", lambda _: broken)
    with pytest.raises(StoreError, match="already exists"):
        PostgresStore(Database(url))
    monkeypatch.setattr(migrations, "steps", lambda _: broken[:-1])
    store = PostgresStore(Database(url))
    assert store._select("SELECT max(step) FROM migrations") == [(len(steps) + 1,)]
    store.close()
    monkeypatch.setattr(migrations, "steps", lambda _: steps)
    with pytest.raises(StoreError, match=f"has schema {len(steps) + 1}, this version of fldp knows up to {len(steps)}"):
        PostgresStore(Database(url))


def test_a_database_without_tables_is_not_given_any_by_a_look(url):
    assert "has no tables of a collector" in fldp("fsck", "--database", url, code=2).stderr
    server().ask("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(StoreError, match="encoding must be UTF8"):
        PostgresStore(Database(server().url("latin")))


def test_texts_that_postgresql_does_not_have_are_found_nowhere(stores):
    for text in ("a\0", "\udcff"):
        assert stores[0].find(text) is None
        assert stores[0].named(text) == []
        assert not stores[0].revoke_token(text, "2026")


def test_an_unknown_outcome_is_an_error_and_the_same_key_is_repeated(stores, monkeypatch):
    """The connection is cut after PostgreSQL has committed and before it could say so."""
    survey, number = publish(stores[0])
    new = submission(survey, number, b"k")
    write = writes._write

    def cut(connection, admission):
        write(connection, admission)
        connection.execute("COMMIT")  # done, and then
        (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert server().ask("SELECT pg_terminate_backend(%s, 60000)", pid) == [(True,)]  # it has ended

    monkeypatch.setattr(writes, "_write", cut)
    with pytest.raises(StoreError):
        stores[0].commit([new], DAY)
    monkeypatch.undo()
    assert stores[0].commit([new], DAY)[0].verdict is Admitted.REPEATED
    assert whole(stores[0], survey, number).n == 1


def test_connections_that_were_cut_are_replaced_without_an_error(stores, url):
    survey, number = publish(stores[0])
    for k in range(5):
        with ExitStack() as stack:  # several connections, so that several are cut
            for _ in range(6):
                stack.enter_context(stores[0].snapshot())
        server().cut(url)
        assert stores[0].commit([submission(survey, number, bytes([k]))], DAY)[0].verdict is Admitted.ACCEPTED
    assert whole(stores[1], survey, number).n == 5


def test_an_outage_is_answered_with_503_and_ends_without_a_restart(tmp_path):
    own = PostgresServer()
    collector = Server(tmp_path, database=own.database(), fold_seconds=0.1)
    try:
        survey = collector.publish(minimum=1)
        name, body = key(), batch(survey, 3)
        assert collector.send(survey, body, name).json() == {"accepted": 3}
        own.stop(signal.SIGINT)
        for _ in range(6):
            refused = collector.send(survey, body, name)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        with collector.client() as client:
            assert client.get("/readyz").status_code == 503
            assert client.get("/healthz").status_code == 200
            assert client.get("/v1/surveys/browser").status_code == 503
        own.start()
        assert answered(lambda: collector.send(survey, body, name)).json() == {"accepted": 3}
        with collector.client() as client:
            assert answered(lambda: client.get("/readyz")).json() == {"status": "ready"}
        assert collector.counts()[survey.version] == 3
        assert "nothing is wrong" in fldp("fsck", "--database", collector.settings["database"]).stdout
        assert collector.stop() == 0
    finally:
        collector.stop(signal.SIGKILL)
        own.remove()
    text = (tmp_path / "log").read_text()
    assert "the store failed" in text
    for secret in (PASSWORD, ENCODED):
        assert secret not in text
    assert collector.logged  # every line of it is JSON


def answered(ask):
    """Ask until there is an answer other than 503: a client does the same."""
    return until(lambda: answer if (answer := ask()).status_code != 503 else None)


def test_two_collectors_know_at_once_what_the_other_did(tmp_path, url):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    one = Server(folders[0], database=url)
    two = Server(folders[1], database=url, token=one.token)
    try:
        survey = one.publish(minimum=1)
        assert (one.send(survey).status_code, two.send(survey).status_code) == (200, 200)
        assert one.counts() == two.counts() == {survey.version: 2}
        with two.admin as client:
            client.post("/v1/surveys/browser/close")
        with one.client() as client:
            assert client.get("/v1/surveys/browser").json()["state"] == "closed"
        assert one.send(survey).json()["type"] == "urn:fldp:closed"
        with two.admin as client:
            assert client.post("/v1/surveys/browser/reopen").json()["state"] == "open"
        assert (one.send(survey).status_code, two.send(survey).status_code) == (
            200,
            200,
        )  # though one knew it as closed
        assert one.counts() == two.counts() == {survey.version: 4}
        with two.admin as client:
            client.delete("/v1/surveys/browser", params={"all": "true"})
        with one.admin as client:
            assert client.get(f"/v1/versions/{survey.version}/tally").status_code == 404
        assert one.send(survey).status_code == 404
        for k in range(2):  # published anew by the other one: the same version under another number
            two.publish(minimum=1)
            assert one.send(survey).json() == {"accepted": 1}
            assert one.counts() == two.counts() == {survey.version: 1}
            with (one, two)[k].admin as client:
                client.delete("/v1/surveys/browser", params={"all": "true"})
    finally:
        assert (one.stop(), two.stop()) == (0, 0)
