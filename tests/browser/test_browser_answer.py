"""The page on which a person answers: in a real browser, against a real collector and its database."""

import http.server
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from fldp import wire
from fldp.oracles.kit import analysis
from support import postgres_server
from support.browser import DESK, PHONE, Visitor, accessible, expect, gap
from support.collector_server import Server, flawless, specification

ANSWERS = 2000
LABELS = ["chrome", "firefox", "safari", "edge", "other"]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def server(tmp_path_factory, request):
    more = {"database": postgres_server.server().database()} if request.param == "postgres" else {}
    with flawless(tmp_path_factory.mktemp("collector"), **more) as server:
        yield server


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("plain"))
    yield server
    assert server.stop() == 0


@pytest.fixture
def visitor(browser, plain):
    with Visitor(browser, plain.url) as visitor:
        yield visitor


def heading(page):
    return page.locator("h1").inner_text()


def choose(page, label):
    page.get_by_label(label, exact=True).check()
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Send this report").wait_for()


def answer(page, label):
    choose(page, label)
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("You have answered this survey").wait_for()


def report(page):
    return page.locator(".bytes").text_content()  # it is folded


def has_fetched(page, file):
    urls = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    return any(url.endswith(f"/{file}") for url in urls)


def count(server, survey):
    return server.counts()[survey.version]


# --------------------------------------------------------------------------------------------------- answering


def test_an_answer_from_end_to_end(browser, server):
    survey = server.publish(name="whole", minimum=1)
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/s/whole")
        page.get_by_role("button", name="See my report").wait_for()
        assert heading(page) == survey.question
        assert "Of 5 answers it leaves 3 possible on average, and at least 2." in page.content()
        choose(page, "firefox")
        assert heading(page) == "This would be sent"
        assert count(server, survey) == 0
        seen = bytes.fromhex(report(page))
        page.get_by_role("button", name="Send this report").click()
        page.get_by_text("You have answered this survey").wait_for()
    assert count(server, survey) == 1
    with server.admin as client:
        tally = client.get(f"/v1/versions/{survey.version}/tally").content
    sent = wire.decode(seen, survey.oracle, survey.version)
    assert wire.decode_tally(tally) == survey.oracle.tally(sent)


def test_the_sentence_comes_first_and_the_rest_is_folded(visitor, plain):
    survey = plain.publish(name="folded", oracle={"name": "grr", "epsilon": 1.0})
    page = visitor.open(f"{plain.url}/s/folded")
    page.get_by_text("We send a randomised version of it, and you see it first.").wait_for()
    assert "epsilon" not in page.locator("main").inner_text()
    choose(page, "firefox")
    text = page.locator("main").inner_text()
    assert "the guess is right in 20 % of all cases. With it, in at most 40.5 %." in text
    assert "epsilon" not in text
    page.get_by_text("Details").click()
    page.get_by_text("Only 3 bits of them were drawn from your answer").wait_for()
    assert gap(page.locator("details.more code.bytes"), page.locator("details.more .bytes + ul")) >= 8
    said = page.locator("details.more").inner_text()
    assert all(words in said for words in ("epsilon 1.", "eta 1.", "Promised: 1-LDP.", survey.version))
    accessible(page)


def test_a_survey_that_the_usual_limits_refuse_says_so_at_once(visitor, plain):
    plain.publish(name="dear", oracle={"name": "grr", "epsilon": 4.0})
    page = visitor.open(f"{plain.url}/s/dear")
    page.get_by_text("asks for more than your device gives away").wait_for()
    page.get_by_text("must have an epsilon of at most 2 together, got 4").wait_for()
    accessible(page)
    plain.publish(name="cheap", oracle={"name": "grr", "epsilon": 2.0})
    page = visitor.open(f"{plain.url}/s/cheap")
    page.get_by_role("button", name="See my report").wait_for()
    assert not page.get_by_text("asks for more than your device gives away").count()


def test_what_is_ruled_out_is_drawn_as_it_is(visitor, plain):
    labels = [*LABELS, *(f"browser {number}" for number in range(20))]
    fields = specification(name="drawn", oracle={"name": "fwr", "epsilon": 1.0, "eta": 0.5})
    survey = plain.publish({**fields, "labels": labels})
    page = visitor.open(f"{plain.url}/s/drawn")
    choose(page, "safari")
    sent = wire.decode(bytes.fromhex(report(page)), survey.oracle, survey.version)
    possible = analysis(survey.oracle).likelihoods(sent.data)[0] > 0
    out = {item.split(" (")[0] for item in page.locator(".domain li.out").all_text_contents()}
    assert out == {label for label, good in zip(labels, possible, strict=True) if not good}
    assert "safari" not in out


