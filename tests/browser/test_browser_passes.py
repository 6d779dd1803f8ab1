"""Passes on the answer page, in a real browser: when they are asked for, by which way, and what is said of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from fldp.issuer.tickets import TicketFile
from fldp.passes.issuing import PrivateKey
from fldp.passes.tokens import key_text
from support.browser import PHONE, Visitor, accessible, new_survey
from support.collector_server import flawless, specification
from support.passes import pass_survey
from support.ports import free_port
from support.relays import relay

OLH = {"name": "olh", "epsilon": 1.0}


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    with flawless(tmp_path_factory.mktemp("collector"), ohttp="true") as server:
        yield server


def published(collector, name, **collect):
    """Publish a survey whose masks passes decide, with the collector as issuer; return it and two tickets."""
    with collector.admin as client:
        key = client.post("/v1/issuers").json()["issuer_key"]
        rules = {"submit": "pass", "issuer_key": key, "derive": True, "minimum": 1, **collect}
        survey = collector.publish(specification(name, OLH, **rules))
        return survey, client.post(f"/v1/versions/{survey.version}/tickets", json={"count": 2}).json()["tickets"]


def answer(page, label="edge"):
    page.get_by_label(label, exact=True).check()
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_role("heading", name="Thank you, this was sent").wait_for()


def posted(visitor):
    """Return what is posted from here on, by the ends of its paths."""
    sent = []
    visitor.context.on("request", lambda one: one.method == "POST" and sent.append(one.url.rpartition("/")[2]))
    return sent


def kept(page):
    return page.evaluate("Object.keys(sessionStorage).filter((name) => name.startsWith('fldp-ticket'))")


def test_a_pass_is_got_when_the_survey_is_opened_and_the_ticket_forgotten(browser, collector):
    survey, (ticket, _) = published(collector, "direct")
    with Visitor(browser, collector.url) as visitor:
        sent, link = posted(visitor), f"{collector.url}/s/direct"
        page = visitor.open(f"{link}#ticket={ticket}")
        page.get_by_label("edge", exact=True).wait_for()
        assert sent == ["passes"]
        assert kept(page) == []
        assert page.evaluate("location.href") == link
        page.close()
        page = visitor.open(link)  # without the ticket, and days later: the pass is here
        answer(page)
        assert sent == ["passes", "reports"]
        page.get_by_text("Details", exact=True).first.click()
        page.get_by_text("A pass is sent with them").wait_for()
        page.get_by_text("nobody can tell from it which report is yours").wait_for()
        accessible(page)
        page.get_by_role("button", name="Take my answer back").click()
        page.get_by_role("dialog").get_by_role("button", name="Take my answer back").click()
        page.get_by_role("heading", name="Your report was taken back").wait_for()
        assert sent == ["passes", "reports", "withdrawals"]
    assert collector.counts()[survey.version] == 0
    with Visitor(browser, collector.url) as visitor:  # somebody else with the same link
        page = visitor.open(f"{collector.url}/s/direct#ticket={ticket}")
        page.get_by_text("spent on something else").wait_for()
        assert not page.get_by_role("button", name="See my report").is_visible()
        visitor.forgive("status of 403")
    with Visitor(browser, collector.url) as visitor:
        page = visitor.open(f"{collector.url}/s/direct")
        page.get_by_text("This survey needs a personal link").wait_for()


def test_passes_go_through_the_relay_whose_page_asks_nobody_else(browser, collector):
    survey, (ticket, other) = published(collector, "relayed", oblivious=True)
    with relay(collector.url, "--pages") as pages, Visitor(browser, pages) as visitor:
        sent = posted(visitor)
        page = visitor.open(f"{pages}/s/#relayed&ticket={ticket}")
        answer(page)
        assert sent == [""] * 3  # the survey, the pass, the report: all to the relay
    with Visitor(browser, collector.url) as visitor:
        sent = posted(visitor)
        page = visitor.open(f"{collector.url}/s/relayed#ticket={other}")
        page.get_by_text("This survey is answered through a relay only").wait_for()
        assert sent == []
    assert collector.counts()[survey.version] == 1


def test_only_surveys_with_passes_fetch_their_file(browser, collector):
    collector.publish(specification("plain"))
    published(collector, "passes")
    with Visitor(browser, collector.url) as visitor:
        seen = []
        visitor.context.on("request", lambda one: seen.append(one.url))
        page = visitor.open(f"{collector.url}/s/plain")
        page.get_by_role("heading", level=1).wait_for()
        page.wait_for_load_state("networkidle")
        assert not any(url.endswith("/fldp_passes.js") for url in seen)
        with visitor.context.expect_event("request", lambda one: one.url.endswith("/fldp_passes.js")):
            visitor.open(f"{collector.url}/s/passes")


def test_an_issuer_apart_is_asked_and_named(browser, collector, tmp_path):
    port = free_port()
    issuer, tickets = f"http://127.0.0.1:{port}", TicketFile(tmp_path / "tickets.db", make=True)
    key = PrivateKey.generate()
    rules = {"submit": "pass", "issuer": issuer, "issuer_key": key_text(key.public), "minimum": 1}
    survey = collector.publish(specification("apart", OLH, **rules))
    (tmp_path / "key.pem").write_bytes(key.pem)
    command = [sys.executable, "-m", "fldp", "issuer", "serve", "--key", "key.pem", "--tickets", "tickets.db"]
    process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert process.stdout.readline() == f"fldp: issuing on {issuer}\n"
        with Visitor(browser, collector.url, issuer, viewport=PHONE, color_scheme="dark") as visitor:
            page = visitor.open(f"{collector.url}/s/{survey.name}#ticket={tickets.create(1)[0]}")
            page.get_by_label("edge", exact=True).wait_for()
            page.get_by_text("Details", exact=True).first.click()
            table = page.get_by_role("table", name="Who sees what")
            lines = [line.split("\t") for line in table.inner_text().splitlines() if line.strip()]
            assert ["The issuer of passes", "yes, and your ticket", "yes", "no"] in lines
            page.get_by_text("signed without seeing it").wait_for()
            accessible(page)
            answer(page)
    finally:
        process.kill()
        process.communicate()
    assert collector.counts()[survey.version] == 1


def test_from_the_form_to_an_answer_that_nobody_can_trace(browser, collector):
    """Passes and a relay are chosen in the form; the key is made by publishing; links lead to the relay's page."""
    with relay(collector.url, "--pages") as pages, Visitor(browser, collector.url, pages) as visitor:
        page = visitor.open(f"{collector.url}/#token={collector.token}")
        page.get_by_role("button", name="Sign out").wait_for()
        new_survey(page, collector.url, "formed", Who_may_answer="pass")
        page.get_by_label("Answers, one per line").fill("tea\ncoffee\nwater")
        page.get_by_label("Tickets decide the public random words").check()
        page.get_by_text("which nobody can choose and nobody can link to a ticket").wait_for()
        page.get_by_label("Through a relay only").check()
        page.get_by_text("The key of its passes is made when you publish this survey").wait_for()
        page.get_by_text("Devices limit what they give away to one collector").wait_for()  # beside the card
        accessible(page)
        page.get_by_role("button", name="Publish this survey").click()
        page.get_by_text(f"fldp relay --to {collector.url} --pages").wait_for()
        assert page.get_by_role("link", name="Open the page").count() == 0  # the collector's page would refuse
        page.get_by_label("Address of the relay").fill(f"{pages}/")
        page.get_by_label("How many people to invite").fill("2")
        with page.expect_download() as saved:
            page.get_by_role("button", name="Create and save links").click()
        accessible(page)
        heading, link, _ = Path(saved.value.path()).read_text().split()
        assert heading == "link"
        assert link.startswith(f"{pages}/s/#formed&ticket=fldp_ticket_")
        with collector.admin as client:
            fields = client.get("/v1/surveys/formed").json()
        assert {name: fields["survey"]["collect"][name] for name in ("submit", "oblivious", "derive")} == {
            "submit": "pass",
            "oblivious": True,
            "derive": True,
        }
        answer(visitor.open(link), "coffee")
        assert collector.counts()[fields["version"]] == 1


