"""Several questions in a real browser: all on one page, what chance chose, the tables on the dashboard, the form."""

import json
import subprocess

import numpy as np
import pytest

from fldp import Survey, wire
from fldp.oracles.base.analysis import analysis
from support import ten_questions
from support.browser import DESK, PHONE, Visitor, accessible, expect
from support.collector_server import flawless, key
from support.javascript import HERE, node

LOOKS = [(DESK, "light"), (PHONE, "dark")]
DESKTOP = {
    "name": "desktop",
    "title": "Your computer",
    "questions": [
        {"name": "os", "question": "Which system do you use?", "labels": ["linux", "mac", "windows", "other"]},
        {"name": "plan", "question": "Do you pay?", "labels": ["no", "yes"], "optional": True},
        {
            "name": "load",
            "question": "How many seconds did the last page take?",
            "number": {"low": 0, "high": 30, "bins": 6, "unit": "s"},
        },
    ],
    "tables": {"cross": "all"},
    "oracle": {"epsilon": 2.0},
    "collect": {"minimum": 10},
}
IN_CHROMIUM, IN_ALL = 2, 80


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with flawless(tmp_path_factory.mktemp("collector")) as server:
        yield server


def good(page):
    """Fail on whatever axe-core finds on a desk in light colours, and on a phone in dark ones."""
    for size, scheme in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        accessible(page)
    page.set_viewport_size(DESK)


def field(page, question):
    """Return the field of a question."""
    return page.locator("fieldset", has=page.locator("legend", has_text=question))


def fill(page, answers, survey):
    """Answer every question on the page."""
    for asked in survey.questions:
        own, answer = field(page, asked.text), answers[asked.name]
        if asked.number is not None:
            own.get_by_role("spinbutton").fill(str(answer))
        elif answer is not None:
            own.get_by_label(answer, exact=True).check()


def sent(page):
    page.get_by_role("button", name="See my report").click()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_role("heading", name="Thank you, this was sent").wait_for()


def tally_of(server, survey):
    with server.admin as client:
        return wire.decode_tally(client.get(f"/v1/versions/{survey.version}/tally").content)


# ------------------------------------------------------------------------------------------------------- answering


def test_all_questions_are_on_one_page_and_the_report_says_what_it_is_about(browser, server):
    survey = server.publish(DESKTOP)
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/s/desktop")
        page.get_by_role("heading", name="Your computer").wait_for()
        assert page.locator("legend").all_text_contents() == [
            "Which system do you use?",
            "Do you pay? (optional)",
            "How many seconds did the last page take?",
        ]
        told = page.locator("details.more p").all_text_contents()
        assert told[: len(analysis(survey.oracle).in_short)] == list(analysis(survey.oracle).in_short)  # as `fldp card`
        page.get_by_role("button", name="See my report").click()
        assert field(page, "Which system").locator(".lacking").text_content() == "This question needs an answer."
        assert field(page, "Do you pay").locator(".lacking").text_content() == ""
        assert field(page, "Which system").get_by_label("linux").evaluate("node => node === document.activeElement")
        good(page)
        page.get_by_label("mac", exact=True).check()
        page.get_by_label("A number from 0 to 30 s").fill("7.5")
        page.get_by_text("Counts as 5 to 10 s.").wait_for()
        page.get_by_role("button", name="See my report").click()
        page.get_by_text("Chance chose this, not your answers.").wait_for()
        good(page)
        seen = bytes.fromhex(page.locator(".bytes").text_content())
        view = survey.oracle.estimator.people(
            survey.oracle.tally(wire.decode(seen, survey.oracle, survey.version))
        ).index(1)
        places = survey.oracle.design.views[view].questions
        texts = [asked.text for asked in survey.questions]
        parts = page.locator("section", has=page.get_by_text("Chance chose this")).locator("ul")
        expect(parts.nth(0).locator("li")).to_have_text([texts[place] for place in places])
        others = [text for place, text in enumerate(texts) if place not in places]
        assert parts.nth(1).locator("li").all_text_contents() == others
        shown = page.locator(".given dd").all_text_contents()
        assert shown == ["mac", "No answer", "7.5 s"]
        page.get_by_text("Details").click()
        said = page.locator("details.more").inner_text()
        assert all(words in said for words in ("epsilon 2.", "eta 1.", survey.version))
        page.get_by_role("button", name="Send this report").click()
        page.get_by_role("heading", name="Thank you, this was sent").wait_for()
        page.reload()
        page.get_by_text("Chance chose this, not your answers.").wait_for()
        assert not page.locator(".given").count()


