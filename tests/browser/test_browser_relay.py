"""The answer page from a relay, in a real browser: what each party can note down, and what the page says of it."""

import pytest

from support.browser import DESK, PHONE, Visitor, accessible
from support.collector_server import flawless, specification
from support.relays import recording, relay

LABELS = ["chrome", "firefox", "safari", "edge", "other"]


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    with flawless(tmp_path_factory.mktemp("collector"), ohttp="true", log_senders="true") as server:
        yield server


@pytest.fixture(scope="module")
def pages(collector):
    with relay(collector.url, "--pages") as address:
        yield address


def answer(page, label):
    page.get_by_label(label, exact=True).check()
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_role("heading", name="Thank you, this was sent").wait_for()


def visited(browser, pages, name, label):
    """Have somebody answer in front of somebody who notes down all requests; return those for files, and the others."""
    with recording(pages, {}) as (address, seen), Visitor(browser, address) as visitor:
        answer(visitor.open(f"{address}/s#{name}"), label)
        records = list(seen)
    files = [one for one in records if one.path.startswith(("/s", "/static/"))]
    return sorted(files), [one for one in records if one not in files]


def test_the_relay_cannot_tell_two_answers_or_two_kinds_of_surveys_apart(browser, collector, pages):
    survey = collector.publish(specification(minimum=1, oblivious=True, name="records"))
    distant = {**specification(name="kinds", oracle={"name": "exponential", "epsilon": 1.0}), "distance": "line"}
    other = collector.publish(distant)
    first, second, third = (
        visited(browser, pages, name, label)
        for name, label in (("records", "chrome"), ("records", "other"), ("kinds", "chrome"))
    )
    assert first == second == third  # another oracle needs another file, which is fetched by all
    files, asked = first
    assert {"/static/fldp_unequal.js", "/static/fldp_passes.js"} <= {one.path for one in files}
    assert [(one.method, one.path) for one in asked] == [("GET", "/keys"), ("POST", "/"), ("POST", "/")]
    assert {(one.length, one.answered) for one in asked if one.method == "POST"} == {(1079, 1056)}
    assert not any("records" in one.path or "kinds" in one.path for one in files)
    assert collector.counts()[survey.version] == 2
    assert collector.counts()[other.version] == 1


def test_the_collector_never_sees_the_browser(browser, collector, pages):
    survey = collector.publish(specification(minimum=1, oblivious=True, name="unseen"))
    before = len(collector.logged)
    with Visitor(browser, pages) as visitor:  # a request to elsewhere would fail it
        page = visitor.open(f"{pages}/s/#unseen")
        answer(page, "edge")
        page.reload()
        page.get_by_role("heading", name="Thank you, this was sent").wait_for()
        assert page.evaluate("location.href") == f"{pages}/s/#unseen"
    assert collector.counts()[survey.version] == 1
    agents = {line["agent"] for line in collector.logged[before:] if line.get("peer") not in (None, "unknown")}
    assert {agent for agent in agents if "Mozilla" in agent} == set()
    assert "fldp-relay" in agents


def test_a_ticket_is_sent_through_the_relay_and_leaves_the_address(browser, collector, pages):
    survey = collector.publish(specification(minimum=1, submit="ticket", oblivious=True, name="tickets"))
    with collector.admin as client:
        reply = client.post(f"/v1/versions/{survey.version}/tickets", json={"count": 1})
    (ticket,) = reply.json()["tickets"]
    with Visitor(browser, pages) as visitor:
        page = visitor.open(f"{pages}/s/#tickets&ticket={ticket}")
        page.get_by_label("edge", exact=True).wait_for()
        assert page.evaluate("location.href") == f"{pages}/s/#tickets"
        answer(page, "edge")
    assert collector.counts()[survey.version] == 1


def test_keys_are_remembered_by_the_browser(browser, collector, pages):
    collector.publish(specification(name="remembered"))
    with recording(pages, {}) as (address, seen), Visitor(browser, address) as visitor:
        for _ in range(2):
            visitor.open(f"{address}/s/#remembered").get_by_label("edge", exact=True).wait_for()
        assert [one.path for one in seen].count("/keys") == 1


def rows(page):
    page.get_by_text("Details", exact=True).first.click()
    table = page.get_by_role("table", name="Who sees what")
    return [line.split("\t") for line in table.inner_text().splitlines() if line.strip()]


def test_the_page_says_who_sees_what_on_the_way_that_this_report_takes(browser, collector, pages):
    collector.publish(specification(name="table"))
    german = {**specification(name="tabelle"), "language": "de"}
    collector.publish(german)
    for size in (DESK, PHONE):
        with Visitor(browser, pages, collector.url, viewport=size) as visitor:
            relayed = visitor.open(f"{pages}/s/#table")
            relayed.get_by_text("the collector that reads it does not see who sends it").wait_for()
            parties = {row[0]: row[1:] for row in rows(relayed)}
            assert parties["The relay"] == ["yes", "no", "no"]
            assert parties["The collector"] == [
                "the relay\N{RIGHT SINGLE QUOTATION MARK}s address, when it arrives",
                "yes",
                "yes",
            ]
            assert parties["Relay and collector together"] == ["yes", "yes", "yes"]
            relayed.get_by_text("A relay that handed out another one could read reports").wait_for()
            accessible(relayed)
            direct = visitor.open(f"{collector.url}/s/table")
            parties = {row[0]: row[1:] for row in rows(direct)}
            assert parties["The collector"] == ["yes; it promises not to keep them", "yes", "yes"]
            assert "The relay" not in parties
            accessible(direct)
            other = visitor.open(f"{pages}/s/#tabelle")
            other.get_by_text("Der Server, der ihn liest, sieht nicht, von wem er kommt.").wait_for()


def test_the_page_of_a_collector_refuses_a_survey_for_relays(browser, collector):
    survey = collector.publish(specification(oblivious=True, name="refused"))
    with Visitor(browser, collector.url) as visitor:
        page = visitor.open(f"{collector.url}/s/refused")
        page.get_by_text("This survey is answered through a relay only").wait_for()
        assert not page.get_by_role("button", name="See my report").is_visible()
    assert collector.counts()[survey.version] == 0


def test_without_a_connection_a_report_waits_for_the_relay(browser, collector, pages):
    survey = collector.publish(specification(minimum=1, oblivious=True, name="waiting"))
    with Visitor(browser, pages) as visitor:
        page = visitor.open(f"{pages}/s/#waiting")
        page.get_by_label("edge", exact=True).check()
        page.get_by_role("button", name="See my report").click()
        visitor.context.set_offline(True)
        page.get_by_role("button", name="Send this report").click()
        page.get_by_role("heading", name="Not sent yet").wait_for()
        assert collector.counts()[survey.version] == 0
        visitor.context.set_offline(False)
        page.get_by_role("heading", name="Thank you, this was sent").wait_for()
        visitor.forgive("ERR_INTERNET_DISCONNECTED")
    assert collector.counts()[survey.version] == 1
