"""A survey that follows an answer which changes: asked on every day, on the page as it is served."""

import pytest

from fldp import wire
from support.browser import PHONE, Visitor, accessible
from support.collector_server import Server, specification

FOLLOWING = {"name": "lwr", "epsilon": 0.5, "epsilon_permanent": 1.0}
AGAIN = "You can answer again on another day, also differently."


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("collector"))
    yield server
    assert server.stop() == 0


def answered(page, label):
    page.get_by_label(label, exact=True).check()
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("You have answered this survey for now").wait_for()
    return page.locator(".bytes").text_content()


def test_a_survey_that_follows_asks_again_on_another_day(browser, server):
    fields = specification(name="theme", oracle=FOLLOWING, repeat="daily")
    survey = server.publish(fields)
    with Visitor(browser, server.url) as visitor:
        page = visitor.open("about:blank")
        page.clock.set_fixed_time("2030-01-01T10:00:00Z")
        page.goto(f"{server.url}/s/theme")
        page.get_by_text(AGAIN).wait_for()
        said = page.locator("main").text_content()
        assert "0.5-LDP for one report, 1-LDP for all reports of an answer that stays, epsilon 2 for answers" in said
        assert "A change can be seen with a probability of 0.30" in said
        first = answered(page, "firefox")
        page.reload()
        page.get_by_text("You have answered this survey for now").wait_for()
        assert AGAIN in page.locator("main").text_content()
        page.clock.set_fixed_time("2030-01-02T10:00:00Z")
        page.set_viewport_size(PHONE)
        page.reload()
        page.get_by_text(AGAIN).wait_for()
        accessible(page)
        second = answered(page, "chrome")
    assert server.counts()[survey.version] == 2
    one, two = (wire.decode(bytes.fromhex(text), survey.oracle, survey.version).data[0] for text in (first, second))
    assert one["mask0"] == two["mask0"]