def test_several_questions_are_answered_with_the_keyboard_alone(browser, server):
    survey = server.publish({**DESKTOP, "name": "keys"})
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/s/keys")
        page.get_by_role("button", name="See my report").wait_for()
        for pressed in ["Tab", "Space", "ArrowDown", "Tab", "Space", "Tab", "4", "2", "Tab", "Enter"]:
            page.keyboard.press(pressed)
        page.get_by_role("heading", name="This would be sent").wait_for()
        expect(page.locator(".given dd")).to_have_text(["mac", "no", "42 s"])
        page.get_by_role("button", name="Send this report").focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Thank you, this was sent").wait_for()
    assert server.counts()[survey.version] == 1


def test_where_less_is_asked_nobody_sees_which_before_they_begin(browser, server):
    survey = server.publish({**DESKTOP, "name": "less", "tables": {"cross": "none", "ask": "drawn"}})
    with Visitor(browser, server.url, viewport=PHONE) as visitor:
        page = visitor.open(f"{server.url}/s/less")
        page.get_by_role("button", name="Begin").wait_for()
        assert not any(asked.text in page.locator("main").inner_text() for asked in survey.questions)
        good(page)
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("button", name="See my report").wait_for()
        (shown,) = page.locator("legend").all_text_contents()
        page.reload()  # chance does not choose again
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("button", name="See my report").wait_for()
        expect(page.locator("legend")).to_have_text([shown])
        if page.get_by_role("spinbutton").count():
            page.get_by_role("spinbutton").fill("3")
        else:
            page.get_by_role("radio").first.check()
        page.get_by_role("button", name="See my report").click()
        about = page.locator("section", has=page.get_by_text("Chance chose this")).locator("ul").first
        about.wait_for()
        expect(about.locator("li")).to_have_text([shown.removesuffix(" (optional)")])


def test_ten_questions_through_chromium_and_the_javascript_client(browser, server):
    """Reduced: ``tests/acceptance/ten_questions_acceptance.py`` has 2,000 people. False alarms: 1e-6."""
    survey = ten_questions.asked()
    server.publish(ten_questions.specification())
    people = ten_questions.people(survey, IN_ALL, seed=3)
    for answers in people[:IN_CHROMIUM]:
        with Visitor(browser, server.url) as visitor:
            page = visitor.open(f"{server.url}/s/ten")
            page.get_by_role("button", name="See my report").wait_for()
            fill(page, answers, survey)
            sent(page)
    told = by_javascript(server, survey, people[IN_CHROMIUM:])
    assert {(one["state"], one["left"]) for one in told} == {("sent", 0)}
    tally = tally_of(server, survey)
    assert tally.n == IN_ALL
    assert not ten_questions.misses(survey, tally, people)


def by_javascript(server, survey, people):
    """Let people answer by the JavaScript client."""
    asked = {"url": server.url, "name": survey.name, "people": [{"label": answers} for answers in people]}
    command = [node(), str(HERE / "javascript_people.mjs")]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# ----------------------------------------------------------------------------------------------------- the dashboard