def test_many_answers_are_searched_and_drawn_as_a_map(visitor, plain):
    labels = [f"word {number}" for number in range(10_000)]
    survey = plain.publish({**specification(name="many"), "labels": labels})
    page = visitor.open(f"{plain.url}/s/many")
    page.get_by_label("Search the answers").fill("WORD 99")
    page.get_by_text("111 of 10,000 answers.").wait_for()
    page.get_by_label("word 9977", exact=True).check()
    page.get_by_label("Search the answers").fill("word 12")
    page.get_by_text("111 of 10,000 answers.").wait_for()
    assert page.get_by_label("word 9977", exact=True).is_checked()
    accessible(page)
    page.get_by_role("button", name="See my report").click()
    page.locator("svg.map").wait_for()
    assert "9977" in page.content()
    accessible(page)
    assert survey.oracle.domain_size == 10_000


def test_values_without_names_are_numbers(visitor, plain):
    fields = {name: value for name, value in specification(name="numbers").items() if name != "labels"}
    survey = plain.publish({**fields, "domain_size": 50})
    page = visitor.open(f"{plain.url}/s/numbers")
    page.get_by_label("A whole number from 0 to 49").fill("50")
    page.get_by_role("button", name="See my report").click()
    expect(page.locator("input:invalid")).to_have_count(1)
    page.get_by_label("A whole number from 0 to 49").fill("49")
    accessible(page)
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("You have answered this survey").wait_for()
    assert count(plain, survey) == 1