def test_the_form_takes_the_key_of_an_issuer_apart_once(browser, collector):
    apart = pass_survey("apart").canonical["collect"]
    with Visitor(browser, collector.url) as visitor:
        page = visitor.open(f"{collector.url}/#token={collector.token}")
        page.get_by_role("button", name="Sign out").wait_for()
        for name in ("first", "second"):
            new_survey(page, collector.url, name, Who_may_answer="pass")
            page.get_by_label("Answers, one per line").fill("tea\ncoffee\nwater")
            assert page.get_by_label("Key of that issuer").is_hidden()
            page.get_by_label("Who issues passes").fill(apart["issuer"])
            page.get_by_label("Key of that issuer").fill(apart["issuer_key"])
            version = page.get_by_text("Version that would be published").locator("code")
            version.wait_for()
            page.get_by_role("button", name="Publish this survey").click()
            if name == "first":
                page.get_by_text(f"Personal links come from whoever issues the passes, {apart['issuer']}.").wait_for()
        page.get_by_text("signs for another version").wait_for()
        visitor.forgive("status of 422")


def test_the_form_offers_passes_where_a_person_answers_one_version_once(browser, collector):
    offered = "(node) => !node.querySelector('option[value=pass]').disabled && node.value"
    with Visitor(browser, collector.url, viewport=PHONE) as visitor:
        page = visitor.open(f"{collector.url}/#token={collector.token}")
        page.get_by_role("button", name="Sign out").wait_for()
        new_survey(page, collector.url, "again", Who_may_answer="pass")
        submit = page.get_by_label("Who may answer")
        assert submit.evaluate(offered) == "pass"
        page.get_by_label("How often a person reports").select_option("monthly")
        assert submit.evaluate(offered) is False
        assert submit.input_value() == "ticket"
        page.get_by_label("How often a person reports").select_option("once")
        submit.select_option("pass")
        page.get_by_label("What people answer").select_option("search")
        assert submit.evaluate(offered) is False
        page.get_by_text("Searches and surveys that repeat take no passes.").wait_for()
        accessible(page)