def collected(server, name="seen", n=6000):
    """Publish a survey whose first two questions go together, with reports."""
    survey = server.publish({**DESKTOP, "name": name})
    draw = np.random.default_rng(1)
    rows = np.stack([draw.integers(0, 4, n), draw.integers(0, 2, n), draw.integers(0, 6, n)], axis=1)
    rows[:, 1] = np.where(rows[:, 0] == 0, 0, rows[:, 1])
    rows[: n // 10, 1] = 2
    body = wire.encode(survey.oracle.privatize(rows, rng=2), survey.version)
    assert server.send(survey, body).status_code == 200
    return survey


def test_the_dashboard_shows_every_question_crosses_and_associations(browser, server):
    survey = collected(server)
    with server.admin as client:
        path = f"/v1/versions/{survey.version}/estimates"
        cross = client.get(f"{path}?cross=os,plan").json()
        whole = client.get(path).json()
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.make_token('read')['token']}")
        page.get_by_role("button", name="Sign out").wait_for()
        page.goto(f"{server.url}/#/survey/{survey.name}/{survey.version}")
        page.get_by_role("heading", name="How many seconds did the last page take?").wait_for()
        page.locator("table.matrix").wait_for()
        part = page.locator("[data-question=os]")
        expect(part.locator("svg .bar")).to_have_count(4)
        part = page.locator("[data-question=load]")
        expect(part.locator("svg[aria-label^='Histogram of 6 cells'] .bar")).to_have_count(6)
        expect(part.locator("svg .band")).to_have_count(1)
        part.get_by_role("rowheader", name="Median").wait_for()
        page.locator("[data-question=plan]").get_by_text("Shares among those who answered").wait_for()
        cells = page.locator("table.cross tbody td:not(:last-child)")
        marks = [mark for row in cross["marks"] for mark in row]
        expect(cells).to_have_count(12)
        for cell, mark, share in zip(cells.all(), marks, cross["row_shares"], strict=True):
            text = cell.text_content()
            assert text.startswith(f"{share['share'] * 100:.0f} %")
            assert ("↑" in text, "↓" in text) == (mark == 1, mark == -1)
        assert any(marks)
        page.get_by_text("os and plan go together: chi-square", exact=False).wait_for()
        page.get_by_text("os and plan: Cramér's V", exact=False).wait_for()
        page.get_by_role("button", name="Swap rows and columns").click()
        page.get_by_text("Shares of os within each plan").wait_for()
        page.get_by_label("Questions").select_option("plan,load")
        page.get_by_text("plan and load may be independent of each other", exact=False).or_(
            page.get_by_text("load and plan may be independent of each other", exact=False)
        ).wait_for()
        views = page.locator("section", has=page.get_by_role("heading", name="People per view"))
        views.get_by_text("As a table").click()
        people = [int(text.replace(",", "")) for text in views.locator("td").all_text_contents()]
        assert people == [view["people"] for view in whole["views"]]
        assert "epsilon 2." in page.content()
        assert "eta 1." in page.content()
        good(page)


def test_every_question_has_a_page_of_its_own(browser, server):
    survey = collected(server)
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.make_token('read')['token']}")
        page.get_by_role("button", name="Sign out").wait_for()
        page.goto(f"{server.url}/#/survey/{survey.name}/{survey.version}")
        page.get_by_role("rowheader", name="Which system do you use?").get_by_role("link").click()
        page.wait_for_url(f"**/#/survey/{survey.name}/{survey.version}/os")
        part = page.locator("[data-question]")
        expect(part).to_have_count(1)  # the survey's own page, with all questions, stays until the answer comes
        page.locator("table.cross").wait_for()
        assert part.get_attribute("data-question") == "os"
        expect(part.locator("svg .bar")).to_have_count(4)
        crosses = page.get_by_label("Questions", exact=True).locator("option").all_text_contents()
        assert crosses
        assert all(text.startswith("os ") for text in crosses)
        good(page)
        page.get_by_role("link", name="Next question").click()
        page.locator("[data-question=os]").wait_for(state="detached")
        expect(page.locator("[data-question]")).to_have_count(1)
        page.get_by_role("link", name="All questions").click()
        page.get_by_role("heading", name="People per view").wait_for()
        expect(page.locator("[data-question]")).to_have_count(len(survey.questions))


