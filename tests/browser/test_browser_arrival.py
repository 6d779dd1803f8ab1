"""Pages of which a script does not arrive: they say so, and a second try shows them."""

import pytest

from support.browser import PHONE, Visitor, accessible
from support.collector_server import flawless


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with flawless(tmp_path_factory.mktemp("collector")) as server:
        yield server


@pytest.mark.parametrize(
    ("address", "lost", "arrived"),
    [
        ("", "dashboard/dashboard.js", "Sign in"),
        ("s/{name}", "answer/choices.js", "See my report"),
        ("", "vendor/d3.js", "Sign in"),
    ],
    ids=["the module", "one of the answer page", "one that others import"],
)
def test_a_script_that_does_not_arrive(browser, server, address, lost, arrived):
    survey = server.publish()
    with Visitor(browser, server.url, viewport=PHONE, color_scheme="dark") as visitor:
        visitor.context.route(f"**/static/{lost}", lambda route: route.abort("connectionreset"))
        page = visitor.open(f"{server.url}/{address.format(name=survey.name)}")
        page.get_by_role("alert").get_by_text("A part of this page did not arrive.").wait_for()
        visitor.forgive("ERR_CONNECTION_RESET")
        accessible(page)
        visitor.context.unroute(f"**/static/{lost}")
        page.get_by_role("button", name="Try again").click()
        page.get_by_role("button", name=arrived).wait_for()