def test_with_the_keyboard_alone(visitor, plain):
    survey = plain.publish(name="keys")
    page = visitor.open(f"{plain.url}/s/keys")
    page.get_by_role("button", name="See my report").wait_for()
    for key in ("Tab", "Space", "ArrowDown", "Tab", "Enter"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Send this report").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert page.get_by_text("firefox", exact=True).count()
    for key in ("Tab", "Tab", "Enter"):
        page.keyboard.press(key)
    page.get_by_text("You have answered this survey").wait_for()
    assert count(plain, survey) == 1


UNEQUAL = {
    "sensitive": (
        {"sensitive": ["edge", "chrome"]},
        {"name": "urr", "epsilon": 1.0},
        "Any other answer is named for certain by 46.2 % of its reports.",
        "Protected: chrome, edge. If yours is one of these, no report says so for certain.",
    ),
    "budgets": (
        {"budgets": {"edge": 0.5}},
        {"name": "idue", "epsilon": 1.0},
        "1 of 5 by a budget of their own, from 0.5, and any two others by epsilon 1.",
        "Protected more than the others: edge (epsilon 0.5).",
    ),
    "distance": (
        {"distance": "line"},
        {"name": "exponential", "epsilon": 2.0},
        "Others can guess roughly where your answer lies.",
        "The nearer two of them are, the harder they are to tell apart.",
    ),
}


def test_surveys_that_do_not_protect_all_answers_alike(visitor, plain):
    """They are answered, say what is not protected, and fetch their oracles; a usual survey does not."""
    plain.publish(name="alike")
    page = visitor.open(f"{plain.url}/s/alike")
    page.get_by_role("button", name="See my report").wait_for()
    assert not has_fetched(page, "fldp_unequal.js")
    for name, (declared, oracle, *said) in UNEQUAL.items():
        survey = plain.publish({**specification(name=name, oracle=oracle), **declared})
        page = visitor.open(f"{plain.url}/s/{name}")
        page.get_by_role("button", name="See my report").wait_for()
        page.get_by_text("Details").click()
        assert all(words in page.locator("main").inner_text() for words in said)
        page.get_by_label("firefox", exact=True).check()
        accessible(page)
        if name == "sensitive":
            page.get_by_role("button", name="See my report").click()
            expect(page.locator("input:invalid")).to_have_count(1)  # nothing is drawn before it was allowed
            page.get_by_label("I accept that my report may name my answer").check()
        choose(page, "firefox")
        seen = wire.decode(bytes.fromhex(report(page)), survey.oracle, survey.version)
        text = page.locator("main").inner_text()
        is_named = name == "sensitive" and seen.data[0] == LABELS.index("firefox")
        assert ("For certain: it names your answer." in text) == is_named
        assert ("The report above names it." in text) == is_named
        accessible(page)
        page.get_by_role("button", name="Send this report").click()
        page.get_by_text("You have answered this survey").wait_for()
        assert count(plain, survey) == 1
        assert has_fetched(page, "fldp_unequal.js")


# ------------------------------------------------------------------------------------------------ once, and later


def test_a_second_visit_shows_the_same_and_sends_nothing(visitor, plain):
    survey = plain.publish(name="memo")
    page = visitor.open(f"{plain.url}/s/memo")
    choose(page, "edge")
    drawn = report(page)
    page.reload()
    page.get_by_text("This report was drawn before").wait_for()
    assert report(page) == drawn
    assert "edge" not in page.locator(".panel h2:has-text('Your answer')").all_text_contents()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("You have answered this survey").wait_for()
    page.reload()
    page.get_by_text("You have answered this survey").wait_for()
    assert report(page) == drawn
    assert [button.inner_text() for button in page.get_by_role("button").all()] == ["Take my answer back"]
    assert count(plain, survey) == 1


def test_do_not_send_sends_nothing(visitor, plain):
    survey = plain.publish(name="unsent")
    page = visitor.open(f"{plain.url}/s/unsent")
    choose(page, "edge")
    page.get_by_role("button", name="Do not send").click()
    assert heading(page) == "Nothing was sent"
    assert count(plain, survey) == 0


def test_two_tabs_answer_once(visitor, plain):
    survey = plain.publish(name="tabs")
    first, second = (visitor.open(f"{plain.url}/s/tabs") for _ in range(2))
    for page, label in ((first, "edge"), (second, "chrome")):
        page.get_by_label(label, exact=True).check()
    for page in (first, second):
        page.evaluate("document.querySelector('form').requestSubmit()")
    for page in (first, second):
        page.get_by_role("button", name="Send this report").wait_for()
    assert report(first) == report(second)
    for page in (first, second):
        page.evaluate("document.querySelector('button.primary').click()")
    for page in (first, second):
        page.get_by_text("You have answered this survey").wait_for()
    assert count(plain, survey) == 1


def test_offline_then_online(visitor, plain):
    survey = plain.publish(name="offline")
    page = visitor.open(f"{plain.url}/s/offline")
    page.get_by_label("edge", exact=True).check()
    visitor.context.set_offline(True)
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("The collector cannot be reached").wait_for()
    drawn = report(page)
    assert heading(page) == "Not sent yet"
    assert count(plain, survey) == 0
    visitor.context.set_offline(False)
    page.get_by_text("You have answered this survey").wait_for()
    assert report(page) == drawn
    assert count(plain, survey) == 1
    visitor.forgive("ERR_INTERNET_DISCONNECTED")


def test_a_queued_answer_is_sent_on_the_next_visit(visitor, plain):
    survey = plain.publish(name="later")
    page = visitor.open(f"{plain.url}/s/later")
    choose(page, "edge")
    visitor.context.set_offline(True)
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("The collector cannot be reached").wait_for()
    page.close()
    visitor.context.set_offline(False)
    page = visitor.open(f"{plain.url}/s/later")
    page.get_by_text("You have answered this survey").wait_for()
    assert count(plain, survey) == 1
    visitor.forgive("ERR_INTERNET_DISCONNECTED")


def test_a_survey_that_changes_under_the_participant(visitor, plain):
    plain.publish(name="changing")
    page = visitor.open(f"{plain.url}/s/changing")
    answer(page, "edge")
    fields = specification(name="changing")
    changed = plain.publish({**fields, "labels": [*LABELS, "none"]})
    page.reload()
    page.get_by_label("none", exact=True).check()
    page.get_by_role("button", name="See my report").click()
    page.get_by_text("This survey was not answered, to protect you.").wait_for()
    accessible(page)
    assert count(plain, changed) == 0


def test_a_survey_with_few_answers_asks_first(visitor, plain):
    survey = plain.publish(
        {**specification(name="few", oracle={"name": "grr", "epsilon": 1.0}), "labels": ["yes", "no"]}
    )
    page = visitor.open(f"{plain.url}/s/few")
    page.get_by_label("yes", exact=True).check()
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("dialog").wait_for()
    accessible(page)
    page.get_by_role("button", name="Do not answer").click()
    page.get_by_text("This survey was not answered, to protect you.").wait_for()
    assert count(plain, survey) == 0
    page.reload()
    page.get_by_label("yes", exact=True).check()
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("You have answered this survey").wait_for()
    assert count(plain, survey) == 1


def test_a_survey_that_closes_meanwhile(visitor, plain):
    survey = plain.publish(name="closing")
    page = visitor.open(f"{plain.url}/s/closing")
    choose(page, "edge")
    with plain.admin as client:
        client.post("/v1/surveys/closing/close")
    page.get_by_role("button", name="Send this report").click()
    page.get_by_role("alert").wait_for()
    assert count(plain, survey) == 0
    page.reload()
    page.get_by_text("This survey is closed. It takes no more answers.").wait_for()
    visitor.forgive("status of 403")


# -------------------------------------------------------------------------------------------- what is not to be


def test_no_such_survey(visitor, plain):
    page = visitor.open(f"{plain.url}/s/nothing")
    page.get_by_text("There is no such survey here.").wait_for()
    accessible(page)
    visitor.forgive("status of 404")


@pytest.mark.parametrize(
    ("collect", "said"),
    [
        ({"closes": "2026-01-01T00:00:00Z"}, "This survey is closed."),
        ({"opens": "2999-01-15T12:00:00Z"}, "It opens on January 15, 2999"),
        ({"submit": "token"}, "answered by programs, not on this page"),
        ({"submit": "ticket"}, "needs a personal link"),
    ],
    ids=["closed", "scheduled", "token", "ticket"],
)
def test_a_survey_that_cannot_be_answered_here(visitor, plain, collect, said):
    plain.publish(name="refusing", **collect)
    page = visitor.open(f"{plain.url}/s/refusing")
    page.get_by_text(said).wait_for()
    accessible(page)
    with plain.admin as client:
        client.delete("/v1/surveys/refusing", params={"all": "true"})


@pytest.mark.parametrize("derive", [False, True])
def test_a_personal_link(visitor, plain, derive):
    """The person reads that the ticket is sent, and that it makes the report theirs where it does."""
    survey = plain.publish(
        name=f"invited-{derive}".lower(), submit="ticket", derive=derive, oracle={"name": "olh", "epsilon": 1.0}
    )
    with plain.admin as client:
        path = f"/v1/versions/{survey.version}/tickets"
        ticket = client.post(path, json={"count": 1}).json()["tickets"][0]
    page = visitor.open(f"{plain.url}/s/{survey.name}#ticket={ticket}")
    answer(page, "edge")
    assert count(plain, survey) == 1
    said = page.locator("section.panel", has=page.get_by_role("heading", name="Your report")).text_content()
    assert "The ticket in your link is sent with them" in said
    assert ("can tell which report is yours" in said) == derive


def ticket_link(server, survey):
    with server.admin as client:
        path = f"/v1/versions/{survey.version}/tickets"
        ticket = client.post(path, json={"count": 1}).json()["tickets"][0]
    return f"{server.url}/s/{survey.name}#ticket={ticket}"


def test_a_ticket_leaves_the_address_and_stays_with_the_tab(visitor, plain):
    survey = plain.publish(name="credential", submit="ticket")
    link = ticket_link(plain, survey)
    page = visitor.open(f"{plain.url}/s/credential")
    page.get_by_text("needs a personal link").wait_for()
    page.goto(link)  # only what stands after # differs, so the page is not loaded again
    page.get_by_role("button", name="See my report").wait_for()
    assert page.url == f"{plain.url}/s/credential"
    page.reload()
    choose(page, "edge")
    page.goto("about:blank")
    page.go_back()
    page.get_by_text("This report was drawn before").wait_for()
    assert page.url == f"{plain.url}/s/credential"
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("You have answered this survey").wait_for()
    assert count(plain, survey) == 1
    assert page.evaluate("sessionStorage.length") == 0  # it is spent
    assert link not in page.content()


def test_a_ticket_is_not_in_the_history_of_the_tab(visitor, plain):
    survey = plain.publish(name="history", submit="ticket")
    page = visitor.open(ticket_link(plain, survey))
    page.get_by_role("button", name="See my report").wait_for()
    page.goto("about:blank")
    session = visitor.context.new_cdp_session(page)
    entries = session.send("Page.getNavigationHistory")["entries"]
    assert [entry["url"] for entry in entries if "ticket" in entry["url"]] == []
    assert f"{plain.url}/s/history" in [entry["url"] for entry in entries]
    other = visitor.open(f"{plain.url}/s/history")  # another tab knows nothing of it
    other.get_by_text("needs a personal link").wait_for()


def test_the_browser_is_asked_to_keep_the_ledger(visitor, plain):
    """Once the person asks for a report: not before, since a browser may ask the person about it."""
    visitor.context.add_init_script(
        "window.asked = 0; if (navigator.storage) navigator.storage.persist = async () => (window.asked++, false)"
    )
    plain.publish(name="lasting")
    page = visitor.open(f"{plain.url}/s/lasting")
    page.get_by_label("edge", exact=True).check()
    assert page.evaluate("asked") == 0
    choose(page, "edge")
    assert page.evaluate("asked") == 1


TRICKS = [
    "<script>document.title='hacked'</script>",
    "<img src=x onerror=alert(1)>",
    '"onmouseover="x',
    "{{7*7}}",
    "&lt;",
]


def test_script_in_texts_is_text(visitor, plain):
    fields = {**specification(name="tricks"), "labels": TRICKS, "question": "<b>Which</b> <script>alert(1)</script>?"}
    plain.publish({**fields, "description": "<iframe src=x></iframe>"})
    page = visitor.open(f"{plain.url}/s/tricks")
    page.get_by_role("button", name="See my report").wait_for()
    assert heading(page) == fields["question"]
    expect(page.locator(".choice span")).to_have_text(TRICKS)
    answer(page, TRICKS[0])
    assert sorted(text.split(" (ruled")[0] for text in page.locator(".domain li").all_text_contents()) == sorted(TRICKS)
    assert page.locator("main script, main img, main iframe, main b").count() == 0


def test_a_page_lets_nothing_in(plain):
    plain.publish(name="strict", origins=["https://a.example", "http://localhost:3000"])
    with plain.client() as client:
        policy = client.get("/s/strict").headers["content-security-policy"]
        other = client.get("/s/none").headers["content-security-policy"]
        assert client.get("/static/answer/answer.html").status_code == 404
        assert client.get("/static/..%2fapp.py").status_code == 404
        tag = client.get("/static/shared/page.css").headers["etag"]
        assert client.get("/static/shared/page.css", headers={"If-None-Match": tag}).status_code == 304
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert {rules[name] for name in ("script-src", "style-src", "img-src", "connect-src")} == {"'self'"}
    assert "unsafe" not in policy
    assert rules["frame-ancestors"] == "https://a.example http://localhost:3000"
    assert other.endswith("frame-ancestors 'none'")


# ------------------------------------------------------------------------------------------------------- the look


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [PHONE, DESK], ids=["phone", "desk"])
def test_every_step_is_accessible(browser, plain, scheme, window):
    plain.publish(name="look")
    with Visitor(browser, plain.url, viewport=window, color_scheme=scheme) as visitor:
        page = visitor.open(f"{plain.url}/s/look")
        page.get_by_role("button", name="See my report").wait_for()
        accessible(page)
        choose(page, "edge")
        accessible(page)
        page.get_by_role("button", name="Send this report").click()
        page.get_by_text("You have answered this survey").wait_for()
        accessible(page)


