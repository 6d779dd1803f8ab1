"""Taking an answer back on the page, and links that name a version: in a real browser, against a real collector."""

import pytest

from support.browser import PHONE, Visitor, accessible
from support.collector_server import flawless


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with flawless(tmp_path_factory.mktemp("collector"), fold_seconds=0.2) as server:
        yield server


def answered(visitor, server, name):
    page = visitor.open(f"{server.url}/s/{name}")
    page.get_by_label("firefox", exact=True).check()
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("You have answered this survey").wait_for()
    return page


def take_back(page):
    page.get_by_role("button", name="Take my answer back").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("You cannot answer this survey again.").wait_for()
    dialog.get_by_role("button", name="Take my answer back").click()


def test_a_report_is_taken_back_by_a_button(browser, server):
    survey = server.publish(name="back", minimum=1)
    with Visitor(browser, server.url, viewport=PHONE) as visitor:
        page = answered(visitor, server, "back")
        assert server.counts()[survey.version] == 1
        page.get_by_role("button", name="Take my answer back").click()
        page.get_by_role("dialog").get_by_role("button", name="Leave it").click()
        assert server.counts()[survey.version] == 1
        take_back(page)
        page.get_by_text("Results that were published before may still contain it.").wait_for()
        assert page.locator("h1").inner_text() == "Your report was taken back"
        assert server.counts().get(survey.version, 0) == 0
        accessible(page)
        page.reload()
        page.get_by_text("Results that were published before may still contain it.").wait_for()
        assert not page.get_by_role("button").count()
    assert server.fsck().returncode == 0


def test_without_a_connection_it_is_taken_back_later(browser, server):
    survey = server.publish(name="later", minimum=1)
    with Visitor(browser, server.url) as visitor:
        page = answered(visitor, server, "later")
        visitor.context.set_offline(True)
        take_back(page)
        page.get_by_text("Your report is taken back as soon as it can be.").wait_for()
        assert server.counts()[survey.version] == 1
        visitor.context.set_offline(False)
        page.get_by_text("Results that were published before may still contain it.").wait_for()
        assert server.counts().get(survey.version, 0) == 0
        visitor.wrong = [line for line in visitor.wrong if "ERR_INTERNET_DISCONNECTED" not in line]


def test_a_link_may_name_a_version(browser, server):
    first = server.publish(name="versions", minimum=1)
    second = server.publish(name="versions", minimum=2)
    with Visitor(browser, server.url) as visitor:
        for survey in (first, second):
            page = visitor.open(f"{server.url}/s/versions#version={survey.version}")
            page.get_by_role("button", name="See my report").wait_for()
            page.get_by_text("Details").click()
            page.get_by_text(survey.version).wait_for()
        page.evaluate(f"location.hash = 'version={first.version}'")
        page.get_by_text(first.version).wait_for(state="attached")
        page = visitor.open(f"{server.url}/s/versions#version={'0' * 64}")
        page.get_by_text("404").or_(page.locator(".notice.bad")).first.wait_for()
        visitor.forgive("404")
