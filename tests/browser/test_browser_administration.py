"""What an administrator does on the dashboard: make, share, close, reopen and delete a survey; tokens."""

import re
from pathlib import Path

import numpy as np
import pytest

from fldp import wire
from fldp.estimation.planner import plan
from fldp.survey import Survey
from support.browser import DESK, PHONE, Visitor, accessible, expect
from support.collector_server import flawless
from support.qr_reader import read

CODE = """async (text) => {
  const { qrCode } = await import("/static/shared/qr.js");
  return qrCode(text)?.map((line) => line.map(Number)) ?? null;
}"""
SLUGS = """async (texts) => {
  const { freeName, slugOf } = await import("/static/create/slug.js");
  return texts.map(slugOf).concat(freeName("tea", new Set(["tea", "tea-2"])));
}"""
HEADLINE = """async (reply) => {
  const { headlineText } = await import("/static/dashboard/headline.js");
  return headlineText(reply);
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with flawless(tmp_path_factory.mktemp("collector")) as server:
        yield server


@pytest.fixture
def visitor(browser, server):
    with Visitor(browser, server.url) as visitor:
        yield visitor


def look(visitor, server, survey=None, token=None):
    """Open the dashboard as an administrator, at a survey or at the list of all."""
    page = visitor.open(f"{server.url}/#token={token or server.token}")
    page.get_by_role("button", name="Sign out").wait_for()
    if survey is not None:
        page.goto(f"{server.url}/#/survey/{survey.name}/{survey.version}")
        page.get_by_role("heading", name="Share").wait_for()
    return page


def names(server):
    with server.admin as client:
        return [row["name"] for row in client.get("/v1/surveys").json()]


# ------------------------------------------------------------------------------------------------------------- header


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [PHONE, DESK], ids=["phone", "desk"])
def test_every_page_has_a_header_and_fits(browser, server, scheme, window):
    survey = server.publish(name="headed", minimum=1)
    reports = survey.oracle.privatize(np.repeat(np.arange(5), [600, 300, 100, 0, 0]), rng=5)
    assert server.send(survey, wire.encode(reports, survey.version)).status_code == 200
    with Visitor(browser, server.url, viewport=window, color_scheme=scheme) as visitor:
        page = look(visitor, server)
        for place in ("", "tokens", "new", "new/advanced", f"survey/headed/{survey.version}"):
            page.goto(f"{server.url}/#/{place}")
            links = page.get_by_role("navigation", name="Dashboard").get_by_role("link")
            expect(links).to_have_text(["Surveys", "New survey", "Tokens"])
            page.locator("main h1").wait_for()
            accessible(page)
        page.locator("svg.chart .whisker").first.wait_for()
        page.get_by_text("How this was computed").click()
        page.get_by_role("heading", name="What a report gives away").wait_for()
        accessible(page)
        for table in page.locator("table:visible").all():
            assert table.evaluate("(node) => node.scrollWidth <= node.closest('.scroll').clientWidth")


def test_a_heading_that_has_the_focus_has_no_frame(visitor, server):
    page = look(visitor, server)
    page.get_by_role("link", name="Tokens").press("Enter")
    page.get_by_role("heading", name="Tokens", exact=True).wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "none"


# ----------------------------------------------------------------------------------------------------------- headline


def row(label, share, reach, n=1000):
    return {
        "label": label,
        "frequency": share,
        "count": n * share,
        "low": n * (share - reach),
        "high": n * (share + reach),
    }


def test_the_first_sentence_is_no_surer_than_the_estimates(visitor, server):
    page = look(visitor, server)

    def said(*rows):
        return page.evaluate(HEADLINE, {"rows": rows, "n": 1000, "level": 0.95})

    clear = said(row("bus", 0.2, 0.021), row("cycle", 0.41, 0.0212), row("<b>", 0.0, 0.02))
    assert clear[0] == "41 % ± 2 answered “cycle”"
    assert "the most frequent of 3 answers, ahead of “bus” (20 % ± 2)" in clear[1]
    assert "± is half of a 95 % interval." in clear[1]
    close = said(row("bus", 0.4, 0.0021), row("cycle", 0.402, 0.0021))
    assert close[0] == "40.2 % ± 0.2 answered “cycle”"
    assert "“bus” (40.0 % ± 0.2) is too close to call" in close[1]
    assert said(row("bus", 0.3, 0.4), row("cycle", 0.1, 0.4))[0] == "No answer can be told from zero yet"


def test_a_note_of_the_collector_is_shown(visitor, server):
    survey = server.publish(name="noted", minimum=1)
    reports = survey.oracle.privatize([0] * 20, rng=5)
    assert server.send(survey, wire.encode(reports, survey.version)).status_code == 200
    note = "20 reports are too few for this: <b>about 3,000</b> would do."

    def noted(route):
        reply = route.fetch()
        route.fulfill(response=reply, json={**reply.json(), "note": note})

    visitor.context.route(re.compile(r"/estimates\?"), noted)
    page = look(visitor, server, survey)
    page.get_by_text(note).wait_for()
    accessible(page)


# -------------------------------------------------------------------------------------------------------------- share


def test_the_link_is_copied_drawn_and_put_on_a_page(visitor, server):
    survey = server.publish(name="shared", origins=["https://www.example.org"])
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = look(visitor, server, survey)
    link = f"{server.url}/s/shared"
    assert page.get_by_label("Link", exact=True).inner_text() == link
    page.get_by_role("button", name="Copy the link").click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == link
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the QR code").click()
    assert drawn_text(Path(saved.value.path()).read_text()) == link
    page.get_by_text("Show it on your own page").click()
    page.get_by_text("on a page of https://www.example.org").wait_for()
    page.get_by_role("button", name="Copy the code").click()
    page.get_by_text("Copied.").nth(1).wait_for()
    tag = page.evaluate("navigator.clipboard.readText()")
    assert f'src="{server.url}/static/embed.js" data-survey="shared"' in tag
    accessible(page)


def drawn_text(svg):
    """Read the QR code of a picture: four light modules around it."""
    size = int(re.search(r'viewBox="0 0 (\d+) ', svg)[1]) - 8
    dark = {(int(row) - 4, int(column) - 4) for column, row in re.findall(r"M(\d+) (\d+)h1v1h-1z", svg)}
    return read([[int((row, column) in dark) for column in range(size)] for row in range(size)])


SIZES = [1, 14, 15, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412]


def test_a_code_of_every_version_is_read(visitor, server):
    page = visitor.open(f"{server.url}/")
    for size in SIZES:
        start = ("https://collector.example/s/" + "ü-name/" * 60).encode()[:size].decode(errors="ignore")
        text = start + "x" * (size - len(start.encode()))
        assert read(page.evaluate(CODE, text)) == text, size


def test_what_is_too_long_for_a_code_has_none(visitor, server):
    page = visitor.open(f"{server.url}/")
    assert page.evaluate(CODE, "x" * 413) is None


def test_personal_links_are_made_and_saved(visitor, server):
    survey = server.publish(name="invited", submit="ticket", minimum=1)
    page = look(visitor, server, survey)
    page.get_by_text("Everybody needs a personal link").wait_for()
    page.get_by_label("How many people to invite").fill("3")
    accessible(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Create and save links").click()
    page.get_by_text("3 links were made and saved.").wait_for()
    head, *links = Path(saved.value.path()).read_text().splitlines()
    assert (saved.value.suggested_filename, head, len(set(links))) == ("invited-links.csv", "link", 3)
    assert not [link for link in links if link in page.content()]
    answering = visitor.open(links[1])
    answering.get_by_label("edge", exact=True).check()
    answering.get_by_role("button", name="See my report").click()
    answering.get_by_role("button", name="Send this report").click()
    answering.get_by_text("You have answered this survey").wait_for()
    assert server.counts()[survey.version] == 1


def test_who_may_only_read_makes_and_ends_nothing(visitor, server):
    survey = server.publish(name="readable", submit="ticket")
    page = look(visitor, server, survey, server.make_token("read")["token"])
    page.get_by_text("To make personal links, sign in with an admin token").wait_for()
    assert page.get_by_role("heading", name="Manage").count() == 0
    links = page.get_by_role("navigation", name="Dashboard").get_by_role("link")
    expect(links).to_have_text(["Surveys"])
    page.goto(f"{server.url}/#/tokens")
    page.get_by_role("heading", name="Surveys").wait_for()


# ---------------------------------------------------------------------------------------------- close, reopen, delete


def test_a_survey_is_closed_reopened_and_deleted(visitor, server):
    survey = server.publish(name="ending")
    page = look(visitor, server, survey)
    page.get_by_role("button", name="Close this survey").click()
    page.get_by_text("It can be reopened later.").wait_for()
    accessible(page)
    page.get_by_role("button", name="Leave it open").click()
    assert page.locator(".state").inner_text() == "open"
    page.get_by_role("button", name="Close this survey").click()
    page.get_by_role("button", name="Close it").click()
    page.get_by_text("The survey is closed.").wait_for()
    page.locator(".state", has_text="closed").wait_for()
    assert not page.get_by_role("button", name="Close this survey").is_visible()
    page.get_by_role("button", name="Reopen this survey").click()
    page.get_by_text("Those that hold whenever you look stay right.").wait_for()
    accessible(page)
    page.get_by_role("button", name="Leave it closed").click()
    assert page.locator(".state").inner_text() == "closed"
    page.get_by_role("button", name="Reopen this survey").click()
    page.get_by_role("button", name="Reopen it").click()
    page.get_by_text("The survey is open again.").wait_for()
    page.locator(".state", has_text="open").wait_for()
    assert server.send(survey).json() == {"accepted": 1}
    assert not page.get_by_role("button", name="Reopen this survey").is_visible()
    page.get_by_role("button", name="Delete this survey").click()
    page.get_by_label("Type ending to go on").fill("endin")
    assert page.get_by_role("button", name="Delete it").is_disabled()
    page.keyboard.press("Enter")
    accessible(page)
    page.get_by_role("button", name="Cancel").click()
    assert "ending" in names(server)
    page.get_by_role("button", name="Delete this survey").click()
    page.get_by_label("Type ending to go on").fill("ending")
    page.get_by_role("button", name="Delete it").click()
    page.get_by_role("heading", name="Surveys").wait_for()
    assert "ending" not in names(server)
    page.close()
    visitor.wrong = [line for line in visitor.wrong if "404" not in line]  # the page may have been asking meanwhile


# ------------------------------------------------------------------------------------------------------------- tokens


def test_tokens_are_made_shown_once_and_revoked(visitor, server):
    server.publish(name="tokened")
    page = look(visitor, server)
    page.get_by_role("link", name="Tokens").click()
    page.get_by_label("What it is for").select_option("read")
    page.get_by_label("Which surveys").select_option("tokened")
    page.get_by_label("Last day (UTC), if any").fill("2999-12-31")
    page.get_by_role("button", name="Create the token").click()
    secret = page.get_by_label("New token", exact=True).inner_text()
    accessible(page)
    line = page.locator("tbody tr", has_text="tokened")
    assert "2999-12-31" in line.inner_text()
    with server.client(secret) as client:
        assert [row["name"] for row in client.get("/v1/surveys").json()] == ["tokened"]
    line.get_by_role("button", name="Revoke read token").click()
    page.get_by_role("button", name="Keep it").click()
    line.get_by_role("button", name="Revoke read token").click()
    accessible(page)
    page.get_by_role("button", name="Revoke it").click()
    page.locator("tbody tr.unsure", has_text="tokened").get_by_text("revoked").wait_for()
    with server.client(secret) as client:
        assert client.get("/v1/surveys").status_code == 401
    page.reload()
    page.locator("tbody tr.unsure", has_text="tokened").wait_for()
    assert secret not in page.content()


# -------------------------------------------------------------------------------------------- a survey in three steps


def test_the_name_is_made_from_the_question(visitor, server):
    page = visitor.open(f"{server.url}/")
    long = "How often do you, on an average working day, take the bus to town?"
    texts = ["Coffee Habits 2026", "Wie heißt Ihre Straße, Ämter?", "¿?", "日本", long, "x" * 99]
    slugs = page.evaluate(SLUGS, texts)
    assert slugs[:4] == ["coffee-habits-2026", "wie-heisst-ihre-strasse-amter", "survey", "survey"]
    assert slugs[4] == "how-often-do-you-on-an-average-working-day-take"
    assert slugs[5:] == ["x" * 48, "tea-3"]


def test_a_new_survey_in_three_steps(visitor, server):
    page = look(visitor, server)
    page.get_by_role("link", name="New survey").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Write a question.").wait_for()
    page.get_by_label("Question").fill("How many cups?")
    page.get_by_text(f"{server.url}/s/how-many-cups").wait_for()
    page.get_by_label("Answers, one per line").fill("none\n1\n1\n3 or more")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("The answer “1” appears twice.").wait_for()
    accessible(page)
    page.get_by_label("Answers, one per line").fill("none\n1\n2\n3\n4 or more")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("rises from 20 % to at most 40.5 %").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "How strongly are answers protected?"
    accessible(page)
    for epsilon, level in ((0.5, "Strong"), (1.0, "Medium"), (2.0, "Weak")):
        best = plan(domain_size=5, users=10_000, epsilon=epsilon, eta=1.0).recommended
        reach = best.reach
        said = page.locator(".level", has_text=level).inner_text()
        assert f"With 10,000 answers every share is known to ± {100 * reach:.2g} points, whenever you look." in said
        assert f"at most {100 / (1 + 4 * np.exp(-epsilon)):.3g} %" in said
    page.get_by_label("How many people will answer, about").fill("400")
    page.get_by_text("With 400 answers every share").first.wait_for()
    page.get_by_label(re.compile("^Strong")).check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("a person can answer 8 surveys like this one here, ever.").wait_for()
    accessible(page)
    with page.expect_request("**/v1/surveys") as sent:
        page.get_by_role("button", name="Publish this survey").click()
    page.get_by_role("heading", name="Share").wait_for()
    survey = Survey.from_dict(sent.value.post_data_json)
    best = plan(domain_size=5, users=400, epsilon=0.5, eta=1.0).recommended
    assert (survey.name, survey.oracle) == ("how-many-cups", best.oracle)
    assert survey.version in page.url
    page.get_by_role("link", name="New survey").click()  # the same question again gets another address
    page.get_by_label("Question").fill("How many cups?")
    page.get_by_text(f"{server.url}/s/how-many-cups-2").wait_for()


def test_what_was_entered_goes_on_to_all_settings(visitor, server):
    page = look(visitor, server)
    page.get_by_role("link", name="New survey").click()
    page.get_by_label("Question").fill("Tea or coffee?")
    page.get_by_label("Answers, one per line").fill("tea\ncoffee\nwater")
    page.get_by_role("link", name="Advanced: all settings").click()
    page.get_by_role("heading", name="New survey, all settings").wait_for()
    assert page.get_by_label("Name, in the address").input_value() == "tea-or-coffee"
    assert page.get_by_label("Answers, one per line").input_value() == "tea\ncoffee\nwater"
    page.get_by_label("Question").fill("Tea, or not?")
    assert page.get_by_label("Name, in the address").input_value() == "tea-or-not"
    page.get_by_label("Name, in the address").fill("mine")
    page.get_by_label("Question").fill("Tea?")
    assert page.get_by_label("Name, in the address").input_value() == "mine"
    page.get_by_label("Epsilon of a report").fill("3")
    page.get_by_text("nobody can answer this").wait_for()
    page.get_by_label("Epsilon of a report").fill("1")
    page.get_by_text("a person can answer 4 surveys like this one here, ever.").wait_for()


def test_where_a_collector_takes_nothing_from_relays_the_form_says_what_it_takes(visitor, server):
    page = look(visitor, server)
    page.goto(f"{server.url}/#/new/advanced")
    assert page.get_by_label("Through a relay only").is_disabled()
    page.get_by_text("Whoever runs it starts it with --ohttp true").wait_for()
    accessible(page)