def test_one_question_is_compared_between_two_windows(browser, server):
    survey = server.publish({**DESKTOP, "name": "twice"})
    for day, system in (("2026-10-01", 0), ("2026-10-02", 1)):
        rows = np.tile([system, 0, 0], (600, 1))
        body = wire.encode_tally(survey.oracle.tally(survey.oracle.privatize(rows, rng=system)), survey.version)
        with server.client(server.token, **{"Idempotency-Key": key()}) as client:
            path = f"/v1/versions/{survey.version}/merge"
            assert client.post(path, params={"day": day}, content=body).status_code == 200
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.make_token('read')['token']}")
        page.get_by_role("button", name="Sign out").wait_for()
        page.goto(f"{server.url}/#/survey/twice/{survey.version}")
        page.get_by_label("Question to compare").select_option("os")
        for which, day in (("First", "2026-10-01"), ("Second", "2026-10-02")):
            for end in ("from", "to"):
                page.get_by_label(f"{which} period, {end}").fill(day)
        page.get_by_role("button", name="Compare").click()
        page.get_by_text("2 of 4 values changed significantly").wait_for()
        page.get_by_text("reports about this question in the first period").wait_for()
        good(page)


def test_tables_below_the_minimum_have_a_note_in_their_place(browser, server):
    fields = {**DESKTOP, "name": "few", "collect": {"minimum": 100}}
    survey = server.publish(fields)
    rows = np.zeros((180, 3), np.int64)
    assert server.send(survey, wire.encode(survey.oracle.privatize(rows, rng=1), survey.version)).status_code == 200
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.make_token('read')['token']}")
        page.get_by_role("button", name="Sign out").wait_for()
        page.goto(f"{server.url}/#/survey/few/{survey.version}")
        page.get_by_text("too few reports are about", exact=False).first.wait_for()
        visitor.forgive("403")


# ------------------------------------------------------------------------------------------------------------ the form


def test_a_survey_of_several_questions_is_made_in_the_form(browser, server, tmp_path):
    with Visitor(browser, server.url) as visitor:
        page = visitor.open(f"{server.url}/#token={server.token}")
        page.get_by_role("link", name="New survey").click()
        page.get_by_role("link", name="Several questions").click()
        page.get_by_role("heading", name="New survey of several questions").wait_for()
        page.get_by_role("button", name="Check this survey").click()
        page.get_by_text("Question 1: write what is asked.").wait_for()
        page.get_by_label("Title of the survey").fill('Your "usual" day')
        first, second = page.locator("fieldset.drafted").nth(0), page.locator("fieldset.drafted").nth(1)
        first.get_by_label("Question", exact=True).fill("How many kilometres is it?")
        first.get_by_label("What people answer").select_option("number")
        first.get_by_label("From").fill("0")
        first.get_by_label("To", exact=True).fill("60")
        first.get_by_label("Unit, if there is one").fill("km")
        first.get_by_label("Cells").fill("12")
        first.get_by_label("Values that many hold exactly").fill("0")
        second.get_by_label("Question", exact=True).fill("Would you take the bus?")
        second.get_by_label("Answers, one per line").fill("no\nyes")
        second.get_by_label("People may skip it").check()
        page.get_by_role("button", name="Add a question").click()
        third = page.locator("fieldset.drafted").nth(2)
        third.get_by_label("Question", exact=True).fill("Where do you work?")
        third.get_by_label("Answers, one per line").fill("north\nsouth")
        page.get_by_role("button", name="Move up: question 3").click()
        page.get_by_label("Cross-tables").select_option("some")
        page.get_by_label("Where do you work? \N{MULTIPLICATION SIGN} Would you take the bus?").check()
        page.get_by_role("button", name="Check this survey").click()
        page.get_by_role("heading", name="What would be published").wait_for()
        page.get_by_text("a person can answer 4 surveys like this one here", exact=False).wait_for()
        version = page.locator("section code").first.text_content()
        with page.expect_download() as saving:
            page.get_by_role("button", name="Save as a file").click()
        saving.value.save_as(tmp_path / "survey.toml")
        good(page)
        page.get_by_role("button", name="Publish this survey").click()
        page.get_by_text("There are no reports yet.", exact=False).first.wait_for()
    survey = Survey.load(tmp_path / "survey.toml", draft=True)
    assert [asked.text for asked in survey.questions] == [
        "How many kilometres is it?",
        "Where do you work?",
        "Would you take the bus?",
    ]
    assert survey.questions[2].optional
    assert survey.questions[0].number.unit == "km"
    assert {view.questions for view in survey.oracle.design.views if len(view.questions) > 1} == {(1, 2)}
    assert survey.version == version
    assert survey.version in server.counts()
