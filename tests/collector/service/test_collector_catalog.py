"""What anybody may ask about a survey costs the same, however many versions it has, and however long these are."""

import pytest

from support.answers import cpu_seconds
from support.collector_server import Server, specification
from support.collector_store import STORES, opened, publish, stored_in

LABELS, VERSIONS, REQUESTS = 15_000, 3, 60
ORIGIN = "https://a.example"


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    store = opened(request.param, tmp_path)
    yield store
    store.close()


def test_listings_are_entries_without_specifications(store):
    numbers = [publish(store, [f"{label}" for label in range(5 + version)], name="a")[1] for version in range(4)]
    publish(store, name="b")
    store.close_surveys(numbers[1:3], "2026-11-02T00:00:00Z")
    for name in ("a", "b", "none", "\x00"):
        entries, listed = store.named(name), store.listings(name)
        assert [(e.number, e.version, e.name, e.closed is not None) for e in entries] == [
            (each.number, each.version, each.name, each.closed) for each in listed
        ]
    assert [store.listing(listing.version) for listing in store.listings("a")] == store.listings("a")
    assert [listing.closed for listing in store.listings("a")] == [False, True, True, False]
    assert store.listing("0" * 64) is None
    assert [listing.name for listing in store.listings()] == ["b", "a", "a", "a", "a"]
    store.delete_surveys(numbers[:1])
    assert [listing.number for listing in store.listings("a")] == numbers[:0:-1]


def page(client, name, version):
    return client.get(f"/s/{name}")


def shown(client, name, version):
    return client.get(f"/v1/surveys/{name}")


def preflight(client, name, version):
    asks = {"Origin": ORIGIN, "Access-Control-Request-Method": "GET"}
    return client.options(f"/v1/surveys/{name}", headers=asks)


def preflight_of_a_report(client, name, version):
    asks = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    return client.options(f"/v1/versions/{version}/reports", headers=asks)


def cost(server, ask, name, version):
    with server.client() as client:
        assert ask(client, name, version).status_code < 300
        before = cpu_seconds(server)
        for _ in range(REQUESTS):
            ask(client, name, version)
        return cpu_seconds(server) - before


def test_what_anybody_asks_does_not_read_what_it_does_not_need(tmp_path_factory):
    for kind in STORES:
        server = Server(tmp_path_factory.mktemp("collector"), **stored_in(kind))
        small = server.publish(name="small", origins=[ORIGIN])
        for version in range(VERSIONS):
            labels = [f"{version} {'x' * 50} {number}" for number in range(LABELS)]
            large = server.publish({**specification(name="large", origins=[ORIGIN]), "labels": labels})
            if version % 2:
                with server.admin as client:
                    assert client.post(f"/v1/surveys/large/close?version={large.version}").status_code == 200
        newest = server.publish(name="large", origins=[ORIGIN])
        for ask in (page, shown, preflight, preflight_of_a_report):
            few = cost(server, ask, "small", small.version)
            many = cost(server, ask, "large", newest.version)
            assert many < 4 * few, (kind, ask.__name__, many / few)
        assert server.stop() == 0


def test_a_page_of_a_large_survey_does_not_read_it_again(tmp_path):
    """The survey that is shown is itself the large one: its page and its preflights are still small."""
    server = Server(tmp_path)
    small = server.publish(name="small", origins=[ORIGIN])
    labels = [f"{'x' * 50} {number}" for number in range(LABELS)]
    large = server.publish({**specification(name="large", origins=[ORIGIN]), "labels": labels})
    for ask in (page, preflight, preflight_of_a_report):
        few = cost(server, ask, "small", small.version)
        many = cost(server, ask, "large", large.version)
        assert many < 4 * few, (ask.__name__, many / few)
    assert server.stop() == 0