# ---------------------------------------------------------------------------------------------------- embedding


@contextmanager
def website(page):
    """Somebody's own page, on an origin of its own."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if self.path == "/" else "image/svg+xml")
            self.end_headers()
            self.wfile.write(page.encode() if self.path == "/" else b"<svg xmlns='http://www.w3.org/2000/svg'/>")

        def log_message(self, *ignored):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


@pytest.mark.parametrize("how", ["iframe", "script"])
def test_a_survey_on_the_page_of_somebody_else(browser, plain, how):
    name = f"embedded-{how}"
    tags = {
        "iframe": f'<iframe title="Survey" src="{plain.url}/s/{name}" width="600" height="640"></iframe>',
        "script": f'<script src="{plain.url}/static/embed.js" data-survey="{name}" data-title="Ours"></script>',
    }
    with website(f"<!doctype html><title>Mine</title><h1>Mine</h1>{tags[how]}") as url:
        survey = plain.publish(name=name, origins=[url])
        with Visitor(browser, plain.url, url) as visitor:
            page = visitor.open(url)
            frame = page.frame_locator("iframe")
            frame.get_by_text("edge", exact=True).click()  # the radio button itself is out of sight
            frame.get_by_role("button", name="See my report").click()
            frame.get_by_role("button", name="Send this report").click()
            frame.get_by_text("You have answered this survey").wait_for()
    assert count(plain, survey) == 1


@pytest.mark.parametrize(
    ("attribute", "window", "height"),
    [("", 900, 640), ("480", 900, 480), ("20rem", 900, 320), ("nonsense", 900, 640), ("", 600, 510)],
    ids=["default", "pixels", "length", "invalid", "low window"],
)
def test_the_script_gives_the_frame_one_height(browser, plain, attribute, window, height):
    tag = f'<script src="{plain.url}/static/embed.js" data-survey="high" data-height="{attribute}"></script>'
    with website(f"<!doctype html><title>Mine</title><h1>Mine</h1>{tag}") as url:
        plain.publish(name="high", origins=[url])
        with Visitor(browser, plain.url, url, viewport={"width": 800, "height": window}) as visitor:
            page = visitor.open(url)
            page.frame_locator("iframe").get_by_role("button", name="See my report").wait_for()
            assert page.locator("iframe").bounding_box()["height"] == height


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [PHONE, DESK], ids=["phone", "desk"])
def test_every_step_in_a_frame_is_accessible(browser, plain, scheme, window):
    name = f"framed-{scheme}-{window['width']}"
    tag = f'<script src="{plain.url}/static/embed.js" data-survey="{name}"></script>'
    top = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Mine</title>'
    with website(f"{top}<main><h1>Mine</h1>{tag}</main>") as url:
        plain.publish(name=name, origins=[url])
        with Visitor(browser, plain.url, url, viewport=window, color_scheme=scheme) as visitor:
            page = visitor.open(url)
            frame = page.frame_locator("iframe")
            frame.get_by_text("edge", exact=True).click()
            accessible(page.frames[1])
            frame.get_by_role("button", name="See my report").click()
            frame.get_by_role("button", name="Send this report").wait_for()
            accessible(page.frames[1])
            frame.get_by_role("button", name="Send this report").click()
            frame.get_by_text("You have answered this survey").wait_for()
            accessible(page.frames[1])


def test_a_page_that_is_not_named_cannot_show_it(browser, plain):
    plain.publish(name="alone", origins=["https://elsewhere.example"])
    frame = f'<iframe title="Survey" src="{plain.url}/s/alone"></iframe>'
    with website(f"<!doctype html><title>Not named</title>{frame}") as url, Visitor(browser, plain.url, url) as visitor:
        page = visitor.context.new_page()
        with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            page.goto(url)
        assert not page.frames[1].url.startswith(plain.url) or not page.frames[1].locator("form").count()
        visitor.forgive("frame-ancestors")


# ------------------------------------------------------------------------------------------ many people, and the truth

MANY = """async ([url, name, labels]) => {
  const { every, load, memoryStore, participant } = await import(`${url}/static/fldp.js`);
  const survey = await load(url, name, every);
  const waiting = labels.map((label, person) => [label, person]);
  const work = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { state } = await participant(survey, { store: memoryStore() }).answer(next[0]);
      if (state !== "sent") throw new Error(state);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
}"""


def test_the_answers_of_many_people_give_the_truth(browser, plain):
    """One test of all values at once; its false-alarm rate is 1e-6, by Bonferroni over the five values."""
    survey, server = plain.publish(name="truth", minimum=1), plain
    truth = np.array([0.5, 0.25, 0.15, 0.1, 0.0])
    values = np.repeat(np.arange(5), (ANSWERS * truth).astype(int))
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/s/truth")
        page.get_by_role("button", name="See my report").wait_for()
        page.evaluate(MANY, [server.url, "truth", [LABELS[value] for value in values]])
    with server.admin as client:
        reply = client.get(f"/v1/versions/{survey.version}/estimates").json()
    assert reply["n"] == ANSWERS
    rows = {row["label"]: row for row in reply["rows"]}
    away = [
        (rows[label]["count"] - ANSWERS * share) / rows[label]["stderr"]
        for label, share in zip(LABELS, truth, strict=True)
    ]
    assert max(map(abs, away)) < 5.33, away  # P(|Z| > 5.33) is below 1e-7, and there are five
